"""A request out of what is asked for: a person's sentences, not a list of calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.lexicon.reading import phrases

__all__ = ["request"]

_WORDS = phrases("mcp_requests")

_MORE = "Please do these{order}: {all}."
_OPENING = 0.25
"""Share of requests that begin with something else."""


def request(asks: Sequence[str], generator: np.random.Generator, *, ordered: bool, openings: Sequence[str] = ()) -> str:
    """What a user says.

    Args:
        asks: Clauses that could follow "please", without an end mark.
        ordered: Whether the order matters, so that the words must say it.
        openings: Sentences that may stand before it.
    """
    frames = {
        1: _WORDS["one"],
        2: _WORDS["two_ordered"] if ordered else _WORDS["two"],
        3: _WORDS["three_ordered"] if ordered else _WORDS["three"],
    }.get(len(asks))
    if frames is None:
        order = " in this order" if ordered else ""
        text = _MORE.format(order=order, all="; ".join(asks))
    else:
        text = frames[int(generator.integers(len(frames)))].format(*asks)
    if openings and float(generator.random()) < _OPENING:
        text = f"{openings[int(generator.integers(len(openings)))]} {_upper(text)}"
    return _sentences(text)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentences(text: str) -> str:
    """Every sentence of the frame begins with a capital; what stands in quotation marks is nobody's business."""
    out, begins, quoted = [], True, False
    for at, sign in enumerate(text):
        quoted = sign == "“" or (quoted and sign != "”")
        out.append(sign.upper() if begins and sign.isalpha() and not quoted else sign)
        if sign.isalnum() or sign == "“":
            begins = False
        elif sign in ".?!" and not quoted and text[at + 1 : at + 2] in (" ", ""):
            begins = True
    return "".join(out)
