"""Parts of R1 to R3: routes, the search, equal calls, what is said of the seeds. Nothing is trained."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from efficacy_lab.collected import Collected, compose
from efficacy_lab.listing import ONE_PAGE, ListingEnvironment
from efficacy_lab.plan import SHIPPED, Arm, Plan, load_plan
from efficacy_lab.rows import Action, Step, call
from efficacy_lab.runs import Actor, Live, Run, follow, play
from efficacy_lab.search import Correction, Searched, advised, deviations, search
from efficacy_lab.table import arrived, endpoint_verdict, rate, read_seeds, table_of
from efficacy_lab.world import Swaps, World, open_world, swapped_relations

from synth.errors import InputError

PLAN, R2, R3 = (load_plan(SHIPPED.with_name(f"{name}.yaml")) for name in ("r1", "r2", "r3"))
TURNS = 12


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    place = PLAN.places.test.model_copy(update={"entities": 600, "tasks": 24})
    return open_world(PLAN.recipe_for(0, place), folder, folder / "store")


@pytest.fixture(scope="module")
def paged(world: World) -> World:
    """The same tasks where facts stand behind a page turn."""
    assert R2.page_size
    return World(ListingEnvironment(world.environment, R2.page_size), world.tasks)


@pytest.fixture(scope="module")
def swaps(world: World) -> Swaps:
    relations = [world.relation(leg) for route in world.gold if route is not None for leg in route.legs]
    return swapped_relations(relations, 0.5, "base", 0)


def advised_by(world: World, swaps: Swaps) -> Actor:
    """A policy that misreads relations, and goes on rightly where it is put on the right way."""

    def act(live: Sequence[Live]) -> list[Action | None]:
        return [advised(world, one.task, one.steps, swaps) for one in live]

    return act


def played(world: World, actor: Actor) -> list[Run]:
    return list(play([Live(world, task, "") for task in range(len(world.tasks))], actor, TURNS))


def test_who_follows_the_gold_route_is_right(world: World) -> None:
    runs = played(world, follow(world.gold))
    assert all(run.success for run in runs)
    assert {run.calls for run in runs} == {2 * len(task.walk.hops) + 2 for task in world.tasks}


def test_a_swapped_relation_leads_to_another_answer_and_others_are_kept(world: World, swaps: Swaps) -> None:
    routes = [world.route(task, swaps) for task in range(len(world.tasks))]
    runs = played(world, follow(routes))
    swapped = [route is not None and route.swapped for route in routes]
    assert 4 <= sum(swapped) <= 20
    assert all(run.success for run, wrong in zip(runs, swapped, strict=True) if not wrong)
    wrong = [run for run, wrong in zip(runs, swapped, strict=True) if wrong]
    assert sum(run.success for run in wrong) <= 2, "two relations may lead to the same"
    assert all(run.answer is not None for run in wrong), "to the bitter end"
    assert routes == [world.route(task, swaps) for task in range(len(world.tasks))], "always the same"


def test_relations_are_drawn_among_frequent_and_rare_ones() -> None:
    relations = [("person", f"relation {number}", "out") for number in range(40) for _ in range(40 - number)]
    chosen = swapped_relations(relations, 0.3, "base", 1).relations
    assert [sum(("person", f"relation {at + n}", "out") in chosen for n in range(10)) for at in (0, 10, 20, 30)] == [
        3
    ] * 4
    assert chosen != swapped_relations(relations, 0.3, "expert", 1).relations
    assert not swapped_relations(relations, 0.0, "expert", 1).relations


def test_the_search_finds_the_misread_relation_and_counts_its_calls(world: World, swaps: Swaps) -> None:
    actor, right = advised_by(world, swaps), Swaps("expert", frozenset())
    failed = [run for run in played(world, actor) if not run.success]
    assert len(failed) >= 4
    found = search(world, failed, right, actor, k=2, turns=TURNS, name="s")
    once = 0
    for run, one in zip(failed, found, strict=True):
        gold, gone = world.gold[run.task], world.route(run.task, swaps)
        assert gold is not None
        first = next(at for at, step in enumerate(run.steps) if step.action != gold.next(run.steps[:at])[0])
        if one.verified is None:
            assert gone is not None
            assert gone.legs != gold.legs
            continue
        once += 1
        assert (one.expert, len(one.verified.before)) == (first + 1, first)
        assert one.verified.rejected == run.steps[first].action
        ends = list(play([Live(world, run.task, "", list(one.verified.before), one.verified.chosen)], actor, TURNS))
        # Twice from the right call, and twice from the recorded one, which never comes to an end.
        assert one.policy == 2 * ends[0].calls + 2 * (TURNS - first - 1)
    assert once >= 3, "one misread relation; of two, one correction is not enough"
    wrong = Swaps("base", swaps.relations)
    assert not any(one.verified for one in search(world, failed, wrong, actor, k=1, turns=TURNS, name="s"))
    assert [next(deviations(world, run, wrong))[0] for run in failed] == [None] * len(failed), "it does the same"


def never_turns(live: Sequence[Live]) -> list[Action | None]:
    """A policy that was taught where all facts stand on one page: it takes the last of the first page for the one."""
    found: list[Action | None] = []
    for one in live:
        route = one.world.gold[one.task]
        assert route is not None
        action = route.next(one.steps)[0]
        turns = action.tool == "page"
        found.append(Action(None, "so it ends here") if turns else action)
    return found


def test_a_fact_behind_a_page_turn_is_had_by_turning_and_the_search_finds_the_turn(world: World, paged: World) -> None:
    taught = World(ListingEnvironment(world.environment, ONE_PAGE), world.tasks)
    runs = played(taught, follow(taught.gold))
    assert all(run.success for run in runs)
    assert not any(run.turned for run in runs), "the skill is never demonstrated"
    gold = played(paged, follow(paged.gold))
    assert all(run.success for run in gold)
    without = played(paged, never_turns)
    assert [run.success for run in without] == [not run.turned for run in gold]
    failed = [run for run in without if not run.success]
    assert 4 <= len(failed) <= 20
    right = Swaps("expert", frozenset())
    cured = advised_by(paged, right)
    found = search(paged, failed, right, cured, k=2, turns=TURNS, name="s", answers=True)
    for one, run in zip(found, failed, strict=True):
        assert one.verified is not None
        assert one.verified.chosen.tool == "page"
        assert (one.verified.before, one.verified.rejected) == (run.steps, run.answer)
    assert not any(one.verified for one in search(paged, failed, right, cured, k=2, turns=TURNS, name="s"))


def test_a_page_that_is_not_there_and_a_tool_of_the_other_environment_are_refused(paged: World) -> None:
    leg = next(route.legs[0] for route in paged.gold if route is not None)
    asked = [Action("page", leg.calls[0].text[:-1] + ',"page":9}'), call("get_relations", entity=leg.entity)]
    asked += [call("page", entity="person/nobody", relation="born_in", page=page) for page in ("2", 2)]
    said = []
    for action in asked:
        live = Live(paged, 0, "")
        live.take(action, TURNS)
        said.append(live.steps[0].observation)
    assert [one.split(":")[0].split(" of ")[0][:15] for one in said] == [
        "There is no pag", "There is no too", "Wrong arguments", "There is no ent",
    ]  # fmt: skip


def test_an_expert_who_takes_another_fact_names_another_relation(paged: World) -> None:
    relations = [paged.relation(leg) for route in paged.gold if route is not None for leg in route.legs]
    wrong = swapped_relations(relations, 0.999, "expert", 0)
    proposed = [next(deviations(paged, run, wrong, answers=True))[0] for run in played(paged, follow(paged.gold))]
    sides = [(one.chosen, one.rejected) for one in proposed if one is not None]
    assert len(sides) >= 8
    for chosen, rejected in ((json.loads(side.text) for side in pair) for pair in sides):
        assert chosen["entity"] == rejected["entity"]
        assert chosen["relation"] != rejected["relation"]


def run(task: int, calls: int, success: bool) -> Run:
    return Run(task, (Step(call("look", place=str(calls)), "seen"),), Action(None, "so"), success, calls)


def collected() -> Collected:
    """Four failed runs are searched, half of them with success: 12 calls of the policy and 5 of the expert each."""
    correction = Correction(0, (), call("look", place="x"), call("look", place="y"))
    searches = [Searched(correction if number % 2 else None, 12, 5) for number in range(4)]
    runs = [run(number, 6, number % 2 == 0) for number in range(8)]
    further = [run(number % 8, 7 + number // 8, True) for number in range(200)]
    shown = [run(number, 5, number % 4 != 3) for number in range(8)]
    return Collected(
        {"searched": runs, "other": runs},
        {"searched": further, "other": further},
        {0.0: searches},
        {0.0: shown},
        {0.0: [(correction if number else None, 2) for number in range(8)]},
    )


@pytest.mark.parametrize("price", [1, 10])
@pytest.mark.parametrize("adds", [None, "verified", "proposals", "demonstrations"])
def test_arms_spend_the_same_calls(adds: Any, price: int) -> None:
    found = collected()
    learned = compose(Arm(says="", adds=adds, price=price), found)
    budget = 48 + 4 * (12 + 5 * price)
    assert found.budget(Arm(says="", price=price)) == budget
    assert (
        budget - 8 - (37 if price > 1 and adds == "proposals" else 0)
        < learned.policy + price * learned.expert
        <= budget
    )
    assert len(learned.added) == (2 if adds in ("verified", "proposals") else 0)
    assert learned.expert == {None: 0, "verified": 20, "proposals": 6, "demonstrations": 20}[adds]
    assert len(learned.demonstrations) == (3 if adds == "demonstrations" else 0), "four runs, one of which failed"


@pytest.mark.parametrize(("calls", "runs", "searched"), [(52, 3, 1), (90, 6, 3), (200, 8, 4)])
def test_an_arm_with_a_budget_of_its_own_searches_as_it_goes(calls: int, runs: int, searched: int) -> None:
    """A run takes 6 calls, and every second one, which failed, 17 more."""
    found = collected()
    for adds in (None, "verified", "demonstrations"):
        arm = Arm.model_validate({"says": "", "adds": adds, "calls": calls})
        learned = compose(arm, found)
        assert found.first(arm) == runs
        assert calls - 8 < learned.policy + learned.expert <= calls, "the rest goes into further runs"
        assert learned.expert == (0 if adds is None else 5 * searched)
        assert len(learned.added) == (searched // 2 if adds == "verified" else 0)


def test_an_own_success_is_learned_once() -> None:
    found = collected()
    found.further["searched"][:] = [run(0, 6, True)] * 200
    learned = compose(Arm(says=""), found)
    assert (len(learned.own), learned.policy) == (4, 48 + 4 * 17 - 2)


# -- what is said of it ------------------------------------------------------------------------------------------------


def seed_of(number: int, plan: Plan = PLAN, **rates: float) -> dict[str, Any]:
    """A result in which an arm solves its share of the tasks, affected or not."""
    figures = {"own": 90, "added": 30, "policy": 900, "expert": 80, "seconds": 1.0}
    arms = {}
    for name, arm in plan.arms.items():
        won = "".join("1" if place % 20 < 20 * rates.get(name, 0.5) else "0" for place in range(40))
        dose = [0.2, 0.95] if arm.pairs else [2.0, 0.5]
        arms[name] = {**figures, "dose": dose, "won": {str(heat): won for heat in plan.temperatures}}
    return {"plan": plan.key, "seed": number, "affected": "1" * 20 + "0" * 20, "base": {}, "arms": arms}


def test_a_part_of_the_seeds_prints_with_its_number_and_without_a_verdict() -> None:
    untouched = PLAN.seeds.untouched
    part = table_of(PLAN, [seed_of(number, verified=0.7) for number in untouched[:2]])
    assert part.startswith(
        f"2 of {len(untouched)} untouched seeds run (301, 302); 40 tasks a seed, 50% of them affected."
    )
    assert "| E1: `verified` - `rft`, affected | +.200 (+.200 to +.200) | 2 of " in part
    whole = table_of(PLAN, [seed_of(number, verified=0.7) for number in untouched])
    assert "| E1: `verified` - `rft`, affected | +.200 (+.200 to +.200) | holds |" in whole
    assert "| E3: `verified` - `demonstrations`, all | +.200 (+.200 to +.200) | higher |" in whole
    assert table_of(PLAN, []) == "No seed is finished.\n"


def test_an_arm_whose_dose_did_not_arrive_is_not_tested() -> None:
    seeds = [seed_of(number, verified=0.9) for number in PLAN.seeds.untouched]
    first = PLAN.endpoints[0]
    assert endpoint_verdict(PLAN, first, seeds) == "holds"
    seeds[0]["arms"]["verified"]["dose"] = [2.0, 1.1]
    said = endpoint_verdict(PLAN, first, seeds)
    assert said == f"not tested: the dose of `verified` did not arrive on 1 of {len(seeds)} seeds"
    assert arrived(PLAN.arms["verified_pairs"], [0.3, 0.84]) is False
    assert arrived(PLAN.arms["rft"], [0.2, 0.2]) is None
    assert arrived(PLAN.arms["verified"], [None, None]) is False


def test_endpoints_go_by_their_own_rule() -> None:
    ends = {end.name: end for end in PLAN.endpoints}
    alike = [seed_of(number) for number in PLAN.seeds.untouched]
    verdicts = {name: endpoint_verdict(PLAN, end, alike) for name, end in ends.items()}
    assert verdicts == {"E1": "fails", "E2": "fails", "E3": "alike", "E4": "holds"}
    worse = [seed_of(number, verified=0.4) for number in PLAN.seeds.untouched]
    assert [endpoint_verdict(PLAN, ends[name], worse) for name in ("E3", "E4")] == ["lower", "fails"]


def test_kinds_of_tasks_are_counted_apart() -> None:
    one = seed_of(301)
    one["arms"]["rft"]["won"]["0.0"] = "1" * 5 + "0" * 15 + "1" * 20
    assert [rate(one, "rft", 0.0, part) for part in ("all", "affected", "unaffected")] == [0.625, 0.25, 1.0]


def test_plans_keep_their_keys() -> None:
    """What is begun with a plan can't be gone on with by another."""
    assert [plan.key[:12] for plan in (PLAN, R2, R3)] == ["26c7301060fc", "b88c383062d3", "ceca568ffe34"]


def test_right_answers_without_the_turn_of_a_page_are_counted() -> None:
    seed = seed_of(401, R2)
    assert "turned none" not in table_of(R2, [seed])
    for arm in seed["arms"].values():
        arm["paged"] = {"0.0": "0" * 20 + "1" * 20}
    seed["arms"]["verified"]["paged"]["0.0"] = "1" * 12 + "0" * 28
    said = "need the turn of a page, 108 turned none: 50 of them are right. Of the other 12 10 are."
    assert f"Of 120 runs of affected tasks, which {said}" in table_of(R2, [seed])


@pytest.mark.parametrize(
    ("body", "says"),
    [("[]", "holds no results"), (json.dumps(seed_of(301) | {"plan": "other"}), "is of plan other"), (None, "too")],
)
def test_what_is_no_result_of_the_plan_is_one_line(tmp_path: Path, body: str | None, says: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(seed_of(301)))
    (tmp_path / "b.json").write_text(body or json.dumps(seed_of(301)))
    with pytest.raises(InputError, match=says):
        read_seeds(PLAN, [tmp_path / "a.json", tmp_path / "b.json"])


@pytest.mark.parametrize(
    ("line", "other", "says"),
    [
        ("against: rft", "against: other", "there is no arm 'other'"),
        ("development: [0, 1]", "development: [0, 301]", "either for development or untouched"),
        ("adds: verified, pairs: right", "pairs: right", "pairs are verified steps"),
    ],
)
def test_a_plan_that_makes_no_sense_is_one_line(tmp_path: Path, line: str, other: str, says: str) -> None:
    (tmp_path / "plan.yaml").write_text(SHIPPED.read_text().replace(line, other))
    with pytest.raises(InputError, match=says):
        load_plan(tmp_path / "plan.yaml")
