"""Copies put into a Parquet by hand, and tasks of two splits that begin at the same place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from planted import Planter

from synth.dataset.audit import audit
from synth.dataset.audit.findings import Findings
from synth.dataset.audit.table_rules import TABLE_RULES, TaskTable

pytestmark = pytest.mark.thorough


def copies(planter: Planter) -> list[str]:
    return [violation.id for violation in audit(planter.folder).violations if violation.rule == "copy"]


@pytest.mark.parametrize("marked", [False, True])
def test_a_run_that_stands_there_twice_is_found_unless_it_is_marked(marked: bool, planter: Planter) -> None:
    def twice(rows: list[Any]) -> list[Any]:
        if rows[0].split != "train":
            return rows
        more = {"id": "trajectory-copy", "rollout": 99, "duplicate_of": rows[0].id if marked else None}
        return [*rows, rows[0].model_copy(update=more)]

    planter.change_rows("trajectories", twice)
    assert copies(planter) == ([] if marked else ["trajectory-copy"] * 2), "the same words, and the same calls"


def test_a_page_that_stands_there_twice_is_found_where_pages_are_read(planter: Planter) -> None:
    def twice(rows: list[Any]) -> list[Any]:
        page = rows[0]
        return [*rows, page.model_copy(update={"id": "copy", "title": page.title.upper(), "text": page.text.upper()})]

    planter.change_rows("documents", twice)
    assert copies(planter) == [], "a generated world's pages are those that it means"
    path = planter.folder / "report.json"
    report = json.loads(path.read_text())
    report["recipe"]["source"]["kind"] = "docs"
    path.write_text(json.dumps(report))
    assert copies(planter) == ["copy"]


@pytest.mark.parametrize(
    ("details", "other", "apart"),
    [
        ({"app": "desk", "app_seed": 4}, {"app": "desk", "app_seed": 5}, True),
        ({"app": "desk", "app_seed": 4}, {"app": "desk", "app_seed": 4}, False),
        ({"site": "a", "web_start": "x"}, {"site": "b", "web_start": "x"}, True),
        ({"site": "a", "web_start": "x"}, {"site": "a", "web_start": "x"}, False),
    ],
)
def test_no_beginning_belongs_to_two_splits(
    details: dict[str, Any], other: dict[str, Any], apart: bool, planter: Planter
) -> None:
    found = Findings(TABLE_RULES, 10)
    rule = TaskTable(found, (), None)
    for number, (split, own) in enumerate((("train", details), ("test", other))):
        task = planter.tasks[number].model_copy(update={"details": own, "split": split, "gold_entities": ()})
        rule.see(("tasks", number), task, frozenset(task.gold_documents))
    violations = [one.id for one in found.audit().violations if one.rule == "beginning"]
    assert violations == ([] if apart else [planter.tasks[1].id])
