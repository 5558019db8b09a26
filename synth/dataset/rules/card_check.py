"""Does the card state what the files hold?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from synth.dataset.card.rendering import beside_card, card_text, front_matter
from synth.dataset.files import COLUMNS, PLOTS, RECIPE_FILE, Problems, card_files
from synth.schemas.reports import BuildReport

__all__ = ["check_card"]


def check_card(path: Path, report: BuildReport | None, counts: dict[str, dict[str, int]], found: Problems) -> None:
    """Front matter against the files; the numbers of the text against the report. Prose may be edited by hand."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        found.add(path.name, None, f"the card can't be read: {error}")
        return
    matter, body = _parted(text)
    if matter is None:
        found.add(path.name, None, "the card has no YAML front matter")
        return
    full = {config: splits for config, splits in counts.items() if any(splits.values())}
    _configs(matter, full, path.name, found)
    _infos(matter, full, path.name, found)
    if report is None:
        return
    try:
        wanted_matter, wanted = front_matter(report), card_text(report)
    except (KeyError, ZeroDivisionError) as error:
        found.add(path.name, None, f"the report is not complete enough for a card: {error}")
        return
    for key in ("license", "size_categories", "language"):
        if matter.get(key) != wanted_matter[key]:
            found.add(path.name, None, f"{key} is {matter.get(key)!r}; the report gives {wanted_matter[key]!r}")
    _beside(path, body, report, found)
    present = set(body.splitlines())
    for line in wanted.split("\n## Tables\n")[0].splitlines():
        if line.startswith("|") and any(sign.isdigit() for sign in line) and line not in present:
            found.add(path.name, None, f"lacks a line that the report gives: {line}")


_SAYS_OTHER = {
    PLOTS: "draws other numbers than the report's",
    COLUMNS: "lists other columns than the rows have",
    RECIPE_FILE: "is another recipe than the report's",
}


def _beside(card: Path, body: str, report: BuildReport, found: Problems) -> None:
    """Plots and lists of columns that the card shows are there, and those that are there say what the report says."""
    drawn = beside_card(report)
    there = card_files(card.parent)
    for name in sorted({*drawn, *there}):
        shown = f"({name})" in body
        if name in there and there[name].read_bytes() != drawn.get(name, "").encode():
            found.add(name, None, _SAYS_OTHER[name.partition("/")[0]])
        elif shown and name not in there:
            found.add(card.name, None, f"shows {name}, which is missing")


def _parted(text: str) -> tuple[dict[str, Any] | None, str]:
    parts = text.split("---\n", 2)
    if len(parts) < 3 or parts[0]:
        return None, text
    try:
        matter = yaml.load(parts[1], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return None, text
    return (matter if isinstance(matter, dict) else None), parts[2]


def _configs(matter: dict[str, Any], full: dict[str, dict[str, int]], name: str, found: Problems) -> None:
    try:
        stated = {
            config["config_name"]: {item["split"]: item["path"] for item in config["data_files"]}
            for config in matter["configs"]
        }
    except (KeyError, TypeError):
        found.add(name, None, "configs is missing or not of the Hub's form")
        return
    for config in dict.fromkeys([*stated, *full]):
        wanted = {split: f"{config}/{split}-*.parquet" for split in full.get(config, {})}
        if stated.get(config, {}) != wanted:
            found.add(name, None, f"configs: {config} is not as its files are: {sorted(wanted) or 'it has none'}")


def _infos(matter: dict[str, Any], full: dict[str, dict[str, int]], name: str, found: Problems) -> None:
    try:
        stated = {
            info["config_name"]: {split["name"]: split["num_examples"] for split in info["splits"]}
            for info in matter["dataset_info"]
        }
    except (KeyError, TypeError):
        found.add(name, None, "dataset_info is missing or not of the Hub's form")
        return
    for config in dict.fromkeys([*stated, *full]):
        for split in dict.fromkeys([*stated.get(config, {}), *full.get(config, {})]):
            says, holds = stated.get(config, {}).get(split, 0), full.get(config, {}).get(split, 0)
            if says != holds:
                found.add(name, None, f"dataset_info says {says:,} rows of {config}/{split}; the files hold {holds:,}")
