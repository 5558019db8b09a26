"""``python -m efficacy_lab`` (with ``tests`` on the path): does the data train?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from efficacy_lab.serving import environment
from synth.cli.app import run as run_application

if TYPE_CHECKING:
    from efficacy_lab.experiment import Results

__all__ = ["efficacy", "main"]


def efficacy(
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="Shards and replies (default: in --out)."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results and models go.")] = Path(
        "out/efficacy"
    ),
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="Arms, seeds and endpoints in YAML, `large` or `faults`; else those that ship.",
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
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Processes: seeds and bases at once, each in one thread.")
    ] = 1,
    device: Annotated[str, typer.Option("--device", help="Where models are: cpu, cuda, cuda:1.")] = "cpu",
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="SEEDS", help="Run these alone (numbers, commas): a run over several machines."),
    ] = None,
    parts: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="FILE", help="results.json of another machine (repeatable): not run again."),
    ] = None,
    worker: Annotated[bool, typer.Option("--worker", hidden=True)] = False,
) -> None:
    """Train a tiny decoder on exported rows, let it act, compare arms. The same command goes on after a kill.

    DIR/development (or DIR/final) gets table.md and results.json, brought up to date after each arm of
    each seed; with --jobs, when all are finished. Of untouched seeds that are run in parts (--only) there is
    results.json alone until the last part is run, --with those of the others. Needs the extra "train".
    """
    from efficacy_lab.experiment import check_choice, run_plan
    from efficacy_lab.parts import chosen_seeds, groups, joined, read_results
    from efficacy_lab.plan import Purpose, load_plan
    from efficacy_lab.table import table_of, write_findings, write_results
    from efficacy_lab.work import Trainer

    found = load_plan(plan)
    chosen = {"core": found.core, "full": tuple(found.arms)}.get(arms, tuple(arms.split(",")))
    where = {None: (found.first_place,), "full": tuple(found.data.places)}.get(places) or tuple(str(places).split(","))
    check_choice(found, chosen, where)
    purpose: Purpose = "final" if final else "development"
    begun = monotonic()

    def told(line: str) -> None:
        print(f"{monotonic() - begun:6.0f} s  {line}", file=sys.stderr, flush=True)

    given = ["--device", device, *(["--final"] if final else [])]
    for name, value in (("--store", store), ("--plan", plan), ("--places", places), ("--seeds", seeds)):
        given += [] if value is None else [name, str(value)]
    every = found.seeds_for(purpose, seeds)
    held = read_results(parts or (), found, purpose, chosen, where)
    wanted = chosen_seeds(only, every, held.seeds)
    run = partial(run_plan, found, out=out, purpose=purpose, arms=chosen, seeds=seeds, places=where, only=wanted)
    trainer = Trainer(found, store or out / "store", device=device)
    if worker:  # the process that started this one makes the table
        run(trainer, told=told)
        return
    whole = {*wanted, *held.seeds} >= {*every}

    def shown(results: Results) -> None:
        if final and not whole:
            write_results(out / purpose, joined(held, results))
        else:
            write_findings(out / purpose, found, joined(held, results))

    if jobs > 1:
        bases = groups(found, chosen)
        work = [(seed, names) for names in bases for seed in wanted]
        if len(work) > 1:
            _in_processes(["--out", str(out), *given], work, jobs)
    results = run(trainer, told=told, shown=shown)
    shown(results)
    if final and not whole:
        told(f"done: {out / purpose}/results.json; the table comes with the last part (--with)")
        return
    told(f"done: {out / purpose}/table.md, results.json")
    print(table_of(found, joined(held, results)), end="")


def _in_processes(given: Sequence[str], work: Sequence[tuple[int, Sequence[str]]], jobs: int) -> None:
    """Run the command with ``given`` for each (seed, arms) of ``work`` in a process of its own, ``jobs`` at once.

    Raises:
        BuildError: one of them failed; what it said stands on standard error.
    """
    from synth.errors import BuildError

    command = [sys.executable, "-m", "efficacy_lab", *given, "--worker"]
    waiting, running = list(work), dict[int, tuple[int, subprocess.Popen[bytes]]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                seed, arms = waiting.pop(0)
                process = subprocess.Popen([*command, "--only", str(seed), "--arms", ",".join(arms)], env=environment())
                running[process.pid] = seed, process
            for number, (seed, process) in list(running.items()):
                with suppress(subprocess.TimeoutExpired):
                    if process.wait(0.2):
                        mend = "see the line above; the same command goes on from what is finished"
                        raise BuildError("it was not finished", where=f"seed {seed}", mend=mend)
                    del running[number]
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.wait()


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit, as ``synth`` does."""
    application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    application.command()(efficacy)
    run_application(application, arguments)


if __name__ == "__main__":
    main()
