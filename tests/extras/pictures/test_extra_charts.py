"""Figures in charts: a bar for each thing that is asked for, others beside them, boxes that hold name, bar and figure,
and rows whose answer can be worked out from the bars that count."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="the extra pictures is not installed")

from datasets import Image, List, load_dataset
from PIL import Image as Pictures
from PIL import ImageChops

import synth
from synth.exploration.pipeline import blank_task
from synth.export.charts import Chart, chart_of
from synth.export.contract import TaskPages
from synth.export.typesetting import MARGIN, WIDTH
from synth.schemas.documents import Evidence, ValueKind
from synth.schemas.facts import FactRow
from synth.schemas.tasks import Hop, Node, Task, Walk

pytestmark = pytest.mark.extras


def hop(name: str, value: str, relation: str = "length", kind: ValueKind = "quantity") -> Hop:
    return Hop(
        source=Node(id=name.lower(), name=name, kind="river", document_id=name.lower()),
        target=Node(id=value, name=value, kind=kind),
        relation=relation,
        forward=True,
        evidence=Evidence(document_id=name.lower(), start=0, end=4, quote="text"),
        cue="c",
    )


def task(*hops: Hop) -> Task:
    return blank_task("t", "search", {}).model_copy(update={"walk": Walk(shape="parallel", hops=hops)})


def fact(name: str, value: str, relation: str = "length") -> tuple[str, FactRow]:
    row = FactRow(
        subject=f"{name.lower()}/1",
        relation=relation,
        value=value,
        value_kind="quantity",
        document_id="d",
        start=0,
        end=1,
    )
    return name, row


NEIR, ODRE = hop("Neir", "812 km"), hop("Odre", "40 km")


def charted(*hops: Hop, alike: tuple[tuple[str, FactRow], ...] = ()) -> Chart | None:
    return chart_of(TaskPages(task(*hops), (), (), alike))


def test_others_are_shown_where_their_figures_can_be_compared() -> None:
    chart = charted(
        NEIR,
        ODRE,
        alike=(
            fact("Wyle", "93 km"),
            fact("Ulk", "9300 m"),
            fact("neir", "5 km"),  # two of one name
            fact("Sul", "6 km"),
            fact("Sul", "7 km"),
            fact("Quell", "about 9 km"),
            fact("河", "9 km"),
            fact("Enn", "3 km", "depth"),
        ),
    )
    assert chart is not None
    assert {bar.words: bar.hops for bar in chart.bars} == {"Neir: 812 km": (0,), "Odre: 40 km": (1,), "Wyle: 93 km": ()}
    assert chart.title == "Length"


@pytest.mark.parametrize(
    "hops",
    [
        (NEIR,),
        (NEIR, hop("Odre", "40 mi")),
        (NEIR, hop("Odre", "40", "depth")),
        (NEIR, hop("Odre", "-4 km")),
        (NEIR, hop("Neir", "813 km"), ODRE),
        (hop("Neir", "1801-02-03", kind="date"), hop("Odre", "1801-02-04", kind="date")),
    ],
)
def test_where_figures_do_not_go_together_there_is_no_chart(hops: tuple[Hop, ...]) -> None:
    assert charted(*hops) is None


@pytest.mark.parametrize(
    ("values", "kind"),
    [(("812 km", "40 km", "0 km"), "quantity"), (("1801", "1950", "1951"), "year"), (("0", "0", "0"), "number")],
)
def test_a_box_holds_name_bar_and_figure_and_bars_are_as_long_as_they_say(
    values: tuple[str, ...], kind: ValueKind
) -> None:
    chart = charted(*(hop(f"River number {number}", value, kind=kind) for number, value in enumerate(values)))
    assert chart is not None
    picture, found = Pictures.open(io.BytesIO(chart.png())), chart.regions()
    ink = ImageChops.invert(picture)
    assert picture.size[0] == WIDTH
    ends = {}
    for number, region in found.items():
        left, top, right, bottom = region.box
        whole = ink.crop((0, top, WIDTH, bottom)).getbbox()
        assert whole is not None
        assert left <= whole[0] + 2
        assert whole[2] <= right <= whole[2] + 4, "the box ends with the ink"
        grey = [x for x in range(WIDTH) if picture.getpixel((x, bottom - 14)) == 150]
        ends[number] = grey[-1] - MARGIN
        assert region.words == f"River number {number}: {values[number]}"
    assert not ink.crop((0, max(one.box[3] for one in found.values()), *picture.size)).getbbox()
    if kind == "quantity":
        assert ends[1] / ends[0] == pytest.approx(40 / 812, abs=0.01)
    if kind == "year":
        assert ends[0] < ends[1] < ends[2], "a year's place on the line, not its size"


def test_answers_follow_from_the_bars_that_count(tmp_path: Path) -> None:
    settings = {"source.entities": 600, "difficulty": None, "rl": False, "questions.shapes": {"total": 1}}
    built = synth.build("sciresearcher", tasks=6, settings=settings, out=tmp_path / "d", store=tmp_path)
    done, again = (synth.export(built.path, "vision-charts", tmp_path / name) for name in ("v", "w"))
    for path in done.path.rglob("*.parquet"):
        assert path.read_bytes() == (again.path / path.relative_to(done.path)).read_bytes()
    tasks = {row.id: row for row in synth.load(built.path).rows("tasks")}
    others = count = 0
    for split in load_dataset(str(done.path)).values():
        for row in split.cast_column("images", List(Image())):
            assert {one["hop"] for one in row["evidence"]} == set(range(len(tasks[row["task_id"]].walk.hops)))
            chart = row["document_ids"].index(None)
            bars = [one for one in row["evidence"] if one["image"] == chart]
            figures = [int(one["quote"].rpartition(": ")[2].split()[0].replace(",", "")) for one in bars]
            assert sum(figures) == int(re.sub(r"\D", "", row["answer"]))
            rows = (row["images"][chart].size[1] - 2 * MARGIN) // 60
            others += rows > len(bars)
            count += 1
    assert count == done.report.exported == len(tasks)
    assert others
