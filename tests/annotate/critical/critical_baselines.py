"""What others do, behind the same interface, to compare with.

``cso``: the rule of CSO (arXiv 2602.03412): one continuation of each candidate's alternative, none of the original;
verified when it succeeds. ``monte_carlo``: every alternative at every step, the same number of continuations on both
sides, no scores; verified by the same exact test with one look.
"""

from __future__ import annotations

from synth.annotate.critical.candidates import Found, find_candidates
from synth.annotate.critical.comparisons import Comparison, Finding, Result
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.annotate.critical.contract import Expert, Scorer
from synth.annotate.critical.search import Searched, result_row
from synth.annotate.critical.sequential import Design, threshold

__all__ = ["cso", "monte_carlo"]


def cso(pool: ContinuationPool, *, scorer: Scorer, expert: Expert, config: CriticalConfig) -> Searched:
    """Candidates as in ``search``; verified = the one continuation of the alternative succeeds (failed runs)."""
    scored, found, counts = find_candidates(pool, scorer=scorer, expert=expert, config=config)
    results: list[Result] = []
    for one in found:
        comparison = _contest(pool, one)
        success = pool.draw(comparison.better).success
        finding = Finding.VERIFIED if success else Finding.FUTILE
        results.append(Result(comparison, finding, 0, int(success), 0, 1.0))
    return result_row(pool, config, scored, found, results, counts)


def monte_carlo(pool: ContinuationPool, *, scorer: Scorer, expert: Expert, config: CriticalConfig, k: int) -> Searched:
    """``k`` continuations of the original action and of each alternative at every step. Verified with Holm's correction
    over all alternatives of the trajectory, at the same error as ``search``."""
    scored, found, counts = find_candidates(pool, scorer=scorer, expert=expert, config=config, every=True)
    design = Design(max_pairs=k, first=k)
    measured: list[tuple[float, int, Comparison, int, int]] = []
    for number, one in enumerate(found):
        comparison = _contest(pool, one)
        for place in (comparison.better, comparison.worse):
            while pool.drawn(place) < k:
                pool.draw(place)
        better, worse = (sum(pool.outcomes(place)) for place in (comparison.better, comparison.worse))
        measured.append((design.statistic(k, better, worse), number, comparison, better, worse))
    verified: set[int] = set()
    level = config.error / max(1, len(measured))
    for statistic, number, *_ in sorted(measured, key=lambda m: (-m[0], m[1])):
        level = config.error / (len(measured) - len(verified))
        if statistic < threshold(design, level):
            break
        verified.add(number)
    results = [
        Result(comparison, Finding.VERIFIED if number in verified else Finding.UNDECIDED, k, better, worse, level)
        for _, number, comparison, better, worse in measured
    ]
    return result_row(pool, config, scored, found, results, counts)


def _contest(pool: ContinuationPool, one: Found) -> Comparison:
    step = one.point.step
    return Comparison(better=pool.alternative(step, one.number, one.turn, one.source), worse=pool.original(step))
