"""Fits to designs that are read in blocks of columns: run on some columns, proved on all of them."""
