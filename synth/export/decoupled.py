"""Choosing a tool and filling its arguments as two targets (DualTune, arXiv 2510.00229).

The paper trains one adapter to choose and one per tool for its arguments, by two loss masks on one text. Here each
target is a row of its own, with a line that says which of the two is asked for, so that any trainer of completions
takes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from synth.dataset.usage import usage
from synth.export.contract import JSONS, About, Format, Inexpressible, Record, Run, Why
from synth.export.messages import Message, Part, as_chat, masked_of, parts_of
from synth.export.selection import Selection
from synth.export.trl import COMMON, run_common
from synth.identity import canonical_json
from synth.prompting import load_prompt

__all__ = ["TRL_ARGUMENTS", "TRL_TOOLS"]

_ANSWER = "answer"
"""Stands for no tool."""


def _targets(run: Run) -> Iterator[tuple[Part, tuple[Message, ...], Message]]:
    """(view, what comes before, the turn) of every turn that may be a target."""
    masked = masked_of(run)
    for part in parts_of(run.row):
        for place, message in enumerate(part.messages):
            if message.turn is not None and message.turn >= part.first_turn and message.turn not in masked:
                yield part, part.messages[:place], message


def _record(
    part: Part, run: Run, about: About, cut: int, before: tuple[Message, ...], asked: str, said: Record
) -> Record:
    prompt = [as_chat(message, about) for message in before]
    # Several chat templates refuse two messages of the user in a row.
    if prompt and prompt[-1]["role"] == "user" and isinstance(prompt[-1]["content"], str):
        asked = f"{prompt.pop()['content']}\n\n{asked}"
    prompt.append({"role": "user", "content": asked})
    return {
        "prompt": prompt,
        "completion": [{"role": "assistant"} | said],
        **run_common(part.messages, run, about, cut),
    }


def _tools(run: Run, about: About, cut: int) -> list[Record]:
    asked = load_prompt("export/tool", 1).render()
    made = []
    for part, before, message in _targets(run):
        said: Record = {"content": "\n".join(call.name for call in message.calls) or _ANSWER}
        if about.thoughts and message.thought:
            said["reasoning_content"] = message.thought
        made.append(_record(part, run, about, cut, before, asked, said) | {"turn": message.turn})
    if not made:
        raise Inexpressible(Why.NO_TARGET)
    return made


def _arguments(run: Run, about: About, cut: int) -> list[Record]:
    prompt = load_prompt("export/arguments", 1)
    made = []
    for part, before, message in _targets(run):
        for call in message.calls:
            asked = prompt.render(tool=call.name)
            record = _record(part, run, about, cut, before, asked, {"content": canonical_json(call.arguments)})
            own = [tool for tool in run.row.tool_schemas if tool.get("function", {}).get("name") == call.name]
            made.append(record | {"tools": canonical_json(own), "turn": message.turn, "tool": call.name})
    if not made:
        raise Inexpressible(Why.NO_TARGET)
    return made


_format = partial(Format, source="trajectories", layout="parquet", default=Selection(role=("teacher",), success=True))
_COLUMNS = {"prompt": JSONS, "completion": JSONS, **COMMON, "turn": pa.int64()}
TRL_TOOLS = _format(
    name="trl-tools",
    summary="Which tool comes next: `prompt` and `completion` for TRL's SFTTrainer, one row per turn.",
    convert=_tools,
    columns=_COLUMNS,
    usage=usage("trl-tools"),
)
TRL_ARGUMENTS = _format(
    name="trl-arguments",
    summary="The arguments of a call whose tool is known: `prompt` and `completion` for TRL's SFTTrainer.",
    convert=_arguments,
    columns={**_COLUMNS, "tool": pa.string()},
    usage=usage("trl-arguments"),
)
