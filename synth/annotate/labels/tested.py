"""Labels of a run that repairs code: by what the tests say before and after each change, and by where the fault is.

A change helps where fewer tests fail behind it, harms where others fail, and is neutral where the same ones do. What
was never tested has the label of the run's end, where that says something: a right end proves the last change.
"""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import History, Step
from synth.annotate.labels.walkless import Judged
from synth.environments.contract import ToolSchema, call_key
from synth.environments.reports import CHANGING, read_report
from synth.schemas.code import Mutated
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Task

__all__ = ["measured_by_tests"]

Failing = frozenset[str] | None
"""Tests that fail; None = not known: the tests were stopped, or not run."""


def measured_by_tests(
    task: Task, history: History, judged: Sequence[Judged], *, correct: bool | None, tools: Sequence[ToolSchema] = ()
) -> list[Judged]:
    """``judged`` with the labels that tests give, where it has none.

    Args:
        tools: By their defaults, calls are told to be equal.
        judged: Labels by failed calls, one per step.
        correct: Whether the tests pass at the end; None = not judged.
    """
    reports = [_report(step) for step in history]
    found: list[Judged] = []
    seen: dict[str, int] = {}
    known: Failing = None
    changed = False
    for number, (step, given) in enumerate(zip(history, judged, strict=True)):
        key = "\n".join(call_key(call, tools) for call in step.turn.calls)
        if not step.turn.calls:
            found.append(_end(step, given, correct, changed))
            continue
        if reports[number] is not None:
            made = _tested(reports[number] or frozenset(), first=known is None, changed=changed)
            known, changed = reports[number], False
        elif _changes(step):
            last = not any(map(_changes, history[number + 1 :]))
            made = _changing(known, _next(reports, history, number), correct if last else None)
            changed, seen = True, {}
        else:
            made = _looked(task, step, seen.get(key))
        seen.setdefault(key, number)
        found.append(given if given[0] is not None else made)
    return found


def _report(step: Step) -> Failing:
    """Tests that fail by a run of all of them in this step."""
    for call, result in zip(step.turn.calls, step.results, strict=False):
        report = read_report(result.content) if call.name == "run_tests" and result.error is None else None
        if report is not None:
            return frozenset(failure.id for failure in report.failures)
    return None


def _next(reports: Sequence[Failing], history: History, number: int) -> Failing:
    """What the tests say after step ``number``, before anything else is changed."""
    for report, step in zip(reports[number + 1 :], history[number + 1 :], strict=True):
        if report is not None:
            return report
        if _changes(step):
            return None
    return None


def _changes(step: Step) -> bool:
    made = zip(step.turn.calls, step.results, strict=False)
    return any(call.name in CHANGING and result.error is None for call, result in made)


def _tested(failing: frozenset[str], *, first: bool, changed: bool) -> Judged:
    if first:
        return 1, LabelReason.PROGRESS, f"shows which tests fail: {len(failing)}"
    if changed:
        return 1, LabelReason.VERIFIED, f"tests what was changed: {len(failing)} fail"
    return -1, LabelReason.REDUNDANT, "nothing was changed since the tests were run"


def _changing(before: Failing, after: Failing, correct: bool | None) -> Judged:
    if after is None:
        if correct:
            return 1, LabelReason.PROGRESS, "not tested before the end, and right"
        return None, LabelReason.UNMEASURED, "no run of the tests tells what this did"
    if before is None:
        return None, LabelReason.UNMEASURED, "it is not known which tests failed before"
    new = after - before
    if new:
        return -1, LabelReason.WRONG_TURN, f"{len(new)} tests fail with it that did not: {min(new)}"
    if after < before:
        return 1, LabelReason.PROGRESS, f"{len(after)} tests fail with it, {len(before)} did"
    return 0, LabelReason.NEUTRAL, "the same tests fail with it"


def _looked(task: Task, step: Step, before: int | None) -> Judged:
    if before is not None:
        return -1, LabelReason.REDUNDANT, f"made in step {before}, and nothing was changed since"
    fault = Mutated.of(task.details).mutation
    name = fault.scope.rpartition(".")[2]
    shown = [result.content for result in step.results if result.error is None]
    if any(fault.path in text and f"def {name}(" in text for text in shown):
        return 1, LabelReason.PROGRESS, f"shows {fault.scope} in {fault.path}, where the fault is"
    return 0, LabelReason.NEUTRAL, "shows other code than that with the fault"


def _end(step: Step, given: Judged, correct: bool | None, changed: bool) -> Judged:
    if correct is None:
        return given
    if correct:
        return 1, LabelReason.PROGRESS, "the tests pass"
    if step.turn.answer is None:
        return -1, LabelReason.PREMATURE, "gives up, and tests fail"
    untested = ", which were not run again" if changed else ""
    return -1, LabelReason.UNSUPPORTED_ANSWER, f"says that it is done; tests fail{untested}"
