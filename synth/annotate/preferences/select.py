"""Which pairs are in the default selection, and what the selection looks like. Pure functions over rows."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from synth.schemas.described import Described
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.turns import action_kind, turn_ranges

__all__ = [
    "Eligible",
    "Selection",
    "balance_lengths",
    "eligible",
    "select",
    "selected_ids",
]


class Selection(Described):
    """What goes into the selection. By default: all pairs but those with injected errors."""

    kinds: tuple[PairKind, ...] = tuple(kind for kind in PairKind if kind is not PairKind.PERTURBATION)
    """Kinds of pairs."""
    same_kind: bool = False
    """Only pairs whose sides do the same kind of action. Says nothing about whole runs."""
    answers: bool = True
    """False: of verified pairs, only those whose chosen side calls a tool. A right answer is verified with
    certainty wherever the run has seen it, so answers crowd verified pairs, and most correct a run that had gone too
    far."""
    earliest: bool = False
    """Of verified pairs, only the earliest of each trajectory."""
    per_trajectory: int | None = Field(default=None, ge=1)
    """At most so many pairs from one trajectory: the earliest ones, of equal steps by id."""
    judge: Literal["require", "ignore"] = "ignore"
    """``require``: of the pairs that the other keys select, those with which the judge (``roles.judge``) agrees; where
    it abstains, it does not agree. ``ignore``: its verdicts are recorded and select nothing."""


def select(rows: Sequence[PreferenceRow], selection: Selection | None = None) -> tuple[PreferenceRow, ...]:
    """The same rows in the same order, ``selected`` set anew. Does not depend on their order.

    ``earliest`` means the earliest that is otherwise eligible in kind and same kind of action, so that it is no way of
    losing trajectories whose earliest verified step changes the kind of action.
    """
    wanted = selection or Selection()
    kept = selected_ids([Eligible.of(row) for row in rows if eligible(row, wanted)], wanted)
    return tuple(row.model_copy(update={"selected": row.id in kept}) for row in rows)


@dataclass(frozen=True, slots=True)
class Eligible:
    """What the choice among eligible pairs goes by: enough of a row for who reads a dataset as it streams past."""

    id: str
    trajectory_id: str
    step: int
    measured: bool

    @classmethod
    def of(cls, row: PreferenceRow) -> Eligible:
        return cls(row.id, row.trajectory_id, row.step, row.strength is not None)


def selected_ids(pairs: Iterable[Eligible], wanted: Selection) -> frozenset[str]:
    """Of pairs that are ``eligible``, those that are selected, whatever their order."""
    by_trajectory: dict[str, list[Eligible]] = {}
    for pair in pairs:
        by_trajectory.setdefault(pair.trajectory_id, []).append(pair)
    kept: set[str] = set()
    for own in by_trajectory.values():
        own.sort(key=lambda pair: (pair.step, pair.id))
        if wanted.earliest:
            steps = [pair.step for pair in own if pair.measured]
            own = [pair for pair in own if not pair.measured or pair.step == min(steps)]
        kept |= {pair.id for pair in own[: wanted.per_trajectory]}
    return frozenset(kept)


def eligible(row: PreferenceRow, wanted: Selection) -> bool:
    """Whether the pair may be selected by itself: its kind, its strength, what its sides do."""
    if row.kind not in wanted.kinds:
        return False
    if row.kind in (PairKind.VERIFIED_STEP, PairKind.VERIFIED_STEP_SUCCESS, PairKind.SIBLING):
        if row.strength is None or not row.strength.verified:
            return False
        if not wanted.answers and action_kind(row.chosen) == "answer":
            return False
    return row.same_kind or row.position == "whole" or not wanted.same_kind


def balance_lengths(rows: Iterable[PreferenceRow]) -> frozenset[str]:
    """Of the pairs of whole runs the surplus, by id: without it, for every chosen side that is longer by so many turns
    there is one that is shorter by as many, and the mean difference is 0.

    Pairs are matched in the order of ``rows``, the earliest first, so that rows behind them only ever free a pair from
    the surplus: asking for more tasks keeps every pair. Pairs of single steps and of equal length are not surplus.
    """
    waiting: defaultdict[int, deque[str]] = defaultdict(deque)
    for row in rows:
        gap = _gap(row) if row.position == "whole" else 0
        if gap and waiting[-gap]:
            waiting[-gap].popleft()
        elif gap:
            waiting[gap].append(row.id)
    return frozenset(name for names in waiting.values() for name in names)


def _gap(row: PreferenceRow) -> int:
    return len(turn_ranges(row.chosen)) - len(turn_ranges(row.rejected))
