"""What a candidate stage could accept in all is said by its first candidates, before the build gets there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest
from engine_toys import Questions, QuestionsConfig, build, plan

from synth.engine import Engine, LocalExecutor, Quiet
from synth.engine.supply import SAMPLE, distinct, estimate
from synth.errors import BuildError
from synth.identity import derive_generator
from synth.store import Store
from synth.store.ledger import read_ledger


class Wide(Questions):
    candidates_per_shard: ClassVar[int] = 1_024


class Notes(Quiet):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


def test_the_number_of_different_items_is_foretold() -> None:
    draws = derive_generator(7, "supply").integers(0, 20_000, 60_000).tolist()
    seen = Counter(map(str, draws[:3_000]))
    for many in (3_000, 10_000, 60_000):
        assert distinct(seen, many) == pytest.approx(len(set(draws[:many])), rel=0.06)
    assert distinct(Counter(), 5) == 0


def test_kinds_run_dry_each_at_its_own_pace() -> None:
    generator = derive_generator(8, "supply")
    few, many = (Counter(map(str, generator.integers(0, size, 2_000).tolist())) for size in (10, 1_000_000))
    found = estimate("tasks", [few, many], sampled=8_000, accepted=2_010, limit=80_000, wanted=4_010)
    assert found.candidates == pytest.approx(16_000, rel=0.03)  # the first kind gives no more
    assert not found.short
    assert estimate("tasks", [few], sampled=4_000, accepted=5, limit=80_000, wanted=6).rows == 5  # near duplicates


def test_a_stage_tells_what_it_can_give_and_the_build_finds_the_sample(tmp_path: Path) -> None:
    poor = plan(20, questions=QuestionsConfig(modulus=10))
    with Engine(poor, Store(tmp_path / "poor"), LocalExecutor()) as engine:
        supply = engine.supply("questions")
    assert (supply.rows, supply.short, supply.sampled) == (10, True, 432)  # of the shard that it ends in, all
    ledger = tmp_path / "ledger"
    with pytest.raises(BuildError, match="accepted 10 of 20 after 430"):
        build(tmp_path / "poor", poor, ledger=ledger)
    assert not [entry for entry in read_ledger(ledger) if "questions" in str(entry)]
    with Engine(plan(20), Store(tmp_path / "rich"), LocalExecutor()) as engine:
        assert not engine.supply("questions").short


def test_a_large_build_says_it_while_it_goes_on(tmp_path: Path) -> None:
    notes = Notes()
    wanted = 300
    poor = plan(wanted, questions=QuestionsConfig(modulus=200), questions_stage=Wide)
    with Engine(poor, Store(tmp_path), LocalExecutor(), notes) as engine, pytest.raises(BuildError):
        engine.run()
    assert notes.lines == [
        f"questions: judged by the first {SAMPLE:,} candidates, this source gives about 200 that differ, and {wanted} "
        "are wanted: give a larger source, or ask for fewer"
    ]
