"""The general shapes over documents: tables of settings, one site, every answer counted again from its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.dataset.audit.walk_rules import TaskAudit
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Hop, Task
from synth.tasks.docs.proposer import Proposed
from synth.tasks.draft import finish
from tests.tasks.docs.test_docs_proposer import build, facts_of, site

pytestmark = pytest.mark.thorough

ROWS = {
    "Pump settings": [
        ("pump-rate", "litres", "35", "2.1"),
        ("pump-delay", "minutes", "40", "2.1"),
        ("pump-retries", "tries", "18", "2.3"),
        ("pump-restart-delay", "minutes", "90", "2.4"),
    ],
    "Valve settings": [
        ("valve-angle", "degrees", "25", "2.5"),
        ("valve-lag", "minutes", "60", "2.5"),
        ("valve-count", "pieces", "18", "2.6"),
        ("valve-closing-lag", "minutes", "70", "2.7"),
    ],
}
"""Page -> (setting, unit, default, version)."""
SETTINGS = {row[0]: row for rows in ROWS.values() for row in rows}


def tables(extra: str = "") -> dict[str, str]:
    files = site()
    for title, rows in ROWS.items():
        head = "".join(f"<th>{name}</th>" for name in ("Setting", "Unit", "Default", "Added in"))
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        files[f"{title.split()[0].lower()}.html"] = (
            f"<html><body><h1>{title}</h1>{extra}<p>All of them at a glance.</p>{table}</body></html>"
        )
    return files


def shaped(root: Path, extra: str = "") -> tuple[Any, list[Task]]:
    world = build(root, tables(extra))
    shapes = world.proposer().shapes
    provenance = Provenance(
        dataset="d", stage="docs_tasks", stage_version=1, fingerprint="f", seed=1, source="s", source_sha256="0"
    )
    made = [shapes.propose(index, 5) for index in range(700)]
    kept = [Proposed(one.draft, one.checks) for one in made if hasattr(one, "draft")]
    return world, [finish(one.draft, one.checks, provenance, n) for n, one in enumerate(kept)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[Task]]:
    return shaped(tmp_path_factory.mktemp("tables"))


def about_settings(tasks: list[Task], shape: str) -> list[Task]:
    found = [task for task in tasks if task.shape == shape and all(_setting(hop) for hop in task.walk.hops)]
    assert found, shape
    return found


def _setting(hop: Hop) -> bool:
    return bool({hop.source.name, hop.target.name} & set(SETTINGS))


def test_every_shape_has_one_answer_and_it_is_right(made: tuple[Any, list[Task]]) -> None:
    tasks = made[1]
    for task in about_settings(tasks, "comparison"):
        named = {name: float(row[2]) for name, row in SETTINGS.items() if name in task.question}
        lower = any(word in task.question for word in ("lower", "smaller", "lowest", "smallest", "least"))
        assert len(named) >= 2
        assert task.answer == (min if lower else max)(named, key=lambda name: named[name]), task.question
        assert len({SETTINGS[name][0].partition("-")[0] for name in named}) == 1, "settings of one page are compared"
        assert len({name.rpartition("-")[2] for name in named}) == 1, "what is compared is alike"
    for task in about_settings(tasks, "conjunction"):
        page = next(title for title in ROWS if title in task.question)
        assert " and is " not in task.question, "the page is said with the thing, and is no second condition"
        fits = [row[0] for row in ROWS[page] if {*row[1:]} & set(task.question.rstrip("?").split())]
        assert fits == [task.answer], task.question
    for task in about_settings(tasks, "intersection"):
        page = next(title for title in ROWS if title in task.question)
        assert " that " not in task.question or f"in “{page}”?" not in task.question, "the page is said with the things"
        expected = {row[0] for row in ROWS[page] if any(f" {cell}" in task.question for cell in row[1:])}
        assert {part.answer for part in task.answer_parts} == expected
    for task in about_settings(tasks, "count"):
        told = [row for page, rows in ROWS.items() for row in rows if page in task.question]
        told = told or [row for row in SETTINGS.values() if {*row[1:]} & set(task.question.rstrip("?").split())]
        assert task.answer == str(len(told)), task.question


def test_the_audit_proves_every_shape_from_the_facts(made: tuple[Any, list[Task]]) -> None:
    world, tasks = made
    partitions = dict.fromkeys(world.documents.arrow["id"].to_pylist(), "train")
    audit = TaskAudit(facts_of(world), exempt=(), partitions=partitions)
    for task in tasks:
        assert audit.audit(task) == [], task.question
    assert audit.checked["operation"]
    wrong = next(task for task in tasks if task.shape == "count")
    node = wrong.walk.operations[0].result[0].model_copy(update={"id": "9", "name": "9"})
    operation = wrong.walk.operations[0].model_copy(update={"result": (node,)})
    walk = wrong.walk.model_copy(update={"operations": (operation,)})
    assert "operation" in {rule for rule, _ in audit.audit(wrong.model_copy(update={"walk": walk, "answer": "9"}))}


def test_a_sentence_that_says_the_same_of_something_else_counts_against_a_condition(tmp_path: Path) -> None:
    """Also where it is read as no fact."""
    asked = {task.question for task in shaped(tmp_path / "plain")[1] if task.shape == "intersection"}
    assert any("minutes" in question for question in asked)
    extra = "<p>The old bellows had minutes as their unit of time, too.</p>"
    tasks = shaped(tmp_path / "rival", extra)[1]
    assert tasks
    assert not any("minutes" in task.question for task in tasks if task.shape == "intersection")


def test_things_of_one_name_are_not_compared(tmp_path: Path) -> None:
    """The answer would be the name of both."""
    files = site()
    for n, name in enumerate(("North", "South", "East")):
        rows = "".join(
            f"<tr><td>{each}-width</td><td>{n + at + 2}</td></tr>"
            for at, each in enumerate(("lid", "rim", name.lower()))
        )
        head = "<tr><th>Setting</th><th>Default</th></tr>"
        table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
        files[f"{name}.html"] = f"<html><body><h1>{name} gate</h1><p>All at a glance.</p>{table}</body></html>"
    shapes = build(tmp_path, files).proposer().shapes
    made = [one.draft for index in range(900) if hasattr(one := shapes.propose(index, 5), "draft")]
    compared = [[hop.source.name for hop in draft.walk.hops] for draft in made if draft.shape == "comparison"]
    assert compared
    assert all(len(set(names)) == len(names) for names in compared)
