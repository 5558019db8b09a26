"""A task: the question, its answer, the walk that made it, the evidence, and every check it passed."""

from __future__ import annotations

from typing import ClassVar, Literal

from synth.schemas.documents import Evidence, ValueKind
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonObject, NonEmpty, Row, Split

__all__ = ["CheckResult", "Difficulty", "Hop", "Node", "Shape", "Task", "Walk"]

Shape = Literal["composition", "conjunction", "given"]
"""``given`` = the user's own question (``--tasks-file``): no walk of ours stands behind it."""


class Node(Row):
    """An end of a hop: an entity with its page, or a value."""

    id: NonEmpty
    """Entity id; for a value, the value itself."""
    name: NonEmpty
    """As a person would write it in a sentence."""
    aliases: tuple[str, ...] = ()
    kind: str
    """Entity type, ``page``, or a ``ValueKind`` other than entity."""
    document_id: str | None = None
    """The page about it; None for values."""


class Hop(Row):
    """One edge of the walk, in the direction that the solver goes: from what is known to what is sought."""

    source: Node
    target: Node
    relation: NonEmpty
    forward: bool
    """True when the stated edge goes source -> target; False when it is walked against its direction."""
    needs: tuple[int, ...] = ()
    """Indices of the hops whose target is this hop's source. Empty: the question itself names the source."""
    evidence: Evidence
    cue: str
    """The words of the question that state this hop: ``cue in question``. What a reader learns about it, no more."""


class Walk(Row):
    """A directed acyclic graph of hops. Composition: hop i needs hop i-1. Conjunction: every hop ends at the answer."""

    shape: Shape
    hops: tuple[Hop, ...]


class CheckResult(Row):
    """What a check found. Fail-closed: only ``passed`` lets a task through."""

    check: NonEmpty
    outcome: Literal["passed", "failed", "abstained"]
    detail: str = ""


class Difficulty(Row):
    """Measures of structure; nothing here was measured with a policy."""

    hops: int
    constraints: int
    """Number of hops whose source is named in the question."""
    branching: float
    """Geometric mean over the hops of how many neighbours of the source fit the relation or compete with it."""
    documents: int
    """Distinct pages that must be read."""


class Task(Row):
    table: ClassVar[str | None] = "tasks"

    id: NonEmpty
    """``<prefix>-<16 hex>``, the hash of what the task is (question, answer, walk, source): equal tasks, equal ids."""
    question: NonEmpty
    answer: NonEmpty
    answer_aliases: tuple[str, ...] = ()
    answer_kind: ValueKind
    environment: NonEmpty = "search"
    shape: Shape
    walk: Walk
    gold_entities: tuple[str, ...]
    """Ids of the answer and of every bridge: the rubric. Entities that the question itself names are not in it."""
    gold_documents: tuple[str, ...]
    difficulty: Difficulty
    checks: tuple[CheckResult, ...]
    split: Split
    candidate_index: int
    """Place among the candidates: acceptance goes by it, never by completion order."""
    surface: str = ""
    """Which family of sentences worded the question."""
    licence: str | None = None
    details: JsonObject = {}
    provenance: Provenance
