"""What the turns of a run say: notes, quotations, names; and the lists, facts and pages that were read before them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from synth.agents.contract import History, Prompt
from synth.agents.grounding.told import clauses
from synth.agents.scripted.matching import short
from synth.agents.scripted.options import Option, listed_with
from synth.agents.scripted.phrases import TEMPLATES, read_notes
from synth.environments.observed import observe
from synth.environments.passages import Passage
from synth.environments.rendering import find_links, plain
from synth.environments.shown import Hits
from synth.lexicon.alternatives import template
from synth.text.words import fold

__all__ = ["SaidRun", "SaidTurn", "found_in", "is_said", "named_in", "says"]

_QUOTED = re.compile(r"\"([^\"]{2,})\"|“([^”]{2,})”")
_LABEL = re.compile(r"\s*\([^()]*\)$")


@lru_cache(maxsize=2048)
def _pattern(text: str) -> re.Pattern[str]:
    """Any phrasing by a template, its slots as groups."""
    return re.compile(rf"(?:(?<=\s)|\A)(?:{template(text).regex()})(?=\s|\Z)")


@lru_cache(maxsize=256)
def _landmarks(intent: str) -> tuple[tuple[str, str], ...]:
    """(piece of text, template) of ``intent``, template by template: every phrasing by one holds one of its pieces."""
    return tuple((piece, text) for text in TEMPLATES.get(intent, ()) for piece in template(text).landmarks() or ("",))


def _likely(intent: str, thought: str) -> list[re.Pattern[str]]:
    """Patterns of the templates by which ``thought`` may say ``intent``. Most thoughts hold no word of most phrases: to
    look for words costs a hundredth of looking for patterns."""
    likely = [text for piece, text in _landmarks(intent) if piece in thought]
    return [_pattern(text) for text in dict.fromkeys(likely)] if likely else []


_SENTENCES = re.compile(r"[.?!:] |\" ")
"""Where one sentence ends and another begins."""


def is_said(intent: str, thought: str) -> bool:
    """Whether all of ``thought`` is one phrasing of ``intent``: a name that runs over several sentences is none."""
    found = (match for pattern in _likely(intent, thought) if (match := pattern.fullmatch(thought)) is not None)
    return any(not any(_SENTENCES.search(name) for name in match.groups() if name) for match in found)


def found_in(intent: str, thought: str) -> Iterator[re.Match[str]]:
    """Every place where ``thought`` says ``intent``, in any phrasing of it."""
    patterns, at = _likely(intent, thought), 0
    while found := [match for pattern in patterns if (match := pattern.search(thought, at)) is not None]:
        first = min(found, key=re.Match.start)
        yield first
        at = first.end()


def says(intents: Sequence[str], thought: str) -> re.Match[str] | None:
    return next((found for intent in intents if (found := next(found_in(intent, thought), None)) is not None), None)


def named_in(text: str, name: str) -> bool:
    """Whether ``text`` holds ``name``, with or without what tells things of one name apart ("(1927 film)")."""
    return any(f" {fold(form)} " in f" {fold(text)} " for form in (name, _LABEL.sub("", name)))


@dataclass
class SaidTurn:
    """A turn as what it says."""

    number: int
    thought: str
    notes: list[tuple[str, str]]
    bare: str
    """The thought without its quotations."""
    quotes: list[str]
    places: dict[str, int]
    """Where in the thought each of them stands."""


class SaidRun:
    """A run as what its turns say."""

    def __init__(self, prompt: Prompt, history: History) -> None:
        self.question, self.history = prompt.question, history
        seen = [prompt.question]
        facts: dict[str, str] = {}
        self.turns: list[SaidTurn] = []
        for number, step in enumerate(history):
            thought = step.turn.thought or ""
            places = {match.group(1) or match.group(2): match.start() for match in _QUOTED.finditer(thought)}
            bare = _QUOTED.sub("this", thought)
            for said, text in facts.items():
                if said in bare:  # told in words, and as good as quoted
                    places.setdefault(text, thought.find(said))
                    bare = bare.replace(said, "this")
            self.turns.append(SaidTurn(number, thought, read_notes(thought, seen), bare, list(places), places))
            seen += [plain(result.content) for result in step.results]
            for result in step.results:
                triples = (passage.fact for passage in observe(result.content).passages)
                facts |= {said: fact.text() for fact in triples if fact is not None for said in clauses(fact)}
        self.titles: dict[str, str] = {}
        self.anchors: dict[str, set[str]] = {}
        """What pages are called where they are linked: a page may have several names."""
        for step in history:
            for result in step.results:
                for item in find_links(result.content):
                    target = item.target.split("#", 1)[0]
                    self.titles.setdefault(target, item.anchor)
                    self.anchors.setdefault(target, set()).add(item.anchor)

    def listings(self, turn: SaidTurn, until: int | None = None) -> Iterator[list[str]]:
        """Lists that the turn quotes a line of: "A, B and C" in a sentence, or the far ends of one relation. With
        ``until``, a place in its thought: those quoted before that."""
        quotes = {text for text, place in turn.places.items() if until is None or place < until}
        for step in self.history[: turn.number]:
            for result in step.results:
                shown = observe(result.content)
                facts = [passage for passage in shown.passages if passage.fact is not None]
                if any(passage.text in quotes for passage in facts):
                    yield _far_ends(facts, shown.about)
                for passage in shown.passages:
                    if passage.fact is None and passage.text in quotes:
                        runs = [listed_with(Option(item.anchor, passage)) for item in passage.links]
                        yield from (names for at, names in enumerate(runs) if names and names not in runs[:at])

    def links_to(self, target: str, turn: SaidTurn) -> bool:
        """Whether what came in last, a page that the turn names, or a sentence that it quotes links to ``target``."""
        for step in self.history[: turn.number]:
            for shown in (observe(result.content) for result in step.results):
                linking = [p for p in shown.passages if any(link.document == target for link in p.links)]
                title = self.titles.get((shown.about or "").split("#", 1)[0], "")
                near = step is self.history[turn.number - 1] or (title and named_in(turn.bare, title))
                if linking and (near or any(p.text in turn.places for p in linking)):
                    return True
        return False

    def fans(self, before: int) -> Iterator[list[str]]:
        """The far ends of each relation that was read."""
        for step in self.history[:before]:
            for result in step.results:
                shown = observe(result.content)
                facts = [passage for passage in shown.passages if passage.fact is not None]
                if facts:
                    yield _far_ends(facts, shown.about)

    def pages(self, before: int) -> dict[str, list[str]]:
        """Sentences of the pages that were read, by title."""
        found: dict[str, list[str]] = {}
        for step in self.history[:before]:
            for result in step.results:
                shown = observe(result.content)
                if shown.about and not isinstance(shown, Hits):
                    title = self.titles.get(shown.about.split("#", 1)[0], shown.about)
                    found.setdefault(short(title), []).extend(p.text for p in shown.passages if p.fact is None)
        return found

    def spoken_of(self, name: str, start: int) -> bool:
        """Whether a thought from turn ``start`` on names ``name``, beside its quotations."""
        return any(named_in(turn.bare, name) for turn in self.turns[start:])


def _far_ends(facts: Sequence[Passage], about: str) -> list[str]:
    ends = [end for passage in facts if passage.fact for end in (passage.fact.subject, passage.fact.object)]
    return list(dict.fromkeys(end.name for end in ends if end.id != about))
