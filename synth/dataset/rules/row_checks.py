"""Rules that tie rows to each other: ids, splits, evidence, links between tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Protocol

from pydantic import ValidationError

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.references import escaped, holds_reference, reference, whole_in
from synth.dataset.rules.recorded import Recorded, record
from synth.dataset.rules.source_checks import run_source_problems
from synth.environments.answers import final_answer
from synth.schemas.adp import Action, AdpError, MessageAction, TextObservation, error_lines, parse, to_json
from synth.schemas.arrow import trajectory_of
from synth.schemas.documents import Document, Evidence
from synth.schemas.reflections import Reflected
from synth.schemas.rejections import Rejection
from synth.schemas.reports import BuildReport
from synth.schemas.steps import ContinuationRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, StopReason, TrajectoryRow
from synth.schemas.turns import turn_ranges

__all__ = [
    "DocumentCheck",
    "Place",
    "RejectionCheck",
    "RowCheck",
    "TaskCheck",
    "TrajectoryCheck",
    "ending_problems",
    "length_of",
    "stated_there",
]

Place = tuple[str, int]
"""File and row, for a message about something that is only known later."""


class RowCheck(Protocol):
    def see(self, file: DataFile, row: int, value: Any, /) -> None:
        """A row that parsed."""

    def finish(self) -> None:
        """The table has no more rows."""


class TaskCheck:
    """Sees all tasks first; the other checks ask it."""

    def __init__(self, found: Problems, exempt: frozenset[str], *, redacted: bool = False) -> None:
        """``redacted`` = passages stand as references: what is compared with a text is compared where that is there."""
        self.found = found
        self.exempt = exempt
        self.redacted = redacted
        self.splits: dict[str, str] = {}
        self.questions: dict[str, str] = {}
        self.hops: dict[str, int] = {}
        self.quotes: dict[str, list[tuple[Place, int, Evidence]]] = defaultdict(list)
        self.gold: dict[str, tuple[str, Place]] = {}

    def see(self, file: DataFile, row: int, task: Task) -> None:
        add, place = self.found.add, (file.label, row)
        self.splits[task.id] = task.split
        self.questions[task.id] = task.question
        self.hops[task.id] = len(task.walk.hops)
        if not task.checks and task.walk.hops:
            add(*place, "checks: none is recorded")
        for check in task.checks:
            if check.outcome != "passed":
                add(*place, f"checks: {check.check} {check.outcome}")
        for name in task.gold_entities:
            if name in self.exempt:
                continue
            split, where = self.gold.setdefault(name, (task.split, place))
            if split != task.split:
                add(*place, f"gold_entities: {name} is gold in {split} too ({where[0]}, row {where[1]})")
        for number, hop in enumerate(task.walk.hops):
            self.quotes[hop.evidence.document_id].append((place, number, hop.evidence))
            if hop.cue not in task.question and not (self.redacted and holds_reference(task.question)):
                add(*place, f"walk.hops[{number}].cue: not in the question")
            if any(not 0 <= need < number for need in hop.needs):
                add(*place, f"walk.hops[{number}].needs: names a hop that does not come before it")

    def finish(self) -> None:
        """All tasks were seen; what they cite is looked up among the documents."""


class DocumentCheck:
    def __init__(self, found: Problems, tasks: TaskCheck) -> None:
        self.found = found
        self.tasks = tasks
        self.lengths: dict[str, int] = {}
        """Code points of every document's text, by id."""

    def see(self, file: DataFile, row: int, document: Document) -> None:
        add, place = self.found.add, (file.label, row)
        length = self.lengths[document.id] = length_of(document)
        for name in ("sections", "links", "anchors"):
            for number, span in enumerate(getattr(document, name)):
                if not 0 <= span.start <= span.end <= length:
                    add(*place, f"{name}[{number}]: span {span.start} to {span.end} is not in the text (0 to {length})")
        for where, number, evidence in self.tasks.quotes.pop(document.id, ()):
            stated = stated_there(document, evidence.start, evidence.end, redacted=self.tasks.redacted)
            if stated != evidence.quote:
                path = f"walk.hops[{number}].evidence"
                add(*where, f"{path}: {document.id} says {stated[:80]!r} there, not {evidence.quote[:80]!r}")

    def finish(self) -> None:
        """Nothing is left open."""


def length_of(document: Document) -> int:
    """Code points of its text, also of one that is redacted."""
    stands_for = whole_in(document.text, document.id)
    return len(document.text) if stands_for is None else stands_for.end


def stated_there(document: Document, start: int, end: int, *, redacted: bool) -> str:
    """What evidence that names this place must quote: the words, or a reference where they are redacted."""
    if not redacted:
        return document.text[start:end]
    if whole_in(document.text, document.id) is not None:
        return reference(document.id, start, end)
    return escaped(document.text[start:end])


class TrajectoryCheck:
    def __init__(self, found: Problems, tasks: TaskCheck, *, keep: bool = False) -> None:
        """``keep`` = other tables refer to trajectories: digests of all of them stay in memory."""
        self.found = found
        self.tasks = tasks
        self.keep = keep
        self.recorded: dict[str, Recorded] = {}
        self.ids: set[str] = set()
        self.marks: dict[str, tuple[str, Place]] = {}
        """Run that says that another one stands for it -> that one, and where it says so."""

    def see(self, file: DataFile, row: int, trajectory: TrajectoryRow) -> None:
        place = (file.label, row)
        for what in self._problems(file, trajectory):
            self.found.add(*place, what)
        if trajectory.duplicate_of is not None:
            self.marks[trajectory.id] = trajectory.duplicate_of, place
        if self.keep:
            self.recorded[trajectory.id] = record(trajectory)

    def _problems(self, file: DataFile, row: TrajectoryRow) -> list[str]:
        wrong = _protocol(row)
        self.ids.add(row.id)
        if row.retry_of is not None and not Reflected.stand_in(row.details):
            wrong.append("retry_of: a second try holds the reflection on the first in its details; this does not")
        if row.retry_of is not None and row.retry_of == row.id:
            wrong.append("retry_of: a run is no second try of itself")
        if row.task_id in self.tasks.splits and row.environment != RECORDED:  # else it was asked in any words
            first = row.content[0] if row.content else None
            if not isinstance(first, TextObservation) or first.source != "user":
                wrong.append("content[0]: is not what the user asked")
            elif self.tasks.questions[row.task_id] not in first.content and not (
                self.tasks.redacted and holds_reference(first.content)
            ):
                wrong.append("content[0]: does not hold the question of its task")
        return [*wrong, *_counts(row), *run_source_problems(row)]

    def finish(self) -> None:
        """Nothing is left open."""


def _protocol(row: TrajectoryRow) -> list[str]:
    """The ADP object that the row's ADP columns give, as the JSON that a reader would write, parsed anew."""
    try:
        trajectory = trajectory_of(row)
        if parse(to_json(trajectory)) != trajectory:
            return ["content: is another one after a round trip through JSON"]
    except ValidationError as error:
        return error_lines(error)
    except AdpError as error:
        return list(error.problems)
    return []


def _counts(row: TrajectoryRow) -> Iterator[str]:
    """The typed columns against the content."""
    calls = sum(item.class_ in ("api_action", "code_action") for item in row.content)
    if calls != row.tool_calls:
        yield f"tool_calls: {row.tool_calls}, but the content holds {calls}"
    yield from ending_problems(row)
    names = tuple(tool.get("function", {}).get("name") for tool in row.tool_schemas)
    if row.available_custom_tools is not None and row.available_custom_tools != names:
        yield "available_custom_tools: are not those of tool_schemas"


def ending_problems(row: TrajectoryRow | ContinuationRow) -> Iterator[str]:
    """How it ended and how long it is, against its content."""
    if row.success != (row.verdict.correct is True):
        yield f"success: {row.success}, but the verdict says {row.verdict.correct}"
    turns = len(turn_ranges(row.content))
    actions = sum(isinstance(item, Action) for item in row.content)
    if not turns <= row.turns <= actions:
        yield f"turns: {row.turns}, but the content holds {turns}"
    last = row.content[-1] if row.content else None
    if row.stop_reason is StopReason.ANSWERED:
        if not isinstance(last, MessageAction) or row.answer not in (last.content, final_answer(last.content)):
            yield "answer: is not that of the last message"
    elif row.answer is not None:
        yield f"answer: there is one, though the rollout ended with {row.stop_reason}"


class RejectionCheck:
    """The report counts rejected units by stage; each of them stands in the table, with one row at least."""

    def __init__(self, found: Problems, report: BuildReport | None) -> None:
        self.found = found
        self.report = report
        self.rows: Counter[str] = Counter()
        self.units: dict[str, set[str]] = defaultdict(set)

    def see(self, file: DataFile, row: int, rejection: Rejection) -> None:
        self.rows[rejection.stage] += 1
        if rejection.part is None:  # a row may be kept without a sample
            self.units[rejection.stage].add(rejection.row_id)

    def finish(self) -> None:
        if self.report is None:
            return
        stated: Counter[str] = Counter()
        for stage in self.report.stages:
            stated[stage.stage] += sum(stage.rejected.values())
        for name in sorted({*stated, *self.rows}):
            # Two runs of one kind of stage (teacher, policy) may each reject the same unit.
            if not len(self.units[name]) <= stated[name] <= self.rows[name]:
                what = f"stage {name}: {stated[name]:,} rejected by the report, {self.rows[name]:,} listed"
                self.found.add("rejected", None, what)
