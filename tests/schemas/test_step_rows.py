"""Steps, continuations and pairs: turns of a content, strengths by side, and swapping."""

from __future__ import annotations

import ast
import inspect
from enum import Enum
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_strategies import rows_of

from synth.schemas.adp import (
    ADP_VERSION,
    Action,
    ApiAction,
    CodeAction,
    ContentItem,
    MessageAction,
    TextObservation,
    problems,
)
from synth.schemas.preferences import PairKind, PreferenceRow, Strength, selected_by_default, swap
from synth.schemas.steps import Behaviour, Criticality, FailureClass, LabelReason
from synth.schemas.turns import action_kind, bare_actions, turn_ranges, turns_within

CALL = ApiAction(function="open", kwargs={"page": 1}, tool_call_id="a", reasoning_content="I read it.")
SEEN = TextObservation(content="text", source="environment", tool_call_id="a")
ASKED = TextObservation(content="who?", source="user")
SAID = MessageAction(content="Ada", description="beside")
RUN = CodeAction(language="python", content="1", tool_call_id="b")
ITEMS = st.lists(st.sampled_from([CALL, SEEN, ASKED, SAID, RUN]), max_size=12).map(tuple)


@given(ITEMS)
def test_turns_are_the_runs_of_actions(content: tuple[ContentItem, ...]) -> None:
    ranges = turn_ranges(content)
    inside = [index for start, end in ranges for index in range(start, end)]
    assert inside == [index for index, item in enumerate(content) if isinstance(item, Action)]
    for start, end in ranges:
        assert start < end
    for (_, end), (start, _) in pairwise(ranges):
        assert end < start  # an observation stands between


def test_turns_of_some_contents() -> None:
    assert turn_ranges(()) == ()
    assert turn_ranges((ASKED,)) == ()
    assert turn_ranges((CALL,)) == ((0, 1),)
    assert turn_ranges((ASKED, CALL, RUN, SEEN, SEEN, SAID)) == ((1, 3), (5, 6))


def test_calls_at_once_are_one_turn_and_a_message_may_be_one_of_its_own() -> None:
    assert turns_within(()) == (0, 0)
    assert turns_within((ASKED, CALL, CALL, SEEN, SEEN, SAID)) == (2, 2)
    assert turns_within((ASKED, SAID, CALL, SEEN, SAID)) == (2, 3)
    assert turns_within((ASKED, CALL, CALL, SEEN), recorded=True) == (1, 2)


@pytest.mark.parametrize(
    ("actions", "gave_up", "kind"),
    [
        ((CALL,), False, "open"),
        ((CALL, CALL), False, "open+open"),
        ((SAID, CALL), False, "open"),
        ((RUN, CALL), False, "code+open"),
        ((SAID,), False, "answer"),
        ((SAID,), True, "give_up"),
        ((CALL,), True, "open"),
    ],
)
def test_kinds_of_actions(actions: tuple[ContentItem, ...], gave_up: bool, kind: str) -> None:
    assert action_kind(actions, gave_up=gave_up) == kind


def test_bare_actions_are_valid_where_nothing_answers_them() -> None:
    def wrong(*content: ContentItem) -> tuple[str, ...]:
        items = [item.model_dump(mode="json") for item in content]
        return problems({"schema_version": ADP_VERSION, "id": "x", "content": items})

    assert "no later observation answers" in wrong(ASKED, CALL)[0]
    assert wrong(ASKED, *bare_actions((CALL, RUN, SAID))) == ()
    assert bare_actions((CALL,))[0] == CALL.model_copy(update={"tool_call_id": None})


@settings(max_examples=60)
@given(rows_of(PreferenceRow))
def test_swapping_twice_changes_nothing(pair: PreferenceRow) -> None:
    once = swap(pair)
    assert swap(once) == pair
    assert (once.chosen, once.rejected) == (pair.rejected, pair.chosen)
    rest = {"chosen", "rejected", "strength"}
    assert once.model_dump(exclude=rest) == pair.model_dump(exclude=rest)
    if pair.strength is not None and once.strength is not None:
        assert once.strength.difference == -pair.strength.difference
        assert (once.strength.low, once.strength.high) == (-pair.strength.high, -pair.strength.low)
        assert once.strength.chosen_n == pair.strength.rejected_n
        assert once.strength.chosen_successes == pair.strength.rejected_successes
        assert once.strength.verified == pair.strength.verified


MEASURED = Criticality(
    alternative=2,
    difference=-0.6,
    low=-0.9,
    high=-0.1,
    confidence=0.95,
    alternative_successes=1,
    alternative_n=10,
    original_successes=7,
    original_n=10,
    verified=True,
    policy_draws=4,
    alternative_draws=1,
    original_draws=3,
)


def test_the_strength_of_a_pair_is_told_from_its_chosen_side() -> None:
    good = Strength.of(MEASURED, "original")
    assert (good.chosen_successes, good.chosen_n, good.rejected_successes, good.rejected_n) == (7, 10, 1, 10)
    assert (good.difference, good.low, good.high, good.alternative, good.verified) == (0.6, 0.1, 0.9, 2, True)
    bad = Strength.of(MEASURED, "alternative")
    assert bad.difference == -0.6
    assert bad.swapped() == good
    assert (good.policy_draws, good.chosen_draws, good.rejected_draws) == (4, 3, 1)


@pytest.mark.parametrize("kind", PairKind)
@pytest.mark.parametrize("verified", [True, False, None])
def test_the_default_selection(kind: PairKind, verified: bool | None) -> None:
    strength = None
    if verified is not None:
        strength = Strength.of(MEASURED.model_copy(update={"verified": verified}), "original")
    unmeasured = kind is PairKind.SIBLING and verified is None
    wanted = kind is not PairKind.PERTURBATION and verified is not False and not unmeasured
    assert selected_by_default(kind, strength) is wanted


def test_every_value_of_an_enum_is_explained() -> None:
    """The card shows these strings to people who have no code at hand."""
    kinds: tuple[type[Enum], ...] = (Behaviour, FailureClass, LabelReason, PairKind)
    for kind in kinds:
        (tree,) = ast.parse(inspect.getsource(kind)).body
        assert isinstance(tree, ast.ClassDef)
        body = tree.body[1:]  # past the docstring of the class
        assert len(body) == 2 * len(kind)
        for node, text in zip(body[::2], body[1::2], strict=True):
            assert isinstance(node, ast.Assign)
            assert isinstance(text, ast.Expr)
            assert isinstance(text.value, ast.Constant)


def test_failures_have_five_classes_and_fourteen_kinds() -> None:
    kinds = [kind.value.split(".") for kind in FailureClass]
    assert len(kinds) == 14
    assert {first for first, _ in kinds} == {"finding", "reading", "reasoning", "acting", "ending"}
