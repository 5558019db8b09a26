"""The expert, and the search for critical steps as the product does it by default, over all failed runs at once.

From the first step at which the expert would call something else: both actions are put there and continued ``k`` times;
the step is verified when every continuation of the expert's succeeds and none of the recorded one's; the search of a
run ends there. (The product's second look, at what was given up, is left out.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from efficacy_lab.rows import Action, Step
from efficacy_lab.runs import Actor, Live, Run, play
from efficacy_lab.world import Swaps, World

__all__ = ["Correction", "Searched", "advised", "deviations", "search"]


@dataclass(frozen=True)
class Correction:
    """What an expert would have done instead at a step of a run that failed."""

    task: int
    before: tuple[Step, ...]
    chosen: Action
    rejected: Action


@dataclass(frozen=True)
class Searched:
    """The search of one run."""

    verified: Correction | None
    policy: int
    """Turns of the policy, in continuations."""
    expert: int
    """Steps at which the expert was asked."""


def deviations(
    world: World, run: Run, expert: Swaps, *, answers: bool = False
) -> Iterator[tuple[Correction | None, int]]:
    """Step by step what the expert would call instead, and how often it was asked so far; None at the end.

    ``answers``: the expert is asked about the answer, too, or about what was no readable turn, where it may call on.
    """
    taken = [step.action for step in run.steps] + ([run.answer or Action(None, "")] if answers else [])
    for place, taken_one in enumerate(taken):
        before = run.steps[:place]
        action = advised(world, run.task, before, expert)
        if action is not None and action.tool is not None and action != taken_one:
            yield Correction(run.task, before, action, taken_one), place + 1
    yield None, len(taken)


def advised(world: World, task: int, before: Sequence[Step], swaps: Swaps) -> Action | None:
    """What comes next on the gold route, as one does it who has ``swaps``; None where there is no route."""
    route = world.gold[task]
    if route is None:
        return None
    action, leg = route.next(before)
    other = None if leg is None else world.misread(leg, swaps)
    if leg is None or other is None:
        return action
    return world.instead(leg, other, before)


def search(
    world: World,
    runs: Sequence[Run],
    expert: Swaps,
    actor: Actor,
    *,
    k: int,
    turns: int,
    name: str,
    answers: bool = False,
) -> list[Searched]:
    """Of each of ``runs``, in order; ``name`` tells draws of one search from those of another."""
    ways = {number: deviations(world, run, expert, answers=answers) for number, run in enumerate(runs)}
    spent = [0] * len(runs)
    found: dict[int, Searched] = {}
    while ways:
        here: dict[int, tuple[Correction, int]] = {}
        for number in list(ways):
            correction, asked = next(ways[number])
            if correction is None:
                found[number] = Searched(None, spent[number], asked)
                del ways[number]
            else:
                here[number] = correction, asked
        open_ = list(here)
        for side in ("chosen", "rejected"):
            starts = [
                Live(world, one.task, f"{name}/{number}/{len(one.before)}/{side}/{sample}", list(one.before), put)
                for number in open_
                for one, put in [(here[number][0], getattr(here[number][0], side))]
                for sample in range(k)
            ]
            ends = list(play(starts, actor, turns))
            wanted = side == "chosen"
            kept = []
            for at, number in enumerate(open_):
                own = ends[at * k : (at + 1) * k]
                spent[number] += sum(run.calls for run in own)
                if all(run.success is wanted for run in own):
                    kept.append(number)
            open_ = kept
        for number in open_:
            correction, asked = here[number]
            found[number] = Searched(correction, spent[number], asked)
            del ways[number]
    return [found[number] for number in range(len(runs))]
