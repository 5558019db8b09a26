"""The report page: what a reader sees of results, read back from the page as a browser reads it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from efficacy_lab.drawing import Point, curve, scale_of, strip
from efficacy_lab.experiment import Measured, Results
from efficacy_lab.page import page_of, write_findings
from efficacy_lab.plan import Arm, Endpoint, Plan, Purpose, Teach, load_plan
from efficacy_lab.statistics import interval
from efficacy_lab.table import endpoints_of, table_of
from lxml import html

EVIL = "</style></svg><script>alert('owned')</script><img src=x onerror=\"alert('owned')\">"
SPREAD = (0.0, 0.012, -0.012, 0.004, -0.004, 0.008, -0.008)


def a_plan() -> Plan:
    """The arms that ship, with seeds and endpoints of our own."""
    plan = load_plan()
    seeds = plan.seeds.model_copy(update={"untouched": (101, 102, 103, 104, 105, 106, 107)})
    ends = [Endpoint(arm="same_kind", against=name) for name in ("random_same", "anchor_only", "rft")]
    return Plan.model_validate(plan.model_copy(update={"seeds": seeds, "endpoints": tuple(ends)}).model_dump())


def results_of(
    plan: Plan,
    rates: dict[str, float],
    seeds: int = 3,
    places: tuple[str, ...] = ("held_out",),
    missing: dict[str, dict[int, str]] | None = None,
    purpose: Purpose = "development",
) -> Results:
    """Arms that succeed so often on average, and differ from seed to seed and from one another."""
    measured: dict[str, dict[str, dict[int, Measured]]] = {}
    trained: dict[str, dict[int, dict[str, float]]] = {}
    for number, (name, rate) in enumerate(rates.items()):
        for at, seed in enumerate(plan.seeds_for(purpose)[:seeds]):
            if seed in (missing or {}).get(name, {}):
                continue
            trained.setdefault(name, {})[seed] = {"rows": float(plan.arms[name].teach.rows or 3750)}
            won = round(1000 * (rate + SPREAD[at] + 0.1 * SPREAD[(at + number) % len(SPREAD)]))
            for place in plan.tested(name, places):
                one = Measured(tasks=500, runs=1000, successes=won, turns=6.5, facts={"hops 2": 0.25})
                measured.setdefault(place, {}).setdefault(name, {})[seed] = one
    return Results(plan=plan.key, purpose=purpose, measured=measured, trained=trained, missing=missing or {})


def opened(page: str) -> Any:
    return html.document_fromstring(page)


def text_of(element: Any) -> str:
    return " ".join(element.text_content().split())


def lines_of(tree: Any, section: str) -> dict[str, Any]:
    """Name -> line of the forest plot of a section."""
    found = tree.xpath(f"//section[@id='{section}']") or tree.xpath(f"//section[h2='Success at {section}']")
    lines = found[0].xpath(".//table[@class='forest']/tbody/tr")
    return {line.xpath("string(.//span[@class='name'])"): line for line in lines}


def cells(line: Any) -> list[str]:
    return [text_of(cell) for cell in line.xpath("td[@data-head]")]


def marks(line: Any, kind: str) -> list[Any]:
    return line.xpath(f".//svg//*[@class='{kind}']")


CORE = {"sft": 0.40, "anchor_only": 0.43, "rft": 0.52, "same_kind": 0.46, "random_same": 0.459}


def test_endpoints_come_first_with_verdicts_in_words() -> None:
    plan = a_plan()
    results = results_of(plan, CORE, 5)
    tree = opened(page_of(plan, results))
    assert tree.xpath("//main/section")[0].get("id") == "endpoints"
    lines = lines_of(tree, "endpoints")
    assert list(lines) == ["same_kind − random_same", "same_kind − anchor_only", "same_kind − rft"]
    assert [line.get("class") for line in lines.values()] == ["flat", "good", "bad"]
    assert [cells(line)[-1] for line in lines.values()] == [
        "not shown the interval holds 0",
        "higher same_kind is better than anchor_only",
        "lower same_kind is worse than rft",
    ]
    assert "1 higher, 1 lower, 1 not shown." in text_of(tree.xpath("//section[@id='endpoints']")[0])
    for line, one in zip(lines.values(), endpoints_of(plan, results), strict=True):
        assert one.detectable is not None
        assert one.difference.low is not None
        difference, seeds, least, _ = cells(line)
        assert difference.startswith(f"{one.difference.mean:+.3f}".replace("-", "−"))
        assert f"{one.difference.low:+.3f} to".replace("-", "−") in difference
        assert (seeds, least) == ("5", f"{one.detectable:.3f}")
        assert plan.arms[one.against].says in text_of(line)
        assert len(marks(line, "interval")) == len(marks(line, "unseen")) == 1


@pytest.mark.parametrize(("seeds", "reason"), [(1, "fewer than three seeds"), (2, "fewer than three seeds")])
def test_few_seeds_show_nothing(seeds: int, reason: str) -> None:
    plan = a_plan()
    tree = opened(page_of(plan, results_of(plan, CORE, seeds)))
    for line in lines_of(tree, "endpoints").values():
        assert cells(line)[1:3] == [str(seeds), "-"]
        assert reason in cells(line)[3]
    assert "0 higher, 0 lower, 3 not shown." in text_of(tree)
    assert not tree.xpath("//*[@class='unseen']")
    assert "Shaded" not in text_of(tree)


@pytest.mark.parametrize(("seeds", "intervals"), [(1, 0), (2, 1), (4, 1)])
def test_each_arm_has_its_seeds_and_an_interval_where_there_are_two(seeds: int, intervals: int) -> None:
    plan = a_plan()
    results = results_of(plan, CORE, seeds)
    tree = opened(page_of(plan, results))
    lines = lines_of(tree, "held_out")
    assert list(lines) == [name for name in plan.arms if name in CORE], "the plan's order"
    for name, line in lines.items():
        assert len(marks(line, "interval")) == intervals
        assert len(marks(line, "cap")) == 2 * intervals
        assert len(marks(line, "seed")) == seeds
        assert len(marks(line, "mean")) == len(marks(line, "reference")) == 1
        assert plan.arms[name].says in text_of(line)
        found = interval(list(results.rates("held_out")[name].values()))
        assert cells(line)[0].startswith(f"{found.mean:.3f}")
        assert (" to " in cells(line)[0]) is bool(intervals)
        (drawing,) = line.xpath(".//svg[@role='img']")
        assert f"{name}: success {found.mean:.3f}" in drawing.get("aria-label")
        assert ("no interval" in drawing.get("aria-label")) is not bool(intervals)
    assert cells(lines["sft"])[1] == "-"
    assert cells(lines["anchor_only"])[1].startswith("+0.0")


def test_the_line_of_reference_stands_at_the_mean_of_the_base() -> None:
    plan = a_plan()
    lines = lines_of(opened(page_of(plan, results_of(plan, CORE))), "held_out")
    (mean,) = marks(lines["sft"], "mean")
    assert {marks(line, "reference")[0].get("x1") for line in lines.values()} == {mean.get("x")}
    assert marks(lines["rft"], "mean")[0].get("x") != mean.get("x")
    without = {name: rate for name, rate in CORE.items() if name != "sft"}
    lines = lines_of(opened(page_of(plan, results_of(plan, without))), "held_out")
    assert not [line for line in lines.values() if marks(line, "reference")]


def test_every_place_has_its_plot_and_says_who_is_tested_there() -> None:
    plan = a_plan()
    results = results_of(plan, {**CORE, "all": 0.4}, places=("held_out", "deeper"))
    tree = opened(page_of(plan, results))
    assert set(lines_of(tree, "held_out")) == {*CORE, "all"}
    assert "1,000 runs of 500 tasks per seed" in text_of(tree.xpath("//section[h2='Success at held_out']")[0])
    assert set(lines_of(tree, "deeper")) == set(CORE)
    assert "the core arms alone" in text_of(tree.xpath("//section[h2='Success at deeper']")[0])
    assert "No result yet: more_sft" in text_of(tree.xpath("//section[h2='Success at held_out']")[0])
    rest = text_of(tree.xpath("//details")[0])
    assert "hops 2" in rest
    assert "3,750 rows" in rest


def test_what_comes_from_plan_and_results_is_text() -> None:
    plan = a_plan()
    arms = {f"sft{EVIL}": Arm(says=EVIL), f"few{EVIL}": Arm(says=EVIL, teach=Teach(rows=9))}
    arms |= {f"odd{EVIL}": Arm(says=EVIL, teach=Teach(growing=0.5)), f"poor{EVIL}": Arm(says=EVIL, pairs="all")}
    ends = ({"arm": f"few{EVIL}", "against": f"sft{EVIL}"}, {"arm": f"poor{EVIL}", "against": f"sft{EVIL}"})
    whole = plan.model_dump(mode="json") | {"endpoints": ends, "core": [], "first_place": EVIL}
    whole["arms"] = {name: arm.model_dump(mode="json") for name, arm in arms.items()}
    whole["data"]["places"] = {EVIL: whole["data"]["places"]["held_out"]}
    evil = Plan.model_validate(whole)
    rates = {name: 0.2 + 0.1 * number for number, name in enumerate(arms) if not name.startswith("poor")}
    results = results_of(evil, rates, places=(EVIL,), missing={f"poor{EVIL}": {0: EVIL}})
    results = results.model_copy(update={"plan": EVIL})
    page = page_of(evil, results, command=f"synth {EVIL}")
    tree = opened(page)
    assert "<script" not in page
    assert "<img" not in page
    assert not tree.xpath("//script | //img | //@onerror | //link | //iframe")
    assert len(tree.xpath("//style")) == 1
    for name, arm in arms.items():
        assert name in text_of(tree)
        assert arm.says in text_of(tree)
    labels = tree.xpath("//svg/@aria-label")
    assert any(label.startswith(f"few{EVIL}: success") for label in labels)
    assert f"synth {EVIL}" in text_of(tree)


def test_the_page_asks_for_nothing_from_anywhere() -> None:
    plan = a_plan()
    page = page_of(plan, results_of(plan, CORE))
    assert not re.search(r"https?:|url\(|@import|src=|<script", page)
    (policy,) = opened(page).xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy
    assert "prefers-color-scheme: dark" in page


BASES = {"sft": 0.40, "half": 0.33, "quarter": 0.27, "eighth": 0.18}


def test_scaling_arms_are_those_that_differ_in_the_number_of_runs() -> None:
    plan = a_plan()
    tree = opened(page_of(plan, results_of(plan, {**BASES, "curriculum": 0.4})))
    (section,) = tree.xpath("//section[@id='scaling']")
    rows = [[text_of(cell) for cell in row] for row in section.xpath(".//tbody/tr")]
    assert [row[0].split()[0] for row in rows] == ["eighth", "quarter", "half", "sft"]
    assert [row[1] for row in rows] == ["500", "1,000", "2,000", "3,750"]
    assert rows[-1][2].startswith("0.40")
    (drawing,) = section.xpath(".//svg[@role='img']")
    assert len(marks(section, "interval")) == len(marks(section, "mean")) == 4
    assert "quarter, 1,000 runs" in drawing.get("aria-label")
    places = [float(mean.get("x").rstrip("%")) for mean in marks(section, "mean")]
    steps = [after - before for before, after in pairwise(places)]
    assert steps[0] == pytest.approx(steps[1], abs=0.02), "twice as many runs are as far to the right everywhere"
    assert "More runs are better." in text_of(section)


def test_scaling_is_found_in_a_plan_with_other_names() -> None:
    whole = a_plan().model_dump(mode="json")
    whole["arms"] = {
        "plain": {"says": "all of it"},
        "odd": {"says": "few, and otherwise", "teach": {"rows": 50, "runs": "masked"}},
        "sft": {"says": "no base at all", "rows": "own", "train": whole["acting"]},
        "tiny": {"says": "few of it", "teach": {"rows": 50}},
    }
    whole |= {"core": [], "endpoints": []}
    plan = Plan.model_validate(whole)
    rates = {"plain": 0.3, "odd": 0.2, "sft": 0.5, "tiny": 0.3}
    tree = opened(page_of(plan, results_of(plan, rates, 5)))
    (section,) = tree.xpath("//section[@id='scaling']")
    assert section.xpath(".//tbody//span[@class='name']/text()") == ["tiny", "plain"]
    assert "That more runs are better is not shown" in text_of(section)
    assert "against plain" in text_of(tree)
    assert not tree.xpath("//section[@id='parts']"), "an arm with fewer runs says nothing of a part"
    assert "The plan names none." in text_of(tree)


def test_scaling_needs_two_numbers_of_runs() -> None:
    plan = a_plan()
    tree = opened(page_of(plan, results_of(plan, CORE, 1)))
    (section,) = tree.xpath("//section[@id='scaling']")
    assert not section.xpath(".//svg")
    assert "No result yet: quarter, half, eighth." in text_of(section)
    tree = opened(page_of(plan, results_of(plan, {"sft": 0.4, "half": 0.3}, 1)))
    assert not tree.xpath("//section[@id='scaling']//*[@class='interval']")
    assert "fewer than three seeds" in text_of(tree.xpath("//section[@id='scaling']")[0])


def test_parts_that_are_not_shown_to_be_worth_anything_are_named() -> None:
    plan = a_plan()
    rates = {"sft": 0.40, "no_dedup": 0.4005, "no_detours": 0.30, "masked": 0.50, "quarter": 0.2, "rft": 0.6}
    tree = opened(page_of(plan, results_of(plan, rates, 5)))
    lines = lines_of(tree, "parts")
    assert list(lines) == ["no_dedup", "no_detours", "masked"]
    assert [line.get("class") for line in lines.values()] == ["flat", "bad", "good"]
    said = text_of(tree.xpath("//section[@id='parts']")[0])
    assert "Lower than sft: no_detours. Higher: masked. Not shown to be worth anything" in said
    assert "three seeds): no_dedup." in said
    assert "No result yet: unlabelled, habit, habit_unlabelled, unchecked, curriculum." in said
    assert cells(lines["no_detours"])[0].startswith("−0.1")
    one = text_of(opened(page_of(plan, results_of(plan, rates, 1))).xpath("//section[@id='parts']")[0])
    assert "three seeds): no_dedup, no_detours, masked." in one


def test_missing_arms_say_why() -> None:
    plan = a_plan()
    missing = {"same_kind": dict.fromkeys((0, 1, 2), "3 pairs"), "random_same": {1: "4 pairs"}}
    tree = opened(page_of(plan, results_of(plan, CORE, missing=missing)))
    lines = lines_of(tree, "held_out")
    assert "too few: 3 pairs (seed 0), 3 pairs (seed 1)" in text_of(lines["same_kind"])
    assert not lines["same_kind"].xpath(".//svg")
    assert "seeds left out: too few: 4 pairs (seed 1)" in text_of(lines["random_same"])
    assert cells(lines["random_same"])[2] == "2"
    ends = lines_of(tree, "endpoints")
    assert "not measured (same_kind: too few: 3 pairs" in text_of(ends["same_kind − rft"])
    assert "0 not shown, 3 not measured." in text_of(tree)
    alone = opened(page_of(plan, results_of(plan, {}, missing={"cso": {0: "0 pairs"}})))
    assert "Nothing is finished" not in text_of(alone)
    assert "too few: 0 pairs (seed 0)" in text_of(alone)
    assert "same_kind: no result yet; rft: no result yet" in text_of(alone)


@pytest.mark.parametrize("purpose", ["development", "final"])
def test_without_results_nothing_is_finished(purpose: Purpose) -> None:
    plan = a_plan()
    tree = opened(page_of(plan, results_of(plan, {}, purpose=purpose)))
    assert "Nothing is finished yet." in text_of(tree)
    assert not tree.xpath("//svg")
    assert [section.get("id") for section in tree.xpath("//section")] == ["endpoints"]
    assert "3 not measured" in text_of(tree)


def test_the_heading_says_what_the_seeds_are_good_for() -> None:
    plan = a_plan()
    head = text_of(opened(page_of(plan, results_of(plan, CORE, 2), command="efficacy_lab --seeds 2")))
    assert f"Plan {plan.key[:12]}, development seeds: no test of anything." in head
    assert "Seeds with results: 0, 1 (2 of 5: 0, 1, 2, 3, 4)." in head
    assert "efficacy_lab --seeds 2" in head
    assert plan.key in head
    final = text_of(opened(page_of(plan, results_of(plan, CORE, 7, purpose="final"))))
    assert "untouched seeds, run once. Seeds: all 7 of them, 101" in final
    assert "not finished" not in final
    assert "no test of anything" not in final
    assert "makes it again" not in final, "no command is known"


def test_a_look_at_untouched_seeds_before_all_are_run_is_called_one() -> None:
    plan = a_plan()
    for seeds, missing in ((3, None), (7, {"rft": dict.fromkeys(plan.seeds.untouched[:3], "0 rows")})):
        results = results_of(plan, CORE, seeds, purpose="final", missing=missing)
        assert ("run is not finished" in page_of(plan, results)) is (seeds == 3)
    late = results_of(plan, CORE, 7, purpose="final")
    del late.trained["rft"][107], late.measured["held_out"]["rft"][107]
    assert "run is not finished" in page_of(plan, late)


def test_all_three_files_are_of_the_same_results(tmp_path: Path) -> None:
    plan = a_plan()
    for seeds in (1, 2):
        results = results_of(plan, CORE, seeds)
        write_findings(tmp_path / "development", plan, results, "efficacy_lab")
        files = {path.name: path.read_text() for path in (tmp_path / "development").iterdir()}
        assert files == {
            "results.json": results.model_dump_json(indent=1),
            "table.md": table_of(plan, results),
            "report.html": page_of(plan, results, "efficacy_lab"),
        }


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.31, 0.47], ["0.30", "0.35", "0.40", "0.45", "0.50"]),
        ([-0.4, 1.3], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([0.0], ["0.000", "0.005", "0.010"]),
        ([], ["0.000", "0.005", "0.010"]),
    ],
)
def test_a_scale_has_round_numbers_and_keeps_to_its_bounds(values: list[float], words: list[str]) -> None:
    scale = scale_of(values, least=0.0, most=1.0)
    assert [scale.words(tick) for tick in scale.ticks] == words


def test_a_scale_of_differences_has_signs_and_none_at_zero() -> None:
    scale = scale_of([-0.012, 0.033], signed=True)
    assert [scale.words(tick) for tick in scale.ticks] == ["−0.02", "−0.01", "0.00", "+0.01", "+0.02", "+0.03", "+0.04"]


def test_an_interval_beyond_the_scale_has_no_end_there() -> None:
    found = interval([0.1, 0.5])
    assert found.low is not None
    assert found.low < 0
    scale = scale_of([0.0, 1.0], least=0.0, most=1.0)
    tree = html.fromstring(strip(scale, "x", found, {0: 0.1, 1: 0.5}))
    assert not tree.xpath(".//*[@class='cap']")
    (line,) = tree.xpath(".//*[@class='interval']")
    assert (line.get("x1"), line.get("x2")) == ("5.00%", "95.00%")


def test_numbers_of_runs_that_are_close_are_not_written_over_one_another() -> None:
    points = [Point(str(runs), runs, interval([0.4]), {0: 0.4}) for runs in (100, 1000, 1010)]
    tree = html.fromstring(curve("x", points, scale_of([0.3, 0.5])))
    assert tree.xpath(".//text[@text-anchor='middle']/text()") == ["100", "1,000"]
    assert len(tree.xpath(".//rect")) == 3
