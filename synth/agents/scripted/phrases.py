"""How a scripted agent puts its thoughts: several phrasings per intention, chosen by the turn's generator.

Each question has its own voice: half of the phrasings of every intention, picked by a hash of the question, so that one
trajectory is of one piece and two trajectories are not of one mould; and its own manner, from one that announces every
call to one that says only what the calls do not show. Notes (``NOTES``) are what the agent later reads back from its
own thoughts: ``read_notes`` inverts exactly what ``Thoughts`` wrote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from synth.identity import digest
from synth.lexicon.reading import phrases

__all__ = ["NOTES", "PHRASES", "Thoughts", "read_notes"]

PHRASES = {
    **phrases("search"),
    **phrases("sets"),
    **phrases("graph"),
    **phrases("plans"),
    **phrases("code"),
    **phrases("delegation"),
    **phrases("tables"),
}
_SET_NOTES = ("postpone", "member", "members", "complete", "about", "told", "untold", "keep", "strike")
"""Leaves a condition for later; put on the list; no more of them; whom it looks at; what it read of that one; what it
could not find of one; meets a further condition; does not."""
_OBVIOUS = frozenset(
    (
        *("plan", "plan_many", "plan_list", "next_plain", "next_clue", "next_noun", "check_condition", "return"),
        *("search_name", "search_longer", "search_rest", "open_link", "hit_named", "all_listed", "each", "each_plain"),
        "answer",
        *("g_find", "g_relations", "g_triples", "g_triples_each"),
        *("p_start", "p_start_plain", "p_look", "p_search", "p_look_plain", "p_both", "p_several"),
        *("p_write", "p_write_next", "p_finish"),
    )
)
"""Intentions that say what the next call or the answer shows anyway."""
_SILENCE = (0.0, 0.45, 0.9)
"""By manner, the share of them that is left out."""
_APART = "; "
"""Between the names of a note about several (``members``): no name holds it."""
NOTES = ("found", "candidate", "candidate_next", "confirm", "dismiss", *_SET_NOTES)


_LONGEST = (240, 2_400)
"""Characters of a name; of several names."""


@lru_cache(maxsize=4096)
def _voice(question: str, intent: str) -> tuple[str, ...]:
    """The half of an intention's phrasings that this question's agent uses."""
    phrases = PHRASES[intent]
    ranked = sorted(phrases, key=lambda phrase: digest("voice", question, intent, phrase))
    return tuple(ranked[: max(3, (len(phrases) + 1) // 2)])


class Thoughts:
    """Collects what is thought in one turn. ``terse``: the question's manner decides what is left unsaid; else nothing
    is."""

    def __init__(self, question: str, generator: np.random.Generator, *, terse: bool = True) -> None:
        self._question = question
        self._generator = generator
        self._parts: list[str] = []
        self._members: list[str] = []
        """What the last part puts on the list."""
        self._silence = _SILENCE[int(digest("manner", question)[:8], 16) % len(_SILENCE)] if terse else 0.0

    def add(self, intent: str, **slots: object) -> None:
        if intent in _OBVIOUS and self._is_clear(slots) and float(self._generator.random()) < self._silence:
            return
        names = [*self._members, str(slots["found"])] if intent == "member" else []
        self._members = names if not any(_APART.strip() in name for name in names) else []
        if self._members[1:]:
            self._parts.pop()
            intent, slots = "members", {"found": _APART.join(names)}
        options = _voice(self._question, intent)
        if intent not in NOTES and len(self._parts) > 0:
            options = tuple(option for option in options if option.format(**slots) not in self._parts) or options
        phrase = options[int(self._generator.integers(len(options)))]
        self._parts.append(phrase.format(**slots))  # a name keeps its spelling at the start of a sentence, too

    def _is_clear(self, slots: Mapping[str, object]) -> bool:
        """Whether nothing is lost with the words: the call stands alone, or what it is about was just named."""
        about = slots.get("answer", slots.get("name", slots.get("title")))
        alone = not self._parts and "answer" not in slots
        return alone or about is None or str(about) in self.said

    @property
    def leads_in(self) -> bool:
        """Whether the last words lead up to a quotation ("As for Jon Maak:")."""
        return bool(self._parts) and self._parts[-1].endswith(":")

    def names(self, title: str) -> bool:
        """Whether the last sentence is about ``title``."""
        return bool(self._parts) and title in self._parts[-1]

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def said(self) -> str:
        """All that was added, as it was added."""
        return " ".join(self._parts)

    def text(self) -> str:
        """The whole thought."""
        return self.said


@lru_cache(maxsize=1)
def _notes() -> tuple[tuple[str, str, re.Pattern[str], re.Pattern[str]], ...]:
    """(intention, words before the name, the pattern of these, the pattern of the words after it)"""
    split = [(intent, *phrase.split("{found}")) for intent in NOTES for phrase in PHRASES[intent]]
    return tuple(
        (intent, before, re.compile(rf"(?:(?<=\s)|\A){re.escape(before)}"), re.compile(rf"{re.escape(after)}(?=\s|\Z)"))
        for intent, before, after in split
    )


def read_notes(thought: str, seen: Sequence[str]) -> list[tuple[str, str]]:
    """The notes in ``thought`` as (intent, name), in order.

    A name may hold full stops, so of all places where the phrase could end the last one counts that leaves a name that
    stands in one of the texts ``seen`` (the question, earlier observations).
    """
    found: list[tuple[int, str, list[str]]] = []
    for intent, before, begins, ends in _notes():
        if before not in thought:  # most of them: far cheaper than a pattern that does not match
            continue
        for match in begins.finditer(thought):
            texts = [
                thought[match.end() : end.start()]
                for end in ends.finditer(thought[: match.end() + _LONGEST[intent == "members"]])
                if end.start() > match.end()
            ]
            several = [text.split(_APART) if intent == "members" else [text] for text in reversed(texts)]
            names = next((n for n in several if all(any(name in text for text in seen) for name in n)), None)
            if names is not None:
                found.append((match.start(), "member" if intent == "members" else intent, names))
    return [(intent, name) for _, intent, names in sorted(found) for name in names]
