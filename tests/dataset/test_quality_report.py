"""The quality report: what is in a row reaches a real browser as text, from one page and from files beside it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report

from synth.dataset.card.figures import Bar, bars, histogram
from synth.dataset.layout import write_dataset
from synth.dataset.report import write_report
from synth.dataset.show.pages import literal
from synth.errors import InputError, StoreError
from synth.schemas.arrow import to_arrow
from synth.schemas.duplicates import DuplicateRow

EVIL = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset whose questions, titles and answers hold markup."""
    folder = tmp_path_factory.mktemp("marked") / "dataset"
    tables = whole_tables(5)
    tasks = tables["tasks"]
    place = tasks.schema.get_field_index("question")
    questions = [f"{EVIL} {text}" for text in tasks["question"].to_pylist()]
    tables["tasks"] = tasks.set_column(place, tasks.schema.field(place), pa.array(questions, pa.string()))
    runs = tables["trajectories"]["id"].to_pylist()
    alike = [
        twin("trajectories", "structural", 1.0, runs[0], runs[1]),
        twin("documents", "near", 0.8125, "page-1", EVIL),
    ]
    tables["duplicates"] = to_arrow(alike, DuplicateRow)
    write_dataset(folder, tables, sample_report(tables, title=f"World {EVIL}"))
    return folder


def twin(level: Any, kind: Any, score: float, one: str, other: str) -> DuplicateRow:
    name = f"duplicate-{level}"
    return DuplicateRow(id=name, level=level, kind=kind, score=score, one=one, other=other, representative=one)


def shown(page: Path, fragment: str = "") -> str:
    """The document as Chromium has it after its scripts ran."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium here")
    profile = page.parent / "profile"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    command += ["--virtual-time-budget=20000", "--dump-dom", page.as_uri() + fragment]
    return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


@pytest.mark.parametrize("inline", [10_000_000, 0], ids=["one page", "data beside it"])
def test_a_browser_shows_rows_as_text(inline: int, marked: Path, tmp_path: Path) -> None:
    written = write_report(marked, tmp_path / "out/report.html", inline=inline)
    assert (written.data is None) is bool(inline)
    dom = shown(written.page, "#words=teacher-0003&open=1")
    assert 'data-ready="yes"' in dom
    assert "<title>World &lt;/script&gt;" in dom
    # No element that a row brought: scripts are ours, and there is no image at all.
    assert "<img" not in re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)
    body = unescape(re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL))
    assert f"{EVIL} Who founded the place where Place 9 lies?" in body
    listed = re.search(r'<table [^>]*id="list">.*?</table>', dom, re.DOTALL)
    assert listed
    assert listed.group().count('<tr tabindex="0">') == 1
    run = re.search(r'<article id="whole">.*?</article>', dom, re.DOTALL)
    assert run
    for text in ("trajectory-teacher-0003", "search(query='Ada')", "Place 9 lies in Place 10.", "I look it up."):
        assert text in unescape(run.group())
    assert "+1" in run.group()
    section = re.search(r'<section id="duplicates">.*?</section>', dom, re.DOTALL)
    assert section
    rows = re.findall(r"<tr>(<td>.*?)</tr>", section.group())
    assert len(rows) == 2
    assert [re.findall(r"<td>([^<]*)", row)[:3] for row in rows] == [
        ["trajectories", "structural", "1.0000"],
        ["documents", "near", "0.8125"],
    ]
    assert f"policy: {EVIL} Who founded" in unescape(rows[0]), "the question of either run"
    assert EVIL in unescape(rows[1]), "an id"
    for section in ("critical", "distractors"):
        if f'data-shown="{section}"' in dom:
            assert re.search(rf'data-shown="{section}"><div class="card">', dom)
    assert 'data-shown="critical"' in dom


def test_the_page_allows_its_own_script_and_nothing_from_anywhere(marked: Path, tmp_path: Path) -> None:
    page = write_report(marked, tmp_path / "report.html").page.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    rules = unescape(policy.group(1)).split("; ")
    assert rules[0] == "default-src 'none'"
    assert re.fullmatch(r"script-src 'sha256-[\w+/=]{44}'", rules[1])
    assert re.fullmatch(r"style-src 'sha256-[\w+/=]{44}'", rules[2])
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert EVIL not in page


def test_the_same_dataset_gives_the_same_bytes_and_replaces_an_older_report(marked: Path, tmp_path: Path) -> None:
    first = write_report(marked, tmp_path / "report.html", inline=0)
    assert first.data is not None
    before = {path.name: path.read_bytes() for path in first.data.iterdir()}
    page = first.page.read_bytes()
    write_report(marked, tmp_path / "report.html", inline=0)
    assert {path.name: path.read_bytes() for path in first.data.iterdir()} == before
    assert first.page.read_bytes() == page
    write_report(marked, tmp_path / "report.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html"]


def test_a_report_replaces_nobody_elses_folder(marked: Path, tmp_path: Path) -> None:
    (tmp_path / "report.data").mkdir()
    (tmp_path / "report.data/mine.csv").write_text("1")
    with pytest.raises(StoreError, match=r"it holds mine\.csv"):
        write_report(marked, tmp_path / "report.html")
    assert (tmp_path / "report.data/mine.csv").exists()


def test_some_trajectories_are_listed_only(marked: Path, tmp_path: Path) -> None:
    written = write_report(marked, tmp_path / "report.html", whole=3, inline=0)
    assert (written.trajectories, written.whole) == (10, 3)
    assert written.data is not None
    text = (written.data / "rows-00000.js").read_text()
    rows = json.loads(text.removeprefix('synthChunk("rows-00000",').removesuffix(");\n"))
    assert [row[-1] for row in rows].count(-1) == 7
    assert len({row[0] for row in rows}) == 10


@pytest.mark.parametrize(("out", "whole"), [("report.pdf", 5), ("report.html", -1)])
def test_what_can_not_be_is_one_line(out: str, whole: int, marked: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_report(marked, tmp_path / out, whole=whole)


def test_a_dataset_without_steps_and_pairs_has_a_report(plain_copied: Callable[[], Path], tmp_path: Path) -> None:
    page = write_report(plain_copied(), tmp_path / "report.html").page.read_text()
    assert 'id="critical"' not in page
    assert "Success by role and hops" in page


def test_a_literal_ends_no_script_and_begins_no_comment() -> None:
    value = {"a": "</script><!--&\u2028\u2029", "b": ["ü", None]}
    text = literal(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_plots_say_their_numbers_and_escape_their_labels() -> None:
    drawn = bars("A & B", [Bar("<b>", 0.5, "50 %", "x"), Bar("long " * 20, 2.0, "much", "y")], most=1.0)
    assert "<title>A &amp; B</title>" in drawn
    assert "&lt;b&gt;" in drawn
    assert "50 %" in drawn
    assert "<b>" not in drawn
    widths = [float(width) for width in re.findall(r"width='([\d.]+)' height='15' fill='#(?!eee)", drawn)]
    assert widths == [130.0, 260.0]  # half of the span, and no more than the span
    upright = histogram("Turns", [(0, 5, 10), (5, 10, 0), (10, 15, 40)], "turns")
    assert ">40<" in upright
    assert ">10<" in upright
    assert ">0<" in upright  # the left edge; an empty bin has no number of its own
    assert upright.count(">0<") == 1
