"""Trees of runs within a budget of calls.

The trunk is a recorded run. In every state of a run the policy is asked for several turns: where they differ it is
uncertain, and each of them that is not like one that was taken is a place to branch (LATR, arXiv 2510.24302, branches
at uncertain tokens and prunes branches that stay alike). Which place is next goes by the share of right ends behind its
state, to the power of the budget over what is left of it, so that the search gets greedier as the budget goes (BAVT,
2603.12634). Nothing here knows the evidence: values are ends of runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from synth.agents.contract import Decision, History, Policy, Prompt, Turn, TurnRejected
from synth.agents.loop import Limits, Rollout, replay, rollout
from synth.agents.trajectory import facts_of, history_of
from synth.annotate.critical.actions import action_key, action_kind
from synth.annotate.critical.branching import Generators
from synth.environments.contract import Environment, ToolSchema
from synth.schemas.model_turns import ModelTurns
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["TreeLimits", "TreeRun", "grow"]


class TreeLimits(Row):
    budget: int
    """Turns that the policy is asked for."""
    width: int
    """Turns that are drawn in one state."""
    alike: float
    """Calls of one tool that share so much of their words do nearly the same."""


@dataclass
class _Option:
    """What was drawn in one state: one action, and how often."""

    decision: Decision
    draws: int = 1


@dataclass
class TreeRun:
    """One run of the tree. The trunk has no parent."""

    done: Rollout
    number: int
    step: int = 0
    """First turn of its own."""
    parent: TreeRun | None = None
    drawn: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Turn -> draws that did what it does, and all draws."""

    def owner(self, step: int) -> TreeRun:
        """The run that took turn ``step`` first."""
        return self if step >= self.step or self.parent is None else self.parent.owner(step)


class _Prober:
    """Draws several turns in each state and takes the one that comes up most; the others are kept."""

    def __init__(self, policy: Policy, limits: TreeLimits, generator: Generators, names: tuple[object, ...]) -> None:
        self.privileged = policy.privileged
        self.calls = 0
        self.options: dict[int, list[_Option]] = {}
        self.first: tuple[int, Decision] | None = None
        """A turn that is taken at one place in place of what is drawn."""
        self._policy, self._limits, self._generator, self._names = policy, limits, generator, names

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if self.first is not None and len(history) == self.first[0]:
            return self.first[1]
        taken = max(self.draw(prompt, history, []), key=lambda one: one.draws)
        return taken.decision

    def generator_for(self, turn: int) -> np.random.Generator:
        """What the environment draws from in a turn."""
        return self._generator("tree", *self._names, "environment", turn)

    def draw(self, prompt: Prompt, history: History, known: list[_Option]) -> list[_Option]:
        """What the policy does in this state, ``known`` first.

        Raises:
            TurnRejected: it came to no turn at all.
        """
        rejected: TurnRejected | None = None
        for number in range(self._limits.width - len(known)):
            self.calls += 1
            names = (*self._names, len(history), number)
            try:
                decision = self._policy.act(prompt, history, self._generator("tree", *names))
            except TurnRejected as error:
                rejected = error
                continue
            same = next(
                (one for one in known if _alike(one.decision.turn, decision.turn, prompt.tools, self._limits.alike)),
                None,
            )
            if same is None:
                known.append(_Option(decision))
            else:
                same.draws += 1
        if not known and rejected is not None:
            raise rejected
        self.options[len(history)] = known
        return known


def _alike(one: Turn, other: Turn, tools: Sequence[ToolSchema], share: float) -> bool:
    """Whether two turns do the same, or the same tools are called with much the same words."""
    keys = [action_key(turn, tools) for turn in (one, other)]
    if keys[0] == keys[1]:
        return True
    if not one.calls or action_kind(one) != action_kind(other):
        return False
    mine, theirs = ({*key.casefold().replace('"', " ").split()} for key in keys)
    return len(mine & theirs) >= share * len(mine | theirs)


def grow(
    trunk: TrajectoryRow,
    task: Task,
    environment: Environment,
    policy: Policy,
    *,
    tree: TreeLimits,
    limits: Limits,
    generator: Generators,
) -> tuple[TreeRun, ...]:
    """The tree over ``trunk``, a recorded run of ``policy``: the trunk first, then its branches, as they were grown.

    Raises:
        ValueError: an observation of a run differs when its calls are made again.
    """
    prompt, history = history_of(trunk)
    sources = ModelTurns.of(trunk.details).model_turns
    first = TreeRun(Rollout(task, prompt, history, trunk.stop_reason, trunk.verdict, sources=sources), 0)
    prober = _Prober(policy, tree, generator, (trunk.id, 0))
    for step in range(len(history)):
        prober.draw(prompt, history[:step], [_Option(Decision(history[step].turn))])
    runs, open_places = [first], list(_places(first, prober))
    spent = prober.calls
    while open_places and spent < tree.budget:
        draw = generator("tree", trunk.id, "pick", len(runs), spent)
        weights = _weights(runs, [(run, step) for run, step, _, _ in open_places], tree.budget / (tree.budget - spent))
        parent, step, option, of = open_places.pop(int(draw.choice(len(open_places), p=weights)))
        prober = _Prober(policy, tree, generator, (trunk.id, len(runs), spent))
        prober.first = step, option.decision
        done = _branch(parent, step, trunk, environment, prober, limits)
        spent += prober.calls
        if done.rejected is not None:
            continue
        made = TreeRun(done, len(runs), step, parent, {step: (option.draws, of)})
        runs.append(made)
        open_places += _places(made, prober)
    return tuple(runs)


def _places(run: TreeRun, prober: _Prober) -> Iterator[tuple[TreeRun, int, _Option, int]]:
    """States of ``run`` in which something else was drawn than what it did; its own draws are noted."""
    for step, options in prober.options.items():
        if step >= len(run.done.history):
            continue
        of = sum(one.draws for one in options)
        tools = run.done.prompt.tools
        taken = action_key(run.done.history[step].turn, tools)
        for one in options:
            if action_key(one.decision.turn, tools) == taken:
                run.drawn[step] = one.draws, of
            else:
                yield run, step, one, of


def _weights(runs: list[TreeRun], places: list[tuple[TreeRun, int]], greed: float) -> np.ndarray:
    """Chance of each place: (1 + right) / (2 + all) of the ends behind its state, to the power ``greed``."""
    values = []
    for run, step in places:
        behind = [one for one in runs if _passes(one, run, step)]
        known = [one.done.verdict.correct for one in behind if one.done.verdict.correct is not None]
        values.append(((1 + sum(known)) / (2 + len(known))) ** greed)
    chance = np.asarray(values, float)
    shares: np.ndarray = chance / chance.sum()
    return shares


def _passes(one: TreeRun, run: TreeRun, step: int) -> bool:
    """Whether ``one`` was in the state before turn ``step`` of ``run``."""
    return step == 0 or (len(one.done.history) >= step and one.owner(step - 1) is run.owner(step - 1))


def _branch(
    parent: TreeRun, step: int, trunk: TrajectoryRow, environment: Environment, prober: _Prober, limits: Limits
) -> Rollout:
    task, history = parent.done.task, parent.done.history[:step]
    episode = replay(environment, task, history, facts_of(trunk))
    try:
        done = rollout(
            prober,
            environment,
            task,
            system=parent.done.prompt.system,
            limits=limits,
            generator_for_turn=prober.generator_for,
            history=history,
            episode=episode,
        )
    finally:
        episode.close()
    return replace(done, sources=parent.done.sources[:step] + done.sources)
