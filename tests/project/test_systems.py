"""The table of systems: every published system has a row, every row a command that CI or a benchmark runs."""

from __future__ import annotations

import re
import shlex

import pytest
from systems_table import ROOT, ROWS, SYSTEMS, System

from synth.recipe.load import gallery_names

ELSEWHERE = {
    "web-site": "tests/extras/web/test_extra_web_again.py",
    "policy.txt": "tests/extras/gallery/test_extra_architect.py",
    "vision": "tests/extras/pictures/test_extra_pictures.py",
    "vision-charts": "tests/extras/pictures/test_extra_charts.py",
}
"""What commands name that wants an environment of its own, or a model, and the suite of CI that brings it."""


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_system_has_a_row(name: str) -> None:
    assert any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w])", row.after) for row in ROWS)


def test_every_recipe_of_the_gallery_has_a_row_and_names_its_paper() -> None:
    rows = {row.key: row for row in ROWS}
    assert set(gallery_names()) <= set(rows)
    for name in gallery_names():
        text = (ROOT / "synth" / "recipe" / "gallery" / f"{name}.yaml").read_text(encoding="utf-8")
        comment = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
        assert set(re.findall(r"\d{4}\.\d{5}", rows[name].after)) <= set(re.findall(r"\d{4}\.\d{5}", comment)), name
        assert "There:" in comment or re.search(r"[Hh]ere:", comment), name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_each_row_says_how_to_see_it_and_what_is_simpler(row: System) -> None:
    assert len(row.simpler) > 10
    assert bool(row.commands) == row.built
    for command in row.commands:
        words = shlex.split(command.removeprefix("PYTHONPATH=tests "))
        if words[0] == "python":
            assert words[1].startswith("tests/benchmarks/bench_")
            assert (ROOT / words[1]).exists()
            roles = words[words.index("--roles") + 1].split(",") if "--roles" in words else []
            text = (ROOT / words[1]).read_text(encoding="utf-8")
            assert all(f'    "{role}": (' in text for role in roles), f"{words[1]} has not all of {roles}"
        else:
            for word in set(words) & set(ELSEWHERE):
                assert f'"{word}"' in (ROOT / ELSEWHERE[word]).read_text(encoding="utf-8")
