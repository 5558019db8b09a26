"""What the checks ask of the world outside: facts, pages and search. All three are injected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import Field

from synth.schemas.described import Described
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Hop, Node, Walk
from synth.tasks.draft import Draft
from synth.tasks.pattern import Pattern
from synth.tasks.query import Results
from synth.tasks.writing.parts import Part

__all__ = [
    "CheckConfig",
    "Checked",
    "Facts",
    "Failed",
    "Finding",
    "Page",
    "Pages",
    "Search",
    "Surroundings",
    "abstained",
    "failed",
    "passed",
    "rejection",
]


class Facts(Protocol):
    """The whole graph, as one who knows all of it. Nodes go by id: an entity's id, or a value's own text."""

    def results(self, walk: Walk, pattern: Pattern | None = None, most: int | None = None) -> Results:
        """Every result that the walk's question has in the whole graph, whatever the bridges and members are: see
        :func:`synth.tasks.query.evaluate`."""

    def extremes(self, kind: str, relation: str) -> tuple[frozenset[str], frozenset[str]]:
        """Ids of the entities of a kind that have the least and the greatest value of a relation, ties included: who
        knows that one of them is a candidate need not look at the others."""

    def competitors(self, hop: Hop) -> int:
        """How many neighbours of the hop's source fit the relation or compete with it, the target among them (>= 1)."""

    def connected(self, left: Node, right: Node) -> bool:
        """Whether any edge, of any relation and direction, joins the two nodes."""

    def partition(self, node: str) -> Split | None:
        """The split that owns the entity as gold; None for values and for what nobody owns."""

    def hub(self, node: str) -> bool:
        """Whether the entity is a declared hub: exempt from the split rule (METHODS 9)."""


class Page(Protocol):
    """What the checks read of a document; ``synth.schemas.documents.Document`` is one."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def partition(self) -> Split: ...


class Pages(Protocol):
    def document(self, document_id: str) -> Page | None:
        """The page, or None when there is none of that id."""


class Search(Protocol):
    def ranked(self, queries: Sequence[str], k: int) -> Sequence[Sequence[str]]:
        """For each query the ids of its ``k`` best documents, best first, exactly as the agent's tool ranks them."""


class CheckConfig(Described):
    """Thresholds of the checks."""

    k: int = Field(default=10, ge=1)
    """A hop is retrievable when its evidence is among this many best results."""
    join_names: bool = True
    """Whether the evidence of a conjunction's constraint may be found by an earlier of its constraints. When False,
    each constraint must find its evidence alone, which keeps only narrow ones."""
    shortcut_rank: int = Field(default=1, ge=0)
    """A composition is a shortcut when the whole question, searched as it stands, finds the answer's page (or the page
    that states the answer) at this rank or better. 0 turns this part of the check off."""
    strict_chain: bool = True
    """Reject a chain in which an edge of any relation joins two nodes that are not adjacent in it. When False, only an
    edge between the named source and the answer counts."""
    margin: float = Field(default=0.01, ge=0, lt=1)
    """Two numbers are told apart only where they differ by more than this share of the larger one; days and years by
    one."""
    entries: bool = False
    """Whether the things that are asked about are entries of manuals: a page may state the values of several, and the
    extreme of a list may be that of all things of its kind."""
    person_kinds: tuple[str, ...] = ("person",)
    """Kinds of entities whose given name is not distinctive: only the family name gives them away."""


@dataclass(frozen=True)
class Surroundings:
    """What the checks may look at. A collaborator that is missing makes its checks abstain, and abstaining rejects."""

    facts: Facts | None = None
    pages: Pages | None = None
    search: Search | None = None
    generic: frozenset[str] = field(default_factory=frozenset)
    """Words that many names share (:func:`synth.tasks.text.generic_words`): sharing one gives nothing away."""


@dataclass(frozen=True)
class Finding:
    """What one check found; ``reason`` is None exactly when it passed."""

    result: CheckResult
    reason: Reason | None = None

    def __post_init__(self) -> None:
        if (self.result.outcome == "passed") != (self.reason is None):
            raise ValueError("a finding has a reason exactly when it is not a pass")


def passed(check: str, detail: str = "") -> Finding:
    """A check that found nothing wrong."""
    return Finding(CheckResult(check=check, outcome="passed", detail=detail))


def failed(check: str, reason: Reason, detail: str) -> Finding:
    """A check that found something wrong."""
    return Finding(CheckResult(check=check, outcome="failed", detail=detail), reason)


def abstained(check: str, reason: Reason, detail: str) -> Finding:
    """A check that could not look: as bad as one that found something wrong."""
    return Finding(CheckResult(check=check, outcome="abstained", detail=detail), reason)


@dataclass(frozen=True)
class Checked:
    """A draft that passed every check."""

    draft: Draft
    checks: tuple[CheckResult, ...]
    parts: tuple[Part, ...] = ()
    """Of a request: its stretches, in order, each with the values in it. None where nobody may word it anew."""


@dataclass(frozen=True)
class Failed:
    """A draft that did not: the first check that was not a pass decides, later ones did not run."""

    draft: Draft
    checks: tuple[CheckResult, ...]
    reason: Reason

    @property
    def detail(self) -> str:
        last = self.checks[-1]
        return f"{last.check} {last.outcome}: {last.detail}"


def rejection(failed: Failed, *, stage: str, row_id: str) -> Rejection:
    """The failure as a row of the ``rejected`` table. Its detail begins with the shape: yields are counted by it."""
    return Rejection(
        stage=stage,
        row_id=row_id,
        reason=failed.reason,
        detail=f"{failed.draft.shape}: {failed.detail}",
        split=failed.draft.split,
        preview=failed.draft.question[:500],
    )
