"""Pages and charts as pictures, with a question and the boxes where its evidence stands: rows for models that read by
sight.

VRAG-RL (arXiv 2505.22019) and DocScope have an agent find its evidence in pictures of pages and say where it stands.
Here the pages of the dataset are set in type and its figures are drawn, so that the box of everything is known and not
guessed. What is in no picture of the row answers nothing: the text of the pages is not among the columns.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from synth.dataset.usage import usage
from synth.export.charts import Chart, chart_of
from synth.export.contract import About, Format, Inexpressible, Record, TaskPages, Why
from synth.export.typesetting import Line, Picture, Region, pictures, regions, set_in_type
from synth.identity import derive_generator
from synth.schemas.tasks import Hop

__all__ = ["CHARTS", "VISION"]

MOST = 8
"""Pictures of one row."""


def _vision(item: TaskPages, about: About, cut: int) -> list[Record]:
    return [_row(item, about, None)]


def _charts(item: TaskPages, about: About, cut: int) -> list[Record]:
    chart = chart_of(item)
    if chart is None:
        raise Inexpressible(Why.NO_FIGURES)
    return [_row(item, about, chart)]


def _row(item: TaskPages, about: About, chart: Chart | None) -> Record:
    """The row of a task. Evidence in ``chart`` is not looked for on pages."""
    task, hops = item.row, item.row.walk.hops
    if not item.gold or not hops:
        raise Inexpressible(Why.NO_EVIDENCE)
    charted = {} if chart is None else chart.regions()
    typed = {page.id: set_in_type(page) for page in item.gold}
    drawn: dict[tuple[str | None, int], Picture | Chart] = {
        (page.id, one.number): one for page in item.gold for one in pictures(page, typed[page.id])
    }
    stands: list[tuple[str | None, list[Region]]] = [
        (None, [charted[number]]) if number in charted else _stands(hop, typed) for number, hop in enumerate(hops)
    ]
    if chart is not None:
        drawn[None, 0] = chart
    wanted = list(dict.fromkeys((name, region.number) for name, found in stands for region in found))
    if len(wanted) > MOST:
        raise Inexpressible(Why.TOO_LONG, f"its evidence stands in {len(wanted)} pictures")
    for _, page in item.astray[: MOST - len(wanted)]:
        drawn |= {(page.id, one.number): one for one in pictures(page, set_in_type(page))[:1]}
        wanted.append((page.id, 0))
    order = derive_generator(0, "vision", task.id).permutation(len(wanted))
    shown = [wanted[int(at)] for at in order]
    found, said = list[Record](), dict[str, None]()
    for number, (name, several) in enumerate(stands):
        for one in several:
            image, box = shown.index((name, one.number)), list(one.box)
            found.append({"image": image, "box": box, "quote": one.words, "hop": number})
            said[f"Picture {image + 1}, {box}: {one.words}"] = None
    asked = f"{task.question}\n\n{_ASKED if chart is None else _ASKED_OF_CHARTS}"
    return {
        "prompt": [{"role": "user", "content": asked}],
        "completion": [{"role": "assistant", "content": "\n".join([*said, "", f"Answer: {task.answer}"])}],
        "images": [{"bytes": drawn[one].png(), "path": None} for one in shown],
        "question": task.question,
        "answer": task.answer,
        "evidence": found,
        "document_ids": [name for name, _ in shown],
        "pages": [number for _, number in shown],
        "task_id": task.id,
        "source": about.dataset,
        "licence": next((page.licence for page in item.gold if page.licence), None),
    }


def _stands(hop: Hop, typed: dict[str, tuple[Line, ...]]) -> tuple[str, list[Region]]:
    quote = hop.evidence
    found = list(regions(typed[quote.document_id], quote.start, quote.end))
    if not found:
        raise Inexpressible(Why.NO_EVIDENCE, f"{quote.document_id}: the quote stands in no line")
    return quote.document_id, found


_ASKED = (
    "The pictures show pages. Name the lines that you go by, each with its picture and its box [left, top, right, "
    'bottom] in pixels, then give the answer behind "Answer:".'
)
_ASKED_OF_CHARTS = (
    "One of the pictures is a chart; the others, if there are any, show pages. Name the lines and bars that you go by, "
    'each with its picture and its box [left, top, right, bottom] in pixels, then give the answer behind "Answer:".'
)
_TEXT = pa.string()
_MESSAGES = pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))
_COLUMNS: dict[str, Any] = {
    "prompt": _MESSAGES,
    "completion": _MESSAGES,
    "images": pa.list_(pa.struct([("bytes", pa.binary()), ("path", _TEXT)])),
    "question": _TEXT,
    "answer": _TEXT,
    "evidence": pa.list_(
        pa.struct([("image", pa.int64()), ("box", pa.list_(pa.int64())), ("quote", _TEXT), ("hop", pa.int64())])
    ),
    "document_ids": pa.list_(_TEXT),
    "pages": pa.list_(pa.int64()),
    **dict.fromkeys(("task_id", "source", "licence"), _TEXT),
}
VISION = Format(
    name="vision",
    summary="Pages as pictures, a question, and the boxes where its evidence stands: for models that read by sight.",
    source="tasks",
    needs=("documents",),
    layout="parquet",
    convert=_vision,
    columns=_COLUMNS,
    usage=usage("vision"),
)
CHARTS = Format(
    name="vision-charts",
    summary="Like vision, with the figures that a question compares or adds up in a bar chart with distractors.",
    source="tasks",
    needs=("documents", "entities", "facts"),
    layout="parquet",
    convert=_charts,
    columns=_COLUMNS,
    usage=usage("vision-charts"),
)
