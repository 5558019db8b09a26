"""``synth append``: more tasks for a finished dataset."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth.api import BuildRequest
from synth.cli.options import DatasetFolder, JsonOption
from synth.cli.requests import builds
from synth.late import late

if TYPE_CHECKING:
    from synth.cli import account, text
    from synth.pipelines import appending
    from synth.store import remote
else:
    account = late("synth.cli.account")
    appending = late("synth.pipelines.appending")
    remote = late("synth.store.remote")
    text = late("synth.cli.text")

__all__ = ["append"]


@builds(but=("dataset", "recipe", "tasks", "tasks_file", "seed", "prompts", "out"))
def append(
    request: BuildRequest,
    folder: DatasetFolder,
    tasks: Annotated[int, typer.Option("--tasks", metavar="M", help="Exactly how many tasks to add.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Another folder or URL for the larger dataset; default: in place of DIR."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Add tasks, and all that is made of them, to a finished build: what is there stays. Rerun to resume."""

    done = appending.append(folder, tasks, request=replace(request, out=out), progress="quiet" if as_json else "auto")
    if as_json:
        said = {"path": remote.url_of(done.path), "before": done.before, "after": done.after}
        made = {} if done.result is None else {"account": account.account_json(done.result.account)}
        print(json.dumps({**said, **made}, indent=2))
        return
    if done.result is None:
        print(
            f"{remote.url_of(done.path)} has {done.after:,} tasks: an earlier run, killed at its end, had "
            f"added {tasks:,}"
        )
        return
    print(text.build_summary(done.result))
    print(f"{tasks:,} tasks were added to {done.before:,}; no row of these changed")
