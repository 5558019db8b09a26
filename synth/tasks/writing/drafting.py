"""Words for a relation, drafted once by a model in the place of those that a rule makes of its label.

Fail-closed: a phrase keeps its two slots where English wants them, brings no name, number or negation of its own, and
is read back: a reader who is shown the phrase alone and ten facts, those of the relation among facts of its
neighbours, must pick the relation's and no other. What is refused leaves the rule's words as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from synth.lexicon.model import Lexicon, RelationEntry
from synth.models.asking import Asked, Asks, quoted
from synth.models.bridge import together
from synth.schemas.drafted_words import DraftedWordsRow, RelationFacts, ShownFact
from synth.schemas.rejections import Reason
from synth.sources.facts.words import PREPOSITIONS
from synth.tasks.text import mentions
from synth.tasks.world.grammar import Predicate
from synth.tasks.writing.asked import CONFIRM_WORDS, DRAFT_WORDS, NewWords, PickedFacts, schema_of
from synth.tasks.writing.words import names_and_numbers, turns

__all__ = ["Drafted", "DraftedPhrase", "WordsDrafter", "drafted_lexicon", "label_of"]

_MOST = 3
"""Phrases of a kind that are looked at."""
_LONGEST = 100
_AUXILIARIES = frozenset(("was", "is", "has"))
_Slot = Literal["subject_does", "object_does", "object_is", "subject_is", "asks"]
_SIGNS = set('{}<>|\\`~_[]()"“”;:!')


class _Refused(Exception):
    """Why a phrase can't be used."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True)
class DraftedPhrase:
    """One phrase, as the writer gave it."""

    said: str
    slot: _Slot | None = None
    """Where it stands in the lexicon; None: nowhere, as it is refused."""
    words: str = ""
    """How it stands there."""
    reason: Reason | None = None
    detail: str = ""


@dataclass(frozen=True)
class Drafted:
    """What came of one relation."""

    phrases: tuple[DraftedPhrase, ...]
    calls: tuple[str, ...]
    reason: Reason | None = None
    """Why there is nothing at all."""
    detail: str = ""


def label_of(relation: str) -> str:
    """What a relation is called."""
    return relation.replace("_", " ")


def drafted_lexicon(lexicon: Lexicon, drafted: Iterable[DraftedWordsRow]) -> Lexicon:
    """The lexicon with drafted words in the place of those it has, kind by kind."""
    relations = dict(lexicon.relations)
    for row in drafted:
        entry = relations[row.id]
        better = {kind: found for kind in get_args(_Slot) if (found := getattr(row, kind))}
        relations[row.id] = entry.model_copy(update={"question": entry.question.model_copy(update=better)})
    return lexicon.model_copy(update={"relations": relations})


class WordsDrafter:
    """
    Args:
        writer: Who words relations (``lexicon/draft``).
        reader: Who picks facts by a phrase (``lexicon/confirm``).
    """

    def __init__(self, writer: Asks, reader: Asks) -> None:
        self._writer = writer
        self._reader = reader

    def draft(self, row: RelationFacts, entry: RelationEntry, sample: Callable[[int], str]) -> Drafted:
        """Every phrase that the writer gives, kept or refused.

        Args:
            sample: Name of the sample of call n: 0 drafts, the others read.
        """
        label = label_of(row.id)
        own = [fact for fact in row.facts if fact.relation == label]
        asked: Asked[NewWords] = self._writer.ask(
            sample(0),
            schema=schema_of(DRAFT_WORDS),
            relation=quoted(
                label=label,
                subject=list(entry.subject),
                object=list(entry.object) or entry.value,
                facts=[[fact.subject, fact.object] for fact in own],
            ),
        )
        if asked.answer is None:
            return Drafted((), asked.calls, asked.reason or Reason.MALFORMED, asked.detail)
        phrases = list(_placed(asked.answer, label, entry, own))
        readable = [at for at, phrase in enumerate(phrases) if phrase.slot is not None]
        read = together(
            [
                partial(self._read, phrases[at], row.facts, label, sample(number))
                for number, at in enumerate(readable, 1)
            ]
        )
        calls = asked.calls
        for at, (phrase, paid) in zip(readable, read, strict=True):
            phrases[at] = phrase
            calls = (*calls, *paid)
        return Drafted(tuple(phrases), calls)

    def _read(
        self, phrase: DraftedPhrase, facts: Sequence[ShownFact], label: str, sample: str
    ) -> tuple[DraftedPhrase, tuple[str, ...]]:
        numbered = [{"number": at, **fact.model_dump()} for at, fact in enumerate(facts, 1)]
        asked: Asked[PickedFacts] = self._reader.ask(
            sample, schema=schema_of(CONFIRM_WORDS), phrase=quoted(phrase=phrase.said, facts=numbered)
        )
        wanted = {at for at, fact in enumerate(facts, 1) if fact.relation == label}
        if asked.answer is None:
            why = f"the reader: {asked.reason}: {asked.detail}"
        elif set(asked.answer.facts) == wanted:
            return phrase, asked.calls
        else:
            others = {facts[at - 1].relation for at in asked.answer.facts if 1 <= at <= len(facts)} - {label}
            missed = "not all of its facts" if asked.answer.facts else "no fact"
            why = f"the reader picked {', '.join(sorted(others)) or missed}"
        return DraftedPhrase(phrase.said, reason=Reason.NOT_CONFIRMED, detail=why), asked.calls


def _placed(answer: NewWords, label: str, entry: RelationEntry, own: Sequence[ShownFact]) -> Iterator[DraftedPhrase]:
    """Each phrase with its place in the lexicon, or why it has none."""
    said: list[tuple[str, Callable[[], tuple[_Slot, str]]]] = []
    said += [(one.words, partial(_statement, one.words, one.base, entry)) for one in answer.statements[:_MOST]]
    said += [(one, partial(_name, one, entry)) for one in answer.names[:_MOST]]
    said += [(one, partial(_question, one, entry)) for one in answer.questions[:_MOST]]
    seen = set()
    for words, place in said:
        try:
            _plain(words, label, own)
            slot, written = place()
        except _Refused as error:
            yield DraftedPhrase(words[:300], reason=error.reason, detail=str(error))
            continue
        if (slot, written) not in seen:
            seen.add((slot, written))
            yield DraftedPhrase(words, slot, written)


def _plain(words: str, label: str, own: Sequence[ShownFact]) -> None:
    bare = words.replace("{s}", "").replace("{o}", "")
    if words != " ".join(words.split()) or len(words) > _LONGEST or _SIGNS & set(bare):
        raise _Refused(Reason.MALFORMED, "it is not a plain phrase")
    told = " ".join(bare.split())
    problem = names_and_numbers(label, told[:1].lower() + told[1:]) or turns(label, told)
    found = mentions(told, [name for fact in own for name in (fact.subject, fact.object)])
    if problem or found:
        raise _Refused(Reason.MEANING_CHANGED, problem or f"it names {found!r}, one of the facts")


def _slots(words: str, *wanted: str) -> None:
    if sorted(slot for slot in ("{s}", "{o}") for _ in range(words.count(slot))) != sorted(wanted):
        raise _Refused(Reason.MALFORMED, f"it must hold {' and '.join(wanted)}, once")


def _statement(words: str, base: str, entry: RelationEntry) -> tuple[_Slot, str]:
    _slots(words, "{s}", "{o}")
    words = words.removesuffix(".")
    first, last = words[:3], words[-3:]
    verb, *rest = words[3:-3].split() or [""]
    if {first, last} != {"{s}", "{o}"} or not words[3:4].isspace() or not words[-4].isspace() or not verb.isalpha():
        raise _Refused(Reason.MALFORMED, "a statement has the one at its beginning, a verb, and the other at its end")
    if first == "{o}" and entry.value != "entity":
        raise _Refused(Reason.UNNATURAL, "a value does nothing")
    preposition = rest.pop() if rest and rest[-1] in (*PREPOSITIONS, "of") else ""
    if verb not in _AUXILIARIES:
        if not base.isalpha() or not base.islower() or base[0] != verb[0] or len(base) > len(verb) + 2:
            raise _Refused(Reason.MALFORMED, f"{base!r} is not the base of {verb!r}")
        verb = f"{verb}~{base}"
    written = f"{' '.join([verb, *rest])} | {preposition}".rstrip()
    Predicate.parse(written)
    return ("subject_does" if first == "{s}" else "object_does"), written


def _name(words: str, entry: RelationEntry) -> tuple[_Slot, str]:
    known = "{s}" if "{s}" in words else "{o}"
    _slots(words, known)
    if not words.startswith("the ") or words.startswith("the {"):
        raise _Refused(Reason.MALFORMED, "a name begins with 'the'")
    if known == "{s}":
        return "object_is", words.replace("{s}", "{x}")
    if entry.value != "entity" or not entry.inverse_functional:
        raise _Refused(Reason.NOT_UNIQUE, "several subjects have one object, so it names none of them")
    return "subject_is", words.replace("{o}", "{x}")


def _question(words: str, entry: RelationEntry) -> tuple[_Slot, str]:
    _slots(words, "{s}")
    if not words.endswith("?") or not words[:1].isupper():
        raise _Refused(Reason.MALFORMED, "a question begins with a capital and ends with '?'")
    if entry.value == "entity":
        raise _Refused(Reason.UNNATURAL, "what is no value is asked for by its kind")
    return "asks", words.replace("{s}", "{x}")
