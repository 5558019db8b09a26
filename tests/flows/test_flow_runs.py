"""A flow adds a record and artifacts to a build; it changes neither its order, nor its bytes, nor its errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.errors import BuildError
from synth.flows.artifacts import artifact_key, cost_table, rows_table, yield_table
from synth.identity import digest
from synth.schemas.rejections import Reason
from synth.schemas.reports import StageReport

pytestmark = pytest.mark.thorough

REASON = next(iter(Reason)).value


class Chain:
    """A real build of three files, each made from the one before, in the shape of a prepared build."""

    labels = ("read", "walk", "ask")

    def __init__(self, folder: Path, broken: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.broken = broken
        self.ran: list[str] = []

    def run_stage(self, label: str) -> StageReport:
        if label == self.broken:
            raise BuildError("only 3 of 5 tasks", where=label, mend="give more documents")
        self.ran.append(label)
        before = self.labels.index(label) - 1
        text = (self.folder / self.labels[before]).read_text() if before >= 0 else "source"
        (self.folder / label).write_text(digest(label, text))
        return StageReport(
            label=label,
            stage=label,
            version=1,
            fingerprint=digest(label),
            rows_in=10,
            kept=9,
            rejected={REASON: 1},
            rows={f"{label}_rows": 9},
            shards=2,
            numbers={"candidates": 10.0},
            seconds=0.25,
        )

    def run_stages(self, run_stage: Callable[[str], StageReport]) -> None:
        with ThreadPoolExecutor(1) as beside:
            for number, label in enumerate(self.labels):
                if number % 2 == 0:
                    run_stage(label)
                else:
                    beside.submit(copy_context().run, run_stage, label).result()

    def finish(self) -> dict[str, str]:
        return {label: (self.folder / label).read_text() for label in self.labels}


def in_a_flow(chain: Chain, name: str) -> Any:
    from prefect import flow

    from synth.flows.build import run_stages

    @flow(name=name, persist_result=False)
    def run() -> Any:
        return run_stages(chain, name)

    return run()


def read_server(flow_name: str) -> tuple[list[Any], dict[str, Any]]:
    """Task runs of the one run of ``flow_name``, in order of their start, and the artifacts by key."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        ArtifactFilter,
        ArtifactFilterFlowRunId,
        FlowFilter,
        FlowFilterName,
        TaskRunFilter,
        TaskRunFilterFlowRunId,
    )

    with get_client(sync_client=True) as client:
        (flow_run,) = client.read_flow_runs(flow_filter=FlowFilter(name=FlowFilterName(any_=[flow_name])))
        task_runs = client.read_task_runs(
            task_run_filter=TaskRunFilter(flow_run_id=TaskRunFilterFlowRunId(any_=[flow_run.id]))
        )
        artifacts = client.read_artifacts(
            artifact_filter=ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[flow_run.id]))
        )
    return sorted(task_runs, key=lambda run: run.expected_start_time), {a.key: a for a in artifacts if a.key}


def wait_for_task_runs(flow_name: str, count: int) -> tuple[list[Any], dict[str, Any]]:
    """Prefect books task runs a moment after they end (events): wait until ``count`` are there and final."""
    import time

    for _ in range(200):
        task_runs, artifacts = read_server(flow_name)
        if len(task_runs) == count and all(run.state and run.state.is_final() for run in task_runs):
            break
        time.sleep(0.1)
    return task_runs, artifacts


@pytest.mark.usefixtures("prefect_server")
def test_a_flow_makes_the_bytes_of_the_plain_run_with_one_task_run_per_stage(tmp_path: Path) -> None:
    plain = Chain(tmp_path / "plain")
    for label in plain.labels:
        plain.run_stage(label)
    through_prefect = Chain(tmp_path / "prefect")
    assert in_a_flow(through_prefect, "same-bytes") == plain.finish()
    assert through_prefect.ran == list(plain.labels)

    task_runs, artifacts = wait_for_task_runs("same-bytes", 3)
    assert [run.name for run in task_runs] == ["read", "walk", "ask"]
    assert [run.state.name for run in task_runs] == ["Completed"] * 3
    assert sorted(artifacts) == ["same-bytes-cost", "same-bytes-rows", "same-bytes-yield"]
    shown = json.loads(artifacts["same-bytes-yield"].data)
    assert shown[0] == {
        "stage": "read",
        "read": 10,
        "kept": 9,
        "yield %": 90.0,
        "rejected": f"{REASON} 1",
        "errored": "",
    }


@pytest.mark.usefixtures("prefect_server")
def test_an_error_of_a_stage_comes_through_unchanged_and_the_artifacts_show_what_ran(tmp_path: Path) -> None:
    chain = Chain(tmp_path, broken="ask")
    with pytest.raises(BuildError, match=r"^ask: only 3 of 5 tasks\. Give more documents$"):
        in_a_flow(chain, "breaks")
    assert chain.ran == ["read", "walk"], "nothing is retried by Prefect"
    task_runs, artifacts = wait_for_task_runs("breaks", 3)
    assert [run.state.name for run in task_runs] == ["Completed", "Completed", "Failed"]
    assert [row["stage"] for row in json.loads(artifacts["breaks-cost"].data)] == ["read", "walk"]


@pytest.mark.usefixtures("prefect_server")
def test_prefect_keeps_no_result_of_ours(tmp_path: Path) -> None:
    from prefect.settings import get_current_settings

    # Prefect keeps the exception of a failed flow run here; of a good one, nothing.
    storage = get_current_settings().results.local_storage_path
    before = sorted(storage.iterdir()) if storage.exists() else []
    in_a_flow(Chain(tmp_path), "keeps-nothing")
    assert (sorted(storage.iterdir()) if storage.exists() else []) == before


@given(st.text(), st.sampled_from(["yield", "rows", "cost"]))
def test_artifact_keys_hold_what_prefect_takes(dataset: str, kind: str) -> None:
    key = artifact_key(dataset, kind)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", key)
    assert key.endswith(kind)


def test_tables_say_what_the_report_says(tmp_path: Path) -> None:
    report = Chain(tmp_path).run_stage("read")
    nothing = report.model_copy(update={"label": "empty", "rows_in": 0, "kept": 0, "rejected": {}, "rows": {}})
    assert [row["yield %"] for row in yield_table([report, nothing])] == [90.0, 0.0]
    assert rows_table([report, nothing]) == [{"stage": "read", "table": "read_rows", "rows": 9}]
    assert cost_table([report])[0] == {
        "stage": "read",
        "seconds": 0.25,
        "shards": 2,
        "found in store": 0,
        "counted": "candidates 10",
    }
