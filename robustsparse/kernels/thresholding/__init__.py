"""Iterations of hard thresholding, on one problem and on the nodes of a graph."""
