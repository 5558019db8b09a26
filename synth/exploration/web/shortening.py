"""Leaves detours out of a walk, as far as the addresses of its pages show them."""

from __future__ import annotations

from collections.abc import Sequence

from synth.exploration.web.walking import Taken

__all__ = ["straight"]


def straight(taken: Sequence[Taken], goals: Sequence[int]) -> list[int]:
    """Steps that lead to the goals without the walk's detours, as far as addresses tell: numbers, in order."""
    found: list[int] = []
    here = taken[0].after
    for goal in goals:
        arrived = max((at for at in range(goal) if taken[at].before != taken[at].after), default=0)
        found += _path(taken, here, taken[goal].before, arrived)
        found += [at for at in range(arrived + 1, goal + 1) if at not in found]
        here = taken[goal].after
    return found


def _path(taken: Sequence[Taken], here: str, there: str, last: int) -> list[int]:
    """The fewest steps of the walk, up to step ``last``, that lead from one address to another."""
    ways: dict[str, list[int]] = {here: []}
    front = [here]
    while front and there not in ways:
        at = front.pop(0)
        for number in range(1, last + 1):
            step = taken[number]
            if step.before == at and step.after not in ways:
                ways[step.after] = [*ways[at], number]
                front.append(step.after)
    return ways.get(there, list(range(1, last + 1)))
