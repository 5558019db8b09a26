"""Pages and results for tests of what a teacher makes of them."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from synth.agents.scripted.pages.gold_results import GoldResults
from synth.agents.scripted.seen import SeenDocument
from synth.environments.passages import passages_of
from synth.environments.shown import Hit
from synth.sources.world.statements import says as states


def page_of(document: str, title: str, text: str) -> SeenDocument:
    page = SeenDocument(document, title, 1, turns=[0])
    page.pages[1] = passages_of(text, document, title, 1)
    return page


def conditions(*clues: dict[str, Any]) -> list[Any]:
    plain_clue = {"source": None, "target": 0, "value": False, "described": False, "every": False, "span": None}
    return [SimpleNamespace(**{**plain_clue, "kind": "entity", "cue": "", **one}) for one in clues]


def over_results(clues: list[Any], hits: tuple[Hit, ...], **stand_ins: Any) -> Any:
    """What a teacher makes of the results of one search."""
    chooser: Any = SimpleNamespace(
        says=states,
        _state=SimpleNamespace(reading=SimpleNamespace(clues=clues), values={}, place=lambda name: None),
        _seen=SimpleNamespace(searches=[SimpleNamespace(hits=hits)], documents={}, hits=lambda: iter(hits)),
        _hop=lambda clue: None,
        _all_hops=lambda clue: [],
    )
    ways = ("_others", "_name_of", "_known_as", "_refuted", "_outlived", "_line_against", "_line_meeting")
    for name in (*ways, "shown_to_fail", "shown_to_meet", "better_result"):
        setattr(chooser, name, partial(getattr(GoldResults, name), chooser))
    chooser.__dict__.update(stand_ins)
    return chooser
