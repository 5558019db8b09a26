"""A dataset in another format: read, choose, cut, convert, write, count, move into place.

Rows stream: memory holds one group of records and what the selection needs. The same dataset and options give the same
bytes. The destination appears only when it is complete.
"""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from synth.annotate.contexts.tokens import Tokenizer, open_tokenizer
from synth.dataset.configs import SPLITS
from synth.dataset.files import CARD_FILE, REPORT_FILE
from synth.dataset.reader import Dataset
from synth.errors import DatasetError, InputError
from synth.export.contract import UNMEASURED, About, Format, Inexpressible, Item, Record, Run, StepOf, TaskPages, Why
from synth.export.items import Chooser, Cutter, items_of
from synth.export.own_reward import reward_files
from synth.export.report import EXPORT_FILE, ExportReport, SplitReport, export_card
from synth.export.selection import Selection
from synth.export.writing import Writer, json_line, open_writer
from synth.identity import canonical_json
from synth.prompting import overlaid
from synth.prompting.own import checked_prompts
from synth.schemas.rl import RlRow
from synth.schemas.row import SCHEMA_VERSION, JsonList
from synth.store import check_destination, staged
from synth.store.files import file_sha256

__all__ = ["Exported", "export_dataset"]


@dataclass(frozen=True)
class Exported:
    """What came of an export."""

    path: Path
    report: ExportReport


@dataclass
class _Tally:
    """What was counted on the way."""

    licences: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    tools: dict[str, JsonList] = field(default_factory=dict)
    """The different lists of tools that exported tasks have, by their text."""
    rewards: set[str] = field(default_factory=set)
    """Reward functions that exported tasks name."""
    unmeasured_steps: int = 0
    cut_rows: int = 0
    cut_observations: int = 0


def export_dataset(
    dataset: Dataset,
    format_: Format,
    out: Path,
    *,
    selection: Selection | None = None,
    thoughts: bool = True,
    tokenizer: Path | None = None,
    max_length: int | None = None,
) -> Exported:
    """Write ``dataset`` to ``out`` in ``format_``.

    Args:
        selection: Conditions beside those that the format sets itself, which they replace.
        thoughts: Whether the agent's thoughts are exported.
        tokenizer: A model's ``tokenizer.json``, or its folder; None = the counter that ships.
        max_length: Cut observations so that a record has at most so many tokens; None = nothing is cut.

    Raises:
        InputError: an option can't be used, the dataset lacks a table, or no row is left.
        StoreError: ``out`` holds something other than an export, or can't be written.
        DatasetError: the dataset is damaged.
    """
    for table in (format_.source, *format_.needs):
        if table not in dataset.configs:
            mend = f"choose another format; the dataset has {', '.join(dataset.configs) or 'no rows'}"
            raise InputError(
                f"the dataset has no table {table}, which {format_.name} is made of", where=str(dataset.path), mend=mend
            )
    if dataset.redacted and format_.source != "rl":  # which quotes nothing
        what = f"text is redacted in this edition of the dataset, and {format_.name} would hold references in its place"
        raise InputError(
            what, where=str(dataset.path), mend="put the text back first: synth rehydrate DIR --from COPY --out NEW"
        )
    wanted = (selection or Selection()).over(format_.default)
    choose = Chooser(wanted, dataset, format_.source)
    counter = _counter(tokenizer, max_length)
    cut = None if counter is None or max_length is None else Cutter(counter, max_length)
    check_destination(out, marker=EXPORT_FILE)
    about = About(dataset=_name(dataset), thoughts=thoughts)
    tally = _Tally()
    with overlaid(_prompts(dataset)), staged(out, marker=EXPORT_FILE) as staging:
        splits: dict[str, SplitReport] = {
            split: made
            for split in SPLITS
            if (made := _split(dataset, format_, split, staging, about, wanted, choose, cut, tally)).rows
        }
        report = _report(format_, about, wanted, selection, counter, max_length, splits, tally, staging)
        if not report.records:
            raise _nothing(dataset, report)
        (staging / CARD_FILE).write_text(export_card(report, format_), encoding="utf-8")
        (staging / EXPORT_FILE).write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return Exported(out, report)


def _name(dataset: Dataset) -> str:
    """Of the recipe; of a folder without a report, the folder's."""
    if (dataset.path / REPORT_FILE).is_file():
        return dataset.report.dataset
    return dataset.path.resolve().name


def _prompts(dataset: Dataset) -> dict[str, str]:
    """The prompts that its recipe laid over ours."""
    if not (dataset.path / REPORT_FILE).is_file():
        return {}
    return checked_prompts(dataset.report.recipe.get("prompts") or {})


def _counter(tokenizer: Path | None, max_length: int | None) -> Tokenizer | None:
    if max_length is None:
        if tokenizer is not None:
            raise InputError("there is nothing to count", where="--tokenizer", mend="say --max-length as well")
        return None
    if max_length < 1:
        raise InputError(f"{max_length} tokens hold nothing", where="--max-length", mend="give 1 or more")
    path = tokenizer / "tokenizer.json" if tokenizer is not None and tokenizer.is_dir() else tokenizer
    try:
        return open_tokenizer(path)
    except InputError as error:
        raise InputError(error.what, where=f"--tokenizer {tokenizer}", mend=error.mend) from None


def _split(
    dataset: Dataset,
    format_: Format,
    split: str,
    folder: Path,
    about: About,
    wanted: Selection,
    choose: Chooser,
    cut: Cutter | None,
    tally: _Tally,
) -> SplitReport:
    rows = exported = records = 0
    reasons: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    if wanted.split is not None and split not in wanted.split:
        rows = dataset.count(format_.source, split) if split in dataset.splits(format_.source) else 0
        return SplitReport(rows=rows, left_out={"split": rows}, exported=0, records=0, inexpressible={})
    writer = open_writer(format_, folder, split)
    index = _Index(folder / "index" / f"{split}.jsonl") if format_.index else None
    try:
        needs = {"tasks": "tasks" in format_.needs, "facts": "facts" in format_.needs}
        for item in items_of(dataset, format_.source, split, helpers=format_.helpers, **needs):
            rows += 1
            if (condition := choose(item)) is not None:
                left_out[condition] += 1
                continue
            try:
                fitting, cuts = (item, 0) if cut is None else cut(item)
                made = list(format_.convert(fitting, about, cuts))
            except Inexpressible as error:
                reasons[error.why] += 1
                tally.examples.setdefault(error.why, f"{_id(item)}: {error}")
                continue
            times = wanted.times(item.row.turns) if isinstance(item, Run) else 1
            if times > 1 and (format_.layout == "sessions" or format_.name.startswith(("adp-", "atif-"))):
                what = f"records of {format_.name} have ids, each of which may stand once"
                raise InputError(what, where="--select repeat", mend="choose a format of rows for training")
            for _ in range(times):
                _write(made, writer, index, item, cuts)
            exported += 1
            if isinstance(item, RlRow):
                tally.tools.setdefault(canonical_json(list(item.tools)), item.tools)
                tally.rewards.add(item.verifier.function)
            records += len(made) * times
            tally.unmeasured_steps += sum(record.get(UNMEASURED, 0) for record in made)
            tally.cut_rows += cuts > 0
            tally.cut_observations += cuts
            tally.licences[_licence(item) or "unknown"] += 1
    finally:
        writer.close()
        if index is not None:
            index.close()
    return SplitReport(
        rows=rows,
        left_out=dict(sorted(left_out.items())),
        exported=exported,
        records=records,
        inexpressible=dict(sorted(reasons.items())),
    )


class _Index:
    """Says of each line of a file which row it comes from."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[str] = []

    def add(self, item: Item, part: int, cuts: int) -> None:
        row = item.row if isinstance(item, Run) else item.run.row if isinstance(item, StepOf) else item
        assert not isinstance(row, TaskPages)  # their records name their task
        facts = {"id": row.id, "task_id": row.task_id, "licence": row.licence, "part": part, "cut_observations": cuts}
        self._lines.append(json_line(facts))
        if len(self._lines) == 1_000:
            self.close()

    def close(self) -> None:
        if self._lines:
            self._path.parent.mkdir(exist_ok=True)
            with open(self._path, "a", encoding="utf-8", newline="\n") as file:
                file.writelines(self._lines)
            self._lines = []


def _write(made: list[Record], writer: Writer, index: _Index | None, item: Item, cuts: int) -> None:
    for part, record in enumerate(made):
        writer.add(record)
        if index is not None:
            index.add(item, part, cuts)


def _id(item: Item) -> str:
    if isinstance(item, Run | TaskPages):
        return item.row.id
    return item.step.id if isinstance(item, StepOf) else item.id


def _licence(item: Item) -> str | None:
    if isinstance(item, Run | TaskPages):
        return item.row.licence
    return item.run.row.licence if isinstance(item, StepOf) else item.licence


def _report(
    format_: Format,
    about: About,
    wanted: Selection,
    given: Selection | None,
    counter: Tokenizer | None,
    max_length: int | None,
    splits: dict[str, SplitReport],
    tally: _Tally,
    folder: Path,
) -> ExportReport:
    for split, one in splits.items():
        if one.exported + sum(one.left_out.values()) + sum(one.inexpressible.values()) != one.rows:
            raise DatasetError(f"rows of {split} went astray on the way", where=about.dataset)
    there = [split for split, one in splits.items() if one.records]
    if format_.beside is not None and there:
        for name, data in format_.beside(about.dataset, there, list(tally.tools.values())).items():
            (folder / name).write_bytes(data)
    for name, data in reward_files(about.dataset, tally.rewards).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    reasons = sorted({reason for one in splits.values() for reason in one.inexpressible})
    return ExportReport(
        format=format_.name,
        source=about.dataset,
        table=format_.source,
        schema_version=SCHEMA_VERSION,
        command=_command(format_, about, given, max_length),
        selection=wanted.model_dump(mode="json", include=set(wanted.set())),
        thoughts=about.thoughts,
        tokenizer=None if counter is None else counter.name,
        max_length=max_length,
        splits=splits,
        unmeasured_steps=tally.unmeasured_steps,
        cut_rows=tally.cut_rows,
        cut_observations=tally.cut_observations,
        licences=dict(sorted(tally.licences.items())),
        reasons={reason: Why(reason).sentence for reason in reasons},
        examples={reason: tally.examples[reason] for reason in reasons},
        files=_hashes(folder, sessions=format_.layout == "sessions"),
    )


def _command(format_: Format, about: About, given: Selection | None, max_length: int | None) -> str:
    words = ["synth", "export", about.dataset, "--to", format_.name]
    for name, value in (given or Selection()).set().items():
        if isinstance(value, bool):
            text = str(value).lower()
        elif name == "repeat":
            text = ",".join(f"{turns}:{times}" for turns, times in value)
        elif name == "difficulty":
            text = f"{value[0]}..{value[1]}"
        else:
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += ["--select", f"{name}={text}"]
    words += [] if about.thoughts else ["--no-thoughts"]
    words += [] if max_length is None else ["--max-length", str(max_length)]
    return shlex.join(words)


def _hashes(folder: Path, *, sessions: bool) -> dict[str, str]:
    if not sessions:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}
    found: dict[str, str] = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        whole = hashlib.sha256()
        for path in sorted(place.iterdir()):
            whole.update(f"{path.name}\0{file_sha256(path)}\n".encode())
        found[f"{place.name}/"] = whole.hexdigest()
    return found


def _nothing(dataset: Dataset, report: ExportReport) -> InputError:
    rows = sum(one.rows for one in report.splits.values())
    left = sum(report.left_out.values())
    if report.left_out.get("selected") == rows and report.selection.get("selected") is True:
        mend = f"--select selected=any exports all {rows:,} pairs, --select kind=trajectory those of whole runs"
        raise InputError("no pair of the dataset is selected", where=str(dataset.path), mend=mend)
    why = [f"{count:,} {reason}" for reason, count in report.inexpressible.items()]
    parts = [f"the selection leaves out {left:,} of {rows:,} rows of {report.table}", *why]
    chosen = " ".join(f"{name}={value}" for name, value in report.selection.items())
    return InputError(
        f"nothing is left to export: {', '.join(parts)}",
        where=str(dataset.path),
        mend=f"select other rows with --select (now: {chosen or 'all'})",
    )
