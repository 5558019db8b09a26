"""A teacher that errs: ``module:function`` for ``roles.teacher.backend`` in a plan.

The scripted teacher knows the walk and never fails in a graph, so that checks of its runs have nothing to take out. A
model fails; so does this one, by what it can see.
"""

from __future__ import annotations

from typing import Any

from synth.agents.contract import Policy
from synth.agents.scripted.players import scripted_policy
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role

__all__ = ["erring"]


def erring(*, task: Task, role: Role, language: str = "docs", **options: Any) -> Policy:
    """The scripted policy, which knows the question alone, in any ``role``; ``options`` as for ``roles.policy``.

    Raises:
        pydantic.ValidationError: an option that the policy does not have.
    """
    return scripted_policy(task=task, role="policy", language=language, **options)
