"""The small version of ``tests/benchmarks/bench_labels.py``: labels against the truth, on a small world."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from bench_labels import Measured, built, measure
from first_errors import UNDECIDED, Facts, first_error
from stand_ins.planted import PlantedEnvironment, PlantedPolicy, planted_task, record_run

from synth.schemas.injected import InjectedError
from synth.schemas.tasks import Task
from synth.testing.corpus import small_tasks


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    folder = tmp_path_factory.mktemp("labels")
    # The default mix of shapes, but for levels that a world of this size can not give.
    settings = {"source.entities": 700, "questions.obfuscation": {0: 1.0}}
    return measure(built(folder, tasks=80, seed=5, settings=settings))


def test_first_errors_are_found(measured: Measured) -> None:
    right, total = measured.accuracy(natural=False)
    assert total >= 10, "enough runs that failed by an injected error"
    assert right >= 0.9 * total, measured.failed
    right, total = measured.accuracy(natural=True)
    assert total >= 30
    assert right >= 0.85 * total, measured.failed


def test_runs_without_an_error_have_none(measured: Measured) -> None:
    clean = measured.succeeded["none"]
    assert clean.total() >= 5
    assert clean["right"] >= 0.95 * clean.total(), clean


def test_documents_leave_undecided_what_a_further_condition_decides() -> None:
    """What a graph of documents lacks may be true: only where one thing alone fits is another one wrong."""
    office, *_, student, _ = small_tasks()

    def first(task: Task, name: str, *, world: bool) -> str | None:
        facts = Facts((), (), world=world)
        error = InjectedError(
            trajectory_id=run.id, turn=0, mode="wrong_relation", detail=f"took {name!r} rather than 'x'"
        )
        run_of = run.model_copy(update={"task_id": task.id, "success": True})
        found = first_error(run_of, task, [error], facts, {})
        return None if found is None else found.mode

    run = record_run(PlantedEnvironment(), planted_task(0), PlantedPolicy(planted_task(0), 1.0, 1.0), 0)
    assert (office.shape, student.shape) == ("composition", "conjunction")
    assert first(office, "Lume Press", world=False) == "wrong_relation"
    assert first(student, "Edda Torrin", world=False) == UNDECIDED
    assert first(student, "Edda Torrin", world=True) == "wrong_relation"
    assert first(student, "Jon Maak", world=False) is None
