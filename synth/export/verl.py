"""verl: tasks for its RL trainers, with the reward function that ships here."""

from __future__ import annotations

import pyarrow as pa

from synth.dataset.usage import usage
from synth.export.contract import About, Format, Record
from synth.export.why import Inexpressible, Why
from synth.identity import canonical_json
from synth.schemas.rl import RlRow

__all__ = ["VERL", "verl_columns", "verl_record"]

_TEXT = pa.string()


def verl_record(row: RlRow, about: About) -> Record:
    """A task in verl's columns."""
    info = row.extra_info
    return {
        "data_source": row.data_source,
        "agent_name": row.agent_name,
        "prompt": [{"role": message.role, "content": message.content} for message in row.prompt],
        "ability": row.ability,
        # Text, because verl's workers hand it around as a plain value; our reward function reads both forms.
        "reward_model": {
            "style": row.reward_model.style,
            "ground_truth": canonical_json(row.reward_model.ground_truth.model_dump(mode="json")),
        },
        "extra_info": {
            "index": info.index,
            "split": info.split,
            "id": info.id,
            "task_id": info.task_id,
            "tools": canonical_json(list(row.tools)),
            "source": about.dataset,
            "licence": row.licence,
        },
    }


def verl_columns(*more: tuple[str, pa.DataType]) -> dict[str, pa.DataType]:
    """The columns of :func:`verl_record`; ``more``: of ``extra_info``."""
    info = [(name, _TEXT) for name in ("split", "id", "task_id", "tools", "source", "licence")]
    return {
        "data_source": _TEXT,
        "agent_name": _TEXT,
        "prompt": pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)])),
        "ability": _TEXT,
        "reward_model": pa.struct([("style", _TEXT), ("ground_truth", _TEXT)]),
        "extra_info": pa.struct([("index", pa.int64()), *info, *more]),
    }


def _verl(row: RlRow, about: About, cut: int) -> list[Record]:
    if row.reward_model.ground_truth.judged_by == "state":
        raise Inexpressible(Why.JUDGED_BY_STATE)
    return [verl_record(row, about)]


VERL = Format(
    name="verl",
    summary="Tasks with their ground truth in verl's columns, rewarded by `synth.annotate.rewards`.",
    source="rl",
    layout="parquet",
    convert=_verl,
    columns=verl_columns(),
    usage=usage("verl"),
)
