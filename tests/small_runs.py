"""Rollouts of an agent on one task, as tests want them: by a seed and names, with nothing else to say."""

from __future__ import annotations

from typing import Any

from synth.agents.contract import Policy
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.trajectory import to_row
from synth.environments.contract import Environment
from synth.identity import derive_generator
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE

__all__ = ["play", "recorded"]


def play(
    policy: Policy,
    environment: Environment,
    task: Task,
    *names: str | int,
    seed: int,
    system: str = "s",
    limits: Limits | None = None,
    **more: Any,
) -> Rollout:
    """A rollout whose turns draw from ``seed``, the task's id, ``names`` and the number of the turn."""
    return rollout(
        policy,
        environment,
        task,
        system=system,
        limits=limits or Limits(),
        generator_for_turn=lambda turn: derive_generator(seed, task.id, *names, turn),
        **more,
    )


def recorded(
    done: Rollout, environment: Environment, role: Any = "policy", number: int = 0, *, privileged: bool = False
) -> TrajectoryRow:
    """The row of a rollout."""
    return to_row(done, environment, role=role, number=number, privileged=privileged, provenance=PROVENANCE)
