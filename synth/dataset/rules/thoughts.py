"""Rules of what agents think: a scripted teacher leaves out nothing, does what it says, and looks before it decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from synth.agents.contract import History, Prompt
from synth.agents.grounding.consistency import inconsistencies
from synth.agents.grounding.diligence import unlooked
from synth.agents.grounding.mistakes import passes_over
from synth.agents.trajectory import history_of, steps_of
from synth.dataset.phrasing import Wording
from synth.dataset.rules.rules import Known, Place, rule
from synth.environments.contract import ToolError
from synth.schemas.adp import Action
from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import Document
from synth.schemas.plans import Planned
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, CallErrors, TrajectoryRow

__all__ = ["THOUGHT_RULES"]


@dataclass
class _Plans:
    tasks: dict[str, Task] = field(default_factory=dict)
    """Those with a plan, by id."""
    errors: dict[str, Mapping[str, ToolError]] = field(default_factory=dict)
    """Failed run of one of them -> which of its calls failed, and how."""


@rule("trajectories", "content[]", text=True)
def thoughts(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """In good runs of a scripted teacher, thoughts leave out nothing of a list, a comparison or a conclusion, give a
    reason for every return, and match the action."""
    read = _read(row, known)
    if read is not None:
        for one in inconsistencies(*read):
            yield f"content: {one}"


@rule("tasks trajectories", text=True)
def diligence(row: Task | TrajectoryRow, known: Known) -> Iterator[str]:
    """In good runs of a scripted teacher, everything by which the policy decides was looked up before the change or the
    answer, the user was asked for what the request leaves open, and no rule is quoted but the one that decides."""
    plans = known.of(_Plans).tasks
    if isinstance(row, Task):
        if Planned.stand_in(row.details):
            plans[row.id] = row
        return
    task, read = plans.get(row.task_id), _read(row, known)
    if task is None or read is None:
        return
    for one in unlooked(task, *read):
        yield f"content: {one}"


@rule("tasks trajectories preferences", text=True)
def corrections(row: Task | TrajectoryRow | PreferenceRow, known: Known) -> Iterator[str]:
    """After a guessed id, or a change the user never asked for, what a scripted expert prefers admits it."""
    plans = known.of(_Plans)
    if isinstance(row, TrajectoryRow):
        if row.task_id in plans.tasks and not row.success:
            plans.errors[row.id] = cast(dict[str, ToolError], CallErrors.of(row.details).tool_errors)
        return
    if isinstance(row, Task) or row.kind is not PairKind.VERIFIED_STEP or known.redacted:
        return
    task, errors = plans.tasks.get(row.task_id), plans.errors.get(row.trajectory_id)
    modelled = {use.role for use in known.report.model_uses()} if known.report is not None else {"expert"}
    if task is None or errors is None or not modelled.isdisjoint(("expert", "policy")):
        return  # what a model says in words of its own is not read here
    items = (*row.prompt, *row.chosen)
    start = next((at for at, item in enumerate(items) if isinstance(item, Action)), len(items))
    try:
        steps = steps_of(items[start:], errors, gave_up=False, name=row.id)
    except ValueError:
        return  # the rules of the protocol say why
    if steps and (silent := passes_over(task, steps)) is not None:
        yield f"chosen: {silent}"


def _read(row: TrajectoryRow, known: Known) -> tuple[Prompt, History] | None:
    """A good run of a scripted teacher; None for any other."""
    scripted = row.provenance.backend == "scripted" and row.model is None and row.environment != RECORDED
    if row.role != "teacher" or not row.success or not scripted or known.redacted:
        return None
    try:
        return history_of(row)
    except ValueError:
        return None  # the rules of the protocol say why


def _told(known: Known) -> Iterator[tuple[Place, str]]:
    for one in known.of(Wording).telling():
        counts = f"{one.runs:,} of {one.of:,} against {one.others:,} of {one.of_others:,}"
        yield known.place, f"the phrase {one.phrase!r} tells {one.classes}: {counts}"


@rule("tasks trajectories planted_misinformation documents", text=True)
def phrases_counted(row: Task | TrajectoryRow | PlantedMisinformation | Document, known: Known) -> Iterator[str]:
    """What rows say is kept until the last table (``phrases``)."""
    known.of(Wording).see(row)
    yield from ()


@rule("preferences", text=True, close=_told)
def phrases(row: PreferenceRow, known: Known) -> Iterator[str]:
    """No phrase outside names, numbers and quotations stands in one class of rows five times as often as in the other,
    unless it is the evidence: runs that succeed or fail, teacher or policy, requests refused or done, requests that a
    hidden rule forbids, planted errors or real ones, written pages that are false or true."""
    known.of(Wording).see(row)
    yield from ()


THOUGHT_RULES = (thoughts, diligence, corrections, phrases_counted, phrases)
