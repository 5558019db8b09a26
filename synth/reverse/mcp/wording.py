"""A request out of what is asked for: a person's sentences, not a list of calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["request"]

_ONE = (
    "Please {0}.",
    "Could you {0}?",
    "Can you {0}, please?",
    "{0}, please.",
    "I'd like you to {0}.",
    "Would you {0}? Thanks!",
    "I need you to {0}.",
    "{0}.",
)
_TWO = (
    "Please {0}, and {1}.",
    "Could you {0}? And {1}, please.",
    "Two things: {0}, and {1}.",
    "{0}, please. Also {1}.",
    "Can you {0}? While you're at it, {1}.",
    "I'd like you to {0}, and also to {1}.",
    "{0}. And please {1}.",
)
_TWO_ORDERED = (
    "First {0}, then {1}.",
    "Please {0}. After that, {1}.",
    "Could you {0}, and once that's done, {1}?",
    "{0}, and then {1}, please.",
)
_THREE = (
    "Please {0}, {1}, and {2}.",
    "Three things, please: {0}; {1}; and {2}.",
    "Could you {0}? Also {1}, and {2}.",
    "{0}. {1}. And {2}, please.",
    "Please {0}. I'd also like you to {1}, and to {2}.",
)
_THREE_ORDERED = (
    "First {0}, then {1}, and finally {2}.",
    "Please {0}. Then {1}, and after that {2}.",
    "{0}, then {1}. Last of all, {2}.",
)
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
        1: _ONE,
        2: _TWO_ORDERED if ordered else _TWO,
        3: _THREE_ORDERED if ordered else _THREE,
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
