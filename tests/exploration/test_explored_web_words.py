"""How changes on a site become a request, and detours are left out: without a browser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from synth.environments.web.definition import FactWords, RequestWords, SiteDefinition, load_site
from synth.environments.web.nodes import parse
from synth.environments.web.storage import Change
from synth.environments.web.tree import Page, read_page
from synth.exploration.config import ExplorationConfig
from synth.exploration.pipeline import Dropped
from synth.exploration.web.shortening import straight
from synth.exploration.web.walking import Action, Taken, instruction, resolve
from synth.exploration.web.wording import question_of, request_of
from synth.identity import derive_generator

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


def test_what_two_changes_are_about_is_named_once() -> None:
    library = load_site("library")[1]
    listed = Change(at="lists", kind="added", after={"list": "To read", "title": "Moth Light"})
    other = Change(at="lists", kind="added", after={"list": "To read", "title": "Canal Days"})
    for number in range(30):
        text = request_of(library, [HOLD, listed], [], [], rng(number)).text
        assert text.count("“Moth Light”") == 1, text
        assert " it " in text, text
        assert "“To read”" in text
        apart = request_of(library, [HOLD, other], [], [], rng(number))
        assert "“Moth Light”" in apart.text
        assert "“Canal Days”" in apart.text
        assert " it " not in apart.text.replace("when it is in", "").replace("about it", ""), apart.text
    bought = Change(at="suggestions", kind="added", after={"title": "A", "author": "B", "format": "Book"})
    named = Change(at="lists", kind="added", after={"list": "To read", "title": "A"})
    texts = [request_of(library, [named, bought], [], [], rng(number)).text for number in range(20)]
    assert all("“A” by B" in text for text in texts), texts


def test_questions_are_put_in_many_ways() -> None:
    page = read_page(parse('- heading "Moth Light" [level=1] [ref=e1]'))
    library = load_site("library")[1]
    fact = ("Moth Light", "Published", "1999")
    texts = [question_of(library, page, fact, rng(number))[0].text for number in range(200)]
    bare = [text for text in texts if text[0] in "IW" and text.endswith("?") and "I'd" not in text]
    assert 70 <= len(bare) <= 150
    frames = {text.replace("In which", "in which").replace("What year", "what year") for text in texts}
    assert len(frames) >= 14
    for text in texts:
        assert max(texts.count(text), 1) <= 80
        assert ": I" not in text
        assert ": W" not in text


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
    with pytest.raises(Dropped, match="no words for removed at loans"):
        request_of(library, [Change(at="loans", kind="removed", before=loan)], [], [], rng())


def test_templates_are_sandboxed() -> None:
    words = "{{ after.__class__.__mro__ }}"
    site = SiteDefinition(requests=(RequestWords(at="a", change="set", words=(words,)),))
    with pytest.raises(Dropped):
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
    shown = read_page(parse('- heading "Look" [level=1] [ref=e1]\n- switch "Dark" [ref=e2]'))
    dark = [
        request_of(
            SiteDefinition(),
            [Change(at="dark", kind="set", after="1")],
            [
                Action("open", (("url", "/"),)),
                Action("click", (), "link", "Look"),
                Action("click", (), "switch", "Dark"),
            ],
            [Page((), (), ()), shown, shown],
            rng(number),
        ).text
        for number in range(30)
    ]
    assert not [text for text in dark if "on on" in text]
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
        assert "on on" not in text
        assert "off on" not in text.replace("tick off", "")
    bold = Action("click", (), "link", "Bold")
    with pytest.raises(Dropped, match="the link “Bold” does something on its page"):
        asked(typed, bold)  # a request that leaves links out would not say it
    assert "for “Oil the hinges”" in asked(removed[0])
    with pytest.raises(Dropped, match="put there itself"):
        asked(typed, pressed, removed[1])


FORM = """
- heading "New ticket" [level=1] [ref=e1]
- 'textbox "Description: You may use markup here." [ref=e2]'
- 'textbox "Note: seen by all" [ref=e3]'
- 'textbox "Note: seen by you" [ref=e4]'
- 'textbox "Owner:" [ref=e5]'
- 'button "Create: now" [ref=e6]'
"""


def test_a_field_is_called_by_its_label_without_what_is_explained_behind_it() -> None:
    page = read_page(parse(FORM))
    actions = [Action("open", (("url", "/"),)), *(Action.on(one, "type", text="x") for one in page.elements[:4])]
    actions.append(Action.on(page.elements[4], "click"))
    change = [Change(at="tickets", kind="set", after="x")]
    for number in range(10):
        text = request_of(SiteDefinition(), change, actions, [page] * 6, rng(number)).text
        said = ("“Description”", "“Note: seen by all”", "“Note: seen by you”", "“Owner”", "“Create: now”")
        assert all(name in text for name in said), text


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
    doubled = replace(page, facts=page.facts * 2)
    with pytest.raises(Dropped, match="from another"):
        question_of(SiteDefinition(), doubled, page.facts[0], rng())


def test_questions_name_the_page_and_not_the_answer() -> None:
    site = SiteDefinition(facts=(FactWords(term="Author", kind="entity", words=("Who wrote “{{ page }}”?",)),))
    page = read_page(parse('- heading "Moth Light" [level=1] [ref=e1]'))
    question, kind = question_of(site, page, ("Moth Light", "Author", "Ida"), rng())
    assert ("Moth Light" in question.text, kind) == (True, "entity")
    assert "ho wrote _?" in question.surface
    with pytest.raises(Dropped):
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
    assert straight(taken, [5]) == [3, 4, 5]
    assert straight(taken, [1]) == [1]


def test_wrong_configs_are_refused() -> None:
    for options in ({"kinds": {"other": 1.0}}, {"writes": {9: 1.0}}, {"fractions": {"train": 0.5}}):
        with pytest.raises(ValueError):
            ExplorationConfig.model_validate(options)


ROWS = """
- heading "Tags" [level=1] [ref=e1]
- button "Refresh" [ref=e2]
- table [ref=e3]:
  - row [ref=e4]:
    - cell [ref=e5]:
      - link "Edit" [ref=e6] [cursor=pointer]:
        - /url: /edit/1
      - button "Delete" [ref=e7]
    - cell [ref=e8]:
      - link "tools" [ref=e9] [cursor=pointer]:
        - /url: /1
  - row [ref=e10]:
    - cell [ref=e11]:
      - link "Edit" [ref=e12] [cursor=pointer]:
        - /url: /edit/2
      - button "Delete" [ref=e13]
    - cell [ref=e14]:
      - link "bees" [ref=e15] [cursor=pointer]:
        - /url: /2
"""
EDIT = '- heading "Tags" [level=1] [ref=e1]\n- textbox "Name *" [ref=e2]\n- button "Save" [ref=e3]'


def test_a_request_says_which_entry_it_is_about() -> None:
    """Pages of all entries have one name here, so the entry is said; the button that only leads to the list is not."""
    home = read_page(parse('- heading "Home" [level=1] [ref=e1]\n- button "Tags" [ref=e2]'))
    rows, form = read_page(parse(ROWS)), read_page(parse(EDIT))
    change = [Change(at="tags", kind="set", after="x")]
    opened, went = Action("open", (("url", "/"),)), Action("click", (), "button", "Tags")
    edited = Action("click", (), "link", "Edit", 1)
    named = Action("type", (("text", "hives"),), "textbox", "Name *")
    saved = Action("click", (), "button", "Save")
    removed = Action("click", (), "button", "Delete", 0)
    pages, moves = [home, rows, form, form, rows], ("led", "led", "led", "stays", "leaves")
    for number in range(20):
        text = request_of(
            SiteDefinition(), change, [opened, went, edited, named, saved], pages, rng(number), moves
        ).text
        assert text.index("“Name”") < text.index(" for “bees”") < text.index("“Save” on the page “Tags”")
        assert text.count("“Tags”") == 1
        steps = [opened, went, removed]
        gone = request_of(SiteDefinition(), change, steps, [home, rows, rows], rng(number), ("led", "led", "stays"))
        assert "“Delete” for “tools”" in gone.text
    same = read_page(parse(ROWS.replace("bees", "tools")))
    with pytest.raises(Dropped, match="nothing tells one “Edit” from another"):
        request_of(SiteDefinition(), change, [opened, went, edited, named], [home, same, form, form], rng(), moves)
