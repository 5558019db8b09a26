"""Rollouts of trainers in our environments: adapters for TRL and verl, in this process or over HTTP.

What a task wants is judged where it was done: the environment steps the calls of a rollout, and its verdict is the
reward. So tasks that are judged by their state (``judged_by``) can be trained on, which no reward function that reads
texts allows.
"""

from synth.training.episodes import Episodes, open_episodes
from synth.training.scoring import combined
from synth.training.trl import TrlEnvironment, TrlEnvironments, environment_reward

__all__ = [
    "Episodes",
    "TrlEnvironment",
    "TrlEnvironments",
    "combined",
    "environment_reward",
    "open_episodes",
]
