"""The search for a radius by cross-validation, fold by fold."""
