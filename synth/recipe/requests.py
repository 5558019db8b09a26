"""What the options of a build mean as keys of a recipe."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from synth.places import hub_dataset

__all__ = ["settings_of"]

_SQLITE = (".sqlite", ".sqlite3", ".db")
_FACTS = (".tsv", ".csv", ".nt", *_SQLITE)
_RECORDS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".parquet")
_TRIPLES = frozenset("subject relation object predicate property s p o head tail".split())
_LOOKED_AT = 200
"""Rows of a file that are looked at to tell triples without headings from a table."""


def settings_of(
    *,
    dataset: str | None,
    source: Path | str | None,
    tasks: int | None,
    tasks_file: Path | str | None,
    seed: int | None,
    prompts: Path | str | None = None,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Dotted keys and values, in the order in which they are laid over a recipe; ``settings`` come last."""
    laid: dict[str, Any] = {}
    if source is not None:
        name = str(source).lower()
        graph = (dataset or "").startswith("graph-") or name.endswith(_FACTS)
        if (repository := hub_dataset(source)) is not None:
            laid |= {"source.kind": "hub", "source.path": repository}
        elif graph:
            laid["source.kind"] = "triples" if _is_triples(Path(source).expanduser()) else "tables"
        elif (dataset or "").startswith("code-"):
            laid["source.kind"] = "code"
        else:
            laid["source.kind"] = "records" if name.endswith(_RECORDS) else "docs"
        laid.setdefault("source.path", str(source))
    if tasks_file is not None:
        laid["questions"] = {"kind": "given", "path": str(tasks_file)}
        laid["tasks"] = None
    if tasks is not None:
        laid["tasks"] = tasks
    if seed is not None:
        laid["seed"] = seed
    if prompts is not None:
        laid["prompts"] = str(prompts)
    return {**laid, **settings}


def _is_triples(path: Path) -> bool:
    """Whether a file of facts holds triples, not a table: by its headings, or because its second column repeats what
    the first row says there. A file that can't be read is told so by the source."""
    suffix = path.suffix.lower()
    if suffix in _SQLITE or path.is_dir():
        return False
    if suffix == ".json":
        return _is_wikidata(path)
    try:
        rows = _first_rows(path, suffix)
    except (OSError, ValueError, csv.Error):
        return True
    heads = {cell.strip().lower() for cell in rows[0]} if rows else set()
    if not rows or "triples" in heads or len(heads & _TRIPLES) >= 2:
        return True
    return len(rows[0]) == 3 and rows[0][1] in (row[1] for row in rows[1:] if len(row) == 3)


def _is_wikidata(path: Path) -> bool:
    """Whether a JSON file is Wikidata's dump, an entity a line between brackets; other JSON holds tables."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            first = next((line for line in lines if line.strip() not in ("", "[")), "")
        return "claims" in json.loads(first.rstrip().rstrip(","))
    except (OSError, ValueError, TypeError):
        return False


def _first_rows(path: Path, suffix: str) -> list[list[str]]:
    """The first rows of a table, or its headings alone; none where only triples are written so."""
    if suffix in (".tsv", ".csv"):
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            return list(islice(csv.reader(lines, delimiter="\t" if suffix == ".tsv" else ","), _LOOKED_AT))
    if suffix in (".jsonl", ".ndjson"):
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            first = json.loads(lines.readline(1 << 20))
        return [list(first)] if isinstance(first, dict) else []
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        return [pq.read_schema(path).names]
    return []
