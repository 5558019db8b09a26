"""What a recipe's questions and runs are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from synth.lexicon.model import Lexicon
from synth.registry import choices, find
from synth.schemas.described import Described
from synth.sources.code.source import CodeConfig
from synth.sources.docs.distract import DocumentDistractors
from synth.sources.docs.source import DocsConfig
from synth.sources.facts.graph import open_lexicon
from synth.sources.facts.tables import TablesConfig
from synth.sources.facts.triples import TriplesConfig
from synth.sources.records.hub import HubConfig
from synth.sources.records.source import RecordsConfig
from synth.sources.world.config import WorldConfig
from synth.stages.contract import Stage

__all__ = [
    "AppSource",
    "CodeSource",
    "DocsSource",
    "McpSource",
    "OwnSource",
    "RecordsSource",
    "RunsSource",
    "SourceSpec",
    "TablesSource",
    "TriplesSource",
    "WebSource",
    "WorldSource",
]


class WorldSource(WorldConfig):
    """The fictional world: nothing in it is true of ours, so no model can know it."""

    kind: Literal["world"]


class DocsSource(DocsConfig):
    """A folder of HTML, Markdown or reStructuredText with links."""

    kind: Literal["docs"]
    distractors: DocumentDistractors = DocumentDistractors()
    """Pages that were written to mislead, per 100 pages and kind. For questions of kind ``docs``."""
    extract: Literal["none", "rules", "model"] = "none"
    """``rules``: sentences that name another page by its title are read as if they linked to it. For folders whose
    pages do not link to each other. ``model``: beside that the role ``writer`` reads every page and writes down what it
    states; what it can't point at in the page's words is refused."""


class RecordsSource(RecordsConfig):
    """JSONL or Parquet documents."""

    kind: Literal["records"]
    distractors: DocumentDistractors = DocumentDistractors()
    """Pages that were written to mislead, per 100 pages and kind. For questions of kind ``docs``."""
    extract: Literal["none", "rules", "model"] = "none"
    """``rules``: sentences that name another document by its title are read as if they linked to it, beside the triples
    that come with the documents. ``model``: beside that the role ``writer`` reads every document and writes down
    what it states; what it can't point at in the document's words is refused."""


class HubSource(HubConfig):
    """Rows of a dataset of the Hugging Face Hub."""

    kind: Literal["hub"]
    distractors: DocumentDistractors = DocumentDistractors()
    """Pages that were written to mislead, per 100 pages and kind. For questions of kind ``docs``."""
    extract: Literal["none", "rules", "model"] = "none"
    """As of ``records``."""


class TriplesSource(TriplesConfig):
    """Facts of yours: a file of triples."""

    kind: Literal["triples"]
    draft_words: bool = False
    """Whether the role ``writer`` words each relation that ``words`` leaves out, once. A phrase by which a reader can't
    tell the relation from its neighbours is refused: then the words made of its label stay."""


class DatasetSource(Described):
    """A finished dataset: its documents and its graph."""

    kind: Literal["dataset"]
    path: str = Field(min_length=1)
    """Its folder."""
    name: str = "dataset"
    """What its rows call the source that they were made of."""
    inverses: dict[str, str] = {}
    """Relation -> the one that it is read as, as the dataset's report says."""


class RunsSource(Described):
    """Runs that somebody recorded elsewhere."""

    kind: Literal["runs"]
    path: str = Field(min_length=1)
    """JSON Lines, a JSON file with one object or a list, or a folder of such files."""
    format: str = "auto"
    """`synth list` shows the choices; ``auto`` tells it by each object's keys."""
    name: str = "runs"
    """What rows call the source."""
    all_correct: bool = False
    """Treat runs without a verdict as correct."""
    licence: str | None = None
    """SPDX id of what the observations quote, where the files do not say it."""

    @field_validator("format")
    @classmethod
    def _known(cls, name: str) -> str:
        known = choices("importers")
        if name not in known:
            raise ValueError(f"no format is called {name!r}; choose one of {', '.join(known)}")
        return name


class OwnSource(Described):
    """Nothing that is read: what your questions are about is in your environment."""

    kind: Literal["own"]
    licence: str | None = None
    """SPDX id of your questions and of what the environment shows."""


class TablesSource(TablesConfig):
    """Tables of yours: a row is a thing, a column what is known of it."""

    kind: Literal["tables"]
    draft_words: bool = False
    """As of ``triples``."""


class AppSource(Described):
    """An application on a database: tools that read and change it, and a written policy."""

    kind: Literal["app"]
    application: str = Field(default="airline", min_length=1)
    """A shipped one (``airline``, ``ledger``, ``memory``, ``tracker``), the path of a YAML file of yours, the text of
    such a file, or ``grammar:SEED``: a desk composed by a grammar, another one for each seed (ASTRA). A file may say
    ``extends: ledger`` and add tables, tools, rules and requests to that."""
    variant: str | None = None
    """Which of the application's variants: one whose rules are kept and not all written; empty = as it is written."""
    size: int = Field(default=1, ge=1, le=10_000)
    """Multiple of the data of size 1. Every few tasks are set in data of their own."""
    licence: str | None = None
    """SPDX id of the licence of what the application holds, where its file states none."""


class McpSource(Described):
    """Servers of the Model Context Protocol (extra ``mcp``)."""

    kind: Literal["mcp"]
    servers: dict[str, dict[str, Any]] = Field(min_length=1)
    """By a short name: ``command`` (program and arguments; ``{workspace}``, ``{python}`` and ``{shipped}`` stand for
    the folder of a run, this Python and the servers that come with this package) or ``url``; ``folder`` that each run
    gets a copy of; ``env`` and ``headers`` by names of variables; ``licence`` of what it answers."""
    tools: tuple[str, ...] = ()
    """The only tools that are used; empty = all."""
    licence: str | None = None
    """SPDX id of the licence of what servers answer that state none."""


class WebSource(Described):
    """A web site, in a real browser (extra ``web``)."""

    kind: Literal["web"]
    site: str = Field(default="library", min_length=1)
    """A shipped one (``library``), or a folder of pages of yours, with a ``site.yaml`` if there is more to know."""
    command: tuple[str, ...] = ()
    """Program and arguments of an application that serves the site over HTTP, started anew for each run: ``{port}``
    and ``{workspace}`` stand for its port and the copy of the folder that it begins in. Empty: the pages of the folder
    are served as they are."""
    state_path: str | None = None
    """Of a command: an address that answers with the application's state as JSON."""
    state_database: str | None = None
    """Of a command: the SQLite file in the folder that holds the application's state; in place of ``state_path``."""
    fixed_clock: bool = False
    """Of a command: hold its clock, as that of the pages is held (libfaketime: the Python package, or
    faketime of Debian). An application that shows or stores times needs it."""
    restart: bool = True
    """Of a command: False = it goes on running between rollouts, and its files are put back as they were: many times as
    fast where it starts slowly. For an application that keeps in memory nothing but what follows from its files."""
    licence: str | None = None
    """SPDX id of the licence of the pages, where ``site.yaml`` states none."""


class CodeSource(CodeConfig):
    """A Python project and its tests."""

    kind: Literal["code"]


@dataclass(frozen=True)
class SourceSpec:
    """All that a build asks of a kind of source, as the one value that the registry names."""

    keys: type[BaseModel]
    """Its keys in a recipe, ``kind`` among them."""
    stage: str | None
    """The stage that reads it, which is given those of its keys that it knows. What is made of the source follows from
    the tables that the stage writes. None: nothing is read."""
    description: str
    """One sentence for the card."""
    fictional: bool = False
    """Whether nothing in it is true of the real world."""
    lexicon: Callable[[Any], Lexicon] | None = None
    """The words of its relations, from its keys; None: those that ship are enough."""
    keys_beside: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of a recipe with such a source, where the recipe does not give them."""
    is_explored: bool = False
    """Whether it is explored, not read: then the environment of the same kind is made of it."""

    @property
    def writes(self) -> frozenset[str]:
        """Tables that its stage writes."""
        kind: type[Stage[Any]] | None = None if self.stage is None else find("stages", self.stage)
        return frozenset(() if kind is None else kind.writes)

    @property
    def arrays(self) -> str | None:
        """What its stage calls the arrays that it writes; None = it writes none."""
        kind: type[Stage[Any]] | None = None if self.stage is None else find("stages", self.stage)
        return None if kind is None else kind.arrays

    @property
    def is_recorded(self) -> bool:
        """Whether it holds runs, so that none have to be made."""
        return "recorded" in self.writes

    @property
    def is_graph(self) -> bool:
        """Whether it is a graph of facts, with a page about each entity."""
        return {"documents", "entities", "edges"} <= self.writes


WORLD = SourceSpec(
    WorldSource,
    "world_pages",
    "A fictional world, generated: entities, dated and measured facts, and one page about each entity.",
    fictional=True,
)
TRIPLES = SourceSpec(
    TriplesSource,
    "read_triples",
    "Facts that the user gave as triples, and one generated page about each entity.",
    lexicon=open_lexicon,
)
TABLES = SourceSpec(
    TablesSource,
    "read_tables",
    "Tables that the user gave, and one generated page about each thing that they name.",
    lexicon=open_lexicon,
)
DOCS = SourceSpec(DocsSource, "read_docs", "A folder of linked pages that the user gave.")
RECORDS = SourceSpec(RecordsSource, "read_records", "Documents that the user gave as records.")
HUB = SourceSpec(HubSource, "read_hub", "Rows of a dataset of the Hugging Face Hub.")
DATASET = SourceSpec(DatasetSource, "read_dataset", "A finished dataset: its documents and its graph.")
RUNS = SourceSpec(
    RunsSource,
    "read_runs",
    "Runs recorded elsewhere.",
    keys_beside={
        "questions": {"kind": "recorded"},
        "environment": {"kind": "recorded"},
        "roles": {},
        "dedup": {"tasks": None, "trajectories": None},
    },
)
APP = SourceSpec(
    AppSource,
    None,
    "An application on a generated database: tools that read and change it, and a written policy.",
    fictional=True,
    is_explored=True,
)
MCP = SourceSpec(
    McpSource,
    None,
    "Servers of the Model Context Protocol: tools that read and change what the servers keep.",
    is_explored=True,
)
WEB = SourceSpec(WebSource, None, "A web site that keeps what is done on it, in a real browser.", is_explored=True)
CODE = SourceSpec(
    CodeSource,
    "read_code",
    "A Python project with its tests, in which one small edit after the other breaks something.",
    keys_beside={"questions": {"kind": "code"}, "environment": {"kind": "code"}},
)
OWN = SourceSpec(OwnSource, None, "The user's own environment: what the questions are about is in it.")
