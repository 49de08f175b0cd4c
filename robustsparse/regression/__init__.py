"""Sparse regression: `rht`, its result, and what repeats it."""
