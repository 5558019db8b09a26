"""How changes on a site become a request, and detours are left out: without a browser."""

from __future__ import annotations

import numpy as np
import pytest

from synth.environments.web.definition import FactWords, RequestWords, SiteDefinition, load_site
from synth.environments.web.storage import Change
from synth.environments.web.tree import Page
from synth.identity import derive_generator
from synth.reverse.web.acting import Action, instruction, resolve
from synth.reverse.web.config import WebTasksConfig
from synth.reverse.web.exploring import Taken
from synth.reverse.web.propose import _straight
from synth.reverse.web.wording import NotWorded, question_of, request_of

HOLD = Change(at="holds", kind="added", after={"title": "Moth Light", "branch": "Harbour", "notify": "Not at all"})


def rng(number: int = 0) -> np.random.Generator:
    return derive_generator(1, "words", number)


def test_a_request_says_all_of_a_change() -> None:
    library = load_site("library")[1]
    forms = {request_of(library, [HOLD], [], rng(number)).text for number in range(40)}
    assert len(forms) >= 8
    for text in forms:
        assert "“Moth Light”" in text
        assert "Harbour" in text
        assert "without any message" in text or "no message" in text or "no notification" in text
        assert text[0].isupper()
        assert text[-1] in ".?"


def test_every_change_of_the_library_has_words() -> None:
    library = load_site("library")[1]
    loan = {"title": "A", "due": "2026-03-05", "renewals": 0}
    entries = {
        "holds": HOLD.after,
        "signups": {"event": "Seed swap", "places": 2},
        "lists": {"list": "To read", "title": "A"},
        "suggestions": {"title": "A", "author": "B", "format": "Audiobook"},
    }
    values = {"settings.newsletter": True, "settings.reminders": "None"}
    for rule in library.requests:
        change = Change(
            at=rule.at,
            kind=rule.change,
            field=rule.field,
            entry=loan,
            before="2026-03-05" if rule.field else entries.get(rule.at, "old"),
            after="2026-03-26" if rule.field else entries.get(rule.at, values.get(rule.at, "new")),
        )
        for number in range(6):
            text = request_of(library, [change], [], rng(number)).text
            assert "{" not in text
            assert "  " not in text


def test_what_follows_is_not_asked_for_and_what_has_no_words_is_refused() -> None:
    library = load_site("library")[1]
    loan = {"title": "Moth Light", "due": "2026-03-05", "renewals": 0}
    due = Change(at="loans", kind="changed", field="due", entry=loan, before="2026-03-05", after="2026-04-16")
    count = Change(at="loans", kind="changed", field="renewals", entry=loan, before=0, after=2)
    text = request_of(library, [due, count], [], rng()).text
    assert "six" in text
    with pytest.raises(NotWorded, match="no words for removed at loans"):
        request_of(library, [Change(at="loans", kind="removed", before=loan)], [], rng())


def test_templates_are_sandboxed() -> None:
    words = "{{ after.__class__.__mro__ }}"
    site = SiteDefinition(requests=(RequestWords(at="a", change="set", words=(words,)),))
    with pytest.raises(NotWorded):
        request_of(site, [Change(at="a", kind="set", after="x")], [], rng())


def test_a_site_of_which_nothing_is_known_is_asked_by_what_was_used() -> None:
    typed = Action("type", (("text", "milk"),), "textbox", "Note")
    pressed = Action("click", (), "button", "Add")
    text = request_of(SiteDefinition(), [Change(at="notes", kind="set", after="x")], [typed, pressed], rng()).text
    assert "se “Add” with “milk” as “Note”" in text


def test_questions_name_the_page_and_not_the_answer() -> None:
    site = SiteDefinition(facts=(FactWords(term="Author", kind="entity", words=("Who wrote “{{ page }}”?",)),))
    question, kind = question_of(site, "Moth Light", "Author", rng())
    assert ("Moth Light" in question.text, kind) == (True, "entity")
    assert question.surface.endswith("ho wrote _?")
    with pytest.raises(NotWorded):
        question_of(site, "Moth Light", "Price", rng())
    assert "“Price” of “Moth Light”" in question_of(SiteDefinition(), "Moth Light", "Price", rng())[0].text


def test_steps_find_their_element_again() -> None:
    action = Action("click", (), "link", "Events", 1)
    assert resolve(Page((), (), ()), action) is None
    assert resolve(None, Action("open", (("url", "/"),))) == {"url": "/"}
    assert instruction(Action("open", (("url", "/a"),)), None) == "Open /a."


def test_detours_are_left_out() -> None:
    def step(before: str, after: str) -> Taken:
        return Taken(Action("click", (), "link", after), before, after, Page((), (), ()), "k")

    taken = [step("", "/"), step("/", "/a"), step("/a", "/"), step("/", "/b"), step("/b", "/b"), step("/b", "/b")]
    assert _straight(taken, [5]) == [3, 4, 5]
    assert _straight(taken, [1]) == [1]


def test_wrong_configs_are_refused() -> None:
    for options in ({"kinds": {"other": 1.0}}, {"changes": {9: 1.0}}, {"fractions": {"train": 0.5}}):
        with pytest.raises(ValueError):
            WebTasksConfig.model_validate(options)
