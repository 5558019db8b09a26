"""Tasks for reinforcement learning: TRL's GRPO and verl, rewarded by our function on the answer, or by our environment.

Where the environment is stepped (TRL's ``environment_factory``, verl's tool agent loop) all tasks are exported, those
that are judged by their state too: the environment says what a rollout came to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import yaml

from synth.dataset.usage import usage
from synth.errors import InputError
from synth.export.contract import JSON, JSONS, About, Format, Inexpressible, Record, Why
from synth.identity import canonical_json
from synth.schemas.rl import RlRow
from synth.schemas.row import JsonList

__all__ = ["TRL_GRPO", "TRL_GRPO_ENV", "VERL", "VERL_ENV", "tool_config"]

_TEXT = pa.string()


def _by_answer(row: RlRow) -> RlRow:
    """Raises Inexpressible where the answer is not what the task is judged by."""
    if row.reward_model.ground_truth.judged_by == "state":
        raise Inexpressible(Why.JUDGED_BY_STATE)
    return row


def _prompt(row: RlRow) -> list[Record]:
    return [{"role": message.role, "content": message.content} for message in row.prompt]


def _grpo_env(row: RlRow, about: About, cut: int) -> list[Record]:
    return [
        {
            "prompt": _prompt(row),
            "reward_model": row.reward_model.model_dump(mode="json"),
            "extra_info": row.extra_info.model_dump(mode="json"),
            "turn_values": [run.model_dump(mode="json") for run in row.runs],
            "id": row.id,
            "task_id": row.task_id,
            "source": about.dataset,
            "licence": row.licence,
        }
    ]


def _grpo(row: RlRow, about: About, cut: int) -> list[Record]:
    return [record | {"tools": canonical_json(list(row.tools))} for record in _grpo_env(_by_answer(row), about, cut)]


def _grpo_columns(*tools: str) -> dict[str, pa.DataType]:
    texts = dict.fromkeys((*tools, "id", "task_id", "source", "licence"), _TEXT)
    return {"prompt": JSONS, "reward_model": JSON, "extra_info": JSON, "turn_values": JSONS, **texts}


def _verl(row: RlRow, about: About, cut: int) -> list[Record]:
    return [_verl_record(_by_answer(row), about)]


def _verl_env(row: RlRow, about: About, cut: int) -> list[Record]:
    record = _verl_record(row, about)
    # By one name instead of each tool's, so that the type of the column does not hang on the tools.
    record["extra_info"] |= {"need_tools_kwargs": True, "tools_kwargs": {"environment": {"task": row.task_id}}}
    return [record]


def _verl_record(row: RlRow, about: About) -> Record:
    """A task in verl's columns."""
    info = row.extra_info
    return {
        "data_source": row.data_source,
        "agent_name": row.agent_name,
        "prompt": _prompt(row),
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
            "turn_values": canonical_json([run.model_dump(mode="json") for run in row.runs]),
            "source": about.dataset,
            "licence": row.licence,
        },
    }


def _verl_columns(*more: tuple[str, pa.DataType]) -> dict[str, pa.DataType]:
    """The columns of :func:`_verl_record`; ``more``: of ``extra_info``."""
    info = [(name, _TEXT) for name in ("split", "id", "task_id", "tools", "turn_values", "source", "licence")]
    return {
        "data_source": _TEXT,
        "agent_name": _TEXT,
        "prompt": pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)])),
        "ability": _TEXT,
        "reward_model": pa.struct([("style", _TEXT), ("ground_truth", _TEXT)]),
        "extra_info": pa.struct([("index", pa.int64()), *info, *more]),
    }


def tool_config(tools: Sequence[Mapping[str, Any]]) -> bytes:
    """verl's ``tool_config_path``: each tool with what verl reads of its schema, and with the whole of it."""
    entries = [
        {
            "class_name": "synth.training.verl.EnvironmentTool",
            "config": {"type": "native", "function": canonical_json(dict(tool))},
            "tool_schema": {"type": "function", "function": _narrow(tool["function"])},
        }
        for tool in tools
    ]
    told = (
        "# Tools of the environment that `synth serve-env` serves: where SYNTH_ENV_URL says, or a key `url` beside\n"
        "# `function`; else at http://127.0.0.1:8178. `function` is the whole schema, `tool_schema` what verl reads.\n"
    )
    return (
        told + yaml.safe_dump({"tools": _escaped(entries)}, sort_keys=False, allow_unicode=True, width=120)
    ).encode()


def _narrow(function: Mapping[str, Any]) -> dict[str, Any]:
    """Type, description and choices of each parameter: verl's classes take no more, and want a type."""
    schema = function.get("parameters") or {}
    properties = {
        str(key): {
            "type": _type(value),
            **({"description": value["description"]} if value.get("description") else {}),
            **({"enum": value["enum"]} if value.get("enum") else {}),
        }
        for key, value in (schema.get("properties") or {}).items()
    }
    return {
        "name": function["name"],
        "description": function.get("description") or str(function["name"]),
        "parameters": {"type": "object", "properties": properties, "required": list(schema.get("required", ()))},
    }


def _type(schema: Mapping[str, Any]) -> str:
    """One type: verl before 0.9 takes no list of them. What is not said may be anything, so a text."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    return kind if isinstance(kind, str) else "string"


def _escaped(value: Any) -> Any:
    """OmegaConf, which reads the file, would fill in ``${...}``, the variables of the trainer's process among them."""
    if isinstance(value, str):
        return re.sub(r"(\\*)\$\{", r"\1\1\\${", value)
    if isinstance(value, Mapping):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list | tuple) else value


def _beside(dataset: str, splits: Sequence[str], tools: Sequence[JsonList]) -> Mapping[str, bytes]:
    if len(tools) > 1:
        what = f"the tasks have tools of {len(tools)} environments, and one of them is served at a time"
        raise InputError(what, where=dataset, mend="export the datasets that were mixed one by one")
    return {"tools.yaml": tool_config(tools[0])}


TRL_GRPO = Format(
    name="trl-grpo",
    summary="Tasks with their ground truth for TRL's GRPOTrainer, rewarded by `synth.annotate.rewards`.",
    source="rl",
    layout="parquet",
    convert=_grpo,
    columns=_grpo_columns("tools"),
    usage=usage("trl-grpo"),
)
TRL_GRPO_ENV = Format(
    name="trl-grpo-env",
    summary="All tasks for TRL's GRPOTrainer with our environment in the loop, which gives the reward.",
    source="rl",
    layout="parquet",
    convert=_grpo_env,
    columns=_grpo_columns(),
    usage=usage("trl-grpo-env"),
)
VERL = Format(
    name="verl",
    summary="Tasks with their ground truth in verl's columns, rewarded by `synth.annotate.rewards`.",
    source="rl",
    layout="parquet",
    convert=_verl,
    columns=_verl_columns(),
    usage=usage("verl"),
)
VERL_ENV = Format(
    name="verl-env",
    summary="All tasks for verl's tool agent loop with our environment served beside it, which gives the reward.",
    source="rl",
    layout="parquet",
    convert=_verl_env,
    columns=_verl_columns(
        ("need_tools_kwargs", pa.bool_()),
        ("tools_kwargs", pa.struct([("environment", pa.struct([("task", _TEXT)]))])),
    ),
    beside=_beside,
    usage=usage("verl-env"),
)
