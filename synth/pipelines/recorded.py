"""The user's recorded trajectories and questions, read for :mod:`synth.pipelines.annotate`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from synth.agents.imported import import_trajectory, question_of
from synth.agents.trajectory import history_of
from synth.distribution import version
from synth.environments.contract import Environment
from synth.errors import InputError
from synth.identity import digest
from synth.inputs import parse_json, read_input
from synth.schemas.adp import AdpError, Trajectory, parse
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.reports import BuildReport, RoleReport, SourceReport, StageReport
from synth.schemas.row import Row
from synth.schemas.tasks import Difficulty, Task, Walk
from synth.schemas.trajectories import RECORDED, TrajectoryRow
from synth.tasks.draft import Draft, task_id
from synth.tasks.given import GivenQuestion, answer_kind_of, read_given

__all__ = [
    "STAGE",
    "ImportReport",
    "Recorded",
    "Tasks",
    "read_rows",
    "read_tasks",
    "read_values",
    "refused",
    "role_of_runs",
    "runs_report",
]

STAGE = "annotate"
Recorded: TypeAlias = TrajectoryRow | Trajectory | Mapping[str, Any]
"""A row of ours (with its own verdict), an ADP trajectory, or one as JSON gives it."""


class ImportReport(BaseModel):
    """What became of every object: ``trajectories`` + ``rejected`` = ``objects``."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    format: str
    """Name of the format."""
    file: str
    """Name of the file or folder, without its folder."""
    sha256: str
    """Of its content."""
    schema_version: str
    """Version of the tables that were written."""
    objects: int
    """Objects in the files."""
    trajectories: int
    """Those that became rows of ``trajectories``."""
    rejected: dict[str, int]
    """Those that did not, by reason; what exactly stands in the table ``rejected``."""
    causes: dict[str, int] = {}
    """The same in words, places left out."""
    examples: dict[str, str] = {}
    """Cause -> where it was met first."""
    judged: dict[str, int]
    """Runs that are ``right``, ``wrong`` and ``unjudged``."""
    tasks: int
    """Tasks that a run was made on, where questions were given."""
    benchmarks: dict[str, str] = {}
    """Benchmarks that no run overlaps with: name of the file -> sha256."""


class Tasks:
    """Tasks by id and by question."""

    def __init__(self, tasks: Iterable[Task], names: Mapping[str, str] | None = None) -> None:
        """
        Args:
            names: Ids that a file of questions gives -> ours.

        Raises:
            InputError: two of them ask the same, so that a trajectory would not know its gold answer.
        """
        self.all = tuple(tasks)
        self._by_id = {task.id: task for task in self.all}
        self._by_id |= {name: self._by_id[own] for name, own in (names or {}).items() if name not in self._by_id}
        self._by_question: dict[str, Task] = {}
        for task in self.all:
            other = self._by_question.setdefault(_asked(task.question), task)
            if other is not task:
                raise InputError(
                    f"two tasks ask {task.question!r}"[:300], mend="keep one: a trajectory must know its gold answer"
                )
        self._by_start: dict[str, list[str]] = {}
        for asked in self._by_question:
            if len(asked) >= _START:
                self._by_start.setdefault(asked[:_START], []).append(asked)

    def find(self, given: Any, question: str = "") -> Task:
        """The task of that id; where none is given, the one that asks ``question``, or whose question stands in it: a
        prompt may wrap what is asked in instructions. Of several, the longest.

        Raises:
            ValueError: there is none.
        """
        if given is not None:
            if given not in self._by_id:
                raise ValueError(f"there is no task {given!r}"[:300])
            return self._by_id[given]
        wanted = _asked(question)
        if wanted not in self._by_question:
            wanted = self._wrapped(wanted)
        if wanted not in self._by_question:
            raise ValueError(f"no task asks {question!r}"[:300])
        return self._by_question[wanted]

    def _wrapped(self, prompt: str) -> str:
        """The longest question that stands in the prompt; empty where none does."""
        found = [
            asked
            for at in range(len(prompt) - _START + 1)
            for asked in self._by_start.get(prompt[at : at + _START], ())
            if prompt.startswith(asked, at)
        ]
        return max(found, key=len, default="")


_START = 20
"""Signs that tell questions apart in a prompt; a shorter question may stand in another one by chance."""


def _asked(question: str) -> str:
    """Equal for questions in the same words: case, blanks and punctuation apart."""
    return "".join(sign for sign in question.casefold() if sign.isalnum())


def read_rows(
    values: Iterable[Recorded | Rejection], tasks: Tasks, environment: Environment | None, provenance: Provenance
) -> tuple[list[TrajectoryRow], list[Rejection]]:
    """The rows, in order, and why others are none."""
    rows: dict[str, TrajectoryRow] = {}
    rejected: list[Rejection] = []
    numbers: Counter[tuple[str, str]] = Counter()
    for place, value in enumerate(values, start=1):
        made = value if isinstance(value, Rejection) else _row(value, place, tasks, environment, provenance)
        if isinstance(made, Rejection):
            rejected.append(made)
        elif made.id in rows:
            rejected.append(refused(made.id, Reason.DUPLICATE_ID, f"trajectory {place}: an earlier one has this id"))
        else:
            number = numbers[made.task_id, made.role]
            numbers[made.task_id, made.role] += 1
            rows[made.id] = made if isinstance(value, TrajectoryRow) else made.model_copy(update={"rollout": number})
    return list(rows.values()), rejected


def _row(
    value: Recorded, place: int, tasks: Tasks, environment: Environment | None, provenance: Provenance
) -> TrajectoryRow | Rejection:
    try:
        if isinstance(value, TrajectoryRow):
            tasks.find(value.task_id)
            history_of(value)
            return value
        made = value if isinstance(value, Trajectory) else parse(value)
        task = tasks.find(made.details.get("task_id"), question_of(made))
        return import_trajectory(made, task, provenance=provenance, environment=environment)
    except AdpError as error:
        return refused(f"trajectory {place}", Reason.INVALID_TRAJECTORY, error.problems[0])
    except ValueError as error:
        return refused(f"trajectory {place}", Reason.INVALID_TRAJECTORY, str(error))


def read_tasks(
    tasks: Path | str | Iterable[Task], provenance: Provenance, licence: str | None, environment: str = RECORDED
) -> tuple[Tasks, list[Rejection]]:
    """The tasks, and which lines of a file are no question.

    Args:
        environment: Name of that in which questions of a file were asked.

    Raises:
        InputError: the file can't be read, no line of it is a question, or two tasks ask the same.
    """
    if not isinstance(tasks, str | Path):
        return Tasks(tasks), []
    path = Path(tasks)
    items = read_given(read_input(path, mend=_MEND), path.name)
    rejected = [item.model_copy(update={"stage": STAGE}) for item in items if isinstance(item, Rejection)]
    questions = [(number, item) for number, item in enumerate(items) if not isinstance(item, Rejection)]
    if rejected and not questions:
        raise InputError("no line is a question", where=f"{path}: {rejected[0].detail}", mend=_MEND)
    made = [_given(item, number, provenance, licence, environment) for number, item in questions]
    named = zip(questions, made, strict=True)
    return Tasks(made, {item.id: task.id for (_, item), task in named if item.id is not None}), rejected


def _given(item: GivenQuestion, number: int, provenance: Provenance, licence: str | None, environment: str) -> Task:
    """A task that has only question and answer: nothing was checked, and nothing says that it was."""
    draft = Draft(
        question=item.question,
        answer=item.answer,
        answer_aliases=item.aliases,
        answer_kind=answer_kind_of(item.answer),
        shape="given",
        walk=Walk(shape="given", hops=()),
        gold_entities=(),
        gold_documents=item.documents,
        difficulty=Difficulty(hops=0, constraints=0, branching=0.0, documents=len(item.documents)),
        split="train",
        environment=environment,
        licence=licence,
    )
    return Task(
        id=task_id(draft, provenance.source),
        **{field: getattr(draft, field) for field in Draft.model_fields},
        checks=(),
        candidate_index=number,
        provenance=provenance,
    )


_MEND = "give a file of JSON Lines"


def read_values(trajectories: Path | str | Iterable[Recorded]) -> tuple[list[Recorded | Rejection], str]:
    """The trajectories, and a hash of all of them."""
    if not isinstance(trajectories, str | Path):
        values: list[Recorded | Rejection] = list(trajectories)
        return values, digest("trajectories", [_plain(value) for value in values])
    data = read_input(trajectories, mend=_MEND)
    values = []
    for number, line in enumerate(data.decode("utf-8-sig", errors="replace").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError as error:
            values.append(refused(f"line {number}", Reason.MALFORMED, f"no JSON: {error}"))
            continue
        values.append(value)
    if not values:
        raise InputError("there is no trajectory in the file", where=str(trajectories), mend="one JSON object per line")
    return values, digest("trajectories", data.hex())


def _plain(value: Recorded | Rejection) -> Any:
    return value.model_dump(mode="json") if isinstance(value, Row) else value


def refused(row_id: str, reason: Reason, detail: str) -> Rejection:
    return Rejection(stage=STAGE, row_id=row_id, reason=reason, detail=detail[:1000])


def runs_report(
    provenance: Provenance,
    stages: Sequence[StageReport],
    roles: Sequence[RoleReport],
    *,
    command: str,
    notes: tuple[str, ...],
) -> BuildReport:
    """The report of a dataset of runs that were recorded elsewhere, before its rows were counted."""
    name = re.sub(r"[^\w.-]+", "-", provenance.dataset).strip("-.") or "runs"
    return BuildReport(
        dataset=name,
        title=f"Runs of {name}",
        synth_version=version(),
        seed=provenance.seed,
        source=SourceReport(
            name=provenance.source,
            kind="runs",
            sha256=provenance.source_sha256,
            description="Runs recorded elsewhere.",
        ),
        roles=tuple(roles),
        stages=tuple(stages),
        command=command,
        notes=notes,
    )


def role_of_runs(role: str, models: Collection[str | None], most: int) -> RoleReport:
    """Who acted in a role of such runs.

    Args:
        most: Runs of one task at most.
    """
    named = sorted(model for model in models if model is not None)
    return RoleReport(role=role, backend=RECORDED, model=", ".join(named) or None, rollouts_per_task=most)
