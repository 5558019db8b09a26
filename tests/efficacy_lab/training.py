"""Training: supervised on the agent's turns, and on pairs (DPO, arXiv 2305.18290) with an anchor. Resumes after a kill.

Batch ``n`` is a function of (seed, n) and the rows, so a run that goes on from a checkpoint ends with the same weights.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from efficacy_lab.lazy import functional, tensor_of, torch
from efficacy_lab.model import Weights, hidden_states, logits
from efficacy_lab.optimizer import Optimizer
from efficacy_lab.rows import Encoded
from efficacy_lab.sizes import DecoderConfig, TrainConfig
from efficacy_lab.words import PAD
from synth.identity import derive_generator, digest
from synth.store.files import write_file

__all__ = ["PairBatch", "log_probabilities", "train_pairs", "train_rows", "turn_scores"]


def train_rows(
    weights: Weights,
    decoder: DecoderConfig,
    rows: Sequence[Encoded],
    slots: range,
    config: TrainConfig,
    *,
    seed: int,
    checkpoint: Path | None = None,
    told: Callable[[int, float], None] = lambda step, loss: None,
) -> Weights:
    """Weights after training on ``rows``; ``weights`` themselves are not changed.

    Args:
        slots: The ids that are slots; which of them a row has is drawn anew for each row and epoch.
        checkpoint: A file from which an interrupted training goes on; one of another training is not used.
        told: Called after each step with its number and loss.

    Raises:
        ValueError: there is no row, or one is longer than the context.
    """
    _check(rows, decoder)
    batches = _Batches(rows, slots, config.batch, seed, "rows")

    def loss_of(step: int, now: Weights) -> Any:
        ids, targets = batches.at(step)
        return _row_loss(now, decoder, ids, ids != PAD if config.everything else targets)

    return _train(weights, config, loss_of, digest("rows", seed, _identity(rows)), checkpoint, told)


@dataclass(frozen=True)
class PairBatch:
    """Pairs as the model reads them."""

    chosen: tuple[Encoded, ...]
    rejected: tuple[Encoded, ...]


def train_pairs(
    weights: Weights,
    decoder: DecoderConfig,
    pairs: PairBatch,
    anchor: Sequence[Encoded],
    slots: range,
    config: TrainConfig,
    *,
    seed: int,
    checkpoint: Path | None = None,
    told: Callable[[int, float], None] = lambda step, loss: None,
) -> Weights:
    """Weights after DPO on ``pairs`` against ``weights`` as the reference, beside log likelihood on ``anchor``.

    Raises:
        ValueError: there is no pair, or one is longer than the context.
    """
    _check([*pairs.chosen, *pairs.rejected], decoder)
    if len(pairs.chosen) != len(pairs.rejected):
        raise ValueError("a pair needs both sides")
    sides = _Batches(pairs.chosen, slots, config.batch, seed, "pairs", beside=pairs.rejected)
    anchors = _Batches(anchor, slots, config.batch, seed, "anchor") if anchor and config.anchor else None

    def loss_of(step: int, now: Weights) -> Any:
        chosen, rejected = sides.both(step)
        gain = log_probabilities(now, decoder, *chosen) - log_probabilities(now, decoder, *rejected)
        with torch.no_grad():
            before = log_probabilities(weights, decoder, *chosen) - log_probabilities(weights, decoder, *rejected)
        loss = -functional.logsigmoid(config.beta * (gain - before)).mean()
        if anchors is not None:
            loss = loss + config.anchor * _row_loss(now, decoder, *anchors.at(step))
        return loss

    name = digest("pairs", seed, _identity(pairs.chosen), _identity(pairs.rejected), _identity(anchor))
    return _train(weights, config, loss_of, name, checkpoint, told)


def log_probabilities(weights: Weights, decoder: DecoderConfig, ids: Any, targets: Any) -> Any:
    """Sum of the log probabilities of each row's targets: ``(batch,)``."""
    hidden, _ = hidden_states(weights, decoder, ids[:, :-1])
    wanted = targets[:, 1:]
    each = -functional.cross_entropy(logits(weights, hidden[wanted]), ids[:, 1:][wanted], reduction="none")
    rows = torch.arange(len(ids)).unsqueeze(1).expand_as(wanted)[wanted]
    return torch.zeros(len(ids)).index_add(0, rows, each)


def turn_scores(weights: Weights, decoder: DecoderConfig, rows: Sequence[Encoded]) -> list[float]:
    """The log probability of the targets of each row."""
    order = sorted(range(len(rows)), key=lambda place: len(rows[place].ids))
    found: dict[int, float] = {}
    with torch.no_grad():
        for start in range(0, len(order), 32):
            some = order[start : start + 32]
            ids, targets = _stacked([rows[place].ids for place in some], [rows[place].targets for place in some])
            found.update(zip(some, log_probabilities(weights, decoder, ids, targets).tolist(), strict=True))
    return [found[place] for place in range(len(rows))]


def _stacked(ids: Sequence[Any], targets: Sequence[Any]) -> tuple[Any, Any]:
    """Rows padded to one length: (ids, targets), both ``(batch, places)``."""
    shape = (len(ids), max(map(len, ids)))
    whole, wanted = np.full(shape, PAD, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    for number, (row, own) in enumerate(zip(ids, targets, strict=True)):
        whole[number, : len(row)], wanted[number, : len(row)] = row, own
    return tensor_of(whole), tensor_of(wanted)


def _row_loss(weights: Weights, decoder: DecoderConfig, ids: Any, targets: Any) -> Any:
    """Mean over all target tokens of the batch, each weighing the same."""
    return -log_probabilities(weights, decoder, ids, targets).sum() / targets[:, 1:].sum()


def _check(rows: Sequence[Encoded], decoder: DecoderConfig) -> None:
    if not rows:
        raise ValueError("there is no row to train on")
    longest = max(len(row.ids) for row in rows)
    if longest > decoder.context:
        raise ValueError(f"a row has {longest} tokens, the context {decoder.context}")


def _identity(rows: Sequence[Encoded]) -> str:
    return digest([digest(row.ids.tolist(), row.targets.tolist()) for row in rows])


class _Batches:
    """Batch ``n`` of endless epochs over rows. Rows of like length go together: less padding."""

    def __init__(
        self,
        rows: Sequence[Encoded],
        slots: range,
        size: int,
        seed: int,
        name: str,
        beside: Sequence[Encoded] | None = None,
    ) -> None:
        self._rows, self._beside = rows, beside
        self._slots, self._size, self._seed, self._name = slots, size, seed, name
        self._per_epoch = math.ceil(len(rows) / size)
        self._epoch: tuple[int, list[list[int]]] = (-1, [])

    def at(self, step: int) -> tuple[Any, Any]:
        """(ids, targets), both ``(batch, places)``."""
        places = self._places(step)
        return self._padded(self._rows, places, step)

    def both(self, step: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """The same of the rows and of those beside them, slots called alike."""
        assert self._beside is not None
        places = self._places(step)
        return self._padded(self._rows, places, step), self._padded(self._beside, places, step)

    def _places(self, step: int) -> list[int]:
        epoch, number = divmod(step, self._per_epoch)
        if self._epoch[0] != epoch:
            generator = derive_generator(self._seed, self._name, "order", epoch)
            order = generator.permutation(len(self._rows))
            length = np.array([len(row.ids) for row in self._rows])
            near = length[order] + generator.normal(0.0, 8.0, len(order))  # like, not always the same ones together
            order = order[np.argsort(near, kind="stable")]
            # The last batch of an epoch is filled from the start of the same order.
            whole = np.resize(order, self._per_epoch * self._size).reshape(self._per_epoch, self._size)
            self._epoch = (epoch, whole[generator.permutation(self._per_epoch)].tolist())
        return self._epoch[1][number]

    def _padded(self, rows: Sequence[Encoded], places: Sequence[int], step: int) -> tuple[Any, Any]:
        generator = derive_generator(self._seed, self._name, "slots", step)
        renamed = []
        for place in places:
            own = rows[place].ids.astype(np.int64)
            slot = own >= self._slots.start
            names = self._slots.start + generator.permutation(len(self._slots))
            own[slot] = names[own[slot] - self._slots.start]
            renamed.append(own)
        return _stacked(renamed, [rows[place].targets for place in places])


def _train(
    weights: Weights,
    config: TrainConfig,
    loss_of: Callable[[int, Weights], Any],
    name: str,
    checkpoint: Path | None,
    told: Callable[[int, float], None],
) -> Weights:
    name = digest(name, config.model_dump(mode="json", exclude={"every"}), _sum(weights))
    now: Weights = {key: tensor.clone().requires_grad_(True) for key, tensor in weights.items()}
    optimizer = Optimizer(now, config)
    first = 0
    if checkpoint is not None and checkpoint.is_file():
        held = torch.load(checkpoint, weights_only=True)
        if held["name"] == name:
            first = held["step"]
            with torch.no_grad():
                for key, tensor in now.items():
                    tensor.copy_(held["weights"][key])
            optimizer.load_state_dict(held["optimizer"])
    for step in range(first, config.steps):
        loss = loss_of(step, now)
        optimizer.step(loss, _pace(step, config))
        told(step, float(loss.detach()))
        if checkpoint is not None and (step + 1) % config.every == 0 and step + 1 < config.steps:
            held = {"name": name, "step": step + 1, "weights": _plain(now), "optimizer": optimizer.state_dict()}
            buffer = io.BytesIO()
            torch.save(held, buffer)
            write_file(checkpoint, buffer.getvalue())
    return _plain(now)


def _plain(weights: Weights) -> Weights:
    return {key: tensor.detach().clone() for key, tensor in weights.items()}


def _sum(weights: Weights) -> str:
    return digest([(key, tensor.numpy().tobytes().hex()[:4096]) for key, tensor in sorted(weights.items())])


def _pace(step: int, config: TrainConfig) -> float:
    rising = config.warmup * config.steps
    if step < rising:
        return (step + 1) / rising
    if config.shape == "constant":
        return 1.0
    done = (step - rising) / max(1.0, config.steps - rising)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * done))
