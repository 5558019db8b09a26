"""Servers on loopback in place of a model's and of the Hub: to try builds and pushes without either."""
