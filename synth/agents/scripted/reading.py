"""What a reader of the question understands before searching. Never the name or id of a bridge or of the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.agents.scripted.matching import fold
from synth.agents.scripted.reference import sought_kind
from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Hop, Task

__all__ = ["Clue", "Reading", "read_task"]

_MEMBER = re.compile(r"(?!.*see also)(?:is |are |be )?(?:found in|from|part of|belongs? to|in)\b", re.IGNORECASE)
_VALUES = frozenset(("date", "year", "number", "quantity", "text"))


@dataclass(frozen=True)
class Clue:
    """One condition of the question: it leads from a source to a target. Unknowns are numbers."""

    cue: str
    """Words of the question that state it."""
    source: int | None
    """The unknown that it starts from; None when the question says where to start."""
    name: str
    """The name in the question that it starts from; empty when the start is an unknown or only described."""
    target: int
    """The unknown that it leads to."""
    value: bool = False
    """The name is no page but a date, a number or a word ("founded in 1874"): it tests candidates."""
    member: bool = False
    """It only says what the target is part of, which holds for many things: better tested than followed."""
    sought: str = ""
    """The kind of thing that it leads to, as the question names it ("class"); empty where it names none that tells."""
    described: bool = False
    """The question describes a page without naming it; the cue is the description."""


@dataclass(frozen=True)
class Reading:
    question: str
    clues: tuple[Clue, ...]
    """In an order in which they can be solved."""
    answer: int
    """The unknown that is asked for."""
    asked: ValueKind
    """What kind of thing the question word asks for (which/who, when, what year, how many, how long)."""


def read_task(task: Task) -> Reading:
    """The reading of ``task``'s question: hops in order as clues, with bridges and answer as numbered unknowns."""
    unknowns: dict[str, int] = {}
    clues: list[Clue] = []
    kinds = _kinds(task)
    for hop in task.walk.hops:
        source = None if not hop.needs else unknowns[task.walk.hops[hop.needs[-1]].target.id]
        target = unknowns.setdefault(hop.target.id, len(unknowns))
        described = source is None and hop.source.kind == "description"
        name = "" if source is not None or described else named_in(task.question, hop)
        value = bool(name) and hop.source.kind in _VALUES
        described = described or (source is None and not name)
        member = _MEMBER.match(hop.cue) is not None
        clues.append(
            Clue(
                hop.cue or task.question,
                source,
                name,
                target,
                value,
                member,
                kinds[target],
                described,
            )
        )
    if not clues:
        return Reading(task.question, (Clue(task.question, None, "", 0, described=True),), 0, task.answer_kind)
    return Reading(task.question, tuple(clues), clues[-1].target, task.answer_kind)


def _kinds(task: Task) -> list[str]:
    """The kind that the question gives each unknown, by the clue about it that the question brings first."""
    first: dict[str, str] = {}
    for hop in task.walk.hops:
        known = first.get(hop.target.id)
        if known is None or task.question.find(hop.cue) < task.question.find(known):
            first[hop.target.id] = hop.cue
    return [sought_kind(task.question, cue) for cue in first.values()]


def named_in(question: str, hop: Hop) -> str:
    """The source's name or alias as the question writes it; empty when it does not."""
    names = sorted({hop.source.name, *hop.source.aliases}, key=lambda name: (-len(name), name))
    for name in names:
        match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
        if match:
            return match.group()
    padded = f" {fold(question)} "
    return next((name for name in names if f" {fold(name)} " in padded), "")
