"""``synth push``: publish a finished dataset on the Hugging Face Hub."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from synth import api
from synth.cli.options import DatasetFolder, JsonOption
from synth.errors import InputError
from synth.flows import settle_prefect
from synth.late import late

if TYPE_CHECKING:
    from synth.flows import deploy as deployments
    from synth.publish.push import Pushed
else:
    deployments = late("synth.flows.deploy")

__all__ = ["push"]


def push(
    folder: DatasetFolder,
    repo: Annotated[
        str, typer.Option("--repo", metavar="USER/NAME", help="The dataset repository; made where missing.")
    ],
    public: Annotated[
        bool, typer.Option("--public", help="Make it readable by everybody; without this it is private.")
    ] = False,
    revision: Annotated[
        str | None, typer.Option("--revision", metavar="BRANCH", help="A branch, made where missing (default: main).")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check it and say what would be sent; write nothing.")
    ] = False,
    cron: Annotated[
        str | None,
        typer.Option("--cron", metavar="CRON", help="Push at these times, for as long as this command runs."),
    ] = None,
    timezone: Annotated[str, typer.Option("--timezone", metavar="ZONE", help="IANA time zone of --cron.")] = "UTC",
    as_json: JsonOption = False,
) -> None:
    """Validate a dataset and publish it on the Hugging Face Hub, in one commit. Needs `hf auth login` or HF_TOKEN."""
    if cron is not None:
        if dry_run or as_json:
            raise InputError("a schedule only publishes", where="--cron", mend="leave out --dry-run and --json")
        settle_prefect("WARNING")
        deployments.serve_push(folder, repo, cron, public=public, revision=revision, timezone=timezone, announce=_say)
        return

    done = api.push(folder, repo, public=public, revision=revision, dry_run=dry_run, announce=_say)
    print(json.dumps(dataclasses.asdict(done), indent=2) if as_json else _text(done))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _text(done: Pushed) -> str:
    size = f"{done.files} files, {done.bytes / 1e6:.1f} MB"
    seen = "private" if done.private else "public"
    if done.redacted:
        size += f" (text of {done.redacted:,} documents is redacted)"
    if done.dry_run:
        plan = [f"would send {name}" for name in done.sent] + [f"would remove {name}" for name in done.deleted]
        plan += [f"would copy what is there to {name}" for name in done.moved]
        return "\n".join([*plan, f"dry run: {done.url} ({seen}) would hold {size}"])
    if done.unchanged:
        return f"{done.url} ({seen}) holds this dataset already: {size}, commit {done.commit}"
    return f"{done.url} ({seen}): {size}, commit {done.commit}"
