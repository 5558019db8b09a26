"""Which calls of a trajectory do what the gold walk needs: an exact bipartite matching (MatchTIR)."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import History
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.tasks import Hop, Task
from synth.text.words import same_words

__all__ = ["best_assignment", "gold_matches"]


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
            shown = view.would_show(call, result)
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
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not weights or not weights[0]:
        return []
    table = np.asarray(weights, dtype=np.float64)
    # A step later costs less than any difference of fits that matters.
    early = 1e-6 * np.arange(len(table), dtype=np.float64)[:, None] / len(table)
    rows, columns = linear_sum_assignment(np.where(table > 0, table - early, 0.0), maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if table[row, column] > 0]
