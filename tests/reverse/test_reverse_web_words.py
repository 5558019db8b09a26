"""How changes on a site become a request, and detours are left out: without a browser."""

from __future__ import annotations

import numpy as np
import pytest

from synth.environments.web.definition import FactWords, RequestWords, SiteDefinition, load_site
from synth.environments.web.storage import Change
from synth.environments.web.tree import Page, parse, read_page
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
    forms = {request_of(library, [HOLD], [], [], rng(number)).text for number in range(40)}
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
            text = request_of(library, [change], [], [], rng(number)).text
            assert "{" not in text
            assert "  " not in text


def test_what_follows_is_not_asked_for_and_what_has_no_words_is_refused() -> None:
    library = load_site("library")[1]
    loan = {"title": "Moth Light", "due": "2026-03-05", "renewals": 0}
    due = Change(at="loans", kind="changed", field="due", entry=loan, before="2026-03-05", after="2026-04-16")
    count = Change(at="loans", kind="changed", field="renewals", entry=loan, before=0, after=2)
    text = request_of(library, [due, count], [], [], rng()).text
    assert "six" in text
    with pytest.raises(NotWorded, match="no words for removed at loans"):
        request_of(library, [Change(at="loans", kind="removed", before=loan)], [], [], rng())


def test_templates_are_sandboxed() -> None:
    words = "{{ after.__class__.__mro__ }}"
    site = SiteDefinition(requests=(RequestWords(at="a", change="set", words=(words,)),))
    with pytest.raises(NotWorded):
        request_of(site, [Change(at="a", kind="set", after="x")], [], [], rng())


LIST = """
- heading "To-do list" [level=1] [ref=e1]
- textbox "Note" [ref=e2]
- button "Add" [ref=e3]
- list [ref=e4]:
  - listitem [ref=e5]:
    - text: Oil the hinges
    - button "Remove" [ref=e6]
  - listitem [ref=e7]:
    - text: milk
    - button "Remove" [ref=e8]
- checkbox "Hide" [checked] [ref=e9]
"""
TOOLS = """
- heading "Tools" [level=1] [ref=e1]
- table [ref=e2]:
  - rowgroup [ref=e3]:
    - row [ref=e4]:
      - columnheader "Tool" [ref=e5]
      - columnheader "Deposits" [ref=e6]
  - rowgroup [ref=e7]:
    - row [ref=e8]:
      - cell "Jigsaw" [ref=e9]
      - cell "25" [ref=e10]
- paragraph [ref=e11]: "Address: 3 Quarry Road."
- heading "Forge" [level=2] [ref=e12]
- list [ref=e13]:
  - listitem [ref=e14]: "Open: Tuesdays"
"""


def test_a_site_of_which_nothing_is_known_is_asked_by_what_was_used() -> None:
    home, page = Page((), (), ()), read_page(parse(LIST))
    opened = Action("open", (("url", "/"),))
    went = Action("click", (), "link", "To-do list")
    typed = Action("type", (("text", "milk"),), "textbox", "Note")
    pressed = Action("click", (), "button", "Add")
    hidden = Action("click", (), "checkbox", "Hide")
    removed = [Action("click", (), "button", "Remove", number) for number in range(2)]
    change = [Change(at="notes", kind="set", after="x")]

    def asked(*actions: Action, number: int = 0) -> str:
        pages = [home, page, *[page] * len(actions)]  # the page behind each step
        return request_of(SiteDefinition(), change, [opened, went, *actions], pages, rng(number)).text

    forms = {asked(typed, pressed, hidden, number=number) for number in range(30)}
    assert len(forms) > 10
    for text in forms:
        assert all(f"“{word}”" in text for word in ("milk", "Note", "Add", "Hide")), text
        assert "on the page “To-do list”" in text
        assert "tick" in text or "off" in text
    assert "for “Oil the hinges”" in asked(removed[0])
    with pytest.raises(NotWorded, match="put there itself"):
        asked(typed, pressed, removed[1])


def test_facts_of_tables_and_lines_are_asked_for_by_their_names() -> None:
    page = read_page(parse(TOOLS))
    assert page.facts == (
        ("Jigsaw", "Deposits", "25"),
        ("Tools", "Address", "3 Quarry Road"),
        ("Forge", "Open", "Tuesdays"),
    )
    for number in range(10):
        deposit, address, opened = (question_of(SiteDefinition(), page, one, rng(number))[0].text for one in page.facts)
        assert "deposits" in deposit
        assert "“Jigsaw”" in deposit
        assert "is the deposits" not in deposit
        assert "address" in address
        assert "page “Tools”" in address
        assert "“Open”" in opened
        assert "“Forge”" in opened
    doubled = Page(page.lines, page.elements, page.raw, page.facts * 2)
    with pytest.raises(NotWorded, match="from another"):
        question_of(SiteDefinition(), doubled, page.facts[0], rng())


def test_questions_name_the_page_and_not_the_answer() -> None:
    site = SiteDefinition(facts=(FactWords(term="Author", kind="entity", words=("Who wrote “{{ page }}”?",)),))
    page = read_page(parse('- heading "Moth Light" [level=1] [ref=e1]'))
    question, kind = question_of(site, page, ("Moth Light", "Author", "Ida"), rng())
    assert ("Moth Light" in question.text, kind) == (True, "entity")
    assert question.surface.endswith("ho wrote _?")
    with pytest.raises(NotWorded):
        question_of(site, page, ("Moth Light", "Price", "4"), rng())


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
