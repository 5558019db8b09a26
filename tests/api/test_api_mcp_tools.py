"""The dataset of agents on servers of the Model Context Protocol: a whole build on the server that comes with us."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from api_builds import killed_and_resumed, same_through_http
from opening import card_runs
from shared_builds import LEAN, hashes

import synth
from synth.api import BuildResult
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.recipe.load import parse_recipe
from synth.schemas.rejections import Reason

pytest.importorskip("mcp", reason="extra mcp")

from synth.environments.mcp.environment import open_mcp
from synth.pipelines.explored import made_of, published_source, task_values

ORGANIZER = {"command": ["{python}", "-I", "-S", "{shipped}/organizer.py", "home"]}

SETTINGS: dict[str, Any] = {
    "critical.share": 0.5,
    "critical.search.max_pairs": 4,
    "roles.policy.options": {"skill": 0.3},
}


def recipe(**parts: Any) -> Any:
    base: dict[str, Any] = {
        "name": "tools",
        "tasks": 3,
        "source": {"kind": "mcp", "servers": {"organizer": ORGANIZER}},
        "questions": {"kind": "reverse"},
        "environment": {"kind": "mcp", "replay_safe": True},
    }
    return parse_recipe({**base, **parts}, "test")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    folder = tmp_path_factory.mktemp("mcp-tools")
    return synth.build("mcp-tools", tasks=4, out=folder / "out", store=folder / "store", settings=SETTINGS)


def test_every_row_proves_itself(built: BuildResult) -> None:
    assert validate(built.path) == []
    assert card_runs(built.path) >= 4
    found = audit(built.path)
    assert found.violations == ()
    rows = {rule.rule: (rule.rows, rule.undecided) for rule in found.rules}
    assert rows["plan"] == rows["minimal"] == (4, 0)
    assert rows["rerun"][0] >= 8
    assert rows["rerun"][1] == 0


def test_agents_use_the_tools_of_the_server(built: BuildResult) -> None:
    dataset = synth.load(built.path)
    runs = list(dataset.rows("trajectories"))
    assert all(run.success for run in runs if run.role == "teacher")
    assert {run.environment for run in runs} == {"mcp"}
    called = {item.function for run in runs for item in run.content if item.class_ == "api_action"}
    tools = {tool.name for tool in open_mcp(servers={"organizer": ORGANIZER}).tools()}
    assert called <= tools
    assert len(called) > 1
    report = (built.path / "README.md").read_text("utf-8")
    assert "Model Context Protocol" in report


@pytest.mark.thorough
def test_bytes_do_not_depend_on_workers_or_on_what_was_killed(built: BuildResult, tmp_path: Path) -> None:
    again = killed_and_resumed("mcp-tools", 4, tmp_path, SETTINGS, "engine.row.processed:3")
    assert hashes(again) == hashes(built.path)


def test_models_behind_http_act_as_agents_in_process_do(built: BuildResult, tmp_path: Path) -> None:
    store = built.path.parent / "store"
    assert same_through_http(built, store, tmp_path / "out", settings=SETTINGS) == 8


KILLER = '''
"""An agent behind whose back the server ends: it looks once, and then the process is gone."""

from contextlib import suppress

import psutil

from synth.agents.contract import Decision, Turn
from synth.environments.contract import ToolCall


class Unlucky:
    privileged = False

    def act(self, prompt, history, generator):
        if history:
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):  # the guardian and the server: the end of either is that of both
                    if any(part.endswith("organizer.py") for part in child.cmdline()):
                        child.kill()
                        child.wait()
        return Decision(Turn(calls=(ToolCall(id="x", name="list_notes", arguments={}),)))


def make(*, task, role, language):
    return Unlucky()
'''


def test_a_server_that_ends_in_a_run_is_a_typed_rejection(
    built: BuildResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unlucky_agent.py").write_text(KILLER)
    monkeypatch.syspath_prepend(tmp_path)
    more = {**SETTINGS, **LEAN, "roles.policy.options": {}, "roles.policy.backend": "unlucky_agent:make"}
    store = built.path.parent / "store"
    try:
        lost = synth.build("mcp-tools", tasks=4, out=tmp_path / "out", store=store, settings=more)
    finally:
        sys.modules.pop("unlucky_agent", None)
    dataset = synth.load(lost.path)
    rejected = [row for row in dataset.rows("rejected") if row.stage == "rollouts"]
    assert {(row.reason, row.detail) for row in rejected} == {
        (Reason.ENVIRONMENT_ERROR, "policy, rollout 0, the server organizer is gone")
    }
    assert {row.row_id for row in rejected} == {task.id for task in dataset.rows("tasks")}
    assert [run.role for run in dataset.rows("trajectories")] == ["teacher"] * 4, "the others' runs are there"
    assert validate(lost.path) == []


def test_recipes_that_make_no_sense_are_one_line(tmp_path: Path) -> None:
    for parts, said in (
        ({"environment": {"kind": "mcp"}}, "replay_safe"),
        ({"source": {"kind": "mcp", "servers": {}}}, "servers"),
        (
            {"source": {"kind": "app"}, "environment": {"kind": "app"}, "questions": {"kind": "reverse", "book": "b"}},
            "book",
        ),
    ):
        with pytest.raises(InputError, match=said) as caught:
            recipe(**parts)
        assert "\n" not in str(caught.value)
    missing = recipe(source={"kind": "mcp", "servers": {"x": {"command": ["no-such-program-here"]}}})
    with pytest.raises(InputError, match="no-such-program-here"):
        made_of(missing)
    unread = recipe(questions={"kind": "reverse", "book": str(tmp_path / "none.yaml")})
    with pytest.raises(InputError, match=r"none\.yaml"):
        task_values(unread)


def test_what_is_published_holds_no_place_on_this_machine(tmp_path: Path) -> None:
    server = {**ORGANIZER, "folder": str(tmp_path)}
    made = recipe(source={"kind": "mcp", "servers": {"organizer": server}})
    assert str(tmp_path) not in str(published_source(made))
    first, second = made_of(made)[1], made_of(recipe())[1]
    assert first != second, "another folder to begin in is another beginning"
    (tmp_path / "file.txt").write_text("x")
    assert made_of(made)[1] != first
