"""What an export reports: ``export.json``, and the card beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from synth.dataset.configs import SPLITS
from synth.dataset.licences import licence_of
from synth.dataset.usage import filled
from synth.export.contract import Format
from synth.identity import digest
from synth.schemas.described import Described
from synth.schemas.row import JsonObject

__all__ = ["EXPORT_FILE", "ExportReport", "SplitReport", "export_card"]

LEFT_OUT = {
    "split": "of another split",
    "role": "by another role (`--select role=...`)",
    "success": "the run did not end as asked for (`--select success=...`)",
    "label": "another label (`--select label=...`)",
    "behaviour": "no turn shows the behaviour (`--select behaviour=...`)",
    "pivot": "no pivot, or too little was tried to tell (`--select pivot=...`)",
    "rating": "rated lower, or not rated",
    "drawn": "not drawn by its rating",
    "difficulty": "the task is easier or harder, or its difficulty is unknown",
    "chosen": "the task is not in the curriculum",
    "duplicates": "another run says the same (`--select duplicates=true` takes all)",
    "selected": "pairs outside the dataset's selection (`--select selected=any` takes all)",
    "kind": "pairs of another kind",
    "lengths": "pairs of whole runs that would make one side longer on average (`--select lengths=any` takes all)",
}
"""Condition -> why it leaves rows out, and, unless the user asked for that, the option that takes them."""
EXPORT_FILE = "export.json"
"""The file by which a folder is known as an export, which a new export may replace."""


class SplitReport(Described):
    """One split: ``exported`` + all of ``inexpressible`` + all of ``left_out`` = ``rows``."""

    rows: int
    """Rows of the source table."""
    left_out: dict[str, int]
    """Rows that the selection leaves out, by the first condition that does."""
    exported: int
    """Rows that became records."""
    records: int
    """Records that they became: a row may become several."""
    inexpressible: dict[str, int]
    """Rows that the format can't hold, by reason."""


class ExportReport(Described):
    """Where an export comes from, and what became of every row. It holds no time, host or path."""

    format: str
    """Name of the format."""
    source: str
    """Name of the dataset."""
    table: str
    """The table whose rows were exported."""
    schema_version: str
    """Version of the dataset's tables."""
    command: str
    """The command, without the folders."""
    selection: JsonObject
    """Conditions on the rows, those that the format sets itself included."""
    thoughts: bool
    """Whether the agent's thoughts were exported."""
    tokenizer: str | None
    """What counted tokens; None = nothing was to be cut."""
    max_length: int | None
    """Tokens that a record may have."""
    splits: dict[str, SplitReport]
    """By split, those without rows left out."""
    unmeasured_steps: int
    """Steps in exported rows that have no label of their own, since nothing was measured for them."""
    cut_rows: int
    """Exported rows in which observations were cut."""
    cut_observations: int
    """Observations that were cut in them."""
    licences: dict[str, int]
    """Exported rows by licence; ``unknown`` = not stated."""
    reasons: dict[str, str]
    """A sentence for each reason why rows could not be held."""
    examples: dict[str, str]
    """For each reason, the first row and what was in the way."""
    files: dict[str, str]
    """sha256 of each file (of sessions: of all files of a split, in order)."""

    @property
    def exported(self) -> int:
        """Rows that became records, over all splits."""
        return sum(split.exported for split in self.splits.values())

    @property
    def records(self) -> int:
        """Records, over all splits."""
        return sum(split.records for split in self.splits.values())

    @property
    def inexpressible(self) -> dict[str, int]:
        """Rows that could not be held, by reason, over all splits; the most frequent reason first."""
        return _total(split.inexpressible for split in self.splits.values())

    @property
    def left_out(self) -> dict[str, int]:
        """Rows that the selection leaves out, by condition, over all splits; the most frequent one first."""
        return _total(split.left_out for split in self.splits.values())

    @property
    def left_out_lines(self) -> tuple[str, ...]:
        """How many rows were left out, why, and which option takes them."""
        return tuple(f"{count:,} left out: {LEFT_OUT[name]}" for name, count in self.left_out.items())


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def export_card(report: ExportReport, format_: Format) -> str:
    """The README of an export: where it comes from, how it is opened, what is missing and why."""
    licence = licence_of(report.licences)
    matter: dict[str, Any] = {"pretty_name": f"{report.source} as {report.format}", "license": licence.id}
    if licence.name:
        matter["license_name"] = licence.name
    matter["tags"] = ["synthetic", "agent-traces"]
    there = [split for split in SPLITS if split in report.splits and report.splits[split].records]
    if format_.layout != "sessions":
        pattern = "{}-*.parquet" if format_.layout == "parquet" else "{}.jsonl"
        files = [{"split": split, "path": pattern.format(split)} for split in there]
        # `datasets` (5.2) knows a folder again by its last name and by what the card says of its configs: without the
        # hash, load_dataset would give the rows of another export in a folder of that name, or the ones before.
        content = digest(report.files)
        matter["configs"] = [{"config_name": "default", "description": f"content {content}", "data_files": files}]
    stated = ", ".join(f"{name} ({count:,} rows)" for name, count in sorted(report.licences.items()))
    lines = [
        f"# {report.source} as {report.format}",
        "",
        format_.summary,
        "",
        f"Made by `{report.command}` from the table `{report.table}` (schema {report.schema_version}). Licence of the "
        f"documents in it, as the rows state it: {stated or 'unknown'}.",
        "",
        "| split | rows | left out | exported | records | could not be held |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {one.rows:,} | {sum(one.left_out.values()):,} | {one.exported:,} | {one.records:,} | "
            f"{sum(one.inexpressible.values()):,} |"
            for name, one in report.splits.items()
        ),
        "",
    ]
    lines += [f"* {line}" for line in report.left_out_lines]
    for reason, count in report.inexpressible.items():
        lines.append(f"* {count:,} `{reason}`: {report.reasons[reason]}")
    if report.inexpressible or report.left_out:
        lines.append("")
    if report.unmeasured_steps:
        lines += [f"{report.unmeasured_steps:,} steps in these records were not measured and have no label.", ""]
    if report.max_length is not None:
        lines += [
            f"Records have at most {report.max_length:,} tokens as `{report.tokenizer}` counts them, what a chat "
            f"template adds counted roughly. {report.cut_observations:,} observations of {report.cut_rows:,} rows were "
            "cut to that end; each ends with a line that says so.",
            "",
        ]
    usage = filled(format_.usage, report.source, "FOLDER", there)
    front = yaml.safe_dump(matter, sort_keys=False, allow_unicode=True, width=120)
    return "---\n" + front + "---\n\n" + "\n".join(lines) + "\n## Use\n\n" + usage + "\n"
