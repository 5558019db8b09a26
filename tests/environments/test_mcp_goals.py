"""Goals on a server: what its reading tools show, canonical, open where two runs differ."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("mcp", reason="extra mcp")

from synth.environments.contract import ToolResult
from synth.environments.mcp.goals import McpGoal, Probe, canonical, difference, fits, open_parts, template
from synth.identity import digest


def shown(content: str, error: str | None = None) -> ToolResult:
    return ToolResult(call_id="c", name="t", content=content, error=error)  # type: ignore[arg-type]


def probe(*parts: str, error: str | None = None) -> Probe:
    return Probe(tool="t", arguments={}, shows=parts, error=error)


def test_neither_keys_nor_lists_have_an_order_but_text_has() -> None:
    assert canonical('{"b": [2, 1], "a": [{"x": 1}, {"w": 0}]}') == canonical('{"a":[{"w":0},{"x":1}],"b":[1,2]}')
    assert canonical("one\ntwo") != canonical("two\none")
    assert canonical('["a", "a"]') != canonical('["a"]')


def test_what_differs_between_two_runs_is_left_open_and_nothing_else() -> None:
    parts = template("note 7f3a by Ada, 12 lines", "note 91bc by Ada, 12 lines")
    assert parts == ("note ", " by Ada, 12 lines")
    assert fits(shown("note 0000 by Ada, 12 lines"), probe(*parts))
    assert not fits(shown("note 0000 by Bob, 12 lines"), probe(*parts))
    assert not fits(shown("note 0000 by Ada, 12 lines", "refused"), probe(*parts))
    assert not fits(shown(f"note {'0' * 100} by Ada, 12 lines"), probe(*parts)), "an open place has limits"


def test_moments_are_open_unless_somebody_said_them() -> None:
    text = "saved 2026-11-22T10:41:03Z, due 2026-12-01T09:00"
    assert open_parts(text) == ("saved ", ", due ", "")
    assert open_parts(text, ["at 2026-12-01T09:00 sharp"]) == ("saved ", ", due 2026-12-01T09:00")
    assert open_parts("modified: Sun Nov 22 2026 10:23:57 GMT+0000 (Coordinated Universal Time) by x") == (
        "modified: ",
        " by x",
    )
    assert open_parts('{"urgency":1.8,"price":2.5}') == ('{"', ',"price":2.5}')
    assert open_parts("**Urgency**: 7.80, made 2 minutes ago, 14.5221 in all") == ("**", ", made ", ", ", " in all")
    assert open_parts("on 20261203T000000Z", ["due 20261203T000000Z"]) == ("on 20261203T000000Z",)
    assert open_parts("in 1961, 2026-11-22, room 1700") == ("in 1961, 2026-11-22, room 1700",)


def test_what_has_little_in_common_is_no_template() -> None:
    assert template("abc def ghi", "xyz uvw rst") is None


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=60))
def test_a_template_fits_both_of_what_it_was_made_of(one: str, other: str) -> None:
    first, second = canonical(one), canonical(other)
    parts = template(first, second)
    if parts is not None and max(len(first), len(second)) < 80:
        assert fits(shown(first), probe(*parts)) == (canonical(first) == first)
    assert fits(shown(one), probe(first)) or open_parts(first) != (first,)


def test_a_hash_stands_for_exactly_one_observation() -> None:
    short = Probe(tool="t", arguments={}, hash=digest("shows", canonical("[2, 1]")))
    assert fits(shown("[1,2]"), short)
    assert not fits(shown("[1,2,3]"), short)
    with pytest.raises(ValueError, match="either"):
        Probe(tool="t", arguments={})
    with pytest.raises(ValueError, match="probes"):
        McpGoal(probes=())


def test_what_is_missing_or_too_much_is_said() -> None:
    assert difference(shown("a\nc"), probe("a\nb")) == "missing 'b', not wanted 'c'"
    assert difference(shown("gone", "not_found"), probe("a")) == "shows 'gone'"
    assert difference(shown("x y"), Probe(tool="t", arguments={}, hash="0")) == "shows 'x y'"


def test_many_things_with_moments_are_still_compared() -> None:
    def shown(second: int) -> str:
        made = f"2026-11-28T10:00:{second:02}Z"
        return canonical(json.dumps([{"made": made, "name": f"t{number}"} for number in range(60)]))

    parts = template(shown(1), shown(2))
    assert parts is not None
    assert len(parts) > 40
    assert all(f"t{number}" in "".join(parts) for number in range(60))
