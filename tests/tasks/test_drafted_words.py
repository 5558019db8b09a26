"""What a drafted phrase must be, and who may not confirm it."""

from __future__ import annotations

from typing import Any

import pytest

from synth.lexicon.model import RelationEntry
from synth.models.asking import Asked
from synth.schemas.drafted_words import RelationFacts, ShownFact
from synth.schemas.rejections import Reason
from synth.sources.facts.words import RelationShape, derive_relation
from synth.tasks.writing.asked import NewStatement, NewWords, PickedFacts
from synth.tasks.writing.drafting import WordsDrafter

RIVER = derive_relation(RelationShape("mouth", ("river",), ("sea",)))
LENGTH = derive_relation(RelationShape("length", ("river",), (), value="quantity", unit="km"))
AUTHOR = derive_relation(RelationShape("author of", ("person",), ("book",), inverse_functional=True))
FACTS = (
    ShownFact(relation="mouth", subject="Elbe", object="North Sea"),
    ShownFact(relation="source", subject="Elbe", object="Giant Mountains"),
    ShownFact(relation="mouth", subject="Don", object="Azov"),
)


class Says:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def ask(self, sample: str, **values: Any) -> Asked[Any]:
        if isinstance(self.answer, Reason):
            return Asked(None, self.answer, "no answer")
        return Asked(self.answer)


def drafted(
    entry: RelationEntry, words: NewWords, picked: Any = None, relation: str = "mouth"
) -> dict[str, tuple[str | None, str, Reason | None]]:
    drafter = WordsDrafter(Says(words), Says(PickedFacts(facts=(1, 3)) if picked is None else picked))
    row = RelationFacts(id=relation, facts=FACTS)
    return {each.said: (each.slot, each.words, each.reason) for each in drafter.draft(row, entry, str).phrases}


def statements(*told: tuple[str, str]) -> NewWords:
    said = tuple(NewStatement(words=words, base=base) for words, base in told)
    return NewWords(statements=said, names=(), questions=())


def names(*told: str) -> NewWords:
    return NewWords(statements=(), names=told, questions=())


def questions(*told: str) -> NewWords:
    return NewWords(statements=(), names=(), questions=told)


@pytest.mark.parametrize(
    ("entry", "words", "slot", "written"),
    [
        (RIVER, statements(("{s} flows into {o}.", "flow")), "subject_does", "flows~flow | into"),
        (RIVER, statements(("{o} is fed by {s}", "be")), "object_does", "is fed | by"),
        (RIVER, names("the mouth of {s}"), "object_is", "the mouth of {x}"),
        (AUTHOR, names("the author of {o}"), "subject_is", "the author of {x}"),
        (LENGTH, questions("How long is {s}?"), "asks", "How long is {x}?"),
    ],
)
def test_what_is_read_back_takes_its_place(entry: RelationEntry, words: NewWords, slot: str, written: str) -> None:
    ((found_slot, found, reason),) = drafted(entry, words).values()
    assert (found_slot, found, reason) == (slot, written, None)


@pytest.mark.parametrize(
    ("entry", "words", "reason"),
    [
        (RIVER, statements(("{s} flows into {s}", "flow")), Reason.MALFORMED),
        (RIVER, statements(("At last {s} reaches {o}", "reach")), Reason.MALFORMED),
        (RIVER, statements(("{s} flows into {o}", "wander")), Reason.MALFORMED),
        (RIVER, statements(("{s} flows into the Elbe and {o}", "flow")), Reason.MEANING_CHANGED),
        (RIVER, statements(("{s} never reaches {o}", "reach")), Reason.MEANING_CHANGED),
        (RIVER, statements(("{s} is one of two rivers of {o}", "be")), Reason.MEANING_CHANGED),
        (LENGTH, statements(("{o} measures {s}", "measure")), Reason.UNNATURAL),
        (RIVER, names("mouth of {s}"), Reason.MALFORMED),
        (RIVER, names("the mouth\nof {s}"), Reason.MALFORMED),
        (RIVER, names("the {s} mouth of {o}"), Reason.MALFORMED),
        (RIVER, names("the river that reaches {o}"), Reason.NOT_UNIQUE),
        (RIVER, questions("Where does {s} end?"), Reason.UNNATURAL),
        (LENGTH, questions("how long is {s}"), Reason.MALFORMED),
    ],
)
def test_what_breaks_a_rule_is_refused(entry: RelationEntry, words: NewWords, reason: Reason) -> None:
    ((slot, _, found),) = drafted(entry, words).values()
    assert (slot, found) == (None, reason)


@pytest.mark.parametrize("picked", [(), (1,), (1, 2, 3), (2,), (1, 3, 9), Reason.MALFORMED])
def test_only_a_reader_who_picks_the_relations_facts_and_no_other_confirms(picked: Any) -> None:
    answer = picked if isinstance(picked, Reason) else PickedFacts(facts=picked)
    ((slot, _, reason),) = drafted(RIVER, names("the mouth of {s}"), answer).values()
    assert (slot, reason) == (None, Reason.NOT_CONFIRMED)


def test_a_writer_without_an_answer_leaves_the_rule() -> None:
    drafter = WordsDrafter(Says(Reason.REFUSAL), Says(PickedFacts(facts=())))
    found = drafter.draft(RelationFacts(id="mouth", facts=FACTS), RIVER, str)
    assert (found.phrases, found.reason) == ((), Reason.REFUSAL)
