"""Where things stand in the files of a small dataset with steps, continuations and pairs, and ways to break those."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from breaking import Break, table

from synth.schemas.preferences import PreferenceRow, swap
from synth.schemas.steps import StepRow

FAILED = 4
"""Row of ``STEPS``: the critical step of a failed run of the policy, its first error."""
ALTERNATIVE, ORIGINAL = 12, 8
"""First rows of ``CONTINUATIONS`` of that step, by side."""
GOOD, STEP, RUNS, PERTURBED = 0, 1, 3, 4
"""Rows of ``PREFERENCES``: a pair of each kind (of a successful run, of a failed one, of runs, perturbed)."""


def critical(row: StepRow, **changes: Any) -> dict[str, Any]:
    assert row.criticality is not None
    return {"criticality": row.criticality.model_copy(update=changes)}


def strength(row: PreferenceRow, **changes: Any) -> dict[str, Any]:
    assert row.strength is not None
    return {"strength": row.strength.model_copy(update=changes)}


def without(name: str, row: int) -> Break:
    def change(rows: pa.Table) -> pa.Table:
        return pa.concat_tables([rows.slice(0, row), rows.slice(row + 1)])

    return table(name, change)


def swapped(row: PreferenceRow) -> dict[str, Any]:
    return dict(swap(row))
