"""Whole builds whose roles are played by models behind HTTP, against the same builds in process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from api_builds import acted, played_by
from stand_ins.model_server import FaultKind, Faults, ModelServer, ScriptedPlayer, ServerOptions

import synth
from synth.api import BuildResult
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.models.contract import Patience
from synth.schemas.rejections import Reason

LEAN: dict[str, Any] = {
    "critical": None,
    "preferences": None,
    "distractors": None,
    "contexts": None,
    "rl": False,
    "roles.policy.rollouts": 2,
}
"""Stages that call no model are left out: they are compared elsewhere."""


def serve(built: BuildResult) -> ModelServer:
    tasks = list(synth.load(built.path).rows("tasks"))
    players = {
        "toy-teacher": ScriptedPlayer.scripted(tasks, "teacher", language="world"),
        "toy-policy": ScriptedPlayer.scripted(tasks, "policy", language="world"),
    }
    return ModelServer(players, ServerOptions(latency=(0.0, 0.02)))


def bound(server: ModelServer, mode: str = "native") -> dict[str, Any]:
    """Settings that let the server play both roles."""
    roles = ("teacher", "policy")
    settings = played_by(server, *roles)
    for role in roles:
        settings |= {f"roles.{role}.mode": mode, f"roles.{role}.price": {"prompt": 0.1, "completion": 0.4}}
        if mode == "native":  # our scripted agents read their own thoughts
            settings[f"roles.{role}.options"] = {"send_reasoning": "reasoning"}
    return settings


def compare(here: BuildResult, there: BuildResult) -> int:
    """Both hold the same trajectories; gives how many. Of a script's, what its checks refuse is rejected: they are
    stricter than those of a model."""
    left, right = (
        {(row.task_id, row.role, row.rollout): acted(row) for row in synth.load(one.path).rows("trajectories")}
        for one in (here, there)
    )
    refused = [
        row for row in synth.load(here.path).rows("rejected") if row.reason in (Reason.UNGROUNDED, Reason.OMISSION)
    ]
    assert left == {key: run for key, run in right.items() if key in left}
    assert len(right) - len(left) == len(refused)
    return len(right)


@pytest.mark.parametrize(("mode", "tasks"), [("native", 20), ("structured", 8)])
def test_a_build_through_http_gives_the_trajectories_of_the_build_in_process(
    mode: str, tasks: int, tmp_path: Path, world_store: Path
) -> None:
    base: dict[str, Any] = {"tasks": tasks, "store": world_store}
    settings = {"source.entities": 600, **LEAN}
    here = synth.build("world-search", out=tmp_path / "here", settings=settings, **base)
    with serve(here) as server:
        there = synth.build(
            "world-search", out=tmp_path / "there", settings={**settings, **bound(server, mode)}, **base
        )
        asked = len(server.log.records())
        again = synth.build(
            "world-search", out=tmp_path / "again", settings={**settings, **bound(server, mode)}, **base
        )
        assert len(server.log.records()) == asked, "nothing is asked for twice"
        assert server.errors == []
    assert again.reused
    assert compare(here, there) == tasks * 3
    rows = list(synth.load(there.path).rows("trajectories"))
    assert {row.provenance.backend for row in rows} == {"openai"}
    assert {(row.role, row.model) for row in rows} == {("teacher", "toy-teacher"), ("policy", "toy-policy")}
    assert not any(row.privileged for row in rows)
    assert all(len(row.details["model_turns"]) == row.turns for row in rows)
    assert there.account is not None
    # The policy's closed-book answers are calls too.
    assert there.account.calls == asked == sum(row.turns for row in rows) + tasks * 4
    published = "\n".join(path.read_text() for path in there.path.rglob("*") if path.suffix in (".md", ".json"))
    assert server.url not in published
    assert "127.0.0.1" not in published
    assert "toy-teacher" in published


AGENT = '''
"""An agent of somebody else's."""

from synth.agents.contract import Decision, Turn


class Guesser:
    privileged = False

    def __init__(self, answer):
        self.answer = answer

    def act(self, prompt, history, generator):
        return Decision(Turn(thought="I guess.", answer=self.answer))


def make(*, task, role, language, answer="nowhere", **options):
    """``task``: the question to work on. ``options``: those of the recipe."""
    assert not options, options
    return Guesser(answer)
'''


def test_an_agent_of_ones_own_plays_a_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world_store: Path) -> None:
    (tmp_path / "my_agent.py").write_text(AGENT)
    monkeypatch.syspath_prepend(tmp_path)
    settings: dict[str, Any] = {
        "source.entities": 600,
        **LEAN,
        "roles.policy.backend": "my_agent:make",
        "roles.policy.options": {"answer": "Vienna"},
    }
    try:
        built = synth.build("world-search", tasks=5, out=tmp_path / "out", store=world_store, settings=settings)
    finally:
        sys.modules.pop("my_agent", None)
    rows = [row for row in synth.load(built.path).rows("trajectories") if row.role == "policy"]
    assert len(rows) == 10
    assert {row.answer for row in rows} == {"Vienna"}
    assert {row.provenance.backend for row in rows} == {"my_agent:make"}


@pytest.mark.parametrize(
    ("role", "line"),
    [
        ({"backend": "openai"}, "the backend openai needs the name of a model"),
        ({"backend": "openai", "model": "m"}, "name the address of a server of m"),
        ({"backend": "vllm", "model": "m"}, "needs the address of a server"),
        ({"backend": "openai", "model": "m", "base_url": "localhost:8000"}, "is not an address"),
        ({"backend": "openai", "model": "m", "base_url": "http://a/v1", "endpoints": ["http://b/v1"]}, "endpoints are"),
        ({"backend": "openai", "model": "m", "base_url": "http://a/v1", "serve": {}}, "only for the backend vllm"),
        ({"backend": "openai", "model": "m", "base_url": "http://a/v1", "options": {"mode": "native"}}, "say it as"),
        ({"backend": "openai", "model": "m", "base_url": "http://a/v1", "options": {"strct": 1}}, "there are strict"),
        ({"model": "m"}, "scripted agents call no model"),
        ({"endpoints": ["http://a/v1"]}, "scripted agents call no model"),
        ({"backend": "opnai", "model": "m"}, "choose one of openai, scripted, vllm"),
        ({"backend": "nobody_has_this:make"}, "can't be imported"),
        ({"backend": "json:make"}, "has no function 'make'"),
        ({"backend": "json:dumps", "base_url": "http://a/v1"}, "an endpoint is given and no model"),
    ],
)
def test_what_does_not_go_together_is_said_in_one_line(role: dict[str, Any], line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        synth.build(
            "world-search", tasks=2, out=tmp_path / "out", store=tmp_path / "s", settings={"roles.teacher": role}
        )
    assert line.casefold() in str(caught.value).casefold()
    assert "\n" not in str(caught.value)


def test_a_key_that_is_not_set_is_said_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_TOY_KEY", raising=False)
    role = {"backend": "openai", "model": "m", "base_url": "http://localhost:9/v1", "api_key_env": "MY_TOY_KEY"}
    ledger = tmp_path / "ledger"
    with pytest.raises(InputError, match="MY_TOY_KEY"):
        synth.build(
            "world-search",
            tasks=2,
            out=tmp_path / "out",
            store=tmp_path / "s",
            ledger=ledger,
            settings={"roles.teacher": role},
        )
    assert not ledger.exists() or not ledger.read_bytes(), "no stage was begun"


def test_patience_is_said_in_the_recipe_and_stands_in_no_fingerprint() -> None:
    from synth.engine.fingerprint import hashed_config
    from synth.recipe.roles import Role, policy_of

    plain = {"backend": "openai", "model": "m", "base_url": "http://localhost:9/v1"}
    usual = policy_of("teacher", Role.model_validate(plain), "en")
    patient = policy_of("teacher", Role.model_validate({**plain, "patience": {"seconds": 3600}}), "en")
    assert usual.runtime.patience == Patience()
    assert patient.runtime.patience == Patience(seconds=3600)
    assert hashed_config(usual) == hashed_config(patient)
    with pytest.raises(ValueError, match="seconds"):
        Role.model_validate({**plain, "patience": {"seconds": -1}})


def test_what_says_where_a_model_is_stays_on_this_machine() -> None:
    from synth.pipelines.finishing import published_recipe
    from synth.recipe.load import load_recipe

    role = {
        "backend": "openai",
        "model": "/data/private/toy-1",
        "endpoints": ["http://inner.example:8000/v1"],
        "api_key_env": "MY_TOY_KEY",
        "price": {"prompt": 7.25},
        "patience": {"seconds": 1234.5},
    }
    plain = json.dumps(published_recipe(load_recipe("world-search", settings={"roles.teacher": role})))
    for secret in ("inner.example", "MY_TOY_KEY", "/data/private", "7.25", "1234.5"):
        assert secret not in plain
    assert "toy-1" in plain


def test_rollouts_that_are_cut_short_are_rejected_beside_those_that_are_kept(tmp_path: Path, world_store: Path) -> None:
    base: dict[str, Any] = {"tasks": 8, "store": world_store}
    settings = {"source.entities": 600, **LEAN, "roles.policy.rollouts": 4}
    here = synth.build("world-search", out=tmp_path / "here", settings=settings, **base)
    tasks = list(synth.load(here.path).rows("tasks"))
    players = {
        "toy-teacher": ScriptedPlayer.scripted(tasks, "teacher", language="world"),
        "toy-policy": ScriptedPlayer.scripted(tasks, "policy", language="world"),
    }
    faults = Faults(seed=3, rates={FaultKind.LENGTH: 0.04, FaultKind.REFUSAL: 0.03})
    with ModelServer(players, ServerOptions(faults=faults)) as server:
        there = synth.build("world-search", out=tmp_path / "there", settings={**settings, **bound(server)}, **base)
    rows = list(synth.load(there.path).rows("trajectories"))
    rejected = [row for row in synth.load(there.path).rows("rejected") if row.stage == "rollouts"]
    ended = [(row.task_id, row.role, row.rollout) for row in rows]
    ended += [(row.row_id, row.detail.split(",")[0], row.part) for row in rejected]
    wanted = {(task.id, "teacher", 0) for task in tasks} | {(t.id, "policy", n) for t in tasks for n in range(4)}
    assert sorted(ended) == sorted(wanted), "every rollout ended once"
    assert {row.reason for row in rejected} == {Reason.TRUNCATED, Reason.REFUSAL}
    same = {(row.task_id, row.role, row.rollout): acted(row) for row in synth.load(here.path).rows("trajectories")}
    assert all(acted(row) == same[row.task_id, row.role, row.rollout] for row in rows), "the others are as ever"
    partly = {row.row_id for row in rejected} & {row.task_id for row in rows if row.role == "policy"}
    assert partly, "a task is kept without a sample"
    assert validate(there.path) == []
