"""Labels that were changed on purpose, and who finds them."""
