"""Where a row comes from."""

from __future__ import annotations

from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = ["Provenance"]


class Provenance(Row):
    """Enough to find what made a row and to make it again. It holds no time, host, path or key."""

    dataset: NonEmpty
    """Name of the recipe."""
    stage: NonEmpty
    """The stage that made the row."""
    stage_version: int
    """Version of the stage's code."""
    fingerprint: NonEmpty
    """Fingerprint of the stage run: config, seed, source content, libraries and inputs are in it."""
    seed: int
    """Seed of the build."""
    source: NonEmpty
    """Name of the source."""
    source_sha256: NonEmpty
    """Hash of the source's content."""
    backend: str | None = None
    """What acted, for rows that an agent or a model wrote (``scripted``, ``openai``, ``vllm``)."""
    model: str | None = None
    """Model that was called; None for a scripted agent."""
    model_revision: str | None = None
    """Revision of that model."""
    prompt: str | None = None
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt file."""
    sampling: JsonObject = {}
    """Sampling parameters of the model."""
