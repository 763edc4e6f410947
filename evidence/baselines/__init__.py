"""Ways to choose prototypes of one class, each a function to an order of its points.

The first k of an order are the choice of k, so that one run serves all numbers. They are written
from their papers.
"""
