"""A trained model as a folder: ``model.json`` (sizes and vocabulary) and ``weights.pt``."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from efficacy_lab.lazy import torch
from efficacy_lab.model import Weights
from efficacy_lab.sizes import DecoderConfig
from efficacy_lab.words import Vocabulary
from synth.errors import InputError
from synth.identity import digest
from synth.store.files import read_sealed_json, write_file, write_sealed_json

__all__ = ["Trained", "load_trained", "save_trained"]


@dataclass(frozen=True)
class Trained:
    """A model and what it reads with."""

    decoder: DecoderConfig
    vocabulary: Vocabulary
    weights: Weights

    @property
    def name(self) -> str:
        """Names the model by its content."""
        held = [[key, tensor.numpy().tobytes().hex()] for key, tensor in sorted(self.weights.items())]
        return (
            f"tiny-{digest(held, self.decoder.model_dump(mode='json'), self.vocabulary.model_dump(mode='json'))[:16]}"
        )


def save_trained(folder: Path, trained: Trained) -> None:
    """Write ``trained``; ``model.json``, which makes the folder valid, comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    torch.save(trained.weights, buffer)
    write_file(folder / "weights.pt", buffer.getvalue())
    body = {
        "name": trained.name,
        "decoder": trained.decoder.model_dump(mode="json"),
        "vocabulary": trained.vocabulary.model_dump(mode="json"),
    }
    write_sealed_json(folder / "model.json", body)


def load_trained(folder: Path) -> Trained:
    """What :func:`save_trained` wrote.

    Raises:
        InputError: there is no whole model in ``folder``.
    """
    body = read_sealed_json(folder / "model.json")
    if body is None:
        raise InputError("there is no trained model", where=str(folder))
    weights = torch.load(folder / "weights.pt", weights_only=True)
    trained = Trained(
        DecoderConfig.model_validate(body["decoder"]), Vocabulary.model_validate(body["vocabulary"]), weights
    )
    if trained.name != body["name"]:
        raise InputError("the weights are not those that model.json names", where=str(folder))
    return trained
