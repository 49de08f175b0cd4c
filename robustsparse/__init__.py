"""Sparse models for data that cannot be trusted."""
