"""Small questions about cues, quotes and lists of names."""

from __future__ import annotations

import re

from synth.agents.scripted.matching import FUNCTION_WORDS

__all__ = ["content", "content_words", "dangling", "introduces_alias", "quotable", "strip", "uncapitalised"]


def introduces_alias(text: str, name: str) -> bool:
    """Whether ``text`` says that something goes by ``name`` too."""
    said = r"(?:known as|called|nicknamed|alias|abbreviated|short for|formerly|also|\bor)\W+(?:the )?[\"“]?"
    return re.search(rf"{said}{re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def quotable(text: str) -> bool:
    return len(text) <= 240 and '"' not in text


def short(title: str) -> str:
    """The name in a title that has a subtitle behind a dash ("pool — Things in pools")."""
    head = re.split(r"\s+[—–]\s", title, maxsplit=1)[0].strip()
    return head or title


def strip(cue: str) -> str:
    return cue.strip().rstrip("?.,;:").strip()


def dangling(cue: str) -> bool:
    """Whether the cue makes no sense on its own ("the length of", "How high is")."""
    words = cue.split()
    return len(words) < 4 or words[-1].casefold() in FUNCTION_WORDS


def uncapitalised(cue: str) -> str:
    """The cue as part of a query: a question word is not capitalised there."""
    first = cue.split(" ", 1)[0]
    return cue[0].lower() + cue[1:] if first.casefold() in FUNCTION_WORDS else cue


_WORD = re.compile(r"\d{1,3}(?:,\d{3})+|[\w'’-]+")


def content_words(cue: str) -> list[str]:
    """The words that carry meaning, in order, once each; "1,405" is one: "1" and "405" stand nowhere."""
    return [word for word in dict.fromkeys(_WORD.findall(cue)) if content(word)]


def content(word: str) -> bool:
    return word.casefold() not in FUNCTION_WORDS
