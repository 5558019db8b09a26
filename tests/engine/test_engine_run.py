"""What the engine promises of one build and of the next ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from engine_toys import (
    Answers,
    AnswersConfig,
    Built,
    IndexConfig,
    Page,
    Pages,
    PagesConfig,
    Question,
    Questions,
    QuestionsConfig,
    begun,
    build,
    plan,
    run_twice,
)

from synth.engine import Engine, LocalExecutor, Plan, StageNode
from synth.engine.work import ConservationError
from synth.errors import BuildError, InputError
from synth.schemas.rejections import Reason
from synth.stages.contract import Batch, Outcome, ShardStage, StageConfig
from synth.store import Store
from synth.store.ledger import read_ledger


def rows(built: Built, table: str) -> list[dict[str, object]]:
    import io

    return pq.read_table(io.BytesIO(built.tables[table])).to_pylist()  # type: ignore[no-any-return]


def stages_that_ran(ledger: Path) -> set[str]:
    return {entry.stage.partition("/")[0] for entry in read_ledger(ledger)}


def test_exactly_n_and_nothing_vanishes(tmp_path: Path) -> None:
    built = build(tmp_path / "store", plan(20))
    assert len(rows(built, "questions/questions")) == 20
    for report in built.reports:
        assert report.rows_in == report.kept + sum(report.rejected.values())
    by_label = {report.label: report for report in built.reports}
    assert by_label["questions"].kept == 20
    assert by_label["answers"].rows_in == 20
    assert by_label["pages"].rejected == {"empty": 9}
    assert by_label["pages"].numbers == {"words": 255.0}
    assert set(by_label["questions"].rejected) >= {"no_walk", "not_unique"}


def test_the_same_again_runs_nothing(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    first = build(tmp_path / "store", plan(20), ledger=ledger)
    assert stages_that_ran(ledger) == {"pages", "index", "questions", "answers", "summary"}
    ledger.unlink()
    assert build(tmp_path / "store", plan(20), ledger=ledger) == first
    assert read_ledger(ledger) == []
    with Engine(plan(20), Store(tmp_path / "store"), LocalExecutor()) as engine:
        assert [status.state for status in engine.status()] == ["cached"] * 5
        assert all(report.reused_shards == report.shards for report in engine.run())


def test_more_later_keeps_every_row_and_runs_only_the_rest(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    few = build(tmp_path / "store", plan(20), ledger=ledger)
    before = begun(read_ledger(ledger))
    many = build(tmp_path / "store", plan(30), ledger=ledger)
    assert run_twice(read_ledger(ledger)) == []
    again = begun(read_ledger(ledger)) - before
    assert {stage.partition("/")[0] for stage, _, _ in again} == {"questions", "answers", "summary"}
    assert len([row for stage, _, row in again if stage.startswith("answers/")]) == 10
    assert many == build(tmp_path / "other", plan(30))
    for table in ("questions/questions", "questions/secrets", "answers/answers", "answers/secrets"):
        assert rows(many, table)[: len(rows(few, table))] == rows(few, table)
        assert len(rows(many, table)) > len(rows(few, table))
    # And fewer again: a prefix, nothing of what came after.
    assert build(tmp_path / "store", plan(20), ledger=ledger) == few
    assert build(tmp_path / "third", plan(20)) == few


def test_journals_of_committed_shards_go_and_those_of_a_larger_build_stay(tmp_path: Path) -> None:
    store = tmp_path / "store"
    built = build(store, plan(20))
    (journals,) = store.glob("stages/answers/*/journals")
    assert list(journals.iterdir()) == []
    left, larger = journals / "00000000.journal", journals / "00004096.journal"
    for wanted in (20, 24):  # found as it is; made in part
        for path in (left, left.with_suffix(".lock"), larger):
            path.write_bytes(b"")
        again = build(store, plan(wanted))
        assert list(journals.iterdir()) == [larger]
        assert wanted > 20 or again == built


def test_a_parameter_of_the_last_stage_reruns_only_that(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    build(tmp_path / "store", plan(20))
    build(tmp_path / "store", plan(20, answers=AnswersConfig(temper=2.0)), ledger=ledger)
    assert stages_that_ran(ledger) == {"answers", "summary"}
    ledger.unlink()
    build(tmp_path / "store", plan(20, index=IndexConfig(scale=2.0)), ledger=ledger)
    assert stages_that_ran(ledger) == {"index", "questions", "answers", "summary"}


def test_recipes_share_stages_whose_rows_carry_no_provenance(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    build(tmp_path / "store", plan(20))
    other = build(tmp_path / "store", plan(20, dataset="another"), ledger=ledger)
    assert stages_that_ran(ledger) == {"questions", "answers", "summary"}
    assert {row["provenance"]["dataset"] for row in rows(other, "answers/answers")} == {"another"}  # type: ignore[index]
    assert other == build(tmp_path / "fresh", plan(20, dataset="another"))


def test_source_content_is_in_the_fingerprint_and_its_path_is_not(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("one")
    first = build(tmp_path / "store", plan(20, pages=PagesConfig(path=str(tmp_path / "a"))))
    assert build(tmp_path / "store", plan(20, pages=PagesConfig(path=str(tmp_path / "b"))), ledger=ledger) == first
    assert read_ledger(ledger) == []
    (tmp_path / "a").write_text("two")
    build(tmp_path / "store", plan(20, pages=PagesConfig(path=str(tmp_path / "a"))), ledger=ledger)
    assert stages_that_ran(ledger) == {"pages", "index", "questions", "answers", "summary"}
    with pytest.raises(InputError, match="there is no such file"):
        build(tmp_path / "store", plan(20, pages=PagesConfig(path=str(tmp_path / "missing"))))


def test_candidates_that_never_suffice_end_with_the_yield_by_reason(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        build(tmp_path / "store", plan(20, questions=QuestionsConfig(modulus=4)))
    line = str(caught.value)
    assert line.startswith("questions: accepted 4 of 20 after 430 candidates: ")
    assert "% duplicate_task" in line
    assert "\n" not in line
    # Fewer than there are: the same candidates are not proposed again.
    ledger = tmp_path / "ledger"
    built = build(tmp_path / "store", plan(3, questions=QuestionsConfig(modulus=4)), ledger=ledger)
    assert stages_that_ran(ledger) == {"answers", "summary"}
    duplicates = [row for row in rejected(built) if row["reason"] == Reason.DUPLICATE_TASK.value]
    assert all(str(row["detail"]).startswith("asks the same as candidate ") for row in duplicates)


def rejected(built: Built) -> list[dict[str, object]]:
    import io

    return pq.read_table(io.BytesIO(built.rejected)).to_pylist()  # type: ignore[no-any-return]


def test_given_candidates_run_out(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="after all 21 candidates that there are"):
        build(tmp_path / "store", plan(20, questions=QuestionsConfig(given=21)))
    everything = build(tmp_path / "store", plan(None, questions=QuestionsConfig(given=21)))
    kept = len(rows(everything, "questions/questions"))
    assert 0 < kept < 21
    assert everything.reports[2].rows_in == 21
    some = build(tmp_path / "store", plan(kept - 1, questions=QuestionsConfig(given=21)))
    assert rows(everything, "questions/questions")[: kept - 1] == rows(some, "questions/questions")
    with pytest.raises(BuildError, match="accepted 0 after all 21 candidates"):
        build(tmp_path / "store", plan(None, questions=QuestionsConfig(given=21, rejects=1)))


def test_all_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="never runs out of candidates"):
        build(tmp_path / "store", plan(None))


def test_a_bug_names_stage_and_row_and_keeps_finished_work(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    good = build(tmp_path / "other", plan(20))
    victim = str(rows(good, "questions/questions")[13]["id"])
    with pytest.raises(ZeroDivisionError) as caught:
        build(tmp_path / "store", plan(20, answers=AnswersConfig(fail_at=victim)), ledger=ledger)
    assert any(f"stage 'answers' (answers version 1), row {victim}" in note for note in caught.value.__notes__)
    done = {entry.row for entry in read_ledger(ledger) if entry.event == "done" and entry.row}
    assert len(done) == 13
    ledger.unlink()
    with pytest.raises(ZeroDivisionError):
        build(tmp_path / "store", plan(20, answers=AnswersConfig(fail_at=victim)), ledger=ledger)
    assert {entry.row for entry in read_ledger(ledger)} == {victim}


class Leaky(Pages):
    """Loses a page without a word."""

    name = "leaky"

    def produce(self, shard: int) -> Batch:
        batch = super().produce(shard)
        return Batch(batch.tables, rejected=batch.rejected[1:], rows_in=batch.rows_in, kept_in=batch.kept_in)


class Short(Questions):
    """Forgets a candidate."""

    name = "short"

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return super().propose(start, stop - 1)


class TwoForOne(Questions):
    name = "two_for_one"

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        made = super().propose(start, stop)
        return [Outcome(kept=one.kept * 2) if one.kept else one for one in made]


class Undeclared(Answers):
    name = "undeclared"

    def process(self, row: object) -> Outcome:
        outcome = super().process(row)  # type: ignore[arg-type]
        return Outcome(outcome.kept, outcome.rejected, {"more": ()})


def test_vanished_rows_are_a_bug_with_a_name(tmp_path: Path) -> None:
    leaky = Plan("toy", 1, "toys", (StageNode("pages", Leaky, PagesConfig()),), 1)
    with pytest.raises(ConservationError, match=r"stage 'pages' \(leaky\), shard 0: 20 in, 17 kept, 2 rejected"):
        build(tmp_path / "store", leaky)
    with pytest.raises(ConservationError, match="16 candidates were asked for and 15 came"):
        build(tmp_path / "store", plan(20, questions_stage=Short))
    with pytest.raises(ValueError, match="one row at most"):
        build(tmp_path / "store", plan(20, questions_stage=TwoForOne))
    with pytest.raises(ValueError, match="side rows for more"):
        build(tmp_path / "store", plan(20, answers_stage=Undeclared))


class Ahead(Answers):
    """Answers what it was told of, no sooner."""

    name = "ahead"
    together = 3

    def look_ahead(self, rows: Sequence[Question]) -> None:
        self.next = [row.id for row in rows]

    def process(self, row: Question) -> Outcome:
        self.context.metrics["told"] = self.next.index(row.id) if len(self.next) <= 3 else 99
        return super().process(row)


def test_a_stage_is_told_which_rows_come_next(tmp_path: Path) -> None:
    built = build(tmp_path / "store", plan(20, answers_stage=Ahead))
    report = next(one for one in built.reports if one.label == "answers")
    assert report.rows_in == 20
    assert report.numbers["told"] == sum(place % 8 % 3 for place in range(20))  # shards of eight rows


class Nothing(ShardStage[StageConfig]):
    name = "nothing"
    version = 1
    writes = {"pages": Page}

    def shards(self) -> int:
        return 0

    def produce(self, shard: int) -> Batch:
        raise AssertionError


def test_a_stage_without_shards_has_empty_tables(tmp_path: Path) -> None:
    nothing = Plan("toy", 1, "toys", (StageNode("pages", Nothing, StageConfig()),), 1)
    built = build(tmp_path / "store", nothing)
    assert rows(built, "pages/pages") == []
    assert built.reports[0].rows_in == 0
    assert build(tmp_path / "store", nothing) == built


def test_run_stage_runs_what_it_reads_and_may_be_called_again(tmp_path: Path) -> None:
    with Engine(plan(20), Store(tmp_path / "store"), LocalExecutor()) as engine:
        with pytest.raises(LookupError, match="has not run yet"):
            engine.table("pages", "pages")
        report = engine.run_stage("answers")
        assert engine.run_stage("answers") is report
        assert len(engine.table("pages", "pages")) == 51
        with pytest.raises(LookupError):
            engine.table("summary", "pages")
        with pytest.raises(KeyError, match="writes no table 'rows'"):
            engine.table("pages", "rows")
        with pytest.raises(KeyError, match="there are pages, index"):
            engine.run_stage("nobody")


def test_tables_are_memory_mapped_rows_in_order(tmp_path: Path) -> None:
    with Engine(plan(30), Store(tmp_path / "store"), LocalExecutor()) as engine:
        engine.run()
        table = engine.table("answers", "answers")
        everything = list(table.rows())
        assert [table.row(number) for number in range(len(table))] == everything
        assert list(table.rows(5, 21)) == everything[5:21]
        assert list(table.rows(7, 10_000)) == everything[7:]
        assert table.arrow.num_rows == len(everything)
        for number in (-1, len(table)):
            with pytest.raises(IndexError):
                table.row(number)
        assert [row.row_id for row in engine.rejected().rows()] == [
            row["row_id"] for row in engine.rejected().arrow.to_pylist()
        ]
        with pytest.raises(ValueError, match="read-only"):
            engine.arrays("index")["counts"][0] = 1
