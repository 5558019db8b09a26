"""What each step of a history did: the facts that labels, behaviours, failure classes and masks are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.agents.contract import History, Step
from synth.agents.evidence import EvidenceView, words_of
from synth.agents.moves import Move, MoveKind, judge_call, missing_for_answer
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["ASTRAY", "Finding", "findings_of"]

ASTRAY = frozenset((MoveKind.PASSED_OVER, MoveKind.UNFIT, MoveKind.ASTRAY))
"""Moves off the walk though something better was visible, or that can't be right."""
_ORDER = (
    MoveKind.REPEATED_FAILURE,
    MoveKind.INVALID,
    MoveKind.PASSED_OVER,
    MoveKind.UNFIT,
    MoveKind.ASTRAY,
    MoveKind.PROGRESS,
    MoveKind.REACHES,
    MoveKind.CANDIDATE,
    MoveKind.ON_PATH,
    MoveKind.EXPLORES,
    MoveKind.FAILED,
    MoveKind.REPEATED,
)


@dataclass(frozen=True)
class Finding:
    """One step, judged by itself."""

    moves: tuple[Move, ...]
    """One per call that was carried out."""
    new_hops: frozenset[int]
    hops: frozenset[int]
    """In view after the step."""
    missing: tuple[int, ...] = ()
    """Hops not in view, of an answer or where the agent gives up."""
    answer: str | None = None
    ends: bool = False
    """The last turn: an answer, or none."""
    cut_off: bool = False
    """Its calls were not carried out."""
    seen_answer: bool = False
    """The words of the answer stood in an observation."""
    taken_from: tuple[int, ...] = field(default=())
    """Earlier steps that had already gone for what a wrong answer names."""

    @property
    def move(self) -> Move | None:
        """The call that says most about the step: the worst, else the best."""
        return min(self.moves, key=lambda move: _ORDER.index(move.kind), default=None)

    @property
    def astray(self) -> bool:
        return self.move is not None and self.move.kind in ASTRAY


def findings_of(row: TrajectoryRow, task: Task, history: History) -> tuple[Finding, ...]:
    """Judge every step by what was in view before it."""
    view = EvidenceView(task)
    found: list[Finding] = []
    for step in history:
        moves = tuple(judge_call(view, call, result) for call, result in zip(step.turn.calls, step.results, strict=False))
        missing = () if step.turn.calls else missing_for_answer(view)
        new = view.take(step)
        found.append(
            Finding(
                moves=moves,
                new_hops=new,
                hops=frozenset(view.hops),
                missing=missing,
                answer=step.turn.answer,
                ends=not step.turn.calls,
                cut_off=bool(step.turn.calls) and not step.results,
                seen_answer=_was_seen(view, step),
            )
        )
    return tuple(found)


def _was_seen(view: EvidenceView, step: Step) -> bool:
    words = words_of(step.turn.answer or "")
    return words.strip() != "" and any(words in words_of(result.content) for _, result in view.results)
