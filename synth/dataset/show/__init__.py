"""Rows of a dataset on a terminal, and pages of HTML."""
