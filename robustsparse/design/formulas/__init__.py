"""R-style formulas on formulaic: the only place that knows how formulaic works inside.

`parsing` turns text into terms, `coding` turns terms and a frame into columns.
"""
