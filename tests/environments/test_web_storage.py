"""What a site keeps: how states are compared, and what is different in words."""

from __future__ import annotations

from synth.environments.web.storage import (
    Change,
    changes_in_words,
    compare,
    differing,
    kept,
    state_hash,
    stored,
    without,
)

BEFORE = {"holds": [{"title": "A", "branch": "x"}, {"title": "B", "branch": "x"}], "settings": {"mail": "m", "n": 1}}
KEYS = {"holds": "title"}


def test_storage_is_read_as_it_is_written() -> None:
    value = {"text": "plain", "list": [1, {"é": None}], "looks like JSON": "{not"}
    assert kept({"origins": [{"localStorage": stored(value)}], "cookies": []}) == value
    cookies = [{"name": "s", "value": "1", "expires": 5}]
    assert kept({"cookies": cookies}, server={"rows": 2}) == {"(cookies)": {"s": "1"}, "(server)": {"rows": 2}}


def test_order_of_entries_is_no_difference() -> None:
    other = {**BEFORE, "holds": BEFORE["holds"][::-1]}
    assert state_hash(BEFORE, ()) == state_hash(other, ())
    assert compare(BEFORE, other, KEYS) == []
    assert state_hash({"order": ["a", "b"]}, ()) != state_hash({"order": ["b", "a"]}, ())


def test_every_kind_of_change_is_found() -> None:
    after = {"holds": [{"title": "A", "branch": "y"}, {"title": "C", "branch": "x"}], "settings": {"mail": "z", "n": 1}}
    assert compare(BEFORE, after, KEYS) == [
        Change(at="holds", kind="changed", field="branch", entry={"title": "A", "branch": "x"}, before="x", after="y"),
        Change(at="holds", kind="removed", before={"title": "B", "branch": "x"}),
        Change(at="holds", kind="added", after={"title": "C", "branch": "x"}),
        Change(at="settings.mail", kind="set", before="m", after="z"),
    ]
    words = changes_in_words(compare(BEFORE, after, KEYS))
    assert words[0] == 'holds, entry {"branch":"x","title":"A"}: branch "x" -> "y"'
    assert words[3] == 'settings.mail: "m" -> "z"'


def test_a_list_that_appears_is_entries() -> None:
    assert [one.kind for one in compare({}, {"log": [{"a": 1}, {"a": 1}]}, {})] == ["added", "added"]
    assert compare({"log": [1, 1]}, {"log": [1]}, {}) == [Change(at="log", kind="removed", before=1)]


def test_what_is_volatile_does_not_count() -> None:
    later = {**BEFORE, "seen": 5, "holds": [{**hold, "at": 9} for hold in BEFORE["holds"]]}
    assert state_hash(later, ("seen", "holds.at")) == state_hash(BEFORE, ())
    assert without(later, ("seen", "holds.at", "no.such")) == BEFORE


def test_differing_names_both_sides() -> None:
    one, two = Change(at="a", kind="set", after=1), Change(at="b", kind="set", after=1)
    assert differing([one], [two]) == ([one], [two])
