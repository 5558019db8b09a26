from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from efficacy_lab.__main__ import main
from efficacy_lab.experiment import Measured, Results
from efficacy_lab.parts import chosen_seeds, groups, joined, read_results
from efficacy_lab.plan import load_plan
from efficacy_lab.table import table_of

from synth.errors import InputError

PLAN = load_plan()
ARMS = ("sft", "rft")


def found(*seeds: int, purpose: Any = "final", plan: str = PLAN.key) -> Results:
    """What is found depends on the seed alone."""

    def one(arm: str, seed: int) -> Measured:
        return Measured(tasks=100, runs=100, successes=40 + seed % 7 + 5 * (arm == "rft"), turns=5.0)

    measured = {"held_out": {arm: {seed: one(arm, seed) for seed in seeds} for arm in ARMS}}
    trained = {arm: {seed: {"rows": float(seed)} for seed in seeds} for arm in ARMS}
    return Results(plan=plan, purpose=purpose, measured=measured, trained=trained)


def written(folder: Path, name: str, results: Results) -> Path:
    file = folder / name
    file.write_text(results.model_dump_json())
    return file


def test_results_of_parts_are_those_of_the_whole(tmp_path: Path) -> None:
    whole = found(101, 102, 103)
    files = [written(tmp_path, "b.json", found(103)), written(tmp_path, "a.json", found(101, 102))]
    together = read_results(files, PLAN, "final", ARMS, ["held_out"])
    assert together == whole
    assert together.seeds == [101, 102, 103]
    assert table_of(PLAN, together) == table_of(PLAN, whole)


def test_an_arm_that_had_too_little_in_one_part_is_missing_there_alone(tmp_path: Path) -> None:
    part = found(102)
    del part.measured["held_out"]["rft"], part.trained["rft"]
    part.missing["rft"] = {102: "3 rows"}
    files = [written(tmp_path, "a.json", found(101)), written(tmp_path, "b.json", part)]
    together = read_results(files, PLAN, "final", ARMS, ["held_out"])
    assert together.missing == {"rft": {102: "3 rows"}}
    assert [sorted(together.rates("held_out")[arm]) for arm in ARMS] == [[101, 102], [101]]


@pytest.mark.parametrize(
    ("results", "arms", "says"),
    [
        ([found(101, plan="0" * 64)], ARMS, "is of plan 000000000000"),
        ([found(0, purpose="development")], ARMS, "is of development seeds"),
        ([found(101), found(102, 101)], ARMS, "seed 101 is in .*0.json, too"),
        ([found(101)], (*ARMS, "same_kind"), "'same_kind' at held_out of seed 101 is not there"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    tmp_path: Path, results: list[Results], arms: tuple[str, ...], says: str
) -> None:
    files = [written(tmp_path, f"{number}.json", one) for number, one in enumerate(results)]
    with pytest.raises(InputError, match=says):
        read_results(files, PLAN, "final", arms, ["held_out"])


@pytest.mark.parametrize("text", [None, "", "{", '{"plan": 3}'])
def test_what_holds_no_results_is_one_line(
    tmp_path: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["--out", str(tmp_path / "out"), "--final", "--with", str(file)])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert str(file) in line
    assert not (tmp_path / "out").exists(), "nothing was begun"


def test_seeds_are_chosen_by_number_and_none_is_run_twice() -> None:
    known = PLAN.seeds.untouched
    assert chosen_seeds(None, known, ()) == known
    assert chosen_seeds(None, known, known[1:]) == known[:1]
    assert chosen_seeds("103,101,103", known, (102,)) == (103, 101)
    for numbers, held, says in (
        ("101,x", (), "not a list of seeds"),
        ("7", (), "there is no seed 7"),
        ("101", (101,), "run elsewhere already"),
    ):
        with pytest.raises(InputError, match=says):
            chosen_seeds(numbers, known, held)


def test_processes_share_no_base() -> None:
    made = groups(PLAN, PLAN.arms)
    assert sorted(name for names in made for name in names) == sorted(PLAN.arms)
    assert {"sft", "rft", "same_kind", "rft_twice"} < set(made[0]), "what takes longest comes first"
    bases = [{PLAN.arms[name].teach.model_dump_json() for name in names} for names in made]
    assert all(len(one) == 1 for one in bases)
    assert len(set.union(*bases)) == len(bases)
    assert groups(PLAN, PLAN.core) == [PLAN.core]


def test_joining_keeps_what_either_has() -> None:
    first, second = found(103), found(101)
    assert joined(first, second) == found(101, 103) == joined(second, first)
    assert first == found(103), "it is not written into"
