"""Where a scripted agent stands: what it has seen, and what it has settled, read back from its own thoughts."""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.agents.contract import History
from synth.agents.scripted.matching import fold, same_name
from synth.agents.scripted.phrases import read_notes
from synth.agents.scripted.reading import Reading
from synth.agents.scripted.seen import Seen
from synth.environments.rendering import plain

__all__ = ["State", "Value", "state_of"]


@dataclass(frozen=True)
class Value:
    """What an unknown was settled as."""

    name: str
    place: str | None
    """The page that it means, or the place on one (``document#place``)."""
    turn: int

    @property
    def document(self) -> str | None:
        return None if self.place is None else self.place.split("#", 1)[0]


@dataclass
class State:
    reading: Reading
    seen: Seen
    values: dict[int, Value] = field(default_factory=dict)
    """Unknown -> value."""
    resolved: set[int] = field(default_factory=set)
    """Clues that are settled."""
    dismissed: set[tuple[int, str]] = field(default_factory=set)
    """(clue, document id or folded name)."""

    def open_clue(self) -> int | None:
        """The first clue that is not settled and whose source is known; None when all are settled.

        Of several conditions on one unknown, those that hold for many things come last.
        """
        clues = self.reading.clues
        order = sorted(range(len(clues)), key=lambda number: (self._weak(number), number))
        for number in order:
            source = clues[number].source
            if number not in self.resolved and (source is None or source in self.values):
                return number
        return None

    def _weak(self, number: int) -> bool:
        clue = self.reading.clues[number]
        shared = sum(other.target == clue.target for other in self.reading.clues) > 1
        return clue.value or (clue.member and shared)

    def is_dismissed(self, clue: int, name: str, document: str | None) -> bool:
        if document is not None:
            return (clue, document) in self.dismissed
        return (clue, fold(name)) in self.dismissed

    def note(self, intent: str, name: str, turn: int) -> None:
        """Take a note into account, as of now."""
        number = self.open_clue()
        if intent == "dismiss":
            self._dismiss(number, name)
        elif number is not None:
            clue = self.reading.clues[number]
            if intent in ("found", "candidate", "candidate_next"):
                self.values[clue.target] = Value(name, self._place(name), turn)
            self.resolved.add(number)

    def _dismiss(self, number: int | None, name: str) -> None:
        for unknown, value in list(self.values.items()):
            if fold(value.name) == fold(name):
                for clue in self._drop(unknown):
                    self.dismissed.add((clue, value.document or fold(name)))
                return
        if number is not None:
            place = self._place(name)
            self.dismissed.add((number, place.split("#", 1)[0] if place else fold(name)))

    def _drop(self, unknown: int) -> list[int]:
        """Forget an unknown and all that was built on it; gives the clues that lead to it."""
        self.values.pop(unknown, None)
        leading = [n for n, clue in enumerate(self.reading.clues) if clue.target == unknown]
        self.resolved -= set(leading)
        for number, clue in enumerate(self.reading.clues):
            if clue.source == unknown and number in self.resolved:
                self.resolved.discard(number)
                self._drop(clue.target)
        return leading

    def _place(self, name: str) -> str | None:
        """The page that ``name`` means: the open one, else where a link leads, else a page or hit of that title."""
        seen = self.seen
        current = seen.documents.get(seen.current or "")
        if current is not None:
            if same_name(current.title, name):
                return current.document
            for sentence in current.sentences():
                for item in sentence.links:
                    if fold(item.anchor) == fold(name):
                        return item.place
        for _, item in seen.links():
            if fold(item.anchor) == fold(name):
                return item.place
        for document in seen.documents.values():
            if same_name(document.title, name):
                return document.document
        return next((hit.document for hit in seen.hits() if same_name(hit.title, name)), None)


def state_of(reading: Reading, history: History) -> State:
    """Replay the history: notes of each turn against what had been seen before it."""
    state = State(reading, Seen())
    texts = [reading.question]
    for turn, step in enumerate(history):
        for intent, name in read_notes(step.turn.thought or "", texts):
            state.note(intent, name, turn)
        state.seen.take(step)
        texts += [plain(result.content) for result in step.results]
    return state
