"""Drawing turns from a tiny decoder, many conversations at once, with a cache of keys and values.

A draw depends on the prompt and on the name of the sample, not on what else is in the batch: each place has a number of
its own, by which the distribution is cut. (Sums of floating point may differ in the last digit with the shape of the
batch; a draw that falls on such a border is the one thing that can come out otherwise.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.efficacy.lazy import torch
from synth.efficacy.model import Cache, Weights, hidden_states, logits
from synth.efficacy.sizes import DecoderConfig
from synth.efficacy.words import AGENT, END, PAD, TOOL, USER
from synth.identity import derive_generator

__all__ = ["Drawn", "Wanted", "draw", "draw_uncached"]


@dataclass(frozen=True)
class Wanted:
    """A turn that is to be drawn."""

    prompt: tuple[int, ...]
    """Ids up to and with ``<agent>``."""
    slots: frozenset[int]
    """Slots that stand for a word of the conversation: no other can be drawn."""
    sample: str
    """Names the sample: equal names and prompts, equal draws."""
    most: int = 64
    """Tokens of the turn at most."""
    temperature: float = 1.0
    """0 takes the most likely token."""


@dataclass(frozen=True)
class Drawn:
    """A turn."""

    ids: tuple[int, ...]
    """Without the ``<end>``."""
    ended: bool
    """False where it was cut off by a limit."""


def draw(
    weights: Weights, decoder: DecoderConfig, first_slot: int, wanted: Sequence[Wanted], *, chunk: int = 64
) -> list[Drawn]:
    """The turns, in order; at most ``chunk`` of them are drawn at a time, those of like length together.

    Raises:
        ValueError: a prompt fills the context.
    """
    longest = max((len(one.prompt) for one in wanted), default=0)
    if longest >= decoder.context:
        raise ValueError(f"a prompt has {longest} tokens, the context {decoder.context}")
    order = sorted(range(len(wanted)), key=lambda number: len(wanted[number].prompt))
    found: dict[int, Drawn] = {}
    with torch.no_grad():
        for start in range(0, len(order), chunk):
            some = order[start : start + chunk]
            drawn = _batch(weights, decoder, first_slot, [wanted[number] for number in some])
            found.update(zip(some, drawn, strict=True))
    return [found[number] for number in range(len(wanted))]


def _batch(weights: Weights, decoder: DecoderConfig, first_slot: int, wanted: Sequence[Wanted]) -> list[Drawn]:
    length = torch.tensor([len(one.prompt) for one in wanted])
    widest = int(length.max())
    room = [min(one.most, decoder.context - len(one.prompt)) for one in wanted]
    ids = torch.full((len(wanted), widest), PAD)
    for number, one in enumerate(wanted):
        ids[number, : len(one.prompt)] = torch.tensor(one.prompt)
    hidden, made = hidden_states(weights, decoder, ids)
    last = hidden[torch.arange(len(wanted)), length - 1]
    cache = _with_room(made, widest + max(room))
    points, allowed = _points(wanted, max(room)), _allowed(weights, first_slot, wanted)
    heat = torch.tensor([one.temperature for one in wanted], dtype=torch.float64)
    turns: list[list[int]] = [[] for _ in wanted]
    ended = [False] * len(wanted)
    past = length.clone()
    at = torch.arange(len(wanted))
    before = ids[at, length - 1]
    for place in range(max(room)):
        chosen = _choose(logits(weights, last).double() + allowed, heat, points[:, place])
        for number, one in enumerate(chosen.tolist()):
            if ended[number] or len(turns[number]) == room[number]:
                continue
            if one == END:
                ended[number] = True
            else:
                turns[number].append(one)
        if all(end or len(turn) == most for end, turn, most in zip(ended, turns, room, strict=True)):
            break
        seen = int(past.max())
        view: Cache = [(key[:, :, :seen], value[:, :, :seen]) for key, value in cache]
        hidden, made = hidden_states(weights, decoder, chosen.unsqueeze(1), cache=view, past=past, before=before)
        before = chosen
        last = hidden[:, 0]
        for (keys, values), (key, value) in zip(cache, made, strict=True):
            keys[at, :, past], values[at, :, past] = key[:, :, 0], value[:, :, 0]
        past = torch.clamp(past + 1, max=widest + max(room) - 1)  # rows that are over go on unread
    return [Drawn(tuple(turn), end) for turn, end in zip(turns, ended, strict=True)]


def draw_uncached(weights: Weights, decoder: DecoderConfig, first_slot: int, one: Wanted) -> Drawn:
    """The same turn with every place computed anew: what :func:`draw` is tested against."""
    ids = list(one.prompt)
    points, allowed = _points([one], one.most), _allowed(weights, first_slot, [one])
    heat = torch.tensor([one.temperature], dtype=torch.float64)
    turn: list[int] = []
    for place in range(min(one.most, decoder.context - len(one.prompt))):
        with torch.no_grad():
            hidden, _ = hidden_states(weights, decoder, torch.tensor([ids]))
            scores = logits(weights, hidden[:, -1]).double() + allowed
        chosen = int(_choose(scores, heat, points[:, place])[0])
        if chosen == END:
            return Drawn(tuple(turn), True)
        turn.append(chosen)
        ids.append(chosen)
    return Drawn(tuple(turn), False)


def _with_room(made: Cache, places: int) -> Cache:
    grown: Cache = []
    for key, value in made:
        batch, heads, width, size = key.shape
        keys, values = torch.zeros(2, batch, heads, places, size)
        keys[:, :, :width], values[:, :, :width] = key, value
        grown.append((keys, values))
    return grown


def _points(wanted: Sequence[Wanted], most: int) -> Any:
    """``(rows, most)`` float64 in [0, 1): where each place of each row cuts its distribution."""
    rows = [derive_generator(0, "draw", one.sample, *one.prompt[-64:]).random(most) for one in wanted]
    return torch.from_numpy(np.stack(rows))


def _allowed(weights: Weights, first_slot: int, wanted: Sequence[Wanted]) -> Any:
    """``(rows, vocabulary)``: 0 where a token may be drawn, else minus infinity."""
    table = torch.zeros(len(wanted), weights["embedding"].shape[0], dtype=torch.float64)
    table[:, [PAD, USER, TOOL, AGENT]] = -torch.inf
    table[:, first_slot:] = -torch.inf
    for number, one in enumerate(wanted):
        table[number, sorted(one.slots)] = 0.0
    return table


def _choose(scores: Any, heat: Any, points: Any) -> Any:
    """``(rows,)`` ids: by the inverse of the cumulated distribution; at temperature 0 the best, of equals the first."""
    safe = torch.where(heat > 0, heat, torch.ones_like(heat)).unsqueeze(1)
    shares = torch.softmax(scores / safe, dim=-1)
    drawn = (shares.cumsum(-1) <= points.unsqueeze(1) * (1 - 1e-12)).sum(-1).clamp(max=scores.shape[1] - 1)
    return torch.where(heat > 0, drawn, scores.argmax(-1))
