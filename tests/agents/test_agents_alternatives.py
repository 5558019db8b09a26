"""Templates of thoughts: what they expand to, that their output is read back, and facts told in words."""

from __future__ import annotations

import re

import pytest

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.grounding.said import SaidRun, found_in, is_said
from synth.agents.grounding.told import clauses
from synth.agents.scripted.phrases import NOTES, PHRASES, TEMPLATES, read_notes
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.observed import observe
from synth.identity import derive_generator
from synth.lexicon.alternatives import template


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("I go on.", ("I go on.",)),
        ("[So|Then] I [read|open] it.", ("So I read it.", "So I open it.", "Then I read it.", "Then I open it.")),
        ("I see {a}[ here|].", ("I see {a} here.", "I see {a}.")),
        ("I [now|] go [on|] , {a}", ("I now go on, {a}", "I now go, {a}", "I go on, {a}", "I go, {a}")),
        ("[[a|b] c|d]", ("a c", "b c", "d")),
    ],
)
def test_what_a_template_stands_for(text: str, phrases: tuple[str, ...]) -> None:
    assert template(text).all() == phrases
    for phrase in phrases:
        assert re.fullmatch(template(text).regex(), phrase.replace("{a}", "Orl, the first")), phrase


def test_a_blank_that_always_stands_is_not_optional() -> None:
    assert re.fullmatch(template("I [see|read] {a}.").regex(), "I see. Then.") is None


def test_every_phrase_is_drawn() -> None:
    generator = derive_generator(0, "alternatives")
    one = template("[a|b] [c|d|]")
    assert {one.draw(lambda count: int(generator.integers(count))) for _ in range(200)} == set(one.all())


@pytest.mark.parametrize("text", ["[a|b", "a]", "a|b"])
def test_a_bracket_without_its_other_half_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="bracket"):
        template(text)


@pytest.mark.parametrize(
    ("text", "landmarks"),
    [
        ("I open {title}, then.", (", then.",)),
        ("[Is it|Could it be] {found}?", ("Is it", "Could it be")),
        ("[So|] {found} [is|seems] the one.", ("the one.",)),
        ("[{a}|I see] {b}", ()),
        ("{a} {b}", ()),
    ],
)
def test_each_match_holds_one_of_the_landmarks(text: str, landmarks: tuple[str, ...]) -> None:
    assert template(text).landmarks() == landmarks


def test_every_phrasing_is_read_back() -> None:
    for intent in TEMPLATES:
        for phrase in PHRASES[intent]:
            told = re.sub(r"\{\w+\}", "Korvan Works", phrase)
            assert is_said(intent, told), (intent, phrase)
            assert next(found_in(intent, told), None) is not None, (intent, phrase)


def test_no_name_runs_into_the_word_behind_it() -> None:
    """A capital behind a name would be read as a part of it ("Korvan Works I")."""
    names = r"\{(?:name|names|title|titles|value|values|answer|found|details)\}(?:['’]s)? (?:I\b|[A-Z])"
    for intent in TEMPLATES:
        assert not [phrase for phrase in PHRASES[intent] if re.search(names, phrase)], intent


def test_no_other_phrase_reads_as_a_note() -> None:
    """ "I take that first." would be read as a candidate called "that", wherever "that" was seen."""
    for intent in sorted(set(TEMPLATES) - {*NOTES, "members"}):
        for phrase in PHRASES[intent]:
            said = re.sub(r"\{\w+\}", "Korvan Works", phrase)
            words = [word for word in re.findall(r"[a-z'-]+", said) if word != "works"]
            assert read_notes(said, words) == [], (intent, phrase)


def test_a_fact_told_in_words_counts_as_quoted() -> None:
    content = "[Orl](city/orl), mayor (out), page 1 of 1\n\n- [Orl](city/orl), mayor: [Ada Bey](person/ada)"
    fact = next(passage.fact for passage in observe(content).passages)
    assert fact is not None
    call = ToolCall(id="a", name="get_triples", arguments={"entity": "city/orl"})
    read = Step(turn=Turn(calls=(call,)), results=(ToolResult(call_id="a", name="get_triples", content=content),))
    prompt = Prompt(system="", question="Who is mayor of Orl?", tools=())
    for clause in clauses(fact):
        said = SaidRun(prompt, (read, Step(turn=Turn(thought=f"I see that {clause}.", answer="Ada Bey")))).turns[1]
        assert said.quotes == ["Orl, mayor: Ada Bey"], clause
        assert "Ada Bey" not in said.bare
