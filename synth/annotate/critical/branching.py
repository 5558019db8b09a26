"""Continuations from a step of a recorded trajectory, in any environment.

The recorded calls are made once more on a fresh episode. Every observation must equal the recorded one; where one does
not, that step and all later ones are refused with a reason. The state before each step is kept as a snapshot, and each
continuation restores one, puts its turn there and lets the policy go on.

A continuation draws from ``("branch", trajectory, step, side, alternative, sample, turn)``. Rollouts draw from names
that begin with a task id, so a failed run is never its own control.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from synth.agents.contract import Decision, History, Policy, Prompt, Turn
from synth.agents.loop import Limits, prompt_for, rollout
from synth.agents.trajectory import facts_of, history_of, step_items
from synth.annotate.critical.actions import action_kind
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.contract import Point
from synth.environments.contract import Environment, Episode, Snapshot, ToolResult
from synth.identity import digest
from synth.schemas.adp import ContentItem
from synth.schemas.model_turns import ModelTurn
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.steps import ContinuationRow, Side
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow, Verdict

__all__ = [
    "BranchPoint",
    "Branching",
    "Continuation",
    "Generators",
    "Refusal",
    "Refused",
    "continuation_row",
]

Generators = Callable[..., np.random.Generator]
"""``generator(*names)``: the same names give the same generator, other names an independent one."""


class Refusal(StrEnum):
    """Why a trajectory, or what follows one of its steps, can't be branched from."""

    MALFORMED = "malformed"
    """The record is not of the form that rollouts have."""
    OTHER_TASK = "other_task"
    """It was made for another task."""
    OTHER_ENVIRONMENT = "other_environment"
    """It was made in another environment, or in another version of it."""
    OTHER_PROMPT = "other_prompt"
    """The question or the tools were not those that the environment shows now."""
    OTHER_OBSERVATION = "other_observation"
    """A call answers otherwise than it did when it was recorded."""


class Refused(Row):
    """No branch from step ``step`` or any later one."""

    reason: Refusal
    step: int
    """The first step that is refused; 0 = the whole trajectory."""
    detail: str


@dataclass(frozen=True, order=True)
class BranchPoint:
    """Where a continuation starts: the turn that is put at ``step``.

    ``step`` -1 on the original side is the question alone: nothing is put there, the policy acts from the beginning.
    The original side of step ``s`` so stands for the recorded prefix of ``s + 1`` steps.
    """

    step: int
    side: Side
    alternative: int = -1


class Continuation(Row):
    """What came of one continuation."""

    step: int
    side: Side
    alternative: int
    """-1 on the original side."""
    sample: int
    action_kind: str
    """Kind of the first action; ``none`` where the policy came to no first turn."""
    content: tuple[ContentItem, ...]
    """The turn that was put there, and all that followed, as ADP items."""
    success: bool
    verdict: Verdict
    answer: str | None
    stop_reason: StopReason
    turns: int
    """The turn that was put there included."""
    rejected: Reason | None = None
    """Why it was cut short, where a model came to no turn: it counts neither as a success nor as a failure."""
    proposal: ModelTurn | None = None
    """Where the turn that was put there comes from, when a model proposed it."""
    model_turns: tuple[ModelTurn, ...] = ()
    """Where the policy's own turns come from, of a model's."""

    @property
    def place(self) -> BranchPoint:
        return BranchPoint(self.step, self.side, self.alternative)


class Branching:
    """A trajectory that has been replayed, with the state before each of its steps."""

    def __init__(
        self,
        row: TrajectoryRow,
        task: Task,
        environment: Environment,
        prompt: Prompt,
        history: History,
        config: CriticalConfig,
    ) -> None:
        """Use :meth:`open`, which refuses what can't be replayed."""
        self.row = row
        self.task = task
        self.environment = environment
        self.prompt = prompt
        self.history = history
        self.config = config
        self.refused: Refused | None = None
        """Why steps from ``replayed`` on can't be branched from; None when all can."""
        self._episode: Episode = environment.resume(task, facts_of(row))
        self._states: list[Snapshot] = []
        for number, step in enumerate(history):
            self._states.append(self._episode.snapshot())
            for call, recorded in zip(step.turn.calls, step.results, strict=False):
                now = self._episode.step(call)
                if not environment.same(now, recorded):
                    detail = f"{call.name} of step {number} gives {_difference(now, recorded)}"
                    self.refused = Refused(reason=Refusal.OTHER_OBSERVATION, step=number, detail=detail)
                    return
        self._states.append(self._episode.snapshot())

    @classmethod
    def open(
        cls, row: TrajectoryRow, task: Task, environment: Environment, config: CriticalConfig
    ) -> Branching | Refused:
        """Replay ``row``. Bad data never raises: it is refused with a reason."""
        if row.task_id != task.id:
            return Refused(reason=Refusal.OTHER_TASK, step=0, detail=f"it is of {row.task_id}, not of {task.id}")
        theirs, ours = (row.environment, row.environment_version), (environment.name, environment.version)
        if theirs != ours:
            detail = f"it was made in {' '.join(theirs)}, this is {' '.join(ours)}"
            return Refused(reason=Refusal.OTHER_ENVIRONMENT, step=0, detail=detail)
        try:
            prompt, history = history_of(row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            detail = f"{type(error).__name__}: {error}"
            return Refused(reason=Refusal.MALFORMED, step=0, detail=detail)
        problem = _shape(history)
        if problem is not None:
            return Refused(reason=Refusal.MALFORMED, step=0, detail=problem)
        now = prompt_for(environment, task, prompt.system)
        if now != prompt:
            what = "question" if now.question != prompt.question else "tools"
            detail = f"the {what} that was recorded is not what the environment shows"
            return Refused(reason=Refusal.OTHER_PROMPT, step=0, detail=detail)
        return cls(row, task, environment, prompt, history, config)

    @property
    def steps(self) -> int:
        """Steps 0 to ``steps - 1`` can be branched from, on both sides."""
        return len(self.history) if self.refused is None else self.refused.step

    def point(self, step: int) -> Point:
        facts = facts_of(self.row)
        return Point(self.task, self.environment, self.prompt, self.history[:step], self.history[step].turn, facts)

    def close(self) -> None:
        self._episode.close()

    def run(
        self,
        policy: Policy,
        place: BranchPoint,
        turn: Turn | None,
        sample: int,
        generator: Generators,
        proposal: ModelTurn | None = None,
    ) -> Continuation:
        """Continuation ``sample`` from ``place``. ``turn`` is what is put there, None at the question alone;
        ``proposal`` says where it comes from, when a model proposed it.

        Raises:
            ValueError: the step is refused, or the environment does not go back to a state that it was in.
        """
        at = max(place.step, 0)
        if place.step >= self.steps or (turn is None) != (place.step < 0):
            raise ValueError(f"{self.row.id}: no continuation from {place}")
        state = self._states[at]
        self._episode.restore(state)
        if self._episode.snapshot() != state:
            raise ValueError(f"{self.environment.name} does not restore the state before step {at} of {self.row.id}")
        limits = Limits(
            max_turns=max(at + 1, min(self.config.max_turns, place.step + 1 + self.config.max_more)),
            max_invalid=self.config.max_invalid,
            tokens=self.config.tokens,
            seconds=self.config.seconds,
        )
        done = rollout(
            policy if turn is None else _ForcedTurn(policy, turn, at),
            self.environment,
            self.task,
            system=self.prompt.system,
            limits=limits,
            generator_for_turn=lambda number: generator(
                "branch", self.row.id, place.step, place.side, place.alternative, sample, number
            ),
            history=self.history[:at],
            episode=self._episode,
        )
        tail = done.history[at:]
        return Continuation(
            step=place.step,
            side=place.side,
            alternative=place.alternative,
            sample=sample,
            action_kind=action_kind(tail[0].turn) if tail else "none",
            content=tuple(item for step in tail for item in step_items(step)),
            success=done.verdict.correct is True,
            verdict=done.verdict,
            answer=done.answer,
            stop_reason=done.stop_reason,
            turns=len(tail),
            rejected=done.rejected.reason if done.rejected is not None else None,
            proposal=proposal,
            model_turns=done.sources,
        )


class _ForcedTurn:
    """Takes a given turn at one place and leaves every other to the policy."""

    def __init__(self, policy: Policy, turn: Turn, at: int) -> None:
        self.privileged = policy.privileged
        self._policy = policy
        self._turn = turn
        self._at = at

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return Decision(self._turn) if len(history) == self._at else self._policy.act(prompt, history, generator)


def continuation_row(continuation: Continuation, row: TrajectoryRow, provenance: Provenance) -> ContinuationRow:
    """The row of the ``continuations`` table."""
    c = continuation
    body = [item.model_dump(mode="json") for item in c.content]
    return ContinuationRow(
        id=f"branch-{digest('branch', row.id, c.step, c.side, c.alternative, c.sample, body)[:16]}",
        trajectory_id=row.id,
        task_id=row.task_id,
        step=c.step,
        side=c.side,
        alternative=c.alternative,
        sample=c.sample,
        action_kind=c.action_kind,
        content=c.content,
        success=c.success,
        verdict=c.verdict,
        answer=c.answer,
        stop_reason=c.stop_reason,
        turns=c.turns,
        proposal=c.proposal,
        model_turns=c.model_turns,
        split=row.split,
        provenance=provenance,
    )


def _shape(history: History) -> str | None:
    """What is wrong with a history as such: only the last step may lack observations."""
    if not history:
        return "no step was recorded"
    for number, step in enumerate(history):
        last = number == len(history) - 1
        if len(step.results) != len(step.turn.calls) and not (last and not step.results):
            return f"step {number}: {len(step.turn.calls)} calls and {len(step.results)} observations"
        if not last and not step.turn.calls:
            return f"step {number} calls no tool and is not the last"
    return None


def _difference(now: ToolResult, recorded: ToolResult) -> str:
    if now.error != recorded.error:
        return f"{now.error or 'no error'} where {recorded.error or 'no error'} was recorded"
    if now.content == recorded.content:
        return "the same text with another page behind it"
    at = next((i for i, (x, y) in enumerate(zip(now.content, recorded.content, strict=False)) if x != y), None)
    at = min(len(now.content), len(recorded.content)) if at is None else at
    return f"{now.content[at : at + 40]!r} where {recorded.content[at : at + 40]!r} was recorded (character {at})"
