"""Copies that dedup should have left out or marked: documents, runs and pairs, compared by hashes of all of them.

What is nearly alike is not compared again: that takes an index of signatures, and clusters at a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from synth.dataset.audit.findings import Findings
from synth.dataset.audit.reading import rows
from synth.dataset.reader import Dataset
from synth.filtering.dedup import Rules, text_hash
from synth.filtering.dedup.levels import LEVELS, LevelName
from synth.schemas.documents import Document
from synth.schemas.reports import BuildReport
from synth.schemas.steps import PreferenceRow
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["COPY_RULES", "judge_copies"]

COPY_RULES: Mapping[str, str] = {
    "copy": "By the dataset's own recipe no two documents, pairs, or unmarked runs of a role are the same.",
}
_TABLES: tuple[tuple[LevelName, str, type[Any]], ...] = (
    ("documents", "documents", Document),
    ("trajectories", "trajectories", TrajectoryRow),
    ("preferences", "pairs", PreferenceRow),
)
_READ = ("docs", "records")
"""Sources whose documents are compared."""


def judge_copies(dataset: Dataset, report: BuildReport | None, found: Findings) -> None:
    """Every row of the tables that the recipe of ``report`` says are compared. Memory: 100 bytes a row."""
    recipe = {} if report is None else report.recipe
    for level, key, row_type in _TABLES:
        rules = _rules((recipe.get("dedup") or {}).get(key))
        if rules is None or (level == "documents" and not _read(recipe)):
            continue
        held: dict[tuple[str, ...], str] = {}
        for place, row in rows(dataset, level, row_type):
            if level == "trajectories" and row.duplicate_of is not None:
                continue
            found.rows["copy"] += 1
            role = (row.role,) if level == "trajectories" else ()
            for how, key_of_row in _keys(level, row, rules):
                first = held.setdefault((*role, how, key_of_row), row.id)
                if first != row.id:
                    found.add(place, row.id, "copy", f"it has the same {how} as {first}")


def _keys(level: LevelName, row: Any, rules: Rules) -> Iterator[tuple[str, str]]:
    wanted = LEVELS[level]
    if rules.exact:
        yield "words", text_hash(wanted.text(row))
    if rules.structural and wanted.structure is not None and (key := wanted.structure(row)) is not None:
        yield "calls", key


def _read(recipe: Mapping[str, Any]) -> bool:
    kinds = {part: (recipe.get(part) or {}).get("kind") for part in ("source", "questions")}
    return kinds["source"] in _READ and kinds["questions"] != "given"


def _rules(given: Any) -> Rules | None:
    if given is None:
        return None
    try:
        return Rules.model_validate({**given, "semantic": None, "encoder": "hashed", "model": None})
    except ValidationError:
        return None
