"""Prototype selection by set cover: the prototype vector machine for scikit-learn."""

__version__ = "0.1.0.dev0"
