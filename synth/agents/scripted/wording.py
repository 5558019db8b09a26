"""How what the question says becomes part of an agent's own sentence."""

from __future__ import annotations

import re

__all__ = ["is_noun_phrase", "is_predicate"]

_FINITE = re.compile(
    # What is said before such words is "was", of this condition and of the one before.
    r"(?!(?:founded|established|opened|published|released|issued) (?:in|on|before|after|between)\b)"
    r"(?:is|was|has|had|holds|held|lies|stands|\w+ed)\b(?! by\b)"
)
_ASKS = re.compile(
    r"(?:(?:after|at|by|for|from|in|of|on|to|under|with) )?(?:which|what|how|who|whom|whose|where|when)\b"
)
_PHRASE = re.compile(r"(?:the|a|an)\s|\S.*['’]s\s")


def is_predicate(cue: str) -> bool:
    """Whether the cue says something of one thing and lacks only its subject ("has a length of 35 metres")."""
    return _FINITE.match(cue) is not None


def is_noun_phrase(cue: str) -> bool:
    """Whether the cue names what is sought ("the region where that city lies")."""
    return not _ASKS.match(cue) and _PHRASE.match(cue) is not None and not cue.endswith(("is", "was"))
