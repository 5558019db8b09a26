"""Builds that stay away from benchmarks: what is planted is replaced, all else is as it was."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import shared_builds
from shared_builds import world_store

import synth
from synth.api import BuildResult
from synth.dataset.rules.validate import validate
from synth.engine.fingerprint import hashed_config
from synth.errors import InputError
from synth.filtering.decontamination.benchmarks import Benchmarks, Item
from synth.filtering.decontamination.config import Rules
from synth.pipelines.collaborators import task_filters
from synth.recipe.load import load_recipe
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task

LEAN: dict[str, Any] = {
    "source.entities": 600,
    **shared_builds.LEAN,
    "roles": {"policy": {"rollouts": 1}},
}
TASKS = 24


def build(folder: Path, name: str, files: list[Path], **rules: Any) -> BuildResult:
    settings = {**LEAN, "decontaminate": {"benchmarks": [str(file) for file in files], **rules}} if files else LEAN
    return synth.build("world-search", tasks=TASKS, out=folder / name, store=folder / "store", settings=settings)


def tasks_of(built: BuildResult) -> list[Task]:
    return list(synth.load(built.path).rows("tasks"))


def told(built: BuildResult) -> dict[int, str]:
    rows = synth.load(built.path).rows("rejected")
    return {int(row.row_id): row.detail for row in rows if row.reason is Reason.CONTAMINATED}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decontaminate")
    world_store(folder)
    return folder


@pytest.fixture(scope="module")
def plain(folder: Path) -> BuildResult:
    return build(folder, "plain", [])


def other_numbers(text: str) -> str:
    return re.sub(r"\d", lambda digit: str((int(digit[0]) + 3) % 10), text)


def test_planted_overlaps_are_replaced_and_nothing_else_changes(folder: Path, plain: BuildResult) -> None:
    tasks = tasks_of(plain)
    long = [task for task in tasks if len(task.question.split()) >= 9]
    numbered = next(task for task in long if any(map(str.isdigit, task.question)))
    verbatim, cased, dotted, within = [task for task in long if task is not numbered][:4]
    planted = {
        verbatim.candidate_index: ("question", verbatim.question),
        cased.candidate_index: ("question", cased.question.upper()),
        dotted.candidate_index: ("question", "; ".join(dotted.question.replace("?", " !").split())),
        within.candidate_index: ("question", f"Read the page. {within.question} Say it in one word."),
        numbered.candidate_index: ("question", other_numbers(numbered.question)),
    }
    quoted = next(
        task
        for task in long
        if task.candidate_index not in planted and max(len(h.evidence.quote.split()) for h in task.walk.hops) >= 9
    )
    quote = max((hop.evidence.quote for hop in quoted.walk.hops), key=len)
    planted[quoted.candidate_index] = ("evidence", quote.lower())
    benchmark = folder / "planted.jsonl"
    clean = {
        "question": "Which of the two rivers that meet at the old mill carries more water in spring?",
        "answer": "x",
    }
    lines = [clean, *({"question": text, "answer": "none"} for _, text in planted.values())]
    benchmark.write_text("".join(json.dumps(line) + "\n" for line in lines))

    built = build(folder, "clean", [benchmark])
    found = tasks_of(built)
    assert len(found) == TASKS
    rejected = told(built)
    assert planted.keys() <= rejected.keys()
    for number, (index, (part, text)) in enumerate(planted.items()):
        assert rejected[index].startswith(f"{part}: "), rejected[index]
        assert rejected[index].endswith(f"row {number + 2} of planted.jsonl")
        assert text[:20].casefold() not in rejected[index].casefold(), "nothing is quoted"
    kept = [task for task in tasks if task.candidate_index not in rejected]
    names = {"provenance"}
    before = {task.candidate_index for task in kept}  # what replaces the others comes behind, split by split
    same = [task for task in found if task.candidate_index in before]
    assert [task.model_dump(exclude=names) for task in same] == [task.model_dump(exclude=names) for task in kept]
    assert validate(built.path) == []
    card = (built.path / "README.md").read_text()
    assert "planted.jsonl (sha256 " in card
    assert str(folder) not in "".join(path.read_text() for path in built.path.rglob("*.json")) + card
    (tasks_report,) = [stage for stage in built.report.stages if stage.label == "tasks"]
    assert tasks_report.rejected["contaminated"] == len(rejected)

    moved = folder / "elsewhere" / "planted.jsonl"
    moved.parent.mkdir()
    moved.write_bytes(benchmark.read_bytes())
    assert build(folder, "again", [moved]).reused, "where a benchmark lies is of no matter"
    moved.write_text(json.dumps(clean))
    wanted = {**LEAN, "decontaminate": {"benchmarks": [str(benchmark)]}}
    before, after = (
        hashed_config(task_filters(load_recipe("world-search", settings=settings))[0])
        for settings in (wanted, {**wanted, "decontaminate": {"benchmarks": [str(moved)]}})
    )
    assert before != after, "what a benchmark holds is in the fingerprint"


def test_words_in_another_order_are_found_by_vectors(plain: BuildResult) -> None:
    tasks = tasks_of(plain)
    words = tasks[0].question.rstrip("?").split()
    items = [
        Item("a.txt", 1, ("What is the name of the river that runs by the mill?",)),
        Item("a.txt", 2, (" ".join([*words[1::2], *words[::2]]) + "?",)),
    ]
    assert Benchmarks(items, Rules()).look(tasks) == [None] * len(tasks)
    found = Benchmarks(items, Rules(similarity=0.9)).look(tasks)
    assert found[0] is not None
    assert found[0][0] is Reason.CONTAMINATED
    assert found[0][1].startswith("question: its vector is 1.00 like row 2 of a.txt")
    assert sum(one is not None for one in found) <= 2


@pytest.mark.parametrize(
    ("name", "text", "rules", "line"),
    [
        ("gone.jsonl", None, {}, "does not exist"),
        ("a.docx", "x", {}, "with the ending '.docx' can't be read"),
        ("a.jsonl", '{"question": "a"}\n{', {}, "is no JSON"),
        ("a.parquet", "PAR1", {}, "is not a Parquet file"),
        ("a.jsonl", '{"question": "too short"}', {}, "has 8 words or more: nothing would be found"),
        (
            "a.jsonl",
            '{"question": "a big red old new hot wet dry day"}',
            {"fields": ["text"]},
            "no text in text has 8",
        ),
        ("a.txt", "a big red old new hot wet dry day", {"shortest": 14}, "more than ngram (13)"),
        ("a.txt", "a big red old new hot wet dry day", {"similarity": 0.9, "encoder": "none"}, "none"),
        ("a.txt", "a big red old new hot wet dry day", {"model": "m"}, "only of that"),
    ],
)
def test_a_mistake_is_said_in_one_line(
    name: str, text: str | None, rules: dict[str, Any], line: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        build(tmp_path, "out", [tmp_path / name], **rules)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
