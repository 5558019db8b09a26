"""Headings of columns as words of a question: what a row does, or has several of."""

from __future__ import annotations

from synth.text.inflection import imperative

__all__ = ["is_plural", "verb_of"]

_HEADING_VERBS = frozenset(
    "replaces returns means contains specifies describes produces requires represents indicates denotes inserts prints "
    "removes deletes selects becomes equals enables generates resolves".split()
) | frozenset(f"{verb} to" for verb in "expands maps converts corresponds refers resolves evaluates translates".split())
"""Headings that say what the thing of a row does, and are no name of several things."""


def verb_of(label: str) -> str | None:
    """The verb, without its ending, where a column is headed by what its rows do: "Replaces", "Expands to"."""
    first, _, rest = label.partition(" ")
    return f"{imperative(first)} {rest}".strip() if label in _HEADING_VERBS else None


def is_plural(label: str) -> bool:
    """Whether a label names several things: "additional arguments"."""
    return label.endswith("s") and not label.endswith(("ss", "us", "is", "series"))
