"""What the derived tables are checked against: trajectories, each in a few hundred bytes; and what rules of several
of these tables ask."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from sys import intern
from typing import Any

from pydantic import ValidationError

from synth.schemas.adp import ADP_VERSION, ApiAction, CodeAction, ContentItem, Trajectory, error_lines
from synth.schemas.preferences import PreferenceRow, Strength
from synth.schemas.steps import ContinuationRow, Criticality, StepRow
from synth.schemas.trajectories import Role, StopReason, TrajectoryRow
from synth.schemas.turns import action_kind, bare_actions, turn_ranges

__all__ = ["Recorded", "bare", "essence", "link_problems", "measured", "owner_problems", "record", "setting"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trajectory by digests: enough to tell whether something else quotes it word for word."""

    task_id: str
    split: str
    role: Role
    success: bool
    correct: bool | None
    licence: str | None
    setting: bytes
    """Of system prompt and tools."""
    items: tuple[bytes, ...]
    """One per item of the content."""
    ids: tuple[str | None, ...]
    """Call id of each item that is a call; None for the others."""
    ranges: tuple[tuple[int, int], ...]
    """The turns."""
    kinds: tuple[str, ...]
    """What each turn does."""
    bare: tuple[bytes, ...]
    """Each turn's actions as they stand when nothing answers them."""
    essences: tuple[bytes, ...]
    """What each turn does, without what is thought or said beside it."""

    def starts_with(self, prompt: Sequence[ContentItem], step: int) -> bool:
        """Whether ``prompt`` is all that came before turn ``step``."""
        before = self.items[: self.ranges[step][0]]
        return len(prompt) == len(before) and _digests(prompt) == before

    def goes_on_with(self, step: int, side: Sequence[ContentItem]) -> bool:
        """Whether ``side`` is what this run did from turn ``step`` on, or a part of it that ends at a turn's end or
        after what answered it. Calls of a turn that ``side`` ends with may have lost their ids."""
        start = self.ranges[step][0]
        if not side or start + len(side) > len(self.items):
            return False
        turns = turn_ranges(side)
        if not turns:
            return False
        last, end = turns[-1]
        number = step + len(turns) - 1
        if number >= len(self.ranges) or self.ranges[number] != (start + last, start + end):
            return False
        if end < len(side):
            return _digests(side) == self.items[start : start + len(side)]
        return _digests(side[:last]) == self.items[start : start + last] and bare(side[last:]) == self.bare[number]

    def ends_with(self, step: int, side: Sequence[ContentItem]) -> bool:
        """Whether ``side`` is all that this run did from turn ``step`` on."""
        return self.ranges[step][0] + len(side) == len(self.items) and self.goes_on_with(step, side)


def record(row: TrajectoryRow) -> Recorded:
    """The digests of a row."""
    ranges = turn_ranges(row.content)
    gave_up = row.stop_reason is StopReason.GAVE_UP
    turns = [row.content[start:end] for start, end in ranges]
    return Recorded(
        task_id=row.task_id,
        split=row.split,
        role=row.role,
        success=row.success,
        correct=row.verdict.correct,
        licence=row.licence,
        setting=setting(row.system_prompt, row.tool_schemas),
        items=_digests(row.content),
        ids=tuple(_call_id(item) for item in row.content),
        ranges=ranges,
        kinds=tuple(
            intern(action_kind(turn, gave_up=gave_up and number == len(turns) - 1)) for number, turn in enumerate(turns)
        ),
        bare=tuple(map(bare, turns)),
        essences=tuple(map(essence, turns)),
    )


def setting(system_prompt: str, tool_schemas: Sequence[dict[str, object]]) -> bytes:
    """Digest of what an agent was told besides the question."""
    return _digest(json.dumps([system_prompt, list(tool_schemas)], sort_keys=True).encode())


def bare(actions: Sequence[ContentItem]) -> bytes:
    """Digest of the actions of a turn, whether or not something answered them."""
    return _digest(b"".join(_digests(bare_actions(actions))))


def essence(actions: Sequence[ContentItem]) -> bytes:
    """Digest of what is called with which arguments, or of the message when nothing is called."""
    calls = [item for item in actions if isinstance(item, ApiAction | CodeAction)]
    shown = [
        [item.function, item.kwargs]
        if isinstance(item, ApiAction)
        else [getattr(item, "language", None), getattr(item, "content", None)]
        for item in calls or actions
    ]
    return _digest(json.dumps(shown, sort_keys=True).encode())


def owner_problems(row: StepRow | ContinuationRow | PreferenceRow, run: Recorded | None) -> Iterator[str]:
    """Whether the step that a derived row names is one of its trajectory."""
    first = -1 if isinstance(row, ContinuationRow) and row.side == "original" else 0
    if run is not None and not first <= row.step < len(run.ranges):
        yield f"step: {row.step}, but the trajectory has {len(run.ranges)} turns"


def measured(path: str, of: Criticality | Strength, sides: tuple[str, str], recipe: Mapping[str, Any]) -> Iterator[str]:
    """Whether counts, difference and interval fit each other and the recipe; ``sides`` name the better-if-positive one
    first."""
    rates: list[float] = []
    for side in sides:
        good, n = getattr(of, f"{side}_successes"), getattr(of, f"{side}_n")
        if not 0 <= good <= n:
            yield f"{path}: {good} of {n} continuations of the {side} side succeeded"
        elif n == 0:
            yield f"{path}: no continuation of the {side} side"
        else:
            rates.append(good / n)
    own = [getattr(of, f"{side}_draws") or 0 for side in sides]
    if min(own) < 0 or sum(own) > (of.policy_draws or 0):
        yield f"{path}.policy_draws: {of.policy_draws}, but {own[0]} and {own[1]} of them do what the sides do"
    most = ((recipe.get("critical") or {}).get("search") or {}).get("draws")
    if most is not None and (of.policy_draws or 0) > most:
        yield f"{path}.policy_draws: {of.policy_draws}, but the recipe has the policy draw {most} times"
    if len(rates) == 2 and abs(rates[0] - rates[1] - of.difference) > 1e-6:
        yield f"{path}.difference: {of.difference:g}, but the counts give {rates[0] - rates[1]:g}"
    if not of.low - 1e-9 <= of.difference <= of.high + 1e-9:
        yield f"{path}: the difference {of.difference:g} is not within {of.low:g} to {of.high:g}"
    if not 0 < of.confidence < 1:
        yield f"{path}.confidence: {of.confidence:g} is not between 0 and 1"


def link_problems(content: tuple[ContentItem, ...]) -> list[str]:
    """What the Agent Data Protocol says against a content."""
    try:
        Trajectory(schema_version=ADP_VERSION, id="x", content=content)
    except ValidationError as error:
        return error_lines(error)
    return []


def _call_id(item: ContentItem) -> str | None:
    name = item.tool_call_id if isinstance(item, ApiAction | CodeAction) else None
    return None if name is None else intern(name)


def _digests(items: Sequence[ContentItem]) -> tuple[bytes, ...]:
    # Rows that were read from Parquet have the keys of their objects sorted, so equal items give equal text.
    return tuple(_digest(item.model_dump_json().encode()) for item in items)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()
