"""What a recipe's questions and runs are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from synth.recipe.reverse import AppSource, McpSource, WebSource
from synth.sources.docs.source import DocsConfig
from synth.sources.records.source import RecordsConfig
from synth.sources.triples.reading import TriplesConfig
from synth.sources.world.config import WorldConfig

__all__ = ["GRAPHS", "DocsSource", "RecordsSource", "Source", "SourceSpec", "TriplesSource", "WorldSource"]

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


@dataclass(frozen=True)
class SourceSpec:
    """All that a build asks of a kind of source, as the one value that the registry names."""

    keys: type[BaseModel]
    """Its keys in a recipe, ``kind`` among them."""
    stage: str | None
    """The stage that reads it, which is given those of its keys that it knows. What is made of the source follows from
    the tables that the stage writes. None: nothing is read; the environment of the same kind is made of it."""
    description: str
    """One sentence for the card."""
    fictional: bool = False
    """Whether nothing in it is true of the real world."""


WORLD = SourceSpec(
    WorldSource,
    "world_pages",
    "A fictional world, generated: entities, dated and measured facts, and one page about each entity.",
    fictional=True,
)
TRIPLES = SourceSpec(
    TriplesSource, "read_triples", "Facts that the user gave as triples, and one generated page about each entity."
)
DOCS = SourceSpec(DocsSource, "read_docs", "A folder of linked pages that the user gave.")
RECORDS = SourceSpec(RecordsSource, "read_records", "Documents that the user gave as records.")
APP = SourceSpec(
    AppSource,
    None,
    "An application on a generated database: tools that read and change it, and a written policy.",
    fictional=True,
)
MCP = SourceSpec(
    McpSource, None, "Servers of the Model Context Protocol: tools that read and change what the servers keep."
)
WEB = SourceSpec(WebSource, None, "A web site that keeps what is done on it, in a real browser.")
