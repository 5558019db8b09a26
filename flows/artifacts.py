"""What a build did, as Prefect artifacts. Keys are lowercase with dashes; the versions of a key show run after run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from synth.schemas.reports import RunUse, StageReport

__all__ = ["artifact_key", "cost_table", "rows_table", "yield_table"]


def artifact_key(dataset: str, kind: str) -> str:
    """``<dataset>-<kind>`` in the letters that Prefect takes: a-z, 0-9 and single dashes."""
    key = re.sub(r"[^a-z0-9]+", "-", f"{dataset}-{kind}".lower()).strip("-")
    return key or "build"


def yield_table(reports: Sequence[StageReport]) -> list[dict[str, Any]]:
    """One row per stage: units read, kept, their share in percent, and what fell out, by reason and kind of error."""
    return [
        {
            "stage": report.label,
            "read": report.rows_in,
            "kept": report.kept,
            "yield %": round(100 * report.yield_, 1),
            "rejected": _counts(report.rejected),
            "errored": _counts(report.errored),
        }
        for report in reports
    ]


def rows_table(reports: Sequence[StageReport]) -> list[dict[str, Any]]:
    """One row per table that a stage wrote."""
    return [
        {"stage": report.label, "table": table, "rows": rows}
        for report in reports
        for table, rows in sorted(report.rows.items())
    ]


def cost_table(reports: Sequence[StageReport]) -> list[dict[str, Any]]:
    """One row per stage: wall seconds of this run, shards made and found in the store, model calls of this run where
    any stage made some, and what else was counted."""
    called = any(report.run is not None for report in reports)
    return [
        {
            "stage": report.label,
            "seconds": None if report.seconds is None else round(report.seconds, 2),
            "shards": report.shards,
            "found in store": report.reused_shards,
            **(_calls(report.run or RunUse()) if called else {}),
            "counted": ", ".join(f"{name} {value:g}" for name, value in sorted(report.numbers.items())),
        }
        for report in reports
    ]


def _calls(use: RunUse) -> dict[str, Any]:
    return {
        "model calls": use.calls,
        "from the store": use.from_store,
        "tokens": use.prompt_tokens + use.completion_tokens,
        "cost": use.cost,
    }


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
