"""What each step of a history did: the facts that labels, behaviours, failure classes and masks are made of; and which
of the calls do what the gold walk needs, by an exact bipartite matching (MatchTIR)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from synth.agents.contract import History
from synth.annotate.evidence.assessment import (
    Effect,
    StepAssessment,
    gold_documents,
    missing_for_answer,
    telling,
)
from synth.annotate.evidence.calls import judge_call
from synth.annotate.evidence.view import EvidenceView, names_of, states_answer
from synth.annotate.labels.assignment import assign
from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.environments.observed import observe
from synth.schemas.tasks import Hop, Task
from synth.text.words import same_words

__all__ = ["Finding", "best_assignment", "findings_of", "gold_matches"]

_LOOKS = frozenset((Effect.REACHES, Effect.ON_PATH))


@dataclass(frozen=True)
class Finding:
    """One step, judged by itself."""

    assessments: tuple[StepAssessment, ...]
    """One per call that was carried out."""
    new_hops: frozenset[int]
    hops: frozenset[int]
    """In view after the step; of a task with a plan, the parts of it that are done."""
    missing: tuple[int, ...] = ()
    """Hops not in view, of an answer or where the agent gives up."""
    undone: tuple[str, ...] = ()
    """Of a task with a plan, the same: what of the plan is not done, in words."""
    answer: str | None = None
    ends: bool = False
    """The last turn: an answer, or none."""
    cut_off: bool = False
    """Its calls were not carried out."""
    seen_answer: bool = False
    """The words of the answer stood in an observation of the collection, each part somewhere; what has to be worked out
    counts as seen once all that it rests on was in view."""
    verifies: bool = False
    """All that the question needs was in view, and it looks again at a page of the walk."""

    @property
    def assessment(self) -> StepAssessment | None:
        """The call that says most about the step: the worst, else the best."""
        return telling(self.assessments)


def findings_of(
    task: Task,
    history: History,
    *,
    tools: Sequence[ToolSchema] = (),
    answer: str | None = None,
    right: bool = False,
) -> tuple[Finding, ...]:
    """Judge every step by what was in view before it.

    Args:
        tools: By their defaults, calls are told to be equal.
        answer: The run's answer, where the last message says more than that.
        right: Whether it was judged to be right.
    """
    view, gold = EvidenceView(task, tools=tools), gold_documents(task)
    found: list[Finding] = []
    for step in history:
        assessments = tuple(
            judge_call(view, call, result) for call, result in zip(step.turn.calls, step.results, strict=False)
        )
        missing = () if step.turn.calls else missing_for_answer(view)
        complete = bool(task.walk.hops) and not missing_for_answer(view)
        undone = () if step.turn.calls or view.plan is None else view.plan.missing()
        had = view.plan.had if view.plan is not None else frozenset()
        pages = [observe(result.content).about for result in step.results if result.error is None]
        new = view.take(step)
        said = step.turn.answer if answer is None or step.turn.answer is None else answer
        found.append(
            Finding(
                assessments=assessments,
                new_hops=new if view.plan is None else view.plan.had - had,
                hops=frozenset(view.hops) if view.plan is None else view.plan.had,
                missing=missing,
                undone=undone,
                answer=said,
                ends=not step.turn.calls,
                cut_off=bool(step.turn.calls) and not step.results,
                seen_answer=_was_seen(view, said, right)
                or (bool(task.walk.operations) and not missing and not step.turn.calls),
                verifies=(
                    complete and any(page in gold for page in pages) and all(m.kind in _LOOKS for m in assessments)
                )
                or (bool(assessments) and view.plan is not None and all(m.kind is Effect.ON_PATH for m in assessments)),
            )
        )
    return tuple(found)


def _was_seen(view: EvidenceView, answer: str | None, right: bool) -> bool:
    contents = (result.content for _, result in view.results)
    return answer is not None and states_answer(view.task, answer, contents, right=right)


def gold_matches(task: Task, history: History) -> tuple[int, ...]:
    """For each step the hop that it is matched to, -1 for none.

    A hop of the walk needs one call that shows its evidence. Steps and hops are matched one to one so that the sum of
    their fits is greatest: 1 for the call that brought the evidence into view, 0.7 for opening the page that holds it,
    0.4 for reaching for the hop's start by name. The earlier of two equal steps is taken.
    """
    hops = task.walk.hops
    view = EvidenceView(task)
    weights: list[list[float]] = []
    for step in history:
        row = [0.0] * len(hops)
        for call, result in zip(step.turn.calls, step.results, strict=False):
            shown = view.would_show(result)
            for number, hop in enumerate(hops):
                row[number] = max(row[number], 1.0 if number in shown else _fit(hop, call, result))
        view.take(step)
        weights.append(row)
    matched = [-1] * len(history)
    for step_number, hop_number in best_assignment(weights):
        matched[step_number] = hop_number
    return tuple(matched)


def _fit(hop: Hop, call: ToolCall, result: ToolResult) -> float:
    if result.error is not None:
        return 0.0
    values = [str(value) for value in call.arguments.values()]
    if any(value.split("#", 1)[0] == hop.evidence.document_id for value in values):
        return 0.7
    named = any(same_words(value, name) for value in values for name in names_of(hop.source))
    return 0.4 if named or hop.source.document_id in values else 0.0


def best_assignment(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs (row, column), each row and column once at most, with the greatest sum of positive weights.

    Among equals the earlier rows win. Exact: the assignment problem, by shortest augmenting paths (Jonker, Volgenant).
    """
    fits = [(row, column) for row, line in enumerate(weights) for column, weight in enumerate(line) if weight > 0]
    if len({row for row, _ in fits}) == len(fits) == len({column for _, column in fits}):
        return fits  # nothing competes: most tables
    # A step later costs less than any difference of fits that matters.
    table = [
        [weight - 1e-6 * row / len(weights) if weight > 0 else 0.0 for weight in line]
        for row, line in enumerate(weights)
    ]
    return [(row, column) for row, column in assign(table) if weights[row][column] > 0]
