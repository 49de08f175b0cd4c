"""Designs whose columns stay where they are, in a file or on other machines, and are read in blocks."""
