"""From data to prototypes: training set, radius, one cover problem per class, one selection."""
