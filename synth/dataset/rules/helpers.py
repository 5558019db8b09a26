"""Rules of helpers' runs: they are what the run that asked for them keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.agents.helpers import helper_rows
from synth.dataset.rules.rules import Known, Place, rule
from synth.identity import digest
from synth.schemas.delegations import HelperRunRow
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["HELPER_RULES"]


@dataclass
class _Helpers:
    kept: dict[str, tuple[str, Place]] = field(default_factory=dict)
    """Helper's run -> hash of what the run that asked keeps of it, and where that is."""


def _essence(row: HelperRunRow) -> str:
    return digest(row.model_dump(mode="json", exclude={"provenance"}))


@rule("trajectories")
def helpers_kept(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """What runs keep of their helpers is known."""
    if "helper_runs" in known.there:
        known.of(_Helpers).kept |= {one.id: (_essence(one), known.place) for one in helper_rows(row, row.provenance)}
    yield from ()


def _without_row(known: Known) -> Iterator[tuple[Place, str]]:
    for name, (_, place) in known.of(_Helpers).kept.items():
        yield place, f"details.environment.delegated: {name} has no row among helper_runs"


@rule(
    "helper_runs",
    "id call_id question answer gold verdict.correct verdict.rule verdict.evidence stop_reason turns tool_calls "
    "completion_tokens pages content[]",
    close=_without_row,
)
def helper_run(row: HelperRunRow, known: Known) -> Iterator[str]:
    """A helper's run is what the run that asked keeps of it; every one has a row."""
    kept = known.of(_Helpers).kept.pop(row.id, None)
    if kept is None:
        yield f"id: {row.trajectory_id} asked for no such run"
    elif kept[0] != _essence(row):
        yield f"content: is not what {row.trajectory_id} keeps of it"


HELPER_RULES = (helpers_kept, helper_run)
