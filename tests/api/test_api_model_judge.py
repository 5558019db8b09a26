"""Ratings of runs, and a model as the judge of pairs, answers and runs: whole builds through HTTP."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from shared_builds import world_store
from stand_ins.model_server import FixedPlayer, ModelServer, Reply

import synth
from synth.api import BuildResult
from synth.dataset.rules.validate import validate
from synth.identity import digest
from synth.schemas.adp import ApiAction
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.rejections import Reason
from synth.schemas.turns import turn_ranges

pytestmark = pytest.mark.thorough

SELECTION = {"kinds": ["perturbation", "trajectory", "verified_step"], "same_kind": False}
LEAN: dict[str, Any] = {
    "source.entities": 600,
    "distractors": None,
    "contexts": None,
    "rl": False,
    "difficulty": None,
    "roles.policy.rollouts": 2,
    "critical.search": {"max_pairs": 4},
    "critical.share": 0.3,
    "preferences.fill": 2,
    "preferences.selection": SELECTION,
}
TASKS = 6


def build(folder: Path, name: str, settings: Mapping[str, Any]) -> BuildResult:
    return synth.build(
        "world-search", tasks=TASKS, out=folder / name, store=folder / "store", settings={**LEAN, **settings}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judge")
    world_store(folder)
    return folder


@pytest.fixture(scope="module")
def here(folder: Path) -> BuildResult:
    """Rated by evidence, judged by nobody."""
    return build(folder, "here", {"ratings": {}})


def judge(server: ModelServer, model: str, **more: Any) -> dict[str, Any]:
    role = {"backend": "openai", "model": model, "endpoints": [server.url], **more}
    return {f"roles.judge.{name}": value for name, value in role.items()}


def answers(request: Mapping[str, Any], better: str, ratings: tuple[int, int] = (4, 5)) -> Reply:
    """Replies to each of the judge's three questions."""
    wanted = request["response_format"]["json_schema"]["schema"]["properties"]
    if "better" in wanted:
        said: dict[str, Any] = {"reason": "I like it.", "cites": [0], "better": better}
    elif "coherence" in wanted:
        said = {"reason": "It goes on.", "cites": [0], "coherence": ratings[0], "completion": ratings[1]}
    else:
        said = {"reason": "It names another.", "verdict": "different"}
    return Reply(content=json.dumps(said))


def taste(calls: list[dict[str, Any]], answer: str | None) -> str:
    """What this judge likes: an order of its own over what a first step does, the same wherever it stands."""
    return digest("taste", calls, answer)


def has_taste(request: Mapping[str, Any], sample: str | None) -> Reply:
    data = str(request["messages"][0]["content"]).rpartition("\n----------\n")[2]
    first: dict[str, str] = {}
    for line in map(json.loads, data.split("\n")):
        if "option" in line:
            first.setdefault(line["option"], taste(line.get("calls", []), line.get("answer")))
    if not first or first["A"] == first["B"]:
        return answers(request, "unsure")
    return answers(request, "A" if first["A"] > first["B"] else "B")


def taste_of(side: tuple[Any, ...]) -> str:
    actions = side[: turn_ranges(side)[0][1]]
    calls = [{"tool": item.function, "arguments": item.kwargs} for item in actions if isinstance(item, ApiAction)]
    return taste(calls, None if calls else actions[0].content)


def verdicts(built: BuildResult, kind: JudgmentKind) -> list[JudgmentRow]:
    return [row for row in synth.load(built.path).rows("judgments") if row.kind is kind]


def pairs(built: BuildResult) -> list[PreferenceRow]:
    return list(synth.load(built.path).rows("preferences"))


def test_without_a_model_evidence_rates_and_says_so(here: BuildResult) -> None:
    assert validate(here.path) == []
    runs = list(synth.load(here.path).rows("trajectories"))
    rated = verdicts(here, JudgmentKind.RUN)
    assert sorted(row.trajectory_id for row in rated) == sorted(run.id for run in runs)
    assert {(row.provenance.backend, row.provenance.model, row.calls) for row in rated} == {("evidence", None, ())}
    values = {row.trajectory_id: row.value for row in rated}
    good = [values[run.id] or 0.0 for run in runs if run.success]
    bad = [values[run.id] or 0.0 for run in runs if run.verdict.correct is False]
    assert sum(good) / len(good) > sum(bad) / len(bad) + 1
    assert {row.kind for row in synth.load(here.path).rows("judgments")} == {JudgmentKind.RUN}


def test_runs_are_drawn_by_their_rating_and_exported_so(here: BuildResult, tmp_path: Path) -> None:
    every = verdicts(here, JudgmentKind.RUN)
    rated = {row.trajectory_id: row for row in every if row.value is not None}
    assert len(rated) >= 0.9 * len(every), "of few runs no rule can tell whether they are right"
    for row in rated.values():
        assert row.value is not None
        assert row.parts["chance"] == pytest.approx(row.value / 5, abs=1e-4)
        assert row.parts["drawn"] is True or row.value < 5
    drawn = {name for name, row in rated.items() if row.parts["drawn"]}
    assert 0 < len(drawn) < len(every)
    done = synth.export(here.path, "openai", tmp_path / "out", select=["drawn=true", "duplicates=true"])
    notes = [line for path in (done.path / "index").glob("*.jsonl") for line in path.read_text().splitlines()]
    exported = {json.loads(note)["id"] for note in notes}
    refused = sum(sum(one.inexpressible.values()) for one in done.report.splits.values())
    assert exported < drawn or exported == drawn
    assert len(exported) + refused == len(drawn)


def test_without_ratings_there_is_no_such_table(folder: Path, here: BuildResult) -> None:
    plain = build(folder, "plain", {})
    assert "judgments" not in synth.load(plain.path).configs
    own = [row.model_dump(exclude={"provenance"}) for row in pairs(plain)]
    assert own == [row.model_dump(exclude={"provenance"}) for row in pairs(here)]


def test_a_judge_agrees_disagrees_abstains_and_may_be_required(folder: Path, here: BuildResult) -> None:
    with ModelServer({"toy-taste": FixedPlayer(has_taste)}) as server:
        ignored = build(folder, "ignored", {**judge(server, "toy-taste"), "ratings": {}})
        sent = len(server.log.records())
        required = build(
            folder,
            "required",
            {**judge(server, "toy-taste"), "ratings": {}, "preferences.selection": {**SELECTION, "judge": "require"}},
        )
        assert len(server.log.records()) == sent, "the judge is not asked twice"
        assert server.errors == []
    assert validate(ignored.path) == []
    assert validate(required.path) == []
    rows = pairs(ignored)
    found = {row.pair_id: row for row in verdicts(ignored, JudgmentKind.PAIR)}
    assert sorted(found) == sorted(row.id for row in rows), "every pair is judged"
    for row in rows:
        ours, theirs = taste_of(row.chosen), taste_of(row.rejected)
        wanted = "abstains" if ours == theirs else "agrees" if ours > theirs else "disagrees"
        assert found[row.id].verdict == wanted, row.id
        assert (found[row.id].abstained is Reason.UNSURE) == (ours == theirs)
        assert len(found[row.id].calls) == 2
        assert found[row.id].provenance.model == "toy-taste"
        assert (found[row.id].provenance.prompt or "").startswith("judge/compare/v1@")
    kinds = Counter(row.verdict for row in found.values())
    assert min(kinds["agrees"], kinds["disagrees"]) > 0, kinds
    assert [row.model_dump(exclude={"provenance"}) for row in rows] == [
        row.model_dump(exclude={"provenance"}) for row in pairs(here)
    ], "nothing changes where its word is ignored"
    before = {row.id for row in rows if row.selected}
    after = {row.id for row in pairs(required) if row.selected}
    assert after == {name for name in before if found[name].verdict == "agrees"}
    assert 0 < len(after) < len(before)
    (stage,) = [one for one in ignored.report.stages if one.label == "judged-pairs"]
    assert {name: stage.numbers[f"pair.{name}"] for name in kinds} == dict(kinds)


def test_ratings_and_answers_stand_beside_what_the_rules_say(folder: Path, here: BuildResult) -> None:
    with ModelServer({"toy-taste": FixedPlayer(has_taste)}) as server:
        built = build(folder, "rated", {**judge(server, "toy-taste"), "ratings": {}, "preferences": None})
    runs = {run.id: run for run in synth.load(built.path).rows("trajectories")}
    rated = verdicts(built, JudgmentKind.RUN)
    assert {(row.value, row.cites, row.parts["coherence"]) for row in rated} == {(4.5, (0,), 4)}
    assert {row.provenance.model for row in rated} == {"toy-taste"}
    asked = {row.trajectory_id for row in verdicts(built, JudgmentKind.ANSWER)}
    open_ = {name for name, run in runs.items() if run.verdict.correct is not True and run.answer}
    assert asked == open_
    assert asked
    before = {run.id: (run.success, run.verdict) for run in synth.load(here.path).rows("trajectories")}
    assert {name: (run.success, run.verdict) for name, run in runs.items()} == before
    assert validate(built.path) == []


@pytest.mark.parametrize(
    ("model", "content", "reason"),
    [("toy-first", None, Reason.INCONSISTENT), ("toy-turtles", "I like turtles.", Reason.MALFORMED)],
)
def test_a_biased_or_babbling_judge_agrees_with_nothing(
    model: str, content: str | None, reason: Reason, folder: Path, here: BuildResult
) -> None:
    def reply(request: Mapping[str, Any], sample: str | None) -> Reply:
        return Reply(content=content) if content is not None else answers(request, "A")

    with ModelServer({model: FixedPlayer(reply)}) as server:
        built = build(
            folder, model, {**judge(server, model), "preferences.selection": {**SELECTION, "judge": "require"}}
        )
    found = verdicts(built, JudgmentKind.PAIR)
    assert {(row.verdict, row.value, row.abstained) for row in found} == {("abstains", None, reason)}
    assert len(found) == len(pairs(here))
    assert not [row for row in pairs(built) if row.selected]
    assert validate(built.path) == []
