"""``synth export``, ``synth import``, ``synth mix``: datasets to and from other formats, and several as one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth.api import export as export_dataset
from synth.api import import_file
from synth.api import mix as mix_datasets
from synth.cli.options import DatasetFolder, JsonOption, StoreOption
from synth.errors import InputError
from synth.late import late

if TYPE_CHECKING:
    from synth.export.exporting import Exported
    from synth.pipelines.importing import Imported
    from synth.store import remote
else:
    remote = late("synth.store.remote")

__all__ = ["export", "import_", "mix"]


def export(
    folder: DatasetFolder,
    to: Annotated[
        str,
        typer.Option("--to", metavar="FORMAT", help="trl-sft, trl-dpo, verl, openai, ... (a wrong name lists all)."),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the export goes; an earlier one is replaced.")
    ],
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select",
            metavar="KEY=VALUE",
            help="Which rows, may be given several times: split=train,test role=policy success=true label=1 rating=4 "
            "behaviour=recovery repeat=20:2 difficulty=0.2..0.8 chosen=true selected=any kind=verified_step.",
        ),
    ] = None,
    no_thoughts: Annotated[bool, typer.Option("--no-thoughts", help="Leave the agent's thoughts out.")] = False,
    tokenizer: Annotated[
        Path | None, typer.Option("--tokenizer", metavar="PATH", help="A model's tokenizer.json, or its folder.")
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option("--max-length", metavar="L", help="Cut long observations so that a record has at most L tokens."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a dataset in the format of a trainer or of another project, and say what it could not hold."""

    done = export_dataset(
        folder, to, out, select=select or (), thoughts=not no_thoughts, tokenizer=tokenizer, max_length=max_length
    )
    print(done.report.model_dump_json(indent=2) if as_json else _summary(done))


def _summary(done: Exported) -> str:
    report = done.report
    lines = [f"{report.source} as {report.format}: {remote.url_of(done.path)}"]
    for name, one in report.splits.items():
        parts = [f"{one.exported:,} of {one.rows:,} rows of {report.table}"]
        parts += [f"{one.records:,} records"] if one.records != one.exported else []
        lines.append(f"  {name:<11} {', '.join(parts)}")
    lines += [f"  {line}" for line in report.left_out_lines]
    for reason, count in report.inexpressible.items():
        lines.append(f"  {count:,} {reason}: {report.reasons[reason]}")
    if report.cut_rows:
        lines.append(f"  {report.cut_observations:,} observations of {report.cut_rows:,} rows were cut")
    lines.append(f"how to use it: {remote.url_of(done.path / 'README.md')}")
    return "\n".join(lines)


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="PATH", help="JSON Lines, a JSON file with one object or a list, or a folder.")
    ],
    from_: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="adp, atif, openai, openhands, sharegpt, swe-agent, or auto: by the keys.",
        ),
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where the dataset goes; an earlier one is replaced."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only show what would be taken, and why the rest would not.")
    ] = False,
    tasks_file: Annotated[
        Path | None,
        typer.Option(
            "--tasks-file", metavar="F", help="Questions with gold answers (JSONL or CSV): they judge the runs."
        ),
    ] = None,
    all_correct: Annotated[
        bool, typer.Option("--all-correct", help="Treat runs without a verdict as correct.")
    ] = False,
    licence: Annotated[
        str | None,
        typer.Option("--licence", metavar="SPDX", help="Of what the observations quote, where the file is silent."),
    ] = None,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option("--benchmark", metavar="F", help="No run may overlap with it (JSONL, JSON, CSV, Parquet, text)."),
    ] = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Mark all but one of several equivalent runs: exports leave them out.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import trajectories recorded elsewhere as a dataset."""

    if (out is None) is not check:
        raise InputError("give --out DIR, or --check to look only", where="synth import", mend="one of both")
    done = import_file(
        file,
        from_,
        out,
        tasks_file=tasks_file,
        all_correct=all_correct,
        licence=licence,
        benchmarks=benchmark or (),
        distinct=distinct,
        store=store,
        progress="quiet" if as_json else "auto",
    )
    report = done.report
    print(report.model_dump_json(indent=2) if as_json else _imported(done))
    if not report.trajectories:
        cause = next(iter(report.causes))
        where = "--check" if done.path is None else f"the table `rejected` in {remote.url_of(done.path)}"
        raise InputError(
            f"none of {report.objects:,} objects is a run that {report.format} can hold: {cause}",
            where=str(file),
            mend=f"see {where}; is it really {report.format}?",
        )


def _imported(done: Imported) -> str:
    """What became of the objects, refusals by cause."""
    report = done.report
    lines = [f"{report.file} from {report.format}: {remote.url_of(done.path) if done.path else 'only looked at'}"]
    lines.append(f"  {report.trajectories:,} of {report.objects:,} objects are runs")
    if report.judged:
        lines.append(f"  {', '.join(f'{count:,} {what}' for what, count in report.judged.items())}")
    for reason, count in report.rejected.items():
        lines.append(f"  {count:,} {reason}" + (": the table `rejected` says where" if done.path else ""))
    for cause, count in list(report.causes.items())[:_CAUSES]:
        lines.append(f"    {count:>7,}  {cause} ({report.examples[cause]})")
    if len(report.causes) > _CAUSES:
        lines.append(f"    {len(report.causes) - _CAUSES:,} more causes: --json lists them")
    return "\n".join(lines)


_CAUSES = 20


def mix(
    parts: Annotated[
        list[str], typer.Argument(metavar="DIR=WEIGHT...", help="Datasets, each with its share of the tasks.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the mix goes; an earlier mix is replaced.")],
    tasks: Annotated[
        int | None, typer.Option("--tasks", metavar="N", help="How many tasks; else as many as the weights allow.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="What the tasks are drawn with.")] = 7,
    near: Annotated[
        float | None,
        typer.Option("--near", metavar="SHARE", help="Leave out questions that share so many n-grams with another's."),
    ] = None,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option("--benchmark", metavar="F", help="No task may overlap with it (JSONL, JSON, CSV, Parquet, text)."),
    ] = None,
    refusals: Annotated[
        float | None,
        typer.Option("--refusals", metavar="SHARE", help="Share of tasks whose right end is to refuse."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Several datasets as one, by weights: tasks are drawn, and all that derives from them comes along."""

    weights: dict[Path | str, float] = {}
    for text in parts:
        folder, sign, weight = text.rpartition("=")
        try:
            if not sign or folder in weights:
                raise ValueError
            weights[folder] = float(weight)
        except ValueError:
            raise InputError("this is not a share of a mix", where=text, mend="write each DIR=WEIGHT, once") from None
    done = mix_datasets(weights, out, tasks=tasks, seed=seed, near=near, benchmarks=benchmark or (), refusals=refusals)
    report = done.report
    if as_json:
        print(report.model_dump_json(indent=2))
        return
    print(f"{sum(part.tasks for part in report.parts):,} tasks: {remote.url_of(done.path)}")
    for part in report.parts:
        doubled = f", {part.doubled:,} of them asked by another one already" if part.doubled else ""
        doubled += f", {part.contaminated:,} overlap with a benchmark" if part.contaminated else ""
        print(f"  {part.tasks:,} of {part.dataset} ({100 * part.weight:.1f} %, of {part.available:,}{doubled})")
    if refusals is not None:
        print(f"  {sum(part.refusals or 0 for part in report.parts):,} of them are to be refused")
    for config, splits in report.tables.items():
        print(f"  {config:<13} {sum(splits.values()):>8,}")
