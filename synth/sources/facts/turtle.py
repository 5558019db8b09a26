"""Statements of Turtle, read by rdflib."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from synth.errors import InputError
from synth.inputs import open_input

__all__ = ["turtle_statements"]


def turtle_statements(file: Path, mend: str, iris: set[str]) -> Iterator[tuple[str, str, str]]:
    """The statements in the order of their text; literals of languages other than English are left out, and so is what
    is said of nodes without a name.

    Raises:
        InputError: the file is no Turtle.
    """
    import rdflib

    graph = rdflib.Graph()
    with open_input(file, mend=mend) as data:
        try:
            graph.parse(data, format="turtle", publicID="http://facts/")
        except Exception as error:  # the parser raises its own, and bare ones on odd bytes
            what = " ".join(str(error).split())[:160]
            raise InputError(f"{file.name} is no Turtle: {what}", where="source.path", mend=mend) from None
    for subject, relation, target in sorted(graph):
        if not isinstance(subject, rdflib.URIRef):
            continue
        if isinstance(target, rdflib.URIRef):
            iris.add(str(target))
        elif not isinstance(target, rdflib.Literal) or not (target.language or "en").lower().startswith("en"):
            continue
        yield str(subject), str(relation), str(target).strip()
