"""``synth validate`` and ``synth scan``: prove a finished dataset, and look for what must not be published."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from synth.cli.options import DatasetFolder, JsonOption, environment_options
from synth.errors import DatasetError, InputError
from synth.late import late

if TYPE_CHECKING:
    from synth.dataset import audit as deep_audit
    from synth.dataset.rules import coverage as rule_coverage
    from synth.dataset.rules import derived
    from synth.dataset.rules import validate as rules
    from synth.publish import leaks
    from synth.store import remote
else:
    deep_audit = late("synth.dataset.audit")
    rule_coverage = late("synth.dataset.rules.coverage")
    derived = late("synth.dataset.rules.derived")
    rules = late("synth.dataset.rules.validate")
    leaks = late("synth.publish.leaks")
    remote = late("synth.store.remote")

__all__ = ["scan", "validate"]


def scan(folder: DatasetFolder, as_json: JsonOption = False) -> None:
    """Look for personal data and secrets in every column: e-mail, telephone, accounts, cards, addresses, keys."""

    found = leaks.scan(folder)
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2))
    for one in () if as_json else found.held:
        name = f"{one.config}.{one.column}" if one.column else one.config
        unit = "rows" if one.column else "lines"
        print(f"{name}: {one.kind.value} in {one.rows:,} {unit}, the first is {unit[:-1]} {one.row} of {one.file}")
    if found.held:
        raise typer.Exit(DatasetError.exit_code)
    if not as_json:
        print(f"{remote.url_of(folder)}: {found.rows:,} rows hold no personal data and no secret of a known form")


def validate(
    folder: DatasetFolder,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Also ask every task again, by brute force, from the facts and documents of the dataset alone.",
        ),
    ] = False,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(
            help="With --deep: a benchmark that no task may overlap with; give each one that the recipe names.",
            metavar="FILE",
        ),
    ] = None,
    environment: Annotated[
        Path | None,
        typer.Option(
            "--environment",
            metavar="FILE",
            help="With --deep: YAML with `kind` and options of the environment that the dataset was made in, as it is "
            "here. It is started, and plans and runs are made again in it.",
        ),
    ] = None,
    show_coverage: Annotated[
        bool,
        typer.Option("--coverage", help="List every column: what proves it, or that it is carried and not proven."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Prove every row again: layout, schemas, ADP rules, evidence, splits, and that the card tells the truth."""

    if benchmark and not deep:
        raise InputError("benchmarks are compared by the deep audit", where="--benchmark", mend="say --deep as well")
    if environment and not deep:
        raise InputError("only the deep audit starts anything", where="--environment", mend="say --deep as well")
    if show_coverage:
        for table, column, what in rule_coverage.coverage():
            print(f"{table}.{column}: {', '.join(what) or 'carried, not proven'}")
        return
    place = environment_options(environment) if environment is not None else None
    problems = rules.validate(folder)
    audited = None
    if deep:
        try:
            problems += derived.derived_problems(folder)
            audited = deep_audit.audit(folder, benchmarks=benchmark or (), environment=place)
        except ValueError as error:
            if not problems:
                raise
            # It rests on rows that can be read, and the plain validation has just said which can't.
            print(f"synth: the deep audit stopped at a row that can't be read: {error}", file=sys.stderr)
    if as_json:
        listed = [{"file": p.file, "row": p.row, "what": p.what} for p in problems]
        print(
            json.dumps({"problems": listed, "audit": audited.model_dump(mode="json")} if audited else listed, indent=2)
        )
    else:
        for problem in problems:
            print(problem)
        if audited is not None:
            for violation in audited.violations:
                print(violation)
            Console(highlight=False).print(deep_audit.render_audit(audited))
    violations = audited.total if audited is not None else 0
    if problems or violations:
        found = [_number(len(problems), "problem")] if problems or not deep else []
        found += [_number(violations, "violation")] if audited is not None else []
        print(f"synth: {remote.url_of(folder)}: {', '.join(found)}", file=sys.stderr)
        raise typer.Exit(DatasetError.exit_code)
    if not as_json:
        print(f"{remote.url_of(folder)}: every row holds")


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
