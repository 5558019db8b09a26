"""Plots of a dataset, as SVG: those of its report, and what its rows and its model calls add to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from synth.dataset.card.figures import Bar, bars, figures, histogram
from synth.errors import InputError
from synth.schemas.reports import ModelUse
from synth.store.files import store_errors, write_file

if TYPE_CHECKING:
    import pyarrow as pa

    from synth.schemas.reports import BuildReport

__all__ = ["Plots", "dataset_plots", "length_plots"]

_LENGTHS = {"turns": "turns", "tool_calls": "tool calls"}
"""Column of ``trajectories`` -> what it counts."""


class Measured(Protocol):
    """A dataset, as far as plots need it."""

    @property
    def report(self) -> BuildReport: ...

    def batches(self, table: str, *, columns: Sequence[str]) -> Iterator[pa.RecordBatch]: ...


class Plots(Mapping[str, str]):
    """Name -> SVG. A notebook shows all of them, one below the other."""

    def __init__(self, drawn: Mapping[str, str]) -> None:
        self._drawn = dict(drawn)

    def __getitem__(self, name: str) -> str:
        return self._drawn[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawn)

    def __len__(self) -> int:
        return len(self._drawn)

    def __repr__(self) -> str:
        return f"Plots({', '.join(self)})"

    def _repr_html_(self) -> str:
        return "<div>" + "".join(f"<div>{svg.strip()}</div>" for svg in self._drawn.values()) + "</div>"

    def write(self, folder: Path | str) -> tuple[Path, ...]:
        """Each as ``<folder>/<name>.svg``; the paths.

        Raises:
            StoreError: the folder can't be written.
        """
        place = Path(folder)
        with store_errors(place):
            place.mkdir(parents=True, exist_ok=True)
            for name, svg in self._drawn.items():
                write_file(place / f"{name}.svg", svg.encode())
        return tuple(place / f"{name}.svg" for name in self._drawn)


def dataset_plots(dataset: Measured, names: Sequence[str] = ()) -> Plots:
    """Those of ``names``, in that order; without names all that have numbers.

    Raises:
        InputError: there is no plot of that name, or the dataset has no numbers for it.
        DatasetError: the report or a file can't be read.
    """
    drawn = {**figures(dataset.report), **length_plots(dataset), **_cost(dataset.report.model_uses())}
    for name in names:
        if name not in drawn:
            raise InputError(f"this dataset has no plot {name!r}", mend=f"choose from {', '.join(drawn)}")
    return Plots({name: drawn[name] for name in names} if names else drawn)


def length_plots(dataset: Measured) -> dict[str, str]:
    """How long runs are, in turns and in calls of tools."""
    values = {column: _column(dataset, column) for column in _LENGTHS}
    return {
        column: histogram(f"Trajectories by {_LENGTHS[column]}", _bins(found), _LENGTHS[column])
        for column, found in values.items()
        if len(found)
    }


def _cost(models: Sequence[ModelUse]) -> dict[str, str]:
    """Tokens by role and model; empty where no model was called."""
    rows = []
    for of in models:
        tokens = of.prompt_tokens + of.completion_tokens
        spent = f", {of.cost:,.2f}" if of.cost else ""
        rows.append(Bar(f"{of.role}, {of.model}", tokens, f"{tokens:,} tokens{spent}", of.role))
    return {"cost": bars("Tokens and cost by role and model", rows)} if rows else {}


def _column(dataset: Measured, name: str) -> Any:
    parts = [
        batch.column(0).to_numpy(zero_copy_only=False) for batch in dataset.batches("trajectories", columns=[name])
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _bins(values: Any, most: int = 16) -> list[tuple[float, float, int]]:
    low, high = int(values.min()), int(values.max()) + 1
    width = max(1, -(-(high - low) // most))
    edges = np.arange(low, high + width, width)
    counts, edges = np.histogram(values, bins=edges)
    return [(float(edges[n]), float(edges[n + 1]), int(count)) for n, count in enumerate(counts)]
