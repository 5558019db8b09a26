"""Files of trajectories in another format as a dataset of ours: ``synth import``.

Objects stream, and so does what becomes of them: memory holds ids, and counts by cause. What is no run, or overlaps
with a benchmark, goes to ``rejected`` with the reason. Without questions and gold answers nobody judges the runs but
who recorded them.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from synth.agents.imported import import_trajectory, question_of
from synth.annotate.labels.label import label
from synth.dataset.layout import write_dataset
from synth.errors import InputError
from synth.export.importing.contract import Importer
from synth.filtering.decontamination.benchmarks import Benchmarks, given_benchmarks
from synth.filtering.dedup.levels import RUNS
from synth.filtering.dedup.text import text_hash
from synth.identity import digest
from synth.pipelines.recorded import ImportReport, Tasks, read_tasks, refused, role_of_runs, runs_report
from synth.pipelines.run_files import NoJson, Spool, hash_of, objects_in, run_files
from synth.schemas.adp import Trajectory, error_lines
from synth.schemas.arrow import to_arrow, trajectory_of
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.reports import BuildReport, RoleReport, StageReport
from synth.schemas.row import SCHEMA_VERSION
from synth.schemas.steps import StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow
from synth.store import check_destination, staged

__all__ = ["IMPORT_FILE", "Imported", "import_file"]

IMPORT_FILE = "import.json"
"""The file by which a folder is known as an import, which a new import may replace."""
STAGE = "import"
QUESTIONS = "import-questions"
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
_EVERY = 1000
"""Progress is told once per so many objects."""
_EXAMPLES = 1000
"""Causes are counted apart up to so many; what comes later counts as other ones."""


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    path: Path | None
    """None where it was only looked at."""
    report: ImportReport


def import_file(
    file: Path,
    importer: Importer,
    out: Path | None,
    *,
    tasks: Path | None = None,
    all_correct: bool = False,
    licence: str | None = None,
    benchmarks: Sequence[Path] = (),
    distinct: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Write the runs of ``file`` to ``out``: a dataset with card and report.

    Args:
        file: JSON Lines, one object per line; one JSON file that is an object, or a list of them; or a folder of such
            files (``.json``, ``.jsonl``, ``.ndjson``, ``.traj``), read in the order of their paths.
        out: None = look only: what would be taken, and why the rest would not.
        tasks: Questions with gold answers (a file as for ``--tasks-file``): then our rules judge runs that nobody did.
        all_correct: Somebody vouches that every run which nobody judged is right.
        licence: SPDX id of what the observations quote, where the file does not say it.
        benchmarks: Files that no run's question or answer may overlap with: such runs are rejected.
        distinct: Of runs of one role that do the same on one question (the same words, or the same calls and the same
            answer) the first stays, and the others are rejected.
        progress: Called with the numbers of objects read and of runs taken, now and then.

    Raises:
        InputError: a file or a benchmark can't be read, or holds no object.
        StoreError: ``out`` holds something that is no import, or can't be written.
    """
    if out is not None:
        check_destination(out, marker=IMPORT_FILE)
    files = run_files(file)
    sha = hash_of(files)
    provenance = Provenance(
        dataset=file.stem,
        stage=STAGE,
        stage_version=2,
        fingerprint=digest(STAGE, importer.name, sha, all_correct, licence),
        seed=0,
        source=file.name,
        source_sha256=sha,
        backend=RECORDED,
    )
    known, rejected = read_tasks(tasks, provenance, licence) if tasks is not None else (None, [])
    screen, looked_at = given_benchmarks(benchmarks)
    work = _Work(importer, provenance, known, all_correct, licence, screen, distinct)
    values = _told(objects_in(files, importer), work, progress)
    if out is None:
        for _ in work.rows(values, lambda rejection: None):
            pass
        return Imported(None, _report(work, file, sha, looked_at))
    with ExitStack() as stack:
        staging = stack.enter_context(staged(out, marker=IMPORT_FILE))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".synth-import-", dir=staging.parent)))
        runs, refusals = Spool(scratch / "runs", TrajectoryRow), Spool(scratch / "rejected", Rejection)
        for one in rejected:
            refusals.add(one.model_copy(update={"stage": QUESTIONS}))
        steps = Spool(scratch / "steps", StepRow)
        for row in work.rows(values, refusals.add):
            runs.add(row)
            for step in work.steps(row):
                steps.add(step)
        report = _report(work, file, sha, looked_at)
        tables = {
            "tasks": to_arrow(work.used(), Task).to_batches(),
            "trajectories": runs.batches(),
            "steps": steps.batches(),
            "rejected": refusals.batches(),
        }

        def complete(done: BuildReport) -> BuildReport:
            (staging / IMPORT_FILE).write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
            return done

        write_dataset(staging, tables, work.build_report(report, len(rejected)), complete=complete)
    return Imported(out, report)


def _report(work: _Work, file: Path, sha: str, benchmarks: dict[str, str]) -> ImportReport:
    """
    Raises:
        InputError: there was no object, or nothing in it was JSON: then it is another kind of file.
    """
    report = work.report(file.name, sha).model_copy(update={"benchmarks": benchmarks})
    if report.objects == work.unreadable:
        raise InputError("there is no object in the file", where=str(file), mend="one JSON object per line")
    return report


def _told(
    values: Iterable[tuple[str, Any]], work: _Work, progress: Callable[[int, int], None] | None
) -> Iterator[tuple[str, Any]]:
    for number, value in enumerate(values, start=1):
        yield value
        if progress is not None and number % _EVERY == 0:
            progress(number, work.taken)


class _Work:
    """Objects become rows, one by one."""

    def __init__(
        self,
        importer: Importer,
        provenance: Provenance,
        known: Tasks | None,
        all_correct: bool,
        licence: str | None,
        screen: Benchmarks | None,
        distinct: bool,
    ) -> None:
        self._screen, self._distinct = screen, distinct
        self._seen: dict[tuple[str, str], str] = {}
        self._importer, self._provenance, self._known = importer, provenance, known
        self._all_correct, self._licence = all_correct, licence
        self._samples: set[bytes] = set()
        self._counts: dict[bytes, int] = {}
        self._most: dict[str, int] = {}
        self._ids: dict[bytes, bytes] = {}
        self._tasks: set[str] = set()
        self._judged: Counter[str] = Counter()
        self._roles: Counter[tuple[str, str | None]] = Counter()
        self._objects = 0
        self.unreadable = 0
        """Lines that are no JSON."""
        self._reasons: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._refuse: Callable[[Rejection], None] = lambda rejection: None

    @property
    def taken(self) -> int:
        """Runs so far."""
        return len(self._ids)

    def rows(self, values: Iterable[tuple[str, Any]], refuse: Callable[[Rejection], None]) -> Iterator[TrajectoryRow]:
        """The runs; what is none goes to ``refuse``."""
        self._refuse = refuse
        for place, value in values:
            self._objects += 1
            try:
                row = self._row(value)
            except ValidationError as error:
                self._reject(place, Reason.INVALID_TRAJECTORY, error_lines(error)[0])
            except ValueError as error:
                self.unreadable += isinstance(value, NoJson)
                self._reject(place, _reason(value), str(error))
            else:
                same = self._ids.get(_hash(row.id))
                if same == _hash(trajectory_of(row).model_dump_json()):
                    self._reject(place, Reason.DUPLICATE_ID, f"an earlier run is the same, its id {row.id}, too")
                    continue
                if same is not None:
                    row = self._renamed(row)
                refusal = self._unclean(row) or self._again(row)
                if refusal is not None:
                    self._reject(place, *refusal)
                    continue
                self._ids[_hash(row.id)] = _hash(trajectory_of(row).model_dump_json())
                self._count(row)
                self._roles[row.role, row.model] += 1
                if self._known is not None:
                    self._tasks.add(row.task_id)
                self._judged[{True: "right", False: "wrong", None: "unjudged"}[row.verdict.correct]] += 1
                yield row

    def _renamed(self, row: TrajectoryRow) -> TrajectoryRow:
        """Another run than the earlier one of its id, as two files of a folder may have: its id tells them apart."""
        number = next(number for number in itertools.count(2) if _hash(f"{row.id}-{number}") not in self._ids)
        given = row.details.get("given")
        details = {**row.details, "given": {**(given if isinstance(given, dict) else {}), "id": row.id}}
        return row.model_copy(update={"id": f"{row.id}-{number}", "details": details})

    def _count(self, row: TrajectoryRow) -> None:
        """Which sample of its task the run is, by hashes: memory holds some numbers per run."""
        sample = f"{row.task_id} {row.role} {row.model}"
        self._samples.add(_hash(f"{sample} {row.rollout}"))
        count = self._counts[_hash(sample)] = self._counts.get(_hash(sample), 0) + 1
        self._most[row.role] = max(count, self._most.get(row.role, 0))

    def steps(self, row: TrajectoryRow) -> Iterator[StepRow]:
        """The labels of a run on a question whose answer is known."""
        if self._known is not None:
            for step in label(row, self._known.find(row.task_id)):
                yield step.row(self._provenance)

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

    def _reject(self, place: str, reason: Reason, detail: str) -> None:
        self._reasons[reason.value] += 1
        cause = _cause(detail)
        if cause not in self._causes and len(self._causes) >= _EXAMPLES:
            cause = "other causes"
        self._causes[cause] += 1
        self._examples.setdefault(cause, place)
        self._refuse(refused(place, reason, detail).model_copy(update={"stage": STAGE}))

    def _row(self, value: Any) -> TrajectoryRow:
        if isinstance(value, NoJson):
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
        sample = f"{row.task_id} {row.role} {row.model}"
        start = self._counts.get(_hash(sample), 0)
        rollout = next(n for n in itertools.count(start) if _hash(f"{sample} {n}") not in self._samples)
        given = details.get("rollout")
        if task is None and isinstance(given, int) and not isinstance(given, bool):
            rollout = rollout if _hash(f"{sample} {given}") in self._samples else given
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
        return ImportReport(
            format=self._importer.name,
            file=name,
            sha256=sha,
            schema_version=SCHEMA_VERSION,
            objects=self._objects,
            trajectories=len(self._ids),
            rejected=dict(sorted(self._reasons.items())),
            causes=dict(self._causes.most_common()),
            examples={cause: self._examples[cause] for cause, _ in self._causes.most_common()},
            judged=dict(sorted(self._judged.items())),
            tasks=len(self.used()),
        )

    def build_report(self, done: ImportReport, questions: int) -> BuildReport:
        """The report of the dataset, before its rows were counted.

        Args:
            questions: Lines of the file of questions that are none.
        """
        imported = StageReport(
            label=STAGE,
            stage=STAGE,
            version=self._provenance.stage_version,
            fingerprint=self._provenance.fingerprint,
            rows_in=done.objects,
            kept=done.trajectories,
            rejected=done.rejected,
        )
        stages = [imported]
        if self._known is not None:
            read = len(self._known.all)
            rejected = {Reason.MALFORMED.value: questions} if questions else {}
            about = {"label": QUESTIONS, "stage": QUESTIONS, "kept": read, "rejected": rejected}
            stages.insert(0, imported.model_copy(update={**about, "rows_in": read + questions}))
        judged = ", ".join(f"{count:,} {what}" for what, count in done.judged.items()) or "none"
        report = runs_report(
            self._provenance,
            stages,
            tuple(self._role(role) for role in sorted({role for role, _ in self._roles})),
            command=f"synth import RUNS --from {done.format} --out DATASET",
            notes=(
                f"Runs were recorded elsewhere and are here as they were: {judged} of {done.trajectories:,}.",
                "Nobody replayed them: what tools answered is what the record says.",
            ),
        )
        return report.model_copy(update={"benchmarks": done.benchmarks})

    def _role(self, role: str) -> RoleReport:
        return role_of_runs(role, {model for one, model in self._roles if one == role}, self._most[role])


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=12).digest()


def _cause(detail: str) -> str:
    """A detail without what differs from object to object: places, quoted values, numbers."""
    told = re.sub(r"\[\d+\]", "[]", detail)
    told = re.sub(r"'[^']{25,}'|\"[^\"]{25,}\"", "...", told)
    return re.sub(r"\d+", "N", told)[:160]


def _reason(value: Any) -> Reason:
    return Reason.MALFORMED if isinstance(value, NoJson) else Reason.INVALID_TRAJECTORY
