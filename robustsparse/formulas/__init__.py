"""R-style formulas on formulaic: the only place that knows how formulaic works inside.

:mod:`~robustsparse.formulas.parsing` turns text into terms, :mod:`~robustsparse.formulas.coding`
turns terms and a frame into columns, and :mod:`~robustsparse.formulas.state` writes what coding
learned from the training data as plain JSON.
"""
