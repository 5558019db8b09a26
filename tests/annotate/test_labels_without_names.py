"""Names are taken out of a sentence by their words as a pattern of them would do it."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from synth.annotate.labels.thoughts import without_names

_PIECES = ("ab", "Ab", "b", "s", "'s", "’s", "'", " ", " ", "-", ". ", "–", "é", "sun", "1", "_", "\u212a", "ab b")
_SENTENCE = st.lists(st.sampled_from(_PIECES), max_size=10).map("".join)
_NAMES = st.sets(
    st.lists(st.sampled_from(("ab", "b", "s", "1", "sun", "k", "é")), min_size=1, max_size=3).map(" ".join)
)


@settings(max_examples=600, deadline=None)
@given(_SENTENCE, _NAMES)
def test_names_go_as_a_pattern_takes_them(sentence: str, names: set[str]) -> None:
    wanted = sentence
    for name in sorted(names, key=lambda name: (-len(name), name)):
        words = r"\W+".join(re.escape(word) + r"(?:['’]s?)?" for word in name.split())
        wanted = re.sub(rf"(?<!\w){words}(?!\w)", "–", wanted, flags=re.IGNORECASE)
    assert without_names(sentence, names) == wanted


def test_a_genitive_goes_with_its_name() -> None:
    assert without_names("Orla Venn's bridge, not Venn.", {" orla venn ", " venn "}) == "– bridge, not –."
