"""Statements: a page's sentences, read back, say what the facts of their spans say."""

from __future__ import annotations

from collections import defaultdict

import pytest

from synth.sources.world.config import WorldConfig
from synth.sources.world.pages import pages
from synth.sources.world.schema import RELATIONS
from synth.sources.world.source import world_of
from synth.sources.world.statements import says, statements


def test_sentences_state_what_their_facts_say() -> None:
    config = WorldConfig(entities=400, seed=8)
    documents, _, edges = (table.to_pylist() for table in pages(world_of(config), 0, config.entities))
    told: dict[tuple[int, int, int], set[str]] = defaultdict(set)
    for edge in edges:
        item = RELATIONS[edge["relation"]]
        primary = item.name if item.primary or item.inverse is None else item.inverse
        told[edge["document"], edge["start"], edge["end"]].add(primary)
    read = [
        ({one.relation for one in statements(documents[at]["text"][start:end])}, wanted)
        for (at, start, end), wanted in told.items()
    ]
    assert len(read) > 500
    assert all(wanted <= found for found, wanted in read)
    assert sum(found != wanted for found, wanted in read) < 0.03 * len(read)


@pytest.mark.parametrize(
    ("text", "hop", "ends", "verdict"),
    [
        (
            "Vole took her degree at the University of Tarn.",
            ("studied_at", False),
            {"source": "University of Tarn"},
            True,
        ),
        ("Vole taught at the University of Tarn.", ("studied_at", False), {"source": "University of Tarn"}, False),
        ("Vole was the mentor of Ansa Brill.", ("mentor", True), {"source": "Ansa Brill"}, True),
        ("Vole was the mentor of Ansa Brill.", ("mentor", False), {"source": "Ansa Brill"}, False),
        ("Ansa Vole is a physicist from Tarn.", ("occupation", False), {"source": "politician"}, False),
        ("Ansa Vole is a physicist from Tarn.", ("occupation", False), {"of_target": True}, True),
        ("It is not known.", ("occupation", False), {}, None),
        ("Ansa Vole is a physicist from Tarn.", ("a relation of a user's", True), {}, None),
    ],
)
def test_who_reads_tells_relations_and_their_ends_apart(
    text: str, hop: tuple[str, bool], ends: dict[str, str | bool], verdict: bool | None
) -> None:
    relation, forward = hop
    source, target, own = str(ends.get("source", "")), str(ends.get("target", "")), bool(ends.get("of_target"))
    assert says(text, relation, forward, source=source, target=target, of_target=own) is verdict


def test_what_has_no_name_is_no_other_end() -> None:
    assert says("Snow lies in the gullies well into the warm season.", "lies_in", True) is None
    assert says("The lake lies in the Wakura Highlands.", "lies_in", True)
    assert says("She was an industrialist.", "occupation", True)
