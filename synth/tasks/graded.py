"""Rewards of 1 to 5 for what was explored or run, and sampling by them (OS-Genesis, arXiv 2412.19723).

The paper's reward model rates coherence and completion, and draws with a chance proportional to the reward in place of
a hard filter. What rates is elsewhere; here is how two ratings become one reward, and a reward a chance.
"""

from __future__ import annotations

__all__ = ["chance_of", "reward_of"]


def reward_of(coherence: float, completion: float) -> float:
    """The reward, 1 to 5: the mean of both ratings, 1 to 5 each."""
    return round((coherence + completion) / 2, 4)


def chance_of(reward: float) -> float:
    """The chance with which something of this reward is taken, each by itself: proportional to the reward, and 1 for
    the best there is. So what is taken does not depend on what else there is."""
    return round(reward / 5, 4)
