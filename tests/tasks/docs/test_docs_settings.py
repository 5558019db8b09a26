"""Tables of settings: what they decide is asked for; switches, places in a row and lists of names are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tasks.docs.test_docs_proposer import build, site

TABLES = {
    "Kiln settings": (
        ("Option", "Default", "Description"),
        [
            ("fast-cooling", "false", "Whether or not the lid should be opened before the kiln is cold"),
            ("airtight (required)", "true", "Whether or not to close the lid with a seal of clay"),
            ("top-load", "35", "The weight of the lid in pounds of dry clay"),
        ],
    ),
    "Kiln log": (
        ("Field", "Description"),
        [
            ("6th", "Prints the number of pots that broke in the fire"),
            ("unfired", "The number of pots that are still wet"),
        ],
    ),
    "Kiln archives": (
        ("Extension", "Description"),
        [("- .pot - .jar", "A jar file with a glaze of salt"), (".kln", "An urn file with a glaze of ash")],
    ),
    "Kiln numbers": (
        ("Segment", "New version"),
        [("major", "2.0.0"), ("minor", "1.1.0"), ("micro", "1.0.1")],
    ),
}


@pytest.fixture(scope="module")
def proposer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    files = site()
    for title, (heads, rows) in TABLES.items():
        head = "".join(f"<th>{name}</th>" for name in heads)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        files[f"{title.split()[1]}.html"] = f"<html><body><h1>{title}</h1><p>All at a glance.</p>{table}</body></html>"
    return build(tmp_path_factory.mktemp("kiln"), files).proposer()


def said(proposer: Any) -> dict[str, str]:
    entities = proposer.corpus.entities
    return {entities[entity].name: clause for entity, (_, clause) in proposer.items.all_said()}


def test_what_a_setting_decides_is_asked_for(proposer: Any) -> None:
    told = said(proposer)
    assert told["fast-cooling"] == "that determines whether the lid should be opened before the kiln is cold"
    assert told["airtight"] == "that determines whether to close the lid with a seal of clay"
    assert told["top-load"] == "that specifies the weight of the lid in pounds of dry clay"


def test_places_in_a_row_and_lists_of_names_have_no_name(proposer: Any) -> None:
    told = said(proposer)
    assert "unfired" in told
    assert "6th" not in told
    assert told[".kln"] == "that stands for an urn file with a glaze of ash"
    assert not any(".jar" in name for name in told)


def test_no_setting_is_looked_for_by_yes_or_no(proposer: Any) -> None:
    made = [proposer.shapes.propose(index, 5) for index in range(900)]
    alone = [one.draft for one in made if hasattr(one, "draft") and one.draft.shape in ("composition", "conjunction")]
    values = {hop.source.name for draft in alone for hop in draft.walk.hops if hop.source.document_id is None}
    assert values
    assert not {"true", "false"} & values


def test_what_an_example_makes_of_another_is_no_property(proposer: Any) -> None:
    assert "new_version" not in proposer.items.asked
    assert "default" in proposer.items.asked


def test_a_version_in_front_of_bullets_is_that_of_what_they_say(tmp_path: Path) -> None:
    text = (
        "# Options\n\n## menu_prefix\n\nThe prefix of every dish in the hall.\n\n**new in 3.2.7**\n\n"
        "- The prefix can be a list of prefixes.\n\n## menu_end\n\nThe end of every dish.\n\n**new in 3.3.0**\n"
    )
    corpus = build(tmp_path, {"a.md": text}).proposer().corpus
    since = {corpus.entities[edge.subject].name: edge.value for edge in corpus.edges if edge.relation == "since"}
    assert since == {"menu_end": "3.3.0"}
