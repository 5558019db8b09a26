"""From exported rows, and from requests, to token ids: the chat template of the tiny decoder.

What is the same in every row (system prompt, tool schemas) carries no information for a model of one environment and is
left out. Thoughts are not read. A turn of the agent is ``<agent> text <end>``, or
``<agent> <call> name{arguments} <end>``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from efficacy_lab.words import AGENT, CALL, END, TOOL, USER, Conversation, Tables
from synth.errors import InputError
from synth.identity import canonical_json

__all__ = [
    "Encoded",
    "Message",
    "Pair",
    "Row",
    "encode",
    "encode_row",
    "read_pairs",
    "read_rows",
    "reply_of",
    "texts_of",
]

Message: TypeAlias = Mapping[str, Any]
"""A chat message, as TRL's exports and as requests hold it."""


@dataclass(frozen=True)
class Row:
    """A conversation whose turns from ``first`` on are targets."""

    id: str
    task_id: str
    messages: tuple[Message, ...]
    first: int = 0
    """Index of the first message whose turn (and every later one's) is a target."""


@dataclass(frozen=True)
class Pair:
    """Two ways to go on from one prompt."""

    id: str
    task_id: str
    prompt: tuple[Message, ...]
    chosen: tuple[Message, ...]
    rejected: tuple[Message, ...]

    @property
    def sides(self) -> tuple[Row, Row]:
        """(chosen, rejected), each with the prompt before it; only turns of the side are targets."""
        first = len(self.prompt)
        chosen, rejected = (*self.prompt, *self.chosen), (*self.prompt, *self.rejected)
        return Row(self.id, self.task_id, chosen, first), Row(self.id, self.task_id, rejected, first)


@dataclass(frozen=True)
class Encoded:
    """Token ids and which of them the model has to give."""

    ids: npt.NDArray[np.int32]
    """``(length,)``."""
    targets: npt.NDArray[np.bool_]
    """``(length,)``: what the agent wrote, its end included, in turns that are targets."""


def read_rows(folder: Path, split: str = "train") -> list[Row]:
    """The rows of an export ``trl-sft`` or ``trl-rft``, in the order of the files.

    Raises:
        InputError: there is no such export.
    """
    return [_row(row) for row in _parquet(folder, split)]


def read_pairs(folder: Path, split: str = "train") -> list[Pair]:
    """The rows of an export ``trl-dpo``, in the order of the files. Raises as :func:`read_rows`."""
    return [
        Pair(row["id"], row["task_id"], _messages(row["prompt"]), _messages(row["chosen"]), _messages(row["rejected"]))
        for row in _parquet(folder, split)
    ]


def _row(row: Mapping[str, Any]) -> Row:
    if "messages" in row:
        return Row(row["id"], row["task_id"], _messages(row["messages"]))
    prompt = _messages(row["prompt"])
    return Row(row["id"], row["task_id"], (*prompt, *_messages(row["completion"])), len(prompt))


def _parquet(folder: Path, split: str) -> Iterator[dict[str, Any]]:
    if not (folder / "export.json").is_file():
        raise InputError("there is no finished export", where=str(folder), mend="write one with `synth export`")
    for file in sorted(folder.glob(f"{split}-*.parquet")):
        yield from pq.read_table(file).to_pylist()


def _messages(items: Sequence[Any]) -> tuple[Message, ...]:
    return tuple(json.loads(item) if isinstance(item, str) else item for item in items)


def texts_of(messages: Sequence[Message]) -> list[str]:
    """All texts of a conversation that are read: what the vocabulary is learned from."""
    return [text for message in messages for text in _parts(message)]


def _parts(message: Message) -> list[str]:
    if message["role"] == "system":
        return []
    calls = message.get("tool_calls") or ()
    return [_call(call["function"]) for call in calls] if calls else [message.get("content") or ""]


def _call(function: Mapping[str, Any]) -> str:
    name, arguments = str(function["name"]), function["arguments"]
    return name + (arguments if isinstance(arguments, str) else canonical_json(arguments))


def encode(messages: Sequence[Message], conversation: Conversation) -> list[tuple[list[int], bool]]:
    """Ids of each message, and whether the agent wrote it.

    Raises:
        SlotsUsedUp: see :class:`Conversation`.
    """
    found: list[tuple[list[int], bool]] = []
    for message in messages:
        role = message["role"]
        if role == "assistant":
            ids = [AGENT]
            for part in _parts(message):
                ids += [CALL, *conversation.ids(part)] if message.get("tool_calls") else conversation.ids(part)
            found.append(([*ids, END], True))
        elif role != "system":
            head = USER if role == "user" else TOOL
            found.append(([head, *conversation.ids(message.get("content") or ""), END], False))
    return found


def encode_row(row: Row, tables: Tables, name: str) -> Encoded:
    """``row`` as the model reads it; ``name`` names the slots. Raises as :func:`encode`."""
    conversation = Conversation(tables, name)
    before = encode(row.messages[: row.first], conversation)
    after = encode(row.messages[row.first :], conversation)
    ids: list[int] = []
    targets: list[bool] = []
    for number, (part, agent) in enumerate([*before, *after]):
        wanted = agent and number >= len(before)
        ids += part
        targets += [False, *([wanted] * (len(part) - 1))]  # that it is the agent's turn is given
    return Encoded(np.asarray(ids, dtype=np.int32), np.asarray(targets, dtype=np.bool_))


def reply_of(ids: Sequence[int], conversation: Conversation) -> tuple[str, list[tuple[str, str]]]:
    """(content, calls as (name, arguments text)) of what the model wrote behind ``<agent>``, without the ``<end>``."""
    parts: list[list[int]] = [[]]
    for one in ids:
        if one == CALL:
            parts.append([])
        else:
            parts[-1].append(one)
    calls = []
    for part in parts[1:]:
        name, brace, rest = conversation.text(part).partition("{")
        calls.append((name.strip(), brace + rest))
    return conversation.text(parts[0]), calls
