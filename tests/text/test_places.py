"""Names in texts, found without a pattern of their own: as the pattern finds them."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from synth.text.words import places_of

_PIECES = ("Ab", "ab", "b", " ", "_", "1", "'", "-", "é", "\u212a", "\u017f", "k", "s", ". ")
_TEXT = st.lists(st.sampled_from(_PIECES), max_size=9).map("".join)
_NAME = st.lists(st.sampled_from(_PIECES), max_size=3).map("".join)


@settings(max_examples=600, deadline=None)
@given(_TEXT, _NAME, st.booleans())
def test_names_are_found_where_the_pattern_finds_them(text: str, name: str, case: bool) -> None:
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", 0 if case else re.IGNORECASE)
    assert list(places_of(text, name, case=case)) == [match.span() for match in pattern.finditer(text)]


def test_a_name_within_a_word_is_none() -> None:
    assert list(places_of("Nivanian, nivania: Nivania", "Nivania")) == [(19, 26)]
    assert list(places_of("Nivanian, nivania: Nivania", "Nivania", case=False)) == [(10, 17), (19, 26)]
