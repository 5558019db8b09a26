"""The tables of a finished dataset, each a config of the Hub."""

from __future__ import annotations

from dataclasses import dataclass

from synth.schemas.contexts import ContextRow
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.distractors import Distractor, PlantedMisinformation
from synth.schemas.documents import Document
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.judgments import JudgmentRow
from synth.schemas.rejections import Rejection
from synth.schemas.rl import RlRow
from synth.schemas.row import Row, Split
from synth.schemas.steps import ContinuationRow, PreferenceRow, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.writing import QuestionRewriteRow, TaskReviewRow

__all__ = ["CONFIGS", "SPLITS", "Config", "config_named"]

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@dataclass(frozen=True)
class Config:
    """How one table lies in the dataset folder."""

    name: str
    row_type: type[Row]
    sole_split: str | None
    """The one split of a table that is not divided; None when each row's ``split`` says where it goes.

    ``all`` would be the natural name, but ``datasets`` reserves it.
    """
    rows_per_group: int
    """Rows in a Parquet row group: a viewer reads a whole group to show one row."""
    summary: str
    """One sentence for the card."""

    @property
    def splits(self) -> tuple[str, ...]:
        return SPLITS if self.sole_split is None else (self.sole_split,)


CONFIGS: tuple[Config, ...] = (
    Config(
        "tasks", Task, None, 500, "Questions with answers, the walk and evidence behind each, and every check passed."
    ),
    Config(
        "difficulty",
        DifficultyRow,
        None,
        5_000,
        "How hard each task is: predicted from its structure, measured with and without tools; its place "
        "in the curriculum.",
    ),
    Config(
        "trajectories", TrajectoryRow, None, 100, "Rollouts as Agent Data Protocol trajectories, with typed columns."
    ),
    Config(
        "steps",
        StepRow,
        None,
        2_000,
        "One agent turn each: its label and why, what it gained, what hangs on it, and whether it may be a target.",
    ),
    Config(
        "continuations",
        ContinuationRow,
        None,
        200,
        "Continuations that were tried from a step of a trajectory, with the recorded action or another one.",
    ),
    Config(
        "preferences",
        PreferenceRow,
        None,
        100,
        "Pairs of actions, or of runs, that share their prefix: what is preferred, why, and on what evidence.",
    ),
    Config(
        "judgments",
        JudgmentRow,
        None,
        2_000,
        "What a scorer or judge said of actions, pairs, answers and whole runs, with its words, its model and its "
        "calls; an abstention is a row, too.",
    ),
    Config(
        "rl",
        RlRow,
        None,
        500,
        "Tasks for reinforcement learning: prompt, tools, ground truth and rubric, in the columns of TRL and verl.",
    ),
    Config(
        "contexts",
        ContextRow,
        None,
        4,
        "Tasks to be solved by reading: gold documents among distractors, up to a budget of tokens.",
    ),
    Config(
        "distractors",
        Distractor,
        None,
        2_000,
        "Pages that lead astray from a task: opened and not needed, returned and never opened, or near the evidence.",
    ),
    Config(
        "planted_misinformation",
        PlantedMisinformation,
        "corpus",
        2_000,
        "What the pages that were written to mislead say, how a reader can tell, and where the truth stands.",
    ),
    Config(
        "question_rewrites",
        QuestionRewriteRow,
        None,
        1_000,
        "How a model worded the questions anew: what was accepted, what was refused and why.",
    ),
    Config(
        "task_reviews",
        TaskReviewRow,
        None,
        1_000,
        "What a model found that was asked to answer each task without searching, from its evidence, or otherwise.",
    ),
    Config("documents", Document, "corpus", 500, "The pages that the agents could search, open and cite."),
    Config("entities", EntityRow, "graph", 5_000, "What the documents are about, with names, kind, page and split."),
    Config(
        "facts",
        FactRow,
        "graph",
        10_000,
        "What the documents state, each with its span: `synth validate --deep` asks every question of it again.",
    ),
    Config(
        "duplicates",
        DuplicateRow,
        "duplicates",
        10_000,
        "Documents, runs and pairs that are alike, pair by pair with scores, and which one stays for the others.",
    ),
    Config("rejected", Rejection, "rejected", 2_000, "What was dropped on the way, and why."),
)
"""In the order of the card."""


def config_named(name: str) -> Config:
    """Raises KeyError that lists the choices."""
    for config in CONFIGS:
        if config.name == name:
            return config
    raise KeyError(f"no config {name!r}; there are {', '.join(config.name for config in CONFIGS)}")
