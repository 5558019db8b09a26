"""``synth build`` and ``synth plan``."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from synth import api
from synth.api import BuildRequest
from synth.cli.options import JsonOption
from synth.cli.requests import builds
from synth.flows import settle_prefect
from synth.late import late

if TYPE_CHECKING:
    from synth.cli import account, text
    from synth.dataset.show import rows as shown
    from synth.flows import build as flow_builds
    from synth.store import remote
else:
    account = late("synth.cli.account")
    text = late("synth.cli.text")
    shown = late("synth.dataset.show.rows")
    flow_builds = late("synth.flows.build")
    remote = late("synth.store.remote")

__all__ = ["build", "plan", "preview"]


class LogForm(StrEnum):
    """How progress is said."""

    TEXT = "text"
    JSON = "json"


@builds()
def build(
    request: BuildRequest,
    flow: Annotated[bool, typer.Option("--flow", help="Run through Prefect; the bytes are the same.")] = False,
    as_json: JsonOption = False,
    log: Annotated[
        LogForm, typer.Option("--log", help="What is said while it runs: lines, or lines of JSON.")
    ] = LogForm.TEXT,
) -> None:
    """Build a dataset. Rerun an interrupted build to resume it."""

    if flow:
        settle_prefect("CRITICAL")
        result = flow_builds.build_in_flow(request)
    else:
        result = api.prepare(request, progress="json" if log is LogForm.JSON else "quiet" if as_json else "auto").run()
    if as_json:
        if line := text.empty_sft_text(result.report):
            print(f"synth: {line}", file=sys.stderr)
        said = {"path": remote.url_of(result.path), "report": json.loads(result.report.to_json())}
        print(json.dumps({**said, "account": account.account_json(result.account)}, indent=2))
        return

    print(text.build_summary(result))


@builds(but=("out", "workers", "executor", "slurm"))
def plan(
    request: BuildRequest,
    pilot: Annotated[
        int | None,
        typer.Option(
            "--pilot",
            metavar="N",
            help="Build N tasks as far as models are called, and estimate calls, tokens, cost and time of all of them. "
            "The build finds the pilot's rows in the store: nothing is paid twice.",
        ),
    ] = None,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample/--no-sample",
            help="From 5,000 tasks on, where no model is called for them: try the first candidates, and say whether "
            "the source gives so many. The build finds them in the store.",
        ),
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Say what a build would run, how large it is, and what the store holds already."""

    prepared = api.prepare(request, progress="quiet" if as_json else "auto")
    with prepared.engine:
        outlook = prepared.outlook(pilot, sample=sample)
    print(json.dumps(text.outlook_json(outlook), indent=2) if as_json else text.outlook_text(outlook))


@builds(but=("out", "workers", "executor", "slurm", "in_flight", "tasks"))
def preview(
    request: BuildRequest,
    tasks: Annotated[int, typer.Option("--tasks", metavar="N", help="How many tasks to show.")] = 5,
    full: Annotated[bool, typer.Option("--full", help="Show long texts whole.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a build's first tasks and a run of the first one. The build finds them in the store."""

    prepared = api.prepare(request, progress="quiet" if as_json else "auto")
    with prepared.engine:
        found = prepared.preview(tasks)
    run, rejected = found.run, found.rejected
    if as_json:
        rows = {
            "tasks": [task.model_dump(mode="json") for task in found.tasks],
            "run": run and run.model_dump(mode="json"),
            "rejected": rejected and rejected.model_dump(mode="json"),
        }
        print(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False)
    for task in found.tasks:
        console.print(shown.render_task(task), "")
    if run is not None:
        console.print(shown.render_trajectory(run, full=full))
    if rejected is not None:
        what = "no run came about" if run is None else "this run is rejected, and so is every other"
        print(f"synth: {what}: {rejected.reason.value}: {rejected.detail}", file=sys.stderr)
