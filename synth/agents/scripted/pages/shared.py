"""What the pages of two conditions both name: who has read both goes there first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from synth.agents.scripted.matching import same_name
from synth.agents.scripted.options import options_in
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import State
from synth.environments.passages import Passage

__all__ = ["named_for", "pages_of_source", "shared_by"]

Denies = Callable[[int, Passage], bool]


def pages_of_source(state: State, clue: int) -> list[SeenDocument]:
    """Pages that were read of what a condition starts from; none where it starts from a value or is not known."""
    asked = state.reading.clues[clue]
    if asked.value or asked.described:
        return []
    known = state.values.get(asked.source) if asked.source is not None else None
    name = asked.name if asked.source is None else known.name if known is not None else ""
    document = known.document if known is not None else None
    pages = state.seen.documents.values()
    return [page for page in pages if name and (page.document == document or same_name(page.title, name))]


def named_for(state: State, denies: Denies, clue: int) -> set[str]:
    """Documents to which the page of a condition links, in lines that are not known to say something else."""
    return {
        one.document
        for page in pages_of_source(state, clue)
        for sentence in page.sentences()
        if sentence.text != sentence.heading and not denies(clue, sentence)
        for one in options_in(sentence, "entity")
        if one.document is not None and one.document != page.document
    }


def shared_by(state: State, denies: Denies, clue: int, options: Iterable[tuple[str, str | None]]) -> list[str]:
    """Of ``options`` (name, document) for what ``clue`` leads to those that the page of another condition on the same
    thing names, too."""
    clues = state.reading.clues
    others = [n for n, one in enumerate(clues) if n != clue and one.target == clues[clue].target and not one.every]
    named = {document for other in others for document in named_for(state, denies, other)}
    return [name for name, document in options if document is not None and document in named] if named else []
