"""Where a walk goes on a page: forms are filled in and sent, and what was refused is tried another way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal

import pytest

from synth.environments.contract import ToolCall
from synth.environments.web.definition import SiteDefinition
from synth.environments.web.nodes import parse
from synth.environments.web.storage import WebBeginning, WebGoal
from synth.environments.web.tree import Page, read_page
from synth.exploration.walks import Explored
from synth.exploration.web.explorer import same_task
from synth.exploration.web.walking import Action, SiteProposer, Taken, beginning_of
from synth.identity import derive_generator
from synth.schemas.details import details_with
from synth.schemas.plans import Wanted
from synth.schemas.tasks import Task

LINKS = "".join(f'- link "Place {number}" [ref=e{number + 1}]\n' for number in range(20))
FORM = '- textbox "Note" [ref=e90]\n- button "Preview" [ref=e91]\n- button "Send" [ref=e92]\n'
TWO_FORMS = '- button "Show ticket:" [ref=e70]\n- textbox "Title" [ref=e71]\n' + FORM
CALL = ToolCall(id="x", name="click", arguments={})
STEP = Explored(CALL, CALL.answered(""), "a", "b", True)
TABLE = """
- table [ref=e2]:
  - row [ref=e3]:
    - columnheader "Tool" [ref=e4]
    - columnheader "Price" [ref=e5]
  - row [ref=e6]:
    - cell "Jigsaw" [ref=e7]
    - cell "25" [ref=e8]
"""


def weights(page: str, wanted: int | None = 1, proposer: SiteProposer | None = None) -> Counter[str]:
    found: Counter[str] = Counter()
    proposer = proposer if proposer is not None else SiteProposer(SiteDefinition(), wanted=wanted)
    for action, _, weight in proposer.options(read_page(parse(page))):
        found["a place" if action.name.startswith("Place") else action.name] += weight
    return found


def walked(page: str, *actions: Action, kept: str = "k") -> SiteProposer:
    """A proposer after steps on ``page`` that changed nothing."""
    proposer = SiteProposer(SiteDefinition(), wanted=1)
    for action in (Action("open"), *actions):
        proposer._next = action
        proposer._now = Taken(Action(""), "/", "/", read_page(parse(page)), kept)
        proposer.saw(STEP)
    return proposer


def test_a_form_is_gone_to_and_not_left() -> None:
    home = LINKS + '- link "New note" [ref=e80]\n'
    assert weights(home)["New note"] > 0.25 * weights(home).total()
    assert weights(home, None)["New note"] < 0.1 * weights(home, None).total()
    there = weights(LINKS + FORM)
    assert there["a place"] < there["Note"]
    assert there["Send"] == pytest.approx(5 * there["Preview"])


def test_what_was_filled_in_is_sent_by_the_button_behind_it() -> None:
    title, note = (Action("type", (("text", "x"),), "textbox", name) for name in ("Title", "Note"))
    one, two = walked(TWO_FORMS, title), walked(TWO_FORMS, title, note)
    first, second = weights(TWO_FORMS, proposer=one), weights(TWO_FORMS, proposer=two)
    assert first["Send"] == pytest.approx(5 * first["Show ticket:"])
    assert second["Send"] == pytest.approx(2 * first["Send"]), "the more is filled in, the sooner it is sent"


def test_fields_that_were_refused_are_left_for_others() -> None:
    title = Action("type", (("text", "x"),), "textbox", "Title")
    before = weights(TWO_FORMS)
    assert before["Title"] == pytest.approx(before["Note"])
    refused = weights(TWO_FORMS, proposer=walked(TWO_FORMS, title, Action("click", (), "button", "Send")))
    assert refused["Title"] < 0.25 * refused["Note"]
    went = weights(TWO_FORMS, proposer=walked(TWO_FORMS, title, Action("click", (), "link", "Home")))
    assert went["Title"] == pytest.approx(went["Note"]), "nothing was sent"


def test_a_form_that_shows_what_it_refused_is_left() -> None:
    title = Action("type", (("text", "x"),), "textbox", "Title")
    proposer = walked(LINKS + TWO_FORMS, title, Action("click", (), "button", "Send"))
    fresh = weights(LINKS + TWO_FORMS, proposer=proposer)
    again = weights(LINKS + TWO_FORMS.replace('"Title" [ref=e71]', '"Title" [ref=e71]: x'), proposer=proposer)
    assert again["a place"] > 0.5 * again.total()
    assert fresh["a place"] < 0.5 * fresh.total()


def test_an_entry_that_is_named_like_a_command_is_none() -> None:
    found = weights('- link "New note" [ref=e1]\n- link "Order new ladders" [ref=e2]')
    assert found["New note"] > 5 * found["Order new ladders"]


def test_a_form_with_a_password_is_left_alone() -> None:
    found = weights(LINKS + '- textbox "Login password" [ref=e60]\n' + FORM)
    assert found["a place"] == found.total()


def test_a_page_that_leads_nowhere_is_left_once() -> None:
    empty = read_page(parse('- heading "No such ticket" [level=1]'))
    proposer = walked(FORM, Action("click", (), "button", "Send"))
    rng = derive_generator(1, "steps", 0)
    assert proposer._choose(empty, rng) == (Action("back"), "")
    proposer.taken[-1] = replace(proposer.taken[-1], action=Action("back"))
    assert proposer._choose(empty, rng) is None


def test_a_look_up_goes_on_until_a_page_that_can_be_named_states_something() -> None:
    proposer = SiteProposer(SiteDefinition(), wanted=None)
    assert not proposer._is_over(Page((), (), ()))
    assert not proposer._is_over(read_page(parse(TABLE)))
    assert proposer._is_over(read_page(parse('- heading "Tools" [level=1]' + TABLE)))


def test_one_thing_asked_for_in_two_ways_is_one_task() -> None:
    def task(
        question: str,
        state: str,
        answer: Literal["required", "free"] = "free",
        start: str | None = None,
        gold: str = "x",
    ) -> Task:
        goal = Wanted(goal=WebGoal(state=state, answer=answer).model_dump(mode="json"))
        details = details_with(goal, WebBeginning(web_start=start))
        return beginning_of(start).model_copy(
            update={"question": question, "details": details, "gold_entities": (gold,)}
        )

    first = same_task(task("Please press “remove”.", "s"))
    assert first == same_task(task("Could you click on “remove”?", "s"))
    assert first != same_task(task("Please press “remove”.", "t"))
    assert first != same_task(task("Please press “remove”.", "s", start="other"))
    owner = same_task(task("Who owns it?", "s", "required", gold="It/owner"))
    assert owner == same_task(task("I need the owner of it.", "s", "required", gold="It/owner"))
    assert owner != same_task(task("What does it cost?", "s", "required", gold="It/cost"))
