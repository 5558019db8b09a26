"""``synth push --cron``: publish a finished dataset on a schedule. Two task runs: its rows are validated, then it is
pushed, by the Hub exporter."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from synth import publish as publishing
from synth.dataset.files import REPORT_FILE, Problem
from synth.dataset.reader import load
from synth.dataset.rules.validate import validate
from synth.errors import DatasetError
from synth.flows.artifacts import artifact_key
from synth.flows.secrets import secret_variables

__all__ = ["publish", "validate_and_push"]


@flow(
    name="synth-push",
    flow_run_name="{repo}",
    description="Validate a finished dataset and publish it on the Hugging Face Hub: one commit, or none where nothing "
    "changed.",
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
    return validate_and_push(folder, repo, public, revision, secrets)


def validate_and_push(
    folder: str, repo: str, public: bool, revision: str | None, secrets: dict[str, str] | None
) -> dict[str, Any]:
    """Two task runs of the current flow run: nothing is sent of a dataset that the first finds something wrong with.

    Raises:
        SynthError: as ``synth push``.
    """
    validated = _validate(folder)
    with secret_variables(secrets):
        done = _push(folder, repo, public, revision, validated)
    create_table_artifact(
        key=artifact_key(repo, "push"), table=[done], description="What the last push published, and where."
    )
    return done


@task(name="validate", task_run_name="validate", retries=0, persist_result=False, cache_policy=NO_CACHE)
def _validate(folder: str) -> str:
    """The hash of the dataset's report, which states the hash of every file.

    Raises:
        DatasetError: something is wrong: the first places stand in the error, a hundred of a file in an artifact.
    """
    dataset = load(folder)
    rows = sum(sum(splits.values()) for splits in dataset.report.tables.values())
    get_run_logger().info("checking every row: %s", f"{rows:,}")
    stated = hashlib.sha256((dataset.path / REPORT_FILE).read_bytes()).hexdigest()
    problems = sorted(validate(dataset.path), key=lambda problem: problem.row is None)  # rows first
    if not problems:
        return stated
    create_table_artifact(
        key=artifact_key(dataset.report.dataset, "problems"),
        table=[_told(problem) for problem in problems],
        description="Why it was not pushed.",
    )
    first = "; ".join(str(problem) for problem in problems[:3])
    more = f"; and {len(problems) - 3:,} more" if len(problems) > 3 else ""
    raise DatasetError(
        f"it is not valid, so nothing was pushed: {first}{more}",
        where=folder,
        mend="see all of them with `synth validate`",
    )


def _told(problem: Problem) -> dict[str, Any]:
    return {"file": problem.file, "row": "" if problem.row is None else problem.row, "what": problem.what}


@task(name="push", task_run_name="push", retries=0, persist_result=False, cache_policy=NO_CACHE, log_prints=False)
def _push(folder: str, repo: str, public: bool, revision: str | None, validated: str) -> dict[str, Any]:
    done = publishing.push(
        Path(folder), repo, public=public, revision=revision, announce=get_run_logger().info, validated=validated
    )
    return {
        "url": done.url,
        "commit": done.commit,
        "private": done.private,
        "files": done.files,
        "bytes": done.bytes,
        "sent": len(done.sent),
        "copied": len(done.moved),
        "deleted": len(done.deleted),
    }
