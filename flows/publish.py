"""``synth push --cron``: publish a finished dataset on a schedule. One task run; the Hub exporter does the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from synth import api
from synth.flows.artifacts import artifact_key
from synth.flows.secrets import secret_variables

__all__ = ["publish"]


@flow(
    name="synth-push",
    flow_run_name="{repo}",
    description="Publish a finished dataset on the Hugging Face Hub: one commit, or none where nothing changed.",
    retries=0,
    persist_result=False,
    log_prints=False,
)
def publish(
    folder: str,
    repo: str,
    public: bool = False,
    revision: str | None = None,
    secrets: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The parameters are the options of ``synth push``; the token comes from the worker's environment or login, or from
    a Secret block (``{"HF_TOKEN": "hub"}``), never from a parameter. Returns what was published, as JSON values.

    Raises:
        SynthError: as ``synth push``; the flow run is then failed, and the repository as it was.
    """
    with secret_variables(secrets):
        done = _push(folder, repo, public, revision)
    create_table_artifact(
        key=artifact_key(repo, "push"), table=[done], description="What the last push published, and where."
    )
    return done


@task(name="push", retries=0, persist_result=False, cache_policy=NO_CACHE, log_prints=False)
def _push(folder: str, repo: str, public: bool, revision: str | None) -> dict[str, Any]:
    done = api.push(Path(folder), repo, public=public, revision=revision, announce=get_run_logger().info)
    return {
        "url": done.url,
        "commit": done.commit,
        "private": done.private,
        "files": done.files,
        "bytes": done.bytes,
        "sent": len(done.sent),
        "deleted": len(done.deleted),
    }
