"""A tiny decoder in plain torch: weights are a dict of tensors, everything else is a function of them.

Pre-norm transformer with rotary positions (arXiv 2104.09864), RMS norms (arXiv 1910.07467) and tied embeddings: what is
copied, which is most of an agent's turn, then needs no second table of the words. Each place also sees the word
before it (token shift, arXiv 2305.13048), so that copying what followed an earlier mention takes one layer and not two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from efficacy_lab.lazy import functional, tensor_of, torch
from efficacy_lab.sizes import DecoderConfig
from synth.identity import derive_generator

__all__ = ["Cache", "Weights", "count", "fresh", "hidden_states", "logits"]

Weights: TypeAlias = dict[str, Any]
"""Name -> float32 tensor."""
Cache: TypeAlias = list[tuple[Any, Any]]
"""Per layer (keys, values), each ``(batch, heads, places, dim / heads)``."""
_EPSILON = 1e-6


def fresh(config: DecoderConfig, vocabulary: int, seed: int) -> Weights:
    """Weights before any training, drawn from ``seed`` alone."""
    generator = derive_generator(seed, "decoder")
    dim = config.dim

    def drawn(*shape: int, scale: float) -> Any:
        return tensor_of(generator.normal(0.0, scale, shape).astype(np.float32))

    weights: Weights = {
        "embedding": drawn(vocabulary, dim, scale=0.04),
        "shift": drawn(dim, dim, scale=dim**-0.5),
        "norm": torch.ones(dim),
    }
    inner = dim**-0.5
    residual = inner / math.sqrt(2 * config.layers)  # so that the stream does not grow with depth
    for layer in range(config.layers):
        weights[f"{layer}.norm1"] = torch.ones(dim)
        weights[f"{layer}.qkv"] = drawn(3 * dim, dim, scale=inner)
        weights[f"{layer}.out"] = drawn(dim, dim, scale=residual)
        weights[f"{layer}.norm2"] = torch.ones(dim)
        weights[f"{layer}.up"] = drawn(4 * dim, dim, scale=inner)
        weights[f"{layer}.down"] = drawn(dim, 4 * dim, scale=residual / 2)
    return weights


def count(weights: Mapping[str, Any]) -> int:
    """Number of parameters."""
    return sum(tensor.numel() for tensor in weights.values())


def hidden_states(
    weights: Weights,
    config: DecoderConfig,
    ids: Any,
    *,
    cache: Cache | None = None,
    past: Any = None,
    before: Any = None,
) -> tuple[Any, Cache]:
    """What the decoder makes of ``ids`` ``(batch, places)`` int64: ``(batch, places, dim)`` and all keys and values.

    Args:
        cache: Keys and values of what came before, and room for the new ones, which are written into it.
        past: ``(batch,)`` int64, how many places of ``cache`` are real in each row; the new places follow these.
        before: ``(batch,)`` int64, with ``cache``: the id before the first new place; not read where that is place 0.

    Without ``cache``, rows start at place 0; padding stands on the right, where nothing real can see it.
    """
    batch, places = ids.shape
    at = torch.arange(places).unsqueeze(0).expand(batch, -1)
    mask = None
    if cache is not None:
        at = at + past.unsqueeze(1)
        seen = int(past.max()) + places  # what lies behind is nobody's
        mask = (torch.arange(seen) <= at.unsqueeze(-1)).unsqueeze(1)
        row = torch.arange(batch).unsqueeze(1)
    turn = _rotation(at, config.dim // config.heads)
    words = weights["embedding"][ids]
    first = words.new_zeros(batch, 1, config.dim)
    if before is not None:
        first = (weights["embedding"][before] * (past > 0).unsqueeze(1)).unsqueeze(1)  # nothing is before place 0
    stream = words + torch.cat([first, words[:, :-1]], dim=1) @ weights["shift"].T
    made: Cache = []
    for layer in range(config.layers):
        normed = _norm(stream, weights[f"{layer}.norm1"])
        qkv = (normed @ weights[f"{layer}.qkv"].T).view(batch, places, 3, config.heads, -1)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        query, key = _rotate(query, turn), _rotate(key, turn)
        if cache is not None:
            keys, values = cache[layer]
            keys[row, :, at] = key.transpose(1, 2)
            values[row, :, at] = value.transpose(1, 2)
            key, value = keys[:, :, :seen], values[:, :, :seen]
        made.append((key, value))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=cache is None)
        stream = stream + mixed.transpose(1, 2).reshape(batch, places, -1) @ weights[f"{layer}.out"].T
        normed = _norm(stream, weights[f"{layer}.norm2"])
        stream = stream + functional.gelu(normed @ weights[f"{layer}.up"].T) @ weights[f"{layer}.down"].T
    return _norm(stream, weights["norm"]), made


def logits(weights: Weights, hidden: Any) -> Any:
    """``(..., dim)`` -> ``(..., vocabulary)``."""
    return hidden @ weights["embedding"].T


def _norm(stream: Any, scale: Any) -> Any:
    return stream * torch.rsqrt(stream.pow(2).mean(-1, keepdim=True) + _EPSILON) * scale


def _rotation(at: Any, size: int) -> tuple[Any, Any]:
    """(cosines, sines), each ``(batch, 1, places, size / 2)``."""
    rates = 10_000.0 ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    angles = at.unsqueeze(1).unsqueeze(-1) * rates
    return angles.cos(), angles.sin()


def _rotate(states: Any, turn: tuple[Any, Any]) -> Any:
    cosines, sines = turn
    first, second = states.chunk(2, dim=-1)
    return torch.cat([first * cosines - second * sines, first * sines + second * cosines], dim=-1)
