"""Runs as texts, turn by turn, each with its label and with what else was measured of it."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from synth.dataset.usage import usage
from synth.export.contract import UNMEASURED, About, Format, Inexpressible, Record, Run, Why
from synth.export.messages import parts_of
from synth.export.transcripts import written
from synth.export.trl import COMMON, run_common
from synth.schemas.rl import TurnValue

__all__ = ["PRM"]

_TURN_VALUES: Mapping[str, pa.DataType] = {
    "matched": pa.bool_(),
    "information_gain": pa.float64(),
    "advantage": pa.float64(),
    "group_advantage": pa.float64(),
    "answer_probability": pa.float64(),
    "answer_gain": pa.float64(),
    "outcome_potential": pa.float64(),
    "outcome_gain": pa.float64(),
    "judged_right": pa.bool_(),
    "score": pa.float64(),
}
"""What a turn was worth beside its label: null where it was not measured."""


def _prm(run: Run, about: About, cut: int) -> list[Record]:
    parts = parts_of(run.row)
    if len(parts) > 1:
        raise Inexpressible(Why.COMPRESSED)
    values = {step.step: TurnValue.of(step) for step in run.steps or ()}
    prompt: list[str] = []
    completions: list[str] = []
    measured: list[TurnValue] = []
    unmeasured = 0
    seen: list[str] = []
    begun = False
    for message in parts[0].messages:
        if message.turn is not None:
            begun = True
            seen += written(message, about)
            value = values.get(message.turn)
            if (
                value is None or value.label is None
            ):  # its words stand before the next turn that was measured, and no label does
                unmeasured += 1
                continue
            completions.append("\n".join(seen))
            measured.append(value)
            seen = []
        elif message.role == "tool":
            seen += written(message, about)
        elif begun:
            seen.append(f"<user>\n{message.content}\n</user>")
        else:
            prompt.append(message.content)
    if not completions:
        raise Inexpressible(Why.UNMEASURED, f"{unmeasured} turns")
    common = run_common((), run, about, cut)
    common.pop("chat_template_kwargs")
    return [
        {
            "prompt": "\n\n".join(prompt),
            "completions": completions,
            "labels": [value.label != -1 for value in measured],
            "ratings": [value.label for value in measured],
            **{name: [getattr(value, name) for value in measured] for name in _TURN_VALUES},
            UNMEASURED: unmeasured,
            "success": run.row.verdict.correct,
            **common,
        }
    ]


PRM = Format(
    name="prm",
    summary="Runs as texts, step by step, with a label for each: a plain table for process reward models.",
    source="trajectories",
    needs=("steps",),
    layout="parquet",
    convert=_prm,
    columns={
        "prompt": pa.string(),
        "completions": pa.list_(pa.string()),
        "labels": pa.list_(pa.bool_()),
        "ratings": pa.list_(pa.int64()),
        **{name: pa.list_(kind) for name, kind in _TURN_VALUES.items()},
        UNMEASURED: pa.int64(),
        "success": pa.bool_(),
        **{name: kind for name, kind in COMMON.items() if name != "chat_template_kwargs"},
    },
    usage=usage("prm"),
)
