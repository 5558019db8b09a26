"""Where a scripted agent stands: what it has seen, and what it has settled, read back from its own thoughts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import lru_cache

from synth.agents.contract import History
from synth.agents.scripted.matching import same_name
from synth.agents.scripted.phrases import read_notes
from synth.agents.scripted.reading import Reading
from synth.agents.scripted.seen import Seen
from synth.environments.rendering import plain
from synth.text.words import fold

__all__ = ["Replay", "State", "Value", "key_of", "state_of"]

_plain = lru_cache(maxsize=1024)(plain)
"""Of whole observations: a history is read anew in each turn."""


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


def key_of(value: Value) -> str:
    """What tells one member from another: its page, or its place on one that defines several; else its name."""
    return value.place or fold(value.name)


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
    unlinked: set[tuple[int, str]] = field(default_factory=set)
    """Those of ``dismissed`` that have nothing to do with what the clue starts from: with another start they may."""
    members: dict[int, list[Value]] = field(default_factory=dict)
    """Unknown that stands for a set -> what was put on the list."""
    kept: set[tuple[int, str]] = field(default_factory=set)
    """(clue, key) of members that were found to meet a further condition."""
    told: dict[tuple[int, str], Value | None] = field(default_factory=dict)
    """(clue, key) -> what the clue asks of each member, as read; None where it was looked for and not found."""
    postponed: set[int] = field(default_factory=set)
    """Clues that led nowhere so far: others on the same unknown are tried first."""
    member: tuple[int, Value] | None = None
    """The member that is looked at, and the clue that asks something of it."""

    def copy(self) -> State:
        """One that can be changed by itself. Both have seen the same."""
        return replace(
            self,
            values=dict(self.values),
            resolved=set(self.resolved),
            dismissed=set(self.dismissed),
            unlinked=set(self.unlinked),
            members={unknown: list(values) for unknown, values in self.members.items()},
            kept=set(self.kept),
            told=dict(self.told),
            postponed=set(self.postponed),
        )

    def open_clue(self) -> int | None:
        """The first clue that is not settled and whose source is known; None when all are settled.

        Of several conditions on one unknown, those that hold for many things come last. Once there is a candidate, a
        condition on a value comes first, before anything is built on the candidate.
        """
        clues = self.reading.clues
        order = sorted(range(len(clues)), key=lambda n: (n in self.postponed, self._rank(n), n))
        for number in order:
            source = clues[number].source
            if not self._done(number) and (source is None or source in self.values or self._complete(source)):
                return number
        return None

    def way_to(self, unknown: int) -> list[str]:
        """What led to a value, from what the question names on; empty where it was not reached from a name."""
        names: list[str] = []
        at: int | None = unknown
        while at is not None:
            clue = next((one for one in self.reading.clues if one.target == at), None)
            if at not in self.values or clue is None or clue.value or clue.described:
                return []
            if clue.source is not None and clue.source not in self.values:
                return []
            names.insert(0, clue.name if clue.source is None else self.values[clue.source].name)
            at = clue.source
        return names

    def can_wait(self, number: int) -> bool:
        """Whether another clue may lead to what this one could not find."""
        clues = self.reading.clues
        target = clues[number].target
        return (
            bool(clues[number].name)
            and target not in self.values
            and any(
                other.target == target and n != number and n not in self.postponed and n not in self.resolved
                for n, other in enumerate(clues)
            )
        )

    def _rank(self, number: int) -> int:
        clue = self.reading.clues[number]
        if clue.value:
            return 0 if clue.target in self.values else 2
        shared = sum(other.target == clue.target for other in self.reading.clues) > 1
        return 2 if clue.member and shared else 1

    # Sets. A set is complete when every condition on it was gone through.

    def lists(self, number: int) -> bool:
        """Whether a clue asks for the members of a set, rather than something of each member of one."""
        clue = self.reading.clues[number]
        return clue.every and not self.reading.is_set(clue.source)

    def of_each(self, unknown: int) -> list[tuple[Value, Value]]:
        """(member, what stands for it here): the members themselves, or what a clue asked of each of them."""
        leading = [n for n, clue in enumerate(self.reading.clues) if clue.target == unknown and clue.every]
        if not leading:
            return []
        if self.lists(leading[0]):
            return [(value, value) for value in self.members.get(unknown, [])]
        source = self.reading.clues[leading[0]].source
        assert source is not None
        found = [(root, self.told.get((leading[0], key_of(value)))) for root, value in self.of_each(source)]
        return [(root, value) for root, value in found if value is not None]

    def untold(self, number: int) -> list[Value]:
        """Those of whom the clue was not answered yet."""
        source = self.reading.clues[number].source
        assert source is not None
        return [value for _, value in self.of_each(source) if (number, key_of(value)) not in self.told]

    def unsifted(self, number: int) -> list[Value]:
        """Members that were not tested for a further condition yet."""
        members = self.members.get(self.reading.clues[number].target, [])
        return [value for value in members if (number, key_of(value)) not in self.kept]

    def sifts(self, number: int) -> bool:
        """Whether a clue is a further condition on a set whose members another one listed."""
        target = self.reading.clues[number].target
        return any(n in self.resolved and clue.target == target for n, clue in enumerate(self.reading.clues))

    def _done(self, number: int) -> bool:
        clue = self.reading.clues[number]
        if not clue.every or number in self.resolved:
            return number in self.resolved
        if self.lists(number):
            return self.sifts(number) and not self.unsifted(number)
        assert clue.source is not None
        return self._complete(clue.source) and not self.untold(number)

    def _complete(self, unknown: int) -> bool:
        leading = [n for n, clue in enumerate(self.reading.clues) if clue.target == unknown and clue.every]
        return bool(leading) and all(self._done(number) for number in leading)

    def is_dismissed(self, clue: int, name: str, document: str | None) -> bool:
        if document is not None:
            return (clue, document) in self.dismissed
        return (clue, fold(name)) in self.dismissed

    def note(self, intent: str, name: str, turn: int) -> None:
        """Take a note into account, as of now."""
        number = self.open_clue()
        if intent in ("dismiss", "elsewhere"):
            self._dismiss(number, name)
        elif intent == "return" and number is not None:
            self._readmit(number, name)
        elif intent == "postpone" and number is not None:
            self.postponed.add(number)
        elif number is not None and self.reading.clues[number].every and self._is_about(number, intent, name):
            self._note_of_set(number, intent, name, turn)
        elif intent in ("member", "strike", "about", "told"):
            self._mend_set(intent, name, turn)
        elif number is not None and intent in ("found", "candidate", "candidate_next", "candidate_read", "confirm"):
            clue = self.reading.clues[number]
            if intent != "confirm":
                self.values[clue.target] = Value(name, self.place(name), turn)
            self.resolved.add(number)

    def _note_of_set(self, number: int, intent: str, name: str, turn: int) -> None:
        clue = self.reading.clues[number]
        members = self.members.setdefault(clue.target, []) if self.lists(number) else []
        if intent == "member":
            value = Value(name, self.place(name), turn)
            if key_of(value) not in {key_of(other) for other in members}:
                members.append(value)
        elif intent == "complete":
            self.resolved.add(number)
        elif intent == "about":
            value_ = self.listed(number, name)
            self.member = None if value_ is None else (number, value_)
        elif intent == "keep" and (value_ := self.listed(number, name)) is not None:
            self.kept.add((number, key_of(value_)))
        elif intent == "strike" and (value_ := self.listed(number, name)) is not None:
            members.remove(value_)
            self.dismissed.add((number, key_of(value_)))
        elif intent == "told" and self.member is not None:
            self.told[number, key_of(self.member[1])] = Value(name, self.place(name), turn)
        elif intent == "untold" and (value_ := self.listed(number, name)) is not None:
            self.told[number, key_of(value_)] = None

    def _is_about(self, number: int, intent: str, name: str) -> bool:
        """Whether a note is about the set that is at work, and not about one that was gone through before."""
        if intent in ("member", "complete"):
            return self.lists(number)
        if intent == "told":
            return self.member is None or self.member[0] == number
        if intent == "strike" and not self.lists(number):
            return False
        return intent not in ("strike", "about") or self.listed(number, name) is not None

    def _mend_set(self, intent: str, name: str, turn: int) -> None:
        """A note about what was settled before: it is put right, and what was built on it is open again."""
        sets = [n for n, clue in enumerate(self.reading.clues) if clue.every]
        closed = [n for n in sets if self.lists(n) and n in self.resolved]
        if intent == "member" and closed:
            self._note_of_set(closed[-1], intent, name, turn)
        elif intent == "strike":
            number = next((n for n in reversed(closed) if self.listed(n, name) is not None), None)
            if number is not None:
                self._note_of_set(number, intent, name, turn)
        elif intent == "about":
            asked = ((n, self.listed(n, name)) for n in reversed(sets) if not self.lists(n))
            known = ((n, value) for n, value in asked if value is not None and (n, key_of(value)) in self.told)
            self.member = next(known, None)
        elif self.member is not None:
            number, member = self.member
            self.told[number, key_of(member)] = Value(name, self.place(name), turn)

    def look_again(self, read: Collection[str]) -> None:
        """What was not found of members is open again for those whose pages were ``read`` since."""
        for number, key in [known for known, value in self.told.items() if value is None]:
            if key.split("#", 1)[0] in read:
                del self.told[number, key]

    def listed(self, number: int, name: str) -> Value | None:
        """The member of that name, of the set that a clue lists or asks about."""
        clue = self.reading.clues[number]
        of = clue.target if self.lists(number) else clue.source
        known = [value for _, value in self.of_each(of)] if of is not None else []
        return next((value for value in known if fold(value.name) == fold(name)), None)

    def _dismiss(self, number: int | None, name: str) -> None:
        for unknown, value in list(self.values.items()):
            if fold(value.name) == fold(name):
                for clue in self._drop(unknown):
                    self.dismissed.add((clue, value.document or fold(name)))
                return
        place = self.place(name)
        key = place.split("#", 1)[0] if place else fold(name)
        if number is not None:
            self.dismissed.add((number, key))
            self.unlinked.add((number, key))
        else:  # all is settled: it stood on a list beside what fits
            self.dismissed |= {(n, key) for n, clue in enumerate(self.reading.clues) if clue.target in self.values}

    def _readmit(self, number: int, name: str) -> None:
        """What was put aside for a clue is looked at again."""
        gone = {(number, fold(name)), *((number, place) for place in self._places(name))}
        self.dismissed -= gone
        self.unlinked -= gone
        self.postponed.discard(number)

    def _places(self, name: str) -> set[str]:
        """All pages that ``name`` may mean."""
        seen = self.seen
        pages = {one.document for one in seen.documents.values() if same_name(one.title, name)}
        pages |= {hit.document for hit in seen.hits() if same_name(hit.title, name)}
        return pages | {item.place.split("#", 1)[0] for _, item in seen.links() if fold(item.anchor) == fold(name)}

    def _drop(self, unknown: int) -> list[int]:
        """Forget an unknown and all that was built on it; gives the clues that lead to it."""
        self.values.pop(unknown, None)
        self.members.pop(unknown, None)
        leading = [n for n, clue in enumerate(self.reading.clues) if clue.target == unknown]
        self.resolved -= set(leading)
        for number, clue in enumerate(self.reading.clues):
            if clue.source == unknown:
                self.dismissed -= {gone for gone in self.unlinked if gone[0] == number}
            if clue.source == unknown and (number in self.resolved or clue.target in self.members):
                self.resolved.discard(number)
                self._drop(clue.target)
        for known in [known for known in self.told if known[0] in leading]:
            del self.told[known]
        self.kept = {known for known in self.kept if known[0] not in leading}
        return leading

    def place(self, name: str) -> str | None:
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


class Replay:
    """The state at the end of a history, which may go on: what was replayed of it is not replayed again."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._begin()

    def _begin(self) -> None:
        self._history: History = ()
        self._state = State(self._reading, Seen())
        self._texts = [self._reading.question]

    def state(self, history: History) -> State:
        """Replay the history: notes of each turn against what had been seen before it. What the caller changes of the
        state stays the caller's; what it has seen grows with the history."""
        known = len(self._history)
        if known > len(history) or any(one is not other for one, other in zip(self._history, history, strict=False)):
            self._begin()
            known = 0
        for turn, step in enumerate(history[known:], known):
            for intent, name in read_notes(step.turn.thought or "", self._texts):
                self._state.note(intent, name, turn)
            self._state.seen.take(step)
            documents = self._state.seen.documents.values()
            self._state.look_again({one.document for one in documents if one.turns[-1] == turn})
            self._texts += [_plain(result.content) for result in step.results]
        self._history = history
        return self._state.copy()


def state_of(reading: Reading, history: History) -> State:
    """The state at the end of ``history``."""
    return Replay(reading).state(history)
