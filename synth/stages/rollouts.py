"""Let an agent work on every task, and record all that it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from synth.agents.contract import Policy, TurnRejected
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.management import Acting, Management
from synth.agents.reflection import NoReflection, Reflector, retry_system
from synth.agents.summaries import Summaries, Summarizer, Summarizing
from synth.agents.trajectory import injected_rows, to_row
from synth.environments.contract import Environment
from synth.identity import canonical_json, digest
from synth.prompting import load_prompt
from synth.schemas.details import details_with
from synth.schemas.injected import InjectedError
from synth.schemas.reflections import Reflected
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role, TrajectoryRow
from synth.stages.contract import Context, Implementation, Outcome, RowStage, StageConfig

__all__ = [
    "Rollouts",
    "RolloutsConfig",
    "SummariesConfig",
]


class SummariesConfig(StageConfig):
    shown: Summaries = Summaries()
    """Which observations, and how short."""
    summarizer: Implementation
    """Who writes them."""


class RolloutsConfig(StageConfig):
    role: Role
    """Whom the agent plays: ``teacher`` makes good trajectories, ``policy`` is the model to improve."""
    policy: Implementation
    """Makes the policy: the factory takes the task beside its options."""
    environment: Implementation
    """Makes the environment: the factory takes the stage's inputs beside its options."""
    prompt: str = "agents/search"
    """The system prompt's file, without its version."""
    prompt_version: int
    prompt_sha256: str
    """Version and hash of the file: a build never takes another one silently."""
    limits: Limits = Limits()
    rollouts: int = Field(default=1, ge=1, le=1000)
    """Samples per task."""
    summaries: SummariesConfig | None = None
    """Long observations that the agent reads as summaries; the trajectory holds both. None = it reads all in full."""
    management: Management | None = None
    """Actions beside the environment's tools. None = none."""
    reflector: Implementation | None = None
    """Who says what went wrong in a failed run, which is then tried once more. None = a run is tried once."""


@dataclass
class _Made:
    """What came of a task so far."""

    kept: list[TrajectoryRow]
    rejected: list[Rejection]
    injected: list[InjectedError]


class Rollouts(RowStage[RolloutsConfig, Task]):
    """Each sample draws from (seed, stage, task, role, sample, turn), so order and workers change nothing.

    A task is kept with the samples that came to an end. One that a model cut short (it refused, its reply was cut off,
    ...) is rejected with the reason, beside them; a task of which none is left is rejected."""

    name = "rollouts"
    version = 45
    config_type = RolloutsConfig
    reads = ("tasks",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"rollouts": TrajectoryRow, "injected_errors": InjectedError}
    sealed: ClassVar[frozenset[str]] = frozenset({"injected_errors"})
    over = "tasks"
    libraries = ("numpy",)

    def __init__(self, config: RolloutsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._environment: Environment = context.make(config.environment, inputs=context.inputs)
        self._summarizer: Summarizer | None = None
        if config.summaries is not None:
            self._summarizer = context.make(config.summaries.summarizer)
        self._reflector: Reflector | None = None
        if config.reflector is not None:
            self._reflector = context.make(config.reflector)
        prompt = load_prompt(config.prompt, config.prompt_version)
        if prompt.ref.sha256 != config.prompt_sha256:
            raise ValueError(f"prompt {prompt.ref} is not the one that was planned ({config.prompt_sha256})")
        self._system = prompt.render(instructions=self._environment.instructions())
        self._provenance = context.provenance.model_copy(update={**config.policy.origin(), "prompt": str(prompt.ref)})

    def process(self, row: Task) -> Outcome:
        made = _Made([], [], [])
        at = Acting(self._environment, self._policy(row), self.config.management, self._policy)
        for number in range(self.config.rollouts):
            done = self._rollout(at, row, self._system, self._turns(row, "rollout", number))
            first = self._take(made, at, done, number)
            if self._reflector is not None and first is not None and done.verdict.correct is False:
                self._retry(made, at, self._reflector, done, first)
        return Outcome(tuple(made.kept), tuple(made.rejected), {"injected_errors": tuple(made.injected)})

    def _rollout(
        self, at: Acting, task: Task, system: str, generator_for_turn: Callable[[int], np.random.Generator]
    ) -> Rollout:
        return rollout(
            at.policy,
            at.environment,
            task,
            system=system,
            limits=self.config.limits,
            generator_for_turn=generator_for_turn,
        )

    def _take(self, made: _Made, at: Acting, done: Rollout, number: int, **more: Any) -> TrajectoryRow | None:
        """Add what came of rollout ``number``; gives its row where there is one. ``more`` are further fields of it."""
        if done.rejected is not None:
            made.rejected.append(self._rejection(done, number, done.rejected))
            return None
        trajectory = to_row(
            done,
            at.environment,
            role=self.config.role,
            number=number,
            privileged=at.policy.privileged,
            provenance=self._provenance,
            model=self.config.policy.model_name,
        )
        details = details_with(trajectory.details, *more.pop("facts", ()))
        trajectory = trajectory.model_copy(update={**more, "details": details})
        made.kept.append(trajectory)
        made.injected += injected_rows(done, trajectory)
        self._note_summaries(done)
        return trajectory

    def _retry(self, made: _Made, at: Acting, reflector: Reflector, failed: Rollout, first: TrajectoryRow) -> None:
        """One more try of a failed run, with what a model says about it."""
        task, number = failed.task, self.config.rollouts + first.rollout
        try:
            reflection = reflector.reflect(failed, digest("reflection", first.id)[:32])
        except NoReflection as error:
            made.rejected.append(self._rejection(failed, number, error))
            return
        system = retry_system(self._system, reflection)
        done = self._rollout(at, task, system, self._turns(task, "retry", first.rollout))
        self._take(made, at, done, number, retry_of=first.id, facts=(Reflected(reflection=reflection),))

    def _policy(self, task: Task) -> Policy:
        policy: Policy = self.context.make(self.config.policy, task=task)
        if self._summarizer is None or self.config.summaries is None:
            return policy
        return Summarizing(policy, self._summarizer, self.config.summaries.shown)

    def _rejection(self, done: Rollout, number: int, error: TurnRejected | NoReflection) -> Rejection:
        task = done.task
        self.context.metrics.add("rejected_rollouts")
        calls = [f"{call.name} {canonical_json(call.arguments)}" for step in done.history for call in step.turn.calls]
        return Rejection(
            stage=self.name,
            row_id=task.id,
            reason=error.reason,
            detail=f"{self.config.role}, rollout {number}, {error.detail}"[:1000],
            split=task.split,
            part=number,
            preview="; ".join([task.question, *calls])[:500],
        )

    def _note_summaries(self, done: Rollout) -> None:
        for one in done.shown:
            self.context.metrics.add("missing_summaries" if one.text is None else "summaries")

    def _turns(self, task: Task, kind: str, number: int) -> Callable[[int], np.random.Generator]:
        return lambda turn: self.context.generator(task.id, self.config.role, kind, number, turn)
