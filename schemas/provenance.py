"""Where a row comes from."""

from __future__ import annotations

from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = ["Provenance"]


class Provenance(Row):
    """Enough to find what made a row and to make it again. It holds no time, host, path or key."""

    dataset: NonEmpty
    """Name of the recipe."""
    stage: NonEmpty
    stage_version: int
    fingerprint: NonEmpty
    """Fingerprint of the stage run: config, seed, source content, libraries and inputs are in it."""
    seed: int
    source: NonEmpty
    """Name of the source."""
    source_sha256: NonEmpty
    """Hash of the source's content."""
    backend: str | None = None
    """What acted, for rows that an agent or a model wrote (``scripted``, ``openai``, ``vllm``)."""
    model: str | None = None
    model_revision: str | None = None
    prompt: str | None = None
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt file."""
    sampling: JsonObject = {}
