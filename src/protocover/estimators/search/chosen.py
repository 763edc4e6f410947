"""Attributes that a search has from the classifier it chose."""

from __future__ import annotations

from typing import Any

__all__ = ["OfBestEstimator"]


class OfBestEstimator:
    """A fitted attribute that is read from `best_estimator_`, and is not there before the fit.

    Reading it each time, instead of copying it in `fit`, keeps it true where the chosen
    classifier is fitted again, or read from a file.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        if "best_estimator_" not in vars(search):
            raise AttributeError(
                f"{type(search).__name__} has no {self.name} before it is fitted; call fit first"
            )
        return getattr(search.best_estimator_, self.name)
