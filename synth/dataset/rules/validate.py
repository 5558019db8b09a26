"""Does a finished dataset hold what it says? Reads everything back from the files and trusts nothing.

Rows stream; memory holds ids (tasks, documents, entities), gold entities, the quotes of the tasks, and, where there are
steps, continuations or pairs, digests of the trajectories that these refer to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from synth.dataset.card.calibration import targets_of
from synth.dataset.card.counts import COUNTS, Counts
from synth.dataset.card.rendering import beside_card, card_text, front_matter
from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import (
    CARD_FILE,
    COLUMNS,
    MIX_FILE,
    PLOTS,
    RECIPE_FILE,
    REPORT_FILE,
    Problem,
    Problems,
    RowHash,
    card_files,
    check_files,
    split_hashes,
)
from synth.dataset.reader import Dataset, load
from synth.dataset.rules.coverage import RULES
from synth.dataset.rules.reading import Portion, layout, portions
from synth.dataset.rules.references import ReferenceCheck, absent_of_mixes
from synth.dataset.rules.rules import Known, Rule, known_of
from synth.errors import DatasetError
from synth.schemas.mixes import MixReport
from synth.schemas.reports import BuildReport

__all__ = ["Problem", "check_rows", "validate"]

RowCounts = dict[str, dict[str, int]]
"""Config -> split -> rows."""
_ORDER = (
    "tasks",  # first: the others ask it
    "planted_misinformation",  # before what proves or disproves it
    *("contexts", "documents", "code_files", "entities", "facts", "trajectories", "tree_nodes", "helper_runs"),
    *("difficulty", "question_rewrites"),
    *(
        "proposals",
        "task_reviews",
        "steps",
        "rl",  # repeats what steps say
        "continuations",
        "distractors",
        "preferences",
        "judgments",
        "duplicates",
        "rejected",
    ),
)
"""Tables in the order in which rules ask each other."""


def validate(folder: str | Path, *, limit: int = 100) -> list[Problem]:
    """Everything that is wrong with the dataset in ``folder``; empty when nothing is.

    Checked: the layout and its numbering; Arrow schemas; every row against its type, and back to the same bytes of
    JSON; every trajectory against the Agent Data Protocol; ids, splits, gold entities, evidence, links between tables;
    and that the report and the card state what the files hold. At most ``limit`` problems per file are listed.

    Raises:
        InputError: there is no dataset in the folder.
        DatasetError: it was written with another schema.
    """
    dataset = load(folder)
    found = Problems(limit)
    files = layout(dataset.path, found)
    report, mix = _stated(dataset, found)
    hashes: dict[tuple[str, str], RowHash] = defaultdict(RowHash)

    def table(config: Config) -> Iterator[Portion]:
        for portion in portions(files, config, found):
            hashes[config.name, portion.file.split].add(portion.batch)
            yield portion

    rows = check_rows(table, {file.config for file in files}, report, mix, found)
    if mix is None:
        _check_card(dataset.path / CARD_FILE, report, rows, found)
    if (stated := report or mix) is not None:
        check_files(dataset.path, stated.files, stated.rows_sha256, split_hashes(hashes), found)
    return found.listed()


def _stated(dataset: Dataset, found: Problems) -> tuple[BuildReport | None, MixReport | None]:
    """The report of a build or of a mix, whichever the folder has."""
    try:
        if (mix := dataset.mix) is not None:
            return None, mix
        return dataset.report, None
    except DatasetError as error:
        found.add(MIX_FILE if (dataset.path / MIX_FILE).is_file() else REPORT_FILE, None, error.what)
    return None, None


def _found(rule: Rule, row: Any, known: Known) -> Iterator[str]:
    """What a rule finds in a row; details that another version of the code wrote may be unreadable to it."""
    try:
        yield from rule.find(row, known)
    except ValueError as error:
        yield str(error)


def check_rows(
    table: Callable[[Config], Iterable[Portion]],
    there: Collection[str],
    report: BuildReport | None,
    mix: MixReport | None,
    found: Problems,
) -> RowCounts:
    """All rules of rows and tables, and the numbers of report or mix against the rows; how many rows there are.

    Args:
        table: Reads a table.
        there: Names of the tables that there are.
    """
    known = known_of(report, mix, there, found)
    references = ReferenceCheck(found, absent=absent_of_mixes() if mix is not None else _absent(report))
    counted = Counts(targets_of(report) if report is not None else ())
    counts: RowCounts = {config.name: {} for config in CONFIGS}
    for config in map(config_named, _ORDER):
        rules = [rule for rule in RULES if config.name in rule.tables and rule.applies(known)]
        for portion in table(config):
            label, split = portion.file.label, portion.file.split
            counted.see(config.name, portion.batch)
            references.see(config, portion.file, portion.first, portion.batch)
            for place, row in portion.rows:
                known.place = label, place
                for what in dict.fromkeys(chain.from_iterable(_found(rule, row, known) for rule in rules)):
                    found.add(label, place, what)
            counts[config.name][split] = counts[config.name].get(split, 0) + portion.batch.num_rows
        for close in (rule.close for rule in rules if rule.close is not None):
            for where, what in close(known):
                found.add(*where, what)
        references.finish(config)
    if report is not None:
        _tables(REPORT_FILE, report.tables, counts, found)
        for name, value in counted.stated().items():
            if getattr(report, name) != value and (name != "variety" or report.redacted is None):
                found.add(REPORT_FILE, None, f"{name}: {COUNTS[name].says}")
        accepted = sum(counts["tasks"].values())
        if report.wanted is not None and accepted != report.wanted:
            found.add(REPORT_FILE, None, f"wanted {report.wanted:,} tasks; the files hold {accepted:,}")
    if mix is not None:
        _tables(MIX_FILE, mix.tables, counts, found)
    return counts


def _absent(report: BuildReport | None) -> tuple[str, ...]:
    """Runs recorded elsewhere have tasks where questions with answers were given, and no documents."""
    if report is None or report.source.kind != "runs":
        return ()
    return tuple(name for name in ("tasks", "documents") if not report.tables.get(name))


def _tables(name: str, tables: Mapping[str, Mapping[str, int]], counts: RowCounts, found: Problems) -> None:
    for config, splits in counts.items():
        stated = tables.get(config, {})
        for split in dict.fromkeys([*stated, *splits]):
            said, held = stated.get(split, 0), splits.get(split, 0)
            if said != held:
                found.add(name, None, f"tables: says {said:,} rows of {config}/{split}; the files hold {held:,}")


# -- the card ----------------------------------------------------------------------------------------------------------


def _check_card(path: Path, report: BuildReport | None, counts: dict[str, dict[str, int]], found: Problems) -> None:
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
            found.add(path.name, None, f"lacks a line that the report implies: {line}")


_SAYS_OTHER = {
    PLOTS: "shows numbers other than the report's",
    COLUMNS: "lists columns other than those of the rows",
    RECIPE_FILE: "is not the report's recipe",
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
            found.add(name, None, f"configs: {config} does not match its files: {sorted(wanted) or 'it has none'}")


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
