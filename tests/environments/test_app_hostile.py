"""Hostile input to applications: nothing escapes, nothing breaks, and the observation says what was wrong."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from app_tools import APPLICATIONS, LIBRARY, dump, opened, play, task
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from synth.environments.app.database import Database, Mode
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.app.reading import parse_definition
from synth.environments.contract import ToolCall

pytestmark = pytest.mark.thorough

SQL = (
    "'; DROP TABLE customers; --",
    "x' OR '1'='1",
    '" OR ""="',
    "1; ATTACH DATABASE '/tmp/stolen' AS s",
    "x' UNION SELECT name FROM sqlite_master --",
    "load_extension('x')",
    ":now",
    "?1",
    "$today",
    "%",
    "_______",
    "{reservation_id}",
    "{c_email:money}",
    "[[{c_email}]]",
    "rule:cancel_right",
    "\\",
    "NULL",
    "C" * 120,
)


@pytest.mark.parametrize("application", APPLICATIONS)
def test_sql_in_any_text_argument_is_a_text_and_nothing_else(application: str) -> None:
    environment = opened(application)
    episode = environment.reset(task())
    before = dump(episode)
    tables = set(before)
    for name, tool in environment.compiled.items():
        texts = [at for at, argument in tool.arguments.items() if argument.type in ("text", "note")]
        for at in texts:
            for number, attack in enumerate(SQL):
                arguments: dict[str, Any] = {other: _plain(tool.arguments[other].type) for other in tool.arguments}
                (result,) = play(episode, (name, {**arguments, at: attack}), start=number)
                after = dump(episode)
                assert result.content
                assert "sqlite_master" not in result.content.replace(attack, "")
                if result.error is not None:
                    assert after == before
                before = after
    assert set(before) == tables


def _plain(kind: str) -> Any:
    return {"integer": 1, "money": 100, "boolean": True, "date": "2031-03-18", "list": []}.get(kind, "x")


def test_a_text_that_looks_like_sql_or_a_template_is_kept_as_it_is() -> None:
    environment = opened("ledger")
    episode = environment.reset(task())
    attacks = [attack for attack in SQL if len(attack) <= 60]
    for attack in attacks:
        (result,) = play(episode, ("add_payee", {"name": attack}))
        assert result.error is None, result
        assert result.content.startswith(f"{attack} is payee PY")
    assert {row["name"] for row in episode.look("SELECT name FROM payees")} >= set(attacks)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ann\u200bMarie", "U+200B (zero width space)"),
        ("\u202egnirts", "U+202E (right-to-left override)"),
        ("a\x00b", "U+0000"),
        ("\ufeffAda", "U+FEFF"),
        ("a\nb", "a line break"),
        ("\x1b[31mred", "U+001B"),
        ("tag\U000e0041", "U+E0041"),
        ("x" * 61, "61 characters, at most 60"),
        ("x" * 1_000_000, "1,000,000 characters"),
        ("   ", "is empty"),
    ],
)
def test_unseen_and_oversize_texts_are_refused_by_name(text: str, said: str) -> None:
    episode = opened("ledger").reset(task())
    (result,) = play(episode, ("add_payee", {"name": text}))
    assert result.error == "bad_arguments"
    assert said in result.content
    assert len(result.content) < 300
    assert episode.difference() == []


def test_forms_of_one_letter_are_one_name_and_look_alikes_are_not() -> None:
    episode = opened("ledger").reset(task())
    composed, decomposed, wide = "Caf\u00e9", "Cafe\u0301", "\uff23\uff41\uff46\uff45"
    first, again, other = play(episode, *[("add_payee", {"name": name}) for name in (decomposed, composed, wide)])
    assert first.error is None
    assert (again.error, again.content) == ("refused", f"There is a payee called {composed}.")
    assert other.error is None
    customer = opened("airline").reset(task()).look("SELECT customer_id FROM customers LIMIT 1")[0]["customer_id"]
    wide_id = "".join(chr(ord(sign) + 0xFEE0) for sign in customer)
    (missing,) = play(opened("airline").reset(task()), ("get_customer", {"customer_id": wide_id}))
    assert missing.error == "not_found"
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467 בשעה 5"
    note = opened("airline").reset(task())
    (kept,) = play(note, ("hand_over", {"customer_id": customer, "topic": "other", "summary": f"two lines\n{family}"}))
    assert kept.error is None
    assert note.look("SELECT summary FROM handovers")[0]["summary"] == f"two lines\n{family}"


def test_a_lone_surrogate_never_becomes_a_call() -> None:
    with pytest.raises(ValidationError, match="surrogate"):
        ToolCall(id="a", name="add_payee", arguments={"name": "\ud800"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "is missing"),
        ({"reservation_id": None}, "must be a text, not null"),
        ({"reservation_id": 7}, "must be a text, not 7"),
        ({"reservation_id": ["A"]}, 'must be a text, not ["A"]'),
        ({"reservation_id": {"$ne": ""}}, "must be a text"),
        ({"reservation_id": "A", "leg": True}, "a whole number, not true"),
        ({"reservation_id": "A", "leg": 1.5}, "a whole number, not 1.5"),
        ({"reservation_id": "A", "leg": "1"}, "a whole number, not '1'"),
        ({"reservation_id": "A", "leg": 10**300}, "between 1 and 2"),
        ({"reservation_id": "A", "leg": -(2**63) - 1}, "between 1 and 2"),
        ({"reservation_id": "A", "leg": 1, "passenger": 1, "seat": "99Z"}, "not of the right form"),
        ({"reservation_id": "A", "leg": 1, "passenger": 1, "seat": "14C\n"}, "a line break"),
        ({"seats": "14C"}, "there is no argument 'seats'"),
        ({"x" * 5000: 1}, "there is no argument"),
    ],
)
def test_wrong_types_and_names_are_said(arguments: dict[str, Any], said: str) -> None:
    (result,) = play(opened("airline").reset(task()), ("choose_seat", arguments))
    assert result.error == "bad_arguments"
    assert said in result.content
    assert len(result.content) < 400


@pytest.mark.parametrize(
    "value", ["2031-02-30", "2031-2-3", "31-02-03", "now", "2031-03-18T00:00", "２０３１-03-18", "0000-01-01"]
)
def test_dates_that_are_none_are_refused(value: str) -> None:
    (result,) = play(opened("ledger").reset(task()), ("list_transactions", {"since": value}))
    assert result.error == "bad_arguments"
    assert "YYYY-MM-DD" in result.content


@pytest.mark.parametrize("name", ["nothing", "", "sqlite_master", "x" * 10_000, "\u202eevil", "__class__"])
def test_unknown_tools_are_said(name: str) -> None:
    if not name:
        return
    (result,) = play(opened("ledger").reset(task()), (name, {}))
    assert result.error == "unknown_tool"
    assert "list_accounts" in result.content
    assert len(result.content) < 600


def test_a_call_after_a_failed_transaction_finds_nothing_of_it() -> None:
    """The third statement of a loan fails at a constraint: the first two are undone, and so is the key."""
    environment = opened(str(LIBRARY))
    episode = environment.reset(task())
    reader = episode.look("SELECT reader_id FROM readers WHERE vip")[0]["reader_id"]
    before = episode.snapshot()
    (failed,) = play(episode, ("lend", {"reader_id": reader, "book": "Lichen", "note": "twice"}))
    assert (failed.error, failed.content) == ("refused", "There is no copy left.")
    assert not episode._database.connection.in_transaction
    assert (episode.difference(), episode.snapshot().state) == ([], before.state.replace('"calls":0', '"calls":1'))
    (lent,) = play(episode, ("lend", {"reader_id": reader, "book": "Ferns"}))
    other = environment.reset(task())
    (same,) = play(other, ("lend", {"reader_id": reader, "book": "Ferns"}))
    assert lent == same
    assert dump(episode) == dump(other)


@pytest.mark.parametrize(
    ("sql", "mode"),
    [
        ("ATTACH DATABASE ':memory:' AS other", "engine"),
        ("ATTACH DATABASE 'file.db' AS other", "write"),
        ("PRAGMA writable_schema = ON", "write"),
        ("PRAGMA table_info(books)", "read"),
        ("SELECT load_extension('x')", "engine"),
        ("SELECT random()", "read"),
        ("SELECT randomblob(10)", "write"),
        ("SELECT name FROM sqlite_master", "read"),
        ("SELECT * FROM _before", "read"),
        ("SELECT * FROM policy_violations", "read"),
        ("DELETE FROM policy_violations", "write"),
        ("UPDATE _engine SET armed = 0", "write"),
        ("INSERT INTO books VALUES ('X', 1, 1)", "read"),
        ("DROP TABLE books", "write"),
        ("CREATE TABLE x (y)", "write"),
        ("CREATE TEMP TRIGGER t AFTER INSERT ON books BEGIN SELECT 1; END", "write"),
        ("VACUUM INTO 'stolen.db'", "write"),
        ("BEGIN", "write"),
        ("SELECT roll('a', 1, 2)", "read"),
        ("EXPLAIN SELECT 1; SELECT 2", "read"),
    ],
)
def test_statements_of_a_definition_do_no_more_than_they_may(sql: str, mode: Mode) -> None:
    episode = opened(str(LIBRARY)).reset(task())
    with pytest.raises((sqlite3.Error, sqlite3.Warning)):
        episode._database.run(sql, mode=mode)
    assert not episode._database.connection.in_transaction


def test_work_is_bounded_by_steps_of_the_machine_and_the_episode_goes_on() -> None:
    text = LIBRARY.read_text().replace(
        "from: SELECT * FROM books ORDER BY book",
        "from: WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) "
        "SELECT b.*, (SELECT count(*) FROM n) AS many FROM books b ORDER BY book",
    )
    environment = AppEnvironment(parse_definition(text, "slow.yaml"), budget=2_000_000)
    episode = environment.reset(task())
    slow, again, fine = play(episode, ("list_books", {}), ("list_books", {}), ("find_reader", {"name": "a"}))
    assert (slow.error, slow.content) == (again.error, again.content)
    assert slow.error == "failure"
    assert "takes too long" in slow.content
    assert fine.error is None
    assert Database(budget=1_000_000).run("SELECT 1", mode="read")[1] == [(1,)]


def test_tools_fail_on_purpose_seeded_labelled_and_without_effect() -> None:
    options = {"failures": {"rate": 0.5, "seed": 11, "tools": ["lend"], "in_a_row": 2}}
    environment = open_app(application=LIBRARY, **options)
    episode, twin = environment.reset(task()), environment.reset(task())
    reader = episode.look("SELECT reader_id FROM readers WHERE vip")[0]["reader_id"]
    call = ("lend", {"reader_id": reader, "book": "Ferns"})
    states, results = [], []
    for number in range(24):
        before = dump(episode)
        (result,) = play(episode, call, start=number)
        states.append(result.error)
        results.append(result)
        if result.error == "failure":
            assert "try again" in result.content
            assert dump(episode) == before
    assert play(twin, *[call] * 24) == results
    assert 6 <= states.count("failure") <= 18
    assert all(states[at : at + 3] != ["failure"] * 3 for at in range(22))
    assert all(result.error is None for result in play(episode, *[("list_books", {})] * 10))
    assert environment.settings(task())["failures"]["rate"] == 0.5
    other = open_app(application=LIBRARY, failures={**options["failures"], "seed": 12}).reset(task())
    assert play(other, *[call] * 24) != results
    # A snapshot in the middle of failures goes on with the same ones.
    saved = twin.snapshot()
    after = play(twin, *[call] * 6, start=50)
    twin.restore(saved)
    assert play(twin, *[call] * 6, start=50) == after


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["airline", "tracker", "ledger"]), st.data())
def test_no_arguments_crash_a_tool(application: str, data: st.DataObject) -> None:
    environment = opened(application)
    name = data.draw(st.sampled_from(list(environment.compiled)))
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
    )
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    )
    arguments = data.draw(
        st.dictionaries(st.sampled_from([*environment.compiled[name].arguments, "x"]), values, max_size=6)
    )
    try:
        call = ToolCall(id="c", name=name, arguments=arguments)
    except ValidationError:
        return
    result = environment.reset(task()).step(call)
    assert result.content
    assert "Traceback" not in result.content
