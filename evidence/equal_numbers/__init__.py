"""Ways to choose prototypes, each with the same number a class."""
