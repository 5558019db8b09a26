"""A small language model with real weights, as the package index ships it."""
