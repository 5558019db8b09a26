"""Runs with the pictures of pages, for models that see: every picture is in its place, and readers open the folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report
from format_samples import ABOUT, ANSWER, PLAIN, QUESTION, called, lines, parquet, run_of
from stand_ins.png import data_url, png

import synth
from synth.agents.model.pictures import PICTURED
from synth.dataset.layout import write_dataset
from synth.export.contract import Inexpressible, Why
from synth.registry import find
from synth.schemas.adp import ContentItem, ImageObservation, WebObservation
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.trajectories import TrajectoryRow

NAMES = ("trl-sft-vision", "llamafactory-sft-vision")


def page(number: int, shade: int | None, *, place: int = 0, text: str = "") -> WebObservation:
    picture = None if shade is None else ImageObservation(content=data_url(shade), source="environment")
    return WebObservation(
        html=None,
        axtree=text or f"Page {number}.",
        url="http://site.test/",
        image_observation=picture,
        viewport_size=(56, 30),
        tool_call_id=f"call_{number}_{place}",
    )


SEEN: tuple[ContentItem, ...] = (
    QUESTION,
    called(0, "open", url="/"),
    page(0, 10),
    called(1, "click", ref="e1"),
    called(1, "click", ref="e2", place=1),
    page(1, 20),
    page(1, 10, place=1),
    ANSWER,
)


def converted(name: str, content: tuple[ContentItem, ...] = SEEN) -> dict[str, Any]:
    (record,) = find("formats", name).convert(run_of(content), ABOUT, 0)
    return dict(record)


def test_trl_names_as_many_pictures_as_there_are_in_messages_of_the_user() -> None:
    record = converted("trl-sft-vision")
    messages = record["messages"]
    assert [one["bytes"] for one in record["images"]] == [png(10), png(20), png(10)]
    users = [message for message in messages if message["role"] == "user"]
    assert all(isinstance(message["content"], list) for message in users), "a text would be given all pictures"
    assert [[part["type"] for part in one["content"]] for one in users] == [
        ["text"],
        ["text", "image"],
        ["text", "image", "image"],
    ]
    assert users[1]["content"][0]["text"] == PICTURED
    assert [one["role"] for one in messages] == (
        ["system", "user", "assistant", "tool", "user", "assistant", "tool", "tool", "user", "assistant"]
    )


def test_llamafactory_finds_a_mark_for_each_picture() -> None:
    record = converted("llamafactory-sft-vision")
    assert record["images"] == [png(10), png(20), png(10)]
    values = [turn["value"] for turn in record["conversations"]]
    assert [value.count("<image>") for value in values] == [0, 0, 1, 0, 2, 0]
    assert values[2] == "Page 0.\n<image>"


@pytest.mark.parametrize("name", NAMES)
def test_what_shows_no_picture_or_talks_of_one_is_told(name: str) -> None:
    with pytest.raises(Inexpressible) as told:
        converted(name, PLAIN)
    assert told.value.why is Why.NO_PICTURE
    talking = (*SEEN[:2], page(0, 10, text="Write <image> here."), *SEEN[3:])
    if name.startswith("llamafactory"):
        with pytest.raises(Inexpressible) as marked:
            converted(name, talking)
        assert marked.value.why is Why.RESERVED_TEXT
    else:
        assert "Write <image> here." in str(converted(name, talking)["messages"])


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """A dataset whose runs that succeeded were shown pictures, all but the last."""
    tables = whole_tables(4, 0)
    rows = list(from_arrow(tables["trajectories"], TrajectoryRow))
    good = [row.id for row in rows if row.success][:-1]
    changed = [row.model_copy(update={"content": SEEN, "turns": 3}) if row.id in good else row for row in rows]
    tables["trajectories"] = to_arrow(changed, TrajectoryRow)
    del tables["steps"]
    write_dataset(tmp_path / "set", tables, sample_report(tables))
    return tmp_path / "set"


@pytest.mark.parametrize("name", NAMES)
def test_datasets_opens_what_is_written(name: str, seen: Path, tmp_path: Path) -> None:
    done = synth.export(seen, name, tmp_path / "out", select=["role=teacher,policy"])
    assert done.report.records > 1
    assert done.report.inexpressible == {"no_picture": 1}
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {
        split: one.records for split, one in done.report.splits.items() if one.records
    }
    row = next(iter(loaded.values()))[0]
    if name.startswith("trl"):
        assert [one["bytes"] for one in row["images"]] == [png(10), png(20), png(10)]
        assert parquet(next((tmp_path / "out").glob("*.parquet")))
        return
    assert [(tmp_path / "out" / path).read_bytes() for path in row["images"]] == [png(10), png(20), png(10)]
    files = sorted((tmp_path / "out" / "images").iterdir())
    assert len(files) == 2, "each picture once, however many rows show it"
    info = json.loads((tmp_path / "out" / "dataset_info.json").read_text())
    entry = next(iter(info.values()))
    assert entry["columns"]["images"] == "images"
    assert set(entry["columns"].values()) <= set(lines(tmp_path / "out" / entry["file_name"])[0])
    assert {f"images/{file.name}" for file in files} <= set(done.report.files)
