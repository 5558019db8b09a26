"""Runs with the pictures of what they were shown: whole conversations for models that see.

A picture stands behind the text of its page. In LLaMA-Factory's turns it is the mark ``<image>`` in the observation; in
TRL's messages a part of a message of the user behind those of the tools, for its collator (1.16) counts no picture in a
message of a tool. Pictures are in ``images``, in the order of their marks.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from synth.agents.model.pictures import PICTURED
from synth.dataset.usage import usage
from synth.export.contract import JSONS, About, Format, Inexpressible, Record, Run, Why
from synth.export.llamafactory import conversation_of, dataset_info
from synth.export.messages import PNG, Message, as_chat
from synth.export.selection import Selection
from synth.export.trl import COMMON, run_common, target_parts

__all__ = ["LLAMAFACTORY_SFT_VISION", "TRL_SFT_VISION"]

_IMAGE = "<image>"
_MARKS = (_IMAGE, "<video>", "<audio>")
"""LLaMA-Factory counts them wherever they stand, and drops a row that has more of them than files."""


def _bytes_of(messages: Sequence[Message]) -> list[bytes]:
    """The pictures as PNG files, in order.

    Raises:
        Inexpressible: there is none.
    """
    found = [message.picture for message in messages if message.picture is not None]
    if not found:
        raise Inexpressible(Why.NO_PICTURE)
    return [base64.b64decode(picture.removeprefix(PNG)) for picture in found]


def _llamafactory(run: Run, about: About, cut: int) -> list[Record]:
    made: list[Record] = []
    for messages in target_parts(run):
        pictures = _bytes_of(messages)
        if any(mark in text for mark in _MARKS for one in messages for text in _texts(one)):
            raise Inexpressible(Why.RESERVED_TEXT, "a text names a picture")
        marked = [
            replace(one, content=f"{one.content}\n{_IMAGE}") if one.picture is not None else one for one in messages
        ]
        made.append({**conversation_of(marked, run, about, cut), "images": pictures})
    return made


def _texts(message: Message) -> list[str]:
    return [message.content, message.thought or "", *(str(call.arguments) for call in message.calls)]


def _trl(run: Run, about: About, cut: int) -> list[Record]:
    made: list[Record] = []
    for messages in target_parts(run):
        images = [{"bytes": picture, "path": None} for picture in _bytes_of(messages)]
        record: Record = {"messages": _with_parts(messages, about), "images": images}
        made.append(record | run_common(messages, run, about, cut))
    return made


def _with_parts(messages: Sequence[Message], about: About) -> list[dict[str, Any]]:
    """What the user says is a list of parts, so that TRL puts no picture of its own accord before the question."""
    made: list[dict[str, Any]] = []
    waiting = 0
    for message in (*messages, None):
        if waiting and (message is None or message.role != "tool"):
            made.append({"role": "user", "content": [_text(PICTURED), *({"type": "image"} for _ in range(waiting))]})
            waiting = 0
        if message is None:
            break
        chat = as_chat(message, about)
        made.append({**chat, "content": [_text(message.content)]} if message.role == "user" else chat)
        waiting += message.picture is not None
    return made


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


TRL_SFT_VISION = Format(
    name="trl-sft-vision",
    summary="Whole conversations as TRL's messages, with the pictures of the pages that were shown.",
    source="trajectories",
    layout="parquet",
    convert=_trl,
    columns={
        "messages": JSONS,
        "images": pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        **COMMON,
    },
    default=Selection(success=True),
    usage=usage("trl-sft-vision"),
)
LLAMAFACTORY_SFT_VISION = Format(
    name="llamafactory-sft-vision",
    summary="Whole conversations as LLaMA-Factory's sharegpt turns, with the pictures of the pages that were shown.",
    source="trajectories",
    layout="pictured",
    convert=_llamafactory,
    default=Selection(success=True),
    beside=lambda dataset, splits, tools: dataset_info(dataset, splits, images=True),
    usage=usage("llamafactory-sft-vision"),
)
