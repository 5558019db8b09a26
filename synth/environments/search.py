"""The search environment: find pages by words, read them page by page, look for words on a page.

Observations are whole: a long document comes in pages, and every page says which one it is and how many there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Protocol

import pyarrow as pa
from pydantic import Field

from synth.environments.answers import check_task
from synth.environments.contract import (
    Environment,
    EnvironmentKeys,
    EnvironmentSpec,
    Episode,
    Resources,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    refusal,
)
from synth.environments.identifiers import Identifiers
from synth.environments.pages import SEARCH_TOOLS
from synth.environments.pages import render as write
from synth.environments.rendering import around, link, one_line, page_borders, render
from synth.environments.shown import Hit, Hits, Match, Matches, Page
from synth.environments.simulated import SimulatedResults, Simulation, Simulator
from synth.identity import versioned
from synth.models.asking import AskConfig
from synth.models.contract import Model
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.noise import Noise, noisy
from synth.retrieval.retrievers import Vectors
from synth.retrieval.snippets import best_passage
from synth.schemas.documents import Document
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = [
    "SEARCH",
    "SIMULATED_SEARCH",
    "DocumentTable",
    "FoundDocument",
    "Search",
    "SearchEnvironment",
    "SearchEpisode",
    "SearchIndex",
    "open_search",
    "open_simulated_search",
]


_FOUND = 20
"""So many results of the index are looked through for gold pages, where a model writes the others."""
_CACHED = 128
"""Documents kept in memory. Long ones have tens of thousands of links."""


class FoundDocument(Protocol):
    @property
    def document(self) -> int:
        """Row number in the documents table."""

    @property
    def score(self) -> float: ...


class SearchIndex(Protocol):
    def search(self, query: str, k: int) -> Sequence[FoundDocument]:
        """The ``k`` best documents, best first, ties in a fixed order."""


class DocumentTable(Protocol):
    @property
    def arrow(self) -> pa.Table: ...

    def __len__(self) -> int: ...

    def row(self, number: int) -> Any:
        """Row ``number`` as a ``Document``."""


_BY_NAME = {tool.name: tool for tool in SEARCH_TOOLS}


class SearchEnvironment(Environment):
    """A fixed collection of documents behind a search index. Shared by any number of episodes and threads."""

    name: ClassVar[str] = "search"
    version: ClassVar[str] = "1"

    def __init__(
        self,
        index: SearchIndex,
        documents: DocumentTable,
        *,
        snippet: Callable[[str, str], str] | None = None,
        snippet_size: int = 240,
        page_size: int = 4000,
        default_k: int = 5,
        context: int = 160,
        max_matches: int = 20,
        noise: Noise | None = None,
        places: Mapping[str, int] | None = None,
        simulator: Simulator | None = None,
    ) -> None:
        """
        Args:
            snippet: ``snippet(text, query)`` -> text for a result; the default takes the passage with the heaviest
                words of the query, weighted by the index where it knows weights.
            snippet_size: Code points of that passage.
            page_size: Code points of a document per page.
            default_k: Results when the call does not say.
            context: Code points on each side of a match that ``find`` shows.
            max_matches: So many matches ``find`` shows; it says how many there are.
            noise: Which share of the results is replaced by pages that lead nowhere; None = none.
            places: Number of each task on the curriculum of ``noise``, from 0; None = its candidate index.
            simulator: Writes the results, useful and noisy ones, in place of the index; None = nobody does.
        """
        self.index = index
        self.documents = documents
        self.snippet = snippet or self._passage
        self.snippet_size = snippet_size
        self.page_size = page_size
        self.default_k = default_k
        self.context = context
        self.max_matches = max_matches
        self.noise = noise
        self._places = places or {}
        self.simulator = simulator
        self.ids = Identifiers(documents.arrow.column("id"))
        self._cache: dict[int, Document] = {}
        self._borders: dict[str, list[tuple[int, int]]] = {}

    def tools(self) -> tuple[ToolSchema, ...]:
        return SEARCH_TOOLS

    def instructions(self) -> str:
        return (
            "You have a collection of pages. `search` finds pages by words, `open` shows a document page by page "
            "(links are written as [text](document) and can be opened), `find` shows where a text stands in the "
            "document that is open."
        )

    def reset(self, task: Task) -> SearchEpisode:
        return SearchEpisode(self, task)

    def resume(self, task: Task, recorded: JsonObject) -> SearchEpisode:
        if self.simulator is None:
            return self.reset(task)
        return SearchEpisode(self, task, recorded.get("simulated", ()))

    def settings(self, task: Task) -> JsonObject:
        """How noisy searches are for ``task``, and who writes their results; nothing where neither is so."""
        share = self.noise_share(task)
        found: JsonObject = {"noise_share": round(share, 6)} if share else {}
        return found if self.simulator is None else {**found, "simulator": self.simulator.settings}

    def noise_share(self, task: Task) -> float:
        """The share of results that is replaced for ``task``."""
        if self.noise is None:
            return 0.0
        return self.noise.share(index=self._places.get(task.id, task.candidate_index), hops=task.difficulty.hops)

    def document(self, document_id: str) -> Document | None:
        row = self.ids.row(document_id)
        return None if row is None else self._read(row)

    def _passage(self, text: str, query: str) -> str:
        weight: Callable[[str], float] | None = getattr(self.index, "weight", None)
        passage = best_passage(text, query, max_chars=self.snippet_size, weight=weight)
        return text[passage.start : passage.end]

    def _read(self, row: int) -> Document:
        """A document, from a small cache: an agent reads the same ones again and again."""
        known = self._cache.get(row)
        if known is None:
            known = self.documents.row(row)
            if len(self._cache) >= _CACHED:
                self._cache.pop(next(iter(self._cache)), None)
            self._cache[row] = known
        return known

    def pages(self, document: Document) -> list[tuple[int, int]]:
        """Where the pages of ``document`` begin and end, in code points."""
        if len(document.text) <= self.page_size:
            return [(0, len(document.text))]
        known = self._borders.get(document.id)
        if known is None:
            if len(self._borders) >= 16 * _CACHED:
                self._borders.clear()
            known = self._borders[document.id] = page_borders(document, self.page_size)
        return known


class SearchEpisode(Episode):
    """State: the open document, its page, how many calls were made, and what was written for it."""

    def __init__(self, environment: SearchEnvironment, task: Task, recorded: Sequence[Any] = ()) -> None:
        super().__init__(task)
        self.environment = environment
        self._document: str | None = None
        self._page = 0
        self._calls = 0
        self._noise = environment.noise_share(task)
        simulator, noise = environment.simulator, environment.noise
        special = self._noise or simulator is not None
        rows = (environment.ids.row(name) for name in task.gold_documents) if special else ()
        self._gold = frozenset(row for row in rows if row is not None)
        self._written: SimulatedResults | None = None
        if simulator is not None:
            seed = noise.seed if noise is not None else 0
            self._written = SimulatedResults(
                simulator, task, share=self._noise, seed=seed, real=self._gold_found, recorded=recorded
            )

    def step(self, call: ToolCall) -> ToolResult:
        self._calls += 1
        refused = refusal(call, _BY_NAME)
        if refused is not None:
            return refused
        if call.name == "search":
            return self._search(call)
        return self._open(call) if call.name == "open" else self._find(call)

    def _search(self, call: ToolCall) -> ToolResult:
        query = " ".join(str(call.arguments["query"]).split())
        if not query:
            return call.answered("Wrong arguments for search: query: it holds no words.", "bad_arguments")
        environment = self.environment
        found = self._found(query, int(call.arguments.get("k", environment.default_k)))
        if found is None:
            return call.answered("The search broke down and gave no results.", "failure")
        hits = (Hit(item.title, item.id, self._snippet(item, query, start)) for item, start in found)
        return call.answered(write(Hits(query, tuple(hits))))

    def _snippet(self, document: Document, query: str, start: int | None) -> str:
        """A passage of ``document``: near ``start``, where vectors found it there."""
        environment = self.environment
        text = document.text if start is None else document.text[start : start + 4 * environment.snippet_size]
        return one_line(environment.snippet(text, query))

    def _found(self, query: str, k: int) -> list[tuple[Document, int | None]] | None:
        """The results, best first, each with the place that was found in it, if any; None when whoever writes them
        failed."""
        if self._written is None:
            ranked = self._ranked(query, k)
            return [(self.environment._read(int(hit.document)), getattr(hit, "start", None)) for hit in ranked]
        made = self._written.search(query)
        if made.failure is not None:
            return None
        found = [self._document_of(name) for name in made.results[:k]]
        return [(document, None) for document in found if document is not None]

    def _gold_found(self, query: str) -> list[str]:
        """Ids of the task's gold pages among the results of the index, best first."""
        hits = self.environment.index.search(query, _FOUND)
        return [self.environment._read(int(hit.document)).id for hit in hits if int(hit.document) in self._gold]

    def _document_of(self, document_id: str) -> Document | None:
        real = self.environment.document(document_id)
        if real is not None or self._written is None:
            return real
        return self._written.document(document_id)

    def _ranked(self, query: str, k: int) -> Sequence[FoundDocument]:
        search, noise = self.environment.index.search, self.environment.noise
        if noise is None or not self._noise:
            return search(query, k)
        without = self._gold
        return noisy(search, query, k, share=self._noise, seed=noise.seed, task=self.task.id, without=without)

    def _open(self, call: ToolCall) -> ToolResult:
        wanted, place = str(call.arguments["document"]), ""
        document = self._document_of(wanted)
        if document is None and "#" in wanted:
            wanted, place = wanted.split("#", 1)
            document = self._document_of(wanted)
        if document is None:
            words = f"There is no document {wanted!r}. Open one that a search result or a link shows in parentheses."
            return call.answered(words, "not_found")
        pages = self.environment.pages(document)
        # As in a browser, a place that the document does not know is no error: the document opens at its beginning.
        start = next((anchor.start for anchor in document.anchors if anchor.name == place), 0)
        page = int(call.arguments.get("page", 0)) or _page_of(pages, start)
        if page > len(pages):
            count = "1 page" if len(pages) == 1 else f"{len(pages)} pages"
            return call.answered(f"There is no page {page}: {link(document.title, wanted)} has {count}.", "not_found")
        self._document, self._page = wanted, page
        body = render(document, *pages[page - 1]).rstrip().lstrip("\n")
        return call.answered(write(Page(document.title, wanted, page, len(pages), body)))

    def _find(self, call: ToolCall) -> ToolResult:
        if self._document is None:
            return call.answered("No document is open: open one first.", "refused")
        pattern = str(call.arguments["pattern"])
        if not pattern.strip():
            return call.answered("Wrong arguments for find: pattern: it holds no text.", "bad_arguments")
        document = self._document_of(self._document)
        assert document is not None  # it was opened, and neither the collection nor what was written changes
        pages = self.environment.pages(document)
        # A run of blanks in the pattern matches any run of blanks, a line break too.
        literal = r"\s+".join(re.escape(word) for word in pattern.split())
        matches = list(re.finditer(literal, document.text, re.IGNORECASE))
        found = tuple(
            Match(_page_of(pages, match.start()), match.start(), self._around(document, match))
            for match in matches[: self.environment.max_matches]
        )
        words = " ".join(pattern.split())
        return call.answered(write(Matches(words, document.title, document.id, len(pages), len(matches), found)))

    def _around(self, document: Document, match: re.Match[str]) -> str:
        start, end = around(document, match.start(), match.end(), self.environment.context)
        return " ".join(render(document, start, end).split())

    def snapshot(self) -> Snapshot:
        plain: dict[str, Any] = {"calls": self._calls, "document": self._document, "page": self._page}
        if self._noise or self._written is not None:
            plain["noise"] = self.environment.settings(self.task)
        if self._written is not None:
            plain["simulated"] = self._written.state
        return self.environment.pack(self.task, plain)

    def restore(self, snapshot: Snapshot) -> None:
        state = self.environment.unpack(self.task, snapshot)
        if state.get("noise", {}) != self.environment.settings(self.task):
            raise ValueError(f"the snapshot was taken with noise {state.get('noise')}, this episode has another")
        self._document, self._page, self._calls = state["document"], int(state["page"]), int(state["calls"])
        if self._written is not None:
            self._written.restore(state["simulated"])

    def facts(self) -> JsonObject:
        """Every search whose results a model wrote (``synth.schemas.simulated.SimulatedSearch``)."""
        return {"simulated": self._written.state} if self._written is not None and self._written.state else {}

    def check(self, answer: str | None) -> Verdict:
        return check_task(self.task, answer)


def _page_of(pages: Sequence[tuple[int, int]], offset: int) -> int:
    return next((number for number, (_, end) in enumerate(pages, start=1) if offset < end), len(pages))


class Search(EnvironmentKeys):
    """The environment: a search engine over the documents."""

    kind: Literal["search"] = "search"
    page_size: int = Field(default=4000, ge=200)
    """Code points of a document that one page shows."""
    default_k: int = Field(default=5, ge=1, le=20)
    """Results when a call does not say how many."""
    retriever: str = "bm25"
    """Who finds pages: ``bm25`` by words, ``dense`` by vectors of passages, ``hybrid`` by both, their ranks fused
    (Cormack et al., SIGIR 2009; k = 60), or one of an installed package."""
    vectors: Vectors | None = None
    """How a retriever makes and compares vectors; empty = by the encoder that needs nothing. Only for one that does."""
    noise: Noise | None = None
    """Replaces a growing share of the results by pages that lead nowhere (ZeroSearch); empty = none."""
    simulated: Simulation | None = None
    """Results are written by the model of the role ``simulator`` while agents act, ``noise`` saying which share of them
    is noise; empty = they are pages of the collection."""


@versioned(SearchEnvironment.version)
def open_search(*, inputs: Resources, retriever: SearchIndex | None = None, **options: Any) -> SearchEnvironment:
    """The environment over the table ``documents`` of a build, searched by ``retriever`` (None = BM25 over the arrays
    ``index``); ``options`` go to :class:`SearchEnvironment` (``noise`` as plain values, as a recipe has it)."""
    if options.get("noise") is not None:
        noise = options["noise"] = Noise.model_validate(options["noise"])
        if noise.by == "index" and noise.start != noise.end:
            # Candidates are refused unevenly, so what counts is the place among the tasks that were kept. It stays
            # what it is when a dataset grows.
            tasks = inputs.table("tasks").arrow.select(["id", "candidate_index"]).sort_by("candidate_index")
            options["places"] = {name: place for place, name in enumerate(tasks["id"].to_pylist())}
    index = retriever if retriever is not None else Bm25Index(inputs.arrays("index"))
    return SearchEnvironment(index, inputs.table("documents"), **options)


SEARCH = EnvironmentSpec(
    kind="search",
    keys=Search,
    open=open_search,
    needs=("documents", "index"),
    libraries=("numpy", "bm25s"),
    prompt="agents/search",
    rl_prompt="rl/search",
    pages=True,
)


@versioned(SearchEnvironment.version)
def open_simulated_search(
    *, inputs: Resources, model: Model, simulated: JsonObject, **options: Any
) -> SearchEnvironment:
    """The environment whose results ``model`` writes (:class:`~synth.environments.simulated.Simulation` as plain values
    in ``simulated``). Options of :class:`~synth.models.asking.AskConfig` say how it is asked; the others are those of
    :func:`open_search`."""
    asking = AskConfig(**{name: options.pop(name) for name in AskConfig.model_fields if name in options})
    simulator = Simulator(model, Simulation.model_validate(simulated), asking)
    return open_search(inputs=inputs, simulator=simulator, **options)


SIMULATED_SEARCH = replace(SEARCH, open=open_simulated_search)
