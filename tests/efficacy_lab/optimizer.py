"""What moves the weights: AdamW (arXiv 1711.05101), and Muon (arXiv 2502.16982) for matrices where it is asked for.

Muon moves a matrix by its momentum with all singular values made alike. A decoder that starts from nothing learns
a few thousand rows in about half the steps; what goes on from a trained model is moved by AdamW alone.
"""

from __future__ import annotations

import math
from typing import Any

from efficacy_lab.lazy import torch
from efficacy_lab.model import Weights
from efficacy_lab.sizes import TrainConfig

__all__ = ["Optimizer", "orthogonal"]

_MOMENTUM = 0.95
_CLIP = 1.0
"""Greatest norm of all gradients together."""


class Optimizer:
    """Moves ``weights`` in place."""

    def __init__(self, weights: Weights, config: TrainConfig) -> None:
        self._weights, self._config = weights, config
        # The table of words is not a map from one space into another: it stays with AdamW.
        self._muon = [
            key for key, tensor in weights.items() if config.matrix_rate and tensor.ndim > 1 and key != "embedding"
        ]
        self._momentum = {key: torch.zeros_like(weights[key]) for key in self._muon}
        others = [tensor for key, tensor in weights.items() if key not in self._momentum]
        groups = [
            {"params": [tensor for tensor in others if tensor.ndim > 1], "weight_decay": config.decay},
            {"params": [tensor for tensor in others if tensor.ndim == 1], "weight_decay": 0.0},
        ]
        self._adamw = torch.optim.AdamW(groups, lr=config.rate, betas=(0.9, 0.98))

    def step(self, loss: Any, pace: float) -> None:
        """One update; ``pace`` is the share of the greatest rate."""
        self._adamw.zero_grad(set_to_none=True)
        for key in self._muon:
            self._weights[key].grad = None
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self._weights.values()), _CLIP)
        for group in self._adamw.param_groups:
            group["lr"] = self._config.rate * pace
        self._adamw.step()
        rate = self._config.matrix_rate * pace
        with torch.no_grad():
            for key in self._muon:
                tensor, momentum = self._weights[key], self._momentum[key]
                momentum.mul_(_MOMENTUM).add_(tensor.grad)
                moved = orthogonal(tensor.grad + _MOMENTUM * momentum)
                tensor.mul_(1 - rate * self._config.decay)
                tensor.add_(moved, alpha=-rate * math.sqrt(max(1.0, tensor.shape[0] / tensor.shape[1])))

    def state_dict(self) -> dict[str, Any]:
        """All that a later process needs."""
        return {"adamw": self._adamw.state_dict(), "momentum": self._momentum}

    def load_state_dict(self, held: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""
        self._adamw.load_state_dict(held["adamw"])
        for key, tensor in held["momentum"].items():
            self._momentum[key].copy_(tensor)


def orthogonal(matrix: Any) -> Any:
    """``(rows, columns)`` with the same singular vectors and singular values near 1 (between 0.6 and 1.3).

    Five steps of a Newton-Schulz iteration; its coefficients are those of arXiv 2502.16982, section 2.1.
    """
    found = matrix / (matrix.norm() + 1e-7)
    wide = found.shape[0] <= found.shape[1]
    found = found if wide else found.T
    for _ in range(5):
        square = found @ found.T
        found = 3.4445 * found + (-4.7750 * square + 2.0315 * square @ square) @ found
    return found if wide else found.T
