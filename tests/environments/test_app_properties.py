"""Random sequences of calls in every application: states come back exactly, replays agree, failed calls change nothing,
differences are true, and no tool breaks an invariant. The oracle is a dump of the whole database."""

from __future__ import annotations

from typing import Any

import pytest
from app_tools import APPLICATIONS, dump, opened, play, task, walks_of
from hypothesis import HealthCheck, given, settings

from synth.environments.app.environment import AppEpisode
from synth.environments.app.state import RowChange, canonical, changes_in_words, changes_of, differing

pytestmark = pytest.mark.thorough

_SETTINGS = settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Calls = list[tuple[str, dict[str, Any]]]


def compared(before: dict[str, Any], after: dict[str, Any], episode: AppEpisode) -> list[RowChange]:
    """What changed, found by comparing whole dumps."""
    found = []
    for name, table in episode.environment.tables.items():
        columns = list(table.columns)
        at = [columns.index(column) for column in table.key]
        old = {tuple(row[i] for i in at): dict(zip(columns, row, strict=True)) for row in before[name]}
        new = {tuple(row[i] for i in at): dict(zip(columns, row, strict=True)) for row in after[name]}
        for key in old.keys() | new.keys():
            if old.get(key) != new.get(key):
                found.append(RowChange(name, key, old.get(key), new.get(key)))
    return found


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_restored_database_is_the_same_to_the_last_row(application: str) -> None:
    environment = opened(application)

    @_SETTINGS
    @given(walks_of(application), walks_of(application), walks_of(application))
    def run(before: Calls, aside: Calls, after: Calls) -> None:
        episode = environment.reset(task())
        play(episode, *before)
        saved, whole, state = episode.snapshot(), dump(episode), episode.state_hash()
        changes = episode.changes()
        play(episode, *aside, start=100)
        elsewhere = episode.snapshot()
        episode.restore(saved)
        assert dump(episode) == whole
        assert (episode.snapshot(), episode.state_hash(), episode.changes()) == (saved, state, changes)
        results = play(episode, *after, start=200)
        # From quite another state, and from a fresh episode, the same follows.
        episode.restore(elsewhere)
        episode.restore(saved)
        assert dump(episode) == whole
        assert play(episode, *after, start=200) == results
        fresh = environment.reset(task())
        fresh.restore(saved)
        assert dump(fresh) == whole
        assert play(fresh, *after, start=200) == results
        assert dump(fresh) == dump(episode)

    run()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_same_calls_give_the_same_observations_and_state(application: str) -> None:
    environment = opened(application)

    @_SETTINGS
    @given(walks_of(application))
    def run(calls: Calls) -> None:
        first, second = environment.reset(task()), environment.reset(task())
        assert play(first, *calls) == play(second, *calls)
        assert (first.state_hash(), first.snapshot(), dump(first)) == (
            second.state_hash(),
            second.snapshot(),
            dump(second),
        )

    run()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_failed_call_and_one_that_reads_change_nothing(application: str) -> None:
    environment = opened(application)
    writes: set[str] = set()

    @_SETTINGS
    @given(walks_of(application))
    def run(calls: Calls) -> None:
        episode = environment.reset(task())
        for number, call in enumerate(calls):
            before, state = dump(episode), episode.state_hash()
            (result,) = play(episode, call, start=number)
            tool = environment.definition.tools.get(call[0])
            changed = dump(episode) != before
            if changed:
                writes.add(call[0])
            if result.error is not None or tool is None or not tool.writes:
                assert not changed
                assert episode.state_hash() == state

    run()
    known = [name for name, tool in environment.definition.tools.items() if tool.writes]
    assert len(writes) >= 0.4 * len(known), "too few tools changed anything: the test shows little"


@pytest.mark.parametrize("application", APPLICATIONS)
def test_differences_say_all_that_changed_and_are_empty_exactly_for_equal_hashes(application: str) -> None:
    environment = opened(application)
    beginning = environment.reset(task())
    untouched, start = dump(beginning), beginning.state_hash()

    @_SETTINGS
    @given(walks_of(application), walks_of(application, 2))
    def run(left: Calls, right: Calls) -> None:
        one, other = environment.reset(task()), environment.reset(task())
        play(one, *left)
        play(other, *right)
        by_dump = compared(untouched, dump(one), one)
        assert sorted(map(repr, one.changes())) == sorted(map(repr, by_dump))
        entries = one.difference()
        assert changes_of(entries) == changes_of(canonical(by_dump, environment.tables))
        assert (entries == []) == (one.state_hash() == start)
        assert bool(entries) <= bool(changes_in_words(one.changes(), one.environment.tables))
        extra, missing = differing(entries, other.difference())
        assert (not extra and not missing) == (one.state_hash() == other.state_hash())

    run()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_no_sequence_of_calls_breaks_an_invariant_or_a_reference(application: str) -> None:
    environment = opened(application)
    assert environment.definition.invariants

    @settings(_SETTINGS, max_examples=40)
    @given(walks_of(application, 18))
    def run(calls: Calls) -> None:
        episode = environment.reset(task())
        play(episode, *calls)
        for invariant in environment.definition.invariants:
            assert episode.look(invariant.none) == [], invariant.name
        assert episode._database.run("PRAGMA foreign_key_check", mode="engine")[1] == []

    run()
