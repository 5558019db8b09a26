"""What turns do well (arXiv 2510.06534), by what they do, not by what they say of themselves."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import History
from synth.agents.evidence import EvidenceView, observe, words_of
from synth.agents.moves import MoveKind
from synth.labels.findings import Finding
from synth.schemas.steps import Behaviour, LabelReason
from synth.schemas.tasks import Task

__all__ = ["behaviours_of"]

_ON = frozenset((MoveKind.PROGRESS, MoveKind.REACHES, MoveKind.ON_PATH, MoveKind.CANDIDATE))


def behaviours_of(
    task: Task, history: History, found: Sequence[Finding], reasons: Sequence[LabelReason]
) -> list[tuple[Behaviour, ...]]:
    """The behaviours of each step, in the order of ``Behaviour``."""
    view = EvidenceView(task)
    behaviours: list[tuple[Behaviour, ...]] = []
    for number, step in enumerate(history):
        seen = set()
        finding = found[number]
        calm = reasons[number] in (LabelReason.NEUTRAL, LabelReason.PROGRESS, LabelReason.VERIFIED, LabelReason.CORRECTED)
        if calm and _verifies(task, view, finding):
            seen.add(Behaviour.VERIFICATION)
        if calm and _weighs(view, history, number):
            seen.add(Behaviour.AUTHORITY)
        if calm and _adapts(history, number):
            seen.add(Behaviour.ADAPTIVE_SEARCH)
        if reasons[number] is LabelReason.CORRECTED:
            seen.add(Behaviour.RECOVERY)
        behaviours.append(tuple(behaviour for behaviour in Behaviour if behaviour in seen))
        view.take(step)
    return behaviours


def _verifies(task: Task, view: EvidenceView, finding: Finding) -> bool:
    """With all that the question needs in view, looks at it again from a page or place that was not read yet."""
    hops = task.walk.hops
    move = finding.move
    if not hops or len(view.hops) < len(hops) or move is None:
        return False
    return move.kind in (MoveKind.REACHES, MoveKind.ON_PATH)


def _weighs(view: EvidenceView, history: History, number: int) -> bool:
    """Of several results whose titles share a word with the query, opens the one that is on the walk."""
    if number == 0 or not view.searches:
        return False
    opened = [observe(result.content).page for result in history[number].results if result.error is None]
    call, hits = view.searches[-1]
    if not any(before.name == call.name for before in history[number - 1].turn.calls):
        return False
    query = set(words_of(" ".join(str(value) for value in call.arguments.values())).split())
    alike = [hit for hit in hits if query & set(words_of(hit.title).split())]
    from synth.agents.moves import gold_documents

    return len(alike) > 1 and any(page in gold_documents(view.task) for page in opened if page)


def _adapts(history: History, number: int) -> bool:
    """Searches in other words than the search before, which did not give what was needed."""
    before = [call for step in history[:number] for call in step.turn.calls if call.name == "search"]
    now = [call for call in history[number].turn.calls if call.name == "search"]
    if not before or not now:
        return False
    last, new = (words_of(str(calls[-1].arguments.get("query", ""))) for calls in (before, now))
    shared = set(last.split()) & set(new.split())
    return last != new and bool(shared)
