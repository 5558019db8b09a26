"""The walk of a candidate: calls that a person might want, tried in a fresh state, kept where they had an effect.

OS-Genesis (arXiv 2412.19723): explore first, derive the task afterwards. What is proposed comes from the application's
``requests``, so that what a walk does is something that somebody could have asked for; what comes of it is found out
by trying. A call that the policy stops, or records as a violation, is undone and kept apart: from it come the requests
that have to be declined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.environments.app.ddl import VIOLATIONS
from synth.environments.app.definition import Rule
from synth.environments.app.environment import AppEnvironment, AppEpisode
from synth.environments.contract import ToolCall, ToolResult
from synth.exploration.app.requests import AppRequests, Values
from synth.exploration.walks import choose, pick
from synth.identity import canonical_json, derive_generator
from synth.schemas.plans import HiddenRule
from synth.schemas.tasks import Task
from synth.tasks.graded import reward_of

__all__ = [
    "Replay",
    "TriedCall",
    "Walker",
    "asks_under",
    "note_of",
    "quiet_variants",
    "replay",
    "variant_of",
    "violations",
]

_TOGETHER = 0.75
"""Share of the later calls that are about something that an earlier one was about."""
_AGAIN = 0.15
"""Weight of an ask that the walk has made already."""


@dataclass(frozen=True)
class TriedCall:
    """A call of the walk."""

    ask: str
    row: Values
    call: ToolCall
    result: ToolResult
    before: str
    """Hash of the state before it."""
    after: str
    """The same after it; of a call that a rule stops or records, ``before``: it was undone."""
    rule: str | None
    """The rule that stops it or records it."""
    recorded: bool = False
    """The rule does not stop it: it goes through and is a violation."""

    @property
    def changed(self) -> bool:
        return self.before != self.after


def violations(episode: AppEpisode) -> list[str]:
    """Rules that were violated, on record."""
    return [str(change.after["rule"]) for change in episode.changes() if change.table == VIOLATIONS and change.after]


class Walker:
    """Walks through one episode for one speaker."""

    def __init__(self, app: AppRequests, episode: AppEpisode, speaker: Any, generator: np.random.Generator) -> None:
        self.app = app
        self.episode = episode
        self.speaker = speaker
        self.generator = generator
        self.tried: list[TriedCall] = []
        self._seen: set[str] = set()
        self._asks: Counter[str] = Counter()
        self._context: set[tuple[str, Any]] = set()

    def step(self, name: str | None = None, same: Mapping[str, Any] | None = None) -> TriedCall | None:
        """Try one call: of the ask ``name``, else of any; ``same`` are columns with the values that they must have.
        None where there is nothing to try."""
        name = name or self._ask()
        ask = self.app.requests.asks[name]
        rows = self.app.rows(self.episode, ask, self.speaker)
        if same is not None:
            rows = [row for row in rows if all(row[column] == value for column, value in same.items())]
        elif self._context and self.generator.random() < _TOGETHER:
            rows = self._near(name, rows)
        if not rows:
            return None
        row = choose(self.generator, rows)
        if self._key(name, row) in self._seen:
            return None
        self._seen.add(self._key(name, row))
        done = self.try_out(name, row)
        self.tried.append(done)
        self._asks[name] += 1
        if done.changed:
            self._context |= self._refers(name, row)
        return done

    def try_out(self, name: str, row: Values) -> TriedCall:
        """Carry out one call; what a rule stops or records is undone."""
        episode = self.episode
        call = ToolCall(id=f"walk_{len(self.tried)}", name=self.app.tool(name), arguments=self.app.arguments(name, row))
        before, start, broken = episode.state_hash(), episode.snapshot(), len(violations(episode))
        result = episode.step(call)
        stopped, recorded = episode.refused_by, violations(episode)[broken:]
        after = episode.state_hash()
        if result.error is not None or recorded:
            episode.restore(start)
            after = before
        return TriedCall(
            name, row, call, result, before, after, stopped or (recorded[0] if recorded else None), bool(recorded)
        )

    def ended(self, steps: Sequence[TriedCall]) -> str | None:
        """The first ask that can't follow the earlier ``steps``: it ends what one of them was about, is about what one
        of them ended, repeats one on the same rows, or is about a row that this walk created. None if all can."""
        made = {(change.table, change.key[0]) for change in self.episode.changes() if change.before is None}
        about: set[tuple[str, Any]] = set()
        over: set[tuple[str, Any]] = set()
        done: list[tuple[str, set[tuple[str, Any]]]] = []
        for step in steps:
            mine = self._refers(step.ask, step.row)
            ends = self.app.requests.asks[step.ask].ends
            if mine & (about if ends else over) or mine & made or (mine and (step.ask, mine) in done):
                return step.ask
            about |= mine
            over |= mine if ends else set()
            done.append((step.ask, mine))
        return None

    def reward(self, steps: Sequence[TriedCall], wanted: int) -> float:
        """How good a walk is, 1 to 5: coherence is 1 + 4 x the share of its later steps that are about a row that an
        earlier one was about, completion 1 + 4 x the share of the ``wanted`` changes that it came to."""
        about: set[tuple[str, Any]] = set()
        joined = 0
        for step in steps:
            mine = self._refers(step.ask, step.row)
            joined += bool(mine & about)
            about |= mine
        coherence = 1 + 4 * (joined / (len(steps) - 1) if len(steps) > 1 else 1)
        return reward_of(coherence, 1 + 4 * min(1.0, len(steps) / wanted))

    def _ask(self) -> str:
        names = [name for name, ask in self.app.requests.asks.items() if not ask.alone]
        weights = (self.app.requests.asks[name].weight * _AGAIN ** min(2, self._asks[name]) for name in names)
        return names[pick(weights, self.generator)]

    def _key(self, name: str, row: Values) -> str:
        return canonical_json([name, self.app.arguments(name, row)])

    def _refers(self, name: str, row: Values) -> set[tuple[str, Any]]:
        """Rows that a call is about: table and key."""
        return {
            (table, row[argument]) for argument, table in self.app.keys(name).items() if row.get(argument) is not None
        }

    def _near(self, name: str, rows: Sequence[Values]) -> list[Values]:
        """Those that have most in common with what the walk was about; all where none has anything."""
        shared = [len(self._refers(name, row) & self._context) for row in rows]
        most = max(shared, default=0)
        return [row for row, count in zip(rows, shared, strict=True) if count == most]


@dataclass(frozen=True)
class Replay:
    """What came of calls in a fresh episode."""

    results: tuple[ToolResult, ...]
    end: str
    """Hash of the end state."""
    violated: tuple[str, ...]
    stopped: tuple[str | None, ...]
    """By call, the rule that stopped it."""

    @property
    def clean(self) -> bool:
        """No call went wrong and nothing was violated."""
        return not self.violated and all(result.error is None for result in self.results)


def replay(environment: AppEnvironment, task: Task, calls: Sequence[ToolCall]) -> Replay:
    """Carry out ``calls`` in a fresh episode of ``task``."""
    episode: AppEpisode = environment.reset(task)
    try:
        results, stopped = [], []
        for call in calls:
            results.append(episode.step(call))
            stopped.append(episode.refused_by)
        return Replay(tuple(results), episode.state_hash(), tuple(violations(episode)), tuple(stopped))
    finally:
        episode.close()


def quiet_variants(environment: AppEnvironment) -> tuple[str, ...]:
    """Variants that add rules and leave what is written as it is; none where the environment is a variant itself."""
    if environment.variant is not None:
        return ()
    variants = environment.definition.variants
    return tuple(sorted(name for name, one in variants.items() if one.rules and not one.hide))


def variant_of(index: int, seed: int, stage: str, share: float, variants: tuple[str, ...]) -> str | None:
    """The variant in which candidate ``index`` is set; None where it is the application as it is written."""
    if not share or not variants:
        return None
    generator = derive_generator(seed, stage, "hidden", index)
    if generator.random() >= share:
        return None
    return variants[int(generator.integers(len(variants)))]


def asks_under(app: AppRequests) -> dict[str, float]:
    """Asks, with their weights, whose tool a hidden rule may stop."""
    rules = app.environment.rules
    hidden = [rule for rule in rules.all if rule.name in rules.hidden]
    return {
        name: ask.weight
        for name, ask in app.requests.asks.items()
        if not ask.alone and any(_may_stop(app, rule, app.tool(name)) for rule in hidden)
    }


def _may_stop(app: AppRequests, rule: Rule, tool: str) -> bool:
    if rule.record is not None:
        return False  # the call succeeds: nothing shows the violation
    if rule.require is not None:
        return tool in rule.before
    runs = (step.run.split() for step in app.definition.tools[tool].steps if step.run is not None)
    return any(rule.table in words for words in runs)


def note_of(environment: AppEnvironment, rule: Rule, stopped: TriedCall) -> HiddenRule | None:
    """What a task says of the hidden rule that it meets; None where the rule is written, or stops nothing."""
    if rule.name not in environment.rules.hidden or stopped.recorded:
        return None
    return HiddenRule(rule=rule.name, text=" ".join(rule.text.split()), refusal=stopped.result.content)
