"""Long rows: parts that were finished before an interruption come back, and none is made twice."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from engine_toys import Answer, Built, Question, plan

from synth.engine import Engine, LocalExecutor, Plan, StageNode
from synth.engine.units import PartRecord
from synth.errors import SynthError
from synth.schemas.row import Row
from synth.stages.contract import Outcome, RowStage, StageConfig
from synth.store import Store

PARTS = 5
WANTED = 6


class LongRows(RowStage[StageConfig, Question]):
    """Each row has five parts; the process "dies" after ``die_after`` of them."""

    name = "long_rows"
    version = 1
    config_type = StageConfig
    reads = ("questions",)
    over = "questions"
    writes: ClassVar[dict[str, type[Row]]] = {"answers": Answer}
    rows_per_shard = 4
    made: ClassVar[list[str]] = []
    die_after: ClassVar[int | None] = None

    def process(self, row: Question) -> Outcome:
        checkpoint = self.context.checkpoint
        texts = []
        for number in range(PARTS):
            key = f"part-{number}"
            text = checkpoint.parts.get(key)
            if text is None:
                if self.die_after is not None and len(self.made) >= self.die_after:
                    raise KeyboardInterrupt
                text = f"{row.id}, part {number}: {self.context.generator(row.id, number).random():.6f}\n\\ü"
                self.made.append(f"{row.id}/{key}")
                checkpoint.put(key, text)
            texts.append(text)
        answer = Answer(id=row.id, text="".join(texts), draw=0.0, provenance=self.context.provenance)
        return Outcome(kept=(answer,))


def long_plan() -> Plan:
    toy = plan(WANTED)
    nodes = tuple(node for node in toy.nodes if node.label not in ("answers", "summary"))
    questions = next(node.label for node in nodes if "questions" in node.stage.writes)
    return Plan(
        toy.dataset,
        toy.seed,
        toy.source,
        (*nodes, StageNode("long", LongRows, StageConfig(), {"questions": questions})),
        WANTED,
    )


def run(store: Path, die_after: int | None = None) -> Built:
    LongRows.die_after = die_after
    with Engine(long_plan(), Store(store), LocalExecutor()) as engine:
        return Built.of(engine, engine.run())


@pytest.mark.parametrize("die_after", [0, 1, 4, 5, 7, 19, 23, 29])
def test_no_part_is_made_twice_and_the_bytes_are_those_of_an_undisturbed_run(tmp_path: Path, die_after: int) -> None:
    LongRows.made.clear()
    undisturbed = run(tmp_path / "undisturbed")
    assert len(LongRows.made) == PARTS * WANTED

    LongRows.made.clear()
    with pytest.raises((SynthError, KeyboardInterrupt)):
        run(tmp_path / "store", die_after=die_after)
    assert len(LongRows.made) == die_after
    again = run(tmp_path / "store")
    assert sorted(LongRows.made) == sorted(set(LongRows.made)), "a finished part was made again"
    assert len(LongRows.made) == PARTS * WANTED
    assert again.tables == undisturbed.tables


def test_parts_of_another_row_or_content_are_not_given(tmp_path: Path) -> None:
    parts = [
        PartRecord(("a", "1"), "k", "x"),
        PartRecord(("a", "2"), "k", "y"),
        PartRecord(("b", "1"), "k", "z"),
        PartRecord(("a", "1"), "k", "w"),
    ]
    found = PartRecord.by_row([part.encode() for part in parts])
    assert found == {("a", "1"): {"k": "w"}, ("a", "2"): {"k": "y"}, ("b", "1"): {"k": "z"}}
    assert all(PartRecord.is_part(part.encode()) for part in parts)
