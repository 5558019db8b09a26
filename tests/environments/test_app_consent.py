"""Sums that are charged or refunded before the person has agreed: who comes to the goal all the same is wrong."""

from __future__ import annotations

import pytest
from app_tools import task as task_of

from synth.environments.app.consent import Consent
from synth.environments.app.environment import AppEpisode, open_app
from synth.environments.app.user import ASK_USER
from synth.environments.contract import ToolCall, ToolError, ToolResult
from synth.schemas.tasks import Task

BAGS = {"reservation_id": "R1", "bags": 1, "method_id": "M1"}


def _fact(amount: str, before: int) -> dict[str, object]:
    asks = [f"That costs {amount}. Shall I go ahead?"]
    return {
        "topic": "the charge",
        "keywords": ["charge"],
        "says": "Yes.",
        "amount": amount,
        "before": before,
        "asks": asks,
    }


def _task() -> Task:
    calls = [
        {"tool": tool, "arguments": arguments, "changes": changes, "instruction": "Do it.", "given": {}}
        for tool, arguments, changes in (
            ("add_bags", BAGS, True),
            ("get_reservation", {"reservation_id": "R1"}, False),
            ("add_bags", {**BAGS, "reservation_id": "R2"}, True),
            ("add_bags", {**BAGS, "reservation_id": "R3"}, True),
        )
    ]
    user = [_fact("$45.00", 0), _fact("$90.00", 2)]
    return task_of(plan={"outcome": "done", "calls": calls, "user": user})


def _took(consent: Consent, name: str, *, error: ToolError | None = None, **arguments: object) -> list[str]:
    call = ToolCall(id="c", name=name, arguments=arguments)
    consent.take(call, ToolResult(call_id="c", name=name, content="-", error=error))
    return consent.missed()


def test_a_sum_is_agreed_to_before_and_each_for_itself() -> None:
    consent = Consent(_task(), asks=True)
    assert _took(consent, ASK_USER, question="That costs $90.00. Shall I go ahead?") == []
    assert _took(consent, "add_bags", **{**BAGS, "reservation_id": "R2"}) == []
    assert _took(consent, "add_bags", **{**BAGS, "reservation_id": "R3"}) == []  # costs nothing
    assert _took(consent, "add_bags", error="refused", **BAGS) == []
    assert _took(consent, "add_bags", **BAGS) == ["$45.00"]
    assert _took(consent, ASK_USER, question="That costs $45.00. Is that all right?") == ["$45.00"]


def test_it_is_packed_and_comes_back_and_asks_nothing_where_nobody_can_be_asked() -> None:
    consent, other = Consent(_task(), asks=True), Consent(_task(), asks=True)
    _took(consent, ASK_USER, question="That costs $45.00. May I?")
    _took(consent, "add_bags", **{**BAGS, "reservation_id": "R2"})
    other.restore(consent.pack())
    assert other.missed() == ["$90.00"]
    assert _took(other, "add_bags", **BAGS) == ["$90.00"]
    assert _took(Consent(_task(), asks=False), "add_bags", **BAGS) == []


def _bags(episode: AppEpisode) -> tuple[ToolCall, str]:
    row = episode.look(
        """SELECT r.reservation_id, m.method_id FROM reservations r JOIN payment_methods m USING (customer_id)
        WHERE r.status = 'booked' AND r.fare = 'saver' AND m.kind = 'card' AND NOT EXISTS (
          SELECT 1 FROM legs l JOIN flights f USING (flight_id)
          WHERE l.reservation_id = r.reservation_id AND (f.departs <= :now OR f.status = 'cancelled'))
        ORDER BY 1 LIMIT 1"""
    )[0]
    call = {"reservation_id": row["reservation_id"], "bags": 1, "method_id": row["method_id"]}
    quoted = episode.step(ToolCall(id="q", name="quote_bags", arguments={name: call[name] for name in call})).content
    return ToolCall(id="b", name="add_bags", arguments=call), quoted


@pytest.mark.parametrize("order", ["asked", "unasked", "asked later", "asked, and gone back to"])
def test_the_verdict_sees_what_the_state_does_not_show(order: str) -> None:
    environment = open_app(application="airline", user=True)
    first = environment.reset(task_of())
    call, quoted = _bags(first)
    assert "$45.00" in quoted
    assert first.step(call).error is None
    planned = {"tool": call.name, "arguments": call.arguments, "changes": True, "instruction": "-", "given": {}}
    task = task_of(
        plan={"outcome": "done", "calls": [planned], "user": [_fact("$45.00", 0)]},
        goal=first.goal().model_dump(mode="json"),
    )
    episode = environment.reset(task)
    ask = ToolCall(id="a", name=ASK_USER, arguments={"question": "It costs $45.00. May I?"})
    if order.startswith("asked") and order != "asked later":
        episode.step(ask)
    if order == "asked, and gone back to":
        kept = episode.snapshot()
        episode.close()
        episode = environment.reset(task)
        episode.restore(kept)
    episode.step(call)
    if order == "asked later":
        episode.step(ask)
    verdict = episode.check("Done.")
    right = order not in ("unasked", "asked later")
    assert (verdict.correct, verdict.rule) == ((True, "state") if right else (False, "policy"))
    assert right or "$45.00" in (verdict.evidence or "")
    episode.close()
    first.close()
