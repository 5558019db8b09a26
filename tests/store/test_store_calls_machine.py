"""The store of model calls against a model of it: any order of begins, settlements, look-ups, ends and deaths of two
users of one file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from stand_ins.call_log import Intent, StoredReply, intents, replies

from synth.store.calls import Account, CallStore, CapReached, IntentState, Outcome, TokenCount

KEYS = [hashlib.sha256(bytes([number])).hexdigest() for number in range(6)]
ACCOUNTS = [("data", "teacher"), ("data", "judge"), ("more", "teacher")]
AMOUNTS = st.one_of(st.integers(0, 20), st.integers(0, 10**15))
USERS = st.integers(0, 1)


@dataclass
class Call:
    """What the model knows of an attempt."""

    number: int
    user: int
    key: str
    account: str
    role: str
    tokens: int
    cost: int
    state: IntentState = IntentState.OPEN
    usage: TokenCount | None = None
    paid: int | None = None
    caps: tuple[int | None, int | None] = (None, None)
    over: bool = False

    @property
    def request(self) -> str:
        return f"request {self.number}"

    def spent(self, unit: str) -> int:
        """At most."""
        if self.state is IntentState.FREE:
            return 0
        if unit == "cost":
            return self.cost if self.paid is None else self.paid
        return self.tokens if self.usage is None else self.usage.prompt + self.usage.completion

    def booked(self) -> dict[str, int]:
        state, usage = self.state, self.usage
        return {
            "delivered": state is IntentState.DELIVERED,
            "unknown": state is IntentState.UNKNOWN,
            "open": state is IntentState.OPEN,
            "free": state is IntentState.FREE,
            "prompt_tokens": usage.prompt if usage else 0,
            "completion_tokens": usage.completion if usage else 0,
            "cached_tokens": usage.cached if usage else 0,
            "cost_exact": self.paid or 0,
            "tokens_unknown": self.tokens if state is IntentState.UNKNOWN else 0,
            "cost_unknown": self.cost if state is IntentState.UNKNOWN else 0,
            "tokens_open": self.tokens if state is IntentState.OPEN else 0,
            "cost_open": self.cost if state is IntentState.OPEN else 0,
            "overruns": self.over,
        }


class Calls(RuleBasedStateMachine):
    open_calls = Bundle("open_calls")

    def __init__(self) -> None:
        super().__init__()
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="synth-", dir=parent))
        self.path = self.folder / "0" / "calls.sqlite"
        self.path.parent.mkdir()
        self.runner = asyncio.Runner()
        self.stores = [CallStore(self.path), CallStore(self.path)]
        self.caps: list[dict[str, tuple[int | None, int | None]]] = [{}, {}]
        self.calls: list[Call] = []
        self.stops: dict[str, tuple[int | None, int | None]] = {}
        self.served: dict[str, bytes] = {}
        self.replies: list[StoredReply] = []

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.runner.close()
        shutil.rmtree(self.folder)

    def amount(self, account: str, unit: str, *states: IntentState) -> int:
        return sum(call.spent(unit) for call in self.calls if call.account == account and call.state in states)

    def is_elsewhere(self, call: Call) -> bool:
        return any(
            one.key == call.key and one.user != call.user and one.state is IntentState.OPEN for one in self.calls
        )

    def verdict(self, call: Call) -> str:
        caps = dict(zip(("cost", "tokens"), self.caps[call.user].get(call.account, (None, None)), strict=True))
        wants = {"cost": call.cost, "tokens": call.tokens}
        rooms = []
        stops = dict(zip(("cost", "tokens"), self.stops.get(call.account, (None, None)), strict=True))
        for unit, cap in caps.items():
            if cap is not None:
                stop = stops[unit]
                if stop is not None and cap <= stop:
                    return "never"
                spent = self.amount(call.account, unit, IntentState.DELIVERED, IntentState.UNKNOWN)
                if spent + wants[unit] > cap:
                    return "never"
                rooms.append(spent + self.amount(call.account, unit, IntentState.OPEN) + wants[unit] <= cap)
        return "now" if all(rooms) else "later"

    @rule(target=open_calls, user=USERS, key=st.sampled_from(KEYS), to=st.sampled_from(ACCOUNTS), a=AMOUNTS, b=AMOUNTS)
    def begin(self, user: int, key: str, to: tuple[str, str], a: int, b: int) -> Any:
        call = Call(len(self.calls), user, key, *to, a, b)
        call.caps = self.caps[user].get(to[0], (None, None))
        verdict = "answered" if key in self.served else "later" if self.is_elsewhere(call) else self.verdict(call)
        store = self.stores[user]

        async def begin() -> None:
            task = asyncio.create_task(store.begin(call.request, key, *to, tokens=a, cost=b))
            if verdict == "later":
                await asyncio.wait([task], timeout=0.01)
                assert not task.done()
                task.cancel()
                await asyncio.wait([task])
            else:
                assert await task == self.served.get(key)

        if verdict == "never":
            with pytest.raises(CapReached):
                self.runner.run(begin())
            return multiple()
        self.runner.run(begin())
        if verdict in ("later", "answered"):
            return multiple()
        self.calls.append(call)
        return call

    @rule(
        call=consumes(open_calls),
        outcome=st.sampled_from(Outcome),
        used=st.tuples(AMOUNTS, AMOUNTS),
        paid=AMOUNTS,
        body=st.one_of(st.none(), st.binary(max_size=50), st.text(max_size=2_000).map(str.encode)),
        reason=st.sampled_from([None, "refusal"]),
    )
    def settle(
        self, call: Call, outcome: Outcome, used: tuple[int, int], paid: int, body: bytes | None, reason: str | None
    ) -> None:
        store = self.stores[call.user]
        if call.state is not IntentState.OPEN:  # its process is dead
            with pytest.raises(ValueError, match="is not open"):
                self.runner.run(store.settle(call.request, Outcome.FREE))
            return
        body = None if outcome is Outcome.FREE else body
        reason = None if body is None else reason
        call.state = IntentState(outcome.value)
        if outcome is Outcome.DELIVERED:
            call.usage, call.paid = TokenCount(*used, min(used)), paid
        found = self.runner.run(
            store.settle(call.request, outcome, usage=call.usage, cost=call.paid, reply=body, reason=reason)
        )
        if call.spent("tokens") > call.tokens or call.spent("cost") > call.cost:
            call.state, call.usage, call.paid, call.over = IntentState.UNKNOWN, None, None, True
            if call.caps != (None, None):
                self.stops[call.account] = call.caps
        if body is None:
            assert found is None
            return
        if reason is None and call.key not in self.served:
            self.served[call.key] = body
            self.replies.append(StoredReply(call.request, call.key, body))
        else:
            said = reason or "another reply to the same call came first"
            self.replies.append(StoredReply(call.request, call.key, body, said))
        assert found == (self.served[call.key] if reason is None else None)

    @rule(user=USERS, account=st.sampled_from(["data", "more"]), cost=st.none() | AMOUNTS, tokens=st.none() | AMOUNTS)
    def cap(self, user: int, account: str, cost: int | None, tokens: int | None) -> None:
        self.caps[user][account] = (cost, tokens)
        self.stores[user].cap(account, cost=cost, tokens=tokens)

    @rule(user=USERS)
    def close_and_open(self, user: int) -> None:
        self.stores[user].close()
        self.reopened(user)

    @rule()
    def die(self) -> None:
        """Both processes are killed: what is on the disk at that moment is opened."""
        folder = self.path.parent.with_name(str(len(list(self.folder.iterdir()))))
        # Not by Python: closing a file that SQLite has open drops its locks.
        subprocess.run(["cp", "-r", str(self.path.parent), str(folder)], check=True)
        for store in self.stores:
            store.close()
        self.path = folder / "calls.sqlite"
        self.reopened(0)
        self.reopened(1)

    def reopened(self, user: int) -> None:
        self.stores[user] = CallStore(self.path)
        self.caps[user] = {}
        for call in self.calls:
            if call.user == user and call.state is IntentState.OPEN:
                call.state = IntentState.UNKNOWN

    @invariant()
    def all_is_as_it_should(self) -> None:
        for store in self.stores:
            for key in KEYS:
                assert self.runner.run(store.get(key)) == self.served.get(key)
            for account in store.accounts():
                mine = [call for call in self.calls if (call.account, call.role) == (account.account, account.role)]
                booked = [call.booked() for call in mine]
                sums = {name: sum(each[name] for each in booked) for name in account_counters()}
                assert account == Account(account.account, account.role, **sums)
            assert {intent.request_id: intent for intent in intents(store)} == {
                call.request: Intent(
                    *(call.request, call.key, call.account, call.role, call.state),
                    *(call.tokens, call.cost, call.usage, call.paid),
                )
                for call in self.calls
            }
            assert replies(store) == self.replies


def account_counters() -> list[str]:
    return [field.name for field in fields(Account) if field.name not in ("account", "role", "batches")]


TestCalls = cast(Any, Calls.TestCase)
TestCalls.settings = settings(max_examples=25, stateful_step_count=25)
