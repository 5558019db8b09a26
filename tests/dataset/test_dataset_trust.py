"""A dataset of a stranger's runs nothing, opens nothing and reaches nothing but what ships with us."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from synth import api
from synth.cli import main
from synth.dataset.audit import audit
from synth.dataset.files import REPORT_FILE
from synth.dataset.reader import load
from synth.environments.contract import STATEFUL, stateful_options
from synth.environments.trust import untrusted
from synth.errors import InputError
from synth.pipelines.reopen import reopen
from synth.recipe.load import builtin_names, load_recipe
from synth.registry import ENVIRONMENTS
from synth.training import TrlEnvironments, open_episodes

LIBRARY = Path(__file__).parents[1] / "environments" / "library.yaml"


_WATCHED: list[str] | None = None


def _watch(event: str, given: tuple[Any, ...]) -> None:
    if _WATCHED is not None and event in ("open", "subprocess.Popen", "os.posix_spawn", "os.exec", "socket.connect"):
        _WATCHED.append(f"{event} {given[0] if event != 'socket.connect' else given[1]}")


sys.addaudithook(_watch)


@pytest.fixture
def done() -> Iterator[list[str]]:
    """What Python opens, starts and connects to, as its audit events tell."""
    global _WATCHED
    _WATCHED = []
    yield _WATCHED
    _WATCHED = None


def with_recipe(folder: Path, **recipe: Any) -> Path:
    """The dataset with another recipe in its report."""
    path = folder / REPORT_FILE
    report = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**report, "recipe": recipe}), encoding="utf-8")
    return folder


def hostile(tmp_path: Path) -> list[tuple[dict[str, Any], str]]:
    """(recipe, what it would do)."""
    touch = ["touch", str(tmp_path / "ran")]
    mcp = {"environment": {"kind": "mcp"}}
    web = {"source": {"kind": "web", "site": "library"}}
    shipped = ["{python}", "-I", "{shipped}/organizer.py"]
    return [
        ({"source": {"kind": "mcp", "servers": {"a": {"command": touch}}}, **mcp}, r"run 'touch .*ran'"),
        ({"environment": {"kind": "mcp", "servers": {"a": {"command": touch}}}}, r"run 'touch .*ran'"),
        ({"source": {"kind": "mcp", "servers": {"a": {"url": "http://127.0.0.1:9/x"}}}, **mcp}, "connect to 'http"),
        (
            {"source": {"kind": "mcp", "servers": {"a": {"command": shipped, "folder": "/etc"}}}, **mcp},
            "read the folder '/etc'",
        ),
        (
            {"source": {"kind": "mcp", "servers": {"a": {"command": shipped, "env": ["HOME"]}}}, **mcp},
            "give a server env",
        ),
        (
            {"source": {"kind": "mcp", "servers": {"a": {"command": [*shipped[:2], "{shipped}/../x.py"]}}}, **mcp},
            "run ",
        ),
        ({**web, "environment": {"kind": "web", "executable": touch[0]}}, "run 'touch'"),
        ({**web, "environment": {"kind": "web", "sandbox": False}}, "without its sandbox"),
        ({"source": {**web["source"], "command": touch}, "environment": {"kind": "web"}}, r"run 'touch .*ran'"),
        ({"source": {"kind": "web", "site": "/etc"}, "environment": {"kind": "web"}}, "read the folder '/etc'"),
        ({"source": {"kind": "app", "application": str(LIBRARY)}, "environment": {"kind": "app"}}, "read the file"),
        ({"environment": {"kind": "app", "application": "airline", "budget": 10**15}}, r"set environment\.budget"),
        ({"environment": {"kind": "search", "snippet": "os:system"}}, r"set environment\.snippet"),
        ({"environment": {"kind": "os:system"}}, "kind 'os:system', which does not ship with synth"),
    ]


def test_nothing_that_a_dataset_names_is_opened_without_trust(
    little: Callable[[], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], done: list[str]
) -> None:
    folder = little()
    for recipe, would in hostile(tmp_path):
        with_recipe(folder, **recipe)
        openings: list[Callable[[], Any]] = [
            lambda: reopen(load(folder)),
            lambda: open_episodes(folder),
            TrlEnvironments(folder),
            pickle.loads(pickle.dumps(TrlEnvironments(folder))),
        ]
        for opening in openings:
            with pytest.raises(InputError, match=would) as refused:
                opening()
            assert "--trust (in Python: trust=True)" in str(refused.value)
        with pytest.raises(SystemExit):
            main(["serve-env", str(folder)])
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert re.search(would, line)
    assert not [one for one in done if not one.startswith("open ") or str(LIBRARY) in one or "/etc" in one]
    assert not (tmp_path / "ran").exists()


def test_the_audit_opens_nothing_that_a_dataset_names(
    little: Callable[[], Path], tmp_path: Path, done: list[str]
) -> None:
    folder = little()
    for recipe, _ in hostile(tmp_path):
        audit(with_recipe(folder, **recipe))
    assert not [one for one in done if not one.startswith("open ") or str(LIBRARY) in one or "/etc" in one]


def test_with_trust_or_an_environment_of_the_users_it_opens(little: Callable[[], Path]) -> None:
    folder = with_recipe(little(), source={"kind": "app", "application": str(LIBRARY)}, environment={"kind": "app"})
    assert reopen(load(folder), trust=True)[0].name == "app:library"
    assert open_episodes(folder, trust=True).tools()
    trusted = pickle.loads(pickle.dumps(TrlEnvironments(folder, trust=True)))
    assert callable(trusted().lend)


@pytest.mark.parametrize("name", builtin_names())
def test_what_ships_needs_no_trust(name: str) -> None:
    recipe = load_recipe(name)
    source, place = recipe.source.model_dump(mode="json"), recipe.environment.model_dump(mode="json")
    options = stateful_options(source, place) if source["kind"] in STATEFUL else place
    assert untrusted({**options, "kind": place["kind"]}) is None


@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_a_key_that_is_not_listed_takes_trust(kind: str) -> None:
    assert untrusted({"kind": kind, "a_new_key": 1}) == "set environment.a_new_key"


def test_rehydrating_imports_nothing_that_a_dataset_names(
    little: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stranger.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('ran').touch()\ndef make(**given):\n    return None\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    recipe = {"name": "stranger", "tasks": 4, "source": {"kind": "docs", "path": ""}, "questions": {"kind": "docs"}}
    folder = with_recipe(little(), **recipe, roles={"policy": {"backend": "stranger:make"}})
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "a.md").write_text("# A page\n\nIt is not one of the edition's.\n")
    with pytest.raises(InputError, match="nothing is redacted"):  # said after the pages were read
        api.rehydrate(folder, pages, tmp_path / "back")
    assert not (tmp_path / "ran").exists()


def test_an_audit_loads_no_model_that_a_dataset_names(little: Callable[[], Path], tmp_path: Path) -> None:
    rules = {"similarity": 0.9, "encoder": "sentence-transformers", "model": str(tmp_path / "model")}
    folder = with_recipe(little(), decontaminate=rules)
    benchmark = tmp_path / "benchmark.jsonl"
    benchmark.write_text(json.dumps({"question": "Who wrote the oldest letter in the archive of Orl?"}) + "\n")
    found = audit(folder, benchmarks=[benchmark])
    (rule,) = (rule for rule in found.rules if rule.rule == "benchmark")
    assert "vectors of a model are not compared" in str(rule.why)
