"""Keys of the search environment in a recipe, and how it is opened over the tables of a build."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from synth.environments.contract import EnvironmentKeys, EnvironmentSpec, Resources
from synth.environments.own_tools import OWN_TOOL
from synth.environments.search import DEFAULT_TOOLS, SearchEnvironment, Tool
from synth.environments.simulated import Simulation, Simulator
from synth.identity import versioned
from synth.models.asking import AskConfig
from synth.models.contract import Model
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.collections import Collections, Divided
from synth.retrieval.noise import Noise
from synth.retrieval.rerank import Reranked, Reranker, Reranking
from synth.retrieval.retrievers import Retriever, Vectors
from synth.schemas.row import JsonObject

__all__ = ["SEARCH", "SIMULATED_SEARCH", "Search", "open_search", "open_simulated_search"]


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
    reranker: Reranking | None = None
    """Who looks at the retriever's first results again; empty = nobody."""
    tools: tuple[Tool | Annotated[str, StringConstraints(pattern=OWN_TOOL)], ...] = DEFAULT_TOOLS
    """Which tools agents have: ``search`` and ``open``, and as you like ``find`` (a text in the open document),
    ``outline`` (headings of a document), ``filter`` (pages by kind, folder, year or licence), ``count`` (pages that
    hold words), ``calculate`` (sums over what was read), ``query`` (SQL over the facts as tables, and over the tables
    of a page; both after SciResearcher), and functions of yours as ``module:function``."""
    collections: Collections | None = None
    """Several collections, each with a search of its own; empty = the pages are one."""
    noise: Noise | None = None
    """Replaces a growing share of the results by pages that lead nowhere (ZeroSearch); empty = none."""
    simulated: Simulation | None = None
    """Results are written by the model of the role ``simulator`` while agents act, ``noise`` saying which share of them
    is noise; empty = they are pages of the collection."""

    @model_validator(mode="after")
    def _fits(self) -> Search:
        called = [name.rpartition(":")[2] for name in self.tools]
        called += [f"search_{name}" for name in (self.collections.of if self.collections is not None else ())]
        if len(set(called)) < len(called) or not {"search", "open"} <= {*self.tools}:
            raise ValueError("environment.tools must name search, open and further tools, each once")
        if self.collections is not None and self.simulated is not None:
            raise ValueError("environment.collections has no effect where a model writes the results (simulated)")
        return self


@versioned(SearchEnvironment.version)
def open_search(
    *, inputs: Resources, retriever: Retriever | None = None, reranker: Reranker | None = None, **options: Any
) -> SearchEnvironment:
    """The environment over the table ``documents`` of a build, searched by ``retriever`` (None = BM25 over the arrays
    ``index``), whose first results a ``reranker`` puts in order; ``options`` go to :class:`SearchEnvironment`
    (``noise`` as plain values, as a recipe has it)."""
    if options.get("noise") is not None:
        noise = options["noise"] = Noise.model_validate(options["noise"])
        if noise.by == "index" and noise.start != noise.end:
            # Candidates are refused unevenly, so what counts is the place among the tasks that were kept. It stays
            # what it is when a dataset grows.
            tasks = inputs.table("tasks").arrow.select(["id", "candidate_index"]).sort_by("candidate_index")
            options["places"] = {name: place for place, name in enumerate(tasks["id"].to_pylist())}
    words = Bm25Index(inputs.arrays("index"))
    documents = inputs.table("documents")
    if options.get("collections") is not None:
        options["collections"] = Divided(Collections.model_validate(options["collections"]), documents.arrow)
    index: Retriever = words if retriever is None else retriever
    if reranker is not None:
        titles, texts = documents.arrow.column("title"), documents.arrow.column("text")
        index = Reranked(index, reranker, lambda row: (titles[row].as_py(), texts[row].as_py()))
    return SearchEnvironment(index, documents, holding=words.holding, **options)


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
