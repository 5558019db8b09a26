"""Small runs and pairs, each with what some format can't hold, and how exports are read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq
from critical_samples import steps, whole_tables
from exporter_samples import sample_report, trajectory

from synth.dataset.layout import write_dataset
from synth.export.contract import About, Run
from synth.schemas.adp import ApiAction, ContentItem, MessageAction, TextObservation
from synth.schemas.rl import ExtraInfo, GroundTruth, Message, RewardModel, RlRow
from synth.schemas.steps import StepRow
from synth.schemas.trajectories import StopReason, TrajectoryRow

ABOUT = About(dataset="world-search")
QUESTION = TextObservation(content="Which place?", source="user", name="user")


def called(number: int, name: str = "search", *, said: str | None = None, place: int = 0, **kwargs: Any) -> ApiAction:
    return ApiAction(
        function=name,
        kwargs=kwargs or {"query": f"Place {number}"},
        tool_call_id=f"call_{number}_{place}",
        reasoning_content=f"Thought {number}." if place == 0 else None,
        description=said,
    )


def seen(number: int, text: str = "", name: str = "search", *, place: int = 0) -> TextObservation:
    return TextObservation(
        content=text or f"Page {number}.", source="environment", name=name, tool_call_id=f"call_{number}_{place}"
    )


ANSWER = MessageAction(content="Place 1", reasoning_content="Found.")
PLAIN: tuple[ContentItem, ...] = (QUESTION, called(0), seen(0), called(1), seen(1), ANSWER)


def run_of(content: Sequence[ContentItem] = PLAIN, *, masked: Sequence[int] | None = (), **changes: Any) -> Run:
    """A run of the policy that succeeded. ``masked``: turns that are not targets; None: there is no table of steps."""
    base = trajectory(0, "policy")
    turns = sum(
        isinstance(item, ApiAction | MessageAction) and not isinstance(before, ApiAction | MessageAction)
        for before, item in zip((None, *content), content, strict=False)
    )
    row = base.model_copy(update={"content": tuple(content), "turns": turns, **changes})
    return Run(row, None if masked is None else labelled(row, masked))


def labelled(row: TrajectoryRow, masked: Sequence[int]) -> tuple[StepRow, ...]:
    """A step per turn; those that are masked harm."""
    found = steps(row)
    return tuple(
        step.model_copy(update={"train": step.step not in masked, "label": -1 if step.step in masked else 1})
        for step in found
    )


def gave_up() -> Run:
    content = (QUESTION, called(0), seen(0), MessageAction(content="", reasoning_content="Nothing."))
    return run_of(content, stop_reason=StopReason.GAVE_UP, answer=None)


def task_of(judged_by: Literal["answer", "state"] = "answer") -> RlRow:
    """A task for reinforcement learning."""
    truth = GroundTruth(question="Which place?", answer="Place 1", answer_kind="entity", judged_by=judged_by)
    run = trajectory(0, "policy")
    return RlRow(
        id="rl-0",
        task_id=run.task_id,
        data_source="world-search",
        prompt=(Message(role="system", content="Look it up."), Message(role="user", content="Which place?")),
        tools=run.tool_schemas,
        reward_model=RewardModel(ground_truth=truth),
        extra_info=ExtraInfo(index=0, split="train", id="rl-0", task_id=run.task_id),
        environment="search",
        environment_version="1",
        shape="given",
        hops=0,
        obfuscation=0,
        split="train",
        licence=run.licence,
        provenance=run.provenance,
    )


def write_samples(folder: Path, tasks: int = 20) -> Path:
    tables = whole_tables(tasks)
    write_dataset(folder, tables, sample_report(tables))
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def parquet(path: Path) -> list[dict[str, Any]]:
    """The records of one Parquet file, JSON decoded."""
    return [{name: _decoded(value) for name, value in row.items()} for row in pq.read_table(path).to_pylist()]


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if isinstance(value, str) and value.startswith("{"):
        return json.loads(value)
    return value


COMMON: dict[str, Any] = {
    "question": lambda text: TextObservation(content=text, source="user", name="user"),
    "call": lambda id_, name, arguments, thought, said: ApiAction(
        function=name, kwargs=arguments, tool_call_id=id_, reasoning_content=thought, description=said
    ),
    "answer": lambda id_, name, text: TextObservation(content=text, source="environment", name=name, tool_call_id=id_),
    "message": lambda text, thought: MessageAction(content=text, reasoning_content=thought),
}
"""How items are made."""
