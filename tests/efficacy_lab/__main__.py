"""``python -m efficacy_lab`` (with ``tests`` on the path): does the data train?"""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from synth.cli.app import run as run_application

__all__ = ["efficacy", "main"]


def efficacy(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results and models go.")] = Path(
        "out/efficacy"
    ),
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="Shards of builds (default: in --out).")
    ] = None,
    plan: Annotated[Path | None, typer.Option("--plan", metavar="FILE", help="A plan in YAML; else R1.")] = None,
    seeds: Annotated[
        str, typer.Option("--seeds", help="development, untouched (run once, when nothing is changed), or numbers.")
    ] = "development",
) -> None:
    """Train a tiny decoder on runs of a generated world, let it act, compare arms.

    One seed after the other; DIR gets seed-N.json of each. The same command goes on after a kill, and a seed that is
    finished is not run again. Prints the table of all seeds of the kind that are in DIR. Needs the extra "train".
    """
    from efficacy_lab.experiment import run_seed
    from efficacy_lab.plan import SHIPPED, load_plan
    from efficacy_lab.table import read_seeds, table_of
    from synth.errors import InputError

    found = load_plan(plan or SHIPPED)
    known = (*found.seeds.development, *found.seeds.untouched)
    kinds = {"development": found.seeds.development, "untouched": found.seeds.untouched}
    try:
        wanted = kinds.get(seeds) or tuple(int(one) for one in seeds.split(","))
    except ValueError:
        wanted = ()
    if not wanted or set(wanted) - set(known):
        mend = f"say development, untouched, or some of {', '.join(map(str, known))}, with commas"
        raise InputError(f"{seeds!r} are no seeds of the plan", where="--seeds", mend=mend)
    begun = monotonic()

    def told(line: str) -> None:
        print(f"{monotonic() - begun:6.0f} s  {line}", file=sys.stderr, flush=True)

    for seed in wanted:
        run_seed(found, seed, out, store or out / "store", told)
    shown = found.seeds.untouched if set(wanted) & set(found.seeds.untouched) else found.seeds.development
    files = [file for seed in shown if (file := out / f"seed-{seed}.json").is_file()]
    print(table_of(found, read_seeds(found, files)), end="")


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit, as ``synth`` does."""
    application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    application.command()(efficacy)
    run_application(application, arguments)


if __name__ == "__main__":
    main()
