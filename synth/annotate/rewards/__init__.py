"""Rewards for reinforcement learning: a pure function, its adapters for trainers, and a small server."""

from synth.annotate.rewards.adapters import compute_score, compute_scores, trl_reward
from synth.annotate.rewards.reward import (
    RULES,
    Reward,
    Rule,
    checklist_rewards,
    cited_rewards,
    group_rewards,
    reward,
    stage_rewards,
)
from synth.annotate.rewards.truth import ground_truth, read_truth

__all__ = [
    "RULES",
    "Reward",
    "Rule",
    "checklist_rewards",
    "cited_rewards",
    "compute_score",
    "compute_scores",
    "ground_truth",
    "group_rewards",
    "read_truth",
    "reward",
    "stage_rewards",
    "trl_reward",
]
