"""Drawing turns from a tiny decoder, many conversations at once, with a cache of keys and values.

A draw depends on the prompt and on the name of the sample, not on what else is in the batch: each place has a number of
its own, by which the distribution is cut. (Sums of floating point may differ in the last digit with the shape of the
batch; a draw that falls on such a border is the one thing that can come out otherwise.)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from efficacy_lab.lazy import tensor_of, torch
from efficacy_lab.model import Cache, Weights, hidden_states, logits
from efficacy_lab.sizes import DecoderConfig
from efficacy_lab.words import AGENT, END, PAD, TOOL, USER
from synth.identity import derive_generator

__all__ = ["Drawn", "Prefixes", "Wanted", "draw", "draw_uncached"]


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


class Prefixes:
    """Keys and values of the prompts that were read last: the next turn's prompt begins with this one's, and several
    samples of one turn have the same, so most of a prompt is known when it comes."""

    def __init__(self, most: int = 256, room: int = 2**30) -> None:
        """``most`` prompts are kept, and more as long as all of them take no more than ``room`` bytes (of prompts of
        250 tokens at the sizes of the plan that ships, 1,400)."""
        self._most, self._room, self._taken = most, room, 0
        self._held: OrderedDict[tuple[int, ...], Cache] = OrderedDict()

    def longest(self, prompt: tuple[int, ...]) -> tuple[int, Cache]:
        """(places, keys and values ``(heads, places or more, size)``) of the longest known beginning; at least one
        place of the prompt is not in it."""
        for end in range(len(prompt), 0, -1):
            if prompt[end - 1] == AGENT and prompt[:end] in self._held:
                self._held.move_to_end(prompt[:end])
                return min(end, len(prompt) - 1), self._held[prompt[:end]]
        return 0, []

    def keep(self, prompt: tuple[int, ...], cache: Cache) -> None:
        """Keep what is known of ``prompt``: per layer ``(heads, places, size)`` twice, which nobody else writes to."""
        if not self._most:
            return
        self._taken += _bytes(cache) - _bytes(self._held.pop(prompt, []))
        self._held[prompt] = cache
        while len(self._held) > self._most and self._taken > self._room:
            self._taken -= _bytes(self._held.popitem(last=False)[1])


def _bytes(cache: Cache) -> int:
    return sum(part.numel() * part.element_size() for pair in cache for part in pair)


def draw(
    weights: Weights,
    decoder: DecoderConfig,
    first_slot: int,
    wanted: Sequence[Wanted],
    *,
    chunk: int = 64,
    prefixes: Prefixes | None = None,
) -> list[Drawn]:
    """The turns, in order; at most ``chunk`` of them are drawn at a time, those of like length together.

    Args:
        prefixes: Of these weights: what is known of prompts, and what will be.

    Raises:
        ValueError: a prompt fills the context.
    """
    longest = max((len(one.prompt) for one in wanted), default=0)
    if longest >= decoder.context:
        raise ValueError(f"a prompt has {longest} tokens, the context {decoder.context}")
    order = sorted(range(len(wanted)), key=lambda number: len(wanted[number].prompt))
    known = Prefixes(0) if prefixes is None else prefixes
    found: dict[int, Drawn] = {}
    with torch.no_grad():
        for start in range(0, len(order), chunk):
            some = order[start : start + chunk]
            drawn = _batch(weights, decoder, first_slot, [wanted[number] for number in some], known)
            found.update(zip(some, drawn, strict=True))
    return [found[number] for number in range(len(wanted))]


def _read(
    weights: Weights, decoder: DecoderConfig, prompts: Sequence[tuple[int, ...]], room: int, prefixes: Prefixes
) -> tuple[Any, Cache]:
    """Each prompt's last hidden state ``(batch, dim)``, and the keys and values with ``room`` places more."""
    known = {prompt: prefixes.longest(prompt) for prompt in prompts}  # what several rows ask is read once
    order = sorted(known, key=lambda prompt: len(prompt) - known[prompt][0])
    states: dict[tuple[int, ...], Any] = {}
    read: dict[tuple[int, ...], Cache] = {}
    while order:
        # Those of which about as much is new: one that is new as a whole would pad all that are nearly known.
        most = 2 * (len(order[0]) - known[order[0]][0]) + 8
        some = [prompt for prompt in order if len(prompt) - known[prompt][0] <= most]
        order = order[len(some) :]
        for prompt, (state, cache) in zip(some, _read_some(weights, decoder, some, known), strict=True):
            states[prompt], read[prompt] = state, cache
            prefixes.keep(prompt, cache)
    shape = (len(prompts), decoder.heads, max(map(len, prompts)) + room, decoder.dim // decoder.heads)
    whole: Cache = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(decoder.layers)]
    for row, prompt in enumerate(prompts):
        _put(whole, row, read[prompt], len(prompt))
    return torch.stack([states[prompt] for prompt in prompts]), whole


def _read_some(
    weights: Weights,
    decoder: DecoderConfig,
    prompts: Sequence[tuple[int, ...]],
    known: Mapping[tuple[int, ...], tuple[int, Cache]],
) -> list[tuple[Any, Cache]]:
    """Of each prompt the last hidden state, and its own keys and values."""
    past = torch.tensor([known[prompt][0] for prompt in prompts])
    length = torch.tensor([len(prompt) for prompt in prompts])
    new = int((length - past).max())
    # Room for the padding, too: behind what is known of a long prompt stands as much of it as of the newest.
    shape = (len(prompts), decoder.heads, int(past.max()) + new, decoder.dim // decoder.heads)
    cache: Cache = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(decoder.layers)]
    ids = torch.full((len(prompts), new), PAD)
    for row, prompt in enumerate(prompts):
        places, held = known[prompt]
        _put(cache, row, held, places)
        ids[row, : len(prompt) - places] = torch.tensor(prompt[places:])
    before = torch.tensor([prompt[max(0, known[prompt][0] - 1)] for prompt in prompts])
    # Padding is written behind the end of its row, where nobody reads.
    hidden, _ = hidden_states(weights, decoder, ids, cache=cache, past=past, before=before)
    last = hidden[torch.arange(len(prompts)), length - past - 1]
    return [
        (last[row], [(keys[row, :, :end].clone(), values[row, :, :end].clone()) for keys, values in cache])
        for row, end in enumerate(length.tolist())
    ]


def _put(cache: Cache, row: int, held: Cache, places: int) -> None:
    """Write the first ``places`` of one row's keys and values, if any are held."""
    for (keys, values), (old_keys, old_values) in zip(cache, held, strict=False):
        keys[row, :, :places], values[row, :, :places] = old_keys[:, :places], old_values[:, :places]


def _batch(
    weights: Weights, decoder: DecoderConfig, first_slot: int, wanted: Sequence[Wanted], prefixes: Prefixes
) -> list[Drawn]:
    room = [min(one.most, decoder.context - len(one.prompt)) for one in wanted]
    last, cache = _read(weights, decoder, [one.prompt for one in wanted], max(room), prefixes)
    points, allowed = _points(wanted, max(room)), _allowed(weights, first_slot, wanted)
    heat = torch.tensor([one.temperature for one in wanted], dtype=torch.float64)
    turns: list[list[int]] = [[] for _ in wanted]
    ended = [False] * len(wanted)
    past = torch.tensor([len(one.prompt) for one in wanted])
    end = int(past.max()) + max(room) - 1
    before = torch.tensor([one.prompt[-1] for one in wanted])
    open_rows = list(range(len(wanted)))  # of the batch as it is now, which of the wanted ones
    for place in range(max(room)):
        chosen = _choose(logits(weights, last).double() + allowed, heat, points[:, place])
        left = []
        for at, (number, one) in enumerate(zip(open_rows, chosen.tolist(), strict=True)):
            if ended[number] or len(turns[number]) == room[number]:
                continue
            if one == END:
                ended[number] = True
                continue
            turns[number].append(one)
            if len(turns[number]) < room[number]:
                left.append(at)
        if not left:
            break
        if 2 * len(left) <= len(open_rows):  # what is over need not be carried on
            kept = torch.tensor(left)
            open_rows = [open_rows[at] for at in left]
            cache = [(keys[kept], values[kept]) for keys, values in cache]
            chosen, past, before = chosen[kept], past[kept], before[kept]
            heat, points, allowed = heat[kept], points[kept], allowed[kept]
        hidden, _ = hidden_states(weights, decoder, chosen.unsqueeze(1), cache=cache, past=past, before=before)
        before = chosen
        last = hidden[:, 0]
        past = torch.clamp(past + 1, max=end)  # rows that are over go on unread
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


def _points(wanted: Sequence[Wanted], most: int) -> Any:
    """``(rows, most)`` float64 in [0, 1): where each place of each row cuts its distribution."""
    rows = [derive_generator(0, "draw", one.sample, *one.prompt[-64:]).random(most) for one in wanted]
    return tensor_of(np.stack(rows))


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
