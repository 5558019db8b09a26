"""Seeded exploration of an application: calls that get somewhere, rarely tried ones first.

As OS-Genesis explores screens (arXiv 2412.19723): what was little explored is favoured, and a call that had no effect
in a state is not tried there again. Beyond it: arguments are chosen together. A random id of a reservation and a random
id of a payment method almost never belong to one customer, so each argument prefers rows that have something in common
with those that were chosen before it.

The explorer looks into the database, which no agent can. That is allowed: its walks are where tasks come from, never a
trajectory that anybody learns from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from synth.environments.app.definition import Argument
from synth.environments.app.environment import AppEnvironment, AppEpisode
from synth.environments.contract import ToolCall, ToolResult
from synth.identity import canonical_json, derive_generator, digest
from synth.schemas.tasks import Task

__all__ = ["Coverage", "Explored", "Explorer", "Walk"]

_SAMPLE = 40
"""Rows that are looked at for an argument."""
_TOGETHER = 0.8
"""Share of arguments that take what has most in common with those before."""
_TRIES = 30
"""Proposals per step that may turn out to be known as useless before the walk takes one all the same."""
_AWAY = 0.35
"""Share of optional arguments that are left out."""
Values = dict[str, Any]


@dataclass(frozen=True)
class Explored:
    """A call that was tried."""

    call: ToolCall
    result: ToolResult
    before: str
    """Hash of the state before it."""
    after: str
    effective: bool
    """It changed the state, or (of a tool that reads) showed something that this walk had not seen."""


@dataclass(frozen=True)
class Walk:
    """One exploration of one episode."""

    task: Task
    steps: tuple[Explored, ...]

    @property
    def effective(self) -> tuple[Explored, ...]:
        return tuple(step for step in self.steps if step.effective)

    @property
    def changing(self) -> tuple[Explored, ...]:
        """Steps that changed the state."""
        return tuple(step for step in self.steps if step.before != step.after)


@dataclass
class Coverage:
    """What an explorer has been to, over all its walks."""

    tools: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Tool -> (tried, effective)."""
    arguments: int = 0
    """Different (tool, argument, value) of effective calls."""
    states: int = 0
    refusals: int = 0
    """Different refusals met: rules and conditions."""

    @property
    def reached(self) -> float:
        """Share of the tools that had an effect at least once."""
        return sum(effective > 0 for _, effective in self.tools.values()) / max(1, len(self.tools))


class Explorer:
    """Explores one application, walk after walk, and remembers where it was."""

    def __init__(self, environment: AppEnvironment, *, seed: int = 0, writes: float = 0.7) -> None:
        """
        Args:
            seed: Equal seeds and equal walks in equal order give equal explorations.
            writes: Share of the calls that go to tools that write.
        """
        self.environment = environment
        self.seed = seed
        self.writes = writes
        self._tried: Counter[str] = Counter()
        self._effective: Counter[str] = Counter()
        self._values: Counter[str] = Counter()
        self._states: set[str] = set()
        self._refusals: set[str] = set()
        self._useless: set[str] = set()
        self._walks = 0

    def walk(self, task: Task, steps: int) -> Walk:
        """Try ``steps`` calls in a fresh episode of ``task``."""
        generator = derive_generator(self.seed, "explore", self.environment.name, task.id, self._walks)
        self._walks += 1
        episode = self.environment.reset(task)
        seen: set[str] = set()
        done: list[Explored] = []
        try:
            state = episode.state_hash()
            self._states.add(state)
            for number in range(steps):
                call = self._propose(episode, state, number, generator)
                result = episode.step(call)
                after = episode.state_hash()
                fresh = result.content not in seen
                seen.add(result.content)
                effective = result.error is None and (after != state or (not self._writes(call.name) and fresh))
                self._note(call, result, state, after, effective)
                done.append(Explored(call, result, state, after, effective))
                state = after
        finally:
            episode.close()
        return Walk(task, tuple(done))

    def coverage(self) -> Coverage:
        """Of all walks so far."""
        return Coverage(
            tools={name: (self._tried[name], self._effective[name]) for name in self.environment.compiled},
            arguments=len(self._values),
            states=len(self._states),
            refusals=len(self._refusals),
        )

    def _writes(self, tool: str) -> bool:
        return self.environment.definition.tools[tool].writes

    def _note(self, call: ToolCall, result: ToolResult, state: str, after: str, effective: bool) -> None:
        self._tried[call.name] += 1
        self._states.add(after)
        if effective:
            self._effective[call.name] += 1
            self._values.update(f"{call.name}.{name}={canonical_json(v)}" for name, v in call.arguments.items())
        elif result.error != "failure":
            # A tool that broke says nothing about the call.
            self._useless.add(_useless(state, call))
        if result.error in ("refused", "not_found"):
            self._refusals.add(_without_values(result.content, call.arguments))

    def _propose(self, episode: AppEpisode, state: str, number: int, generator: np.random.Generator) -> ToolCall:
        call = None
        for _ in range(_TRIES):
            name = self._tool(generator)
            proposed = _Arguments(episode, name, generator, self._values).choose()
            call = ToolCall(id=f"explore_{number}", name=name, arguments=proposed)
            if _useless(state, call) not in self._useless:
                break
        assert call is not None
        return call

    def _tool(self, generator: np.random.Generator) -> str:
        """Tools that had an effect rarely come first; those that never have are not tried for ever."""
        writes = bool(generator.random() < self.writes)
        names = [name for name in self.environment.compiled if self._writes(name) == writes]
        names = names or list(self.environment.compiled)
        weights = np.array(
            [1.0 / (1.0 + self._effective[name] + 0.1 * (self._tried[name] - self._effective[name])) for name in names]
        )
        return names[int(generator.choice(len(names), p=weights / weights.sum()))]


def _useless(state: str, call: ToolCall) -> str:
    return digest("useless", state, call.name, call.arguments)


def _without_values(words: str, arguments: Mapping[str, Any]) -> str:
    """A refusal with the values of the call taken out, so that one condition is counted once."""
    for value in arguments.values():
        if isinstance(value, str) and value:
            words = words.replace(value, "…")
    return "".join("0" if sign.isdigit() else sign for sign in words)


class _Arguments:
    """Arguments of one call, chosen one after the other, each in view of those before."""

    def __init__(
        self, episode: AppEpisode, tool: str, generator: np.random.Generator, known: Mapping[str, int]
    ) -> None:
        self.episode = episode
        self.definition = episode.environment.definition
        self.tool = tool
        self.generator = generator
        self.known = known
        self.context: set[tuple[str, Any]] = set()
        self.money: list[int] = []

    def choose(self) -> Values:
        arguments = self.episode.environment.compiled[self.tool].arguments
        chosen: Values = {}
        # Keys first: they say what the call is about, and the rest is chosen to fit.
        order = sorted(arguments, key=lambda name: self.definition.table_of(name, arguments[name]) is None)
        for name in order:
            if arguments[name].optional and self.generator.random() < _AWAY:
                continue
            value = self._value(name, arguments[name])
            if value is not None:
                chosen[name] = value
        return {name: chosen[name] for name in arguments if name in chosen}

    def _value(self, name: str, argument: Argument) -> Any:
        table = self.definition.table_of(name, argument)
        if argument.among:
            return self._any(argument.among)
        if table is not None:
            return self._key(name, table)
        if argument.type == "list":
            return self._list(name, argument)
        if argument.type == "boolean":
            return bool(self.generator.random() < 0.5)
        if argument.type in ("integer", "money"):
            return self._number(name, argument)
        return self._text(name, argument)

    def _any(self, items: Iterable[Any]) -> Any:
        listed = list(items)
        return listed[int(self.generator.integers(len(listed)))] if listed else None

    def _key(self, name: str, table: str) -> Any:
        """A row of ``table``: mostly one that has much in common with what was chosen, and is little explored."""
        rows = self._sample(table)
        if self.generator.random() < 0.5:
            # What is known already may be just what is wanted (the customer's card) or the one thing that is not (the
            # flight that the reservation is on).
            rows = [row for row in rows if not set(row.items()) <= self.context] or rows
        if not rows:
            return None
        key = self.definition.tables[table].key[0]
        if self.generator.random() < _TOGETHER:
            scores = [
                len(self.context & set(row.items()))
                - 0.4 * min(3, self.known.get(f"{self.tool}.{name}={canonical_json(row[key])}", 0))
                for row in rows
            ]
            row = rows[int(np.argmax(np.array(scores) + 0.9 * self.generator.random(len(rows))))]
        else:
            row = self._any(rows)
        self._learn(table, row)
        return row[key]

    def _sample(self, table: str) -> list[Values]:
        """Some rows; among them those that share a reference with what was chosen."""
        spec = self.definition.tables[table]
        rows: list[Values] = []
        for column, value in sorted(self.context, key=repr):
            if column in spec.columns and (spec.columns[column].references is not None or column in spec.key):
                rows += self.episode.look(f'SELECT * FROM "{table}" WHERE "{column}" = :v LIMIT 20', {"v": value})
        known: dict[str, list[Any]] = {}
        for column, value in sorted(self.context, key=repr):
            if column in spec.columns and spec.columns[column].references is not None:
                known.setdefault(column, []).append(value)
        if len(known) > 1:
            both = " AND ".join(f'"{column}" IN (SELECT value FROM json_each(:{column}))' for column in known)
            given = {column: canonical_json(values) for column, values in known.items()}
            rows += self.episode.look(f'SELECT * FROM "{table}" WHERE {both} LIMIT {_SAMPLE}', given)
        ((counted,),) = [tuple(row.values()) for row in self.episode.look(f'SELECT count(*) AS n FROM "{table}"')]
        for _ in range(3):
            at = int(self.generator.integers(max(1, counted)))
            rows += self.episode.look(f'SELECT * FROM "{table}" LIMIT {_SAMPLE // 3} OFFSET {at}')
        return rows

    def _learn(self, table: str, row: Values) -> None:
        """What the row says, and the rows that it refers to or that refer to it."""
        self.context |= set(row.items())
        self.money += [
            abs(int(row[c])) for c, s in self.definition.tables[table].columns.items() if s.type == "money" and row[c]
        ]
        for _, near in self._near(table, row):
            self.context |= set(near.items())

    def _near(self, table: str, row: Values) -> Iterable[tuple[str, Values]]:
        for column, spec in self.definition.tables[table].columns.items():
            if spec.references is not None and row[column] is not None:
                key = self.definition.tables[spec.references].key[0]
                for near in self.episode.look(
                    f'SELECT * FROM "{spec.references}" WHERE "{key}" = :v', {"v": row[column]}
                ):
                    yield spec.references, near
        if len(self.definition.tables[table].key) != 1:
            return
        key = self.definition.tables[table].key[0]
        for other, other_spec in self.definition.tables.items():
            for column, spec in other_spec.columns.items():
                if spec.references == table:
                    found = self.episode.look(f'SELECT * FROM "{other}" WHERE "{column}" = :v LIMIT 5', {"v": row[key]})
                    for near in found:
                        yield other, near
                        for at, to in other_spec.columns.items():
                            if to.references is not None and to.references != table and near[at] is not None:
                                target = self.definition.tables[to.references].key[0]
                                sql = f'SELECT * FROM "{to.references}" WHERE "{target}" = :v'
                                yield from ((to.references, row) for row in self.episode.look(sql, {"v": near[at]}))

    def _columns(self, name: str) -> list[tuple[str, str]]:
        return [(t, c) for t, spec in self.definition.tables.items() for c in spec.columns if c == name]

    def _seen(self, name: str) -> list[Any]:
        """Values of columns of this name: of the rows that were chosen, else of any."""
        near = sorted({value for column, value in self.context if column == name and value is not None}, key=repr)
        if near and self.generator.random() < _TOGETHER:
            return near
        found = []
        for table, column in self._columns(name):
            sql = f'SELECT DISTINCT "{column}" AS v FROM "{table}" WHERE "{column}" IS NOT NULL LIMIT {_SAMPLE}'
            found += [row["v"] for row in self.episode.look(sql)]
        return found

    def _number(self, name: str, argument: Argument) -> int:
        low = argument.least if argument.least is not None else 1
        high = argument.most if argument.most is not None else 50_000 if argument.type == "money" else max(low, 20)
        options = [int(v) for v in self._seen(name) if isinstance(v, int) and low <= v <= high]
        options += [m for m in self.money if low <= m <= high]
        if options and self.generator.random() < 0.4:
            return int(self._any(options))
        if argument.type == "money":
            return int(self._any([500, 1_000, 2_500, 4_000, 10_000, 15_000, 25_000]))
        return int(self.generator.integers(low, min(high, low + 20) + 1))

    def _text(self, name: str, argument: Argument) -> str:
        if argument.type in ("date", "datetime"):
            today = self.episode.now[:10]
            near = [str(v)[:10] for _, v in self.context if isinstance(v, str) and _is_day(v)]
            listed = [today, *sorted(set(near))]
            days = int(self.generator.integers(-10, 11))
            listed.append(self.episode.look("SELECT add_days(:today, :days) AS d", {"days": days})[0]["d"])
            day = str(self._any(listed))
            return day if argument.type == "date" else f"{day} 12:00"
        seen = [str(v) for v in self._seen(name) if isinstance(v, str)]
        if seen and argument.pattern is not None and self.generator.random() < 0.4:
            return self._varied(str(self._any(seen)), argument.pattern)
        if seen and self.generator.random() < 0.8:
            return str(self._any(seen))
        return f"{argument.about.split()[-1].rstrip('.')} {int(self.generator.integers(100, 1000))}"

    def _varied(self, text: str, pattern: str) -> str:
        """``text`` with one letter or digit changed, if that still is of the right form."""
        places = [at for at, sign in enumerate(text) if sign.isalnum()]
        at = int(self._any(places))
        signs = "0123456789" if text[at].isdigit() else "ABCDEF" if text[at].isupper() else "abcdef"
        varied = f"{text[:at]}{self._any(signs)}{text[at + 1 :]}"
        return varied if re.fullmatch(pattern, varied) else text

    def _list(self, name: str, argument: Argument) -> list[Any]:
        low = argument.least if argument.least is not None else 1
        count = low + int(self.generator.integers(0, 2))
        if argument.of is not None:
            return [self._value(name, argument.of) for _ in range(count)]
        items: list[Values] = []
        for _ in range(4 * count):
            item = {at: self._value(at, spec) for at, spec in argument.fields.items()}
            keys = [at for at, spec in argument.fields.items() if self.definition.table_of(at, spec) is not None]
            if len(items) < count and all(item[at] != other[at] for other in items for at in keys):
                items.append(item)
        count = max(1, len(items))
        amounts = [at for at, spec in argument.fields.items() if spec.type == "money"]
        if amounts and self.money:
            # Parts of an amount that was seen: a list of amounts mostly has to add up to one.
            whole = int(self._any(self.money))
            for place, item in enumerate(items):
                item[amounts[0]] = whole - whole // count * (count - 1) if place == 0 else whole // count
        return items


def _is_day(text: str) -> bool:
    return len(text) in (10, 16) and text[4:5] == "-" and text[7:8] == "-" and text[:4].isdigit()
