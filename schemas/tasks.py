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
    """Other names of it, as documents use them."""
    kind: str
    """Entity type, ``page``, or a ``ValueKind`` other than entity."""
    document_id: str | None = None
    """The page about it; None for values."""


class Hop(Row):
    """One edge of the walk, in the direction that the solver goes: from what is known to what is sought."""

    source: Node
    """What is known when the hop begins."""
    target: Node
    """What the hop finds."""
    relation: NonEmpty
    """Name of the relation, in the direction that the evidence states."""
    forward: bool
    """True when the stated edge goes source -> target; False when it is walked against its direction."""
    needs: tuple[int, ...] = ()
    """Indices of the hops whose target is this hop's source. Empty: the question itself names the source."""
    evidence: Evidence
    """Where a document states it."""
    cue: str
    """The words of the question that state this hop: ``cue in question``. What a reader learns about it, no more."""


class Walk(Row):
    """A directed acyclic graph of hops. Composition: hop i needs hop i-1. Conjunction: every hop ends at the answer."""

    shape: Shape
    """How the hops hang together."""
    hops: tuple[Hop, ...]
    """In the order in which a solver goes."""


class CheckResult(Row):
    """What a check found. Fail-closed: only ``passed`` lets a task through."""

    check: NonEmpty
    """Name of the check."""
    outcome: Literal["passed", "failed", "abstained"]
    """``abstained`` counts as not passed."""
    detail: str = ""
    """What it saw."""


class Difficulty(Row):
    """Measures of structure; nothing here was measured with a policy."""

    hops: int
    """Hops of the walk; 0 for given questions."""
    constraints: int
    """Number of hops whose source is named in the question."""
    branching: float
    """Geometric mean over the hops of how many neighbours of the source fit the relation or compete with it."""
    documents: int
    """Distinct pages that must be read."""


class Task(Row):
    """A question with all that is known about it."""

    table: ClassVar[str | None] = "tasks"

    id: NonEmpty
    """``<prefix>-<16 hex>``, the hash of what the task is (question, answer, walk, source): equal tasks, equal ids."""
    question: NonEmpty
    """The whole question, as the agent is asked it."""
    answer: NonEmpty
    """The gold answer."""
    answer_aliases: tuple[str, ...] = ()
    """Other answers that are as right."""
    answer_kind: ValueKind
    """What kind of thing the answer is."""
    environment: NonEmpty = "search"
    """The environment in which the task is to be solved."""
    shape: Shape
    """Shape of the walk."""
    walk: Walk
    """The gold walk, hop by hop."""
    gold_entities: tuple[str, ...]
    """Ids of the answer and of every bridge: the rubric. Entities that the question itself names are not in it."""
    gold_documents: tuple[str, ...]
    """Ids of the documents that state the hops."""
    difficulty: Difficulty
    """Measures of structure."""
    checks: tuple[CheckResult, ...]
    """Every check that ran, in order; all passed."""
    split: Split
    """The split that owns the gold entities."""
    candidate_index: int
    """Place among the candidates: acceptance goes by it, never by completion order."""
    surface: str = ""
    """Which family of sentences worded the question."""
    licence: str | None = None
    """SPDX id of the documents' licence, None when unknown or mixed."""
    details: JsonObject = {}
    """Further facts, as JSON."""
    provenance: Provenance
    """What made the row."""
