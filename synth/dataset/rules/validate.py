"""Does a finished dataset hold what it says? Reads everything back from the files and trusts nothing.

Rows stream; memory holds ids (tasks, documents, entities), gold entities, the quotes of the tasks, and, where there are
steps, continuations or pairs, digests of the trajectories that these refer to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pydantic import ValidationError

from synth.annotate.preferences.select import Selection
from synth.dataset.card.calibration import Calibrations, targets_of
from synth.dataset.card.criticals import Criticals
from synth.dataset.card.outcomes import Outcomes
from synth.dataset.card.yields import Yields
from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import CARD_FILE, MIX_FILE, REPORT_FILE
from synth.dataset.licences import StatedLicences
from synth.dataset.problems import Problem, Problems
from synth.dataset.reader import Dataset, load
from synth.dataset.rules.card_check import check_card
from synth.dataset.rules.context_checks import ContextCheck, ContextPages, RlCheck, Several, TaskTruths
from synth.dataset.rules.difficulty_checks import DifficultyCheck, PolicyRuns
from synth.dataset.rules.distractor_checks import (
    DistractorCheck,
    GoldPages,
    MisinformationCheck,
    MisinformationFacts,
    MisinformationPages,
)
from synth.dataset.rules.duplicate_checks import DuplicateCheck, DuplicateRejections
from synth.dataset.rules.graph_checks import FactCheck
from synth.dataset.rules.judgment_checks import JudgmentCheck
from synth.dataset.rules.pair_checks import PairCheck
from synth.dataset.rules.reading import Portion, layout, portions
from synth.dataset.rules.references import ReferenceCheck, absent_of_mixes
from synth.dataset.rules.row_checks import DocumentCheck, RejectionCheck, RowCheck, TaskCheck, TrajectoryCheck
from synth.dataset.rules.rules import RuleCheck, known_of
from synth.dataset.rules.step_checks import ContinuationCheck, StepCheck
from synth.dataset.rules.table_rules import rules_of
from synth.dataset.rules.writing_checks import QuestionRewriteCheck, TaskReviewCheck
from synth.dataset.sealing import RowHash, check_files, split_hashes
from synth.errors import DatasetError
from synth.schemas.mixes import MixReport
from synth.schemas.reports import BuildReport

__all__ = ["Problem", "check_rows", "validate"]

RowCounts = dict[str, dict[str, int]]
"""Config -> split -> rows."""


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


@dataclass
class _Counted:
    """What the files hold, counted anew: the report must say the same."""

    rows: RowCounts = field(default_factory=lambda: {config.name: {} for config in CONFIGS})
    outcomes: Outcomes = field(default_factory=Outcomes)
    yields: Yields = field(default_factory=Yields)
    criticals: Criticals = field(default_factory=Criticals)
    difficulty: Calibrations = field(default_factory=Calibrations)
    licences: StatedLicences = field(default_factory=StatedLicences)

    def see(self, config: str, batch: pa.RecordBatch) -> None:
        watchers: dict[str, tuple[Callable[[pa.RecordBatch], None], ...]] = {
            "tasks": (self.outcomes.see_tasks, self.yields.see_tasks),
            "trajectories": (self.outcomes.see_trajectories, self.criticals.see_trajectories),
            "steps": (self.criticals.see_steps,),
            "continuations": (self.criticals.see_continuations,),
            "preferences": (self.criticals.see_pairs,),
            "rejected": (self.yields.see_rejected,),
            "difficulty": (self.difficulty.see,),
        }
        for see in watchers.get(config, ()):
            see(batch)
        if config in ("documents", "tasks", "trajectories"):
            self.licences.see(config, batch)


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
    targets = targets_of(report) if report else ()
    counted = _Counted(difficulty=Calibrations(targets))
    redacted = report is not None and report.redacted is not None
    tasks = TaskCheck(found, frozenset(report.exempt_entities) if report else frozenset(), redacted=redacted)
    documents = DocumentCheck(found, tasks)
    derived = bool({"steps", "continuations", "preferences", "judgments"} & set(there))
    trajectories = TrajectoryCheck(found, tasks, keep=derived)
    steps = StepCheck(found, tasks, trajectories)
    continuations = ContinuationCheck(found, trajectories, steps)
    rejections = RejectionCheck(found, report)
    truths = TaskTruths(redacted=redacted)
    contexts = ContextCheck(found, tasks, truths)
    trained = bool({"rl", "contexts"} & set(there))
    gold, falsehoods = GoldPages(), MisinformationCheck(found)
    runs = PolicyRuns()
    pairs = PairCheck(found, trajectories, steps, continuations, _selection(report, found))
    listed = "duplicates" in there
    duplicates = DuplicateCheck(found, documents, trajectories, pairs, listed=listed)
    checks: dict[str, RowCheck] = {
        "tasks": Several(tasks, gold, truths) if trained else Several(tasks, gold),  # first: the others ask it
        "planted_misinformation": falsehoods,  # before what proves or disproves them
        "rl": RlCheck(found, tasks, truths),
        "contexts": contexts,
        "documents": Several(
            documents, ContextPages(found, contexts), MisinformationPages(falsehoods, redacted=redacted)
        ),
        "entities": Several(),
        "facts": Several(FactCheck(found, documents), MisinformationFacts(falsehoods)),
        "trajectories": Several(trajectories, runs),
        "difficulty": DifficultyCheck(found, tasks, runs, targets),
        "question_rewrites": QuestionRewriteCheck(found, tasks),
        "task_reviews": TaskReviewCheck(found),
        "steps": steps,
        "continuations": continuations,
        "distractors": DistractorCheck(found, gold, falsehoods),
        "preferences": pairs,
        "judgments": JudgmentCheck(found, trajectories.recorded, steps.scores, pairs),
        "duplicates": duplicates,
        "rejected": Several(rejections, DuplicateRejections(found, duplicates, listed=listed)),
    }
    known = known_of(report, mix)
    references = ReferenceCheck(found, absent=absent_of_mixes() if mix is not None else _absent(report))
    for name, check in checks.items():
        checks[name] = Several(check, RuleCheck(found, rules_of(name, config_named(name).row_type), known))
    for config in map(config_named, checks):
        split = counted.rows[config.name]
        for portion in table(config):
            file, batch = portion.file, portion.batch
            counted.see(config.name, batch)
            references.see(config, file, portion.first, batch)
            for place, row in portion.rows:
                checks[config.name].see(file, place, row)
            split[file.split] = split.get(file.split, 0) + batch.num_rows
        checks[config.name].finish()
        references.finish(config)
    if report is not None:
        _report(report, counted, found)
    if mix is not None:
        _tables(MIX_FILE, mix.tables, counted, found)
    return counted.rows


def _absent(report: BuildReport | None) -> tuple[str, ...]:
    """Runs that somebody else recorded have tasks where questions with answers were given."""
    nowhere = report is not None and report.source.kind == "runs" and not report.tables.get("tasks")
    return ("tasks",) if nowhere else ()


def _selection(report: BuildReport | None, found: Problems) -> Selection | None:
    """By which rule the pairs were selected, as the recipe in the report says; None where it says nothing."""
    wanted = (report.recipe.get("preferences") or {}).get("selection") if report else None
    if wanted is None:
        return None
    try:
        return Selection.model_validate(wanted)
    except ValidationError as error:
        found.add(REPORT_FILE, None, f"recipe.preferences.selection: {error.errors()[0]['msg']}")
        return None


def _tables(name: str, tables: Mapping[str, Mapping[str, int]], counted: _Counted, found: Problems) -> None:
    for config, splits in counted.rows.items():
        stated = tables.get(config, {})
        for split in dict.fromkeys([*stated, *splits]):
            said, held = stated.get(split, 0), splits.get(split, 0)
            if said != held:
                found.add(name, None, f"tables: says {said:,} rows of {config}/{split}; the files hold {held:,}")


def _report(report: BuildReport, counted: _Counted, found: Problems) -> None:
    _tables(REPORT_FILE, report.tables, counted, found)
    if report.outcomes != counted.outcomes.reports():
        found.add(REPORT_FILE, None, "outcomes: the trajectories give other counts of successes by role and hops")
    if report.task_yields != counted.yields.reports():
        found.add(REPORT_FILE, None, "task_yields: tasks and rejected give other counts of candidates by shape")
    if report.labels != counted.criticals.labels():
        found.add(REPORT_FILE, None, "labels: the steps give other counts of labels by role")
    if report.critical != counted.criticals.critical():
        found.add(
            REPORT_FILE, None, "critical: the steps and continuations give other counts of what was searched and found"
        )
    if report.pairs != counted.criticals.pairs():
        found.add(REPORT_FILE, None, "pairs: the preferences give other counts by kind and family")
    if report.difficulty != counted.difficulty.report():
        found.add(REPORT_FILE, None, "difficulty: the rows give other counts of predicted and measured success")
    if report.document_licences != counted.licences.documents:
        found.add(REPORT_FILE, None, "document_licences: the documents state other licences")
    if report.row_licences != counted.licences.rows:
        found.add(REPORT_FILE, None, "row_licences: the rows state other licences")
    accepted = sum(counted.rows["tasks"].values())
    if report.wanted is not None and accepted != report.wanted:
        found.add(REPORT_FILE, None, f"wanted {report.wanted:,} tasks; the files hold {accepted:,}")
