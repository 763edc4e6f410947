"""What a fitted classifier keeps, whoever chose its prototypes."""

from __future__ import annotations

from typing import Any

__all__ = ["KnownSinceCounted"]


class KnownSinceCounted:
    """Stands for a fitted attribute where a model does not have it, and says why.

    A model that has the attribute has it as its own, which goes before this one.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        if "solution_" not in vars(model):
            raise AttributeError(
                f"{type(model).__name__} has no {self.name} before it is fitted; call fit first"
            )
        raise AttributeError(
            f"{self.name} is not known of this model: it was read from a file of an earlier "
            "version, which does not hold it; fit it again, or count the points in "
            "coverage(X, y).balls"
        )
