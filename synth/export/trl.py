"""TRL (1.x): supervised fine-tuning, rejection-sampling fine-tuning, DPO and KTO.

Messages are JSON values in Parquet, so that a message has the keys that it has and no others, and the arguments of a
call are the object that was written; tool schemas are one JSON text, which TRL decodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from synth.dataset.usage import usage
from synth.export.contract import JSON, JSONS, About, Format, Inexpressible, Record, Run, StepOf, Why
from synth.export.messages import (
    Message,
    Part,
    as_chat,
    cut_behind,
    has_thought,
    masked_of,
    messages_of,
    parts_of,
    with_code,
)
from synth.export.selection import Selection
from synth.identity import canonical_json
from synth.schemas.adp import ContentItem
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.row import JsonList
from synth.schemas.turns import turn_ranges

__all__ = [
    "COMMON",
    "KTO",
    "TRL_CORRECTIONS",
    "TRL_DPO",
    "TRL_RFT",
    "TRL_SFT",
    "groups_of",
    "pair_sides",
    "run_common",
    "target_parts",
]

COMMON: Mapping[str, pa.DataType] = {
    "tools": pa.string(),
    "chat_template_kwargs": JSON,
    "id": pa.string(),
    "task_id": pa.string(),
    "source": pa.string(),
    "licence": pa.string(),
    "cut_observations": pa.int64(),
}


def _common(
    messages: Sequence[Message],
    tools: JsonList,
    about: About,
    cut: int,
    *,
    id_: str,
    task_id: str,
    licence: str | None,
) -> Record:
    return {
        "tools": canonical_json(list(tools)),
        # Read by the templates of models that can think or not; others ignore it.
        "chat_template_kwargs": {"enable_thinking": about.thoughts and has_thought(messages)},
        "id": id_,
        "task_id": task_id,
        "source": about.dataset,
        "licence": licence,
        "cut_observations": cut,
    }


def run_common(messages: Sequence[Message], run: Run, about: About, cut: int) -> Record:
    row = run.row
    tools = with_code(row.tool_schemas, row.content)
    return _common(messages, tools, about, cut, id_=row.id, task_id=row.task_id, licence=row.licence)


# --- supervised fine-tuning -------------------------------------------------------------------------------------------


def target_parts(run: Run) -> tuple[tuple[Message, ...], ...]:
    """The conversations of a run, each up to its last target, where every turn before that is a target as well.

    Raises:
        Inexpressible: a turn before it is none, or there is no target at all.
    """
    masked = masked_of(run)
    found: list[tuple[Message, ...]] = []
    for part in parts_of(run.row):
        turns = [m.turn for m in part.messages if m.turn is not None]
        new = [turn for turn in turns if turn >= part.first_turn]
        targets = [turn for turn in new if turn not in masked]
        if not targets:
            continue
        wrong = [turn for turn in turns if turn < targets[-1] and turn in masked]
        if wrong:
            raise Inexpressible(Why.MASKED_TURN, f"turn {wrong[0]}")
        found.append(cut_behind(part.messages, targets[-1]))
    if not found:
        raise Inexpressible(Why.NO_TARGET)
    return tuple(found)


def _sft(run: Run, about: About, cut: int) -> list[Record]:
    return [
        {"messages": [as_chat(m, about) for m in messages], **run_common(messages, run, about, cut)}
        for messages in target_parts(run)
    ]


def groups_of(part: Part, masked: frozenset[int]) -> Iterator[tuple[tuple[Message, ...], tuple[Message, ...]]]:
    """(what comes before, the targets): one for each longest sequence of turns that are all targets, with what the
    tools said between them."""
    messages = part.messages
    start: int | None = None
    last = 0
    for place, message in enumerate(messages):
        if message.turn is None:
            continue
        if message.turn >= part.first_turn and message.turn not in masked:
            start = place if start is None else start
            last = place
        elif start is not None:
            yield messages[:start], messages[start : last + 1]
            start = None
    if start is not None:
        yield messages[:start], messages[start : last + 1]


def _rft(run: Run, about: About, cut: int) -> list[Record]:
    masked = masked_of(run)
    made = [
        {
            "prompt": [as_chat(m, about) for m in before],
            "completion": [as_chat(m, about) for m in targets],
            **run_common(part.messages, run, about, cut),
        }
        for part in parts_of(run.row)
        for before, targets in groups_of(part, masked)
    ]
    if not made:
        raise Inexpressible(Why.NO_TARGET)
    return made


# --- pairs and judged steps -------------------------------------------------------------------------------------------


def pair_sides(pair: PreferenceRow) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[Message, ...]]:
    """The shared prompt and both sides.

    Raises:
        Inexpressible: see :func:`synth.export.messages.messages_of`.
    """
    prompt = messages_of(pair.prompt, system=pair.system_prompt)
    turns = len(turn_ranges(pair.prompt))
    chosen, rejected = (messages_of(side, first_turn=turns, gave_up=True) for side in (pair.chosen, pair.rejected))
    if not chosen or not rejected or not prompt or prompt[-1].role not in ("user", "tool"):
        raise Inexpressible(Why.EMPTY)
    return prompt, chosen, rejected


def _pair_common(
    pair: PreferenceRow, messages: Sequence[Message], parts: Sequence[Sequence[ContentItem]], about: About, cut: int
) -> Record:
    tools = with_code(pair.tool_schemas, *parts)
    return _common(messages, tools, about, cut, id_=pair.id, task_id=pair.task_id, licence=pair.licence)


def _dpo(pair: PreferenceRow, about: About, cut: int) -> list[Record]:
    prompt, chosen, rejected = pair_sides(pair)
    everything = (*prompt, *chosen, *rejected)
    return [
        {
            "prompt": [as_chat(m, about) for m in prompt],
            "chosen": [as_chat(m, about) for m in chosen],
            "rejected": [as_chat(m, about) for m in rejected],
            **_pair_common(pair, everything, (pair.prompt, pair.chosen, pair.rejected), about, cut),
            "kind": str(pair.kind),
            "family": pair.family,
            "selected": pair.selected,
        }
    ]


def _corrections(pair: PreferenceRow, about: About, cut: int) -> list[Record]:
    prompt, chosen, _ = pair_sides(pair)
    return [
        {
            "prompt": [as_chat(m, about) for m in prompt],
            "completion": [as_chat(m, about) for m in chosen],
            **_pair_common(pair, (*prompt, *chosen), (pair.prompt, pair.chosen), about, cut),
        }
    ]


def _kto(item: StepOf, about: About, cut: int) -> list[Record]:
    if item.step.label is None:
        raise Inexpressible(Why.UNMEASURED, item.step.label_detail)
    if item.step.label == 0:
        raise Inexpressible(Why.NEUTRAL, item.step.label_reason)
    # The last view only: what the agent saw when it took this step.
    messages = parts_of(item.run.row)[-1].messages
    place = next((at for at, m in enumerate(messages) if m.turn == item.step.step), None)
    if place is None:
        raise Inexpressible(Why.EMPTY)
    return [
        {
            "prompt": [as_chat(m, about) for m in messages[:place]],
            "completion": [as_chat(messages[place], about)],
            "label": item.step.label > 0,
            **run_common(messages, item.run, about, cut) | {"id": item.step.id},
            "reason": str(item.step.label_reason),
        }
    ]


def _columns(*first: tuple[str, pa.DataType], more: Mapping[str, pa.DataType] | None = None) -> dict[str, pa.DataType]:
    return {**dict(first), **COMMON, **(more or {})}


TRL_SFT = Format(
    name="trl-sft",
    summary="Whole conversations whose every turn may be a target: `messages` and `tools` for TRL's SFTTrainer.",
    source="trajectories",
    layout="parquet",
    convert=_sft,
    columns=_columns(("messages", JSONS)),
    default=Selection(role=("teacher",), success=True),
    helpers=True,
    usage=usage("trl-sft"),
)
TRL_RFT = Format(
    name="trl-rft",
    summary="The policy's own successes: `prompt` and `completion` for TRL's SFTTrainer, turns that are not targets "
    "masked.",
    source="trajectories",
    layout="parquet",
    convert=_rft,
    columns=_columns(("prompt", JSONS), ("completion", JSONS)),
    default=Selection(role=("policy",), success=True),
    helpers=True,
    usage=usage("trl-rft"),
)
TRL_DPO = Format(
    name="trl-dpo",
    summary="Pairs that share their prompt: `prompt`, `chosen`, `rejected` for TRL's DPOTrainer.",
    source="preferences",
    layout="parquet",
    convert=_dpo,
    columns=_columns(
        ("prompt", JSONS),
        ("chosen", JSONS),
        ("rejected", JSONS),
        more={"kind": pa.string(), "family": pa.string(), "selected": pa.bool_()},
    ),
    default=Selection(selected=True),
    usage=usage("trl-dpo"),
)
TRL_CORRECTIONS = Format(
    name="trl-corrections",
    summary="What the policy should have done where a failed run went wrong, verified: `prompt` and `completion`, "
    "to be trained on beside `trl-rft`.",
    source="preferences",
    layout="parquet",
    convert=_corrections,
    columns=_columns(("prompt", JSONS), ("completion", JSONS)),
    default=Selection(kind=(PairKind.VERIFIED_STEP,)),
    usage=usage("trl-corrections"),
)
KTO = Format(
    name="kto",
    summary="Single turns that helped or harmed: `prompt`, `completion`, `label` for TRL's KTOTrainer.",
    source="steps",
    needs=("trajectories",),
    layout="parquet",
    convert=_kto,
    columns=_columns(("prompt", JSONS), ("completion", JSONS), ("label", pa.bool_()), more={"reason": pa.string()}),
    usage=usage("kto"),
)
