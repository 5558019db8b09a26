"""What a format is: where its rows come from, how one of them becomes records, and how records are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from synth.export.selection import Selection
from synth.schemas.rl import RlRow
from synth.schemas.row import JsonList
from synth.schemas.steps import PreferenceRow, StepRow
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "JSON",
    "JSONS",
    "UNMEASURED",
    "About",
    "Format",
    "Item",
    "Layout",
    "Record",
    "Run",
    "SourceTable",
    "StepOf",
]

Record: TypeAlias = dict[str, Any]
Layout: TypeAlias = Literal["parquet", "jsonl", "sessions"]
"""``sessions``: a file of JSON lines per record, whose key ``lines`` they are."""
SourceTable: TypeAlias = Literal["trajectories", "steps", "preferences", "rl"]

UNMEASURED = "unmeasured"
"""Column of a record: how many steps in it have no label, since nothing was measured for them."""
JSON = pa.json_()
"""Arrow's type of JSON texts: ``datasets`` (from 4.7 on) decodes it to the object that was written, without the keys
that a struct would lend it from other rows."""
JSONS = pa.list_(JSON)


@dataclass(frozen=True)
class Run:
    """A trajectory with its labelled steps."""

    row: TrajectoryRow
    steps: tuple[StepRow, ...] | None
    """None: the dataset has no table of steps, so every turn of a run that succeeded may be a target."""
    cut: int = 0
    """How many observations were cut."""


@dataclass(frozen=True)
class StepOf:
    """One step, and the run up to it."""

    run: Run
    step: StepRow


Item: TypeAlias = Run | StepOf | PreferenceRow | RlRow


@dataclass(frozen=True)
class About:
    """What holds for all rows of an export."""

    dataset: str
    """Name of the dataset."""
    thoughts: bool = True
    """Whether the agent's thoughts are exported."""


@dataclass(frozen=True)
class Format:
    """One target format. ``convert`` depends on its arguments alone."""

    name: str
    summary: str
    """One sentence for the card and for ``--help``."""
    source: SourceTable
    layout: Layout
    convert: Callable[[Any, About, int], Sequence[Record]]
    """(item, about, number of observations cut) -> one record or more. Raises Inexpressible."""
    usage: str
    """Markdown: how the format's readers open it, to be filled in by :func:`synth.dataset.usage.filled`."""
    columns: Mapping[str, pa.DataType] | None = None
    """Of a Parquet file, in order."""
    needs: tuple[str, ...] = ()
    """Tables that the dataset must have beside ``source``."""
    default: Selection = field(default_factory=Selection)
    """What is exported when the user selects nothing else."""
    index: bool = False
    """Whether a side file says, line by line, which row each record comes from: its lines have no place for that."""
    beside: Callable[[str, Sequence[str], Sequence[JsonList]], Mapping[str, bytes]] | None = None
    """(name of the dataset, splits that have records, the different lists of tools of exported tasks) -> more files by
    name."""
