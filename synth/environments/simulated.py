"""Search results that a model writes (after ZeroSearch, arXiv 2505.04588), over a collection that stays real.

ZeroSearch lets a model write every result, useful or noisy by a curriculum, so that an agent can be trained without a
search engine. Its pages are not true, and nothing told them from pages that are. Here every written page is recorded
whole, with the calls that it came from; its id tells it from all real pages (:func:`is_simulated`), so that no label
takes it for evidence; and pages of the task's gold evidence that the real index finds can stand among the results, so
that what is useful is also true.

What a query brings is drawn from (task, query) and the model's stored reply: asked again in another run of the task it
brings the same. A search that failed is asked anew when the agent tries again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from pydantic import Field, ValidationError, create_model

from synth.environments.rendering import plain
from synth.identity import canonical_json, derive_generator, digest
from synth.models.asking import AskConfig, Asker
from synth.models.contract import Model, public_name
from synth.prompting import PromptFile, load_prompt
from synth.schemas.described import Described
from synth.schemas.documents import Document
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject, Row
from synth.schemas.simulated import PageKind, SimulatedPage, SimulatedSearch
from synth.schemas.tasks import Task

__all__ = ["SIMULATE_PROMPT", "SimulatedResults", "Simulation", "Simulator", "is_simulated"]

SIMULATE_PROMPT = ("environment/simulate_search", 1)
"""Id and version of the prompt file."""
_CHECK = 8
_SLUG = re.compile(r"[^a-z0-9]+")
_ID = re.compile(rf"(.+)-([0-9a-f]{{{_CHECK}}})([0-9a-f]{{{_CHECK}}})", re.S)


class Simulation(Described):
    """Results that the role ``simulator`` writes."""

    documents: int = Field(default=5, ge=1, le=20)
    """Results per query; a call that asks for more gets these."""
    words: int = Field(default=60, ge=10, le=2_000)
    """About how many words a written page has (ZeroSearch: 30)."""
    gold: bool = True
    """Pages of the task's evidence that the index finds for the query stand in the places of useful results, so that
    these are true; ``false`` = every result is written."""
    answer: bool = False
    """Tell the simulator the answer of the task, as ZeroSearch does: useful pages may then give it away."""


class _Written(Row):
    kind: PageKind
    title: str = Field(min_length=1, max_length=300)
    text: str = Field(min_length=1, max_length=40_000)


class _Pages(Row):
    pages: tuple[_Written, ...]


@cache
def _pages(count: int) -> type[_Pages]:
    """The answer with exactly ``count`` pages."""
    exact: Any = (tuple[_Written, ...], Field(min_length=count, max_length=count))
    made: type[_Pages] = create_model("Pages", __base__=_Pages, pages=exact)
    return made


def _simulated_id(title: str, content: str) -> str:
    slug = _SLUG.sub("-", title.casefold()).strip("-")[:60] or "page"
    name = digest("simulated page", title, content)[:_CHECK]
    return f"{slug}-{name}{_check(slug, name)}"


def _check(slug: str, name: str) -> str:
    return digest("simulated page", slug, name)[:_CHECK]


def is_simulated(document_id: str) -> bool:
    """Whether ``document_id`` is that of a page which a model wrote: it ends with a check digest of itself.

    It holds no word that says so to an agent, though one may learn that such endings belong to no page of its
    collection. Of real ids that end with 16 hex digits, one in 2**32 passes for written.
    """
    match = _ID.fullmatch(document_id)
    return match is not None and _check(match.group(1), match.group(2)) == match.group(3)


def _bare(text: str) -> str:
    """``text`` without links, however they are nested: a written page leads nowhere."""
    while (flat := plain(text)) != text:
        text = flat
    return text.strip()


class Simulator:
    """Writes results. Shared by all episodes."""

    def __init__(self, model: Model, config: Simulation, asking: AskConfig | None = None) -> None:
        self.config = config
        self._model = model
        self._asking = asking
        self._prompt: PromptFile = load_prompt(*SIMULATE_PROMPT)

    @property
    def settings(self) -> JsonObject:
        """What is recorded with every run."""
        who: JsonObject = {"model": public_name(self._model.name), "prompt": str(self._prompt.ref)}
        return {**who, **self.config.model_dump(mode="json")}

    def results(
        self, task: Task, query: str, attempt: int, *, share: float, seed: int, real: Callable[[], Sequence[str]]
    ) -> SimulatedSearch:
        """What ``query`` brings after it failed ``attempt`` times.

        Args:
            share: Share of the places that noise takes, each drawn for itself.
            seed: Of that draw.
            real: Ids of gold pages that the index finds for the query, best first.

        Raises:
            BudgetReached, EndpointDown: as every call of a model.
        """
        config = self.config
        drawn = derive_generator(seed, "simulated", task.id, query).random(config.documents)
        kinds: list[PageKind] = ["noise" if float(one) < share else "useful" for one in drawn]
        true = list(real())[: kinds.count("useful")] if config.gold else []
        useful = [place for place, kind in enumerate(kinds) if kind == "useful"]
        places: dict[int, str] = dict(zip(useful, true, strict=False))
        wanted = [kind for place, kind in enumerate(kinds) if place not in places]
        if not wanted:
            return SimulatedSearch(query=query, attempt=attempt, results=tuple(places.values()))
        request: dict[str, Any] = {"pages": wanted, "words": config.words, "question": task.question, "query": query}
        if config.answer:
            request["answer"] = task.answer
        asker = Asker(self._model, self._prompt, _pages(len(wanted)), self._asking)
        sample = digest("simulated search", task.id, query, attempt)[:32]
        asked = asker.ask(sample, request=canonical_json(request))
        failed = SimulatedSearch(
            query=query, attempt=attempt, calls=asked.calls, failure=asked.reason, detail=asked.detail[:300]
        )
        if asked.answer is None:
            return failed
        if [page.kind for page in asked.answer.pages] != wanted:
            said = ", ".join(page.kind for page in asked.answer.pages)
            return failed.model_copy(
                update={"failure": Reason.MALFORMED, "detail": f"wanted {', '.join(wanted)}; wrote {said}"}
            )
        pages = [_page(written, task.id, query, attempt, place) for place, written in enumerate(asked.answer.pages)]
        if any(page is None for page in pages):
            return failed.model_copy(update={"failure": Reason.MALFORMED, "detail": "a page is nothing but a link"})
        made = [page for page in pages if page is not None]
        rest = iter(made)
        results = tuple(places[place] if place in places else next(rest).id for place in range(len(kinds)))
        return SimulatedSearch(query=query, attempt=attempt, results=results, pages=tuple(made), calls=asked.calls)


def _page(written: _Written, *named: Any) -> SimulatedPage | None:
    title, text = " ".join(_bare(written.title).split()), _bare(written.text)
    if not title or not text:
        return None
    made = _simulated_id(title, digest(*named, text))
    return SimulatedPage(id=made, kind=written.kind, title=title, text=text)


class SimulatedResults:
    """The written results of one episode. State: what its searches brought so far, in order."""

    def __init__(
        self,
        simulator: Simulator,
        task: Task,
        *,
        share: float,
        seed: int,
        real: Callable[[str], Sequence[str]],
        recorded: Any = (),
    ) -> None:
        """
        Args:
            real: ``real(query)`` gives the ids of gold pages that the index finds for it.
            recorded: What searches of an earlier run of the task brought (``state`` then): nothing of it is asked for
                again. What is of another form is passed over.
        """
        self._simulator, self._task = simulator, task
        self._share, self._seed, self._real = share, seed, real
        self._met: list[SimulatedSearch] = []
        self._known: dict[tuple[str, int], SimulatedSearch] = {}
        for one in recorded if isinstance(recorded, list | tuple) else ():
            with suppress(ValidationError):
                search = SimulatedSearch.model_validate(one)
                self._known[search.query, search.attempt] = search

    def search(self, query: str) -> SimulatedSearch:
        """What ``query`` brings: the same again, unless it failed."""
        before = [one for one in self._met if one.query == query]
        if before and before[-1].failure is None:
            return before[-1]
        key = (query, len(before))
        if key not in self._known:
            self._known[key] = self._simulator.results(
                self._task, *key, share=self._share, seed=self._seed, real=lambda: self._real(query)
            )
        self._met.append(self._known[key])
        return self._known[key]

    def document(self, document_id: str) -> Document | None:
        """A page that was among the results of this episode."""
        if not is_simulated(document_id):
            return None
        found = (page for one in self._met for page in one.pages if page.id == document_id)
        page = next(found, None)
        if page is None:
            return None
        return Document(id=page.id, title=page.title, text=page.text, kind="page", source="simulated")

    @property
    def state(self) -> list[Any]:
        """All that ``restore`` needs, as plain values."""
        return [one.model_dump(mode="json", exclude_defaults=True) for one in self._met]

    def restore(self, state: Sequence[Any]) -> None:
        self._met = [SimulatedSearch.model_validate(one) for one in state]
        self._known |= {(one.query, one.attempt): one for one in self._met}
