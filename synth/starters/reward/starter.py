"""The reward `starter`: what a trainer gets for each response to a task. This one likes short right answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.annotate.rewards import read_truth
from synth.identity import versioned

__all__ = ["reward"]


@versioned(1)  # raise it when its values change
def reward(responses: Sequence[str], truth: Any, **more: Any) -> list[float]:
    """One value from 0 to 1 for each response; ``truth`` is the ground truth of the task's row."""
    answer = read_truth(truth).answer
    return [min(1.0, len(answer) / len(text)) if answer in text else 0.0 for text in responses]
