"""LLaMA-Factory: ``sharegpt`` turns with strict alternation, and the entries of ``dataset_info.json``.

Its loader drops a row that breaks a rule with a warning only, so such rows are counted here instead: odd turns are
``human`` or ``observation``, even ones ``gpt`` or ``function_call``; the value of a ``function_call`` is JSON, behind
nothing but a thought, or JSON between ``<tool_call>`` marks, before which any text may stand (``FunctionFormatter`` of
0.9.5); a ranking row has one message per side.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from synth.dataset.usage import usage
from synth.export.contract import About, Format, Inexpressible, Record, Run, Why
from synth.export.messages import Message, with_code
from synth.export.selection import Selection
from synth.export.trl import pair_sides, target_parts
from synth.identity import canonical_json
from synth.schemas.preferences import PreferenceRow
from synth.schemas.row import JsonList

__all__ = [
    "BETWEEN",
    "CALL",
    "LLAMAFACTORY_DPO",
    "LLAMAFACTORY_SFT",
    "THINK",
    "conversation_of",
    "dataset_info",
    "turns_of",
]

THINK = ("<think>\n", "\n</think>\n\n")
"""Around a thought: the words that LLaMA-Factory's templates know by default."""
CALL = ("<tool_call>", "</tool_call>")
"""Around the calls of a turn that says something beside them: the words that nearly all its templates know."""
BETWEEN = "\n</tool_response>\n<tool_response>\n"
"""Between the answers of several calls, as LLaMA-Factory joins them itself."""


def turns_of(messages: Sequence[Message], about: About) -> tuple[str, list[dict[str, str]]]:
    """The system prompt, and the turns from the question on.

    Raises:
        Inexpressible: they don't alternate, or a text has no place.
    """
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns: list[dict[str, str]] = []
    waiting: list[str] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "tool":
            if BETWEEN.strip() in message.content:
                raise Inexpressible(Why.RESERVED_TEXT, "an observation")
            if not waiting or waiting.pop(0) != message.call_id:
                raise Inexpressible(Why.ANSWERS_OUT_OF_ORDER, message.call_id or "")
            if turns and turns[-1]["from"] == "observation":
                turns[-1]["value"] += BETWEEN + message.content
            else:
                turns.append({"from": "observation", "value": message.content})
            continue
        if waiting:
            raise Inexpressible(Why.ANSWERS_OUT_OF_ORDER, f"{waiting[0]} is not answered")
        if message.turn is None:
            turns.append({"from": "human", "value": message.content})
        else:
            turns.append(_own(message, about))
            waiting = [call.id for call in message.calls]
    for place, turn in enumerate(turns):
        if (turn["from"] in ("human", "observation")) != (place % 2 == 0):
            raise Inexpressible(Why.MIXED_TURN, f"turn {place} is of {turn['from']}")
    return system, turns


def _own(message: Message, about: About) -> dict[str, str]:
    thought = ""
    if about.thoughts and message.thought:
        if "<think>" in message.thought or "</think>" in message.thought:
            raise Inexpressible(Why.RESERVED_TEXT, "a thought")
        thought = THINK[0] + message.thought + THINK[1]
    if not message.calls:
        if "<think>" in message.content or "</think>" in message.content:
            raise Inexpressible(Why.RESERVED_TEXT, "a message")
        return {"from": "gpt", "value": thought + message.content}
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.calls]
    written = json.dumps(calls[0] if len(calls) == 1 else calls, ensure_ascii=False)
    if about.thoughts and ("<think>" in written or "</think>" in written):
        raise Inexpressible(Why.RESERVED_TEXT, "an argument")
    if any(mark in text for mark in CALL for text in (thought, message.content, written)):
        raise Inexpressible(Why.RESERVED_TEXT, "a turn with a call")
    if message.content:
        written = f"{message.content}\n{CALL[0]}\n{written}\n{CALL[1]}"
    return {"from": "function_call", "value": thought + written}


def _tools(tools: JsonList) -> str:
    return canonical_json([tool.get("function", tool) for tool in tools]) if tools else ""


def _facts(about: About, cut: int, id_: str, task_id: str, licence: str | None) -> Record:
    return {
        "id": id_,
        "task_id": task_id,
        "source": about.dataset,
        "licence": licence or "",
        "cut_observations": cut,
    }


def conversation_of(messages: Sequence[Message], run: Run, about: About, cut: int) -> Record:
    """The record of ``messages``, which are those of ``run``.

    Raises:
        Inexpressible: see :func:`turns_of`.
    """
    system, turns = turns_of(messages, about)
    tools = _tools(with_code(run.row.tool_schemas, run.row.content))
    record: Record = {"conversations": turns, "system": system, "tools": tools}
    return record | _facts(about, cut, run.row.id, run.row.task_id, run.row.licence)


def _sft(run: Run, about: About, cut: int) -> list[Record]:
    return [conversation_of(messages, run, about, cut) for messages in target_parts(run)]


def _dpo(pair: PreferenceRow, about: About, cut: int) -> list[Record]:
    prompt, chosen, rejected = pair_sides(pair)
    if len(chosen) > 1 or len(rejected) > 1:
        raise Inexpressible(Why.SEVERAL_MESSAGES, pair.kind)
    system, turns = turns_of(prompt, about)
    record: Record = {
        "conversations": turns,
        "chosen": _own(chosen[0], about),
        "rejected": _own(rejected[0], about),
        "system": system,
        "tools": _tools(with_code(pair.tool_schemas, pair.prompt, pair.chosen, pair.rejected)),
    }
    return [record | _facts(about, cut, pair.id, pair.task_id, pair.licence)]


def dataset_info(
    dataset: str, splits: Sequence[str], *, ranking: bool = False, images: bool = False
) -> dict[str, bytes]:
    """The file ``dataset_info.json``: an entry for each split."""
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    if images:
        columns["images"] = "images"
    if ranking:
        columns |= {"chosen": "chosen", "rejected": "rejected"}
    entries: dict[str, Any] = {}
    for split in splits:
        entry: dict[str, Any] = {"file_name": f"{split}.jsonl", "formatting": "sharegpt"}
        if ranking:
            entry["ranking"] = True
        entry["columns"] = columns
        entry["tags"] = {
            "role_tag": "from",
            "content_tag": "value",
            "user_tag": "human",
            "assistant_tag": "gpt",
            "observation_tag": "observation",
            "function_tag": "function_call",
            "system_tag": "system",
        }
        entries[f"{dataset.replace('-', '_')}_{split}"] = entry
    return {"dataset_info.json": (json.dumps(entries, indent=2) + "\n").encode()}


LLAMAFACTORY_SFT = Format(
    name="llamafactory-sft",
    summary="Whole conversations whose every turn may be a target, as LLaMA-Factory's sharegpt turns.",
    source="trajectories",
    layout="jsonl",
    convert=_sft,
    default=Selection(success=True),
    beside=lambda dataset, splits, tools: dataset_info(dataset, splits),
    helpers=True,
    usage=usage("llamafactory-sft"),
)
LLAMAFACTORY_DPO = Format(
    name="llamafactory-dpo",
    summary="Pairs with one message per side, as LLaMA-Factory's ranking rows.",
    source="preferences",
    layout="jsonl",
    convert=_dpo,
    default=Selection(selected=True),
    beside=lambda dataset, splits, tools: dataset_info(dataset, splits, ranking=True),
    usage=usage("llamafactory-dpo"),
)
