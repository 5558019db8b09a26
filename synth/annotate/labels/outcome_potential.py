"""Whether a turn brings the policy nearer to what its own runs reliably end with (SIOP, arXiv 2605.04984).

The final answers of the runs on a task fall into modes, answers that mean the same. A mode is as reliable as many runs
ended in it after a tool had shown its answer. How much of the policy's belief in the modes is in reliable ones, before
and behind each turn, is read as :mod:`synth.annotate.labels.answer_probability` reads it. The right answer is not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from synth.agents.trajectory import history_of
from synth.annotate.labels.answer_probability import AnswerProbability
from synth.environments.answers import check_task, final_answer
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.text.words import words_of

__all__ = ["outcome_modes", "outcome_potential"]


def outcome_modes(task: Task, runs: Sequence[TrajectoryRow]) -> tuple[tuple[str, float], ...]:
    """The first answer of each mode, and its share of the runs that ended with what they had been shown."""
    shown: list[tuple[str, int]] = []
    for run in runs:
        answer = final_answer(run.answer or "")
        if not answer or run.retry_of is not None:
            continue
        at = next((at for at, (one, _) in enumerate(shown) if _same(task, one, answer)), len(shown))
        if at == len(shown):
            shown.append((answer, 0))
        shown[at] = (shown[at][0], shown[at][1] + _is_shown(run, answer))
    total = sum(count for _, count in shown)
    return tuple((answer, count / total) for answer, count in shown) if total else ()


def outcome_potential(
    believer: AnswerProbability, task: Task, run: TrajectoryRow, modes: Sequence[tuple[str, float]]
) -> tuple[float | None, ...]:
    """After 0, 1, ... turns: the reliability of the modes, weighted by how probable the policy holds each. Empty where
    fewer than two modes are known, between which no turn can decide."""
    if len(modes) < 2:
        return ()
    held = [believer.after(run, answer) for answer, _ in modes]
    return tuple(_expected(seen, [weight for _, weight in modes]) for seen in zip(*held, strict=True))


def _expected(held: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [value for value in held if value is not None]
    total = math.fsum(known)
    if len(known) < len(held) or not total:
        return None
    return math.fsum(value * weight for value, weight in zip(known, weights, strict=True)) / total


def _same(task: Task, one: str, other: str) -> bool:
    bare = {"answer": one, "answer_aliases": (), "answer_parts": ()}
    return one == other or check_task(task.model_copy(update=bare), other).correct is True


def _is_shown(run: TrajectoryRow, answer: str) -> bool:
    _, history = history_of(run)
    return any(words_of(answer) in words_of(result.content) for step in history for result in step.results)
