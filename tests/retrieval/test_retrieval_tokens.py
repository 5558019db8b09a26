"""The tokenizer's rules by example, and its one law: a mention is always findable by its atoms."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synth.retrieval.tokens import phrase_atoms, surface_tokens, surfaces, tokenize


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
@example("3", "5", "4")
@example("Smith", "Anna's", "house")
@example("1,2", "300", ",400")
def test_every_mention_is_findable_by_its_atoms(before: str, phrase: str, after: str) -> None:
    assert set(phrase_atoms(phrase)) <= set(tokenize(f"{before} {phrase} {after}"))


@settings(max_examples=200)
@given(anything)
def test_tokens_are_those_of_the_surfaces(text: str) -> None:
    assert tokenize(text) == [token for surface in surfaces(text) for token in surface_tokens(surface)]
    assert all(token and not token.isspace() for token in tokenize(text))
