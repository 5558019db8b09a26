"""How a scripted agent puts its thoughts: several phrasings per intention, chosen by the turn's generator.

Each question has its own voice: half of the phrasings of every intention, picked by a hash of the question, so that one
trajectory is of one piece and two trajectories are not of one mould; and its own manner, from one that announces every
call to one that says only what the calls do not show. Notes (``NOTES``) are what the agent later reads back from its
own thoughts: ``read_notes`` inverts exactly what ``Thoughts`` wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from synth.identity import digest, digests, generator_of
from synth.lexicon.alternatives import template
from synth.lexicon.reading import phrases

__all__ = ["NOTES", "PHRASES", "TEMPLATES", "Thoughts", "read_notes"]

TEMPLATES = {
    **phrases("search"),
    **phrases("sets"),
    **phrases("graph"),
    **phrases("plans"),
    **phrases("code"),
    **phrases("delegation"),
    **phrases("tables"),
}
"""Intention -> templates (:mod:`synth.lexicon.alternatives`)."""


class _Phrases(Mapping[str, tuple[str, ...]]):
    """Intention -> all its phrasings, written out when they are asked for."""

    def __getitem__(self, intent: str) -> tuple[str, ...]:
        return _written_out(intent)

    def __iter__(self) -> Iterator[str]:
        return iter(TEMPLATES)

    def __len__(self) -> int:
        return len(TEMPLATES)


@cache
def _written_out(intent: str) -> tuple[str, ...]:
    return tuple(phrase for text in TEMPLATES[intent] for phrase in template(text).all())


PHRASES: Mapping[str, tuple[str, ...]] = _Phrases()
_SET_NOTES = ("postpone", "member", "members", "complete", "about", "told", "untold", "keep", "strike")
"""Leaves a condition for later; put on the list; no more of them; whom it looks at; what it read of that one; what it
could not find of one; meets a further condition; does not."""
_OBVIOUS = frozenset(
    (
        *(
            "plan",
            "plan_many",
            "plan_first",
            "plan_list",
            "next_plain",
            "next_clue",
            "next_noun",
            "check_condition",
        ),
        *(
            "search_name",
            "search_longer",
            "search_rest",
            "open_link",
            "open_page",
            "hit_named",
            "hit_first",
            "all_listed",
            "each",
            "each_plain",
        ),
        "answer",
        *("g_find", "g_relations", "g_triples", "g_triples_each"),
        *(
            "p_start",
            "p_first",
            "p_start_plain",
            "p_look",
            "p_look_kind",
            "p_look_kinds",
            "p_search",
            "p_search_kind",
            "p_look_plain",
            "p_list",
            "p_both",
            "p_several",
        ),
        *("p_write", "p_write_next", "p_finish", "p_price", "p_check"),
    )
)
"""Intentions that say what the next call or the answer shows anyway."""
_DRAWS = 6
"""Phrases that are tried before one is said once more than ``_AGAIN`` times in a run."""
_AGAIN = 1
_FRAME = 4
"""Words by which a phrase is known again."""
_TELLING = 3
"""Fewer words than this ("I see") are those of many phrases, and tell nothing."""
_SLOT = re.compile(r"\{\w+\}")
_SILENCE = (0.0, 0.45, 0.9)
"""By manner, the share of them that is left out."""
_APART = "; "
"""Between the names of a note about several (``members``): no name holds it."""
_NOTES = ("found", "candidate", "candidate_next", "candidate_read", "confirm", "dismiss", "elsewhere", "return")
"""``elsewhere``: it answers another part of the question, and not the one at work."""
NOTES = (*_NOTES, *_SET_NOTES)


_LONGEST = (240, 2_400)
"""Characters of a name; of several names."""


@lru_cache(maxsize=4096)
def _voice(question: str, intent: str) -> tuple[str, ...]:
    """The half of an intention's templates that this question's agent uses."""
    templates = TEMPLATES[intent]
    ranked = sorted(zip(digests(("voice", question, intent), templates), templates, strict=True))
    return tuple(text for _, text in ranked[: max(3, (len(templates) + 1) // 2)])


class Thoughts:
    """Collects what is thought in one turn.

    Args:
        terse: The question's manner decides what is left unsaid; else nothing is.
        earlier: Thoughts of the run so far, whose words are not said again where others can be found.
    """

    def __init__(
        self, question: str, generator: np.random.Generator, *, terse: bool = True, earlier: Sequence[str] = ()
    ) -> None:
        self._question = question
        self._earlier = earlier
        # Wording draws from its own stream, and the turn's is restored, so that wording never changes what is done.
        stands = generator.bit_generator.state
        self.generator = generator_of(f"{generator.integers(2**63):x}")
        generator.bit_generator.state = stands
        self._parts: list[str] = []
        self._members: list[str] = []
        """What the last part puts on the list."""
        self._silence = _SILENCE[int(digest("manner", question)[:8], 16) % len(_SILENCE)] if terse else 0.0

    def add(self, intent: str, **slots: object) -> None:
        if intent in _OBVIOUS and self._is_clear(slots) and float(self.generator.random()) < self._silence:
            return
        names = [*self._members, str(slots["found"])] if intent == "member" else []
        self._members = names if not any(_APART.strip() in name for name in names) else []
        if self._members[1:]:
            self._parts.pop()
            intent, slots = "members", {"found": _APART.join(names)}
        self._parts.append(self._phrase(intent, slots))

    def _phrase(self, intent: str, slots: Mapping[str, object]) -> str:
        """Of a few draws, the first whose template was used at most once in this run, else the least used one. Names
        keep their spelling even at the start of a sentence."""
        options = _voice(self._question, intent)
        best, least = "", 0
        for tried in range(_DRAWS):
            text = options[self._below(len(options))]
            words = template(text).draw(self._below)
            count = self._used(text)
            if not tried or count < least:
                best, least = words, count
            if least <= _AGAIN:
                break
        return best.format(**slots)

    def _used(self, text: str) -> int:
        """How many thoughts of the run, and parts of this one, say what the template does."""
        frames = _frames(text)
        return sum(any(frame in said for frame in frames) for said in (*self._earlier, *self._parts))

    def _below(self, count: int) -> int:
        return int(self.generator.integers(count))

    def _is_clear(self, slots: Mapping[str, object]) -> bool:
        """Whether nothing is lost with the words: the call stands alone, or what it is about was just named."""
        about = slots.get("answer", slots.get("name", slots.get("title")))
        alone = not self._parts and "answer" not in slots
        return alone or about is None or str(about) in self.said

    @property
    def leads_in(self) -> bool:
        """Whether the last words lead up to a quotation ("As for Jon Maak:")."""
        return bool(self._parts) and self._parts[-1].endswith(":")

    def told(self, text: str) -> bool:
        """Whether this thought or one before it in the run says ``text``."""
        return any(text in said for said in (*self._earlier, *self._parts))

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


@cache
def _frames(text: str) -> tuple[str, ...]:
    """What tells the phrases of a template from others: of each, the first few words that stand together."""
    found = set()
    for phrase in template(text).all():
        pieces = [piece.split() for piece in _SLOT.split(phrase)]
        found.add(" ".join(max(pieces, key=lambda piece: min(len(piece), _FRAME))[:_FRAME]))
    return tuple(sorted(frame for frame in found if frame.count(" ") + 1 >= _TELLING))


@cache
def _notes() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """(words before the name, (intention, words after it) of each), the longest words before it first."""
    known: dict[str, list[tuple[str, str]]] = {}
    for intent in NOTES:
        for phrase in PHRASES[intent]:
            before, after = phrase.split("{found}")
            known.setdefault(before, []).append((intent, after))
    return tuple((before, tuple(known[before])) for before in sorted(known, key=lambda text: (-len(text), text)))


def read_notes(thought: str, seen: Sequence[str]) -> list[tuple[str, str]]:
    """The notes in ``thought`` as (intent, name), in order.

    A name may hold full stops, so of all places where the phrase could end the last one counts that leaves a name that
    stands in one of the texts ``seen`` (the question, earlier observations). Where a phrase ends as another does ("So
    this is it: I have ..."), the longer one counts.
    """
    return list(_read_notes(thought, tuple(seen)))


@lru_cache(maxsize=4096)  # the whole history is reread every turn, and by every continuation
def _read_notes(thought: str, seen: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found: dict[int, tuple[str, list[str]]] = {}
    for start, ways in _beginnings(thought):
        if start not in found:
            read = ((intent, _named(thought, start, intent, after, seen)) for intent, after in ways)
            said = max(read, key=lambda one: len(_APART.join(one[1])))
            if said[1]:
                found[start] = said
    notes = sorted(found.items())
    return tuple(("member" if intent == "members" else intent, name) for _, (intent, names) in notes for name in names)


@lru_cache(maxsize=4096)
def _beginnings(thought: str) -> tuple[tuple[int, tuple[tuple[str, str], ...]], ...]:
    """(where a name may begin, what :func:`_notes` says may follow it), in the order in which they are tried."""
    found: list[tuple[int, tuple[tuple[str, str], ...]]] = []
    for before, ways in _notes():
        at = thought.find(before)
        while at >= 0:
            if at == 0 or thought[at - 1].isspace():
                found.append((at + len(before), ways))
            at = thought.find(before, at + 1)
    return tuple(found)


def _named(thought: str, start: int, intent: str, after: str, seen: Sequence[str]) -> list[str]:
    """The names from ``start`` to words ``after`` them; none where no such place leaves what was seen."""
    last = start + _LONGEST[intent == "members"]
    end = thought.rfind(after, start + 1, last)
    while end > start:
        rest = end + len(after)
        names = thought[start:end].split(_APART) if intent == "members" else [thought[start:end]]
        stops = rest == len(thought) or thought[rest].isspace()
        if stops and all(any(name in text for text in seen) for name in names):
            return names
        end = thought.rfind(after, start + 1, rest - 1)
    return []
