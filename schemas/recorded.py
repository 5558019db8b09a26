"""A recorded run on its way into a dataset: read and judged, not yet compared with the others of its files."""

from __future__ import annotations

from synth.schemas.row import NonEmpty, Row
from synth.schemas.trajectories import Role

__all__ = ["RecordedRun"]


class RecordedRun(Row):
    """What tells runs apart stands in columns, so that all of them can be compared without reading one. Hashes are
    of 64 bits."""

    id: NonEmpty
    """Place in the files, as a person finds it: ``line 3``, ``a.jsonl: line 3``."""
    role: Role
    """Who acted."""
    name_hash: int
    """Of the run's own id."""
    run_hash: int
    """Of the run, as the Agent Data Protocol has it."""
    sample_hash: int
    """Of what a run is a sample of: task, role and model."""
    rollout: int
    """Which sample it is, as the record says; -1 where it doesn't."""
    own: bool
    """Whether it is a row of a synth dataset, which says itself who made it."""
    run: NonEmpty
    """The row of ``trajectories``, as JSON."""
