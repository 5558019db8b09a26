"""Thirty and more kinds of bad input: each gives one clear line, a non-zero exit, and loses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from synth import __version__
from synth.cli import main

Case = Callable[[Path], tuple[list[str], int, str]]
"""Sets something up in a folder; the arguments, the exit code, and words that the line must hold."""

CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _recipe(folder: Path, text: str) -> list[str]:
    return ["build", "--recipe", str(_write(folder / "recipe.yaml", text)), "--out", str(folder / "out")]


WORLD = "name: w\ntasks: 2\nsource: {kind: world, entities: 400}\nquestions: {kind: world}\n"


_SMALL = ("--set", "source.entities=400", "--tasks", "2")


def _docs(folder: Path, *more: str) -> list[str]:
    return [
        "build",
        "docs-search",
        "--source",
        str(folder / "docs"),
        "--tasks",
        "2",
        "--out",
        str(folder / "out"),
        *more,
    ]


# --- names and recipes ---------------------------------------------------------------------------------------------


@case
def unknown_dataset(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-serach"], 2, "did you mean 'world-search'"


@case
def no_dataset(folder: Path) -> tuple[list[str], int, str]:
    return ["build"], 2, "no dataset was named"


@case
def recipe_is_missing(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "--recipe", str(folder / "none.yaml")], 2, "does not exist"


@case
def recipe_is_a_folder(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "--recipe", str(folder)], 2, "is a folder"


@case
def recipe_is_not_utf8(folder: Path) -> tuple[list[str], int, str]:
    (folder / "r.yaml").write_bytes(b"name: \xff\xfe")
    return ["build", "--recipe", str(folder / "r.yaml")], 2, "UTF-8"


@case
def recipe_is_not_yaml(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, "name: [unclosed\n"), 2, "not YAML (line 2"


@case
def recipe_is_a_list(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, "- a\n- b\n"), 2, "mapping of keys"


@case
def recipe_has_an_unknown_key(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, WORLD + "sead: 3\n"), 2, "did you mean 'seed'"


@case
def recipe_has_an_unknown_key_below(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, WORLD.replace("entities", "entitys")), 2, "unknown key 'source.entitys'"


@case
def recipe_lacks_a_source(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, "name: w\ntasks: 2\nquestions: {kind: world}\n"), 2, "'source' is missing"


@case
def recipe_has_an_unknown_source(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, WORLD.replace("kind: world, e", "kind: wrold, e")), 2, "choose one of world"


@case
def recipe_value_has_a_wrong_type(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, WORLD.replace("tasks: 2", "tasks: many")), 2, "tasks: "


@case
def recipe_name_is_no_name(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, WORLD.replace("name: w", "name: ../../etc")), 2, "name: "


@case
def targets_of_the_curriculum_overlap(folder: Path) -> tuple[list[str], int, str]:
    targets = "difficulty: {targets: [{low: 0.1, high: 0.4, share: 0.2}, {low: 0.3, high: 0.5, share: 0.2}]}\n"
    return _recipe(folder, WORLD + targets), 2, "two targets overlap"


@case
def no_task_is_as_hard_as_the_curriculum_asks(folder: Path) -> tuple[list[str], int, str]:
    """Known after the policy's runs: nothing but the store was written, and they are there for the next try."""
    targets = "difficulty: {targets: [{low: 0.2, high: 0.4, share: 1}], tasks: 2}\n"
    words = "target 0 asks for 2 tasks that the policy solves at a rate of 0.2 to 0.4, there are 0. More rollouts"
    return _recipe(folder, WORLD + targets), 2, words


@case
def world_questions_over_documents(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "docs" / "a.html", "<h1>A</h1><p>Text.</p>")
    arguments = ["build", "world-search", "--source", str(folder / "docs"), "--out", str(folder / "out")]
    return arguments, 2, "docs-search"


@case
def splits_do_not_sum_to_one(folder: Path) -> tuple[list[str], int, str]:
    return _recipe(folder, WORLD.replace("entities: 400", "entities: 400, train: 0.2")), 2, "sum to 1"


# --- options -------------------------------------------------------------------------------------------------------


@case
def no_tasks(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--tasks", "0"], 2, "tasks: "


@case
def negative_tasks(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--tasks", "-5"], 2, "tasks: "


@case
def negative_seed(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--seed", "-1"], 2, "seed: "


@case
def no_workers(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--workers", "0"], 2, "worker"


@case
def unknown_executor(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--executor", "cloud"], 2, "cloud"


@case
def unknown_option(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--task", "5"], 2, "--task"


@case
def setting_without_a_value(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--set", "tasks"], 2, "key=value"


@case
def setting_of_an_unknown_key(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--set", "limits.max_turn=3"], 2, "did you mean 'max_turns'"


@case
def setting_below_a_value(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--set", "tasks.number=3"], 2, "holds a value"


@case
def unknown_backend(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--set", "roles.teacher.backend=gpt"], 2, "scripted"


@case
def unknown_option_of_a_backend(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--set", "roles.policy.options={skil: 1}"], 2, "skil"


@case
def key_in_the_recipe(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "world-search", "--set", "roles.teacher.api_key_env=sk-123"], 2, "api_key_env"


# --- sources -------------------------------------------------------------------------------------------------------


@case
def source_is_missing(folder: Path) -> tuple[list[str], int, str]:
    return _docs(folder), 2, "no folder"


@case
def source_is_empty(folder: Path) -> tuple[list[str], int, str]:
    (folder / "docs").mkdir()
    return _docs(folder), 2, "no file"


@case
def source_was_not_given(folder: Path) -> tuple[list[str], int, str]:
    return ["build", "docs-search", "--out", str(folder / "out")], 2, "--source"


@case
def source_is_a_file_of_no_known_kind(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "docs", "hello")
    return _docs(folder), 2, "not a folder"


@case
def source_holds_only_binary_files(folder: Path) -> tuple[list[str], int, str]:
    (folder / "docs").mkdir()
    (folder / "docs" / "a.html").write_bytes(bytes(range(256)) * 40)
    return _docs(folder), 3, "not_text"


@case
def source_is_too_small_for_the_count(folder: Path) -> tuple[list[str], int, str]:
    for name in "abc":
        _write(folder / "docs" / f"{name}.html", f"<h1>{name}</h1><p>A page about {name}, and nothing else.</p>")
    return _docs(folder, "--set", "tasks=50"), 3, "for 50 tasks"


@case
def records_are_not_json(folder: Path) -> tuple[list[str], int, str]:
    path = _write(folder / "docs.jsonl", "this is no json\n{broken\n")
    return ["build", "docs-search", "--source", str(path), "--tasks", "2", "--out", str(folder / "out")], 3, "malformed"


@case
def tasks_file_is_missing(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "docs" / "a.html", "<h1>A</h1><p>Text of a page.</p>")
    return _docs(folder, "--tasks-file", str(folder / "none.jsonl")), 2, "none.jsonl"


@case
def tasks_file_holds_no_usable_line(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "docs" / "a.html", "<h1>A</h1><p>Text of a page.</p>")
    tasks = _write(folder / "tasks.jsonl", '{"question": "What?"}\nnonsense\n')
    return _docs(folder, "--tasks-file", str(tasks)), 3, "malformed"


# --- places --------------------------------------------------------------------------------------------------------


@case
def out_holds_something_else(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "out" / "thesis.txt", "dear")
    return ["build", "world-search", "--out", str(folder / "out")], 4, "not empty"


@case
def out_is_a_file(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "out", "a file")
    return ["build", "world-search", "--out", str(folder / "out")], 4, "not a folder"


@case
def out_lies_below_a_file(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "file", "a file")
    return ["build", "world-search", "--out", str(folder / "file" / "out")], 4, str(folder / "file")


@case
def out_is_read_only(folder: Path) -> tuple[list[str], int, str]:
    # /proc refuses new folders to everybody, root too.
    return ["build", "world-search", *_SMALL, "--out", "/proc/synth-out"], 4, "/proc/synth-out"


@case
def store_is_a_file(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "s", "a file")
    return ["build", "world-search", "--out", str(folder / "out"), "--store", str(folder / "s")], 4, str(folder / "s")


@case
def store_is_of_another_version(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "s" / "format.json", json.dumps({"format": 999}))
    arguments = ["build", "world-search", "--out", str(folder / "out"), "--store", str(folder / "s")]
    return arguments, 4, "another"


@case
def store_is_some_other_folder(folder: Path) -> tuple[list[str], int, str]:
    _write(folder / "s" / "photo.txt", "holiday")
    arguments = ["build", "world-search", "--out", str(folder / "out"), "--store", str(folder / "s")]
    return arguments, 4, str(folder / "s")


# --- other commands ------------------------------------------------------------------------------------------------


@case
def validate_nothing(folder: Path) -> tuple[list[str], int, str]:
    return ["validate", str(folder / "none")], 2, "no such folder"


@case
def validate_something_else(folder: Path) -> tuple[list[str], int, str]:
    return ["validate", str(folder)], 2, "no dataset"


@case
def stats_of_something_else(folder: Path) -> tuple[list[str], int, str]:
    return ["stats", str(folder)], 2, "no dataset"


@case
def show_something_else(folder: Path) -> tuple[list[str], int, str]:
    return ["show", str(folder)], 2, "no dataset"


@case
def init_over_a_file(folder: Path) -> tuple[list[str], int, str]:
    return ["init", str(_write(folder / "r.yaml", "mine"))], 2, "exists already"


@case
def init_into_no_folder(folder: Path) -> tuple[list[str], int, str]:
    return ["init", str(folder / "none" / "r.yaml")], 2, "can't be written"


@case
def prune_without_a_choice(folder: Path) -> tuple[list[str], int, str]:
    return ["store", "prune", "--store", str(folder / "s")], 2, "--all"


@case
def cron_is_no_cron(folder: Path) -> tuple[list[str], int, str]:
    return ["deploy", "world-search", "--cron", "every night"], 2, "--cron"


@case
def time_zone_is_unknown(folder: Path) -> tuple[list[str], int, str]:
    return ["deploy", "world-search", "--cron", "0 3 * * *", "--timezone", "Mars/Olympus"], 2, "Mars/Olympus"


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("name", CASES)
def test_one_clear_line_and_nothing_lost(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNTH_STORE", str(tmp_path / "store"))
    arguments, code, words = CASES[name](tmp_path)
    before = _tree(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    line = said.err.rstrip("\n").rsplit("\n", 1)[-1]
    assert ended.value.code == code, said.err
    assert line.startswith("synth: "), said.err
    assert words.lower() in line.lower()
    assert "Traceback" not in said.err + said.out
    after = _tree(tmp_path)
    kept = {path: content for path, content in after.items() if not path.startswith("store/")}
    assert kept == before, "a failed command changed what was there"


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    assert capsys.readouterr().out == f"synth {__version__}\n"
