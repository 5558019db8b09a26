"""``synth efficacy``: does the data train?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["efficacy"]


def efficacy(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results and models go.")] = Path(
        "out/efficacy"
    ),
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Arms, seeds and endpoints in YAML; without one, those that ship."),
    ] = None,
    arms: Annotated[str, typer.Option("--arms", help="core, full, or names with commas.")] = "core",
    places: Annotated[
        str | None, typer.Option("--places", help="Where arms are tested: full, or names with commas; the first.")
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="How many development seeds; all.")] = None,
    final: Annotated[
        bool, typer.Option("--final", help="Run the untouched seeds: once, when nothing is changed any more.")
    ] = False,
) -> None:
    """Train a tiny decoder on exported rows, let it act, compare arms. The same command goes on after a kill."""
    from synth.efficacy.experiment import run_plan
    from synth.efficacy.plan import load_plan
    from synth.efficacy.table import table_of
    from synth.efficacy.work import Trainer
    from synth.store.files import write_file

    found = load_plan(plan)
    chosen = {"core": found.core, "full": tuple(found.arms)}.get(arms, tuple(arms.split(",")))
    where = None if places is None else tuple(found.data.places) if places == "full" else tuple(places.split(","))
    results = run_plan(
        found,
        Trainer(found, out / "store"),
        out,
        purpose="final" if final else "development",
        arms=chosen,
        seeds=seeds,
        places=where,
        told=lambda line: print(line, file=sys.stderr, flush=True),
    )
    table = table_of(found, results)
    folder = out / results.purpose
    write_file(folder / "results.json", results.model_dump_json(indent=1).encode())
    write_file(folder / "table.md", table.encode())
    print(table, end="")
