"""Tasks in an application: what the registry calls."""

from __future__ import annotations

from typing import Any

from synth.environments.app.environment import AppEnvironment
from synth.exploration.app.config import AppTasksConfig
from synth.exploration.app.drafts import same_request
from synth.exploration.app.propose import AppProposer
from synth.exploration.app.values import AppValues
from synth.exploration.proposer import TaskProposer
from synth.identity import versioned

__all__ = ["app_proposer"]


@versioned(1)
def app_proposer(*, environment: AppEnvironment, **knobs: Any) -> TaskProposer:
    """``knobs`` are those of :class:`AppTasksConfig`."""
    proposer = AppProposer(environment, AppTasksConfig.model_validate(knobs))
    changing = tuple(name for name, tool in environment.definition.tools.items() if tool.writes)
    return TaskProposer(proposer.propose, changing, AppValues(environment).of, same_request)
