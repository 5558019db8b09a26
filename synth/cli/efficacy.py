"""``synth efficacy``: does the data train?"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

__all__ = ["efficacy"]


def efficacy(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results and models go.")] = Path(
        "out/efficacy"
    ),
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="Arms, seeds and endpoints in YAML, or `large`; without one, those that ship.",
        ),
    ] = None,
    arms: Annotated[str, typer.Option("--arms", help="core, full, or names with commas.")] = "core",
    places: Annotated[
        str | None, typer.Option("--places", help="Where arms are tested: full, or names with commas; the first.")
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="How many development seeds; all.")] = None,
    final: Annotated[
        bool, typer.Option("--final", help="Run the untouched seeds: once, when nothing is changed any more.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Seeds at once, each in a process and a thread.")] = 1,
    device: Annotated[str, typer.Option("--device", help="Where models are: cpu, cuda, cuda:1.")] = "cpu",
    only: Annotated[int | None, typer.Option("--only", hidden=True)] = None,
) -> None:
    """Train a tiny decoder on exported rows, let it act, compare arms. The same command goes on after a kill.

    DIR/development (or DIR/final) gets table.md, report.html and results.json, brought up to date after each arm of
    each seed; with --jobs, when all are finished. Needs the extra "train".
    """
    from synth.efficacy.experiment import run_plan
    from synth.efficacy.page import write_findings
    from synth.efficacy.plan import Purpose, load_plan
    from synth.efficacy.table import table_of
    from synth.efficacy.work import Trainer

    found = load_plan(plan)
    chosen = {"core": found.core, "full": tuple(found.arms)}.get(arms, tuple(arms.split(",")))
    where = None if places is None else tuple(found.data.places) if places == "full" else tuple(places.split(","))
    purpose: Purpose = "final" if final else "development"
    begun = monotonic()

    def told(line: str) -> None:
        print(f"{monotonic() - begun:6.0f} s  {line}", file=sys.stderr, flush=True)

    given = ["--out", str(out), "--arms", arms, "--device", device, *(["--final"] if final else [])]
    for name, value in (("--plan", plan), ("--places", places), ("--seeds", seeds)):
        given += [] if value is None else [name, str(value)]
    command = shlex.join(["synth", "efficacy", *given, "--jobs", str(jobs)])
    shown = partial(write_findings, out / purpose, found, command=command)
    run = partial(run_plan, found, out=out, purpose=purpose, arms=chosen, seeds=seeds, places=where)
    trainer = Trainer(found, out / "store", device=device)
    if only is not None:  # the process that started this one makes the table
        run(trainer, only=only, told=told)
        return
    wanted = found.seeds_for(purpose, seeds)
    if jobs > 1 and len(wanted) > 1:
        _in_processes(given, wanted, jobs)
    results = run(trainer, told=told, shown=shown)
    told(f"done: {out / purpose}/table.md, report.html, results.json")
    print(table_of(found, results), end="")


def _in_processes(given: Sequence[str], seeds: Sequence[int], jobs: int) -> None:
    """Run the command with ``given`` for each seed in a process of its own, ``jobs`` at once.

    Raises:
        BuildError: one of them failed; what it said stands on standard error.
    """
    from synth.errors import BuildError

    command = [sys.executable, "-c", "from synth.cli import main; main()", "efficacy", *given, "--only"]
    waiting, running = list(seeds), dict[int, subprocess.Popen[bytes]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                seed = waiting.pop(0)
                running[seed] = subprocess.Popen([*command, str(seed)])
            for seed, process in list(running.items()):
                with suppress(subprocess.TimeoutExpired):
                    if process.wait(0.2):
                        mend = "see the line above; the same command goes on from what is finished"
                        raise BuildError("it was not finished", where=f"seed {seed}", mend=mend)
                    del running[seed]
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()
