"""The reward of a rollout: what the environment found, and for a right answer the rubric that the text names."""

from __future__ import annotations

from synth.annotate.rewards.reward import Reward
from synth.schemas.trajectories import Verdict

__all__ = ["combined"]


def combined(verdict: Verdict, text: Reward | None = None) -> float | None:
    """One reward in [0, 1]; None where neither could tell.

    The environment's verdict decides, on the state and, where an answer is asked for, on that too. For a right answer
    the rubric weighs as it does without an environment (:mod:`synth.annotate.rewards.reward`); a task that is judged by
    its state has no part of a reward, it is done or not.

    Args:
        text: What the rules found in the response's text; None where it is not known.
    """
    if verdict.correct is None:
        return None
    if not verdict.correct:
        return 0.0
    return 1.0 if text is None or text.value is None else text.value
