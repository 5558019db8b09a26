"""A file of trajectories in another format as tables of ours: ``synth import``.

Lines stream. What can't be read, or is no run of one question, goes to ``rejected`` with the reason. Without questions
and gold answers nobody judges the runs but who recorded them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from synth.agents.imported import import_trajectory, question_of
from synth.dataset.configs import config_named
from synth.dataset.layout import write_config
from synth.errors import InputError
from synth.export.importing.contract import Importer
from synth.filtering.decontamination.benchmarks import Benchmarks, given_benchmarks
from synth.filtering.dedup.levels import RUNS
from synth.filtering.dedup.text import text_hash
from synth.identity import digest
from synth.inputs import input_lines, open_input, parse_json, read_input
from synth.pipelines.recorded import Tasks, read_tasks, refused
from synth.schemas.adp import Trajectory, error_lines
from synth.schemas.arrow import to_arrow, trajectory_of
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import SCHEMA_VERSION
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.store import check_destination, staged

__all__ = ["IMPORT_FILE", "ImportReport", "Imported", "import_file"]

IMPORT_FILE = "import.json"
"""The file by which a folder is known as an import, which a new import may replace."""
STAGE = "import"
_COLUMNS = (
    "task_id",
    "rollout",
    "role",
    "model",
    "system_prompt",
    "tools",
    "stop_reason",
    "answer",
    "correct",
    "split",
    "licence",
    "source",
)
"""Keys of ``details`` that become columns."""
_BATCH = 500


class ImportReport(BaseModel):
    """What became of every object of the file: ``trajectories`` + ``rejected`` = ``objects``."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    format: str
    """Name of the format."""
    file: str
    """Name of the file, without its folder."""
    sha256: str
    """Of the file's content."""
    schema_version: str
    """Version of the tables that were written."""
    objects: int
    """Objects in the file."""
    trajectories: int
    """Those that became rows of ``trajectories``."""
    rejected: dict[str, int]
    """Those that did not, by reason; what exactly stands in the table ``rejected``."""
    judged: dict[str, int]
    """Runs that are ``right``, ``wrong`` and ``unjudged``."""
    tasks: int
    """Tasks that a run was made on, where questions were given."""
    benchmarks: dict[str, str] = {}
    """Benchmarks that no run overlaps with: name of the file -> sha256."""


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    path: Path
    report: ImportReport


def import_file(
    file: Path,
    importer: Importer,
    out: Path,
    *,
    tasks: Path | None = None,
    all_correct: bool = False,
    licence: str | None = None,
    benchmarks: Sequence[Path] = (),
    distinct: bool = False,
) -> Imported:
    """Write the runs of ``file`` to ``out``, in the layout that ``synth.load`` opens. No card, no build's report.

    Args:
        file: JSON Lines, one object per line; or one JSON file that is an object, or a list of them.
        tasks: Questions with gold answers (a file as for ``--tasks-file``): then our rules judge runs that nobody did.
        all_correct: Somebody vouches that every run which nobody judged is right.
        licence: SPDX id of what the observations quote, where the file does not say it.
        benchmarks: Files that no run's question or answer may overlap with: such runs are rejected.
        distinct: Of runs of one role that do the same on one question (the same words, or the same calls and the same
            answer) the first stays, and the others are rejected.

    Raises:
        InputError: the file or a benchmark can't be read, or no run in it can be used.
        StoreError: ``out`` holds something that is no import, or can't be written.
    """
    check_destination(out, marker=IMPORT_FILE)
    values = _values(file)
    with open_input(file, mend=_MEND, most=None) as opened:
        sha = hashlib.file_digest(opened, "sha256").hexdigest()
    provenance = Provenance(
        dataset=file.stem,
        stage=STAGE,
        stage_version=1,
        fingerprint=digest(STAGE, importer.name, sha, all_correct, licence),
        seed=0,
        source=file.name,
        source_sha256=sha,
    )
    known, rejected = read_tasks(tasks, provenance, licence) if tasks is not None else (None, [])
    screen, looked_at = given_benchmarks(benchmarks)
    work = _Work(importer, provenance, known, rejected, all_correct, licence, screen, distinct)
    with staged(out, marker=IMPORT_FILE) as staging:
        config = config_named("trajectories")
        write_config(staging, config, _batches(work.rows(values), TrajectoryRow))
        for name, rows in (("tasks", work.used()), ("rejected", work.rejected)):
            table = config_named(name)
            write_config(staging, table, to_arrow(rows, table.row_type).to_batches())
        report = work.report(file.name, sha).model_copy(update={"benchmarks": looked_at})
        if not report.trajectories:
            raise _nothing(file, importer, work.rejected)
        (staging / IMPORT_FILE).write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return Imported(out, report)


def _batches(rows: Iterable[TrajectoryRow], row_type: type[TrajectoryRow]) -> Iterator[pa.RecordBatch]:
    waiting: list[TrajectoryRow] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == _BATCH:
            yield from to_arrow(waiting, row_type).to_batches()
            waiting = []
    if waiting:
        yield from to_arrow(waiting, row_type).to_batches()


class _Work:
    """Objects become rows, one by one."""

    def __init__(
        self,
        importer: Importer,
        provenance: Provenance,
        known: Tasks | None,
        rejected: list[Rejection],
        all_correct: bool,
        licence: str | None,
        screen: Benchmarks | None,
        distinct: bool,
    ) -> None:
        self._screen, self._distinct = screen, distinct
        self._seen: dict[tuple[str, str], str] = {}
        self._importer, self._provenance, self._known = importer, provenance, known
        self._all_correct, self._licence = all_correct, licence
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._ids: set[str] = set()
        self._tasks: set[str] = set()
        self._judged: Counter[str] = Counter()
        self._objects = 0
        self._questions = len(rejected)
        self.rejected = rejected

    def rows(self, values: Iterable[tuple[str, Any]]) -> Iterator[TrajectoryRow]:
        for place, value in values:
            self._objects += 1
            try:
                row = self._row(value)
            except ValidationError as error:
                self._refuse(place, Reason.INVALID_TRAJECTORY, error_lines(error)[0])
            except ValueError as error:
                self._refuse(place, _reason(value), str(error))
            else:
                if row.id in self._ids:
                    self._refuse(place, Reason.DUPLICATE_ID, f"an earlier run has the id {row.id}")
                    continue
                refusal = self._unclean(row) or self._again(row)
                if refusal is not None:
                    self._refuse(place, *refusal)
                    continue
                self._ids.add(row.id)
                self._tasks.add(row.task_id)
                self._judged[{True: "right", False: "wrong", None: "unjudged"}[row.verdict.correct]] += 1
                yield row

    def _unclean(self, row: TrajectoryRow) -> tuple[Reason, str] | None:
        """That it overlaps with a benchmark."""
        if self._screen is None:
            return None
        said = self._screen.run(question_of(trajectory_of(row)), row.answer)
        return None if said is None else (Reason.CONTAMINATED, said)

    def _again(self, row: TrajectoryRow) -> tuple[Reason, str] | None:
        """That an earlier run of its role did the same."""
        if not self._distinct:
            return None
        keys = [text_hash(RUNS.text(row))]
        if RUNS.structure is not None and (structure := RUNS.structure(row)) is not None:
            keys.append(structure)
        named = [(row.role, key) for key in keys]
        for key in named:
            if key in self._seen:
                return Reason.DUPLICATE_CONTENT, f"{self._seen[key]} did the same"
        self._seen |= dict.fromkeys(named, row.id)
        return None

    def _refuse(self, place: str, reason: Reason, detail: str) -> None:
        self.rejected.append(refused(place, reason, detail).model_copy(update={"stage": STAGE}))

    def _row(self, value: Any) -> TrajectoryRow:
        if isinstance(value, _NoJson):
            raise ValueError(value.why)
        if not isinstance(value, Mapping):
            raise ValueError("not an object")
        read = self._importer.read(value)
        details = dict(read.details)
        if self._licence is not None:
            details.setdefault("licence", self._licence)
        task = self._task(details.get("task_id"), read)
        if self._all_correct and task is None:
            details.setdefault("correct", True)
        row = import_trajectory(read.model_copy(update={"details": details}), task, provenance=self._provenance)
        number = self._numbers[row.task_id, row.role]
        self._numbers[row.task_id, row.role] += 1
        given = details.get("rollout")
        rollout = given if isinstance(given, int) and not isinstance(given, bool) and task is None else number
        kept = {key: item for key, item in row.details.items() if key not in _COLUMNS}
        return row.model_copy(update={"rollout": rollout, "details": kept})

    def _task(self, given: Any, read: Trajectory) -> Task | None:
        """By id where it is one of ours, else by question."""
        if self._known is None:
            return None
        question = question_of(read)
        try:
            return self._known.find(given, question)
        except ValueError:
            return self._known.find(None, question)

    def used(self) -> list[Task]:
        return [] if self._known is None else [task for task in self._known.all if task.id in self._tasks]

    def report(self, name: str, sha: str) -> ImportReport:
        refusals = self.rejected[self._questions :]
        return ImportReport(
            format=self._importer.name,
            file=name,
            sha256=sha,
            schema_version=SCHEMA_VERSION,
            objects=self._objects,
            trajectories=len(self._ids),
            rejected=dict(sorted(Counter(str(one.reason) for one in refusals).items())),
            judged=dict(sorted(self._judged.items())),
            tasks=len(self.used()),
        )


@dataclass(frozen=True)
class _NoJson:
    why: str


def _reason(value: Any) -> Reason:
    return Reason.MALFORMED if isinstance(value, _NoJson) else Reason.INVALID_TRAJECTORY


_MEND = "give a file of JSON Lines, or of one JSON list"


def _values(file: Path) -> Iterator[tuple[str, Any]]:
    """(place, object) of a file, in order.

    Raises:
        InputError: it can't be read.
    """
    return _whole(file) if file.suffix.lower() == ".json" else _lines(file)


def _lines(file: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(input_lines(file, mend=_MEND), start=1):
        if line.strip():
            yield f"line {number}", _decoded(line)


def _whole(file: Path) -> Iterator[tuple[str, Any]]:
    value = _decoded(read_input(file, mend=_MEND).decode("utf-8-sig", errors="replace"))
    values = value if isinstance(value, list) else [value]
    for number, one in enumerate(values, start=1):
        yield f"object {number}", one


def _decoded(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        return _NoJson(f"no JSON: {error}")


def _nothing(file: Path, importer: Importer, rejected: list[Rejection]) -> InputError:
    if not rejected:
        return InputError("there is no object in the file", where=str(file), mend="one JSON object per line")
    first = rejected[0]
    return InputError(
        f"none of {len(rejected):,} objects is a run that {importer.name} can hold; {first.row_id}: {first.detail}",
        where=str(file),
        mend=f"is it really {importer.name}?",
    )
