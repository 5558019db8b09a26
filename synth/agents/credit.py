"""How much the items of a checklist weigh (CM2, arXiv 2602.12268)."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["credit_of", "weights_of"]

_ENDS = ("state", "answer")


def weights_of(kinds: Sequence[str]) -> tuple[float, ...]:
    """Weights of items that sum up to 1: half on how a run ends, half on the way there, items of one half alike. Where
    there is one half only, it has all."""
    halves = [sum((kind in _ENDS) is ends for kind in kinds) for ends in (True, False)]
    share = 0.5 if all(halves) else 1.0
    return tuple(share / halves[kind not in _ENDS] for kind in kinds)


def credit_of(weights: Sequence[float], met: Sequence[bool | None]) -> float | None:
    """Share of the weight that the items met have; None if there are none, or if one can't be decided."""
    if not met or None in met:
        return None
    return math.fsum(weight for weight, yes in zip(weights, met, strict=True) if yes) / math.fsum(weights)
