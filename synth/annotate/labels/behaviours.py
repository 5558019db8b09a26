"""What turns do well (arXiv 2510.06534), by what they do, not by what they say of themselves."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import History
from synth.annotate.evidence.assessment import gold_documents
from synth.annotate.evidence.view import EvidenceView
from synth.annotate.labels.findings import Finding
from synth.environments.contract import WORD_ARGUMENTS, ToolCall
from synth.environments.observed import observe
from synth.schemas.steps import Behaviour, LabelReason
from synth.schemas.tasks import Task
from synth.text.words import words_of

__all__ = ["behaviours_of"]

_WELL = frozenset(
    (
        LabelReason.NEUTRAL,
        LabelReason.UNMEASURED,
        LabelReason.PROGRESS,
        LabelReason.VERIFIED,
        LabelReason.CORRECTED,
        LabelReason.TOOL_FAILURE,
    )
)


def behaviours_of(
    task: Task, history: History, found: Sequence[Finding], reasons: Sequence[LabelReason]
) -> list[tuple[Behaviour, ...]]:
    """The behaviours of each step, in the order of ``Behaviour``. A step that harms shows none."""
    view = EvidenceView(task)
    behaviours: list[tuple[Behaviour, ...]] = []
    for number, step in enumerate(history):
        shown = {
            Behaviour.VERIFICATION: found[number].verifies,
            Behaviour.AUTHORITY: _weighs(view, history, number),
            Behaviour.ADAPTIVE_SEARCH: _adapts(history, number),
            Behaviour.RECOVERY: reasons[number] is LabelReason.CORRECTED,
        }
        well = reasons[number] in _WELL
        behaviours.append(tuple(behaviour for behaviour in Behaviour if well and shown[behaviour]))
        view.take(step)
    return behaviours


def _weighs(view: EvidenceView, history: History, number: int) -> bool:
    """Straight after a search that listed several pages of like titles, opens the one that is on the walk."""
    if number == 0 or not view.searches:
        return False
    call, hits = view.searches[-1]
    if call not in history[number - 1].turn.calls:
        return False
    query = set(_query(call).split())
    alike = {hit.document for hit in hits if query & set(words_of(hit.title).split())}
    pages = {observe(result.content).about for result in history[number].results if result.error is None}
    return len(alike) > 1 and bool(pages & alike & gold_documents(view.task))


def _adapts(history: History, number: int) -> bool:
    """Asks a searching tool again in other words, some of them kept."""
    now = [call for call in history[number].turn.calls if _query(call)]
    before = [call for step in history[:number] for call in step.turn.calls if _query(call)]
    if not now or not before or before[-1].name != now[0].name:
        return False
    last, new = _query(before[-1]), _query(now[0])
    return last != new and bool(set(last.split()) & set(new.split()))


def _query(call: ToolCall) -> str:
    """The words that a call looks for; empty for a call that looks for none."""
    words = (value for name, value in call.arguments.items() if name in WORD_ARGUMENTS and isinstance(value, str))
    return words_of(next(words, ""))
