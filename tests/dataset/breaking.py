"""Ways to break a finished dataset, past every check that would refuse to write such a thing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from mutating import Held

from synth.dataset.configs import config_named
from synth.dataset.files import Problem
from synth.dataset.rules.validate import validate
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.row import Row

TASKS = "tasks/train-00000-of-00001.parquet"
TRAJECTORIES = "trajectories/train-00000-of-00001.parquet"
STEPS = "steps/train-00000-of-00001.parquet"
CONTINUATIONS = "continuations/train-00000-of-00001.parquet"
PREFERENCES = "preferences/train-00000-of-00001.parquet"
DOCUMENTS = "documents/corpus-00000-of-00001.parquet"
REJECTED = "rejected/rejected-00000-of-00001.parquet"

Break = Callable[[Path], None]
Mutation = tuple[Break, str, int | None, str] | tuple[Break, str, str]
"""How to break a dataset, then the beginning of the file's name, the row (of three values: any) and some words of the
problem that ``validate`` has to find."""


@dataclass(frozen=True)
class Edit:
    """Rows of one file changed, past all validation of the row type; they keep its schema."""

    name: str
    change: Callable[[pa.Table], pa.Table]

    def __call__(self, folder: Path) -> None:
        rewrite(folder, self.name, self.change)


held = cache(Held)


def must_be_found(mutation: Mutation, whole: Path) -> None:
    """Break a copy of the dataset in ``whole``, edited rows in memory and else the files, and see that ``validate``
    says so, in lines that fit on a screen."""
    broken, file, words = mutation[0], mutation[1], mutation[-1]
    found = held(whole).edited(broken.name, broken.change) if isinstance(broken, Edit) else _broken(broken, whole)
    wanted = [one for one in found if one.file.startswith(file) and words in one.what]
    assert any(len(mutation) == 3 or one.row == mutation[2] for one in wanted), (
        "\n".join(map(str, found)) or "nothing found"
    )
    for problem in found:
        assert "\n" not in str(problem)
        assert len(str(problem)) < 500


def _broken(broken: Break, whole: Path) -> list[Problem]:
    with TemporaryDirectory() as folder:
        copy = shutil.copytree(whole, Path(folder) / "copy")
        broken(copy)
        return validate(copy)


def rewrite(folder: Path, name: str, change: Callable[[pa.Table], pa.Table], **options: Any) -> None:
    """Change a file as a table, with the options that the exporter uses."""
    path = folder / name
    table = change(pq.read_table(path))
    pq.write_table(table, path, compression="zstd", **{"write_page_index": True, **options})


def column(name: str, value: Callable[[int, Any], Any]) -> Callable[[pa.Table], pa.Table]:
    """Replace one column by values that stay of its Arrow type."""

    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        values = [value(row, old) for row, old in enumerate(table.column(name).to_pylist())]
        return table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type))

    return change


def edit(name: str, row: int, change: Callable[[Any], dict[str, Any]]) -> Edit:
    """Replace fields of one row."""
    row_type: type[Row] = config_named(name.split("/")[0]).row_type

    def changed(table: pa.Table) -> pa.Table:
        rows = from_arrow(table, row_type)
        rows[row] = rows[row].model_copy(update=change(rows[row]))
        return to_arrow(rows, row_type)

    return Edit(name, changed)


def row(
    name: str, number: int, words: str, change: Callable[[Any], dict[str, Any]] | None = None, **fields: Any
) -> Mutation:
    """Fields of one row replaced, and some words of the problem that is found in that very row."""
    return edit(name, number, change or (lambda old: fields)), name, number, words


def within(
    name: str, number: int, words: str, change: Callable[[Any], dict[str, Any]] | None = None, **fields: Any
) -> tuple[Break, str, str]:
    """Fields of one row replaced, and some words of a problem in that file."""
    return edit(name, number, change or (lambda old: fields)), name, words


def values(name: str, what: str, value: Callable[[int, Any], Any]) -> Edit:
    return Edit(name, column(what, value))


def table(name: str, change: Callable[[pa.Table], pa.Table], **options: Any) -> Break:
    return lambda folder: rewrite(folder, name, change, **options)


def hop(task: Any, number: int, **changes: Any) -> dict[str, Any]:
    hops = list(task.walk.hops)
    hops[number] = hops[number].model_copy(update=changes)
    return {"walk": task.walk.model_copy(update={"hops": tuple(hops)})}


def evidence(task: Any, **changes: Any) -> dict[str, Any]:
    return hop(task, 1, evidence=task.walk.hops[1].evidence.model_copy(update=changes))


def item(row: Any, place: int, **changes: Any) -> dict[str, Any]:
    content = list(row.content)
    content[place] = content[place].model_copy(update=changes)
    return {"content": tuple(content)}


def card(old: str, new: str) -> Break:
    def broken(folder: Path) -> None:
        text = (folder / "README.md").read_text()
        assert old in text
        (folder / "README.md").write_text(text.replace(old, new, 1))

    return broken


def report(change: Callable[[dict[str, Any]], None]) -> Break:
    def broken(folder: Path) -> None:
        value = json.loads((folder / "report.json").read_text())
        change(value)
        (folder / "report.json").write_text(json.dumps(value))

    return broken


def cut(name: str) -> Break:
    def broken(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])

    return broken


def damage(name: str) -> Break:
    """Bytes of a page are changed, the footer is whole."""

    def broken(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[40:400] = bytes(360)
        (folder / name).write_bytes(bytes(data))

    return broken
