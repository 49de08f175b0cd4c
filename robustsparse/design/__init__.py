"""From data frames, formulas and arrays to matrices."""
