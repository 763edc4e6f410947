"""The paper's experiments, through the public API: ``python -m experiments --help``.

Each experiment is two files: ``<name>.py`` computes (``run``) and ``<name>_page.py`` tells
(``write``), so that a change of words or pictures never discards a result.
"""
