"""What the card shows (plots, lists of columns, the recipe) is part of what ``validate`` proves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from synth.dataset.rules.validate import validate

LOST = "README.md: shows plots/success.svg, which is missing"
OTHER = "shows numbers other than the report's"
COLUMNS = "lists columns other than those of the rows"
CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "lost": (lambda folder: (folder / "plots" / "success.svg").unlink(), LOST),
    "of other numbers": (
        lambda folder: (folder / "plots" / "success.svg").write_text("<svg/>"),
        f"plots/success.svg: {OTHER}",
    ),
    "of nobody": (lambda folder: (folder / "plots" / "mine.svg").write_text("<svg/>"), f"plots/mine.svg: {OTHER}"),
    "no plot": (
        lambda folder: (folder / "plots" / "mine.png").write_text(""),
        "plots/mine.png: not a dataset file (expected config/split-00000-of-000NN.parquet)",
    ),
    "lost columns": (
        lambda folder: (folder / "columns" / "tasks.md").unlink(),
        "README.md: shows columns/tasks.md, which is missing",
    ),
    "other columns": (
        lambda folder: (folder / "columns" / "tasks.md").write_text("# tasks\n"),
        f"columns/tasks.md: {COLUMNS}",
    ),
    "columns of nobody": (
        lambda folder: (folder / "columns" / "mine.md").write_text("# mine\n"),
        f"columns/mine.md: {COLUMNS}",
    ),
    "no recipe": (lambda folder: (folder / "recipe.yaml").unlink(), "README.md: shows recipe.yaml, which is missing"),
    "other recipe": (
        lambda folder: (folder / "recipe.yaml").write_text("seed: 8\n"),
        "recipe.yaml: is not the report's recipe",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_stands_beside_the_card_and_is_not_the_reports_is_found(change: str, little: Callable[[], Path]) -> None:
    folder = little()
    act, line = CHANGES[change]
    act(folder)
    found = [str(problem) for problem in validate(folder)]
    assert line in found
    assert all("the report" in one for one in found if one != line)  # the file hash sees it as well
