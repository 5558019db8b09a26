"""Build, validate and publish in one run, on a schedule."""

from __future__ import annotations

from typing import Any

from prefect import flow

from synth.flows.build import build as build_dataset
from synth.flows.publish import validate_and_push
from synth.store.remote import url_of

__all__ = ["release"]


@flow(
    name="synth-release",
    flow_run_name="{repo}",
    description="Build a dataset, validate it and publish it on the Hugging Face Hub: no commit where nothing changed.",
    retries=0,
    persist_result=False,
    log_prints=False,
)
def release(
    repo: str,
    build: dict[str, Any],
    public: bool = False,
    revision: str | None = None,
    secrets: dict[str, str] | None = None,
) -> dict[str, Any]:
    """``build`` holds the parameters of the flow ``synth-build``, the others are those of ``synth-push``. The
    build is a flow run of its own below this one, validation and push are task runs; nothing is pushed of a dataset
    that is not valid, and it stays in its folder. Returns what was published.

    Raises:
        SynthError: as ``synth build`` and ``synth push``; the repository is then as it was.
    """
    result = build_dataset(**build)
    return validate_and_push(url_of(result.path), repo, public, revision, secrets)
