"""A pattern that takes exponential time in Python's engine takes no time here, wherever a stranger's pattern is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.agents.model.reading import fit
from synth.environments.app import reading
from synth.environments.app.arguments import problem_with
from synth.environments.app.definition import Argument
from synth.environments.app.reading import parse_definition
from synth.environments.contract import ToolSchema, validate_arguments
from synth.errors import InputError
from synth.patterns import fits, is_found

EVIL = ("(a+)+$", "(a|a)*$", "(?:a|aa)+$", "(.*a){24}$", "(a*)*c$")
TEXT = "a" * 20_000 + "b"


def tool(**properties: object) -> ToolSchema:
    return ToolSchema(name="find", description="Find.", parameters={"type": "object", **properties})


@pytest.mark.timeout(120)
@pytest.mark.parametrize("pattern", EVIL)
def test_no_pattern_hangs(pattern: str) -> None:
    assert not is_found(f"^{pattern}", TEXT)
    value = tool(properties={"q": {"type": "string", "pattern": f"^{pattern}"}})
    name = tool(patternProperties={f"^{pattern}": {"type": "string"}}, additionalProperties=False)
    for schema, arguments in ((value, {"q": TEXT}), (name, {TEXT: "x"})):
        problem = validate_arguments(schema, arguments)
        assert problem is not None
    with pytest.raises(ValueError, match="Additional properties"):
        fit(name, {TEXT: "x"})
    assert fit(value, {"q": TEXT}) == ({"q": TEXT}, ())
    asked = {"q": Argument(type="note", about="A text.", pattern=pattern, most=30_000)}
    said = problem_with(asked, {"q": TEXT})
    assert said is not None
    assert "not of the right form" in said


def test_patterns_mean_what_they_meant() -> None:
    assert fits("[A-Z]{3}", "VIE")
    assert not fits("[A-Z]{3}", "VIE\n")
    assert not fits("a|b", "ab")
    assert is_found("b", "abc")
    schema = tool(properties={"when": {"pattern": r"^\d{4}-\d{2}$"}}, patternProperties={"^x-": {"type": "integer"}})
    assert validate_arguments(schema, {"when": "2020-01", "x-a": 1, "other": None}) is None
    assert validate_arguments(schema, {"when": "2020"}) == r"when: '2020' does not match '^\\d{4}-\\d{2}$'"
    assert validate_arguments(schema, {"x-a": "1"}) == "x-a: '1' is not of type 'integer'"
    closed = tool(patternProperties={"^x-": {}}, additionalProperties={"type": "null"})
    assert validate_arguments(closed, {"x-a": 1, "other": None}) is None
    assert validate_arguments(closed, {"other": 1}) == "other: 1 is not of type 'null'"
    unknown = tool(properties={"q": {"pattern": "(?=a)a"}})
    assert validate_arguments(unknown, {"q": "b"}) is None, "what RE2 can't run is the server's to check"


@pytest.mark.parametrize("pattern", ["(?=a)a", r"(a)\\1", "["])
def test_an_application_whose_pattern_can_not_be_run_is_refused(pattern: str) -> None:
    shipped = Path(reading.__file__).parent / "shipped" / "airline.yaml"
    text = shipped.read_text("utf-8").replace('pattern: "[A-Z]{3}"', f'pattern: "{pattern}"', 1)
    with pytest.raises(InputError, match="the pattern is not a regular expression of RE2"):
        parse_definition(text, "airline")
