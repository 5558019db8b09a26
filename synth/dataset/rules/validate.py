"""Does a finished dataset hold what it says? Reads everything back from the files and trusts nothing.

Rows stream; memory holds ids (tasks, documents, entities), gold entities, the quotes of the tasks, and, where there are
steps, continuations or pairs, digests of the trajectories that these refer to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from synth.dataset.card.counts import COUNTS, Counts, targets_of
from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import CARD_FILE, MIX_FILE, REPORT_FILE, Problem, Problems, RowHash, check_files, split_hashes
from synth.dataset.reader import Dataset, load
from synth.dataset.rules.card_check import check_card
from synth.dataset.rules.coverage import RULES
from synth.dataset.rules.reading import Portion, layout, portions
from synth.dataset.rules.references import ReferenceCheck, absent_of_mixes
from synth.dataset.rules.rules import known_of
from synth.errors import DatasetError
from synth.schemas.mixes import MixReport
from synth.schemas.reports import BuildReport

__all__ = ["Problem", "check_rows", "validate"]

RowCounts = dict[str, dict[str, int]]
"""Config -> split -> rows."""
_ORDER = (
    "tasks",  # first: the others ask it
    "planted_misinformation",  # before what proves or disproves it
    *("rl", "contexts", "documents", "entities", "facts", "trajectories", "difficulty", "question_rewrites"),
    *("task_reviews", "steps", "continuations", "distractors", "preferences", "judgments", "duplicates", "rejected"),
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
        check_card(dataset.path / CARD_FILE, report, rows, found)
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
                for what in chain.from_iterable(rule.find(row, known) for rule in rules):
                    found.add(label, place, what)
            counts[config.name][split] = counts[config.name].get(split, 0) + portion.batch.num_rows
        for close in (rule.close for rule in rules if rule.close is not None):
            for where, what in close(known):
                found.add(*where, what)
        references.finish(config)
    if report is not None:
        _tables(REPORT_FILE, report.tables, counts, found)
        for name, value in counted.stated().items():
            if getattr(report, name) != value:
                found.add(REPORT_FILE, None, f"{name}: {COUNTS[name].says}")
        accepted = sum(counts["tasks"].values())
        if report.wanted is not None and accepted != report.wanted:
            found.add(REPORT_FILE, None, f"wanted {report.wanted:,} tasks; the files hold {accepted:,}")
    if mix is not None:
        _tables(MIX_FILE, mix.tables, counts, found)
    return counts


def _absent(report: BuildReport | None) -> tuple[str, ...]:
    """Runs that somebody else recorded have tasks where questions with answers were given."""
    nowhere = report is not None and report.source.kind == "runs" and not report.tables.get("tasks")
    return ("tasks",) if nowhere else ()


def _tables(name: str, tables: Mapping[str, Mapping[str, int]], counts: RowCounts, found: Problems) -> None:
    for config, splits in counts.items():
        stated = tables.get(config, {})
        for split in dict.fromkeys([*stated, *splits]):
            said, held = stated.get(split, 0), splits.get(split, 0)
            if said != held:
                found.add(name, None, f"tables: says {said:,} rows of {config}/{split}; the files hold {held:,}")
