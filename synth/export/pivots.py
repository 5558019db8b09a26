"""Turns to be taken again: the state before a pivot, and what was done there (PivotRL, arXiv 2603.21383).

A trainer samples one turn from each prompt and rewards what does the same as an action that is known to lead on
(:func:`synth.annotate.rewards.pivots.pivot_reward`), in place of rollouts to the end.
"""

from __future__ import annotations

import pyarrow as pa

from synth.dataset.usage import usage
from synth.export.contract import JSONS, About, Format, Inexpressible, Record, StepOf, Why
from synth.export.messages import as_chat, parts_of
from synth.export.selection import Selection
from synth.export.trl import COMMON, run_common

__all__ = ["TRL_PIVOTS"]


def _pivots(item: StepOf, about: About, cut: int) -> list[Record]:
    # The last view only: what the agent saw when it took this step.
    messages = parts_of(item.run.row)[-1].messages
    place = next((at for at, message in enumerate(messages) if message.turn == item.step.step), None)
    if place is None:
        raise Inexpressible(Why.EMPTY)
    taken = messages[place]
    return [
        {
            "prompt": [as_chat(message, about) for message in messages[:place]],
            "calls": [{"name": call.name, "arguments": call.arguments} for call in taken.calls],
            "answer": None if taken.calls else taken.content,
            **run_common(messages, item.run, about, cut) | {"id": item.step.id},
        }
    ]


TRL_PIVOTS = Format(
    name="trl-pivots",
    summary="States before turns at which the policy's outcomes vary most, and what was done there: for TRL's "
    "GRPOTrainer.",
    source="steps",
    needs=("trajectories",),
    layout="parquet",
    convert=_pivots,
    columns={"prompt": JSONS, "calls": JSONS, "answer": pa.string(), **COMMON},
    default=Selection(success=True, pivot=True),
    usage=usage("trl-pivots"),
)
