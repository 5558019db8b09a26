"""Stages that a recipe lists itself, and who reads what from whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import synth
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.pipelines.planner import plan
from synth.pipelines.steps import STEPS
from synth.recipe.load import load_recipe
from synth.recipe.model import Recipe
from synth.schemas.described import description_of


def recipe(stages: list[Any] | None, **settings: Any) -> Recipe:
    return load_recipe("world-search", settings={**settings, **({} if stages is None else {"stages": stages})})


def test_all_steps_listed_are_the_default() -> None:
    listed, default = plan(recipe(list(STEPS))), plan(recipe(None))
    assert listed == default
    assert all(f"``{name}``" in str(description_of(Recipe, "stages")) for name in STEPS)


def test_a_stage_reads_the_nearest_earlier_writer() -> None:
    made = plan(
        recipe(
            [
                "source",
                {"stage": "sketch", "label": "sketched", "config": {"level": "documents"}},
                {"stage": "unique_documents", "label": "once", "config": {"rules": {}}},
                "graph",
                "index",
                "tasks",
                "rollouts",
                {"stage": "verify", "label": "strict", "role": "policy", "config": {"grounded_roles": ["policy"]}},
                "label_steps",
                {"stage": "verify", "label": "again", "role": "policy", "reads": {"rollouts": "policy:trajectories"}},
            ]
        )
    )
    inputs = {node.label: dict(node.inputs) for node in made.nodes}
    assert inputs["index"] == {"documents": "once"}
    assert inputs["graph"] == {"entities": "documents", "edges": "documents"}
    for own, steps in (("strict", "policy-steps"), ("teacher", "teacher-steps")):
        assert inputs[steps] == {"trajectories": own, "tasks": "tasks", "runs_on_task": f"{own}:trajectories"}
    assert inputs["again"]["rollouts"] == "policy:trajectories"


@pytest.mark.parametrize("makers", [["verified_pairs"], ["perturbed_pairs", "trajectory_pairs"]])
def test_a_recipe_lists_the_makers_of_pairs_that_it_wants(makers: list[str]) -> None:
    before = ["source", "graph", "index", "tasks", "rollouts", "critical_steps", "label_steps"]
    nodes = plan(recipe([*before, *makers, "preferences", "judge_pairs"])).nodes
    gathered = {
        f"{kind}@{at}": f"{name.replace('_', '-')}:{kind}"
        for kind in ("pairs", "pair_notes")
        for at, name in enumerate(makers)
    }
    assert [node.stage.name for node in nodes[-len(makers) - 1 :]] == [*makers, "preferences"]
    assert nodes[-1].inputs == {"tasks": "tasks", **gathered}


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        (["source", "index", "graph", "tasks", "rolouts"], "there is no step or stage 'rolouts'"),
        (["source", "graph", "tasks"], "tasks reads index, which no stage before it writes"),
        (["source", "graph", "index", "tasks", "distractors", {"stage": "shout"}], "stages has no 'shout'"),
        (["source", "graph", "index"], "no run labelled tasks makes the tasks"),
        (["source", "graph", "index", "tasks", {"stage": "verify"}], "teacher-verify reads rollouts, which no stage"),
        (["source", "graph", "index", "tasks", "rollouts", "preferences"], "preferences reads pairs, which no stage"),
        (["source", {"stage": "sketch", "config": {"level": "pages"}}], "config.level: Input should be"),
    ],
)
def test_what_can_not_be_planned_is_one_line(stages: list[Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(recipe(stages))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_dataset_of_listed_stages(tmp_path: Path) -> None:
    """The teacher's runs and no more, each verified twice: what a later stage writes again is what is published."""
    stages = [
        "source",
        "graph",
        "index",
        "tasks",
        "rollouts",
        {"stage": "verify", "reads": {"rollouts": "teacher:trajectories"}},
    ]
    settings = {"source.entities": 400, "roles": {"teacher": {}}, "stages": stages}
    built = synth.build("world-search", tasks=4, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
    made = synth.load(built.path)
    assert len(list(made.rows("tasks"))) == 4
    assert {row.role for row in made.rows("trajectories")} == {"teacher"}
    assert validate(built.path) == []
