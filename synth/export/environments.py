"""Tasks for trainers that step our environments: TRL's ``environment_factory``, verl's tool agent loop.

All tasks are here, those that are judged by their state too: the environment says what a rollout came to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import yaml

from synth.dataset.usage import usage
from synth.errors import InputError
from synth.export.contract import JSON, JSONS, About, Format, Record
from synth.export.verl import verl_columns, verl_record
from synth.identity import canonical_json
from synth.schemas.rl import RlRow
from synth.schemas.row import JsonList

__all__ = ["TRL_GRPO_ENV", "VERL_ENV", "tool_config"]

_TEXT = pa.string()


def _grpo(row: RlRow, about: About, cut: int) -> list[Record]:
    return [
        {
            "prompt": [{"role": message.role, "content": message.content} for message in row.prompt],
            "reward_model": row.reward_model.model_dump(mode="json"),
            "extra_info": row.extra_info.model_dump(mode="json"),
            "id": row.id,
            "task_id": row.task_id,
            "source": about.dataset,
            "licence": row.licence,
        }
    ]


def _verl(row: RlRow, about: About, cut: int) -> list[Record]:
    record = verl_record(row, about)
    # By one name instead of each tool's, so that the type of the column does not hang on the tools.
    record["extra_info"] |= {"need_tools_kwargs": True, "tools_kwargs": {"environment": {"task": row.task_id}}}
    return [record]


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


TRL_GRPO_ENV = Format(
    name="trl-grpo-env",
    summary="All tasks for TRL's GRPOTrainer with our environment in the loop, which gives the reward.",
    source="rl",
    layout="parquet",
    convert=_grpo,
    columns={
        "prompt": JSONS,
        "reward_model": JSON,
        "extra_info": JSON,
        "id": _TEXT,
        "task_id": _TEXT,
        "source": _TEXT,
        "licence": _TEXT,
    },
    usage=usage("trl-grpo-env"),
)
VERL_ENV = Format(
    name="verl-env",
    summary="All tasks for verl's tool agent loop with our environment served beside it, which gives the reward.",
    source="rl",
    layout="parquet",
    convert=_verl,
    columns=verl_columns(
        ("need_tools_kwargs", pa.bool_()),
        ("tools_kwargs", pa.struct([("environment", pa.struct([("task", _TEXT)]))])),
    ),
    beside=_beside,
    usage=usage("verl-env"),
)
