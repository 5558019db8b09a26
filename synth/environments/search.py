"""The search environment: find pages by words, read them page by page, look for words on a page.

Observations are whole: a long document comes in pages, and every page says which one it is and how many there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal

from synth.environments.answers import check_task
from synth.environments.calculator import CALCULATE_TOOL, calculated
from synth.environments.catalogue import Catalogue, DocumentTable, headings, page_at
from synth.environments.contract import (
    Environment,
    Episode,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    refusal,
    results_argument,
)
from synth.environments.fact_tables import QUERY_TOOL, FactTables, queried
from synth.environments.identifiers import Identifiers
from synth.environments.own_tools import OwnTool
from synth.environments.pages import OUTLINE_TOOL, PURPOSE, SEARCH_TOOLS, search_in
from synth.environments.pages import render as write
from synth.environments.rendering import around, link, one_line, page_borders, render
from synth.environments.shown import Count, Hit, Hits, Listing, Match, Matches, Page
from synth.environments.simulated import SimulatedResults, Simulator
from synth.retrieval.collections import Divided
from synth.retrieval.noise import Noise, noisy
from synth.retrieval.retrievers import FoundDocument, Retriever
from synth.retrieval.snippets import best_passage, heavy_terms
from synth.schemas.documents import Document
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["DEFAULT_TOOLS", "SearchEnvironment", "SearchEpisode", "Tool"]

_FOUND = 20
"""So many results of the index are looked through for gold pages, where a model writes the others."""
_CACHED = 128
"""Documents kept in memory. Long ones have tens of thousands of links."""
_ANSWERED = 4_096
"""Answers of searches that are kept: whoever looks for critical steps replays the same ones again and again."""

Tool = Literal["search", "open", "find", "outline", "filter", "count", "calculate", "query"]
DEFAULT_TOOLS: tuple[Tool, ...] = ("search", "open", "find")


class SearchEnvironment(Environment):
    """A fixed collection of documents behind a search index. Shared by any number of episodes and threads."""

    name: ClassVar[str] = "search"
    version: ClassVar[str] = "27"

    def __init__(
        self,
        index: Retriever,
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
        tools: Sequence[str] = DEFAULT_TOOLS,
        collections: Divided | None = None,
        holding: Callable[[str], Collection[int]] | None = None,
        tables: FactTables | None = None,
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
            tools: Which tools there are; ``module:function`` is one of the user's.
            collections: The pages in their collections, each with a search of its own; None = they are one.
            tables: The facts of the collection, for ``query``.
            holding: Row numbers of the pages that hold all of the words of a text, for ``count``.
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
        self.collections = collections
        self.tables = tables or FactTables(())
        names = () if collections is None else tuple(collections.wanted.of)
        self._within = {f"search_{name}": collections.rows(name) for name in names if collections is not None}
        self.catalogue = Catalogue(documents.arrow, holding)
        own = [OwnTool(name) for name in tools if ":" in name]
        self.own = {tool.schema.name: tool for tool in own}
        k = results_argument(default_k)
        made = [tool.taking("k", k) if tool.name.startswith("search") else tool for tool in self._made_tools(tools)]
        self.by_name = {tool.name: tool for tool in (*made, *(tool.schema for tool in own))}
        self.ids = Identifiers(documents.arrow.column("id"))
        self._read: Callable[[int], Document] = lru_cache(_CACHED)(documents.row)  # agents read the same ones again
        self.answer: Callable[[str, str, int], str] = lru_cache(_ANSWERED)(self._answer)
        """What the search ``tool`` says to a query, with ``k`` results of the index."""
        weight: Callable[[str], float] | None = getattr(index, "weight", None)
        self._terms = lru_cache(_CACHED)(partial(heavy_terms, weight=weight))  # all results of a query ask for them
        self._borders: dict[str, list[tuple[int, int]]] = {}

    def _made_tools(self, wanted: Sequence[str]) -> Iterator[ToolSchema]:
        search, *others = SEARCH_TOOLS
        if self.collections is None:
            yield search
        else:
            by, of = self.collections.wanted.by, self.collections.wanted.of
            for name, values in of.items():
                yield search_in(name, f"{by} {', '.join(values)}" if values else "all other pages")
        catalogue = (self.catalogue.filter_tool(), self.catalogue.count_tool())
        made = (*others, OUTLINE_TOOL, *catalogue, CALCULATE_TOOL, QUERY_TOOL)
        yield from (tool for tool in made if tool.name in wanted)

    def tools(self) -> tuple[ToolSchema, ...]:
        return tuple(self.by_name.values())

    def instructions(self) -> str:
        searches = [f"`{name}`" for name in self.by_name if name not in ("open", *PURPOSE, *self.own)]
        if self.collections is None:
            what = "You have a collection of pages. `search` finds pages by words"
        else:
            what = f"You have {len(searches)} collections of pages, each with a search by words: {', '.join(searches)}"
        shows = "`open` shows a document page by page (links are written as [text](document) and can be opened)"
        told = f"{', '.join([what, shows, *(said for name, said in PURPOSE.items() if name in self.by_name)])}."
        return " ".join([told, *(f"`{name}`: {tool.schema.description}" for name, tool in self.own.items())])

    def reset(self, task: Task) -> SearchEpisode:
        return SearchEpisode(self, task)

    def resume(self, task: Task, recorded: JsonObject) -> SearchEpisode:
        told = self.simulator is not None
        return SearchEpisode(self, task, recorded.get("simulated", ())) if told else self.reset(task)

    def settings(self, task: Task) -> JsonObject:
        """How noisy searches are for ``task``, who writes their results, which collections hold its evidence; nothing
        where none of it is so."""
        held = None if self.collections is None else dict(self.collections.held(task.gold_documents))
        return self.noisiness(task) | ({} if held is None else {"collections": held})

    def noisiness(self, task: Task) -> JsonObject:
        """How noisy searches are for ``task``, and who writes their results."""
        share = self.noise_share(task)
        found: JsonObject = {"noise_share": round(share, 6)} if share else {}
        return found if self.simulator is None else {**found, "simulator": self.simulator.settings}

    def noise_share(self, task: Task) -> float:
        """The share of results that is replaced for ``task``."""
        if self.noise is None:
            return 0.0
        return self.noise.share(index=self._places.get(task.id, task.candidate_index), hops=task.difficulty.hops)

    def ranked(self, tool: str, query: str, k: int) -> Sequence[FoundDocument]:
        """The ``k`` best documents by the search ``tool``."""
        within = self._within.get(tool)
        if within is None:
            return self.index.search(query, k)
        wanted = 4 * k
        while True:
            hits = self.index.search(query, wanted)
            inside = [hit for hit in hits if within[int(hit.document)]]
            if len(inside) >= k or len(hits) < wanted:
                return inside[:k]
            wanted *= 4

    def _answer(self, tool: str, query: str, k: int) -> str:
        return self.results(query, self.found(self.ranked(tool, query, k)))

    def found(self, ranked: Sequence[FoundDocument]) -> list[tuple[Document, int | None]]:
        """The documents, each with the matching place in it, if any."""
        return [(self._read(int(hit.document)), getattr(hit, "start", None)) for hit in ranked]

    def results(self, query: str, found: Sequence[tuple[Document, int | None]]) -> str:
        """The observation that shows what was found."""
        return write(Hits(query, tuple(Hit(item.title, item.id, self._excerpt(item, query, at)) for item, at in found)))

    def _excerpt(self, document: Document, query: str, start: int | None) -> str:
        """A passage of ``document``: near ``start``, where vectors found it there."""
        text = document.text if start is None else document.text[start : start + 4 * self.snippet_size]
        return one_line(self.snippet(text, query))

    def document(self, document_id: str) -> Document | None:
        row = self.ids.row(document_id)
        return None if row is None else self._read(row)

    def _passage(self, text: str, query: str) -> str:
        passage = best_passage(text, self._terms(query), max_chars=self.snippet_size)
        return text[passage.start : passage.end]

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
        refused = refusal(call, self.environment.by_name)
        if refused is not None:
            return refused
        own = self.environment.own.get(call.name)
        if own is not None:
            return own.call(call, self.environment)
        does = {"open": self._open, "find": self._find, "outline": self._outline}
        does |= {"filter": self._filter, "count": self._count, "calculate": calculated, "query": self._query}
        return does.get(call.name, self._search)(call)

    def _search(self, call: ToolCall) -> ToolResult:
        query = " ".join(str(call.arguments["query"]).split())
        if not query:
            return call.answered(f"Wrong arguments for {call.name}: query: it holds no words.", "bad_arguments")
        k = int(call.arguments.get("k", self.environment.default_k))
        if self._written is None and not self._noise:
            return call.answered(self.environment.answer(call.name, query, k))
        found = self._found(call.name, query, k)
        if found is None:
            return call.answered("The search broke down and gave no results.", "failure")
        return call.answered(self.environment.results(query, found))

    def _found(self, tool: str, query: str, k: int) -> list[tuple[Document, int | None]] | None:
        """The results, best first, each with the matching place in it, if any; None if the simulator failed."""
        if self._written is None:
            return self.environment.found(self._ranked(tool, query, k))
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

    def _ranked(self, tool: str, query: str, k: int) -> Sequence[FoundDocument]:
        """Some of the results replaced by noise."""
        search, noise = partial(self.environment.ranked, tool), self.environment.noise
        assert noise is not None
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
        # As in a browser, a place that the document does not know is not an error: the document opens at its beginning.
        start = next((anchor.start for anchor in document.anchors if anchor.name == place), 0)
        page = int(call.arguments.get("page", 0)) or page_at(pages, start)
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
            Match(page_at(pages, match.start()), match.start(), self._around(document, match))
            for match in matches[: self.environment.max_matches]
        )
        words = " ".join(pattern.split())
        return call.answered(write(Matches(words, document.title, document.id, len(pages), len(matches), found)))

    def _named(self, call: ToolCall) -> Document | None:
        return self._document_of(str(call.arguments["document"]).split("#", 1)[0])

    def _outline(self, call: ToolCall) -> ToolResult:
        document = self._named(call)
        if document is None:
            return _unknown(call)
        pages = self.environment.pages(document)
        return call.answered(write(headings(document, partial(page_at, pages), len(pages))))

    def _filter(self, call: ToolCall) -> ToolResult:
        field, value = str(call.arguments["field"]), one_line(str(call.arguments["value"]))
        return _said(call, self.environment.catalogue.listing(field, value, int(call.arguments.get("page", 1))))

    def _count(self, call: ToolCall) -> ToolResult:
        words, field, value = (one_line(str(call.arguments.get(name, ""))) for name in ("words", "field", "value"))
        return _said(call, self.environment.catalogue.count(words, field, value))

    def _query(self, call: ToolCall) -> ToolResult:
        document = None
        if "document" in call.arguments and (document := self._named(call)) is None:
            return _unknown(call)
        return queried(call, self.environment.tables, document)

    def _around(self, document: Document, match: re.Match[str]) -> str:
        start, end = around(document, match.start(), match.end(), self.environment.context)
        return " ".join(render(document, start, end).split())

    def snapshot(self) -> Snapshot:
        plain: dict[str, Any] = {"calls": self._calls, "document": self._document, "page": self._page}
        if self._noise or self._written is not None:
            plain["noise"] = self.environment.noisiness(self.task)
        if self._written is not None:
            plain["simulated"] = self._written.state
        return self.environment.pack(self.task, plain)

    def restore(self, snapshot: Snapshot) -> None:
        state = self.environment.unpack(self.task, snapshot)
        if state.get("noise", {}) != self.environment.noisiness(self.task):
            raise ValueError(f"the snapshot was taken with noise {state.get('noise')}, this episode has another")
        self._document, self._page, self._calls = state["document"], int(state["page"]), int(state["calls"])
        if self._written is not None:
            self._written.restore(state["simulated"])

    def facts(self) -> JsonObject:
        """Every search whose results a model wrote (``synth.schemas.simulated.SimulatedSearch``)."""
        return {"simulated": self._written.state} if self._written is not None and self._written.state else {}

    def check(self, answer: str | None) -> Verdict:
        return check_task(self.task, answer)


def _unknown(call: ToolCall) -> ToolResult:
    words = f"There is no document {call.arguments['document']!r}. Take one that a result or a link shows."
    return call.answered(words, "not_found")


def _said(call: ToolCall, shown: Listing | Count | str) -> ToolResult:
    return call.answered(shown, "bad_arguments") if isinstance(shown, str) else call.answered(write(shown))
