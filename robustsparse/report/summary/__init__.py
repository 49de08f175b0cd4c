"""The printed summary of a fit: one object, rendered as text, HTML and LaTeX."""
