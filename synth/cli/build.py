"""``synth build`` and ``synth plan``."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from synth import api
from synth.api import BuildRequest
from synth.cli.options import (
    Dataset,
    ExecutorName,
    ExecutorOption,
    InFlightOption,
    JsonOption,
    MaxCostOption,
    MaxTokensOption,
    OutOption,
    RecipeOption,
    SeedOption,
    SetOption,
    SlurmOption,
    SourceOption,
    StoreOption,
    TasksFileOption,
    TasksOption,
    WorkersOption,
)
from synth.errors import InputError
from synth.flows import settle_prefect
from synth.inputs import parse_setting
from synth.late import late

if TYPE_CHECKING:
    from synth.cli import account, text
    from synth.dataset.show import rows as shown
    from synth.flows import build as flow_builds
    from synth.store import failpoints, remote
else:
    account = late("synth.cli.account")
    text = late("synth.cli.text")
    failpoints = late("synth.store.failpoints")
    shown = late("synth.dataset.show.rows")
    flow_builds = late("synth.flows.build")
    remote = late("synth.store.remote")

__all__ = ["build", "plan", "preview", "request_of"]


class LogForm(StrEnum):
    """How progress is said."""

    TEXT = "text"
    JSON = "json"


def build(
    dataset: Dataset = None,
    recipe: RecipeOption = None,
    source: SourceOption = None,
    tasks: TasksOption = None,
    tasks_file: TasksFileOption = None,
    seed: SeedOption = None,
    out: OutOption = None,
    store: StoreOption = None,
    workers: WorkersOption = 1,
    executor: ExecutorOption = ExecutorName.LOCAL,
    slurm: SlurmOption = None,
    in_flight: InFlightOption = 512,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    flow: Annotated[bool, typer.Option("--flow", help="Run through Prefect; the bytes are the same.")] = False,
    settings: SetOption = None,
    as_json: JsonOption = False,
    log: Annotated[
        LogForm, typer.Option("--log", help="What is said while it runs: lines, or lines of JSON.")
    ] = LogForm.TEXT,
) -> None:
    """Build a dataset. Rerun an interrupted build to resume it."""

    request = request_of(
        dataset=dataset,
        recipe=recipe,
        source=source,
        tasks=tasks,
        tasks_file=tasks_file,
        seed=seed,
        out=out,
        store=store,
        workers=workers,
        executor=executor,
        slurm=slurm,
        settings=settings,
        in_flight=in_flight,
        max_cost=max_cost,
        max_tokens=max_tokens,
    )
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


def plan(
    dataset: Dataset = None,
    recipe: RecipeOption = None,
    source: SourceOption = None,
    tasks: TasksOption = None,
    tasks_file: TasksFileOption = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    pilot: Annotated[
        int | None,
        typer.Option(
            "--pilot",
            metavar="N",
            help="Build N tasks as far as models are called, and estimate calls, tokens, cost and time of all of them. "
            "The build finds the pilot's rows in the store: nothing is paid twice.",
        ),
    ] = None,
    in_flight: InFlightOption = 512,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a build would run, how large it is, and what the store holds already."""

    request = request_of(
        dataset=dataset,
        recipe=recipe,
        source=source,
        tasks=tasks,
        tasks_file=tasks_file,
        seed=seed,
        store=store,
        settings=settings,
        in_flight=in_flight,
        max_cost=max_cost,
        max_tokens=max_tokens,
    )

    prepared = api.prepare(request, progress="quiet" if pilot is None or as_json else "auto")
    with prepared.engine:
        outlook = prepared.outlook(pilot)
    print(json.dumps(text.outlook_json(outlook), indent=2) if as_json else text.outlook_text(outlook))


def preview(
    dataset: Dataset = None,
    recipe: RecipeOption = None,
    source: SourceOption = None,
    tasks: Annotated[int, typer.Option("--tasks", metavar="N", help="How many tasks to show.")] = 5,
    tasks_file: TasksFileOption = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    full: Annotated[bool, typer.Option("--full", help="Show long texts whole.")] = False,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a build's first tasks and a run of the first one. The build finds them in the store."""

    request = request_of(
        dataset=dataset,
        recipe=recipe,
        source=source,
        tasks_file=tasks_file,
        seed=seed,
        store=store,
        settings=settings,
        max_cost=max_cost,
        max_tokens=max_tokens,
    )
    prepared = api.prepare(request, progress="quiet" if as_json else "auto")
    with prepared.engine:
        made, run = prepared.preview(tasks)
    if as_json:
        rows = {"tasks": [task.model_dump(mode="json") for task in made], "run": run and run.model_dump(mode="json")}
        print(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False)
    for task in made:
        console.print(shown.render_task(task), "")
    if run is not None:
        console.print(shown.render_trajectory(run, full=full))


def request_of(
    *,
    executor: ExecutorName = ExecutorName.LOCAL,
    slurm: list[str] | None = None,
    settings: list[str] | None = None,
    **given: Any,
) -> BuildRequest:
    """What the options of a command ask for; ``given`` are fields of :class:`BuildRequest`.

    Raises:
        InputError: an option is no ``KEY=VALUE``.
    """
    for one in slurm or []:
        if "=" not in one:
            raise InputError(f"{one!r} is no KEY=VALUE", where="--slurm", mend="for example --slurm partition=cpu")
    failpoints.activate(os.environ.get("SYNTH_FAILPOINT"))
    return BuildRequest(
        executor=str(executor),
        slurm={key: value for key, _, value in (one.partition("=") for one in slurm or [])},
        ledger=os.environ.get("SYNTH_LEDGER"),
        settings=dict(parse_setting(one) for one in settings or []),
        **given,
    )
