"""What the page of results says is what was found on the untouched seeds, and the README claims no more."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from efficacy_lab.plan import SHIPPED, load_plan

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from bench_efficacy import KEPT, PARTS, RECORDED, RUN, found_by, recorded, tables

ROOT = Path(__file__).parents[2]
PAGE = KEPT / "README.md"


@pytest.mark.parametrize("name", RECORDED)
def test_the_page_says_what_was_found(name: str) -> None:
    lines = tables(name)
    assert len(lines) > 15
    assert not set(lines) - set(PAGE.read_text().splitlines()), (
        "print it anew: python tests/benchmarks/bench_efficacy.py"
    )


@pytest.mark.parametrize("name", RUN)
def test_the_page_says_what_a_plan_of_the_laboratory_found(name: str) -> None:
    plan, text = load_plan(SHIPPED.with_name(f"{name}.yaml")), PAGE.read_text()
    assert plan.key[:12] in text, "what was begun with one plan is not gone on with by another"
    missing = [line for line in found_by(name).splitlines() if line and line not in text]
    assert not missing, "print it anew: python tests/benchmarks/bench_efficacy.py"
    run = len(list((KEPT / name).glob("*.json")))
    said = f"{run} of {len(plan.seeds.untouched)} untouched seeds"
    for page in (PAGE, ROOT / "docs" / "results.md"):
        assert said in " ".join(page.read_text().split())


def test_the_manual_claims_nothing_that_was_not_tested() -> None:
    """Every difference that it names is a line of the page, and it says which question is open."""
    short = " ".join((ROOT / "README.md").read_text().partition("## Does it train?")[2].partition("\n## ")[0].split())
    section = " ".join((ROOT / "docs" / "results.md").read_text().split())
    for figure in re.findall(r"[+-]\.\d{3} \([+-]\.\d{3} to [+-]\.\d{3}\)", short):
        assert figure in section
    figures = re.findall(r"([+-]\.\d{3}) \(([+-]\.\d{3}) to ([+-]\.\d{3})\)", section)
    figures += re.findall(r"\(([+-]\.\d{3}); ([+-]\.\d{3}) to ([+-]\.\d{3})\)", section)
    assert len(figures) == 21
    for found, low, high in figures:
        assert f"| {found} ({low} to {high}) |" in PAGE.read_text()
    assert "it costs more than .02" in section, "the endpoint that failed is told"
    assert "on the others" in short, "and so is its price"
    for claim in ("blindly", "Harmful", "What trains is RFT", "gets nothing from"):
        assert claim not in section + short


def test_parts_are_named_by_arms_of_a_plan() -> None:
    known = [recorded(name).says.keys() for name in RECORDED]
    assert all(any({arm, against} <= arms for arms in known) for _, arm, against in PARTS)
