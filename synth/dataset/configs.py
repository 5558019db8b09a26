"""The tables of a finished dataset, each a config of the Hub, and their columns, as the docstrings of the row types
describe them."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

import pyarrow as pa

from synth.schemas.arrow import arrow_schema, parquet_json_columns
from synth.schemas.code import CodeFile
from synth.schemas.contexts import ContextRow
from synth.schemas.delegations import HelperRunRow
from synth.schemas.described import description_of
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.distractors import Distractor, PlantedMisinformation
from synth.schemas.documents import Document
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.judgments import JudgmentRow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.proposals import ProposalRow
from synth.schemas.rejections import Rejection
from synth.schemas.rl import RlRow
from synth.schemas.row import Row, Split, row_types_of
from synth.schemas.steps import ContinuationRow, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.trees import TreeNodeRow
from synth.schemas.writing import QuestionRewriteRow, TaskReviewRow

__all__ = ["CONFIGS", "SPLITS", "Column", "Config", "columns", "config_named"]

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
        "tree_nodes",
        TreeNodeRow,
        None,
        5_000,
        "Turns of trees of runs: what was drawn from each state, and how the runs behind it ended.",
    ),
    Config(
        "helper_runs",
        HelperRunRow,
        None,
        200,
        "Runs of helpers that got a part of a question: what they were asked, what they found, what it cost.",
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
    Config(
        "proposals",
        ProposalRow,
        None,
        200,
        "What a model explored before it proposed each question: what it did, saw and noted, and what was refused.",
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
        "code_files", CodeFile, "project", 100, "The project that was broken and repaired, file by file, as it works."
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


@dataclass(frozen=True)
class Column:
    path: str
    """``content[].kwargs``: ``[]`` stands for each item of a list."""
    type: str
    """``string``, ``int64``, ``double``, ``bool``, ``struct``, ``list of string``, ``JSON``, ..."""
    text: str
    """One line; empty when the field's name says it all."""
    values: tuple[tuple[str, str], ...] = ()
    """What an enum may be, and what that means (empty where the code does not say)."""


@cache
def columns(row_type: type[Row]) -> tuple[Column, ...]:
    """All columns of a table, depth first, nested ones under their path."""
    found: list[Column] = []
    _walk([row_type], pa.struct(list(arrow_schema(row_type))), "", "", frozenset(parquet_json_columns(row_type)), found)
    return tuple(found)


def _walk(
    members: list[type[Row]], struct: pa.StructType, path: str, dotted: str, json: frozenset[str], found: list[Column]
) -> None:
    for field in struct:
        owners = [member for member in members if field.name in member.model_fields]
        infos = [member.model_fields[field.name] for member in owners]
        place, key = f"{path}{field.name}", f"{dotted}{field.name}"
        inner = field.type
        while pa.types.is_list(inner):
            inner = inner.value_type
        children = row_types_of(infos[0].annotation) if pa.types.is_struct(inner) else []
        texts = [_line(text) for member in owners if (text := description_of(member, field.name))]
        if not texts and len(children) == 1:
            texts = [_line(inspect.getdoc(children[0]) or "").split(". ")[0]]
        if field.name == "class_":
            texts = [
                "Which of these the item is: " + ", ".join(f"`{m.model_fields['class_'].default}`" for m in members)
            ]
        name = "JSON" if key in json else _type_name(field.type)
        kinds = [kind for info in infos for kind in _enums(info.annotation)]
        values = tuple(pair for kind in dict.fromkeys(kinds) for pair in _members(kind))
        found.append(Column(place, name, " / ".join(dict.fromkeys(texts)), values))
        if pa.types.is_struct(inner):
            step = "[]." if pa.types.is_list(field.type) else "."
            _walk(children, inner, place + step, key + ".", json, found)


def _enums(annotation: Any) -> list[type[Enum]]:
    """The enums that a field's annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple):
        return [kind for arm in get_args(annotation) for kind in _enums(arm)]
    return []


@cache
def _members(kind: type[Enum]) -> tuple[tuple[str, str], ...]:
    """Value and docstring of each member: the string that stands below it in the source."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    said: dict[str, str] = {}
    for node, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(node, ast.Assign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            (target,) = node.targets
            if isinstance(target, ast.Name):
                said[target.id] = str(below.value.value)
    sentences = {member: getattr(member, "sentence", said.get(member.name)) for member in kind}
    return tuple((str(member.value), _line(text)) for member, text in sentences.items())


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "struct"
    return str(kind)


def _line(text: str | None) -> str:
    """A docstring as a line of the card: in the files, None is null."""
    return re.sub(r"\bNone\b", "null", " ".join((text or "").split()).replace("``", "`"))
