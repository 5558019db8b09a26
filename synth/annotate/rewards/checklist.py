"""A response against the checklist of its task (CM2, arXiv 2602.12268)."""

from __future__ import annotations

from collections.abc import Sequence

from synth.annotate.rewards.naming import named
from synth.annotate.rewards.turns import SaidTurn
from synth.schemas.rl import Criterion, GroundTruth, HopItem
from synth.text.words import words_of

__all__ = ["NOT_MET", "turns_of"]

NOT_MET = -1


def turns_of(turns: Sequence[SaidTurn], truth: GroundTruth, *, correct: bool | None) -> tuple[int | None, ...]:
    """For each item of the checklist the turn, from 0, in which it was first met; ``NOT_MET``; None where a text can't
    tell: what was done and what state it left is the environment's to say."""
    facts = {fact.hop: fact.statement for item in truth.rubric for fact in item.facts}
    names = [frozenset(truth.rubric[n].entity for n in _named(turn, truth)) for turn in turns]

    def met(item: Criterion, number: int) -> bool:
        about = HopItem.of(item.details)
        if item.kind == "named":
            return about.entity in names[number]
        turn = turns[number]
        statement = words_of("" if about.hop is None else facts.get(about.hop, ""))
        read = any(shown.about == about.document_id for shown in turn.shown)
        return read or (bool(statement.strip()) and any(statement in words_of(text) for text in turn.observations))

    found: list[int | None] = []
    for item in truth.checklist:
        if item.kind == "answer":
            found.append(None if correct is None else len(turns) - 1 if correct else NOT_MET)
        elif item.kind in ("evidence", "named"):
            found.append(next((number for number in range(len(turns)) if met(item, number)), NOT_MET))
        else:
            found.append(None)
    return tuple(found)


def _named(turn: SaidTurn, truth: GroundTruth) -> frozenset[int]:
    return named(turn.text, [item.names for item in truth.rubric])
