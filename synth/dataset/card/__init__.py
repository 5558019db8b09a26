"""The card of a dataset: its text, and the figures that its rows give."""
