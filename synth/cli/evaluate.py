"""``synth evaluate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from synth.cli.options import (
    DatasetFolder,
    InFlightOption,
    JsonOption,
    MaxCostOption,
    OutOption,
    SeedOption,
    SetOption,
    StoreOption,
    TrustOption,
    WorkersOption,
)
from synth.errors import InputError
from synth.inputs import parse_setting
from synth.late import late

if TYPE_CHECKING:
    from synth import evaluation
    from synth.cli import account as account_text
    from synth.dataset import evaluation_page
else:
    account_text = late("synth.cli.account")
    evaluation = late("synth.evaluation")
    evaluation_page = late("synth.dataset.evaluation_page")

__all__ = ["evaluate"]


def evaluate(
    folder: DatasetFolder,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="NAME@URL of a chat completions server, a folder or OWNER/NAME for vLLM to serve, or scripted. "
            "Repeatable.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option("--against", metavar="MODEL", help="What they are compared with, task by task. Repeatable."),
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option("--split", help="train, validation, test (the default) or all. Repeatable.")
    ] = None,
    tasks: Annotated[int | None, typer.Option("--tasks", metavar="N", min=1, help="The first N of the tasks.")] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="K", min=1, max=1000, help="Runs of each task.")] = 1,
    out: OutOption = None,
    store: StoreOption = None,
    seed: SeedOption = None,
    workers: WorkersOption = 1,
    in_flight: InFlightOption = 512,
    max_cost: MaxCostOption = None,
    trust: TrustOption = False,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run models on a dataset's held-out tasks and compare them: success with intervals, failures, cost."""

    if not model:
        raise InputError("no model is named", where="evaluate", mend="name one: --model NAME@URL, or --model scripted")
    found = evaluation.evaluate(
        folder,
        [*(against or ()), *model],
        splits=split or ("test",),
        tasks=tasks,
        runs=runs,
        out=out,
        store=store,
        seed=7 if seed is None else seed,
        workers=workers,
        in_flight=in_flight,
        max_cost=max_cost,
        settings=dict(parse_setting(text) for text in settings or ()),
        trust=trust,
        progress="quiet" if as_json else "auto",
    )
    if as_json:
        accounts = {name: account_text.account_json(account) for name, account in found.accounts.items()}
        said = {"path": str(found.path), "figures": found.figures.model_dump(mode="json"), "accounts": accounts}
        print(json.dumps(said, indent=2))
        return

    Console().print(evaluation_page.render_evaluation(found.figures))
    print(f"\n{Path(found.path) / 'index.html'}")
