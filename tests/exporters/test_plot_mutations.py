"""The card's plots are part of what ``validate`` proves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from synth.exporters.validate import validate

LOST = "README.md: shows plots/success.svg, which is missing"
OTHER = "draws other numbers than the report's"
CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "lost": (lambda plots: (plots / "success.svg").unlink(), LOST),
    "of other numbers": (lambda plots: (plots / "success.svg").write_text("<svg/>"), f"plots/success.svg: {OTHER}"),
    "of nobody": (lambda plots: (plots / "mine.svg").write_text("<svg/>"), f"plots/mine.svg: {OTHER}"),
    "no plot": (
        lambda plots: (plots / "mine.png").write_text(""),
        "plots/mine.png: no file of a dataset (config/split-00000-of-000NN.parquet)",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_plot_that_is_not_the_reports_is_found(change: str, little: Callable[[], Path]) -> None:
    folder = little()
    act, line = CHANGES[change]
    act(folder / "plots")
    assert [str(problem) for problem in validate(folder)] == [line]
