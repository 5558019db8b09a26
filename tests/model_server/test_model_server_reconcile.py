"""Books that agree with the log, and every way in which they may not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from stand_ins.call_log import Intent
from stand_ins.model_server import FaultKind, Record, reconcile, sent_again

from synth.store.calls import IntentState, TokenCount


def record(number: int, outcome: str = "delivered", **more: Any) -> Record:
    values: dict[str, Any] = {"usage": (10, 5), "status": 200} | more
    return Record(number, f"r{number}", f"call{number}", "s", outcome=outcome, **values)


def intent(number: int, state: IntentState = IntentState.DELIVERED, **more: Any) -> Intent:
    tokens, cost = (TokenCount(10, 5), 15) if state is IntentState.DELIVERED else (None, None)
    values: dict[str, Any] = {"tokens_bound": 100, "cost_bound": 100, "tokens": tokens, "cost": cost} | more
    return Intent(f"r{number}", f"{number:064x}", "data", "teacher", state, **values)


RECORDS = [
    record(0),
    record(1, fault=FaultKind.USAGE_MISSING),
    record(2, "reset_after", fault=FaultKind.RESET_AFTER),
    record(3, "unavailable", usage=None, status=503, fault=FaultKind.UNAVAILABLE),
    record(4, "open", usage=None, status=None),
    record(5),
]
INTENTS = [
    intent(0),
    intent(1, IntentState.UNKNOWN),
    intent(2, IntentState.UNKNOWN),
    intent(3, IntentState.FREE),
    intent(4, IntentState.OPEN),
    intent(5, IntentState.UNKNOWN),
    intent(6, IntentState.UNKNOWN),
    intent(7, IntentState.FREE),
]


def test_books_that_agree() -> None:
    found = reconcile(RECORDS, INTENTS)
    assert found.problems == ()
    assert found.states == Counter(delivered=1, unknown=4, free=2, open=1)
    assert found.never_arrived == 2
    assert found.lost == 1


WRONG: dict[str, tuple[list[Record], list[Intent]]] = {
    "r0 was sent twice": ([*RECORDS, replace(record(0), number=6)], INTENTS),
    "request 6 has no id": ([*RECORDS, replace(record(6), request_id=None)], INTENTS),
    "r0 was sent without an intent": (RECORDS, INTENTS[1:]),
    "r0 was begun twice": (RECORDS, [*INTENTS, intent(0)]),
    "r8 is booked as delivered, and the server never got it": (RECORDS, [*INTENTS, intent(8)]),
    "r0 is booked at TokenCount(prompt=10, completion=6, cached=0), and the server counted (10, 5)": (
        RECORDS,
        [intent(0, tokens=TokenCount(10, 6)), *INTENTS[1:]],
    ),
    "r0 used 15 tokens, and 14 were reserved": (RECORDS, [intent(0, tokens_bound=14), *INTENTS[1:]]),
    "r0 cost 15, and 14 were reserved": (RECORDS, [intent(0, cost_bound=14), *INTENTS[1:]]),
    "r2 is booked as free, and the server counted (10, 5)": (
        RECORDS,
        [*INTENTS[:2], intent(2, IntentState.FREE), *INTENTS[3:]],
    ),
    "r2 is booked as delivered, and the server says reset_after (reset_after)": (
        RECORDS,
        [*INTENTS[:2], intent(2), *INTENTS[3:]],
    ),
    "r1 is booked as delivered, and the server says delivered (usage_missing)": (
        RECORDS,
        [INTENTS[0], intent(1), *INTENTS[2:]],
    ),
}


@pytest.mark.parametrize("problem", WRONG)
def test_books_that_do_not(problem: str) -> None:
    assert reconcile(*WRONG[problem]).problems == (problem,)


def test_what_is_sent_again() -> None:
    again = replace(record(6), call="call0")
    assert sent_again([*RECORDS, again], ["r0", "r5"]) == ["r6"]
    assert sent_again([*RECORDS, again], ["r5"]) == []
    assert sent_again([again, *RECORDS], ["r6"]) == []
    assert sent_again([replace(again, number=-1), *RECORDS], ["r6"]) == ["r0"]
