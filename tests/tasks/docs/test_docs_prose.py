"""What prose is asked for: names, by what things are; and by what they do only where that tells something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.identity import derive_generator
from synth.tasks.docs.callings import Callings
from synth.tasks.docs.proposer import Proposed
from synth.tasks.docs.prose import Prose
from synth.tasks.docs.spoken import statement_question
from synth.tasks.docs.wording import Words
from synth.text.subjects import statement
from tests.tasks.docs.test_docs_proposer import build

PAGES = {
    "guide.html": "<h1>Guide to the hall</h1><h2>Packages of glaze</h2><p>The cook calls Orderix by night, and Orderix "
    "comes. A subsequent visit is free. Later the subsequent guests eat, and a subsequent song is sung.</p>"
    "<h2>Dish washers</h2><p>They wash.</p><h2>Manual glazing</h2><p>It takes a day.</p>",
    "middle.html": "<h1>Rules</h1><h2>LidFilter</h2><p>Lifts the lid of every pot in the kitchen.</p>"
    "<p>The LidFilter class is read by LidFilter class loaders.</p>"
    "<h2>lid_rule</h2><p>Shuts the lid of every pot in the cellar.</p><p>With lid_rule the pots are shut.</p>"
    "<h2>menu.yaml</h2><p>Holds the dishes of every guest in the tavern.</p>"
    "<h2>RackRule</h2><p>Turns the rack of every oven in the attic. The class RackRule is the RackRule rule.</p>",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pages = {name: f"<html><head><title>x</title></head><body>{body}</body></html>" for name, body in PAGES.items()}
    return build(tmp_path_factory.mktemp("prose"), pages).proposer()


@pytest.mark.parametrize(
    ("sentence", "family"),
    [
        # What a thing is.
        ("Orderix is a waiter that brings the plates of the evening to the guests.", "subject"),
        ("Vector is a skin for the plates of the hall in the evening.", "subject"),
        ("A sub-hall is a group of cooks interested in serving the guests of the yard.", "subject"),
        ("The plates without an owner are called orphans.", "subject"),
        ("The latest and most convenient oven is called OMEN.", None),
        ("The normal operation mode is called ProcRun.", None),
        ("Orderix is the fastest waiter of the hall that sings in the evening.", None),
        ("Subsequent is a waiter that brings the plates of the evening to the guests.", None),
        # What has a kind in front of it.
        ("The lid_rule directive controls which lids are lifted in the kitchen.", "subject"),
        ("A pragma Restrictions tells the reader which lids may not be lifted.", "subject"),
        ("The lid_rule parameter is omitted if the guest is unknown to the cook.", None),
        ("The LidError exception is raised if the guest is unknown to the cook.", "subject"),
        # What a thing does that has a name of its own.
        ("Orderix brings the plates of the evening to the guests of the yard.", "plain"),
        ("Manual glazing allows the cook to choose the colour of each plate.", "plain"),
        ("Orderix includes the plates of the evening and the guests of the yard.", None),
        ("Orderix brings the plates.", None),
        ("Ovenix 9 brings the plates of the evening to the guests of the yard.", None),
        ("Subsequent brings the plates of the evening to the guests of the yard.", None),
        ("A buffer holds the plates that the cook has washed in the evening.", None),
        ("A Size clause brings eight plates of the evening to the guests.", None),
        # Several things at once.
        ("Plates are made of clay and burnt in the ovens of the yard.", None),
        ("NVMe drives provide the fastest transfer of plates to the hall.", None),
        ("Dish washers are machines that wash the plates of the evening.", "subject"),
        ("Dish dryers are machines that dry the plates of the evening.", None),
        ("Sponsors are people who are official guests of the tavern.", None),
    ],
)
def test_what_sentences_are_asked_for(world: Any, sentence: str, family: str | None) -> None:
    said = statement(sentence)
    asked = None if said is None else statement_question(said)
    found = None if said is None or asked is None else Prose(world.corpus).family(said, asked[0])
    assert found == family


def test_a_kind_in_front_of_a_name_is_asked_for() -> None:
    said = statement("A pragma Restrictions tells the reader which lids may not be lifted.")
    assert said is not None
    assert (said.name, said.kind) == ("Restrictions", "pragma")


def test_a_program_with_hyphens_is_what_the_sentence_calls_it() -> None:
    said = statement("The hall-oven-install tool is a wrapper for the ovens of the cook.")
    assert said is not None
    assert (said.name, said.kind) == ("hall-oven-install", "tool")
    said = statement("The end-to-end tool is a wrapper for the ovens of the cook.")
    assert said is None or said.name != "end-to-end"


def test_a_column_on_usage_makes_no_question(world: Any) -> None:
    words = Words(world.corpus)
    assert words.asks("usage", "the del proc") == ()
    assert words.asks("type", "the del proc")


def test_a_class_of_something_is_no_name() -> None:
    assert statement("The PDF class API follows the example of the pictures in the hall.") is None


def test_a_thing_is_not_called_by_its_heading_where_the_page_says_otherwise(world: Any) -> None:
    """All stand below "Rules"."""
    called = {found.name: Words(world.corpus).noun(found.ordinal) for found in world.corpus.entities}
    assert called["lid_rule"] == "rule"
    assert called["RackRule"] == "rule"  # it is called both
    assert called["LidFilter"] is None


def test_a_file_is_no_option(tmp_path: Path) -> None:
    body = "<h1>Settings</h1><h2>menu.yaml</h2><p>Holds the dishes of every guest in the tavern.</p>"
    corpus = build(tmp_path, {"a.html": f"<html><body>{body}</body></html>"}).proposer().corpus
    found = next(each for each in corpus.entities if each.name == "menu.yaml")
    assert found.kind == "setting"
    assert Callings(corpus).disputed(found.ordinal)


def test_a_command_that_has_nearly_all_options_is_not_looked_for_by_one(tmp_path: Path) -> None:
    def page(name: str, verbs: list[str]) -> str:
        terms = "".join(f"<dt>--{v}</dt><dd><p>{v.capitalize()}s the {v} of the cellar.</p></dd>" for v in verbs)
        text = f"<h1>{name} - {name} the guests of a tavern</h1><h2>OPTIONS</h2><dl>{terms}</dl>"
        return f"<html><body>{text}</body></html>"

    verbs = "add remove write print read count load open show sort move drop".split()
    many = {"serve.html": page("serve", verbs[:9]), "sweep.html": page("sweep", verbs[9:])}
    same = {"serve.html": page("serve", verbs[:6]), "two.html": page("serve", verbs[6:])}
    even = {"serve.html": page("serve", verbs[:6]), "sweep.html": page("sweep", verbs[6:])}
    held = {}
    for label, files in (("many", many), ("even", even), ("same", same)):
        items = build(tmp_path / label, files).proposer().items
        held[label] = {item.ends_at for found in items.by_family.values() for item in found.get("holder", [])}
    assert held["even"] == {"serve.html", "sweep.html"}
    assert held["many"] == {"sweep.html"}
    assert held["same"] == set()


def test_a_page_about_many_things_has_no_version(tmp_path: Path) -> None:
    def page(title: str, version: str) -> str:
        said = f"<p>New in version {version}.</p><p>All about the {title} of the hall and the guests.</p>"
        return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{said}</body></html>"

    titles = {"Coverages": "1.8.1", "menu_of_day": "1.10.2", "Ovens of the yard": "1.12.0"}
    files = {f"p{n}.html": page(title, version) for n, (title, version) in enumerate(titles.items())}
    proposer = build(tmp_path, files).proposer()
    made = [proposer.propose(number, "train", derive_generator(3, "docs", number)) for number in range(120)]
    asked = {each.draft.question for each in made if isinstance(each, Proposed)}
    assert any("menu_of_day" in question for question in asked)
    assert not [question for question in asked if "Coverages" in question or "Ovens" in question]


def test_a_page_with_a_long_title_is_not_named(tmp_path: Path) -> None:
    titles = (
        "Ovens of the yard",
        ": Index",
        "ovens - The ovens of the yard, and all that the cook bakes in them at night",
    )
    files = {f"{n}.html": f"<html><body><h1>{title}</h1><p>x</p></body></html>" for n, title in enumerate(titles)}
    words = Words(build(tmp_path, files).proposer().corpus)
    assert [words.page(row) for row in range(3)] == ["“Ovens of the yard”", "", ""]


@pytest.mark.parametrize(
    ("kind", "sentence", "told"),
    [
        ("option", "One of the colours of the plates in the hall.", False),
        ("option", "The colour of the plates in the hall.", True),
        ("type", "This is called for every guest of the tavern.", False),
        ("method", "This is called for every guest of the tavern.", True),
        ("option", "The ordinary glaze in the hall eagerly copies the plates of the cook.", False),
        ("hook", "This is called for every guest of the tavern.", True),
    ],
)
def test_what_tells_a_thing_fits_its_kind(tmp_path: Path, kind: str, sentence: str, told: bool) -> None:
    body = f"<h1>{kind.capitalize()}s</h1><h2>menu_dish</h2><p>{sentence}</p>"
    proposer = build(tmp_path, {"a.html": f"<html><body>{body}</body></html>"}).proposer()
    found = next(each for each in proposer.corpus.entities if each.name == "menu_dish")
    assert found.kind == kind
    assert (proposer.items.said(found.ordinal) is not None) is told


def test_two_things_asked_for_at_once_are_alike(tmp_path: Path) -> None:
    def page(title: str, said: dict[str, str]) -> str:
        things = "".join(f"<h3>{name}</h3><p>{text}</p>" for name, text in said.items())
        return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><h2>Options</h2>{things}</body></html>"

    files = {
        "a.html": page(
            "Ovens",
            {
                "oven_size": "Sets the greatest size of the plates in bytes.",
                "oven_door": "Sets the greatest number of seconds in which doors of wood are shut by cooks.",
            },
        ),
        "b.html": page(
            "Racks",
            {
                "rack_size": "Sets the greatest size of the pots in bytes.",
                "rack_bell": "Counts the seconds that guests of the yard wait at doors of iron.",
            },
        ),
    }
    proposer = build(tmp_path, files).proposer()
    corpus = proposer.corpus
    pairs = {
        frozenset(corpus.entities[corpus.edges[edge].subject].name for edge in item.edges)
        for found in proposer.items.by_family.values()
        for item in found.get("pair", [])
    }
    assert pairs == {frozenset(("oven_size", "rack_size"))}
