"""Robust Neighborhood Selection, the paper's Algorithm 2, and what makes it work on data as they come.

`rows` finds the rows and cells that cannot be trusted, `ranking` orders the edges, `nodes` runs Algorithm 1 on every
node.
"""
