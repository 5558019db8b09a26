"""A page's outline: what it keeps, how elements are numbered."""

from __future__ import annotations

import pytest

from synth.environments.web.nodes import parse
from synth.environments.web.storage import (
    Change,
    changes_in_words,
    compare,
    differing,
    kept,
    state_hash,
    stored,
    without,
)
from synth.environments.web.tree import Page, read_page

SNAPSHOT = """
- generic [active] [ref=e1]:
  - banner [ref=e2]:
    - 'link "Home: start" [ref=e3] [cursor=pointer]':
      - /url: /
  - main [ref=e6]:
    - heading "The Salt Road" [level=1] [ref=e7]
    - generic [ref=e8]:
      - term [ref=e9]: Shelf mark
      - definition [ref=e10]: TRA 232.9
    - list [ref=e11]:
      - listitem [ref=e12]:
        - link "Moth Light" [ref=e13] [cursor=pointer]:
          - /url: /i?1
        - text: ", due 9 March."
        - button "Renew" [ref=e14]
      - listitem [ref=e15]:
        - link "Night Trains" [ref=e16] [cursor=pointer]
        - button "Renew" [disabled] [ref=e17]
      - listitem [ref=e18]: plain
    - generic [ref=e20]:
      - text: Name
      - textbox "Name" [ref=e21]: Mara
    - combobox "Branch" [ref=e22]:
      - option "Central"
      - option "Harbour" [selected]
    - 'checkbox "a: b" [checked] [ref=e23]'
    - table [ref=e27]:
      - rowgroup [ref=e28]:
        - row [ref=e29]:
          - columnheader "Name" [ref=e30]
          - columnheader "When" [ref=e31]
    - generic [ref=e40] [cursor=pointer]: More
"""


@pytest.fixture(scope="module")
def page() -> Page:
    return read_page(parse(SNAPSHOT))


def test_the_outline_is_compact_and_whole(page: Page) -> None:
    assert page.lines == (
        "banner:",
        '  [e1] link "Home: start"',
        "main:",
        '  heading 1 "The Salt Road"',
        "  Shelf mark: TRA 232.9",
        '  - [e2] link "Moth Light", due 9 March. [e3] button "Renew"',
        '  - [e4] link "Night Trains" [e5] button "Renew" (disabled)',
        "  - plain",
        '  [e6] textbox "Name": "Mara"',
        '  [e7] combobox "Branch": "Harbour" of "Central", "Harbour"',
        '  [e8] checkbox "a: b" (checked)',
        "  table:",
        "    row: Name | When",
        '  [e9] clickable "More"',
    )


def test_elements_are_told_apart(page: Page) -> None:
    second = page.element("e5")
    assert second is not None
    assert (second.role, second.name, second.nth, second.handle, second.marks) == (
        "button",
        "Renew",
        1,
        "e17",
        ("disabled",),
    )
    assert "Night Trains" in second.near
    choice = page.element("e7")
    assert choice is not None
    assert (choice.value, choice.options) == ("Harbour", ("Central", "Harbour"))
    held = (("The Salt Road", "Name", "Mara"), ("The Salt Road", "Branch", "Harbour"))
    assert page.facts == (("The Salt Road", "Shelf mark", "TRA 232.9"), *held)


@pytest.mark.parametrize("ref", ["e0", "e10", "e99999999999", "", "e", "e-1", "e01", "5", "e1²", "e١"])
def test_other_names_are_no_element(page: Page, ref: str) -> None:
    assert page.element(ref) is None


def test_parts_lose_nothing(page: Page) -> None:
    parts = page.parts(60)
    assert len(parts) > 3
    assert "\n".join(parts) == page.text
    assert all(len(part) <= 60 or "\n" not in part for part in parts)
    assert page.parts(10_000) == (page.text,)


def test_hidden_characters_are_written_out_and_kept_apart() -> None:
    page = read_page(parse('- main:\n  - button "Pay\u200b now" [ref=e1]\n  - text: "a\u202eb"'))
    assert page.elements[0].line == '[e1] button "Pay\\u200b now"'
    assert page.raw[1:] == ("Pay\u200b now ", "a\u202eb")


def test_a_page_can_be_empty() -> None:
    assert read_page(parse("")) == Page((), (), ())


def test_controls_do_not_hide_a_page() -> None:
    assert read_page(parse("- main:\n  - text: a\x00b")).lines == ("main:", "  a\ufffdb")


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="can't be read"):
        parse("- [")


def test_a_tree_without_end_is_refused() -> None:
    deep = "".join(f"{'  ' * level}- list:\n" for level in range(5_000))
    with pytest.raises(ValueError, match="can't be read"):
        parse(deep)


BEFORE = {"holds": [{"title": "A", "branch": "x"}, {"title": "B", "branch": "x"}], "settings": {"mail": "m", "n": 1}}
KEYS = {"holds": "title"}


def test_storage_is_read_as_it_is_written() -> None:
    value = {"text": "plain", "list": [1, {"é": None}], "looks like JSON": "{not"}
    assert kept({"origins": [{"localStorage": stored(value)}], "cookies": []}) == value
    cookies = [{"name": "s", "value": "1", "expires": 5}]
    assert kept({"cookies": cookies}, server={"rows": 2}) == {"(cookies)": {"s": "1"}, "(server)": {"rows": 2}}


def test_order_of_entries_is_no_difference() -> None:
    other = {**BEFORE, "holds": BEFORE["holds"][::-1]}
    assert state_hash(BEFORE, ()) == state_hash(other, ())
    assert compare(BEFORE, other, KEYS) == []
    assert state_hash({"order": ["a", "b"]}, ()) != state_hash({"order": ["b", "a"]}, ())


def test_every_kind_of_change_is_found() -> None:
    after = {"holds": [{"title": "A", "branch": "y"}, {"title": "C", "branch": "x"}], "settings": {"mail": "z", "n": 1}}
    assert compare(BEFORE, after, KEYS) == [
        Change(at="holds", kind="changed", field="branch", entry={"title": "A", "branch": "x"}, before="x", after="y"),
        Change(at="holds", kind="removed", before={"title": "B", "branch": "x"}),
        Change(at="holds", kind="added", after={"title": "C", "branch": "x"}),
        Change(at="settings.mail", kind="set", before="m", after="z"),
    ]
    words = changes_in_words(compare(BEFORE, after, KEYS))
    assert words[0] == 'holds, entry {"branch":"x","title":"A"}: branch "x" -> "y"'
    assert words[3] == 'settings.mail: "m" -> "z"'


def test_a_list_that_appears_is_entries() -> None:
    assert [one.kind for one in compare({}, {"log": [{"a": 1}, {"a": 1}]}, {})] == ["added", "added"]
    assert compare({"log": [1, 1]}, {"log": [1]}, {}) == [Change(at="log", kind="removed", before=1)]


def test_what_is_volatile_does_not_count() -> None:
    later = {**BEFORE, "seen": 5, "holds": [{**hold, "at": 9} for hold in BEFORE["holds"]]}
    assert state_hash(later, ("seen", "holds.at")) == state_hash(BEFORE, ())
    assert without(later, ("seen", "holds.at", "no.such")) == BEFORE


def test_differing_names_both_sides() -> None:
    one, two = Change(at="a", kind="set", after=1), Change(at="b", kind="set", after=1)
    assert differing([one], [two]) == ([one], [two])


PAIRS = """
- heading "#5 (Opening hours)" [level=1]
- table [ref=e1]:
  - rowgroup [ref=e2]:
    - 'row "Reported by: jonas Owned by: mara" [ref=e3]':
      - 'rowheader "Reported by:" [ref=e4]'
      - cell "jonas" [ref=e5]
      - 'rowheader "Owned by:" [ref=e6]'
      - cell "mara" [ref=e7]
    - 'row "Keywords: Add" [ref=e8]':
      - 'rowheader "Keywords:" [ref=e9]'
      - cell [ref=e10]:
        - button "Add" [ref=e11]
- table [ref=e12]:
  - row [ref=e13]:
    - columnheader "Tool" [ref=e14]
    - columnheader "Price" [ref=e15]
  - row [ref=e16]:
    - rowheader "Jigsaw" [ref=e17]
    - cell "6.00" [ref=e18]
"""


def test_pairs_of_a_head_and_a_cell_state_something_of_the_heading() -> None:
    about = "#5 (Opening hours)"
    assert read_page(parse(PAIRS)).facts == (
        (about, "Reported by", "jonas"),
        (about, "Owned by", "mara"),
        ("Jigsaw", "Price", "6.00"),
    )


FORM = """
- heading "New ticket" [level=1]
- table [ref=e1]:
  - row [ref=e2]:
    - rowheader "Priority:" [ref=e3]
    - cell [ref=e4]:
      - combobox "Priority:" [ref=e5]:
        - option "low" [selected]
    - rowheader "Cc:" [ref=e6]
    - cell [ref=e7]:
      - text: Set your address in
      - link "Preferences" [ref=e8]
"""


def test_what_stands_beside_the_fields_of_a_form_is_no_fact() -> None:
    assert read_page(parse(FORM)).facts == ()
    alone = FORM.replace('combobox "Priority:"', 'link "Priority:"').replace('- option "low" [selected]', "- text: low")
    assert ("New ticket", "Cc", "Set your address in Preferences") in read_page(parse(alone)).facts


LAYOUT = """
- heading "New ticket" [level=1]
- table [ref=e1]:
  - row [ref=e2]:
    - rowheader "Title:" [ref=e3]
    - cell [ref=e4]:
      - textbox [ref=e5]
    - 'cell "Priority:" [ref=e6]'
    - cell [ref=e7]:
      - combobox [ref=e8]:
        - option "low" [selected]
  - row [ref=e9]:
    - cell "2 pumps" [ref=e10]
    - cell [ref=e11]:
      - spinbutton [ref=e12]
    - cell [ref=e13]:
      - checkbox [ref=e14]
  - row [ref=e15]:
    - rowheader "Note" [ref=e16]
    - cell [ref=e17]:
      - textbox "Remark" [ref=e18]
      - button [ref=e19]
"""


def test_a_field_without_a_name_is_called_what_the_cell_before_it_calls_it() -> None:
    named = [(one.role, one.name) for one in read_page(parse(LAYOUT)).elements]
    assert named == [
        ("textbox", "Title"),
        ("combobox", "Priority"),
        ("spinbutton", ""),
        ("checkbox", ""),
        ("textbox", "Remark"),
        ("button", ""),
    ]


NUMBERED = """
- heading "Tickets" [level=1] [ref=e1]
- table [ref=e2]:
  - row [ref=e3]:
    - columnheader "ID" [ref=e4]
    - columnheader "Changed" [ref=e5]
    - columnheader "Title" [ref=e6]
    - columnheader "Owner" [ref=e7]
  - row [ref=e8]:
    - cell "4" [ref=e9]
    - cell "1 week ago" [ref=e10]
    - cell [ref=e11]:
      - link "Pump leaks" [ref=e12]
    - cell [ref=e13]:
      - link "ada" [ref=e14]
  - row [ref=e15]:
    - cell "6" [ref=e16]
    - cell "1 week ago" [ref=e17]
    - cell [ref=e18]:
      - link "Pane cracked" [ref=e19]
    - cell [ref=e20]:
      - link "bo" [ref=e21]
"""


def test_a_row_is_called_by_the_links_that_name_it_not_by_its_number() -> None:
    facts = read_page(parse(NUMBERED)).facts
    assert facts[:3] == (
        ("Pump leaks", "ID", "4"),
        ("Pump leaks", "Changed", "1 week ago"),
        ("Pump leaks", "Owner", "ada"),
    )
    numbers = NUMBERED.replace('link "Pump leaks"', 'link "#4"').replace('link "Pane cracked"', 'link "#6"')
    assert ("4", "Title", "#4") in read_page(parse(numbers.replace('link "bo"', 'link "ada"'))).facts


TICKETS = """
- heading "Tickets" [level=2] [ref=e1]
- table [ref=e2]:
  - row [ref=e3]:
    - columnheader "" [ref=e4]
    - columnheader "Title" [ref=e5]:
      - link "Title" [ref=e6]
    - columnheader "Owner" [ref=e7]
    - columnheader "Actions" [ref=e8]
    - columnheader "Votes" [ref=e30]
  - row [ref=e9]:
    - cell [ref=e10]:
      - checkbox "Pick" [ref=e11]
    - cell [ref=e12]:
      - link "Pump leaks" [ref=e13]
    - cell [ref=e14]:
      - link "ada" [ref=e15]
    - cell [ref=e16]:
      - link "Edit" [ref=e17]
    - cell [ref=e31]:
      - button "4" [ref=e32]
  - row [ref=e18]:
    - cell [ref=e19]:
      - checkbox "Pick" [ref=e20]
    - cell [ref=e21]:
      - link "Pane cracked" [ref=e22]
    - cell [ref=e23]:
      - link "bo" [ref=e24]
    - cell [ref=e25]:
      - link "Edit" [ref=e26]
    - cell [ref=e33]:
      - button "5" [ref=e34]
- table [ref=e27]:
  - row [ref=e28]:
    - rowheader "Reported by:" [ref=e35]
    - cell [ref=e29]:
      - link "dee" [ref=e36]
"""


def test_a_cell_that_is_one_link_is_a_value_and_what_can_be_done_is_none() -> None:
    page = read_page(parse(TICKETS))
    assert page.heading == "Tickets"
    assert page.facts == (
        ("Pump leaks", "Owner", "ada"),
        ("Pane cracked", "Owner", "bo"),
        ("Tickets", "Reported by", "dee"),
    )


ICONS = b"""
- heading "Bookmarks" [level=4] [ref=e1]
- table [ref=e2]:
  - row [ref=e3]:
    - cell [ref=e4]:
      - link "\\uf06e" [ref=e5] [cursor=pointer]:
        - /url: /view/1
      - button "\\uf1f8" [ref=e6] [cursor=pointer]
    - cell [ref=e7]:
      - link "Ladders" [ref=e8] [cursor=pointer]:
        - /url: /1
      - text: Two of six.
- button "\\ue000 Save" [ref=e9] [cursor=pointer]
""".decode("unicode_escape")


def test_icons_are_called_by_the_hint_that_a_person_is_shown() -> None:
    page = read_page(parse(ICONS, [("link", "View"), ("button", "Delete")]), "Bookmarks - a manager")
    assert [one.name for one in page.elements] == ["View", "Delete", "Ladders", "Save"]
    assert [one.url for one in page.elements] == ["/view/1", "", "/1", ""]
    assert page.elements[1].item == ("View", "Ladders", "Two of six.")
    assert page.heading == "Bookmarks"
    assert read_page(parse(ICONS), "A manager").heading == "", "a heading of level 4 is not what the page is called"
    for wrong in ((), [("link", "View")], [("button", "Delete"), ("link", "View")], [("link", "a"), ("link", "b")]):
        assert [one.name for one in read_page(parse(ICONS, wrong)).elements] == ["", "", "Ladders", "Save"]
    named = [("link", "View"), ("button", "Delete"), ("link", "Ladders")]
    assert read_page(parse(ICONS, named)).elements[0].name == "View", "what has its hint as its name may be among them"


ENTRY = """
- heading "Issue 3" [level=1] [ref=e1]
- searchbox "Search" [ref=e2]: frost
- textbox "Title *" [ref=e3]: Frost alarm does not ring
- textbox "Superseder" [ref=e4]
- combobox "Priority:" [ref=e5]:
  - option "wish"
  - option "critical" [selected]
"""


def test_what_the_fields_of_an_entry_hold_can_be_looked_up() -> None:
    held = read_page(parse(ENTRY)).facts
    assert held == (("Issue 3", "Title", "Frost alarm does not ring"), ("Issue 3", "Priority", "critical"))
    fresh = ENTRY.replace(": Frost alarm does not ring", "")
    assert read_page(parse(fresh)).facts == (), "an empty form still lists its choices, which state nothing"
