"""Rows of the table ``trajectories`` of a synth dataset, as JSON: they come with their own ids and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.export.importing.contract import Importer
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["ROWS"]


def _read(value: Mapping[str, Any]) -> TrajectoryRow:
    return TrajectoryRow.model_validate(value)


ROWS = Importer("rows", "Rows of our own trajectories, as JSON.", _read, version=3)
