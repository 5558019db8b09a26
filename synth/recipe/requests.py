"""What the options of a build mean as keys of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["settings_of"]

_TRIPLES = (".tsv", ".csv", ".nt")
_RECORDS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".parquet")


def settings_of(
    *,
    dataset: str | None,
    source: Path | str | None,
    tasks: int | None,
    tasks_file: Path | str | None,
    seed: int | None,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Dotted keys and values, in the order in which they are laid over a recipe; ``settings`` come last."""
    laid: dict[str, Any] = {}
    if source is not None:
        name = str(source).lower()
        graph = (dataset or "").startswith("graph-") or name.endswith(_TRIPLES)
        laid["source.kind"] = "triples" if graph else "records" if name.endswith(_RECORDS) else "docs"
        laid["source.path"] = str(source)
    if tasks_file is not None:
        laid["questions"] = {"kind": "given", "path": str(tasks_file)}
        laid["tasks"] = None
    if tasks is not None:
        laid["tasks"] = tasks
    if seed is not None:
        laid["seed"] = seed
    return {**laid, **settings}
