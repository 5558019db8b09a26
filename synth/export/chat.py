"""OpenAI's chat JSONL, and the Hub's session traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.dataset.usage import usage
from synth.export.contract import About, Format, Inexpressible, Record, Run, Why
from synth.export.messages import as_openai, masked_of, parts_of, run_messages, with_code
from synth.export.selection import Selection
from synth.identity import canonical_json

__all__ = ["OPENAI", "STS"]


def _openai(run: Run, about: About, cut: int) -> list[Record]:
    masked = masked_of(run)
    made: list[Record] = []
    for part in parts_of(run.row):
        messages: list[dict[str, Any]] = []
        targets = 0
        for message in part.messages:
            one = as_openai(message, about)
            if message.turn is not None:
                trained = message.turn not in masked and message.turn >= part.first_turn
                targets += trained
                if not trained:
                    one["weight"] = 0
            messages.append(one)
        if targets:
            record: Record = {"messages": messages}
            if tools := with_code(run.row.tool_schemas, run.row.content):
                record["tools"] = list(tools)
            made.append(record)
    if not made:
        raise Inexpressible(Why.NO_TARGET)
    return made


def _sts(run: Run, about: About, cut: int) -> Sequence[Record]:
    row = run.row
    head: dict[str, Any] = {
        "type": "session",
        "harness": "synth",
        "id": row.id,
        "name": next(m.content for m in run_messages(row) if m.role == "user")[:120],
        "task_id": row.task_id,
        "role": row.role,
        "success": row.verdict.correct,
        "source": about.dataset,
        "licence": row.licence,
        "tools": canonical_json(list(with_code(row.tool_schemas, row.content))),
    }
    if cut:
        head["cut_observations"] = cut
    model = row.model or row.provenance.backend or "scripted"
    lines = [head]
    for message in run_messages(row):
        one: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.turn is not None:
            one["model"] = model
        if about.thoughts and message.thought:
            one["reasoningContent"] = message.thought
        if message.calls:
            one["toolCalls"] = [
                {"id": call.id, "function": {"name": call.name, "arguments": canonical_json(call.arguments)}}
                for call in message.calls
            ]
        if message.call_id is not None:
            one["toolCallId"] = message.call_id
        lines.append({"type": "message", "message": one})
    return [{"name": row.id, "lines": lines}]


OPENAI = Format(
    name="openai",
    summary="Chat JSONL: `messages` and `tools`; arguments are JSON text, turns that are not targets have weight 0.",
    source="trajectories",
    layout="jsonl",
    convert=_openai,
    default=Selection(success=True),
    index=True,
    helpers=True,
    usage=usage("openai"),
)
STS = Format(
    name="sts",
    summary="One session per file, for the trace viewer of the Hugging Face Hub.",
    source="trajectories",
    layout="sessions",
    convert=_sts,
    usage=usage("sts"),
)
