"""Tasks at a wanted rate of success (the questioner of DARC, arXiv 2601.13761, by rule).

A policy's success on an earlier dataset is fitted on the structure of its tasks (:mod:`synth.tasks.difficulty`), and of
the candidates those are accepted of which the model predicts a rate within the band. So hops, constraints, shapes and
obfuscation shift until tasks are as hard as is wanted, before anybody runs on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from synth.identity import versioned
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.tasks.difficulty import SuccessModel, measures, predict

__all__ = ["AimFilter"]


@versioned(1)
class AimFilter:
    """A filter of tasks: within ``low`` and ``high`` by ``model``, as :meth:`SuccessModel.plain` gives it."""

    def __init__(self, *, low: float, high: float, model: Mapping[str, Any]) -> None:
        self._low, self._high, self._model = low, high, SuccessModel.of(model)

    def look(self, tasks: Sequence[Task]) -> list[tuple[Reason, str] | None]:
        """Of each task: None, or that it is too easy or too hard."""
        found: list[tuple[Reason, str] | None] = []
        for task in tasks:
            rate = float(predict(self._model, np.stack([measures(task)]))[0])
            wanted = f"{self._low:g} to {self._high:g}"
            fits = self._low <= rate <= self._high
            found.append(None if fits else (Reason.OUTSIDE_BAND, f"predicted success {rate:.2f}; wanted {wanted}"))
        return found
