"""The printed summary of a fit: one object, rendered as text, HTML and LaTeX."""

from robustsparse.summary.report import Summary

__all__ = ["Summary"]
