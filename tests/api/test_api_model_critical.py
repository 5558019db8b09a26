"""The search for critical steps with models as scorer and expert: whole builds through HTTP."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from shared_builds import world_store
from stand_ins.model_server import (
    Call,
    ExpertPlayer,
    FixedPlayer,
    ModelServer,
    Player,
    Reply,
    ScorerPlayer,
    ScriptedPlayer,
    ServerOptions,
    read_shown,
)

import synth
from synth.annotate.critical.scoring import EvidenceScorer
from synth.annotate.critical.scripted_expert import scripted_expert
from synth.api import BuildResult
from synth.dataset.rules.derived import derived_problems
from synth.dataset.rules.validate import validate
from synth.environments.search import SearchEnvironment
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.preferences import PreferenceRow
from synth.schemas.reports import StageReport
from synth.schemas.steps import ContinuationRow
from synth.testing.corpus import ListTable

pytestmark = pytest.mark.thorough

LEAN: dict[str, Any] = {
    "source.entities": 600,
    "distractors": None,
    "contexts": None,
    "rl": False,
    "difficulty": None,
    "roles.policy.rollouts": 2,
    "critical.share": 1.0,
    "critical.search": {"max_pairs": 8},
    "preferences.fill": 0,
    "preferences.trajectories_per_task": 0,
}
TASKS = 8


def build(folder: Path, name: str, settings: Mapping[str, Any]) -> BuildResult:
    return synth.build(
        "world-search", tasks=TASKS, out=folder / name, store=folder / "store", settings={**LEAN, **settings}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("critical")
    world_store(folder)
    return folder


@pytest.fixture(scope="module")
def here(folder: Path) -> BuildResult:
    """With the embedded scorer and expert."""
    return build(folder, "here", {})


@pytest.fixture(scope="module")
def environment(here: BuildResult) -> SearchEnvironment:
    documents = list(synth.load(here.path).rows("documents"))
    words = ((document.title, document.text, document.aliases) for document in documents)
    return SearchEnvironment(Bm25Index(Bm25Index.build(words)), ListTable(documents))


def role(server: ModelServer, name: str, model: str = "", **options: Any) -> dict[str, Any]:
    """``model``: what plays it; builds of one store have what a model of this name said before."""
    return {
        f"roles.{name}.backend": "openai",
        f"roles.{name}.model": f"toy-{model or name}",
        f"roles.{name}.endpoints": [server.url],
        f"roles.{name}.price": {"prompt": 0.1, "completion": 0.4},
        f"roles.{name}.options": options,
    }


@contextmanager
def served(**players: Player) -> Iterator[ModelServer]:
    named = {f"toy-{name}": player for name, player in players.items()}
    with ModelServer(named, ServerOptions(latency=(0.0, 0.002))) as server:
        yield server
        assert server.errors == []


def report_of(built: BuildResult) -> StageReport:
    (found,) = [stage for stage in built.report.stages if stage.label == "critical-steps"]
    return found


def pairs(built: BuildResult) -> list[dict[str, Any]]:
    """Without what says who worked, and without ids that hash it."""
    rows: list[PreferenceRow] = list(synth.load(built.path).rows("preferences"))
    return [row.model_dump(mode="json", exclude={"provenance"}) for row in rows]


def test_models_that_do_as_the_embedded_ones_give_the_same_verified_pairs(
    folder: Path, here: BuildResult, environment: SearchEnvironment
) -> None:
    tasks = list(synth.load(here.path).rows("tasks"))
    players: dict[str, Player] = {
        "prm": ScorerPlayer(tasks, environment, EvidenceScorer()),
        "expert": ExpertPlayer(tasks, environment, scripted_expert(language="world")),
    }
    with served(**players) as server:
        settings = role(server, "prm", older=None) | role(server, "expert", send_reasoning="reasoning")
        there = build(folder, "there", settings)
        sent = len(server.log.records())
        again = build(folder, "again", settings)
        assert again.reused
        assert len(server.log.records()) == sent, "nothing is asked for twice"
    assert len(pairs(here)) >= 3
    assert pairs(there) == pairs(here)
    assert validate(there.path) == []
    mine, theirs = report_of(here).numbers, report_of(there).numbers
    # Only a model's abstention has a reason of its own: both abstain where no rule decides about an answer.
    assert {name: n for name, n in theirs.items() if not name.startswith("abstained.")} == mine
    verdicts = list(synth.load(there.path).rows("judgments"))
    scored = [row for row in verdicts if row.verdict == "scored"]
    assert len(scored) > 30
    assert len(verdicts) - len(scored) == theirs["abstentions"]
    assert {(row.provenance.backend, row.provenance.model) for row in verdicts} == {("openai", "toy-prm")}
    assert all((row.provenance.prompt or "").startswith("critical/score/v1@") for row in verdicts)
    assert all(row.calls for row in verdicts)
    assert "judgments" not in synth.load(here.path).configs, "nobody but rules judged"
    assert {(use.role, use.model) for use in report_of(there).models} == {("prm", "toy-prm"), ("expert", "toy-expert")}
    card = (there.path / "README.md").read_text()
    assert "The role prm, played by toy-prm, scored actions" in card
    assert "The role expert, played by toy-expert, proposed the other actions" in card
    assert server.url not in card


def test_branches_keep_tokens_and_probabilities_of_who_continued_and_who_proposed(
    folder: Path, here: BuildResult, environment: SearchEnvironment
) -> None:
    tasks = list(synth.load(here.path).rows("tasks"))
    players: dict[str, Player] = {
        "policy": ScriptedPlayer.scripted(tasks, "policy", language="world"),
        "expert": ExpertPlayer(tasks, environment, scripted_expert(language="world")),
    }
    with served(**players) as server:
        settings = {
            **role(server, "policy", send_reasoning="reasoning"),
            **role(server, "expert", send_reasoning="reasoning"),
            "roles.policy.sampling": {"logprobs": True},
            "roles.expert.sampling": {"logprobs": True},
            "critical.share": 0.5,
        }
        there = build(folder, "tokens", settings)
    assert validate(there.path) == []
    runs = {row.id: row for row in synth.load(there.path).rows("trajectories")}
    continuations: list[ContinuationRow] = list(synth.load(there.path).rows("continuations"))
    assert continuations
    for row in continuations:
        assert len(row.model_turns) == row.turns - (row.step >= 0)
        assert (row.proposal is not None) == (row.side == "alternative")
        for one in (*row.model_turns, *([row.proposal] if row.proposal else [])):
            assert one.token_ids
            assert one.logprobs is not None
            assert len(one.token_ids) == len(one.logprobs) == one.completion_tokens
    proposals = [row for row in continuations if row.proposal is not None]
    assert {runs[row.trajectory_id].success for row in proposals} == {True, False}, "the policy's own proposals too"
    drawn = [one.call for row in continuations for one in row.model_turns]
    recorded = {one["call"] for row in runs.values() for one in row.details.get("model_turns", ())}
    assert not recorded & set(drawn), "continuations draw samples of their own"
    assert all(row.proposal is None and not row.model_turns for row in synth.load(here.path).rows("continuations"))


def test_a_scorer_that_likes_everything_finds_nothing_to_try(folder: Path, here: BuildResult) -> None:
    def one(request: Mapping[str, Any], sample: str | None) -> Reply:
        entries = [{"action": name, "reason": "fine", "score": 1.0} for name in read_shown(request).lettered]
        return Reply(content=json.dumps({"scores": entries}))

    with served(likes=FixedPlayer(one)) as server:
        there = build(folder, "likes", {**role(server, "prm", "likes", older=None), "critical.successes": False})
    numbers = report_of(there).numbers
    assert (numbers["candidates"], numbers["abstentions"], numbers["continuations"]) == (0, 0, 0)
    assert "proposed" not in numbers or numbers["proposed"] == 0, "the expert is not asked where the step is fine"
    assert pairs(there) == []
    assert validate(there.path) == []
    values = [row.value for row in synth.load(there.path).rows("judgments")]
    assert values
    assert set(values) == {1.0}


def test_a_scorer_that_talks_nonsense_abstains_and_is_counted(folder: Path, here: BuildResult) -> None:
    with served(nonsense=FixedPlayer(Reply(content="I like turtles."))) as server:
        there = build(folder, "nonsense", role(server, "prm", "nonsense"))
    report = report_of(there)
    searched = report.rows["searched"]
    assert searched == TASKS * 2
    numbers = report.numbers
    steps = [row for row in synth.load(there.path).rows("steps") if row.role == "policy"]
    assert numbers["abstentions"] == numbers["abstained.malformed"] == len(steps)
    assert (numbers["candidates"], numbers["continuations"], numbers["verified"]) == (0, 0, 0)
    assert pairs(there) == []
    assert all(step.score is None for step in steps), "never a 0"
    verdicts = list(synth.load(there.path).rows("judgments"))
    assert {(row.verdict, row.value, row.abstained) for row in verdicts} == {("abstains", None, "malformed")}
    assert len(verdicts) == len(steps)
    assert validate(there.path) == []
    asked = sum(use.calls for use in report.models)
    assert len(steps) <= asked <= 2 * len(steps), "each question at most twice, equal ones once"


def test_an_expert_that_refuses_is_counted_and_nothing_breaks(folder: Path, here: BuildResult) -> None:
    refusal = FixedPlayer(Reply(content="I'm sorry, but I can't assist with that."))
    with served(refuses=refusal) as server:
        there = build(folder, "refuses", {**role(server, "expert", "refuses"), "critical.successes": False})
    numbers = report_of(there).numbers
    assert numbers["not_proposed.refusal"] > 0
    assert numbers["not_proposed.refusal"] % 5 == 0, "three suggestions and two more at each step"
    assert (numbers["proposed"], numbers["candidates"]) == (0, 0)
    assert pairs(there) == []


def test_continuations_that_a_model_cut_short_are_proven_like_any_other(tmp_path: Path) -> None:
    """As a small language model does: half of its replies run into the limit. They abstain, and so says the proof."""

    def reply(request: Mapping[str, Any], sample: str | None) -> Reply:
        if len(request["messages"]) > 4 and zlib.crc32(str(sample).encode()) % 2:
            return Reply("8888", finish="length")
        if len(request["messages"]) > 4:
            return Reply("somebody")
        return Reply(calls=(Call.of("find_entity", name=request["messages"][1]["content"][-60:]),))

    with ModelServer({"small": FixedPlayer(reply)}, ServerOptions()) as server:
        policy = {"backend": "openai", "model": "small", "base_url": server.url, "rollouts": 2}
        settings = {
            **LEAN,
            "roles.policy": policy,
            "allow_empty_sft": True,
        }
        settings.pop("roles.policy.rollouts")
        made = synth.build("graph-walk", tasks=4, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
    rows = list(synth.load(made.path).rows("continuations"))
    assert any(row.stop_reason == "rejected" and row.content for row in rows)
    assert [str(problem) for problem in derived_problems(made.path)] == []
