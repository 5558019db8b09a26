"""What a recipe's questions and runs are made from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from synth.recipe.reverse import AppSource, McpSource, WebSource
from synth.sources.docs.source import DocsConfig
from synth.sources.records.source import RecordsConfig
from synth.sources.triples.reading import TriplesConfig
from synth.sources.world.config import WorldConfig

__all__ = ["GRAPHS", "DocsSource", "RecordsSource", "Source", "TriplesSource", "WorldSource"]

GRAPHS = frozenset(("world", "triples"))
"""Sources that are graphs of facts, with a page about each entity."""


class WorldSource(WorldConfig):
    """The fictional world: nothing in it is true of ours, so no model can know it."""

    kind: Literal["world"]


class DocsSource(DocsConfig):
    """A folder of HTML or Markdown with links."""

    kind: Literal["docs"]
    extract: Literal["none", "rules", "model"] = "none"
    """``rules``: sentences that name another page by its title are read as if they linked to it. For folders whose
    pages do not link to each other. ``model``: beside that the role ``writer`` reads every page and writes down what it
    states; what it can't point at in the page's words is refused."""


class RecordsSource(RecordsConfig):
    """JSONL or Parquet documents."""

    kind: Literal["records"]
    extract: Literal["none", "rules", "model"] = "none"
    """``rules``: sentences that name another document by its title are read as if they linked to it, beside the triples
    that come with the documents. ``model``: beside that the role ``writer`` reads every document and writes down
    what it states; what it can't point at in the document's words is refused."""


class TriplesSource(TriplesConfig):
    """Facts of yours: a file of triples."""

    kind: Literal["triples"]


Source = Annotated[
    WorldSource | TriplesSource | DocsSource | RecordsSource | AppSource | McpSource | WebSource,
    Field(discriminator="kind"),
]
