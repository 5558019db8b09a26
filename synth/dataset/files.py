"""Names of the files of a dataset folder, and what stands in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "CARD_FILE",
    "COLUMNS",
    "MIX_FILE",
    "PLOTS",
    "RECIPE_FILE",
    "REPORT_FILE",
    "DataFile",
    "card_files",
    "data_files",
    "file_name",
    "is_ours",
]

CARD_FILE = "README.md"
REPORT_FILE = "report.json"
MIX_FILE = "mix.json"
"""What stands for the report in a mix; a new mix may replace a folder that holds it."""
RECIPE_FILE = "recipe.yaml"
PLOTS = "plots"
"""Folder of the card's plots."""
COLUMNS = "columns"
"""Folder of the card's lists of columns, a page per config."""

_BESIDE = {PLOTS: re.compile(r"[a-z_]+\.svg"), COLUMNS: re.compile(r"[a-z_]+\.md")}
"""Folders of what the card shows -> names that stand in them."""
_NAME = re.compile(r"(?P<split>\w+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.parquet")


@dataclass(frozen=True, order=True)
class DataFile:
    config: str
    split: str
    number: int
    count: int
    path: Path

    @property
    def label(self) -> str:
        """The path inside the dataset folder."""
        return f"{self.config}/{self.path.name}"


def file_name(split: str, number: int, count: int) -> str:
    return f"{split}-{number:05d}-of-{count:05d}.parquet"


def data_files(folder: Path) -> tuple[list[DataFile], list[Path]]:
    """The Parquet files of a dataset in order, and what should not stand among or beside them."""
    known: list[DataFile] = []
    strange = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix == ".parquet")
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        for path in sorted(place.iterdir()):
            match = _NAME.fullmatch(path.name)
            if place.name in _BESIDE and path.is_file() and _BESIDE[place.name].fullmatch(path.name):
                continue
            if match and path.is_file():
                number, count = int(match["number"]), int(match["count"])
                known.append(DataFile(place.name, match["split"], number, count, path))
            else:
                strange.append(path)
    return sorted(known), strange


def is_ours(name: str) -> bool:
    """Whether a path inside a dataset folder is one that a dataset may write: report, card, what the card shows,
    or rows of a config."""
    if name in (CARD_FILE, REPORT_FILE, RECIPE_FILE):
        return True
    config, _, rest = name.partition("/")
    if config in _BESIDE:
        return bool(_BESIDE[config].fullmatch(rest))
    return bool(re.fullmatch(r"[a-z_]+", config) and _NAME.fullmatch(rest))


def card_files(folder: Path) -> dict[str, Path]:
    """What the card shows and stands beside it, by its path inside the dataset folder: plots, lists of columns, the
    recipe."""
    places = ((name, shape, folder / name) for name, shape in _BESIDE.items())
    found = {
        f"{name}/{path.name}": path
        for name, shape, place in places
        if place.is_dir()
        for path in place.iterdir()
        if shape.fullmatch(path.name)
    }
    if (folder / RECIPE_FILE).is_file():
        found[RECIPE_FILE] = folder / RECIPE_FILE
    return dict(sorted(found.items()))
