"""Intervals that account for the selection: `bootstrap` and `split`."""

from robustsparse.regression.intervals import bootstrap, split

__all__ = ["bootstrap", "split"]
