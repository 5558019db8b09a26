"""Sixty kinds of bad input: each gives one clear line, a non-zero exit, and loses nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from synth import __version__
from synth.cli import main

BUILD = "build world-search"
OUT = f"{BUILD} --out DIR/out"
DOCS = "build docs-search --source DIR/docs --tasks 2 --out DIR/out"
PAGE = {"docs/a.html": "<h1>A</h1><p>Text of a page.</p>"}
WORLD = "name: w\ntasks: 2\nsource: {kind: world, entities: 400}\nquestions: {kind: world}\n"
OVERLAP = "difficulty: {targets: [{low: 0.1, high: 0.4, share: 0.2}, {low: 0.3, high: 0.5, share: 0.2}]}\n"
HARD = "difficulty: {targets: [{low: 0.2, high: 0.4, share: 1}], tasks: 2}\n"
TOO_HARD = "target 0 asks for 2 tasks that the policy solves at a rate of 0.2 to 0.4, there are 0. More rollouts"

Case = tuple[str, int, str] | tuple[str, int, str, Mapping[str, str | bytes]]
"""The command in a folder DIR, its exit code, words that the line must hold, and files that lie there (a name that ends
in ``/``: a folder)."""

CASES: dict[str, Case] = {
    "no dataset": ("build", 2, "no dataset was named"),
    "an unknown dataset": ("build world-serach", 2, "did you mean 'world-search'"),
    "a recipe that is missing": ("build --recipe DIR/none.yaml", 2, "does not exist"),
    "a recipe that is a folder": ("build --recipe DIR", 2, "is a folder"),
    "a recipe in no UTF-8": ("build --recipe DIR/r.yaml", 2, "UTF-8", {"r.yaml": b"name: \xff\xfe"}),
    "questions on a world over documents": (f"{OUT} --source DIR/docs", 2, "docs-search", PAGE),
    "no tasks": (f"{BUILD} --tasks 0", 2, "tasks: "),
    "less than no tasks": (f"{BUILD} --tasks -5", 2, "tasks: "),
    "a seed below 0": (f"{BUILD} --seed -1", 2, "seed: "),
    "no workers": (f"{BUILD} --workers 0", 2, "worker"),
    "an unknown executor": (f"{BUILD} --executor cloud", 2, "cloud"),
    "an unknown option": (f"{BUILD} --task 5", 2, "--task"),
    "a setting without a value": (f"{BUILD} --set tasks", 2, "key=value"),
    "a setting of an unknown key": (f"{BUILD} --set limits.max_turn=3", 2, "did you mean 'max_turns'"),
    "a setting below a value": (f"{BUILD} --set tasks.number=3", 2, "holds a value"),
    "an unknown backend": (f"{BUILD} --set roles.teacher.backend=gpt", 2, "scripted"),
    "an unknown option of a backend": (f"{BUILD} --set 'roles.policy.options={{skil: 1}}'", 2, "skil"),
    "a key in the recipe": (f"{BUILD} --set roles.teacher.api_key_env=sk-123", 2, "api_key_env"),
    "a source that is missing": (DOCS, 2, "no folder"),
    "an empty source": (DOCS, 2, "no file", {"docs/": ""}),
    "no source": ("build docs-search --out DIR/out", 2, "--source"),
    "a source that is a file of no known kind": (DOCS, 2, "not a folder", {"docs": "hello"}),
    "binary files alone": (DOCS, 3, "not_text", {"docs/a.html": bytes(range(256)) * 40}),
    "too few pages for the tasks": (
        f"{DOCS} --set tasks=50",
        3,
        "for 50 tasks",
        {f"docs/{one}.html": f"<h1>{one}</h1><p>A page about {one}, and nothing else.</p>" for one in "abc"},
    ),
    "records that are no JSON": (
        "build docs-search --source DIR/docs.jsonl --tasks 2 --out DIR/out",
        3,
        "malformed",
        {"docs.jsonl": "this is no json\n{broken\n"},
    ),
    "a file of tasks that is missing": (f"{DOCS} --tasks-file DIR/none.jsonl", 2, "none.jsonl", PAGE),
    "a file of tasks without a usable line": (
        f"{DOCS} --tasks-file DIR/tasks.jsonl",
        3,
        "malformed",
        {**PAGE, "tasks.jsonl": '{"question": "What?"}\nnonsense\n'},
    ),
    "an output folder that holds something else": (OUT, 4, "not empty", {"out/thesis.txt": "dear"}),
    "an output folder that is a file": (OUT, 4, "not a folder", {"out": "a file"}),
    "an output folder below a file": (f"{BUILD} --out DIR/file/out", 4, "DIR/file", {"file": "a file"}),
    # /proc refuses new folders to everybody, root too.
    "an output folder that is read-only": (
        f"{BUILD} --set source.entities=400 --tasks 2 --out /proc/synth-out",
        4,
        "/proc/synth-out",
    ),
    "a store that is a file": (f"{OUT} --store DIR/s", 4, "DIR/s", {"s": "a file"}),
    "a store of another version": (f"{OUT} --store DIR/s", 4, "another", {"s/format.json": '{"format": 999}'}),
    "a store that is some other folder": (f"{OUT} --store DIR/s", 4, "DIR/s", {"s/photo.txt": "holiday"}),
    "validate nothing": ("validate DIR/none", 2, "no such folder"),
    "validate something else": ("validate DIR", 2, "no dataset"),
    "stats of something else": ("stats DIR", 2, "no dataset"),
    "show something else": ("show DIR", 2, "no dataset"),
    "init over a file": ("init DIR/r.yaml", 2, "exists already", {"r.yaml": "mine"}),
    "init into no folder": ("init DIR/none/r.yaml", 2, "can't be written"),
    "prune without a choice": ("store prune --store DIR/s", 2, "--all"),
    "a cron line that is none": ("deploy world-search --cron 'every night'", 2, "--cron"),
    "a file of deployments without a pool": ("deploy world-search --file DIR/p.yaml", 2, "--work-pool"),
    "a file that holds no deployments": (
        "deploy world-search --work-pool p --file DIR/p.yaml",
        2,
        "no file of deployments",
        {"p.yaml": "- a"},
    ),
    "an unknown time zone": ("deploy world-search --cron '0 3 * * *' --timezone Mars/Olympus", 2, "Mars/Olympus"),
}
RECIPES = {
    "not YAML": ("name: [unclosed\n", "not YAML (line 2"),
    "a list": ("- a\n- b\n", "mapping of keys"),
    "an unknown key": (WORLD + "sead: 3\n", "did you mean 'seed'"),
    "an unknown key below": (WORLD.replace("entities", "entitys"), "unknown key 'source.entitys'"),
    "no source": ("name: w\ntasks: 2\nquestions: {kind: world}\n", "'source' is missing"),
    "an unknown source": (WORLD.replace("kind: world, e", "kind: wrold, e"), "choose one of world"),
    "a value of a wrong type": (WORLD.replace("tasks: 2", "tasks: many"), "tasks: "),
    "a name that is none": (WORLD.replace("name: w", "name: ../../etc"), "name: "),
    "shares that do not sum to 1": (WORLD.replace("entities: 400", "entities: 400, train: 0.2"), "sum to 1"),
    "targets of the curriculum that overlap": (WORLD + OVERLAP, "two targets overlap"),
    # Known after the policy's runs: nothing but the store was written, and they are there for the next try.
    "no task as hard as the curriculum asks": (WORLD + HARD, TOO_HARD),
}
CASES |= {
    f"a recipe: {name}": ("build --recipe DIR/recipe.yaml --out DIR/out", 2, words, {"recipe.yaml": text})
    for name, (text, words) in RECIPES.items()
}


def _laid_out(files: Mapping[str, str | bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("name", CASES)
def test_one_clear_line_and_nothing_lost(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNTH_STORE", str(tmp_path / "store"))
    command, code, words, *files = CASES[name]
    _laid_out(files[0] if files else {}, tmp_path)
    before = _tree(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command.replace("DIR", str(tmp_path))))
    said = capsys.readouterr()
    line = said.err.rstrip("\n").rsplit("\n", 1)[-1]
    assert ended.value.code == code, said.err
    assert line.startswith("synth: "), said.err
    assert words.replace("DIR", str(tmp_path)).lower() in line.lower()
    assert "Traceback" not in said.err + said.out
    after = _tree(tmp_path)
    kept = {path: content for path, content in after.items() if not path.startswith("store/")}
    assert kept == before, "a failed command changed what was there"


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    assert capsys.readouterr().out == f"synth {__version__}\n"
