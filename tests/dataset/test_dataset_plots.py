"""What `dataset.plot()` shows of a dataset: its numbers, as SVG that a notebook takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report
from lxml import etree

import synth
from synth.dataset.card.figures import TITLES
from synth.dataset.layout import write_dataset
from synth.dataset.plots import Plots
from synth.dataset.reader import Dataset
from synth.errors import InputError
from synth.schemas.reports import ModelUse

USE = ModelUse(role="teacher", model="toy", calls=30, prompt_tokens=1_200, completion_tokens=34, cost=1.5)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("plots") / "dataset"
    tables = whole_tables(5)
    report = sample_report(tables)
    asked = report.stages[0].model_copy(update={"models": (USE,)})
    write_dataset(folder, tables, report.model_copy(update={"stages": (asked, *report.stages[1:])}))
    return synth.load(folder)


def texts(svg: str) -> list[str]:
    return [str(text) for text in etree.fromstring(svg.encode()).itertext()]


def test_all_that_have_numbers_are_drawn(dataset: Dataset) -> None:
    plots = dataset.plot()
    assert {"yields", "success", "turns", "tool_calls", "cost"} <= set(plots)
    assert [name for name in plots if name in TITLES] == [name for name in TITLES if name in plots]
    for svg in plots.values():
        assert etree.fromstring(svg.encode()).tag.endswith("svg")
    runs = dataset.count("trajectories")
    for name in ("turns", "tool_calls"):
        counted = re.findall(r"text-anchor='middle' fill='#222222'>([\d,]+)<", plots[name])
        assert sum(int(count.replace(",", "")) for count in counted) == runs
    assert {"teacher, toy", "1,234 tokens, 1.50"} <= set(texts(plots["cost"]))


def test_those_that_are_named_come_in_that_order(dataset: Dataset) -> None:
    plots = dataset.plot("turns", "yields")
    assert repr(plots) == "Plots(turns, yields)"
    page = plots._repr_html_()
    assert page.count("<svg") == len(plots) == 2
    assert page.index("Trajectories by turns") < page.index(TITLES["yields"])
    assert "\n\n" not in page  # a blank line would end the HTML of a page in Markdown
    with pytest.raises(InputError, match=r"no plot 'costs'\. Choose from yields, "):
        dataset.plot("costs")


def test_they_become_files(dataset: Dataset, tmp_path: Path) -> None:
    plots = Plots({"yields": dataset.plot("yields")["yields"]})
    (path,) = plots.write(tmp_path / "plots")
    assert path == tmp_path / "plots" / "yields.svg"
    assert path.read_text("utf-8") == plots["yields"]
