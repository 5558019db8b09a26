"""A refusal tells what was found, not the rule alone."""

from __future__ import annotations

import pytest
from explored_apps import environment, plan_of, tasks

from synth.environments.contract import ToolCall
from synth.schemas.plans import Policed


@pytest.mark.parametrize("application", ["ledger", "tracker"])
def test_rules_say_which_lines_they_go_by(application: str) -> None:
    asks = environment(application).definition.requests.asks
    silent = [
        (name, rule)
        for name, ask in asks.items()
        for rule, looks in ask.refused_by.items()
        if looks and not any(look.shows for look in looks)
    ]
    assert silent == []


@pytest.mark.parametrize("application", ["ledger", "tracker"])
def test_what_is_refused_has_a_line_that_says_why(application: str) -> None:
    place = environment(application)
    stopped = 0
    for task in tasks(application, 40):
        forbidden, plan = Policed.of(task.details).forbidden, plan_of(task)
        if forbidden is None or plan.attempts or not any(call.decides for call in plan.calls):
            continue
        episode = place.reset(task)
        shown = [episode.step(ToolCall(id="c", name=c.tool, arguments=c.arguments)).content for c in plan.calls]
        episode.close()
        assert all(any(line in text for text in shown) for line in forbidden.evidence)
        stopped += bool(forbidden.evidence)
    assert stopped > 3


def test_a_rule_of_doubles_says_no() -> None:
    rule = environment("ledger").rules.named("twice")
    assert rule is not None
    assert "is not entered twice" in " ".join(rule.text.split())


def test_what_is_done_instead_does_not_allow_what_was_refused() -> None:
    """A comment is what the rule on closing asks for."""
    assert "comment_for" not in environment("tracker").definition.requests.asks["drop_issue"].instead


def test_what_costs_nothing_is_charged_to_nothing() -> None:
    episode = environment("airline").reset(tasks("airline", 4)[0])
    rows = episode.look(
        """SELECT r.reservation_id, m.method_id FROM reservations r JOIN payment_methods m USING (customer_id)
           WHERE m.kind = 'voucher' AND r.fare <> 'saver' AND r.status = 'booked'"""
    )
    said = [episode.step(ToolCall(id="c", name="quote_bags", arguments={**row, "bags": 1})).content for row in rows]
    episode.close()
    assert [line for line in said if "costs nothing" in line]
    assert all("which has" not in line for line in said if "costs nothing" in line)
