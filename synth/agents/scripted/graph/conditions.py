"""Whether the facts say that a candidate meets a condition: shared by teacher and policy."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.scripted.matching import same_name
from synth.agents.scripted.operations import span_holds
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import Far
from synth.agents.scripted.state import Value
from synth.environments.answers import judge
from synth.schemas.documents import ValueKind

__all__ = ["fact_that_meets"]

_KINDS: tuple[ValueKind, ...] = ("text", "date", "number")


def fact_that_meets(clue: Clue, name: str, candidate: Value, ends: Sequence[Far], *, source: bool) -> Far | None:
    """The fact by which ``candidate`` meets ``clue``, if one does. ``source``: they are facts of the clue's start, and
    the candidate must be among their far ends; else they are facts of the candidate."""
    if source:
        return next((end for end in ends if end.id == candidate.place and end.id), None)
    if clue.span is not None:
        return next((end for end in ends if span_holds(end.name, clue.span)), None)
    if clue.value:
        return next((e for e in ends if any(judge(e.name, gold=clue.name, kind=kind).correct for kind in _KINDS)), None)
    return next((end for end in ends if same_name(end.name, name)), None)
