"""A task: the question, its answer, the walk that made it, the evidence, and every check it passed."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import StringConstraints

from synth.schemas.details import Facts
from synth.schemas.documents import Evidence, ValueKind
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonObject, Key, NonEmpty, Ref, Row, Split

__all__ = [
    "SHAPES",
    "AnswerPart",
    "CheckResult",
    "Difficulty",
    "Held",
    "Hop",
    "Node",
    "Operation",
    "OperationKind",
    "QuestionId",
    "QuestionRank",
    "Reworded",
    "Shape",
    "Taken",
    "Task",
    "UserQuestion",
    "Walk",
]

SHAPES: tuple[str, ...] = (
    "composition",
    "conjunction",
    "comparison",
    "superlative",
    "count",
    "intersection",
    "temporal",
    "computation",
    "total",
    "parallel",
    "cycle",
    "masked",
    "proposed",
    "given",
    "reverse",
    "repair",
)
"""How a question is built, by the shapes that come with the project.

``composition`` a chain; ``conjunction`` constraints that meet in one answer; ``comparison`` which of two or more that
the question names or describes; ``superlative`` the first or last of a set by a value (argmax); ``count`` the size of a
set; ``intersection`` all members of a set, the answer is the list; ``temporal`` a set narrowed by dates;
``computation`` an answer that stands nowhere and is computed from values that do (SciResearcher); ``total`` the sum of
a value over a set; ``parallel`` independent sub-questions, asked at once (HyperEyes); ``cycle`` a dense subgraph with
cycles (SailorFog-QA, arXiv 2509.13305); ``masked`` a passage with masked spans (MaskSearch, arXiv 2505.20285);
``proposed`` facts that a model found by exploring, each with its quote, from the question to the answer (DocDancer,
arXiv 2601.05163); ``given`` the user's own question (``--tasks-file``): no walk of ours stands behind it; ``reverse``
derived from an exploration of an application, a server or a site: its solution is a plan among its details
(:class:`synth.schemas.plans.Planned`), and its walk has no hops; ``repair`` code that one edit broke
(:class:`synth.schemas.code.Mutated`).
"""

Shape = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
"""One of ``SHAPES``, or one of an installed package."""

OperationKind = Literal["list", "count", "argmin", "argmax", "filter", "difference", "sum"]
"""``list`` all members; ``count`` how many; ``argmin``/``argmax`` the candidate with the least or greatest value (the
earliest or latest date); ``filter`` the candidates whose value satisfies a bound; ``difference`` the absolute
difference of two values (dates and years: in whole years); ``sum`` of all values."""


class Node(Row):
    """An end of a hop: an entity with its page, or a value."""

    id: NonEmpty
    """Entity id; for a value, the value itself."""
    name: NonEmpty
    """As a person would write it in a sentence."""
    aliases: tuple[str, ...] = ()
    """Other names of it, as documents use them."""
    kind: str
    """Entity type, ``page``, a ``ValueKind`` other than entity, or ``range`` for an obfuscated value: then ``id`` is
    ``<least>/<greatest>`` of plain values, both inclusive, either of which may be empty ("1870-01-01/1879-12-31",
    "3000/")."""
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


class Operation(Row):
    """What a reader does with what the hops found: no document states its result.

    A *member* of a set is the target of one of several hops with equal source, relation, direction and cue: the walk
    lists all there are, each with its evidence. A *measure* is a hop from a candidate (a member, or something that the
    question names or describes) to a value.
    """

    kind: OperationKind
    """What is done."""
    over: tuple[int, ...]
    """Indices of hops. ``list`` and ``count``: those that end at the members. Others: the measures, in order."""
    within: int | None = None
    """Index of the earlier operation whose results are the only candidates; None: all of ``over``."""
    bound: Node | None = None
    """Of a ``filter``: the value or range that the measure must lie in; a value that an earlier hop found, or one that
    the question names."""
    result: tuple[Node, ...]
    """What comes out: members, candidates or one value."""
    cue: str
    """The words of the question that ask for it: ``cue in question``."""


class AnswerPart(Row):
    """One of several things that an answer must hold."""

    answer: NonEmpty
    """As a person would write it."""
    aliases: tuple[str, ...] = ()
    """Other forms that are as right."""
    kind: ValueKind
    """What kind of thing it is."""


class Walk(Row):
    """A directed acyclic graph of hops, and what is done with what they find.

    Composition: hop i needs hop i-1. Conjunction: every hop ends at the answer. Without operations the answer is the
    target of the last hop, with them it is the result of the last operation (of all operations and ends, for
    ``parallel``).
    """

    shape: Shape
    """How the hops hang together."""
    hops: tuple[Hop, ...]
    """In the order in which a solver goes."""
    operations: tuple[Operation, ...] = ()
    """In the order in which a reader does them."""


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

    id: Annotated[NonEmpty, Key()]
    """``<prefix>-<16 hex>``, the hash of what the task is (question, answer, walk, source): equal tasks, equal ids."""
    question: NonEmpty
    """The whole question, as the agent is asked it."""
    answer: NonEmpty
    """The gold answer."""
    answer_aliases: tuple[str, ...] = ()
    """Other answers that are as right."""
    answer_kind: ValueKind
    """What kind of thing the answer is (each of its parts, where it has several)."""
    answer_parts: tuple[AnswerPart, ...] = ()
    """Where the answer is a list: its parts. Empty for a single answer."""
    answer_ordered: bool = False
    """Whether the parts must come in this order (``parallel``: in the order of the sub-questions)."""
    obfuscation: int = 0
    """0 = everything that the question starts from is named; each level describes or blurs more of it (OpenSeeker,
    arXiv 2603.15594)."""
    environment: NonEmpty = "search"
    """The environment in which the task is to be solved."""
    shape: Shape
    """Shape of the walk."""
    walk: Walk
    """The gold walk, hop by hop."""
    gold_entities: tuple[str, ...]
    """Ids of the answer and of every bridge: the rubric. Entities that the question itself names are not in it."""
    gold_documents: tuple[Annotated[str, Ref("documents")], ...]
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


class UserQuestion(Facts):
    """Where a question of the user's own comes from."""

    line: int
    """Of the file, from 1."""
    evidence: Literal["none"] | None = None
    """``none``: no sentence of the documents is evidence, and none is claimed."""


class Held(Facts):
    """Of a task over several collections."""

    collections: dict[str, str]
    """Document of its evidence -> the collection that holds it."""


class QuestionId(Facts):
    """What a file of questions calls one: runs on it may name it so."""

    question_id: str | None = None


class QuestionRank(Facts):
    """How well questions of a task's kind read."""

    rank: str | None = None
    """Of a question over documents: ``good``, ``fair`` or ``gap`` (``questions.ranks``)."""


class Taken(Facts):
    """Of a task that was taken from a finished dataset."""

    taken_from: Provenance | None = None
    """What made it there."""


class Reworded(Facts):
    """Of a question that was put in other words."""

    question_before: str | None = None
    """In the grammar's words."""
