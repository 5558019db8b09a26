"""The levels at which a dataset is compared with itself: what of a row is its text, its structure and its quality.

Tasks are compared as they are accepted (:class:`~.TaskFilter`); documents, trajectories and pairs as
whole tables. The order of quality is documented here, once per level; of equal rows the lowest id represents a cluster.
Of a cluster that lies in several splits, a row of ``test`` stays before one of ``validation`` and that before one of
``train``: so no one trains on what they measure by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from synth.filtering.dedup.corpus import Corpus
from synth.filtering.dedup.structure import call_sequence, calls_key
from synth.identity import canonical_json, digest
from synth.schemas.adp import ApiAction, CodeAction, ContentItem, MessageAction, TextObservation
from synth.schemas.documents import Document
from synth.schemas.preferences import PreferenceRow
from synth.schemas.reworked import Reworked
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "DOCUMENTS",
    "LEVELS",
    "PAIRS",
    "RUNS",
    "Level",
    "LevelName",
    "agent_text",
]

LevelName = Literal["documents", "trajectories", "preferences"]
R = TypeVar("R", Document, TrajectoryRow, PreferenceRow)
_FIRST = {"test": 2.0, "validation": 1.0, "train": 0.0}


@dataclass(frozen=True)
class Level(Generic[R]):
    """What is compared of one row type."""

    text: Callable[[R], str]
    quality: Callable[[R], tuple[float, ...]]
    """Greater is better."""
    structure: Callable[[R], str | None] | None = None
    """Key of structure; None = rows of this type have none."""

    def corpus(self, rows: Sequence[R]) -> Corpus:
        """``rows`` in memory."""
        return Corpus(
            ids=[row.id for row in rows],
            texts=[self.text(row) for row in rows],
            structures=None if self.structure is None else [self.structure(row) for row in rows],
            quality=[self.quality(row) for row in rows],
        )


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


def _run_structure(row: TrajectoryRow) -> str | None:
    key = calls_key(row.content, row.answer, row.tool_schemas)
    return None if key is None else f"{row.task_id} {key}"


def _run_quality(row: TrajectoryRow) -> tuple[float, ...]:
    reworded = Reworked.stand_in(row.details) and Reworked.of(row.details).reworked.how == "reworded"
    first = 2.0 if reworded else float(row.retry_of is None)
    return _FIRST[row.split], float(row.success), first, -row.turns, -row.tool_calls


def _pair_structure(row: PreferenceRow) -> str:
    prompt, *sides = (call_sequence(part, row.tool_schemas) for part in (row.prompt, row.chosen, row.rejected))
    said = [_said(side) for side in (row.chosen, row.rejected)]
    return digest("pair", row.task_id, prompt, *([*done, own] for done, own in zip(sides, said, strict=True)))


def _pair_quality(row: PreferenceRow) -> tuple[float, ...]:
    verified = row.strength is not None and row.strength.verified
    return _FIRST[row.split], float(row.selected), float(verified), -len(row.prompt)


def _said(side: Sequence[ContentItem]) -> list[str]:
    """Messages of a side: a final answer is not a call, and no two answers are the same pair."""
    return [item.content for item in side if isinstance(item, MessageAction)]


DOCUMENTS: Level[Document] = Level(
    text=lambda row: f"{row.title}\n{row.text}",
    quality=lambda row: (float(len(row.text)),),
)
"""Documents by title and text. Better: the longer text."""

RUNS: Level[TrajectoryRow] = Level(
    text=lambda row: agent_text(row.content), quality=_run_quality, structure=_run_structure
)
"""Runs by :func:`agent_text`; their structure is the task, the sequence of calls and the answer.

Better: a success; thoughts in the words of the model that is to learn from them; a first try; the fewer turns; the
fewer calls."""

PAIRS: Level[PreferenceRow] = Level(
    text=lambda row: "\n\n".join(agent_text(part) for part in (row.prompt, row.chosen, row.rejected)),
    quality=_pair_quality,
    structure=_pair_structure,
)
"""Pairs by what was said and done up to the step and on both sides; their structure is the task, the calls of all
three, and what the sides say.

Better: one of the default selection; one whose strength was measured and verified; the shorter prompt."""

LEVELS: dict[LevelName, Level[Any]] = {"documents": DOCUMENTS, "trajectories": RUNS, "preferences": PAIRS}
"""By the table of their rows."""
