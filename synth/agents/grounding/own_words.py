"""How far an agent's own words may go when it is a language model: what it takes for granted, what it may not name.

A scripted agent speaks from a closed list, so every other word is refused. A model thinks in any words of its language.
They are free in its thoughts as long as they name nothing: what is written as a name, a number, a date, an id, a path
or a quotation must have been seen like everybody's. Common words may stand in a query too; a word that the pages of the
run write as a name only is one, however the agent writes it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from synth.agents.contract import History, Prompt
from synth.environments.rendering import plain
from synth.text.sentences import begins
from synth.text.words import LETTERS, bare

__all__ = ["OwnWords", "prose_of"]

_WORD = re.compile(LETTERS)
_BULLET = re.compile(r"^[ \t]*(?:#{1,6}|[-*•·]|\(?\d{1,2}[.):]\)?|[a-z]\))[ \t]+", re.M)
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_SHORT_FORMS = re.compile(r"\b(?:e\.\s?g\.|i\.\s?e\.|etc\.|vs\.|cf\.)")
_I = frozenset(("i", "i'm", "i'll", "i've", "i'd", "ok"))


@cache
def _starters() -> frozenset[str]:
    text = files("synth.agents").joinpath("reasoning_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


class OwnWords:
    """What a run as a whole shows of its words."""

    def __init__(self, prompt: Prompt, history: History) -> None:
        told = (prompt.system, prompt.question, *(tool.description for tool in prompt.tools))
        shown = [result.content for step in history for result in step.results]
        thoughts = [text for step in history for text in (step.turn.thought, step.turn.said) if text]
        lower: set[str] = set()
        names: set[str] = set()
        for text in (*told, *shown):
            small, capital = _written(plain(text))
            lower |= small
            names |= capital
        self.names = frozenset(names - lower)
        """Words that the pages and the question write with a capital in the middle of a sentence, and never small."""
        for text in thoughts:
            lower |= _written(prose_of(text))[0]
        self.common = frozenset(lower - self.names) | _starters()
        """Words that somebody writes small, so that a capital at the start of a sentence says nothing."""

    def free(self, word: str) -> bool:
        """Whether ``word``, written small, names nothing."""
        return word not in self.names

    def begins(self, text: str, word: str, at: int) -> bool:
        """Whether the capital of ``word`` at ``at`` in ``text`` comes from its place alone."""
        return word in _I or (word in self.common and begins(text, at))


def prose_of(text: str) -> str:
    """A thought without what lists and emphasis add: markers of items are not numbers, and each line starts over."""
    text = _EMPHASIS.sub("", _BULLET.sub("", _SHORT_FORMS.sub("", text)))
    return re.sub(r"(?<![.!?:;…,])[ \t]*\n+[ \t]*", ". ", text).replace("\n", " ")


def _written(text: str) -> tuple[set[str], set[str]]:
    """Words written small, and words with a capital in the middle of a sentence; case-folded, without possessive."""
    small: set[str] = set()
    capital: set[str] = set()
    for match in _WORD.finditer(text):
        raw = match.group()
        word = bare(raw).casefold().replace("’", "'")
        if raw[0].islower():
            small.add(word)
        elif match.start() and not begins(text, match.start()):
            capital.add(word)
    return small, capital
