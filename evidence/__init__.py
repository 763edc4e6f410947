"""Comparisons with other methods: ``python -m evidence`` runs them and writes their pages."""
