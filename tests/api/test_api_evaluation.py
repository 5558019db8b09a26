"""``synth evaluate``: models on the tasks of a finished dataset, in its environment, compared task by task."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from api_builds import acted
from stand_ins.model_server import Call, FixedPlayer, ModelServer, Reply, ScriptedPlayer, ServerOptions
from typer.testing import CliRunner

import synth
from synth.agents.trajectory import history_of
from synth.api import BuildResult
from synth.cli.app import app
from synth.dataset.evaluation import Runs, evaluate_runs
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.pipelines.evaluation import candidate_names, evaluation_recipe
from synth.pipelines.reopen import reopen
from synth.schemas.trajectories import TrajectoryRow

pytestmark = pytest.mark.thorough

SPLITS = ("train", "validation", "test")


def own_runs(folder: Path) -> list[TrajectoryRow]:
    return [row for row in synth.load(folder).rows("trajectories") if row.role == "policy"]


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """A small dataset over the graph environment."""
    folder = tmp_path_factory.mktemp("walks")
    settings = {"source.entities": 600, "critical": None, "preferences": None, "rl": False, "difficulty": None}
    return synth.build("graph-walk", tasks=6, out=folder / "out", store=folder / "store", settings=settings)


def test_a_policy_does_again_what_it_did_in_the_build(small: BuildResult, tmp_path: Path) -> None:
    found = synth.evaluate(small.path, ["scripted"], splits=["all"], out=tmp_path / "out", store=tmp_path / "store")
    assert found.figures.splits == SPLITS
    again = tmp_path / "out" / "runs" / "scripted"
    assert [acted(row) for row in own_runs(again)] == [acted(row) for row in own_runs(small.path)]
    assert validate(again) == []
    (one,) = found.figures.candidates
    assert one.success.rate == pytest.approx(sum(row.success for row in own_runs(again)) / len(own_runs(again)))
    assert found.figures.differences == ()
    written = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))
    assert written == found.figures.model_dump(mode="json")


def test_a_graph_is_opened_from_the_published_facts_alone(walks: BuildResult, tmp_path: Path) -> None:
    environment, tasks = reopen(synth.load(walks.path))
    steps = 0
    for row in synth.load(walks.path).rows("trajectories"):
        task = tasks.by_id(row.task_id)
        assert task is not None
        episode = environment.reset(task)
        for step in history_of(row)[1]:
            seen = [episode.step(call) for call in step.turn.calls]
            assert [(one.content, one.error) for one in seen[: len(step.results)]] == [
                (result.content, result.error) for result in step.results
            ]
            steps += len(step.results)
    assert steps > 20
    options: dict[str, Any] = {"out": tmp_path / "out", "store": tmp_path / "store", "splits": SPLITS}
    skill = {"roles.policy.options": synth.load(walks.path).report.recipe["roles"]["policy"]["options"]}
    synth.evaluate(walks.path, ["scripted"], settings=skill, **options)
    again = tmp_path / "out" / "runs" / "scripted"
    assert [acted(row) for row in own_runs(again)] == [acted(row) for row in own_runs(walks.path)]


def test_two_models_behind_http_are_compared_and_nothing_is_paid_twice(small: BuildResult, tmp_path: Path) -> None:
    tasks = list(synth.load(small.path).rows("tasks"))
    players = {
        f"toy-{role}": ScriptedPlayer.scripted(tasks, role, language="world")  # type: ignore[arg-type]
        for role in ("teacher", "policy")
    }
    settings = {
        "roles.policy.options": {"send_reasoning": "reasoning"},  # our scripted agents read their own thoughts
        "roles.policy.price": {"prompt": 0.1, "completion": 0.4},
    }
    with ModelServer(players, ServerOptions()) as server:
        models = [f"toy-policy@{server.url}", f"toy-teacher@{server.url}"]
        options: dict[str, Any] = {"splits": SPLITS, "runs": 3, "store": tmp_path / "store", "settings": settings}
        found = synth.evaluate(small.path, models, out=tmp_path / "out", **options)
        asked = len(server.log.records())
        again = synth.evaluate(small.path, models, out=tmp_path / "out", **options)
        assert len(server.log.records()) == asked
        assert server.errors == []
    assert again.figures == found.figures
    policy, teacher = found.figures.candidates
    assert (policy.name, policy.model, teacher.name) == ("toy-policy", "toy-policy", "toy-teacher")
    assert policy.runs == teacher.runs == 3 * len(tasks)
    assert teacher.success.rate == 1.0
    assert teacher.best_of == {1: 1.0, 2: 1.0, 3: 1.0}
    (gap,) = found.figures.differences
    assert (gap.first, gap.second, gap.tasks, gap.second_better) == ("toy-teacher", "toy-policy", len(tasks), 0)
    assert policy.success.rate is not None
    assert gap.difference == pytest.approx(1 - policy.success.rate)
    assert policy.model_calls > 3 * len(tasks)
    assert (policy.readable, teacher.valid_calls, teacher.cut_short) == (1.0, 1.0, {})
    assert policy.cost > 0
    account = found.accounts["toy-policy"]
    assert account is not None
    assert account.calls == policy.model_calls
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "toy-teacher - toy-policy" in page


def test_replies_that_are_no_turns_and_calls_that_no_tool_takes_are_counted(walks: BuildResult, tmp_path: Path) -> None:
    questions = [task.question for task in synth.load(walks.path).rows("tasks")][:3]
    good, broken = Reply(calls=(Call.of("find_entity", name="Anna"),)), Reply("<tool_call>{find</tool_call>")
    said = dict(
        zip(
            questions,
            (
                # An unknown tool, wrong arguments: the environment answers both. An entity that does not exist.
                [
                    Reply(calls=(Call.of("look_up", name="Anna"), Call.of("find_entity", nose=7))),
                    Reply(calls=(Call.of("get_relations", entity="person/nobody"),)),
                    Reply("Anna"),
                ],
                [good, Reply("Anna and Ann", finish="length")],
                # Read at the second attempt, then not at all.
                [broken, good, broken, broken],
            ),
            strict=True,
        )
    )

    def reply(request: Mapping[str, Any], sample: str | None) -> Reply:
        """The next for its question: each turn has a message of the assistant, so has a correction."""
        first = next(message["content"] for message in request["messages"] if message["role"] == "user")
        if first != questions[2]:
            return said[first][sum(message["role"] == "assistant" for message in request["messages"])]
        corrected = request["messages"][-1]["role"] == "user" and len(request["messages"]) > 2
        acted = any(message["role"] == "tool" for message in request["messages"])
        return said[first][2 * acted + corrected]

    with ModelServer({"toy": FixedPlayer(reply)}, ServerOptions()) as server:
        options: dict[str, Any] = {"splits": SPLITS, "tasks": 3, "store": tmp_path / "store"}
        found = synth.evaluate(walks.path, [f"toy@{server.url}"], out=tmp_path / "out", **options)
    (toy,) = found.figures.candidates
    assert (toy.runs, toy.unfinished) == (1, 2)
    assert toy.cut_short == {"malformed_call": 1, "truncated": 1}
    # Of a run that is cut short all turns but the last count as read: corrections before it are not recorded.
    assert toy.readable == pytest.approx(5 / 7)
    assert toy.call_errors == {"bad_arguments": 1, "not_found": 1, "unknown_tool": 1}
    assert toy.valid_calls == pytest.approx(1 / 3)
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "What models wrote" in page
    assert "malformed_call" in page


def test_the_command_line_shows_the_tables(small: BuildResult, tmp_path: Path) -> None:
    arguments = ["evaluate", str(small.path), "--model", "scripted", "--against", "scripted", "--split", "train"]
    arguments += ["--tasks", "2", "--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")]
    shown = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert shown.exit_code == 0
    for said in (
        "2 tasks of world-search (train), one run each",
        "Task by task",
        "scripted-2 - scripted",
        "index.html",
    ):
        assert said in shown.output
    told = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert json.loads(told.output)["figures"]["differences"][0]["difference"] == 0.0


@pytest.mark.parametrize(
    ("models", "options", "said"),
    [
        ([], {}, "no model is named"),
        (["http://127.0.0.1:9/v1"], {}, "Write NAME@URL"),
        (["nothing here"], {}, "'nothing here' is not a model"),
        (["scripted"], {"splits": ["dev"]}, "there is no split 'dev'"),
        (["scripted"], {"tasks": 1_000, "splits": ["train"]}, "accepted"),
        (["scripted"], {"settings": {"limits.max_turn": 3}}, "unknown key"),
        (["scripted"], {"out": "s3://bucket/out"}, "s3://"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(
    models: list[str], options: dict[str, Any], said: str, small: BuildResult, tmp_path: Path
) -> None:
    given = {"out": tmp_path / "out", "store": tmp_path / "store", **options}
    with pytest.raises(synth.SynthError) as caught:
        synth.evaluate(small.path, models, **given)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_split_without_tasks_is_said_with_those_that_have_some(small: BuildResult, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(small.path, copy)
    for path in (copy / "tasks").glob("test-*"):
        path.unlink()
    with pytest.raises(InputError, match=r"it has no tasks in test, but in train.*--split"):
        synth.evaluate(copy, ["scripted"], out=tmp_path / "out", store=tmp_path / "store")


def test_a_model_may_have_capitals_in_its_name(small: BuildResult) -> None:
    recipe = evaluation_recipe(synth.load(small.path), "Qwen3-8B@http://127.0.0.1:8000/v1", "Qwen3-8B")
    assert recipe.name == "world-search-qwen3-8b"
    assert recipe.roles["policy"].model == "Qwen3-8B"


def test_a_dataset_may_not_start_programs_unasked(tmp_path: Path, small: BuildResult) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(small.path, copy)
    report = json.loads((copy / "report.json").read_text("utf-8"))
    report["recipe"]["source"] = {"kind": "mcp", "servers": {"x": {"command": ["touch", "/tmp/never"]}}}
    report["recipe"]["environment"] = {"kind": "mcp"}
    (copy / "report.json").write_text(json.dumps(report), "utf-8")
    with pytest.raises(InputError, match=r"would run 'touch /tmp/never'.*--trust"):
        synth.evaluate(copy, ["scripted"], out=tmp_path / "out", store=tmp_path / "store")


def test_a_folder_that_is_trained_anew_is_another_model(small: BuildResult, tmp_path: Path) -> None:
    """Replies are stored by the model's name: those of the old weights must not answer for the new ones."""
    folder = tmp_path / "mine"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"old")

    def role() -> dict[str, Any]:
        recipe = evaluation_recipe(synth.load(small.path), str(folder), "mine")
        return recipe.model_dump(mode="json")["roles"]["policy"]

    old = role()
    assert role() == old
    assert old["model"].startswith("mine@")
    assert old["serve"]["model"] == str(folder)
    (folder / "checkpoints" / "step-1").write_bytes(b"is not served")
    assert role() == old
    (folder / "model.safetensors").write_bytes(b"new")
    assert role()["model"] != old["model"]


def runs_of(name: str, wanted: int, **verdicts: list[bool | None]) -> Runs:
    """Tasks by name with the verdicts of their finished runs; a run that succeeds answers ``gold``."""
    made = Runs(name, None, wanted, dict.fromkeys(verdicts, ("composition", "2", "0")))
    answers: dict[str, list[str]] = defaultdict(list)
    for task, known in verdicts.items():
        answers[task] = ["gold" if one else f"wrong {number}" for number, one in enumerate(known)]
    made.verdicts.update(verdicts)
    made.answers.update(answers)
    return made


def test_figures() -> None:
    first = runs_of("first", 3, a=[True, True, False], b=[False, False], c=[None, True, None], d=[None, None, None])
    second = runs_of("second", 3, a=[True] * 3, b=[True] * 3, c=[True] * 3, d=[None] * 3)
    found = evaluate_runs("made", ["test"], [first, second])
    one, two = found.candidates
    # b: its third run came to no end, a failure; d: no run was judged.
    assert one.success.tasks == 3
    assert one.success.rate == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert (one.unfinished, one.unjudged, one.runs) == (1, 5, 11)
    # a: 1 - C(1, 2) / C(3, 2) = 1, b: 0; c has one judged run only.
    assert one.best_of == {1: pytest.approx((2 / 3 + 0 + 1) / 3), 2: pytest.approx(0.5), 3: pytest.approx(0.5)}
    # c: of three answers with one vote each the first one counts, and it was not judged.
    assert one.majority == pytest.approx((1 + 0) / 2)
    assert two.success.rate == 1.0
    assert two.success.low is not None
    assert 0.3 < two.success.low < 1
    (gap,) = found.differences
    assert (gap.tasks, gap.first_better, gap.second_better) == (3, 2, 0)
    assert gap.difference == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < gap.difference < gap.high
    assert gap.p == pytest.approx(0.5)


def test_many_tasks_make_a_narrow_interval() -> None:
    made = [
        evaluate_runs("made", ["test"], [runs_of("one", 1, **{f"t{n}": [n % 2 == 0] for n in range(size)})])
        for size in (10, 1_000)
    ]
    few, many = (found.candidates[0].success for found in made)
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    # Wilson's interval of 5 of 10, to three digits.
    assert (round(few.low, 2), round(few.high, 2)) == (0.24, 0.76)
    assert many.high - many.low < (few.high - few.low) / 5


def test_names_of_candidates_are_short_and_unique() -> None:
    given = ["Qwen/Qwen3-8B@http://host:8000/v1", "Qwen3-8B@https://host/v1", "scripted", "/models/mine"]
    assert candidate_names(given) == ["Qwen3-8B", "Qwen3-8B-2", "scripted", "mine"]
