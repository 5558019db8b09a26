"""What the checks ask of the world outside: facts, pages and search. All three are injected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Hop, Node
from synth.tasks.draft import Draft

__all__ = [
    "Answers",
    "CheckConfig",
    "Checked",
    "Facts",
    "Failed",
    "Finding",
    "Page",
    "Pages",
    "Search",
    "Surroundings",
    "answers_by_sets",
    "rejection",
]


@dataclass(frozen=True)
class Answers:
    """What an exhaustive query found."""

    count: int
    sample: tuple[str, ...]
    """Ids, sorted; all of them where there are few, some of them otherwise."""


class Facts(Protocol):
    """The whole graph, as one who knows all of it. Nodes go by id: an entity's id, or a value's own text."""

    def answers(self, hops: Sequence[Hop]) -> Answers:
        """Every node at which the last of ``hops`` can end, whatever the bridges are: exhaustive.

        A hop without needs starts at its source; another starts at every node at which the hops it needs can end.
        Hops with the same target meet: their ends are intersected. Small graphs may use :func:`answers_by_sets`.
        """

    def competitors(self, hop: Hop) -> int:
        """How many neighbours of the hop's source fit the relation or compete with it, the target among them (>= 1)."""

    def connected(self, left: Node, right: Node) -> bool:
        """Whether any edge, of any relation and direction, joins the two nodes."""

    def partition(self, node: str) -> Split | None:
        """The split that owns the entity as gold; None for values and for what nobody owns."""

    def hub(self, node: str) -> bool:
        """Whether the entity is a declared hub: exempt from the split rule (METHODS 9)."""


def answers_by_sets(hops: Sequence[Hop], neighbours: Callable[[str, str, bool], Collection[str]]) -> Answers:
    """:meth:`Facts.answers` over ``neighbours(node, relation, forward)``, as plain sets of ids."""
    ends: dict[str, set[str]] = {}
    for hop in hops:
        starts = ends[hop.source.id] if hop.needs else {hop.source.id}
        reached = {node for start in starts for node in neighbours(start, hop.relation, hop.forward)}
        known = ends.get(hop.target.id)
        ends[hop.target.id] = reached if known is None else known & reached
    found = sorted(ends[hops[-1].target.id]) if hops else []
    return Answers(len(found), tuple(found))


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


class CheckConfig(BaseModel):
    """Thresholds of the checks."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    k: int = Field(default=10, ge=1)
    """A hop is retrievable when its evidence is among this many best results."""
    join_names: bool = True
    """Whether the evidence of a conjunction's constraint may be found by an earlier of its constraints. When False,
    each constraint must find its evidence alone, which keeps only narrow ones."""
    shortcut_rank: int = Field(default=1, ge=0)
    """A composition is a shortcut when the whole question, searched as it stands, finds the answer's page (or the page
    that states the answer) at this rank or better. 0 turns this part of the check off."""
    strict_chain: bool = True
    """Reject a chain in which an edge of any relation joins two nodes that are no neighbours in it. When False, only an
    edge between the named source and the answer counts."""
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
            raise ValueError("a finding has a reason exactly when it is no pass")


@dataclass(frozen=True)
class Checked:
    """A draft that passed every check."""

    draft: Draft
    checks: tuple[CheckResult, ...]


@dataclass(frozen=True)
class Failed:
    """A draft that did not: the first check that was no pass decides, later ones did not run."""

    draft: Draft
    checks: tuple[CheckResult, ...]
    reason: Reason

    @property
    def detail(self) -> str:
        last = self.checks[-1]
        return f"{last.check} {last.outcome}: {last.detail}"


def rejection(failed: Failed, *, stage: str, row_id: str) -> Rejection:
    """The failure as a row of the ``rejected`` table."""
    return Rejection(
        stage=stage,
        row_id=row_id,
        reason=failed.reason,
        detail=failed.detail,
        split=failed.draft.split,
        preview=failed.draft.question[:500],
    )
