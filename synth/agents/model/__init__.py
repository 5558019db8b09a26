"""Agents that a language model plays: what goes over the wire, what comes back, and what is made of it."""
