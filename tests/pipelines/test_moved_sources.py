"""A source that lies in another folder is the same source: no stage is computed again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from synth.api import BuildRequest, prepare

FACTS = "".join(f"City{n}\tin country\tLand{n % 3}\nLand{n % 3}\tcapital\tCity{n % 3}\n" for n in range(12))
PAGES = {f"w{n}.md": f"# Widget {n}\n\n[Widget {(n + 1) % 4}](w{(n + 1) % 4}.md) made it.\n" for n in range(4)}
SOURCES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "docs": ("docs-search", PAGES, {"source.path": ""}),
    "records": (
        "docs-search",
        {"pages.jsonl": "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in PAGES.items())},
        {"source.kind": "records", "source.path": "pages.jsonl"},
    ),
    "triples": (
        "graph-search",
        {
            "facts.tsv": f"subject\trelation\tobject\n{FACTS}",
            "labels.tsv": "id\tlabel\nCity1\tSmalltown\n",
            "words.yaml": "relations: {}\n",
        },
        {"source.path": "facts.tsv", "source.labels": "labels.tsv", "source.words": "words.yaml"},
    ),
    "tables": (
        "graph-search",
        {"cities.csv": "city,country,founded\n" + "".join(f"City{n},Land{n % 3},{1500 + n}\n" for n in range(12))},
        {"source.kind": "tables", "source.path": ""},
    ),
}


def fingerprints(name: str, folder: Path, store: Path) -> dict[str, str]:
    dataset, _, keys = SOURCES[name]
    places = {key: value if key == "source.kind" else str(folder / value) for key, value in keys.items()}
    prepared = prepare(
        BuildRequest(dataset=dataset, tasks=2, store=store, settings={"source.kind": "triples", **places})
        if dataset == "graph-search"
        else BuildRequest(dataset=dataset, tasks=2, store=store, settings=places),
        progress="quiet",
    )
    with prepared.engine as engine:
        return {label: engine.fingerprint(label).value for label in prepared.labels}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_may_move_and_may_not_change(name: str, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    for file, text in SOURCES[name][1].items():
        (tmp_path / "here" / file).write_text(text, encoding="utf-8")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    here = fingerprints(name, tmp_path / "here", tmp_path / "store")
    assert fingerprints(name, tmp_path / "there", tmp_path / "store") == here
    for file in SOURCES[name][1]:
        with (tmp_path / "there" / file).open("a", encoding="utf-8") as changed:
            changed.write("\n")
        assert fingerprints(name, tmp_path / "there", tmp_path / "store") != here, file
        shutil.copy(tmp_path / "here" / file, tmp_path / "there" / file)
