"""A fitted model looked at from outside: the classifier in it, and the labels it suspects."""
