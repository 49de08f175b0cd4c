"""Coordinate descent for the lasso, the graphical lasso and CLIME."""
