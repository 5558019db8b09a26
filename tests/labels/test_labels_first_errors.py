"""The small version of ``tests/benchmarks/bench_labels.py``: labels against the truth, on a small world."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from bench_labels import Measured, built, measure


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    folder = tmp_path_factory.mktemp("labels")
    return measure(built(folder, tasks=80, seed=5, settings={"source.entities": 700}))


def test_first_errors_are_found(measured: Measured) -> None:
    right, total = measured.accuracy(natural=False)
    assert total >= 10, "enough runs that failed by an injected error"
    assert right >= 0.85 * total, measured.failed  # at full size it is to be 0.9
    right, total = measured.accuracy(natural=True)
    assert right >= 0.8 * total, measured.failed


def test_runs_without_an_error_have_none(measured: Measured) -> None:
    clean = measured.succeeded["none"]
    assert clean.total() >= 5
    assert clean["right"] >= 0.95 * clean.total(), clean
