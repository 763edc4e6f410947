"""Tests of protocover; a package, so that no other one of that name is taken for it."""
