"""Words of requests: what is called "that issue", where a quotation ends, what else would do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from explored_apps import APPLICATIONS, environment

from synth.exploration.app.phrases import put, sentence
from synth.exploration.app.requests import AppRequests, Values, beginning_of
from synth.exploration.app.wording import Clause, Wording, conditional
from synth.identity import derive_generator
from synth.lexicon.reading import phrases

AGAIN = re.compile(r"\b(?:that|the same) (?:issue|ticket)\b|\bit\b")


@contextmanager
def wording(seed: int) -> Iterator[tuple[Wording, dict[str, list[Values]]]]:
    """Of the tracker, with what may be asked of it."""
    place = environment("tracker")
    app = AppRequests(place)
    episode = place.reset(beginning_of(place, seed))
    speaker = app.speakers(episode)[0]
    asks = ("link_blocks", "set_due", "assign_issue")
    rows = {name: app.rows(episode, app.requests.asks[name], speaker["speaker"]) for name in asks}
    yield Wording(app, episode, speaker, derive_generator(seed, "words")), rows
    episode.close()


@pytest.mark.parametrize("seed", range(4))
def test_that_issue_is_not_said_after_two_issues(seed: int) -> None:
    """Of two that were linked it can't be told which one is meant; after one alone it is said."""
    with wording(seed) as (words, rows):
        link = rows["link_blocks"][seed]
        due = next(row for row in rows["set_due"] if row["issue"] == link["issue"])
        one = words.clause("set_due", due, words.start, reason=False).text
        assigned = next(row for row in rows["assign_issue"] if row["issue"] == link["issue"])
        assert AGAIN.search(words.clause("assign_issue", assigned, words.start, reason=False).text), one
        words.clause("link_blocks", link, words.start, reason=False)
        after = words.clause("set_due", due, words.start, sentences=False, reason=False).text
        assert not AGAIN.search(after), after


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('could you note "This goes away."?', 'Could you note "This goes away."'),
        ("could you note “Does it?”.", "Could you note “Does it?”"),
        ('is it called "Login"?', 'Is it called "Login"?'),
    ],
)
def test_a_quotation_that_ends_a_sentence_ends_it(text: str, written: str) -> None:
    assert sentence(text) == written


@pytest.mark.parametrize(
    ("template", "written"),
    [("change the title of {issue}", "change its title"), ("set the due date of {issue}", "set its due date")],
)
def test_its_title_is_not_called_the_title_of_it(template: str, written: str) -> None:
    assert put(template, {"issue": "it"}, derive_generator(7, "its"), "2031-09-01")[0] == written


def test_nothing_follows_a_quotation_in_what_else_would_do() -> None:
    comment = Clause('leave a comment on that issue for me: "Not now."', True, None, ())
    said = {conditional(comment, derive_generator(number, "instead")) for number in range(40)}
    assert len(said) > 3
    assert all(one.endswith('"Not now."') for one in said)


@pytest.mark.parametrize("seed", range(6))
def test_nobody_mixes_two_kinds_of_quotation_marks(seed: int) -> None:
    with wording(seed) as (words, rows):
        told = "".join(words.clause("link_blocks", row, words.start).text for row in rows["link_blocks"][:6])
    assert ('"' in told) is not ("“" in told)


@pytest.mark.parametrize("seed", range(4))
def test_what_the_sentence_before_named_is_the_first_one_beside_another(seed: int) -> None:
    with wording(seed) as (words, rows):
        link = rows["link_blocks"][seed]
        due = next(row for row in rows["set_due"] if row["issue"] == link["other"])
        words.clause("set_due", due, words.start, reason=False)
        said = words.clause("link_blocks", link, words.start, sentences=False, reason=False).text
    assert any(form in said for form in phrases("app_requests")["first_again"]), said


@pytest.mark.parametrize("application", [*APPLICATIONS, "memory"])
def test_words_that_may_follow_others_begin_with_a_name_or_with_a_word_that_is_written_small(application: str) -> None:
    requests = AppRequests(environment(application)).requests
    every = [*requests.asks.values(), *(left for ask in requests.asks.values() for left in ask.left)]
    words = [text for one in every for text in (*one.do, *one.say)]
    words += [text for question in requests.questions.values() for text in question.words]
    for text in words:
        first = re.split(r"[ ,:']", re.sub(r"<([^|>]*)[^>]*>", r"\1", text), maxsplit=1)[0]
        assert first == "I" or first.startswith("{") or first.casefold() in phrases("word_lists")["beginnings"], text
