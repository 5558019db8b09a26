"""The parts of a question: stretches that each state a condition or say what is asked for, and what they must keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from synth.schemas.details import details_with
from synth.schemas.tasks import Hop, Node, Operation, Reworded, Walk
from synth.tasks.draft import Draft
from synth.tasks.text import mentions

__all__ = ["Part", "parts_of", "reworded"]

_VALUES = frozenset(("date", "year", "number", "quantity", "text", "range"))
_OWN_WORDS = frozenset(("masked", "given"))
"""Shapes whose questions are not ours to word: a passage as it stands in a document, and a user's own question."""


@dataclass(frozen=True)
class Part:
    """One stretch of the question that hops or operations of the walk are stated by."""

    cue: str
    keep: tuple[str, ...]
    """Names, values and descriptions that the new words for it must hold, as the question writes them."""


def parts_of(draft: Draft) -> tuple[Part, ...]:
    """The distinct cues of the walk, in its order; empty where the question is not to be reworded.

    What a hop starts from and the question itself names must stay in the words of that hop; a description (a page that
    is told by its own words, proven to fit no other) must stay word by word.
    """
    if draft.shape in _OWN_WORDS:
        return ()
    keep: dict[str, list[str]] = {}
    for hop in draft.walk.hops:
        kept = keep.setdefault(hop.cue, [])
        if not hop.needs:
            kept += _kept(hop.source, hop.cue)
    for operation in draft.walk.operations:
        kept = keep.setdefault(operation.cue, [])
        if operation.bound is not None:
            kept += _kept(operation.bound, operation.cue)
    return tuple(Part(cue, tuple(dict.fromkeys(kept))) for cue, kept in keep.items())


def _kept(node: Node, cue: str) -> Sequence[str]:
    if node.kind == "description":
        return [node.name if mentions(cue, [node.name]) else cue]
    forms = [node.name] if node.kind in _VALUES else [node.name, *node.aliases]
    found = mentions(cue, forms)
    return [found] if found is not None else []


def reworded(draft: Draft, question: str, words: Mapping[str, str]) -> Draft:
    """``draft`` asked as ``question``; ``words`` gives the new words for each old cue."""

    def hop(old: Hop) -> Hop:
        return old.model_copy(update={"cue": words[old.cue]})

    def operation(old: Operation) -> Operation:
        return old.model_copy(update={"cue": words[old.cue]})

    walk = Walk(
        shape=draft.walk.shape,
        hops=tuple(hop(old) for old in draft.walk.hops),
        operations=tuple(operation(old) for old in draft.walk.operations),
    )
    details = details_with(Reworded(question_before=draft.question), draft.details)  # the grammar's stays
    update = {"question": question, "walk": walk, "surface": "written", "details": details}
    return draft.model_copy(update=update)
