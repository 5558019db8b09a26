"""What is proposed as the application of a policy is held to it before anything is explored."""

from __future__ import annotations

import pytest
import yaml
from stand_ins.model_server.designing import Flaw, flawed

from synth.environments.app.grammar import desk_text
from synth.environments.app.reading import parse_definition
from synth.exploration.app.architect import policy_lines, problem_with


@pytest.fixture(scope="module")
def text() -> str:
    return desk_text(0)


@pytest.fixture(scope="module")
def policy(text: str) -> tuple[str, ...]:
    return policy_lines(parse_definition(text, "desk"))


@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        ("no_tables", "tables"),
        ("wrong_sql", "nothing before it gives :no_such_thing a value"),
        ("rule_left_out", "stands in no rule or section"),
        ("rule_invented", "stands in no rule or section"),
    ],
)
def test_a_file_that_does_not_work_or_keep_to_the_policy_is_refused(
    flaw: Flaw, words: str, text: str, policy: tuple[str, ...]
) -> None:
    answer = flawed(yaml.safe_load(text), flaw)
    assert isinstance(answer, dict)
    assert words in str(problem_with(yaml.safe_dump(answer["application"]), policy))


def test_a_sentence_that_nobody_asked_for_is_refused(text: str, policy: tuple[str, ...]) -> None:
    assert "is not a sentence of the policy" in str(problem_with(text, policy[1:]))
