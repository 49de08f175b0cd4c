"""Trimmed means of products, exact, and bounds that spare most of them."""
