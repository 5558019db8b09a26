"""What a store of calls holds attempt by attempt and reply by reply, read beside those who use it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.store.calls import CallStore, IntentState, TokenCount
from synth.store.calls_format import decode, sqlite_errors

__all__ = ["Intent", "StoredReply", "intents", "replies", "served"]


@dataclass(frozen=True, slots=True)
class Intent:
    """One attempt at a call, as the store knows it."""

    request_id: str
    key: str
    """Key of its call, hex."""
    account: str
    role: str
    state: IntentState
    tokens_bound: int
    """Prompt and completion tokens at most, as reserved before it was sent."""
    cost_bound: int
    """Nano-units at most."""
    tokens: TokenCount | None
    """None unless delivered."""
    cost: int | None
    """Nano-units; None unless delivered."""


@dataclass(frozen=True, slots=True)
class StoredReply:
    request_id: str
    key: str
    """Key of its call, hex."""
    body: bytes
    reason: str | None = None
    """Why it is recorded only; None = it answers every later call of the same key."""


def intents(calls: CallStore | Path, account: str | None = None) -> list[Intent]:
    """Every attempt that was ever begun, or those of one account, in order."""
    rows = _rows(
        calls,
        "SELECT request_id, key, accounts.account, role, state, tokens_bound, cost_bound, intents.prompt_tokens, "
        "intents.completion_tokens, intents.cached_tokens, cost FROM intents JOIN accounts "
        "ON accounts.id = intents.account WHERE ?1 IS NULL OR accounts.account = ?1 ORDER BY intents.id",
        account,
    )
    return [
        Intent(
            name,
            key.hex(),
            who,
            role,
            IntentState(state),
            tokens,
            cost,
            None if row[0] is None else TokenCount(*row),
            paid,
        )
        for name, key, who, role, state, tokens, cost, *row, paid in rows
    ]


def replies(calls: CallStore | Path) -> list[StoredReply]:
    """Every stored reply, served or recorded, in the order in which they came."""
    rows = _rows(
        calls,
        "SELECT request_id, intents.key, reason, body, keys.reply FROM replies "
        "JOIN intents ON intents.id = replies.intent "
        "LEFT JOIN keys ON keys.key = substr(intents.key, -16) AND keys.reply = replies.id "
        "WHERE ?1 IS NULL ORDER BY replies.id",
        None,
    )
    with sqlite_errors(_path(calls)):
        return [
            StoredReply(
                *(request_id, key.hex(), decode(key, body)),
                None if answers else reason or "another reply to the same call came first",
            )
            for request_id, key, reason, body, answers in rows
        ]


def served(calls: CallStore | Path) -> list[str]:
    """Request ids of the replies that answer later calls."""
    return [reply.request_id for reply in replies(calls) if reply.reason is None]


def _path(calls: CallStore | Path) -> Path:
    return Path(calls.place) if isinstance(calls, CallStore) else calls


def _rows(calls: CallStore | Path, query: str, account: str | None) -> Iterator[tuple[Any, ...]]:
    path = _path(calls)
    with sqlite_errors(path), closing(sqlite3.connect(path)) as connection:
        yield from connection.execute(query, (account,)).fetchall()
