"""A build of questions over two pages, proven again from its tables."""

from __future__ import annotations

from pathlib import Path

from shared_builds import LEAN
from test_docs_joined import ELSEWHERE
from test_docs_proposer import site

import synth
from synth.dataset.audit.audit import audit


def test_parts_of_what_another_page_speaks_of_are_proven(tmp_path: Path) -> None:
    root = tmp_path / "pages"
    pages = site() | {name: f"<html><body>{body}</body></html>" for name, body in ELSEWHERE.items()}
    for name, text in pages.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    settings = {**LEAN, "source.fractions": {"train": 1.0, "validation": 0.0, "test": 0.0}}
    where = {"out": tmp_path / "out", "store": tmp_path / "store"}
    built = synth.build("docs-search", source=root, tasks=40, settings=settings, **where)
    tasks = list(synth.load(built.path).rows("tasks"))
    assert {"via", "within"} <= {task.surface.partition("/")[0] for task in tasks if len(task.gold_documents) == 2}
    assert not audit(built.path).violations
