"""Pages as pictures: the box of a quote holds its ink, and rows open as `datasets` and trainers see them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="the extra pictures is not installed")

from datasets import Image, List, load_dataset
from PIL import Image as Pictures
from PIL import ImageChops, ImageDraw, ImageFilter

import synth
from synth.export.contract import Inexpressible, Why
from synth.export.typesetting import HEIGHT, MARGIN, WIDTH, font, pictures, regions, set_in_type
from synth.schemas.documents import Document, Section

pytestmark = pytest.mark.extras


def page(text: str, **more: Any) -> Document:
    return Document(id="p", title="Rivers", text=text, kind="page", source="s", **more)


def holds(picture: bytes, box: tuple[int, int, int, int], words: str, size: int) -> bool:
    """Whether ``words``, drawn anew at the corner of ``box``, cover the ink in the box and are covered by it."""
    shown = ImageChops.invert(Pictures.open(io.BytesIO(picture)).crop(box))
    drawn = Pictures.new("L", shown.size, 0)
    ImageDraw.Draw(drawn).text((0, 0), words, fill=255, font=font(size))
    wide = ImageFilter.MaxFilter(3)  # letters stand between pixels
    for ink, cover in ((shown, drawn.filter(wide)), (drawn, shown.filter(wide))):
        left = ImageChops.subtract(ink, cover).histogram()
        dark = sum(left[128:])
        if sum(ink.histogram()[128:]) < 20 or dark > 0.02 * sum(ink.histogram()[128:]):
            return False
    return True


def test_the_box_of_a_quote_holds_its_ink_and_nothing_else() -> None:
    text = "## Course\n\nThe Neir — “the quiet one” — rises at Hölm, at 812 m. " + "It runs on past mills. " * 12
    document = page(text, sections=(Section(heading="Course", level=2, start=11, end=len(text)),))
    lines = set_in_type(document)
    start = text.index("rises")
    for quote in ("rises at Hölm, at 812 m.", "Course", text[start : start + 200]):
        at = text.index(quote)
        found = list(regions(lines, at, at + len(quote)))
        assert " ".join(one.words for one in found) == " ".join(quote.split())
        size = next(line.size for line in lines if line.top == found[0].box[1])
        (picture,) = pictures(document, lines)
        for one in found:
            assert holds(picture.png(), one.box, one.words, size)
            moved = (one.box[0] + 9, one.box[1], one.box[2] + 9, one.box[3])
            assert not holds(picture.png(), moved, one.words, size), "the check would see a box that is off"


def test_a_long_page_is_several_pictures_and_no_line_leaves_its_margins() -> None:
    text = "\n".join(f"{number}. " + "a" * (number * 7 % 150) for number in range(120))
    document = page(text)
    lines = set_in_type(document)
    made = pictures(document, lines)
    assert len(made) > 2
    assert [one.number for one in made] == list(range(len(made)))
    at = text.index("119.")
    assert [one.number for one in regions(lines, at, at + 4)] == [made[-1].number]
    for one in made:
        size = Pictures.open(io.BytesIO(one.png())).size
        assert size[0] == WIDTH
        assert size[1] <= HEIGHT
    assert all(MARGIN + font(line.size).getlength(line.words.rstrip()) <= WIDTH - MARGIN for line in lines)
    assert "".join(line.words for line in lines if line.end) == text.replace("\n", ""), "nothing is lost"


def test_a_page_of_one_word_is_broken_where_each_line_is_full() -> None:
    text = "abcdefghij" * 20_000
    *full, last = (line for line in set_in_type(page(text)) if line.end)
    assert "".join(line.words for line in (*full, last)) == text
    for line in full:
        width = font(line.size).getlength
        assert MARGIN + width(line.words) <= WIDTH - MARGIN < MARGIN + width(text[line.start : line.end + 1])


def test_letters_that_the_font_lacks_are_said() -> None:
    with pytest.raises(Inexpressible) as error:
        set_in_type(page("The river 尼尔 is long."))
    assert error.value.why is Why.NO_GLYPHS
    assert set(error.value.detail.split()) == {"尼", "尔"}


def test_rows_open_as_pictures_and_every_hop_is_in_one(tmp_path: Path) -> None:
    built = synth.build("world-search", tasks=6, settings={"source.entities": 600}, out=tmp_path / "d", store=tmp_path)
    done, again = (synth.export(built.path, "vision", tmp_path / name) for name in ("v", "w"))
    for path in done.path.rglob("*.parquet"):
        assert path.read_bytes() == (again.path / path.relative_to(done.path)).read_bytes()
    tasks = {row.id: row for row in synth.load(built.path).rows("tasks")}
    count = 0
    for split in load_dataset(str(done.path)).values():
        for row in split.cast_column("images", List(Image())):
            task = tasks[row["task_id"]]
            assert {one["hop"] for one in row["evidence"]} == set(range(len(task.walk.hops)))
            assert row["completion"][0]["content"].endswith(f"Answer: {task.answer}")
            for one in row["evidence"]:
                assert row["document_ids"][one["image"]] == task.walk.hops[one["hop"]].evidence.document_id
                left, top, right, bottom = one["box"]
                assert ImageChops.invert(row["images"][one["image"]].crop((left, top, right, bottom))).getbbox()
            assert len(row["images"]) == len(row["document_ids"]) <= 8
            count += 1
    assert count == done.report.exported == len(tasks)
