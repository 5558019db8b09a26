"""What was computed from other rows, computed once more: labels, verdicts on answers, predictions, spans of facts.

Part of ``synth validate --deep``. It runs the library's own functions: it tells damage, no wrong function. The audit
of tasks (:mod:`synth.dataset.audit`) shares no code with what made them.
"""

from __future__ import annotations

from calendar import month_name
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from synth import distribution
from synth.agents.plan_view import plan_of
from synth.annotate.labels.label import StepLabel, label
from synth.dataset.audit.findings import rows
from synth.dataset.files import Problem, Problems
from synth.dataset.reader import Dataset, load
from synth.environments.answers import check_task
from synth.errors import DatasetError
from synth.identity import digest
from synth.schemas.code import Mutated
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.documents import Document
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.reports import BuildReport
from synth.schemas.steps import ContinuationRow, LabelReason, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow, judged_elsewhere
from synth.tasks.difficulty import cross_fit

__all__ = ["derived_problems"]

_LABELS = tuple(StepLabel.model_fields)
_FACTS = 200_000
"""Facts that are looked up in the documents together."""


def derived_problems(folder: str | Path, *, limit: int = 100) -> list[Problem]:
    """Rows that are not what this version computes from the rows that they derive from.

    Memory holds the tasks, and a few bytes per step. Nothing is compared where another version made the dataset.

    Raises:
        InputError: there is no dataset in the folder.
    """
    dataset = load(folder)
    found = Problems(limit)
    try:
        report = dataset.report
    except DatasetError:
        return []
    if report.redacted is not None or report.synth_version != distribution.version():
        return []
    tasks: dict[str, Task] = {task.id: task for _, task in rows(dataset, "tasks", Task)}
    _runs(dataset, report, tasks, found)
    if report.source.kind in ("world", "triples", "tables"):
        _facts(dataset, found)
    return found.listed()


def _runs(dataset: Dataset, report: BuildReport, tasks: dict[str, Task], found: Problems) -> None:
    labels: dict[str, str] = {}
    right: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for (file, place), run in rows(dataset, "trajectories", TrajectoryRow):
        task = tasks.get(run.task_id)
        if task is None:
            continue
        if run.role == "policy" and run.verdict.correct is not None and run.retry_of is None:
            tried[task.id] += 1
            right[task.id] += run.success
        for what in _verdict(run, task):
            found.add(file, place, what)
        if "steps" in dataset.configs:
            labels |= {f"{run.id}/{step.step}": _digest(step) for step in _labelled(run, task)}
    judged = {row.trajectory_id for _, row in rows(dataset, "steps", StepRow) if row.label_reason is LabelReason.JUDGED}
    for (file, place), row in rows(dataset, "steps", StepRow):
        if row.trajectory_id not in judged and row.id in labels and labels[row.id] != _digest(row):
            found.add(file, place, f"{_other(dataset, tasks, row)}: not what the run and its task give")
    for (file, place), branch in rows(dataset, "continuations", ContinuationRow):
        for what in _verdict(branch, tasks.get(branch.task_id)):
            found.add(file, place, what)
    folds = (report.recipe.get("difficulty") or {}).get("folds")
    if "difficulty" in dataset.configs and folds:
        wanted = list(tasks.values())
        try:
            predicted, _ = cross_fit(wanted, [right[t.id] for t in wanted], [tried[t.id] for t in wanted], folds=folds)
        except ValueError:
            return
        chance = {task.id: value for task, value in zip(wanted, predicted, strict=True)}
        order = {name: n for n, name in enumerate(sorted(chance, key=lambda name: (-chance[name], name)))}
        for (file, place), one in rows(dataset, "difficulty", DifficultyRow):
            if one.task_id in chance and one.predicted != chance[one.task_id]:
                found.add(file, place, f"predicted: {one.predicted}, but the other folds give {chance[one.task_id]}")
            if one.task_id in order and one.order != order[one.task_id]:
                found.add(file, place, f"order: {one.order}, but the predictions give {order[one.task_id]}")


def _verdict(row: TrajectoryRow | ContinuationRow, task: Task | None) -> Iterator[str]:
    """Of an answer; what is judged by the state is carried out again by the audit."""
    if task is None or plan_of(task) is not None or Mutated.stand_in(task.details) or row.provenance.backend is None:
        return
    if row.stop_reason is StopReason.REJECTED:  # a model cut it short, so there is nothing to judge
        if row.answer is not None or row.verdict.correct is not None:
            yield f"verdict: {row.verdict.rule}, of a run that came to no end"
        return
    if judged_elsewhere(row.verdict, task.environment, getattr(row, "environment", None)):
        return
    wanted = check_task(task, row.answer)
    if row.verdict != wanted:
        yield f"verdict: {row.verdict.rule} ({row.verdict.evidence[:80]}), but the answer gives {wanted.rule}"


def _labelled(run: TrajectoryRow, task: Task) -> tuple[StepLabel, ...]:
    try:
        return label(run, task)
    except ValueError:
        return ()  # the plain validation says what is wrong with its content


def _digest(step: StepLabel | StepRow) -> str:
    return digest(step.model_dump(mode="json", include=set(_LABELS)))[:16]


def _other(dataset: Dataset, tasks: dict[str, Task], row: StepRow) -> str:
    """The columns that differ."""
    run = dataset.find("trajectories", row.trajectory_id)
    for step in () if run is None else _labelled(run, tasks[run.task_id]):
        if step.step == row.step:
            return ", ".join(name for name in _LABELS if getattr(step, name) != getattr(row, name))
    return "step"


def _facts(dataset: Dataset, found: Problems) -> None:
    """Each fact of a generated page stands in whole sentences that name its object, on its own page or by name."""
    names = {row.id: (row.name, *row.aliases) for _, row in rows(dataset, "entities", EntityRow)}
    homes = {row.id: row.document_id for _, row in rows(dataset, "entities", EntityRow)}
    waiting: dict[str, list[tuple[tuple[str, int], FactRow]]] = defaultdict(list)

    def settle() -> None:
        for _, page in rows(dataset, "documents", Document) if waiting else ():
            for (file, place), fact in waiting.pop(page.id, ()):
                for what in _stated(page, fact, names, homes):
                    found.add(file, place, what)
        waiting.clear()

    for count, (place, fact) in enumerate(rows(dataset, "facts", FactRow), start=1):
        waiting[fact.document_id].append((place, fact))
        if count % _FACTS == 0:
            settle()
    settle()


def _stated(
    page: Document, fact: FactRow, names: dict[str, tuple[str, ...]], homes: dict[str, str | None]
) -> Iterator[str]:
    quote = page.text[fact.start : fact.end]
    if page.text[fact.start - 1 : fact.start] not in ("", " ", "\n") or quote[-1:] not in tuple(".!?"):
        yield f"start, end: {quote[:60]!r} is not a whole sentence"
    if homes.get(fact.subject) != page.id and not any(name in quote for name in names.get(fact.subject, ())):
        yield f"subject: {fact.subject} is not what {page.id} is about, nor named in {quote[:60]!r}"
    target = names.get(fact.object, ()) if fact.object is not None else (fact.value or "",)
    if fact.value_kind == "date" and fact.value is not None and fact.value.count("-") == 2:
        year, month, day = fact.value.split("-")
        words = (year, month_name[int(month)] if month.isdigit() and int(month) < 13 else month, day.lstrip("0"))
        held = all(word in quote for word in words)
    else:
        held = any((name and name in quote.replace(",", "")) or name in quote for name in target)
    if not held:
        yield f"object, value: {(fact.object or fact.value)!r} is not named in {quote[:60]!r}"
