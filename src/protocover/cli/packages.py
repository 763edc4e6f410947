"""The optional packages that the command needs, asked for before any work is done."""

from __future__ import annotations

from importlib import import_module

__all__ = ["check_packages"]

_ALWAYS = ("pandas", "jinja2")


def check_packages(*further: str) -> None:
    """Say what to install if a package is missing."""
    for name in (*_ALWAYS, *further):
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                f'the command needs {name}, which is not installed: pip install "protocover[cli]"'
            ) from error
