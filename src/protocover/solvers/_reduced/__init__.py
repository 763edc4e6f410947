"""The cover problem made smaller, and its linear relaxation."""
