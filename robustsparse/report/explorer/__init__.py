"""A graph as a page to touch: one file that needs nothing else."""
