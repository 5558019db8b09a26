"""The levels at which a dataset is compared with itself: what of a row is its text, its structure and its quality.

Tasks are compared as they are accepted (:class:`synth.dedup.TaskFilter`); documents, trajectories and pairs as whole
tables. The order of quality is documented here, once per level; of equal rows the lowest id represents a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.dedup.corpus import Corpus
from synth.dedup.structure import call_sequence, calls_key
from synth.identity import canonical_json, digest
from synth.schemas.adp import ApiAction, CodeAction, ContentItem, MessageAction, TextObservation
from synth.schemas.documents import Document
from synth.schemas.steps import PreferenceRow
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["agent_text", "document_corpus", "pair_corpus", "trajectory_corpus"]


def agent_text(content: Sequence[ContentItem]) -> str:
    """What the user and the agent said and did, in order. What the environment showed is left out: two runs that read
    the same page are not alike for that."""
    parts: list[str] = []
    for item in content:
        if isinstance(item, TextObservation):
            parts += [item.content] if item.source == "user" else []
            continue
        parts += [
            text for text in (getattr(item, "reasoning_content", None), getattr(item, "description", None)) if text
        ]
        if isinstance(item, ApiAction):
            parts.append(f"{item.function} {canonical_json(item.kwargs)}")
        elif isinstance(item, CodeAction | MessageAction):
            parts.append(item.content)
    return "\n".join(parts)


def document_corpus(rows: Sequence[Document]) -> Corpus:
    """Documents by title and text. Better: the longer text."""
    return Corpus(
        ids=[row.id for row in rows],
        texts=[f"{row.title}\n{row.text}" for row in rows],
        quality=[(float(len(row.text)),) for row in rows],
    )


def trajectory_corpus(rows: Sequence[TrajectoryRow]) -> Corpus:
    """Runs by :func:`agent_text`; their structure is the task, the sequence of calls and the answer.

    Better: a success; a first try; the fewer turns; the fewer calls.
    """
    keys = [calls_key(row.content, row.answer) for row in rows]
    return Corpus(
        ids=[row.id for row in rows],
        texts=[agent_text(row.content) for row in rows],
        structures=[None if key is None else f"{row.task_id} {key}" for row, key in zip(rows, keys, strict=True)],
        quality=[(float(row.success), float(row.retry_of is None), -row.turns, -row.tool_calls) for row in rows],
    )


def pair_corpus(rows: Sequence[PreferenceRow]) -> Corpus:
    """Pairs by what was said and done up to the step and on both sides; their structure is the task, the calls of all
    three, and what the sides say.

    Better: one of the default selection; one whose strength was measured and verified; the shorter prompt.
    """

    def key(row: PreferenceRow) -> str:
        sides: list[Any] = [[*call_sequence(side), _said(side)] for side in (row.chosen, row.rejected)]
        return digest("pair", row.task_id, call_sequence(row.prompt), *sides)

    return Corpus(
        ids=[row.id for row in rows],
        texts=["\n\n".join(agent_text(part) for part in (row.prompt, row.chosen, row.rejected)) for row in rows],
        structures=[key(row) for row in rows],
        quality=[
            (float(row.selected), float(row.strength is not None and row.strength.verified), -len(row.prompt))
            for row in rows
        ],
    )


def _said(side: Sequence[ContentItem]) -> list[str]:
    """Messages of a side: a final answer is no call, and no two answers are the same pair."""
    return [item.content for item in side if isinstance(item, MessageAction)]
