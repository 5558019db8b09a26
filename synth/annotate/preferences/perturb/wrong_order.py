"""Wrong order: does now what needs something that was not established yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from synth.agents.contract import Turn
from synth.annotate.preferences.perturb.run import GoodRun, Proposal
from synth.annotate.preferences.perturb.values import name_of
from synth.annotate.preferences.perturb.words import deed, lead, names, sentences, stands_alone

__all__ = ["WrongOrder"]


class WrongOrder:
    """Two ways: a later call of the run made now, where it gives something else than it did later; or a search for a
    later part of the question by its words alone, before the thing that it is about was found."""

    name = "wrong_order"
    family = "planning"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in (int(at) for at in generator.permutation(run.last)):
            if not run.history[step].turn.calls:
                continue
            if step:  # before anything was read, the words of a later turn ("in it", "there") mean nothing
                yield from self._later(run, step, generator)
            yield from self._blind(run, step)

    def _later(self, run: GoodRun, step: int, generator: np.random.Generator) -> Iterator[Proposal]:
        now = run.history[step].turn
        for later in (int(at) for at in generator.permutation(np.arange(step + 1, run.last))):
            turn = run.history[later].turn
            if not turn.calls or _same(turn, now) or any(_same(turn, past.turn) for past in run.history[:step]):
                continue
            thought = None
            if now.thought is not None or turn.thought is not None:
                thought = stands_alone([*lead(now.thought, run.task.question), *deed(turn.thought)])
                if thought is None:
                    continue
            other = turn.model_copy(update={"thought": thought})
            # Only a call that gives something else now than it did later needs what came between.
            now_gives = [(result.content, result.error) for result in run.attempt(step, other).results]
            later_gave = [(result.content, result.error) for result in run.history[later].results]
            if now_gives != later_gave and run.grounded(step, other):
                words = f"does what turn {later} of the run did, {later - step} too early"
                yield Proposal(step, other, ("error", "nothing"), words)

    def _blind(self, run: GoodRun, step: int) -> Iterator[Proposal]:
        now = run.history[step].turn
        call = now.calls[0]
        fixed = _choices(run, call.name)
        free = [key for key, value in call.arguments.items() if key not in fixed and _is_free(run, step, value)]
        if len(now.calls) > 1 or len(free) != 1 or free == ["name"]:  # half a sentence is nothing's name
            return
        for number in run.missing(step):
            hop = run.task.walk.hops[number]
            needed = [run.task.walk.hops[other] for other in hop.needs if other not in run.views[step].hops]
            if not needed or not hop.cue:
                continue
            thought = None
            if now.thought is not None:
                said = [part for part in _all(run) if hop.cue in part]
                if not said:
                    continue
                thought = stands_alone([*sentences(now.thought)[:-1], said[0]])
            blind = call.model_copy(update={"arguments": {**call.arguments, free[0]: hop.cue}})
            other = now.model_copy(update={"thought": thought, "calls": (blind,)})
            if run.grounded(step, other):
                words = f"looks for {hop.cue!r} before {needed[-1].cue!r} was settled, which it is about"
                yield Proposal(step, other, ("nothing",), words)


def _same(left: Turn, right: Turn) -> bool:
    return [(c.name, c.arguments) for c in left.calls] == [(c.name, c.arguments) for c in right.calls]


def _all(run: GoodRun) -> list[str]:
    return [part for past in run.history for part in sentences(past.turn.thought)]


def _choices(run: GoodRun, tool: str) -> frozenset[str]:
    """Arguments of a tool that take one of a few given values: no words can be put there."""
    properties: dict[str, Any] = next(
        (one.parameters.get("properties", {}) for one in run.tools if one.name == tool), {}
    )
    return frozenset(name for name, schema in properties.items() if "enum" in schema)


def _is_free(run: GoodRun, step: int, value: object) -> bool:
    """An argument in words: no document that was shown."""
    if not isinstance(value, str) or name_of(run, step, value) is not None:
        return False
    return " " in value or names(run.task.question, value)
