"""Runs that somebody recorded elsewhere, in the place of rollouts: read, matched with their tasks, judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import ValidationError

from synth.agents.imported import from_request, import_trajectory, question_of
from synth.agents.trajectory import history_of
from synth.environments.contract import Environment
from synth.filtering.decontamination.benchmarks import Benchmarks
from synth.identity import hash_64
from synth.schemas.adp import Trajectory, error_lines
from synth.schemas.arrow import trajectory_of
from synth.schemas.recorded import RecordedRun
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow
from synth.sources.runs.files import NoJson, hash_of, objects_in, pieces_of, run_files
from synth.sources.runs.questions import Questions
from synth.stages.contract import Batch, Context, Implementation, ShardStage, StageConfig

__all__ = ["ReadRuns", "ReadRunsConfig"]

_COLUMNS = frozenset(
    "task_id rollout role model system_prompt tools stop_reason answer correct split licence source".split()
)
"""Keys of ``details`` that become columns."""
_EVENT_LOGS = frozenset({"auto", "openhands", "sessions"})


class Reader(Protocol):
    """What reads objects of one format."""

    @property
    def read(self) -> Callable[[Mapping[str, Any]], Trajectory | TrajectoryRow]:
        """Raises ValueError, in words, when the object is none of the format."""


class ReadRunsConfig(StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str
    """A file, or a folder of files."""
    importer: Implementation
    """Reads objects of a format."""
    all_correct: bool = False
    """Treat runs without a verdict as correct."""
    licence: str | None = None
    """SPDX id of what the observations quote, where the files do not say it."""
    benchmarks: Implementation | None = None
    """What no run's question or answer may overlap with. None = nothing."""
    environment: Implementation | None = None
    """Where they were recorded: its tools, its verdicts, its errors. None = it can't be opened here."""


class ReadRuns(ShardStage[ReadRunsConfig]):
    """Where there are tasks, a run is made on one of them, or rejected."""

    name = "read_runs"
    version = 15
    config_type = ReadRunsConfig
    optional: ClassVar[tuple[str, ...]] = ("tasks",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"recorded": RecordedRun}

    def __init__(self, config: ReadRunsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._pieces = pieces_of(run_files(Path(config.path)))
        self._reader: Reader = config.importer.itself()
        self._questions = Questions(context.inputs.table("tasks").rows()) if "tasks" in context.inputs else None
        self._benchmarks: Benchmarks | None = None if config.benchmarks is None else context.make(config.benchmarks)
        self._environment: Environment | None = None
        if config.environment is not None:
            self._environment = context.make(config.environment, inputs=context.inputs)
        self._provenance = context.provenance.model_copy(update={"backend": RECORDED})

    @classmethod
    def content_digest(cls, config: ReadRunsConfig) -> str:
        return hash_of(run_files(Path(config.path)))

    def shards(self) -> int:
        return len(self._pieces)

    def produce(self, shard: int) -> Batch:
        kept: list[RecordedRun] = []
        rejected: list[Rejection] = []
        for place, value in objects_in(self._pieces[shard], events=self.config.importer.kind in _EVENT_LOGS):
            try:
                found = self._run(place, value)
            except ValidationError as error:
                found = self._refused(place, Reason.INVALID_TRAJECTORY, error_lines(error)[0])
            except ValueError as error:
                reason = Reason.MALFORMED if isinstance(value, NoJson) else Reason.INVALID_TRAJECTORY
                found = self._refused(place, reason, str(error))
            if isinstance(found, Rejection):
                rejected.append(found)
            else:
                kept.append(found)
        return Batch({"recorded": kept}, rejected=rejected, rows_in=len(kept) + len(rejected), kept_in=len(kept))

    def _run(self, place: str, value: Any) -> RecordedRun | Rejection:
        """
        Raises:
            ValueError: it is not a run, or a run of no task.
        """
        if isinstance(value, NoJson):
            raise ValueError(value.why)
        if not isinstance(value, Mapping):
            raise ValueError("not an object")
        read = self._reader.read(value)
        own = isinstance(read, TrajectoryRow)
        row, stated = self._own(read) if isinstance(read, TrajectoryRow) else self._imported(read)
        if row.role == "expert":
            raise ValueError("its role is expert: a recorded run is a teacher's or a policy's")
        run = trajectory_of(row)
        if self._benchmarks is not None and (said := self._benchmarks.run(question_of(run), row.answer)) is not None:
            return self._refused(place, Reason.CONTAMINATED, said)
        return RecordedRun(
            id=place,
            role=row.role,
            name_hash=hash_64(row.id),
            run_hash=hash_64(run.model_dump_json()),
            sample_hash=hash_64(f"{row.task_id} {row.role} {row.model}"),
            rollout=stated,
            own=own,
            run=row.model_dump_json(),
        )

    def _own(self, row: TrajectoryRow) -> tuple[TrajectoryRow, int]:
        if self._questions is not None:
            self._questions.find(row.task_id, question_of(trajectory_of(row)))
        history_of(row)
        return row, row.rollout

    def _imported(self, read: Trajectory) -> tuple[TrajectoryRow, int]:
        read = from_request(read)
        details = dict(read.details)
        task: Task | None = None
        if self._questions is not None:
            task = self._questions.find(details.get("task_id"), question_of(read))
        elif self.config.all_correct:
            details.setdefault("correct", True)
        given = read.model_copy(update={"details": details})
        row = import_trajectory(given, task, provenance=self._provenance, environment=self._environment)
        stated = details.get("rollout")
        kept = {key: item for key, item in row.details.items() if key not in _COLUMNS}
        row = row.model_copy(update={"details": kept, "licence": row.licence or self.config.licence})
        return row, stated if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 0 else -1

    def _refused(self, place: str, reason: Reason, detail: str) -> Rejection:
        return Rejection(stage=self.name, row_id=place, reason=reason, detail=detail[:1000])
