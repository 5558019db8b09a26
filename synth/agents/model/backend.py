"""The backends ``openai`` and ``vllm``: what the registry calls to make a policy for one task."""

from __future__ import annotations

from typing import Any

from synth.agents.contract import Policy
from synth.agents.model.policy import ModelConfig, ModelPolicy
from synth.identity import versioned
from synth.models.contract import Model
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role

__all__ = ["model_policy"]


@versioned(1)
def model_policy(*, task: Task, role: Role, model: Model, **options: Any) -> Policy:
    """The agent that ``model`` plays, the same for every task and role: all that it knows is what it reads. ``options``
    are those of :class:`~synth.agents.model.policy.ModelConfig`.

    Raises:
        pydantic.ValidationError: an option that it does not have.
    """
    return ModelPolicy(model, ModelConfig(**options))
