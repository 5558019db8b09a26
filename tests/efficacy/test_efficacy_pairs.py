from __future__ import annotations

import pytest
import yaml
from efficacy_lab.pair_rules import Disagreement, choose, disagreements, pair_of, unlabelled_rows
from efficacy_lab.rows import Pair, read_pairs

import synth
from synth.dataset.reader import Dataset
from synth.identity import derive_generator

SMALL = {
    "source.entities": 400,
    "questions.shapes": {"composition": 1.0},
    **dict.fromkeys(("distractors", "contexts", "difficulty", "ratings")),
    "rl": False,
}
"""A small graph, and nothing made of it but runs."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Runs of the scripted policy over a small graph, searched with few continuations."""
    folder = tmp_path_factory.mktemp("pairs")
    settings = {
        **SMALL,
        "questions.fractions": {"train": 1.0, "validation": 0.0, "test": 0.0},
        "roles.policy.options.skill": 0.2,
        "critical.share": 1.0,
        "critical.successes": False,
        "critical.search": {
            "strategy": "audit",
            "max_pairs": 12,
            "step_budget": 24,
            "trajectory_budget": 48,
            "all_alternatives": True,
        },
        "preferences.selection": {"kinds": ["verified_step"], "same_kind": True},
        "preferences.fill": 0,
    }
    built = synth.build("graph-walk", tasks=16, settings=settings, out=folder / "out", store=folder / "store")
    synth.export(built.path, "trl-dpo", folder / "dpo", select=["selected=true", "split=train"], thoughts=False)
    return synth.load(built.path)


@pytest.fixture(scope="module")
def found(dataset: Dataset) -> list[Disagreement]:
    return disagreements(dataset)


def test_our_rule_of_the_same_kind_is_the_selection_of_the_dataset(dataset: Dataset, found: list[Disagreement]) -> None:
    """Pairs made from the tables are, message by message, those that the export of the selected pairs holds."""
    exported = read_pairs(dataset.path.parent / "dpo")
    assert exported

    def sides(pair: Pair) -> str:
        return str((pair.task_id, pair.prompt, pair.chosen, pair.rejected))

    ours = choose(found, "same_kind", derive_generator(0, "x"))
    assert sorted(sides(pair_of(one)) for one in ours) == sorted(sides(pair) for pair in exported)


def test_rules_take_what_they_say(found: list[Disagreement]) -> None:
    generator = derive_generator(0, "x")
    taken = {rule: choose(found, rule, generator) for rule in ("all", "cso", "verified", "same_kind", "earliest")}
    assert taken["all"] == found
    assert 0 < len(taken["cso"]) < len(found)
    assert all(one.first_success for one in taken["cso"])
    assert {one.id for one in taken["same_kind"]} <= {one.id for one in taken["verified"]}
    runs = [one.trajectory.id for one in taken["earliest"]]
    assert sorted(set(runs)) == runs == sorted({one.trajectory.id for one in taken["verified"]})
    assert all(not one.trajectory.success for one in found)


def test_the_blind_draw_is_as_large_and_of_the_same_kind(found: list[Disagreement]) -> None:
    same = choose(found, "same_kind", derive_generator(0, "x"))
    drawn = [choose(found, "random_same", derive_generator(seed, "x")) for seed in range(6)]
    assert {len(one) for one in drawn} == {len(same)}
    assert all(one.same_kind for some in drawn for one in some)
    assert choose(found, "random_same", derive_generator(0, "x")) == drawn[0]
    assert len({tuple(one.id for one in some) for some in drawn}) > 1


def test_calls_leave_answers_out_and_are_drawn_from_calls(found: list[Disagreement]) -> None:
    same = choose(found, "same_kind", derive_generator(0, "x"))
    calls = choose(found, "same_call", derive_generator(0, "x"))
    ends = [one for one in same if one not in calls]
    assert calls
    assert ends
    assert all(pair_of(one).chosen[0].get("tool_calls") for one in calls)
    assert not any(pair_of(one).chosen[0].get("tool_calls") for one in ends)
    drawn = choose(found, "random_call", derive_generator(0, "x"))
    assert len(drawn) == len(calls)
    assert all(one.call and one.same_kind for one in drawn)
    assert {one.id for one in drawn} != {one.id for one in calls}


def test_without_checks_every_run_of_the_teacher_is_a_row(dataset: Dataset) -> None:
    runs = [row for row in dataset.rows("trajectories") if row.role == "teacher"]
    assert [row.id for row in unlabelled_rows(dataset, failed=True)] == [row.id for row in runs]
    assert [row.id for row in unlabelled_rows(dataset)] == [row.id for row in runs if row.success]


def test_rows_without_labels_are_of_the_split_train_and_of_one_role(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("splits")
    settings = {
        **SMALL,
        "questions.fractions": {"train": 0.6, "validation": 0.2, "test": 0.2},
        "roles.policy.rollouts": 6,
        "roles.policy.options.skill": 0.5,
        "critical": None,
        "preferences": None,
    }
    data = synth.load(
        synth.build("graph-walk", tasks=12, settings=settings, out=folder / "out", store=folder / "store").path
    )
    every = [row for row in data.rows("trajectories") if row.role == "policy"]
    runs = [row for row in every if row.split == "train"]
    assert len(runs) < len(every)
    first = [row.id for row in runs if row.duplicate_of is None]
    assert len(first) < len(runs)

    def taken(**options: bool) -> list[str]:
        return [row.id for row in unlabelled_rows(data, role="policy", **options)]

    won = {row.id for row in runs if row.success}
    assert taken() == [id_ for id_ in first if id_ in won]
    assert taken(copies=True) == [row.id for row in runs if row.success]
    assert taken(failed=True) == first
    assert len(taken()) < min(len(taken(copies=True)), len(taken(failed=True)))
    mine = [row.id for row in data.rows("trajectories") if row.role == "teacher" and row.split == "train"]
    assert [row.id for row in unlabelled_rows(data, failed=True)] == mine


def test_an_expert_that_only_reads_proposes_other_actions(dataset: Dataset, found: list[Disagreement]) -> None:
    """It errs as a policy does: some of what it proposes, one that knows the walk never would."""
    recipe = dict(yaml.safe_load((dataset.path / "recipe.yaml").read_text()))
    recipe["roles"]["expert"] = {"backend": "scripted", "options": {"skill": 0.5, "tries": 4}}
    file = dataset.path.parent / "reads.yaml"
    file.write_text(yaml.safe_dump(recipe))
    built = synth.build(recipe=file, out=dataset.path.parent / "reads", store=dataset.path.parent / "store")
    reads = disagreements(synth.load(built.path))

    def said(some: list[Disagreement]) -> set[str]:
        return {f"{one.trajectory.id} {one.step} {one.action}" for one in some}

    assert said(reads) & said(found)
    assert said(reads) - said(found)
    assert {one.trajectory.id for one in reads} <= {one.trajectory.id for one in found}, "the same runs of the policy"
