"""``synth store``, ``synth doctor``, ``synth deploy``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synth.api import BuildRequest
from synth.cli.options import LOCAL_ENDPOINT, EndpointOption, JsonOption, KeyOption, ModelOption, StoreOption
from synth.cli.requests import builds
from synth.errors import InputError
from synth.flows import settle_prefect
from synth.late import late

if TYPE_CHECKING:
    from synth import store as stage_store
    from synth.cli import checkup, text
    from synth.flows import deploy as deployments
    from synth.flows import file as deployment_files
    from synth.models import probe as probing
    from synth.pipelines import building
    from synth.store import calls_format, calls_summary
else:
    checkup = late("synth.cli.checkup")
    deployments = late("synth.flows.deploy")
    deployment_files = late("synth.flows.file")
    probing = late("synth.models.probe")
    text = late("synth.cli.text")
    building = late("synth.pipelines.building")
    stage_store = late("synth.store")
    calls_format = late("synth.store.calls_format")
    calls_summary = late("synth.store.calls_summary")

__all__ = ["deploy", "doctor", "store"]


class StoreVerb(StrEnum):
    """What to do with the store."""

    LIST = "list"
    PRUNE = "prune"


def store(
    verb: Annotated[StoreVerb, typer.Argument(help="list what is kept, or prune it.")] = StoreVerb.LIST,
    path: StoreOption = None,
    unused_for: Annotated[
        float | None, typer.Option("--unused-for", metavar="DAYS", help="Prune what no build used for DAYS days.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Prune what only this dataset used.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Prune all that no build is using now.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List what the store holds, or prune it. What a running build uses is never touched, nor what models replied."""

    if verb is StoreVerb.PRUNE and unused_for is None and dataset is None and not everything:
        raise InputError(
            "prune must be told what", where="synth store", mend="give --unused-for DAYS, --dataset NAME or --all"
        )
    if unused_for is not None and unused_for < 0:
        raise InputError(f"{unused_for} days is no time", where="--unused-for", mend="give 0 or more")
    kept = stage_store.Store(path if path is not None else building.default_store())
    if verb is StoreVerb.LIST:
        entries = kept.list()
        calls = calls_summary.summarize(kept.root / calls_format.CALLS_FILE)
        if as_json:
            plain = None if calls is None else _plain(calls)
            print(json.dumps({"stages": [_plain(entry) for entry in entries], "calls": plain}, indent=2))
        else:
            print("\n".join([text.store_text(kept.root, entries), *(text.calls_text(calls) if calls else ())]))
        return
    seconds = None if unused_for is None else unused_for * 86_400
    pruned = kept.prune(unused_for=seconds, dataset=dataset, everything=everything, dry=dry_run)
    if as_json:
        removed, in_use = ([_plain(entry) for entry in group] for group in (pruned.removed, pruned.in_use))
        print(json.dumps({"removed": removed, "in_use": in_use, "bytes": pruned.bytes}, indent=2))
        return
    print(f"{'would remove' if dry_run else 'removed'} {len(pruned.removed)} stage runs, {pruned.bytes / 1e6:.1f} MB")
    if pruned.in_use:
        print(f"left alone, in use: {', '.join(sorted({entry.stage for entry in pruned.in_use}))}")
    size = (kept.root / calls_format.CALLS_FILE).stat().st_size if (kept.root / calls_format.CALLS_FILE).exists() else 0
    if size:
        print(f"left alone: {calls_format.CALLS_FILE} ({size / 1e6:.1f} MB), what models replied; no prune removes it")


def _plain(entry: Any) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(entry).items()}


def doctor(
    model: ModelOption = None, endpoint: EndpointOption = None, key: KeyOption = None, as_json: JsonOption = False
) -> None:
    """Say what is installed and what works; with --model, whether it can play an agent. Exits with 1 if not."""

    findings = checkup.checkup()
    if model is not None:
        findings += probing.probe(endpoint or LOCAL_ENDPOINT, model, os.environ.get(key) if key else None)
    elif endpoint or key:
        raise InputError("no model is named", where="--endpoint" if endpoint else "--key", mend="give --model as well")
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        marks = {"ok": "ok     ", "absent": "absent ", "broken": "BROKEN "}
        print("\n".join(f"{marks[finding.state]}{finding.what}: {finding.detail}" for finding in findings))
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


@builds()
def deploy(
    request: BuildRequest,
    cron: Annotated[
        str | None, typer.Option("--cron", metavar="CRON", help='Five fields, for example "0 3 * * *".')
    ] = None,
    work_pool: Annotated[
        str | None,
        typer.Option(
            "--work-pool",
            metavar="POOL",
            help="Leave the build with the server of PREFECT_API_URL, for the workers of this pool, and return.",
        ),
    ] = None,
    timezone: Annotated[str, typer.Option("--timezone", metavar="ZONE", help="IANA time zone.")] = "UTC",
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="FILE", help="With --work-pool: write it to this file for `prefect deploy`, and return."
        ),
    ] = None,
) -> None:
    """Build on a schedule, through Prefect: for as long as this command runs, or by the workers of a pool."""

    announce = partial(print, file=sys.stderr, flush=True)
    settle_prefect("WARNING")
    if file is not None:
        if work_pool is None:
            raise InputError("a deployment needs a work pool", where="--file", mend="give --work-pool, too")
        deployment_files.write_deployment(request, work_pool, file, cron=cron, timezone=timezone, announce=announce)
    elif work_pool is not None:
        deployments.register(request, work_pool, cron=cron, timezone=timezone, announce=announce)
    elif cron is not None:
        deployments.serve(request, cron, timezone=timezone, announce=announce)
    else:
        raise InputError("there is nothing to do", where="deploy", mend="give --cron, --work-pool, or both")
