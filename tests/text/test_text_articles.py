"""Articles that telegram style leaves out are put in, and none where names, plurals and masses take none."""

from __future__ import annotations

import pytest

from synth.text.articles import counted_nouns, with_articles

PAGES = ("A chunker is what cuts files. Each chunker has a seed. It was made for kiln, by kiln and with kiln itself.",)


def read(text: str) -> str | None:
    counted, bare = counted_nouns(PAGES)
    return with_articles(text, counted.__contains__, bare.__contains__)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("that sets avatar background color", "that sets the avatar background color"),
        ("that deletes all entries in table", "that deletes all entries in the table"),
        ("that adds given prefix directory to the path", "that adds the given prefix directory to the path"),
        ("that gracefully terminates specific worker", "that gracefully terminates a specific worker"),
        ("that enables or disables voting feature", "that enables or disables the voting feature"),
        ("that creates table for messages", "that creates a table for messages"),
        ("that sets URL from which to fetch pages", "that sets the URL from which to fetch pages"),
        (
            "that determines whether client certificate is required",
            "that determines whether the client certificate is required",
        ),
        ("that overrides check of chunker parameters", "that overrides the check of chunker parameters"),
        ("that opens chunker at startup", "that opens a chunker at startup"),
    ],
)
def test_what_lacks_an_article_gets_one(text: str, said: str) -> None:
    assert read(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "that prints statistics for the archive",
        "that rewrites the pages in place, by default in JSON format",
        "that uses encryption on the connection",
        "that tells kiln to open the lid",
        "that opens the lid if set",
        "that sorts its output by path",
        "that shows progress information",
        "that marks the server as preferred",
        "that works on log level WARNING",
    ],
)
def test_what_needs_none_stays(text: str) -> None:
    assert read(text) == text


def test_of_an_unknown_noun_nobody_can_say() -> None:
    assert read("that configures setproctitle in environ") is None
    assert read("that configures the names in environ") == "that configures the names in environ"
