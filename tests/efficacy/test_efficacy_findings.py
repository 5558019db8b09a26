"""What the page of results says is what was found on the untouched seeds, and the README claims no more."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from efficacy_lab.experiment import Measured, Results
from efficacy_lab.plan import load_plan

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from bench_efficacy import PARTS, PLANS, arms_table, endpoints_table, kept, main, parts_table, tables

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests" / "benchmarks" / "efficacy" / "README.md"
PLAN = load_plan()


@pytest.mark.parametrize("name", PLANS)
def test_the_page_says_what_was_found(name: str) -> None:
    plan, results = kept(name)
    assert set(results.seeds) == set(plan.seeds.untouched)
    text = PAGE.read_text().splitlines()
    for line in [line for lines in tables(plan, results) for line in lines]:
        assert line in text, "print it anew: python tests/benchmarks/bench_efficacy.py"


def test_the_manual_claims_nothing_that_was_not_tested() -> None:
    """Every difference that it names is a line of the page, and it says which question is open."""
    short = " ".join((ROOT / "README.md").read_text().partition("## Does it train?")[2].partition("\n## ")[0].split())
    section = " ".join((ROOT / "docs" / "results.md").read_text().split())
    for figure in re.findall(r"[+-]\.\d{3} \([+-]\.\d{3} to [+-]\.\d{3}\)", short):
        assert figure in section
    figures = re.findall(r"([+-]\.\d{3}) \(([+-]\.\d{3}) to ([+-]\.\d{3})\)", section)
    figures += re.findall(r"\(([+-]\.\d{3}); ([+-]\.\d{3}) to ([+-]\.\d{3})\)", section)
    assert len(figures) == 5
    for found, low, high in figures:
        assert f"| {found} ({low} to {high}) |" in PAGE.read_text()
    assert "Pairs of verified steps: not tested" in section
    assert "Pairs of verified steps: not tested" in short
    for claim in ("blindly", "Harmful", "What trains is RFT", "gets nothing from"):
        assert claim not in section + short


def test_results_of_a_part_of_the_seeds_are_not_shown(tmp_path: Path) -> None:
    results = kept()[1]
    first = min(results.seeds)
    body = results.model_dump(mode="json")
    for arms in (*body["measured"].values(), body["trained"], body["missing"]):
        for name, seeds in arms.items():
            arms[name] = {seed: one for seed, one in seeds.items() if int(seed) == first}
    (tmp_path / "results.json").write_text(json.dumps(body))
    with pytest.raises(SystemExit, match="all together"):
        main([str(tmp_path / "results.json")])


def test_the_tables_say_what_the_results_hold() -> None:
    def measured(successes: int) -> Measured:
        return Measured(tasks=100, runs=100, successes=successes, turns=5.0)

    def rates(first: int) -> dict[int, Measured]:
        return {seed: measured(first + extra) for seed, extra in ((101, 0), (102, 2), (103, 7))}

    results = Results(
        plan=PLAN.key,
        purpose="final",
        measured={
            "held_out": {"sft": rates(50), "same_kind": rates(55), "random_same": rates(51)},
            "deeper": {"sft": rates(30), "same_kind": rates(30)},
        },
        trained={"same_kind": {seed: {"pairs": 200.0} for seed in (101, 102, 103)}},
        missing={"cso": dict.fromkeys((101, 102, 103), "3 pairs")},
    )
    arms = arms_table(PLAN, results)
    assert arms[0] == "| arm | held out | against sft | deeper | pairs or rows |"
    says = PLAN.arms["same_kind"].says
    assert f"| `same_kind`: {says} | .580 (.490 to .670) | +.050 (+.050 to +.050) | .330 | 200 |" in arms
    assert any(line.startswith("| `cso`: ") and "too few: 3 pairs (seed 101)" in line for line in arms)
    assert endpoints_table(PLAN, results)[2:] == [
        "| `same_kind` - `random_same` | +.040 (+.040 to +.040) | - | higher |"
    ]
    assert parts_table(PLAN, results)[2:] == []
    for seed, extra in ((101, 0), (102, 2), (103, 7)):
        results.measured["held_out"].setdefault("anchor_only", {})[seed] = measured(51 + extra)
        results.measured["held_out"].setdefault("cso", {})[seed] = measured(50 + 2 * extra)
    (line,) = parts_table(PLAN, results)[2:]
    assert line.startswith(
        "| one lucky continuation as a proof (CSO) | `cso` - `anchor_only` | +.020 (-.070 to +.110) |"
    )
    assert line.endswith(" | not shown |")


def test_parts_are_named_by_arms_of_a_plan() -> None:
    faults = load_plan(Path("faults"))
    for _, arm, against in PARTS:
        assert {arm, against} <= PLAN.arms.keys() or {arm, against} <= faults.arms.keys()
    assert {(end.arm, end.against) for end in faults.endpoints} <= {part[1:] for part in PARTS}
