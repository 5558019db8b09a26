"""Does a finished dataset hold what it says? Reads everything back from the files and trusts nothing.

Rows stream; memory holds ids (tasks, documents, entities), gold entities, the quotes of the tasks, and, where there are
steps, continuations or pairs, digests of the trajectories that these refer to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from synth.annotate.preferences.select import Selection
from synth.dataset.card.calibration import Calibrations, targets_of
from synth.dataset.card.criticals import Criticals
from synth.dataset.card.outcomes import Outcomes
from synth.dataset.card.yields import Yields
from synth.dataset.configs import CONFIGS, Config, config_named
from synth.dataset.files import CARD_FILE, MIX_FILE, REPORT_FILE, DataFile, data_files
from synth.dataset.licences import StatedLicences
from synth.dataset.problems import Problem, Problems
from synth.dataset.reader import Dataset, load, same_kind
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
from synth.dataset.rules.references import ReferenceCheck, absent_of_mixes
from synth.dataset.rules.row_checks import DocumentCheck, RejectionCheck, RowCheck, TaskCheck, TrajectoryCheck
from synth.dataset.rules.rules import RuleCheck, known_of
from synth.dataset.rules.step_checks import ContinuationCheck, StepCheck
from synth.dataset.rules.table_rules import rules_of
from synth.dataset.rules.writing_checks import QuestionRewriteCheck, TaskReviewCheck
from synth.dataset.sealing import RowHash, check_files, split_hashes
from synth.errors import DatasetError
from synth.schemas.adp import error_lines
from synth.schemas.arrow import RowError, arrow_schema, row_adapter, to_arrow, to_plain
from synth.schemas.mixes import MixReport
from synth.schemas.reports import BuildReport
from synth.schemas.row import SCHEMA_VERSION, Row

__all__ = ["Problem", "validate"]

_BATCH = 200


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
    files = _layout(dataset.path, found)
    report, mix = _stated(dataset, found)
    counted = _rows(files, report, mix, found)
    if report is not None:
        _report(report, counted, found)
    if mix is not None:
        _tables(MIX_FILE, mix.tables, counted, found)
    else:
        check_card(dataset.path / CARD_FILE, report, counted.rows, found)
    if (stated := report or mix) is not None:
        check_files(dataset.path, stated.files, stated.rows_sha256, split_hashes(counted.hashes), found)
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


def _layout(folder: Path, found: Problems) -> list[DataFile]:
    """Names and numbering; what comes back are the files whose rows can be looked at."""
    files, strange = data_files(folder)
    for path in strange:
        found.add(str(path.relative_to(folder)), None, "no file of a dataset (config/split-00000-of-000NN.parquet)")
    known = {config.name: config for config in CONFIGS}
    usable: list[DataFile] = []
    groups: dict[tuple[str, str], list[DataFile]] = {}
    for file in files:
        if file.config not in known:
            found.add(file.label, None, f"no config is named {file.config!r}: there are {', '.join(known)}")
        elif file.split not in known[file.config].splits:
            wanted = ", ".join(known[file.config].splits)
            found.add(file.label, None, f"{file.config} has no split {file.split!r}: there are {wanted}")
        else:
            groups.setdefault((file.config, file.split), []).append(file)
            usable.append(file)
    for group in groups.values():
        numbers, totals = [file.number for file in group], {file.count for file in group}
        if totals != {len(group)} or numbers != list(range(len(group))):
            found.add(group[0].label, None, f"{len(group)} files of this split stand here, their names tell otherwise")
    return usable


@dataclass
class _Counted:
    """What the files hold, counted anew: the report must say the same."""

    rows: dict[str, dict[str, int]] = field(default_factory=lambda: {config.name: {} for config in CONFIGS})
    hashes: dict[tuple[str, str], RowHash] = field(default_factory=lambda: defaultdict(RowHash))
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


def _rows(files: list[DataFile], report: BuildReport | None, mix: MixReport | None, found: Problems) -> _Counted:
    targets = targets_of(report) if report else ()
    counted = _Counted(difficulty=Calibrations(targets))
    redacted = report is not None and report.redacted is not None
    tasks = TaskCheck(found, frozenset(report.exempt_entities) if report else frozenset(), redacted=redacted)
    documents = DocumentCheck(found, tasks)
    derived = any(file.config in ("steps", "continuations", "preferences", "judgments") for file in files)
    trajectories = TrajectoryCheck(found, tasks, keep=derived)
    steps = StepCheck(found, tasks, trajectories)
    continuations = ContinuationCheck(found, trajectories, steps)
    rejections = RejectionCheck(found, report)
    truths = TaskTruths(redacted=redacted)
    contexts = ContextCheck(found, tasks, truths)
    trained = any(file.config in ("rl", "contexts") for file in files)
    gold, falsehoods = GoldPages(), MisinformationCheck(found)
    runs = PolicyRuns()
    pairs = PairCheck(found, trajectories, steps, continuations, _selection(report, found))
    listed = any(file.config == "duplicates" for file in files)
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
        for file in (file for file in files if file.config == config.name):
            rows = 0
            for batch in _batches(file, config, found):
                counted.see(config.name, batch)
                counted.hashes[config.name, file.split].add(batch)
                references.see(config, file, rows, batch)
                for place, row in _parsed(batch, config.row_type, file, rows, found):
                    checks[config.name].see(file, place, row)
                rows += batch.num_rows
            split = counted.rows[config.name]
            split[file.split] = split.get(file.split, 0) + rows
        checks[config.name].finish()
        references.finish(config)
    return counted


def _absent(report: BuildReport | None) -> tuple[str, ...]:
    """Runs that somebody else recorded have tasks where questions with answers were given."""
    nowhere = report is not None and report.source.kind == "runs" and not report.tables.get("tasks")
    return ("tasks",) if nowhere else ()


def _batches(file: DataFile, config: Config, found: Problems) -> Iterator[pa.RecordBatch]:
    """Batches of a file that has the right schema; none otherwise."""
    wanted = arrow_schema(config.row_type)
    try:
        opened = pq.ParquetFile(file.path)
        schema, footer = opened.schema_arrow, opened.metadata
        if not schema.equals(wanted):
            found.add(file.label, None, f"the Arrow schema is not that of {config.name}: {_difference(schema, wanted)}")
            if not _as_wide(schema, wanted):
                return
        stated = (schema.metadata or {}).get(b"synth.schema_version", b"").decode()
        if stated != SCHEMA_VERSION:
            found.add(file.label, None, f"schema version is {stated or 'not stated'}, not {SCHEMA_VERSION}")
        if footer.num_rows == 0:
            found.add(file.label, None, "holds no row: an empty split has no file")
        for group in range(footer.num_row_groups):
            about = footer.row_group(group)
            if about.num_rows > config.rows_per_group:
                found.add(file.label, None, f"row group {group} holds {about.num_rows:,} rows: too many for a viewer")
            if not about.column(0).has_offset_index:
                found.add(file.label, None, f"row group {group} has no page index")
        for batch in opened.iter_batches(batch_size=min(_BATCH, 4 * config.rows_per_group)):
            yield batch if batch.schema.equals(wanted) else batch.cast(wanted)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        found.add(file.label, None, f"can't be read as Parquet: {error}")


def _as_wide(schema: pa.Schema, wanted: pa.Schema) -> bool:
    """Whether they differ in how strings and lists are laid out alone, as other tools write them."""
    if schema.names != wanted.names:
        return False
    return all(same_kind(one.type, other.type) for one, other in zip(schema, wanted, strict=True))


def _difference(schema: pa.Schema, wanted: pa.Schema) -> str:
    for name in wanted.names:
        if name not in schema.names:
            return f"column {name} is missing"
        if schema.field(name).type != wanted.field(name).type:
            return f"column {name} is {schema.field(name).type}, not {wanted.field(name).type}"
    extra = [name for name in schema.names if name not in wanted.names]
    return f"column {extra[0]} is unknown" if extra else "columns stand in another order"


def _parsed(
    batch: pa.RecordBatch, row_type: type[Row], file: DataFile, first: int, found: Problems
) -> Iterator[tuple[int, Any]]:
    """Rows that parse and that come out as the very values that the file holds."""
    try:
        rows = row_adapter(row_type).validate_python(to_plain(batch, row_type))
        same = to_arrow(rows, row_type).equals(pa.Table.from_batches([batch]))
    except (ValidationError, RowError) as error:
        if batch.num_rows > 1:  # one by one, so that each problem names its row
            for place in range(batch.num_rows):
                yield from _parsed(batch.slice(place, 1), row_type, file, first + place, found)
            return
        lines = error_lines(error) if isinstance(error, ValidationError) else [str(error)]
        for line in lines:
            found.add(file.label, first, line.removeprefix("[0]."))
        return
    if not same:
        if batch.num_rows > 1:
            for place in range(batch.num_rows):
                yield from _parsed(batch.slice(place, 1), row_type, file, first + place, found)
            return
        back = to_arrow(rows, row_type)
        names = [name for name in back.schema.names if back[name].combine_chunks() != batch.column(name)]
        found.add(file.label, first, f"{names[0]} does not come back as it was written (is its JSON canonical?)")
    for place, row in enumerate(rows):
        yield first + place, row


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
