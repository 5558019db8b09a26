"""What a format is: where its rows come from, how one of them becomes records, and how records are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from synth.export.selection import Selection
from synth.schemas.distractors import Distractor
from synth.schemas.documents import Document
from synth.schemas.facts import FactRow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.rl import RlRow
from synth.schemas.row import JsonList
from synth.schemas.steps import StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "JSON",
    "JSONS",
    "UNMEASURED",
    "About",
    "Format",
    "Inexpressible",
    "Item",
    "Layout",
    "Record",
    "Run",
    "SourceTable",
    "StepOf",
    "TaskPages",
    "Why",
]

Record: TypeAlias = dict[str, Any]
Layout: TypeAlias = Literal["parquet", "jsonl", "pictured", "sessions"]
"""``sessions``: a file of JSON lines per record, whose key ``lines`` they are. ``pictured``: JSON lines, whose key
``images`` holds PNG files as bytes; each different one becomes a file, and its path is written in its place."""
SourceTable: TypeAlias = Literal["tasks", "trajectories", "steps", "preferences", "rl"]

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
    task: Task | None = None
    """Its task, for formats that need the table; None where they do not, or the run has none."""


@dataclass(frozen=True)
class StepOf:
    """One step, and the run up to it."""

    run: Run
    step: StepRow


@dataclass(frozen=True)
class TaskPages:
    """A task, and the pages that an agent has to tell apart for it."""

    row: Task
    gold: tuple[Document, ...]
    """Those that state its hops."""
    astray: tuple[tuple[Distractor, Document], ...]
    """Its distractors."""
    alike: tuple[tuple[str, FactRow], ...] = ()
    """For formats that need facts: facts of its split with the same numeric relations as its walk, each with the
    subject's name."""

    @property
    def pages(self) -> tuple[Document, ...]:
        """All of them."""
        return (*self.gold, *(page for _, page in self.astray))


Item: TypeAlias = Run | StepOf | PreferenceRow | RlRow | TaskPages


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
    helpers: bool = False
    """Whether a run's helpers are exported behind it, each as a run on its sub-question."""
    index: bool = False
    """Whether a side file says, line by line, which row each record comes from: its lines have no place for that."""
    beside: Callable[[str, Sequence[str], Sequence[JsonList]], Mapping[str, bytes]] | None = None
    """(name of the dataset, splits that have records, the different lists of tools of exported tasks) -> more files by
    name."""


class Why(StrEnum):
    """Why a format can't hold a row. Each member's sentence is in ``Why.sentence``."""

    NO_TARGET = "no_target"
    NO_EVIDENCE = "no_evidence"
    NO_PLAN = "no_plan"
    MASKED_TURN = "masked_turn"
    CODE = "code"
    NO_TEXT = "no_text"
    MIXED_TURN = "mixed_turn"
    STRAY_OBSERVATION = "stray_observation"
    ANSWERS_OUT_OF_ORDER = "answers_out_of_order"
    RESERVED_TEXT = "reserved_text"
    SEVERAL_MESSAGES = "several_messages"
    COMPRESSED = "compressed"
    NEUTRAL = "neutral"
    UNMEASURED = "unmeasured"
    EMPTY = "empty"
    JUDGED_BY_STATE = "judged_by_state"
    NO_GLYPHS = "no_glyphs"
    NO_FIGURES = "no_figures"
    NO_PICTURE = "no_picture"
    TOO_LONG = "too_long"

    @property
    def sentence(self) -> str:
        """One sentence for a person."""
        return _SENTENCES[self]


_SENTENCES = {
    Why.NO_TARGET: "No turn of the run may be a target of training.",
    Why.NO_EVIDENCE: "No evidence of the task is known, so nothing says what is right.",
    Why.NO_PLAN: "The question does not come apart into questions of its own.",
    Why.MASKED_TURN: "A turn that must not be a target stands before one that should be, and the format trains every "
    "turn.",
    Why.CODE: "The run executes code, and has another tool of the name that code would be called by.",
    Why.NO_TEXT: "An observation is a picture.",
    Why.MIXED_TURN: "A turn speaks to the user after it acted, or turns do not alternate.",
    Why.STRAY_OBSERVATION: "An observation answers no action of the turn before it.",
    Why.ANSWERS_OUT_OF_ORDER: "The format ties answers to calls by their order, which is another one here.",
    Why.RESERVED_TEXT: "A text holds the mark by which the format parts its texts.",
    Why.SEVERAL_MESSAGES: "A side of the pair is longer than the one message that the format holds.",
    Why.COMPRESSED: "The agent replaced its history by notes on the way, and the format holds one view of it only.",
    Why.NEUTRAL: "The step neither helped nor harmed, and the format takes good and bad only.",
    Why.UNMEASURED: "Nothing was measured for the step, or for any step of the run, and the format needs a label.",
    Why.EMPTY: "The row has no turn of the agent, or no question before it.",
    Why.JUDGED_BY_STATE: "Success is the state that the agent leaves behind, which no reward function reads from its "
    "text: `trl-grpo-env` and `verl-env` ask the environment.",
    Why.NO_FIGURES: "The walk states no figures of several things that a chart could show.",
    Why.NO_GLYPHS: "A page has letters that the font of the pictures, DejaVu Sans, does not draw.",
    Why.NO_PICTURE: "Nothing in the run was shown as a picture: `environment.screenshots: true` keeps those of pages.",
    Why.TOO_LONG: "It is longer than was allowed, also with its observations cut.",
}


class Inexpressible(Exception):
    """Raised where a row is converted; the export counts it and goes on."""

    def __init__(self, why: Why, detail: str = "") -> None:
        self.why = why
        self.detail = detail
        super().__init__(f"{why}: {detail}" if detail else str(why))
