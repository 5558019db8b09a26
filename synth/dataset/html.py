"""What a notebook shows of a dataset or of a finished build: a title, lines, and rows by table and split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["dataset_html"]


def dataset_html(title: str, tables: Mapping[str, Mapping[str, int]], lines: Sequence[str] = ()) -> str:
    """``tables``: config -> split -> rows; tables without rows are left out."""
    filled = {config: splits for config, splits in tables.items() if any(splits.values())}
    names = list(dict.fromkeys(split for splits in filled.values() for split in splits))
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *names))
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(config)}</th>"
        + "".join(f"<td>{splits[name]:,}</td>" if name in splits else "<td></td>" for name in names)
        + "</tr>"
        for config, splits in filled.items()
    )
    said = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f"<div><b>{escape(title)}</b></div>{said}<table><tr>{head}</tr>{rows}</table>"
