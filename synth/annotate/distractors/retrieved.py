"""What the runs of a task met beside its evidence: pages that were opened, pages that were only returned.

Tiers after LongTraceRL (arXiv 2605.31584): tier 1 = opened by an agent and not cited, tier 2 = retrieved and never
opened. "Cited" is stricter here than what an agent says: a page of the walk (:func:`walk_pages`) is none of both,
whether the agent knew that or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from synth.agents.trajectory import history_of
from synth.environments.observed import observe
from synth.environments.shown import Hits
from synth.environments.simulated import is_simulated
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role, TrajectoryRow

__all__ = ["RetrievedPage", "retrieved_pages", "walk_pages"]

_ROLES: tuple[Role, ...] = ("teacher", "expert", "policy")


@dataclass(frozen=True)
class RetrievedPage:
    """A page that runs met, and where that happened first."""

    document_id: str
    tier: Literal[1, 2]
    role: Role
    trajectory_id: str
    step: int
    query: str = ""
    """The query that returned it first in that run; empty when a link led there."""
    rank: int | None = None
    """Its place among the results, from 1."""
    runs: int = 1
    """How many runs met it in this tier."""


def walk_pages(task: Task) -> frozenset[str]:
    """Pages that a solver has good reason to read: the evidence, and the page about each entity of the walk.

    The latter help even where they state no hop: in a closed collection of evidence alone, the scripted policy does
    better with them than without (``tests/benchmarks/bench_distractors.py``).
    """
    ends = (end.document_id for hop in task.walk.hops for end in (hop.source, hop.target))
    return frozenset(task.gold_documents) | {name for name in ends if name is not None}


def retrieved_pages(runs: Sequence[TrajectoryRow], without: Collection[str]) -> list[RetrievedPage]:
    """Every page beside ``without`` that ``runs`` of one task opened or a search returned, once, in its lowest tier.

    Tier 1 first; within a tier in the order in which pages were met: the teacher's runs before the policy's.

    Raises:
        ValueError: a run's content is not of the form that rollouts write.
    """
    opened: dict[str, RetrievedPage] = {}
    shown: dict[str, RetrievedPage] = {}
    unique = {run.id: run for run in runs}
    for run in sorted(unique.values(), key=lambda run: (_ROLES.index(run.role), run.rollout, run.id)):
        returned: dict[str, RetrievedPage] = {}
        read: dict[str, RetrievedPage] = {}
        for met in _of_run(run):
            found = returned if met.tier == 2 else read
            if met.document_id not in without and met.document_id not in found:
                before = returned.get(met.document_id)
                if met.tier == 1 and before is not None:
                    met = replace(met, query=before.query, rank=before.rank)
                found[met.document_id] = met
        for found, into in ((read, opened), (returned, shown)):
            for name, met in found.items():
                known = into.get(name)
                into[name] = met if known is None else replace(known, runs=known.runs + 1)
    return [*opened.values(), *(met for name, met in shown.items() if name not in opened)]


def _of_run(run: TrajectoryRow) -> Iterator[RetrievedPage]:
    """What one run met of the collection, in order; calls that failed show nothing."""
    _, history = history_of(run)
    for number, step in enumerate(history):
        for call, result in zip(step.turn.calls, step.results, strict=False):
            if result.error is not None:
                continue
            seen = observe(result.content)
            if isinstance(seen, Hits):
                for rank, hit in enumerate(seen.results, start=1):
                    if is_simulated(hit.document):
                        continue
                    query = str(call.arguments.get("query", ""))
                    yield RetrievedPage(hit.document, 2, run.role, run.id, number, query, rank)
            elif call.name == "open" and seen.about and not is_simulated(seen.about):
                yield RetrievedPage(seen.about, 1, run.role, run.id, number)
