"""The tokenizer's rules by example, and its one law: a mention is always findable by its atoms."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synth.retrieval.tokens import contains_phrase, phrase_atoms, surface_spans, surface_tokens, surfaces, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The Harbour of Velmora.", ["the", "harbour", "of", "velmora"]),
        ("os.path.join()", ["os", "path", "join", "os.path.join"]),
        ("read_text", ["read", "text", "read_text"]),
        ("__init__", ["init", "__init__"]),
        ("std::vector", ["std", "vector", "std::vector"]),
        ("OrderedDict", ["ordereddict", "ordered", "dict"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("NASA", ["nasa"]),
        ("well-known", ["well", "known", "well-known"]),
        ("Vela's isn\u2019t", ["vela", "s", "isn", "t", "isn't"]),
        ("1987-03-14", ["1987", "03", "14", "1987-03-14"]),
        ("on 14 March 1987", ["on", "14", "march", "1987"]),
        ("1,204 and 1,204.5 and 1204", ["1204", "and", "1204.5", "and", "1204"]),
        ("(1,2,3)", ["1", "2", "3", "1,2,3"]),
        ("412.5 metres, 3.11", ["412.5", "metres", "3.11"]),
        ("3.11rc1", ["3", "11rc1", "3.11rc1"]),
        ("12:30", ["12", "30", "12:30"]),
        ("python3.11", ["python3", "11", "python3.11"]),
        ("end.Next", ["end", "next", "end.next"]),
        ("na\u00efve STRASSE Stra\u00dfe", ["na\u00efve", "strasse", "strasse"]),
        ("nai\u0308ve", ["na\u00efve"]),
        ("\ufb01ne \uff21\uff22", ["fine", "ab"]),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("\u6771\u4eac\u90fd", ["\u6771", "\u4eac", "\u90fd", "\u6771\u4eac", "\u4eac\u90fd"]),
        ("... --- ___ \u2026", []),
        ("", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


def test_a_long_compound_is_known_by_its_parts() -> None:
    long = "-".join(["part"] * 20)
    assert tokenize(long) == ["part"] * 20
    assert tokenize("a" * 500) == ["a" * 500]


words = st.text(
    st.sampled_from("abcXY19.,-':_ \n\u00df\u00e9\u0301\u0130\u6771\u4eac\u30ab\u0939\u093f\u00bd\u2019\u00b2"),
    max_size=14,
)
anything = st.one_of(words, words, st.text(max_size=12))


@settings(max_examples=400)
@given(anything, anything, anything)
@example("a", "5", ".5")
@example("3", ".11", ".4")
@example("Smith", "'s", " house")
@example("1,2", ",300", ",400")
@example("", "_", "")
def test_every_mention_is_findable_by_its_atoms(before: str, phrase: str, after: str) -> None:
    text = before + phrase + after
    if contains_phrase(text, phrase):
        assert phrase_atoms(phrase)
        assert set(phrase_atoms(phrase)) <= set(tokenize(text))


@settings(max_examples=200)
@given(anything)
def test_tokens_are_those_of_the_surfaces_and_spans_lie_in_the_text(text: str) -> None:
    assert tokenize(text) == [token for surface in surfaces(text) for token in surface_tokens(surface)]
    assert all(token and not token.isspace() for token in tokenize(text))
    end = 0
    for start, stop, surface in surface_spans(text):
        assert end <= start < stop
        assert text[start:stop] == surface
        end = stop


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("She was born in Old Velmora.", "old  velmora", True),
        ("She was born in Old\nVelmora.", "Old Velmora", True),
        ("Old Velmoran", "Old Velmora", False),
        ("Gold Velmora", "Old Velmora", False),
        ("(Old Velmora)", "Old Velmora", True),
        ("Old Velmora's port", "Old Velmora", True),
        ("Old, Velmora", "Old Velmora", False),
        ("It measures 412.5 metres", "412", False),
        ("It measures 412.5 metres", "412.5", True),
        ("It measures 1,412 metres", "412", False),
        ("In 1987.", "1987", True),
        ("In 1987, then", "1987", True),
        ("on 1987-03-14", "1987", True),
        ("use os.path.join here", "os.path", True),
        ("use read_text here", "text", False),
        ("use read_text here", "read_text", True),
        ("Caf\u00e9 Mela", "cafe\u0301 mela", True),
        ("Cafe Mela", "Caf\u00e9 Mela", False),
        ("\u6771\u4eac\u90fd", "\u4eac", True),
        ("a Velmora b Velmorax", "velmora b", True),
        ("Velmorax and Velmora", "Velmora", True),
        ("anything", "", False),
        ("anything", "...", False),
        ("a \u201cquoted\u201d name", "\u201cquoted\u201d", True),
    ],
)
def test_mentions(text: str, phrase: str, expected: bool) -> None:
    assert contains_phrase(text, phrase) is expected
