"""However the work is cut and wherever it runs, the bytes are the same."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest
from engine_toys import Answers, Built, Questions, build, plan, run_twice
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.store.ledger import read_ledger

pytestmark = pytest.mark.thorough


class SmallAnswers(Answers):
    rows_per_shard: ClassVar[int] = 3
    threads: ClassVar[bool] = True


class OneAnswer(Answers):
    rows_per_shard: ClassVar[int] = 1


class BigAnswers(Answers):
    rows_per_shard: ClassVar[int] = 1000


class SmallQuestions(Questions):
    candidates_per_shard: ClassVar[int] = 5
    threads: ClassVar[bool] = True


class OneQuestion(Questions):
    candidates_per_shard: ClassVar[int] = 1


RAM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

ANSWERS = (Answers, SmallAnswers, OneAnswer, BigAnswers)
QUESTIONS = (Questions, SmallQuestions, OneQuestion)


@cache
def undisturbed(wanted: int) -> Built:
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        return build(Path(folder), plan(wanted))


def comparable(built: Built) -> Built:
    """Without the number of proposed candidates, which counts those of the last shard that were not looked at."""
    reports = tuple(
        report.model_copy(update={"numbers": {}}) if report.stage == "questions" else report for report in built.reports
    )
    return Built(built.tables, built.arrays, built.rejected, reports)


@settings(max_examples=8)
@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.sampled_from(ANSWERS), st.sampled_from(QUESTIONS), st.integers(1, 4)),
        min_size=1,
        max_size=4,
    )
)
def test_any_sequence_of_builds_in_one_store_gives_the_undisturbed_bytes(
    builds: list[tuple[int, type[Answers], type[Questions], int]],
) -> None:
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        for wanted, answers, questions, workers in builds:
            built = build(Path(folder), plan(wanted, answers_stage=answers, questions_stage=questions), workers=workers)
            assert comparable(built) == comparable(undisturbed(wanted))


@settings(max_examples=6)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=5))
def test_growing_and_shrinking_never_runs_a_finished_unit_again(wanted: list[int]) -> None:
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        ledger = Path(folder, "ledger")
        for number in wanted:
            assert build(Path(folder, "store"), plan(number), ledger=ledger) == undisturbed(number)
        again = [entry for entry in run_twice(read_ledger(ledger)) if not entry.stage.startswith("summary/")]
        assert again == []


def test_worker_processes_give_the_same_bytes(tmp_path: Path) -> None:
    assert build(tmp_path, plan(40), name="processes", workers=3) == undisturbed(40)


def test_the_hash_seed_of_the_interpreter_changes_nothing(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys; from pathlib import Path; from engine_toys import build, plan;"
        "import hashlib, pickle; b = build(Path(sys.argv[1]), plan(25));"
        "print(hashlib.sha256(repr((sorted(b.tables.items()), b.rejected, b.reports)).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
