"""How well scores foresee what continuations show: of a scorer, on actions that nobody chose by their scores.

``continuations`` of a dataset are no such sample: only where a scorer saw a gap was anything continued.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from synth.schemas.row import Row

__all__ = ["MeasuredAction", "candidates_right", "within_steps"]


class MeasuredAction(Row):
    """An action, its score, and what came of its continuations."""

    place: str
    """The step of the run that it was tried at."""
    recorded: bool
    """It is the recorded action."""
    score: float | None
    """0 to 1; None = abstained."""
    right: int
    """Continuations that succeeded."""
    tried: int
    """Continuations that were judged."""


def within_steps(actions: Iterable[MeasuredAction]) -> float | None:
    """Chance that, of two continuations of different actions at one step, the one that succeeded has the higher score,
    where the other failed; ties half. That is what a search for critical steps asks of a scorer: how hard tasks and
    places are does not help it. None where there are no such two."""
    by_place: dict[str, list[MeasuredAction]] = defaultdict(list)
    for action in actions:
        if action.score is not None:
            by_place[action.place].append(action)
    won = pairs = 0.0
    for together in by_place.values():
        for one in together:
            for other in together:
                if one is other:
                    continue
                weight = one.right * (other.tried - other.right)
                pairs += weight
                assert one.score is not None
                assert other.score is not None
                won += weight * (0.5 if one.score == other.score else float(one.score > other.score))
    return won / pairs if pairs else None


def candidates_right(actions: Iterable[MeasuredAction], above: float = 0.6, below: float = 0.5) -> tuple[int, int]:
    """Alternatives that a search of failed runs would try (they score above ``above`` where the recorded action scores
    below ``below``: CSO, arXiv 2602.03412), and those of them that succeed more often than the recorded action."""
    by_place: dict[str, list[MeasuredAction]] = defaultdict(list)
    for action in actions:
        by_place[action.place].append(action)
    tried = good = 0
    for together in by_place.values():
        recorded = next((one for one in together if one.recorded), None)
        if recorded is None or recorded.score is None or recorded.score >= below or not recorded.tried:
            continue
        for one in together:
            if not one.recorded and one.score is not None and one.score > above and one.tried:
                tried += 1
                good += one.right / one.tried > recorded.right / recorded.tried
    return tried, good
