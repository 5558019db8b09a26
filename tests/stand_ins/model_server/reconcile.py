"""The server's log and a client's books, held against each other request by request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stand_ins.call_log import Intent
from synth.mocks.model.faults import FaultKind
from synth.mocks.model.log import DELIVERED, Record
from synth.store.calls import IntentState

__all__ = ["Reconciliation", "reconcile", "sent_again"]


@dataclass(frozen=True)
class Reconciliation:
    """What came of it."""

    states: Counter[IntentState]
    """State -> number of intents; together all that was ever begun."""
    never_arrived: int
    """Intents that the server knows nothing of: killed before they were sent, or the connection was refused."""
    lost: int
    """Answers that the server delivered whole, with their usage, and that the client books at their upper bound: it
    was killed, or gave up, before it could book them."""
    problems: tuple[str, ...]
    """Everything that does not fit, in words; empty when all of it does."""


def reconcile(records: Sequence[Record], intents: Iterable[Intent]) -> Reconciliation:
    """Every request of the log is one intent and no other; what was delivered is booked at what it cost, and nothing
    costs more than was reserved for it.

    Args:
        records: All that the server got from this client, over all runs.
        intents: All that the client ever began.
    """
    problems: list[str] = []
    arrived: dict[str, Record] = {}
    for record in records:
        if record.request_id is None:
            problems.append(f"request {record.number} has no id")
        elif record.request_id in arrived:
            problems.append(f"{record.request_id} was sent twice")
        else:
            arrived[record.request_id] = record
    states: Counter[IntentState] = Counter()
    never_arrived = lost = 0
    known: set[str] = set()
    for intent in intents:
        if intent.request_id in known:
            problems.append(f"{intent.request_id} was begun twice")
        known.add(intent.request_id)
        states[intent.state] += 1
        record_or_none = arrived.get(intent.request_id)
        if record_or_none is None:
            never_arrived += 1
            if intent.state is IntentState.DELIVERED:
                problems.append(f"{intent.request_id} is booked as delivered, and the server never got it")
            continue
        problem = _compare(record_or_none, intent)
        if problem is not None:
            problems.append(f"{intent.request_id} {problem}")
        unbooked = intent.state in (IntentState.UNKNOWN, IntentState.OPEN)
        lost += unbooked and _has_usage(record_or_none)
    problems += [f"{name} was sent without an intent" for name in arrived if name not in known]
    return Reconciliation(states, never_arrived, lost, tuple(problems))


def _has_usage(record: Record) -> bool:
    return record.outcome == DELIVERED and record.fault is not FaultKind.USAGE_MISSING


def _compare(record: Record, intent: Intent) -> str | None:
    used = record.usage
    if used is not None and sum(used) > intent.tokens_bound:
        return f"used {sum(used)} tokens, and {intent.tokens_bound} were reserved"
    if intent.state is IntentState.DELIVERED:
        # An answer without a choice is not an answer, but its usage is readable.
        if not _has_usage(record) and record.fault is not FaultKind.EMPTY_CHOICES:
            return f"is booked as delivered, and the server says {record.outcome} ({record.fault})"
        if intent.tokens is None or used != (intent.tokens.prompt, intent.tokens.completion):
            return f"is booked at {intent.tokens}, and the server counted {used}"
        if intent.cost is None or intent.cost > intent.cost_bound:
            return f"cost {intent.cost}, and {intent.cost_bound} were reserved"
    elif intent.state is IntentState.FREE and used is not None:
        return f"is booked as free, and the server counted {used}"
    return None


def sent_again(records: Sequence[Record], served: Iterable[str]) -> list[str]:
    """Request ids of the log that asked for what was delivered and stored before they arrived.

    Args:
        served: Request ids whose replies the store serves.
    """
    stored = set(served)
    done: set[str] = set()
    found: list[str] = []
    for record in sorted(records, key=lambda one: one.number):
        if record.call in done:
            found.append(str(record.request_id))
        if record.request_id in stored:
            done.add(record.call)
    return found
