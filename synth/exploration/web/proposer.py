"""Tasks on a web site, walked, made minimal, replayed and put into words: what the registry calls."""

from __future__ import annotations

from collections.abc import Mapping

from synth.environments.web.environment import WebEnvironment
from synth.errors import InputError
from synth.exploration.proposer import TaskProposer
from synth.exploration.web.config import WebTasksConfig
from synth.exploration.web.propose import WebProposer
from synth.identity import versioned
from synth.tasks.draft import same_question
from synth.tasks.writing.requests import values_of

__all__ = ["web_proposer"]


@versioned(1)
def web_proposer(
    *,
    environment: WebEnvironment,
    fractions: Mapping[str, float],
    kinds: Mapping[str, float],
    writes: Mapping[str, float],
    attempts: int,
) -> TaskProposer:
    """
    Args:
        fractions: Share of the site's starts that each split owns.
        kinds: Weights of ``done`` and ``answered``.
        writes: Weights of how many changes a task wants.
        attempts: Walks from which a candidate may come before it is given up.

    Raises:
        InputError: the kinds can't be used.
    """
    weights = {kind: kinds.get(kind, 0.0) for kind in ("done", "answered")}
    if sum(weights.values()) <= 0:
        raise InputError("on web sites there are the kinds done and answered", where="questions.kinds")
    values = {"fractions": fractions, "kinds": weights, "changes": writes, "attempts": attempts}
    proposer = WebProposer(environment, WebTasksConfig.model_validate(values))
    # Every step but a look changes the page.
    changing = tuple(tool.name for tool in environment.tools() if tool.name != "read")
    others = values_of(environment.definition.texts())
    return TaskProposer(proposer.propose, changing, lambda draft: others, same_question)
