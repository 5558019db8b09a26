"""Desks by grammar: each seed is another one, and each is an application that works."""

from __future__ import annotations

import pytest

from synth.environments.app.environment import AppEnvironment
from synth.environments.app.grammar import desk_text
from synth.environments.app.reading import load_definition, source_text
from synth.errors import InputError
from synth.exploration.app.feeds import declared_feeds

SEEDS = range(20)


def test_twenty_seeds_are_twenty_desks_and_a_seed_is_always_the_same_one() -> None:
    texts = [desk_text(seed) for seed in SEEDS]
    assert len({text.split("clock:")[1] for text in texts}) == len(SEEDS)
    assert texts[:3] == [desk_text(seed) for seed in SEEDS[:3]]
    desks = [load_definition(f"grammar:{seed}") for seed in SEEDS]
    assert len({desk.title for desk in desks}) >= 15
    assert len({(frozenset(desk.tools), tuple(rule.text for rule in desk.rules)) for desk in desks}) == len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_desk_passes_the_checks_of_any_application(seed: int) -> None:
    desk = load_definition(f"grammar:{seed}")
    AppEnvironment(desk)
    assert "~" not in desk_text(seed)
    assert desk.requests is not None
    assert {ask.tool or name for name, ask in desk.requests.asks.items()} == {
        name for name, tool in desk.tools.items() if tool.writes
    }
    decided = {rule for ask in desk.requests.asks.values() for rule in ask.refused_by}
    assert decided == {rule.name for rule in desk.rules}
    fed = {(target, argument) for _, target, argument in declared_feeds(desk)}
    for name, tool in desk.tools.items():
        for argument, spec in tool.arguments.items():
            assert desk.table_of(argument, spec) is None or (name, argument) in fed


def test_it_goes_by_its_text_so_that_another_grammar_is_another_desk() -> None:
    assert source_text("grammar:3") == desk_text(3)
    with pytest.raises(InputError, match="grammar:SEED"):
        load_definition("grammar:x")
