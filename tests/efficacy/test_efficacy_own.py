"""The benchmark over a recipe of somebody's own: what is asked stays, what it is asked of is theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from efficacy_lab.__main__ import main
from efficacy_lab.own import asks_models, own_plan
from efficacy_lab.plan import Plan, load_plan

from synth.recipe.load import builtin_names, load_recipe, parse_recipe

PLAN = load_plan()
GIVEN: dict[str, dict[str, Any]] = {"docs-search": {"source.path": "pages"}}


def own(name: str, **settings: Any) -> Plan:
    return own_plan(PLAN, load_recipe(name, settings={"tasks": 400, **GIVEN.get(name, {}), **settings}))


@pytest.mark.parametrize("name", sorted(set(builtin_names()) - {"mcp-tools"}))
def test_every_build_over_a_dataset_that_ships_is_a_recipe(name: str) -> None:
    plan, recipe = own(name), load_recipe(name, settings=GIVEN.get(name))
    assert plan.own
    assert not PLAN.own
    policy = {"backend": "openai", "model": "tiny", "base_url": "http://127.0.0.1:9/v1"}
    for seed in (0, 1):
        teach = parse_recipe(plan.recipe_for(seed, plan.data.teach, {"roles.teacher": plan.teacher}), name)
        assert (teach.source, teach.questions, teach.environment) == (
            recipe.source,
            recipe.questions,
            recipe.environment,
        )
        assert (teach.seed, teach.tasks, teach.roles["teacher"]) == (recipe.seed, 400, recipe.roles["teacher"])
        assert teach.critical is None
        searched = parse_recipe(plan.recipe_for(seed, plan.data.collect, {}, policy), name)
        assert searched.critical is not None
        assert (searched.critical.share, searched.critical.search.all_alternatives) == (1.0, True)
        assert searched.preferences is not None
        tested = parse_recipe(plan.recipe_for(seed, plan.data.places["held_out"], {}, policy), name)
        assert tested.roles["policy"].model == "tiny"
        assert "teacher" not in tested.roles


def test_who_assists_in_the_search_alone_is_asked_there_alone() -> None:
    """A recipe that names a role which nobody asks is refused."""
    model = {"backend": "openai", "model": "large", "base_url": "http://127.0.0.1:9/v1"}
    plan = own("world-search", **{"roles.expert": model, "roles.prm": model, "roles.judge": model})
    policy = {"backend": "openai", "model": "tiny", "base_url": "http://127.0.0.1:9/v1"}
    teacher = {"roles.teacher": plan.teacher}

    def roles(place: str, settings: dict[str, Any], acts: dict[str, Any] | None) -> set[str]:
        where = {"teach": plan.data.teach, "collect": plan.data.collect}.get(place) or plan.data.places[place]
        return set(parse_recipe(plan.recipe_for(0, where, settings, acts), place).roles)

    assert roles("teach", teacher, None) == {"teacher"}
    assert roles("collect", teacher, policy) == {"teacher", "policy", "expert", "prm", "judge"}
    assert roles("held_out", {}, policy) == {"policy"}


def test_worlds_are_made_anew_for_each_seed_and_nobodys_own_source_is() -> None:
    worlds = [
        PLAN.recipe_for(seed, place, {})["source"]["seed"] for seed in (0, 1) for place in PLAN.data.places.values()
    ]
    assert worlds == [30000, 40000, 30000, 30001, 40001, 30001]
    plan = own("app-desk")
    assert plan.recipe_for(0, plan.data.teach, {}) == plan.recipe_for(1, plan.data.teach, {})


def test_arms_are_the_same_in_proportion_and_no_teacher_is_asked_anew() -> None:
    plan = own("app-desk")
    assert plan.core == PLAN.core
    assert plan.endpoints == PLAN.endpoints
    assert {name for name in PLAN.arms if PLAN.arms[name].teach.settings} == PLAN.arms.keys() - plan.arms.keys()
    assert [plan.arms[name].teach.rows for name in ("eighth", "quarter", "half")] == [50, 100, 200]
    assert plan.arms["half"].says == "the base, from 200 runs"
    assert plan.key != own("app-desk", tasks=500).key != PLAN.key


def test_the_plan_about_checks_is_asked_of_a_users_own_without_its_teacher() -> None:
    faults = load_plan(Path("faults"))
    plan = own_plan(faults, load_recipe("world-search", settings={"tasks": 400}))
    assert plan.core == ("sft", "rft", "own_unlabelled", "own_copies", "own_unchecked")
    assert [(end.arm, end.against) for end in plan.endpoints] == [
        ("own_unlabelled", "own_unchecked"),
        ("rft", "own_unlabelled"),
        ("own_unlabelled", "own_copies"),
    ]
    made = parse_recipe(plan.recipe_for(0, plan.data.collect, {"roles.teacher": plan.teacher}), "own")
    assert made.critical is None
    assert made.preferences is None


def test_only_what_a_model_replied_needs_the_users_store() -> None:
    assert not asks_models(own("app-desk"))
    model = {"backend": "openai", "model": "large", "base_url": "http://127.0.0.1:9/v1"}
    assert asks_models(own("app-desk", **{"roles.teacher": model}))
    assert asks_models(own("world-search", **{"roles.writer": model}))
    assert not asks_models(own("app-desk", **{"roles.policy": model})), "the tiny one acts in its place"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no-such-dataset"], "there is no dataset"),
        (["--recipe", "nowhere.yaml"], "nowhere.yaml: does not exist. Give a recipe"),
        (["--set", "tasks=3"], "--set: there is no recipe to change"),
        (["app-desk", "--set", "taks=3"], "taks"),
        (["app-desk", "--arms", "no_detours"], "there is no 'no_detours'"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--out", str(tmp_path / "out"), *arguments])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert says in line
    assert not (tmp_path / "out").exists()
