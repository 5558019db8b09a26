"""How what was read and what the question says become part of an agent's own sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from synth.agents.scripted.matching import FUNCTION_WORDS

__all__ = ["is_noun_phrase", "is_predicate", "reportable"]

_FINITE = re.compile(r"(?:is|was|has|had|holds|held|lies|stands|\w+ed)\b(?! by\b)")
_PHRASE = re.compile(r"(?:the|a|an)\s|\S.*['’]s\s")
_PLAIN = re.compile(r"[A-Z][^.:;!?()\"“”\n]*\.")
_LONGEST = 160


def is_predicate(cue: str) -> bool:
    """Whether the cue says something of one thing and lacks only its subject ("has a length of 35 metres")."""
    return _FINITE.match(cue) is not None


def is_noun_phrase(cue: str) -> bool:
    """Whether the cue names what is sought ("the region where that city lies")."""
    return _PHRASE.match(cue) is not None and not cue.endswith(("is", "was"))


def reportable(text: str, names: Iterable[str]) -> str | None:
    """A sentence as it stands behind "that"; None where it is no plain one, or begins with a word of which it can't be
    told whether it is one of ``names``."""
    if len(text) > _LONGEST or not _PLAIN.fullmatch(text):
        return None
    if any(name and text.startswith(name) for name in names):
        return text[:-1]
    return text[0].lower() + text[1:-1] if text.split(" ", 1)[0].casefold() in FUNCTION_WORDS else None
