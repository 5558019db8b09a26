"""What tests of applications share: environments, tasks, sensible arguments, and a look at the whole database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from app_explorer import app_explorer
from hypothesis import strategies as st

from synth.environments.app.environment import AppEnvironment, AppEpisode, open_app
from synth.environments.contract import ToolCall, ToolResult
from synth.exploration.pipeline import blank_task
from synth.schemas.tasks import Task
from synth.testing.environments import calls_for

LIBRARY = Path(__file__).parent / "library.yaml"
APPLICATIONS = ("airline", "ledger", "tracker", str(LIBRARY))


def task(number: int = 0, **details: Any) -> Task:
    said = {"question": "Do what I asked for.", "answer": "Kestrel 12", "answer_kind": "entity"}
    return blank_task(f"app-{number}", "app", details).model_copy(update={**said, "candidate_index": number})


@cache
def opened(application: str) -> AppEnvironment:
    """One environment for many tests: it is shared and immutable."""
    return open_app(application=application)


def play(episode: AppEpisode, *calls: tuple[str, dict[str, Any]], start: int = 0) -> list[ToolResult]:
    return [
        episode.step(ToolCall(id=f"call_{number}", name=name, arguments=arguments))
        for number, (name, arguments) in enumerate(calls, start=start)
    ]


def examples(environment: AppEnvironment, most: int = 12) -> dict[str, Sequence[Any]]:
    """Values for arguments: those of columns with their name, of keys that their name ends with, and of `in`."""
    episode = environment.reset(task())
    found: dict[str, list[Any]] = {}
    for tool in environment.definition.tools.values():
        for name, argument in tool.arguments.items():
            values: list[Any] = list(argument.among)
            for table, spec in environment.definition.tables.items():
                for column in spec.columns:
                    if column == name or (column in spec.key and name.endswith(column)):
                        # Those of few rows first, so that calls meet one another.
                        rows = episode.look(f'SELECT DISTINCT "{column}" AS v FROM "{table}" ORDER BY 1 LIMIT {most}')
                        values += [row["v"] for row in rows if row["v"] is not None]
            found[name] = [*found.get(name, []), *values]
    episode.close()
    extra: dict[str, list[Any]] = {
        "member_id": found.get("assignee_id", []),
        "other": found.get("issue", []),
        "date": ["2031-03-18", "2031-05-16", "2031-01-31"],
        "until": ["2031-03-18"],
        "seat": ["1A", "14C", "14D"],
        "amount_cents": [100, 2500, 10_000_000],
        "statement_cents": [0],
        "limit_cents": [1000],
        "month": ["2031-02", "2031-03", "2031-04"],
        "words": ["login", "page"],
        "name": ["a", "harbour", "Ada"],
        "email": ["x@y.example"],
        "title": ["A title of an issue"],
        "days": [1, 30, 31],
        "passengers": [[{"given_name": "Mina", "family_name": "Okafor", "born": "2001-02-03"}]],
    }
    return {name: [*found.get(name, []), *values] for name, values in {**{key: [] for key in found}, **extra}.items()}


@cache
def calls_of(application: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    environment = opened(application)
    return calls_for(environment.tools(), dict(examples(environment)))


@cache
def walks_of(application: str, steps: int = 10) -> st.SearchStrategy[list[tuple[str, dict[str, Any]]]]:
    """Sequences that get somewhere (an explorer's), with a few calls at random among them."""
    environment = opened(application)

    def calls(seed: int, asides: list[tuple[int, tuple[str, dict[str, Any]]]]) -> list[tuple[str, dict[str, Any]]]:
        walk = app_explorer(environment, seed=seed, writes=0.85).walk(task(), steps)
        made = [(step.call.name, step.call.arguments) for step in walk.steps]
        for place, call in asides:
            made.insert(place, call)
        return made

    aside = st.tuples(st.integers(0, steps), calls_of(application))
    return st.builds(calls, st.integers(0, 10**6), st.lists(aside, max_size=3))


def dump(episode: AppEpisode) -> dict[str, list[tuple[Any, ...]]]:
    """The whole database straight from SQLite, but for the notes of what rows were (``_before``): of a row that was
    changed and changed back, a restored state has none."""
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> '_before' ORDER BY 1"
    _, names = episode._database.run(sql, mode="engine")
    return {
        name: sorted(episode._database.run(f'SELECT * FROM "{name}"', mode="engine")[1], key=repr) for (name,) in names
    }
