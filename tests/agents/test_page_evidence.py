"""What the teacher takes for the passage that states a hop: all sentences of its quote, and none with a like end."""

from __future__ import annotations

import pytest

from synth.agents.scripted.options import subject
from synth.agents.scripted.pages.evidence import overlaps, passage
from synth.environments.passages import Passage, passages_of

PAGE = """# 3. Kilns

- fire-size - sets the size of the fire in the kiln of the potter. It may be set to 0. The default is 64.
- pot-size - sets the size of the pots in the kiln of the potter. It may be set to 0. The default is 64.
"""
QUOTE = "pot-size - sets the size of the pots in the kiln of the potter. It may be set to 0. The default is 64."


def test_all_sentences_of_a_quote_are_one_passage() -> None:
    """The value stands in the last one, which by itself is said of the fire as well."""
    read = passages_of(PAGE, "kilns.html", "Kilns", 33)
    found = passage(QUOTE, read)
    assert [one.text for one in found][-2:] == ["It may be set to 0.", "The default is 64."]
    last = [one for one in read if one.text == "The default is 64."]
    assert len(last) == 2
    assert [any(one is each for each in found) for one in last] == [False, True]
    assert not overlaps(QUOTE, "The default is 64.")


@pytest.mark.parametrize("gone", ["It may be set to 0. ", "The default is 64.\n- pot-size - "])
def test_a_passage_that_was_not_read_whole_is_none(gone: str) -> None:
    assert passage(QUOTE, passages_of(PAGE.replace(gone, ""), "kilns.html", "Kilns", 33)) == []


def test_a_quote_of_one_sentence_needs_no_passage() -> None:
    assert passage("The default is 64.", passages_of(PAGE, "kilns.html", "Kilns", 33)) == []


@pytest.mark.parametrize(
    ("heading", "first"),
    [
        ("21.2.6.8. The kiln-list Command", "kiln-list"),
        ("kiln-list Command", "kiln-list"),
        ("3. The Art of Firing", "Kilns"),
    ],
)
def test_a_numbered_heading_names_what_stands_below_it(heading: str, first: str) -> None:
    sentence = Passage("This command lists all pots.", (), "kilns.html", "Kilns", 1, heading)
    assert subject(sentence, "Kilns")[0] == first


def test_the_term_alone_on_its_line_opens_the_passage() -> None:
    quote = "POT_NAME\n    The name of the pot that stands on the shelf. The default is pot.clay."
    page = f"{quote}\n\nPOT_SIZE\n    Its size."
    found = passage(quote, passages_of(page, "kilns.html", "Kilns", 33))
    assert found[-1].text == "The default is pot.clay."
