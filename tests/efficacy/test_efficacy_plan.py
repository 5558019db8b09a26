from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from efficacy_lab.experiment import Measured, Results, TooFew, run_plan
from efficacy_lab.plan import Arm, Plan, Teach, load_plan
from efficacy_lab.table import endpoints_of, table_of

import synth
from synth.errors import InputError
from synth.recipe.load import load_recipe, parse_recipe

RATES = {"sft": 0.40, "anchor_only": 0.50, "rft": 0.55, "trajectory_dpo": 0.5, "same_kind": 0.60, "random_same": 0.45}


class Killed(Exception):
    """What a kill is to the driver: it ends there."""


class Toy:
    """A worker that trains nothing: a model is a file that says which arm it is."""

    def __init__(self, dies_at: int | None = None) -> None:
        self.deeds: list[str] = []
        self._dies_at = dies_at

    def _do(self, deed: str) -> None:
        if self._dies_at == len(self.deeds):
            raise Killed
        self.deeds.append(deed)

    def base(self, seed: int, teach: Teach, folder: Path) -> dict[str, float]:
        self._do(f"base {seed} {teach.rows}")
        (folder / "model").write_text("sft" if teach == Teach() else "less")
        return {"rows": float(teach.rows or 1400)}

    def collect(self, seed: int, base: Path, folder: Path) -> dict[str, float]:
        self._do(f"collect {seed}")
        assert (base / "model").read_text() in ("sft", "rft")
        return {"runs": 10}

    def update(self, seed: int, name: str, arm: Arm, base: Path, collected: Path, folder: Path) -> dict[str, float]:
        self._do(f"update {seed} {name}")
        assert (base / "model").exists()
        (folder / "model").write_text(name)
        return {"pairs": 20, "share": 0.25} if arm.pairs else {"rows": 300}

    def measure(self, seed: int, place: str, model: Path) -> Measured:
        name = (model / "model").read_text()
        self._do(f"measure {seed} {place} {name}")
        rate = RATES.get(name, 0.2) + 0.001 * (seed % 7) * (1 if name == "same_kind" else -1)
        return Measured(tasks=500, runs=1000, successes=round(1000 * rate), turns=6.0)


def run(worker: Toy, out: Path, plan: Plan | None = None, **options: Any) -> Results:
    given: dict[str, Any] = {"purpose": "development", "arms": load_plan().core, "seeds": 2, **options}
    return run_plan(plan or load_plan(), worker, out, **given)


def test_the_plan_that_ships_names_every_arm_and_its_recipes_are_recipes() -> None:
    plan = load_plan()
    assert {"sft", "more_sft", "anchor_only", "rft", "trajectory_dpo", "cso", "same_kind", "random_same"} <= set(
        plan.arms
    )
    assert {"earliest", "all"} <= set(plan.arms)
    assert {(end.arm, end.against) for end in plan.endpoints} == {
        ("same_kind", "random_same"),
        ("same_kind", "anchor_only"),
        ("same_kind", "rft"),
        ("same_call", "random_call"),
        ("same_call", "rft"),
    }
    whole = {**plan.recipe, "name": "efficacy", "tasks": 3, "roles": {"teacher": plan.teacher}}
    assert parse_recipe(whole, "arms.yaml").environment.kind == "graph"


def test_the_plan_about_checks_shares_no_seed_and_takes_parts_away_one_by_one() -> None:
    plan, faults = load_plan(), load_plan(Path("faults"))
    used = {*plan.seeds.development, *plan.seeds.untouched}
    assert not used & {*faults.seeds.development, *faults.seeds.untouched}
    assert {one for end in faults.endpoints for one in (end.arm, end.against)} <= set(faults.core)
    assert set(faults.core) == set(faults.arms), "none of the other plan's arms waits for a run"
    teachers = [faults.arms[name].teach for name in faults.core if name.startswith("erring")]
    assert len({teach.model_dump_json(include={"settings"}) for teach in teachers}) == 1
    assert {teach.runs for teach in teachers} == {"whole", "masked", "unlabelled", "every"}
    further = [faults.arms[name].train for name in faults.core if faults.arms[name].rows]
    assert len(further) == 4
    assert all(one == further[0] for one in further)
    for name in ("erring", "rft"):
        settings = {"roles.teacher": faults.teacher, **faults.arms[name].teach.settings}
        assert parse_recipe(faults.recipe_for(5, faults.data.teach, settings), name).tasks == 1500
    assert (
        parse_recipe(faults.recipe_for(5, faults.data.collect, {"roles.teacher": faults.teacher}), "x").critical is None
    )


def test_the_teacher_that_errs_knows_the_question_alone_and_fails(tmp_path: Path) -> None:
    settings = {
        "source.entities": 400,
        "questions.shapes": {"composition": 1.0},
        **dict.fromkeys(("critical", "preferences", "distractors", "contexts", "difficulty", "ratings")),
        "rl": False,
    }
    teacher = load_plan(Path("faults")).arms["erring"].teach.settings["roles.teacher"]
    whole = load_recipe("graph-walk", settings=settings).model_dump(mode="json", exclude_unset=True)
    whole["roles"] = {"teacher": teacher}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(whole))
    built = synth.build(recipe=tmp_path / "recipe.yaml", tasks=30, out=tmp_path / "out", store=tmp_path / "store")
    runs = list(synth.load(built.path).rows("trajectories"))
    assert {row.role for row in runs} == {"teacher"}
    assert not any(row.privileged for row in runs)
    assert 0 < sum(bool(row.success) for row in runs) < len(runs)


def test_pair_arms_and_their_anchor_take_the_same_steps() -> None:
    """Otherwise the anchor's part in a pair arm could not be told from that of the pairs."""
    plan, alone = load_plan(), load_plan().arms["anchor_only"].train
    assert alone is not None
    for name in ("steps", "batch", "rate", "shape", "warmup", "decay"):
        assert getattr(alone, name) == getattr(plan.pairs, name)


def test_the_sweep_of_beta_changes_beta_alone() -> None:
    plan = load_plan()
    for name in ("beta_low", "beta_high"):
        config = plan.arms[name].train
        assert config is not None
        assert config.beta != plan.pairs.beta
        assert config.model_copy(update={"beta": plan.pairs.beta}) == plan.pairs


def test_seeds_of_development_and_untouched_ones_are_apart() -> None:
    plan = load_plan()
    assert not set(plan.seeds_for("development")) & set(plan.seeds_for("final"))
    assert plan.seeds_for("development", 2) == plan.seeds.development[:2]
    with pytest.raises(InputError, match="run once, all of them"):
        plan.seeds_for("final", 2)
    with pytest.raises(InputError, match="development seeds"):
        plan.seeds_for("development", 99)


SFT = {name: {"says": "x"} for name in load_plan().arms}


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("first_place", "moon", "no place"),
        ("core", ["nobody"], "no arm"),
        ("seeds", {"development": [1], "untouched": [1]}, "either for development or untouched"),
        ("arms", {"sft": {"says": "x", "rows": "own"}}, "says how"),
        ("arms", {"sft": {"says": "x", "pairs": "sorcery"}}, "sorcery|Input should be"),
        ("arms", {"sft": {"says": "x", "start": "sft"}}, "first round's model collects"),
        ("arms", SFT | {"two": {"says": "x", "start": "one", "pairs": "all"}}, "not an arm of a first round"),
    ],
)
def test_a_plan_that_makes_no_sense_is_one_line(tmp_path: Path, key: str, value: Any, says: str) -> None:
    whole = {**load_plan().model_dump(mode="json"), key: value}
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(whole))
    with pytest.raises(InputError, match=says):
        load_plan(tmp_path / "plan.yaml")


def test_a_missing_or_torn_plan_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not exist.*large, faults"):
        load_plan(tmp_path / "none.yaml")
    (tmp_path / "torn.yaml").write_text("arms: {")
    with pytest.raises(InputError, match="not YAML"):
        load_plan(tmp_path / "torn.yaml")


def test_each_base_is_trained_once_and_searched_once(tmp_path: Path) -> None:
    worker = Toy()
    results = run(worker, tmp_path, seeds=1)
    assert [deed for deed in worker.deeds if deed.startswith(("base", "collect"))] == ["base 0 None", "collect 0"]
    assert sum(deed.startswith("update") for deed in worker.deeds) == 5
    assert results.rates("held_out")["rft"] == {0: 0.55}


@pytest.mark.parametrize("dies_at", [0, 2, 11])
def test_a_killed_run_goes_on_and_does_nothing_twice(tmp_path: Path, dies_at: int) -> None:
    undisturbed, first, second = Toy(), Toy(dies_at), Toy()
    wanted = run(undisturbed, tmp_path / "one")
    with pytest.raises(Killed):
        run(first, tmp_path / "two")
    assert run(second, tmp_path / "two") == wanted
    assert first.deeds + second.deeds == undisturbed.deeds
    third = Toy()
    assert run(third, tmp_path / "two") == wanted
    assert third.deeds == []


def test_a_damaged_step_is_done_again(tmp_path: Path) -> None:
    run(Toy(), tmp_path)
    (tmp_path / "development" / "seed-0" / "arm-rft.json").write_text("{")
    again = Toy()
    run(again, tmp_path)
    assert again.deeds == ["update 0 rft"]


def test_what_changed_is_done_again_and_nothing_else(tmp_path: Path) -> None:
    plan = load_plan()
    run(Toy(), tmp_path, plan)
    pairs = plan.pairs.model_copy(update={"beta": 0.2})
    again = Toy()
    run(again, tmp_path, plan.model_copy(update={"pairs": pairs}), seeds=1)
    names = ("trajectory_dpo", "same_kind", "random_same")
    assert again.deeds == [deed for name in names for deed in (f"update 0 {name}", f"measure 0 held_out {name}")]


def test_the_untouched_seeds_are_run_with_one_plan(tmp_path: Path) -> None:
    plan = load_plan()
    results = run(Toy(), tmp_path, purpose="final", seeds=None, arms=("sft",))
    assert set(results.rates("held_out")["sft"]) == set(plan.seeds.untouched)
    other = plan.model_copy(update={"pairs": plan.pairs.model_copy(update={"beta": 0.2})})
    with pytest.raises(InputError, match="another plan"):
        run(Toy(), tmp_path, other, purpose="final", seeds=None)
    run(Toy(), tmp_path, other, arms=("sft",), seeds=1)


@pytest.mark.parametrize("options", [{"arms": ("sft", "magic")}, {"places": ("held_out", "moon")}])
def test_unknown_arms_and_places_are_said(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="Choose among"):
        run(Toy(), tmp_path, **options)


def test_an_arm_that_is_not_core_is_tested_where_all_are(tmp_path: Path) -> None:
    results = run(Toy(), tmp_path, seeds=1, arms=("sft", "all"), places=("held_out", "deeper"))
    assert {place: set(arms) for place, arms in results.measured.items()} == {
        "held_out": {"sft", "all"},
        "deeper": {"sft"},
    }
    with pytest.raises(InputError, match="'all' is tested at none of deeper"):
        run(Toy(), tmp_path, seeds=1, arms=("all",), places=("deeper",))


def test_the_table_says_what_was_found(tmp_path: Path) -> None:
    plan = load_plan()
    results = run(Toy(), tmp_path, purpose="final", seeds=None, places=("held_out", "deeper"))
    table = table_of(plan, results)
    for arm in plan.core:
        assert f"\n| {arm} | {len(plan.seeds.untouched)} |" in table
    assert "**held_out** (1,000 runs of 500 tasks per seed)" in table
    assert "**deeper**" in table
    assert "run once" in table
    ends = endpoints_of(plan, results)
    assert [end.verdict for end in ends] == ["higher"] * 3
    assert ends[0].detectable is not None
    assert f"| same_kind - random_same | {len(plan.seeds.untouched)} | {ends[0].difference.mean:+.3f}" in table
    assert "25%" in table


def test_a_run_of_one_seed_claims_nothing(tmp_path: Path) -> None:
    plan = load_plan()
    results = run(Toy(), tmp_path, seeds=1)
    table = table_of(plan, results)
    assert table.count("not shown") == 3
    assert "no test of anything" in table


class Poor(Toy):
    """On the first seed the base leaves three pairs, and on the second a hundred."""

    def update(self, seed: int, name: str, arm: Arm, base: Path, collected: Path, folder: Path) -> dict[str, float]:
        if arm.pairs == "same_kind" and seed == 0:
            self._do(f"update {seed} {name}")
            raise TooFew("3 pairs")
        return super().update(seed, name, arm, base, collected, folder)


def test_a_second_round_goes_on_from_an_arm_and_collects_anew(tmp_path: Path) -> None:
    worker = Toy()
    results = run(worker, tmp_path, arms=("rft_twice",), seeds=1)
    assert worker.deeds == [
        "base 0 None",
        "collect 0",
        "update 0 rft",
        "collect 0",
        "update 0 rft_twice",
        "measure 0 held_out rft_twice",
    ]
    assert set(results.trained) == {"rft_twice"}
    assert "| rft_twice | 1 |" in table_of(load_plan(), results)


def test_a_second_round_of_what_had_too_little_is_missing_too(tmp_path: Path) -> None:
    results = run(Poor(), tmp_path, arms=("same_kind_twice",), seeds=1)
    assert results.missing == {"same_kind_twice": {0: "no same_kind"}}


def test_too_few_pairs_are_a_result_and_the_table_says_so(tmp_path: Path) -> None:
    plan, worker = load_plan(), Poor()
    alone = run(worker, tmp_path, seeds=1)
    assert alone.missing == {"same_kind": {0: "3 pairs"}}
    assert "same_kind" not in alone.rates("held_out")
    table = table_of(plan, alone)
    assert "| same_kind | 0 | too few: 3 pairs (seed 0) |" in table
    assert table.count("not measured (same_kind: too few: 3 pairs (seed 0))") == 3
    both = table_of(plan, run(worker, tmp_path))
    assert "| same_kind (seeds left out: too few: 3 pairs (seed 0)) | 1 |" in both
    assert "| same_kind - rft | 1 |" in both
    assert worker.deeds.count("update 0 same_kind") == 1, "that there is too little is known by now"


def test_rates_by_hops_are_columns(tmp_path: Path) -> None:
    plan, results = load_plan(), run(Toy(), tmp_path, seeds=1)
    one = results.measured["held_out"]["sft"][0]
    facts = {"hops 1": 0.75, "hops 2": 0.25}
    results.measured["held_out"]["sft"][0] = one.model_copy(update={"facts": facts})
    table = table_of(plan, results)
    assert "| against sft | hops 1 | hops 2 | turns |" in table
    assert "| - | 0.75 | 0.25 | 6.0 |" in table


def test_what_is_finished_is_shown_after_each_arm(tmp_path: Path) -> None:
    seen: list[int] = []

    def shown(results: Results) -> None:
        seen.append(sum(len(seeds) for arms in results.measured.values() for seeds in arms.values()))

    run(Toy(), tmp_path, shown=shown)
    assert seen == list(range(1, 13))


def test_a_plan_says_only_what_is_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("extends: arms.yaml\ndata: {collect: {tasks: 7}}\n")
    plan, shipped = load_plan(file), load_plan()
    assert plan.data.collect.tasks == 7
    assert plan.data.collect.settings == shipped.data.collect.settings
    assert plan.arms == shipped.arms
    file.write_text("extends: arms.yaml\ndata: {collect: {task: 7}}\n")
    with pytest.raises(InputError, match=r"data\.collect\.task"):
        load_plan(file)


@pytest.mark.parametrize("keeps", ["[sftt]", "3", "{sft: 1}", "[[sft]]"])
def test_a_plan_keeps_arms_of_the_one_that_it_extends(tmp_path: Path, keeps: str) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(f"extends: arms.yaml\nkeeps: {keeps}\ncore: [sft]\nendpoints: []\n")
    with pytest.raises(InputError, match=r"plan\.yaml: keeps: names no arms.*A list of some of sft, more_sft"):
        load_plan(file)
    file.write_text("extends: arms.yaml\nkeeps: [sft, rft]\ncore: [sft]\nendpoints: []\n")
    assert list(load_plan(file).arms) == ["sft", "rft"]


def test_the_larger_plan_asks_the_same_question_with_a_larger_decoder() -> None:
    large, shipped = load_plan(Path("large")), load_plan()
    assert (large.endpoints, large.arms, large.core) == (shipped.endpoints, shipped.arms, shipped.core)
    assert large.decoder.precision == "bfloat16"
    assert large.decoder.dim * large.decoder.layers > 8 * shipped.decoder.dim * shipped.decoder.layers
    assert large.data.places["held_out"].tasks > shipped.data.places["held_out"].tasks


def test_one_seed_alone_is_the_same_as_among_others(tmp_path: Path) -> None:
    whole, alone = Toy(), Toy()
    results = run(whole, tmp_path / "whole")
    part = run(alone, tmp_path / "alone", only=[1])
    assert part.rates("held_out") == {arm: {1: seeds[1]} for arm, seeds in results.rates("held_out").items()}
    assert alone.deeds == [deed for deed in whole.deeds if " 1" in deed]
