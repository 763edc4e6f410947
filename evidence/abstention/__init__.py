"""Answers that may be withheld, and probabilities that are to be believed."""
