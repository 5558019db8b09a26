"""How large the decoder is, and how long it is trained."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from synth.schemas.described import Described

__all__ = ["DecoderConfig", "TrainConfig"]


class DecoderConfig(Described):
    """Size of the decoder."""

    layers: int = Field(default=4, ge=1)
    """Blocks of attention and feed-forward."""
    dim: int = Field(default=96, ge=8)
    """Width of the residual stream."""
    heads: int = Field(default=4, ge=1)
    """Heads of attention; each has ``dim / heads`` numbers, an even number of them."""
    context: int = Field(default=512, ge=16)
    """Tokens of prompt and reply together."""

    @model_validator(mode="after")
    def _divides(self) -> DecoderConfig:
        if self.dim % (2 * self.heads):
            raise ValueError("dim must be a multiple of twice the number of heads")
        return self


class TrainConfig(Described):
    """How long and how fast is trained."""

    steps: int = Field(ge=1)
    """Updates of the weights."""
    batch: int = Field(default=32, ge=1)
    """Rows (or pairs) per update."""
    rate: float = Field(default=2e-3, gt=0)
    """Greatest learning rate; it rises over ``warmup`` and then falls as a cosine to a tenth."""
    matrix_rate: float = Field(default=0.0, ge=0)
    """Greatest learning rate of matrices under Muon (arXiv 2502.16982); 0 moves them by AdamW, as everything else."""
    warmup: float = Field(default=0.05, ge=0, lt=1)
    """Share of the steps in which the rate rises."""
    everything: bool = False
    """Every token is a target, not the agent's alone: how a model learns to read before it learns to act."""
    decay: float = Field(default=0.01, ge=0)
    """Weight decay (AdamW, arXiv 1711.05101)."""
    beta: float = Field(default=0.1, gt=0)
    """Of DPO."""
    anchor: float = Field(default=1.0, ge=0)
    """Weight of the log likelihood of the anchor's rows beside the loss on pairs."""
    every: int = Field(default=50, ge=1)
    """A checkpoint is written after so many steps."""
    shape: Literal["cosine", "constant"] = "cosine"
    """What the rate does behind the warm-up."""
