"""Folders with copied pages: one of each stays, links lead to it, and another threshold computes nothing anew."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from synth.engine import Engine, LocalExecutor, ProcessesExecutor
from synth.identity import derive_generator
from synth.pipelines.planner import plan
from synth.recipe.load import load_recipe
from synth.schemas.documents import Document
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.rejections import Reason
from synth.store import Store

WORDS = [f"wort{number}" for number in range(300)]


def text(number: int, words: int = 60) -> str:
    draw = derive_generator(number, "copied pages").integers(0, 300, size=words)
    return " ".join(WORDS[at] for at in draw)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six pages; `b` is `a` in other case, `c` is `a` with a word more, and `d` links to both copies."""
    folder = tmp_path_factory.mktemp("copied") / "pages"
    folder.mkdir()
    pages = {
        "a": f"# Mill\n\n{text(1)}\n",
        "b": f"# MILL\n\n{text(1).upper()}!\n",
        "c": f"# Mill\n\n{text(1)} afterwards\n",
        "d": f"# Tower\n\n{text(2)} [one mill](b.md) and [the other](c.md#mill), never [itself](d.md)\n",
        "e": f"# Bridge\n\n{text(3)}\n",
        "f": f"# Ford\n\n{text(4)} [the mill](a.md)\n",
    }
    for name, page in pages.items():
        (folder / f"{name}.md").write_text(page)
    return folder


@contextmanager
def engine(folder: Path, store: Path, workers: int = 1, **rules: Any) -> Iterator[Engine]:
    settings = {"source.path": str(folder), **{f"dedup.documents.{name}": value for name, value in rules.items()}}
    planned = plan(load_recipe("docs-search", settings=settings))
    executor = LocalExecutor() if workers == 1 else ProcessesExecutor(workers)
    with Engine(planned, Store(store), executor) as made:
        yield made


def read(made: Engine) -> tuple[list[Document], list[DuplicateRow], dict[str, Any]]:
    rows = list(made.table("documents", "documents").rows())
    rejected = {row.row_id: row for row in made.view("documents").rejected.rows()}
    return rows, list(made.table("documents", "duplicates").rows()), rejected


def test_copies_go_and_links_lead_to_what_stays(folder: Path, tmp_path: Path) -> None:
    with engine(folder, tmp_path / "store") as made:
        report = made.run_stage("documents")
        rows, pairs, rejected = read(made)
    names = {Path(row.id).stem: row for row in rows}
    assert set(names) == {"c", "d", "e", "f"}, "the longest text stays"
    links = {name: [link.target for link in names[name].links] for name in ("d", "f")}
    assert set(links["f"]) == {names["c"].id}
    assert [target for target in links["d"] if target != names["d"].id] == [names["c"].id] * 2
    assert {Path(name).stem: row.reason for name, row in rejected.items()} == {
        "a": Reason.DUPLICATE_CONTENT,
        "b": Reason.DUPLICATE_CONTENT,
    }
    detail = {Path(name).stem: row.detail for name, row in rejected.items()}["a"]
    assert detail.startswith("like b")
    assert detail.endswith(f"same words 1.0000; {names['c'].id} stands for both")
    assert {pair.kind for pair in pairs} == {"exact", "near"}
    assert {pair.representative for pair in pairs} == {names["c"].id}
    assert report.rows_in == 6
    assert report.rejected == {"duplicate_content": 2}


def test_links_to_pages_that_were_rejected_are_gone(folder: Path, tmp_path: Path) -> None:
    apart = shutil.copytree(folder, tmp_path / "apart", ignore=shutil.ignore_patterns("b.md", "c.md"))
    (apart / "a.md").write_text("")
    with engine(apart, tmp_path / "store") as made:
        made.run_stage("documents")
        rows, _, _ = read(made)
    assert {Path(row.id).stem: [Path(link.target).stem for link in row.links] for row in rows} == {
        "d": [],
        "e": [],
        "f": [],
    }


def test_another_threshold_reads_and_encodes_nothing_again(folder: Path, tmp_path: Path) -> None:
    found = []
    for near, semantic in ((0.8, 0.95), (0.999, 0.9999)):
        with engine(folder, tmp_path / "store", near=near, semantic=semantic) as made:
            made.run_stage("documents")
            sketched = made.run_stage("document-sketches")
            found.append((sketched.reused_shards, {Path(row.id).stem for row in read(made)[0]}))
    assert found == [(0, {"c", "d", "e", "f"}), (1, {"b", "c", "d", "e", "f"})]


def test_folders_without_copies_or_of_copies_alone(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    for number in range(7):
        (alone / f"{number}.md").write_text("# Mühle am Fluß 河川\n\nSie steht am Ufer.\n" + "\n" * number)
    with engine(alone, tmp_path / "store") as made:
        made.run_stage("documents")
        rows, pairs, rejected = read(made)
    assert [Path(row.id).stem for row in rows] == ["0"]
    assert (len(pairs), len(rejected)) == (6, 6)
    apart = shutil.copytree(folder, tmp_path / "apart", ignore=shutil.ignore_patterns("b.md", "c.md"))
    with engine(apart, tmp_path / "store") as made:
        made.run_stage("documents")
        rows, pairs, rejected = read(made)
        before = list(made.table("read", "documents").rows())
    assert (rows, pairs, rejected) == (before, [], {})


def test_workers_change_nothing(folder: Path, tmp_path: Path) -> None:
    found = []
    for workers in (1, 2):
        with engine(folder, tmp_path / f"store-{workers}", workers, semantic=0.9) as made:
            made.run_stage("documents")
            found.append(read(made))
    assert found[0] == found[1]


def test_null_leaves_the_copies(folder: Path, tmp_path: Path) -> None:
    settings = {"source.path": str(folder), "dedup.documents": None}
    with Engine(
        plan(load_recipe("docs-search", settings=settings)), Store(tmp_path / "store"), LocalExecutor()
    ) as made:
        made.run_stage("documents")
        assert len(made.table("documents", "documents")) == 6
