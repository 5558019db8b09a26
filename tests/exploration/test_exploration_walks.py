"""Explorers get somewhere, reproducibly, and favour what was little explored; tool graphs say what feeds what."""

from __future__ import annotations

from collections import Counter

import pytest
from app_explorer import app_explorer
from app_tools import APPLICATIONS, LIBRARY, opened, play, task
from runs_of import of_walk

from synth.environments.app.environment import open_app
from synth.environments.app.reading import shipped
from synth.environments.contract import ToolCall
from synth.exploration.app.feeds import declared_feeds
from synth.exploration.tool_graph import Feed, ToolGraph, tool_graph
from synth.exploration.walks import Explored, Explorer, Walk
from synth.identity import canonical_json

pytestmark = pytest.mark.thorough


def walks(name: str, seed: int, number: int, steps: int = 25, **options: float) -> tuple[Explorer, list[Walk]]:
    explorer = app_explorer(opened(name), seed=seed, **options)
    return explorer, [explorer.walk(task(at), steps) for at in range(number)]


@pytest.mark.parametrize("application", APPLICATIONS)
def test_equal_seeds_explore_alike_and_others_do_not(application: str) -> None:
    first, again, other = (walks(application, seed, 3)[1] for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert first[0].steps != first[1].steps


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_a_walk_says_is_what_happened(application: str) -> None:
    environment = opened(application)
    _, (walk, *_) = walks(application, 2, 1)
    episode = environment.reset(walk.task)
    shown: set[str] = set()
    for step in walk.steps:
        assert episode.state_hash() == step.before
        assert episode.step(step.call) == step.result
        assert episode.state_hash() == step.after
        changed = step.before != step.after
        assert not (changed and step.result.error)
        writes = step.call.name in environment.compiled and environment.definition.tools[step.call.name].writes
        fresh = step.result.content not in shown
        assert step.effective == (step.result.error is None and (changed or (not writes and fresh)))
        shown.add(step.result.content)
    assert all(step.effective for step in walk.changing)


@pytest.mark.parametrize("name", shipped())
def test_nearly_every_tool_of_a_shipped_application_is_reached(name: str) -> None:
    explorer, done = walks(name, 1, 40)
    coverage = explorer.coverage
    names = [tool.name for tool in explorer.environment.tools()]
    assert sum(coverage.effective[name] > 0 for name in names) >= 0.85 * len(names), coverage.tried
    assert coverage.tried.total() == 40 * 25
    effective = Counter(step.call.name for walk in done for step in walk.effective)
    assert {tool: effective[tool] for tool in coverage.tried} == {
        tool: coverage.effective[tool] for tool in coverage.tried
    }
    assert coverage.states == {step.after for walk in done for step in walk.steps} | {done[0].steps[0].before}
    refused = {s.result.content for walk in done for s in walk.steps if s.result.error in ("refused", "not_found")}
    assert len(refused) > 20
    assert sum(len(walk.changing) for walk in done) > 80


def test_tools_that_had_no_effect_yet_come_first() -> None:
    """Two walks of one seed: in the second, every tool but one was effective a thousand times before."""
    environment = opened("tracker")
    rare = "link_issues"
    plain, taught = (app_explorer(environment, seed=3, writes=1.0) for _ in range(2))
    for name in environment.compiled:
        taught.coverage.effective[name] = 0 if name == rare else 1_000
    counts = [Counter(step.call.name for step in explorer.walk(task(), 20).steps)[rare] for explorer in (plain, taught)]
    assert counts[0] <= 5
    assert counts[1] >= 15


def test_a_call_without_effect_is_not_tried_again_in_the_same_state() -> None:
    """What was refused or changed nothing: in no walk. What only showed nothing new: not in the same one."""
    _, done = walks(str(LIBRARY), 4, 12)
    environment = opened(str(LIBRARY))
    ever: set[str] = set()
    for walk in done:
        shown: set[str] = set()
        for step in walk.steps:
            key = canonical_json([step.before, step.call.name, step.call.arguments])
            assert key not in ever | shown
            if not step.effective:
                writes = environment.definition.tools[step.call.name].writes
                (ever if step.result.error is not None or writes else shown).add(key)
    assert len(ever) > 20


def test_a_failure_of_a_tool_is_no_reason_to_leave_a_call() -> None:
    environment = open_app(application=LIBRARY, failures={"rate": 1.0, "in_a_row": 1000})
    explorer = app_explorer(environment, seed=0)
    walk = explorer.walk(task(), 20)
    assert {step.result.error for step in walk.steps} == {"failure"}
    coverage = explorer.coverage
    assert (len(coverage.states), walk.effective) == (1, ())


def app_graph(name: str, *done: Walk) -> ToolGraph:
    environment = opened(name)
    runs = [of_walk(walk) for walk in done]
    return tool_graph(environment.tools(), runs, declared=declared_feeds(environment.definition))


def test_the_library_declares_what_feeds_what() -> None:
    graph = app_graph(str(LIBRARY))
    assert {(feed.source, feed.target, feed.argument) for feed in graph.feeds} == {
        ("find_reader", "lend", "reader_id"),
        ("find_reader", "list_loans", "reader_id"),
        ("list_books", "lend", "book"),
        ("list_loans", "lend", "book"),
        ("take_back", "lend", "book"),
        ("lend", "prolong", "loan_id"),
        ("lend", "take_back", "loan_id"),
        ("list_loans", "prolong", "loan_id"),
        ("list_loans", "take_back", "loan_id"),
    }
    assert all(feed.declared and not feed.seen for feed in graph.feeds)


def test_a_value_is_credited_to_the_tool_that_showed_it_first() -> None:
    environment = opened(str(LIBRARY))
    episode = environment.reset(task())
    reader = episode.look("SELECT reader_id FROM readers WHERE vip")[0]["reader_id"]
    calls = [
        ("find_reader", {"name": "Ada"}),
        ("list_books", {}),
        ("find_reader", {"name": "Ada"}),
        ("lend", {"reader_id": reader, "book": "Ferns"}),
        ("list_loans", {"reader_id": reader}),
    ]
    name = episode.look("SELECT name FROM readers WHERE vip")[0]["name"]
    calls[0] = calls[2] = ("find_reader", {"name": name.split()[0]})
    results = play(episode, *calls)
    walk = Walk(
        task(),
        tuple(
            Explored(ToolCall(id=f"c{at}", name=tool, arguments=arguments), result, "", "", effective=True)
            for at, ((tool, arguments), result) in enumerate(zip(calls, results, strict=True))
        ),
    )
    seen = [feed for feed in app_graph(str(LIBRARY), walk).feeds if feed.seen]
    assert seen == [
        Feed("find_reader", "lend", "reader_id", declared=True, seen=1),
        Feed("find_reader", "list_loans", "reader_id", declared=True, seen=1),
        Feed("list_books", "lend", "book", declared=True, seen=1),
    ]


@pytest.mark.parametrize("name", shipped())
def test_every_key_that_a_shipped_tool_takes_can_be_looked_up(name: str) -> None:
    """No id is only to be guessed: some other tool shows it."""
    environment = opened(name)
    graph = app_graph(name, *walks(name, 7, 24)[1])
    for tool, compiled in environment.compiled.items():
        for argument, spec in compiled.tool.arguments.items():
            if environment.definition.table_of(argument, spec) is not None:
                sources = {feed.source for feed in graph.into(tool) if feed.argument == argument}
                reads = {source for source in sources if not environment.definition.tools[source].writes}
                assert reads, f"no tool that reads shows {argument} of {tool}"
    assert sum(feed.seen > 0 for feed in graph.feeds) > 5
