"""Functions of the user's that a recipe names as ``module:function``: a reward, a judge."""

from __future__ import annotations

from synth.own_code import source_of
from synth.pipelines.collaborators import named
from synth.stages.contract import Implementation

__all__ = ["own_rater", "reward_of"]


def reward_of(name: str) -> Implementation:
    """The reward that rows name.

    Raises:
        InputError: there is no such reward, or a user's function can't be imported.
    """
    if ":" not in name:
        return named("rewards", name, {})
    return Implementation(kind="own", factory=name, versions={"source": source_of(name, "reward")})


def own_rater(place: str) -> Implementation:
    """Who rates runs, where ``roles.judge.backend`` names a function of the user's.

    Raises:
        InputError: it can't be imported.
    """
    made = named("raters", "own", {"function": place}, source=source_of(place, "roles.judge.backend"))
    return made.model_copy(update={"kind": place})
