"""Explores an application by its database: arguments are chosen together.

A random id of a reservation and a random id of a payment method almost never belong to one customer, so each argument
prefers rows that have something in common with those that were chosen before it.

The proposer looks into the database, which no agent can. That is allowed: its walks are where tasks come from, never a
trajectory that anybody learns from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from synth.environments.app.definition import Argument
from synth.environments.app.environment import AppEnvironment, AppEpisode
from synth.environments.contract import Episode
from synth.exploration.walks import Coverage, Explored, Explorer, ExplorerConfig
from synth.identity import canonical_json

__all__ = ["RowProposer", "app_explorer"]

_SAMPLE = 40
"""Rows that are looked at for an argument."""
_TOGETHER = 0.8
"""Share of arguments that take what has most in common with those before."""
_AWAY = 0.35
"""Share of optional arguments that are left out."""
_IDLE = 0.1
"""What a call without effect counts against its tool: most fail for their arguments, not for the tool."""
Values = dict[str, Any]


def app_explorer(environment: AppEnvironment, *, seed: int = 0, writes: float = 0.7, calls: int = 25) -> Explorer:
    """An explorer of an application.

    Args:
        seed: Equal seeds and equal walks in equal order give equal explorations.
        writes: Share of the calls that go to tools that write.
        calls: Calls of a walk, where it is not told another number.
    """
    return Explorer(
        environment,
        lambda: RowProposer(environment),
        seed=seed,
        config=ExplorerConfig(calls=calls, writes=writes, idle=_IDLE),
        state=_state,
    )


def _state(episode: Episode) -> str:
    assert isinstance(episode, AppEpisode)
    return episode.state_hash()


class RowProposer:
    """Arguments from rows that have something in common."""

    def __init__(self, environment: AppEnvironment) -> None:
        self.environment = environment

    def tool(self, episode: Episode, generator: np.random.Generator) -> str | None:
        return None

    def arguments(
        self, tool: str, episode: Episode, coverage: Coverage, generator: np.random.Generator
    ) -> Values | None:
        assert isinstance(episode, AppEpisode)
        return _Arguments(episode, tool, generator, coverage).choose()

    def writes(self, tool: str) -> bool:
        return self.environment.definition.tools[tool].writes

    def saw(self, step: Explored) -> None:
        """It asks the database."""


class _Arguments:
    """Arguments of one call, chosen one after the other, each in view of those before."""

    def __init__(self, episode: AppEpisode, tool: str, generator: np.random.Generator, known: Coverage) -> None:
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
                - 0.4 * min(3, self.known.worked[self.tool, name, canonical_json(row[key])])
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
