"""Noisy search: the share follows the schedule, the same question gives the same results, snapshots are exact."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.loop import Rollout
from synth.agents.trajectory import history_of, to_row
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.identifiers import Identifiers
from synth.environments.observed import observe
from synth.environments.search import SearchEnvironment
from synth.environments.search_spec import Search
from synth.environments.shown import Headings
from synth.errors import InputError
from synth.retrieval.collections import Collections, Divided
from synth.retrieval.noise import Noise, noisy
from synth.schemas.documents import Anchor, Document, Link, Section
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason
from synth.testing.corpus import PROVENANCE, ListTable, WordIndex, small_documents, small_tasks
from synth.testing.environments import EnvironmentContract


def make(documents: list[Document], **options: Any) -> SearchEnvironment:
    return SearchEnvironment(WordIndex(documents), ListTable(documents), **options)


class TestSearchEnvironment(EnvironmentContract):
    def environment(self) -> SearchEnvironment:
        return make(small_documents(), page_size=120)

    def tasks(self) -> Sequence[Task]:
        return small_tasks()

    def examples(self) -> dict[str, Sequence[Any]]:
        return {
            "query": ["Arvel Torrin", "Orl", "founded"],
            "document": ["arvel-torrin", "korvan-works", "orl", "nowhere"],
            "pattern": ["Torrin", "the", "412"],
            "page": [1, 2, 3],
        }


ALL_TOOLS = ("search", "open", "find", "outline", "filter", "count")


def _library() -> list[Document]:
    """The small documents in two folders, those about people in one below the other."""
    places = {"arvel-torrin": "people/founders", "korvan-works": "works"}
    return [
        document.model_copy(
            update={"path": f"{places.get(document.id, 'people')}/{document.id}.md", "date": f"{1990 + number}-01-02"}
        )
        for number, document in enumerate(small_documents())
    ]


def _holding(text: str) -> list[int]:
    return [row for row, document in enumerate(_library()) if text.casefold() in document.text.casefold()]


def divided(**options: Any) -> Divided:
    wanted = Collections(by="folder", of={"people": ("people",), "others": ()}, **options)
    return Divided(wanted, ListTable(_library()).arrow)


class TestAllTools(EnvironmentContract):
    """Whatever holds for a search environment holds with every tool and several collections."""

    def environment(self) -> SearchEnvironment:
        return make(_library(), page_size=120, tools=ALL_TOOLS, collections=divided(), holding=_holding)

    def tasks(self) -> Sequence[Task]:
        return small_tasks()

    def examples(self) -> dict[str, Sequence[Any]]:
        return {
            "query": ["Arvel Torrin", "founded"],
            "document": ["arvel-torrin", "nowhere"],
            "pattern": ["Torrin"],
            "field": ["folder", "year", "kind"],
            "value": ["people", "works", "1990", "nowhere"],
            "words": ["founded", "zzz"],
            "page": [1, 2],
        }


def test_each_collection_is_searched_by_a_tool_of_its_own() -> None:
    environment = make(_library(), collections=divided())
    assert [tool.name for tool in environment.tools()] == ["search_people", "search_others", "open", "find"]
    assert "2 collections of pages" in environment.instructions()
    people, others, unknown = do(
        environment,
        ("search_people", {"query": "Arvel Torrin Korvan Works", "k": 20}),
        ("search_others", {"query": "Arvel Torrin Korvan Works", "k": 20}),
        ("search", {"query": "Arvel"}),
    )
    assert [hit.document for hit in observe(others.content).results] == ["korvan-works"]
    found = {hit.document for hit in observe(people.content).results}
    assert "arvel-torrin" in found
    assert "korvan-works" not in found
    assert unknown.error == "unknown_tool"
    task = small_tasks()[0]
    held = environment.settings(task)["collections"]
    assert isinstance(held, dict)
    assert set(held) == set(task.gold_documents)


def test_an_outline_says_which_page_each_heading_is_on() -> None:
    environment = make(_library(), page_size=120, tools=ALL_TOOLS)
    outline, opened = do(
        environment, ("outline", {"document": "arvel-torrin"}), ("outline", {"document": "arvel-torrin#career"})
    )
    assert outline.content == opened.content
    shown = observe(outline.content)
    assert isinstance(shown, Headings)
    document = environment.document("arvel-torrin")
    assert document is not None
    for head, section in zip(shown.found, document.sections, strict=True):
        low, high = environment.pages(document)[head.page - 1]
        assert head.text == section.heading
        assert low <= section.start <= high
    (missing,) = do(environment, ("outline", {"document": "nowhere"}))
    assert missing.error == "not_found"


def test_pages_are_listed_and_counted_by_what_they_are() -> None:
    environment = make(_library(), tools=ALL_TOOLS, holding=_holding)
    number = len(small_documents())
    listed, counted, narrowed, half, part = do(
        environment,
        ("filter", {"field": "folder", "value": "people"}),
        ("count", {"words": "Torrin"}),
        ("count", {"words": "Torrin", "field": "folder", "value": "works"}),
        ("count", {"words": "Torrin", "field": "folder"}),
        ("filter", {"field": "folder", "value": "people", "page": 9}),
    )
    hits = observe(listed.content).results
    assert "arvel-torrin" in {hit.document for hit in hits}  # its folder lies below
    assert len(hits) == number - 1
    assert counted.content == f'{len(_holding("Torrin"))} of {number} pages hold "Torrin".'
    assert narrowed.content.startswith(
        f'{int("torrin" in _library()[1].text.casefold())} of 1 pages with folder "works"'
    )
    assert (half.error, part.error) == ("bad_arguments", "bad_arguments")
    (none,) = do(make(_library()), ("count", {"words": "Torrin"}))
    assert none.error == "unknown_tool"


def test_a_collection_without_pages_is_refused_with_what_there_is() -> None:
    wanted = Collections(by="folder", of={"people": ("people",), "rivers": ("rivers",)})
    with pytest.raises(InputError, match=r"no page is in the collection rivers.*people \(\d+\)"):
        Divided(wanted, ListTable(_library()).arrow)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"tools": ["open"]}, "must name search, open"),
        ({"tools": ["search", "open", "open"]}, "each once"),
        ({"tools": ["search", "open", "grep"]}, "'filter', 'count', 'calculate' or 'query'"),
        ({"collections": {"of": {"one": []}}}, "at least two"),
        ({"collections": {"of": {"one": [], "two": []}}}, "only one collection"),
        ({"collections": {"of": {"one": ["a"], "two": ["a"]}}}, "in two collections"),
        ({"collections": {"of": {"one": ["a"], "two": []}, "spanned": 3}}, "there are 2 collections"),
        ({"collections": {"of": {"One": ["a"], "two": []}}}, "String should match"),
    ],
)
def test_wrong_keys_of_tools_and_collections_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Search.model_validate(keys)


def do(environment: SearchEnvironment, *calls: tuple[str, dict[str, Any]]) -> list[ToolResult]:
    episode = environment.reset(small_tasks()[0])
    return [
        episode.step(ToolCall(id=f"c{number}", name=name, arguments=arguments))
        for number, (name, arguments) in enumerate(calls)
    ]


def test_search_shows_rank_title_id_and_passage() -> None:
    (result,) = do(make(small_documents()), ("search", {"query": "Arvel  Torrin\n founded", "k": 2}))
    assert result.error is None
    first, *rest = result.content.split("\n")
    assert first == '2 results for "Arvel Torrin founded":'
    assert rest[0] == "1. [Arvel Torrin](arvel-torrin)"
    assert "founded the Korvan Works" in rest[1]
    assert rest[2].startswith("2. [")


def test_search_without_hits_and_blank_queries() -> None:
    none, blank = do(make(small_documents()), ("search", {"query": "zzz"}), ("search", {"query": " \n"}))
    assert none.error is None
    assert none.content == '0 results for "zzz".'
    assert blank.error == "bad_arguments"


def test_open_shows_headings_and_links_that_can_be_opened() -> None:
    (result,) = do(make(small_documents()), ("open", {"document": "arvel-torrin"}))
    assert result.content.startswith("[Arvel Torrin](arvel-torrin), page 1 of 1\n\n")
    assert "\n## Career\n" in result.content
    assert "founded the [Korvan Works](korvan-works), which" in result.content


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (("open", {"document": "nowhere"}), "not_found"),
        (("open", {"document": "orl", "page": 9}), "not_found"),
        (("open", {"document": "orl", "page": 0}), "bad_arguments"),
        (("open", {"document": ""}), "bad_arguments"),
        (("open", {"document": 3}), "bad_arguments"),
        (("open", {"id": "orl"}), "bad_arguments"),
        (("search", {"query": "x", "k": 21}), "bad_arguments"),
        (("find", {"pattern": "x"}), "refused"),
        (("lookup", {}), "unknown_tool"),
    ],
)
def test_wrong_calls(call: tuple[str, dict[str, Any]], error: str) -> None:
    (result,) = do(make(small_documents()), call)
    assert result.error == error
    assert len(result.content) > 20


def test_find_counts_and_shows_every_match_with_its_place() -> None:
    environment = make(small_documents(), page_size=120)
    results = do(environment, ("open", {"document": "arvel-torrin"}), ("find", {"pattern": "TORRIN"}))
    found = results[1].content
    text = next(document.text for document in small_documents() if document.id == "arvel-torrin")
    assert found.startswith('3 matches for "TORRIN" in [Arvel Torrin](arvel-torrin) (')
    for line in found.split("\n")[1:]:
        at = int(line.split("character ")[1].split(":")[0])
        assert text[at : at + 6] == "Torrin"
    missing = do(environment, ("open", {"document": "orl"}), ("find", {"pattern": "T.rr"}))[1]
    assert missing.error is None
    assert missing.content.startswith('No match for "T.rr"')


def test_a_failed_open_leaves_the_open_document_open() -> None:
    results = do(
        make(small_documents()),
        ("open", {"document": "orl"}),
        ("open", {"document": "nowhere"}),
        ("find", {"pattern": "river"}),
    )
    assert results[2].content.startswith("1 match")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    words = st.sampled_from(
        ["alpha.", "beta", "gamma,", "Delta", "[x](y)", "a(b)", "\n", "\n\n", "e.g.", "é", "*", "\\"]
    )
    text = " ".join(draw(st.lists(words, min_size=1, max_size=80))) or "x"
    text = text if text.strip() else "x"
    links = []
    for start in sorted(draw(st.lists(st.integers(0, max(0, len(text) - 2)), max_size=5, unique=True))):
        end = min(len(text), start + draw(st.integers(1, 12)))
        target = draw(st.sampled_from(["t", "a/b.html", "with space", "par(en)s"]))
        links.append(Link(start=start, end=end, target=target))
    sections = tuple(
        Section(heading="Delta", level=2, start=at, end=len(text))
        for at in draw(st.lists(st.integers(0, len(text)), max_size=2))
    )
    return Document(id="d", title="T", text=text, kind="page", links=tuple(links), sections=sections, source="s")


@settings(max_examples=300, deadline=None)
@given(documents(), st.integers(20, 200))
def test_pages_join_to_the_whole_text(document: Document, size: int) -> None:
    from synth.environments.rendering import page_borders

    pages = page_borders(document, size)
    assert pages[0][0] == 0
    assert pages[-1][1] == len(document.text)
    assert all(left[1] == right[0] for left, right in itertools.pairwise(pages))
    assert all(end > start for start, end in pages)


@settings(max_examples=300, deadline=None)
@given(documents())
def test_rendering_keeps_the_text_and_shows_links_that_can_be_read_back(document: Document) -> None:
    from synth.environments.rendering import find_links, link, render

    bare = document.model_copy(update={"links": (), "sections": ()})
    assert render(bare, 0, len(document.text)) == document.text
    for item in document.links:
        anchor = " ".join(document.text[item.start : item.end].split())
        if anchor:
            shown = list(find_links(link(anchor, item.target)))
            assert [(seen.anchor, seen.target) for seen in shown] == [(anchor, item.target)]


def test_a_heading_is_not_left_alone_at_the_end_of_a_page() -> None:
    text = "word " * 30 + "\nCareer\n" + "more " * 40
    at = text.index("Career\n")
    section = Section(heading="Career", level=2, start=at + 7, end=len(text))
    document = Document(id="d", title="T", text=text, kind="page", sections=(section,), source="s")
    (first, second) = do(
        make([document], page_size=162), ("open", {"document": "d"}), ("open", {"document": "d", "page": 2})
    )
    assert "Career" not in first.content
    assert "(The document goes on: page 2 of" in first.content
    assert "## Career\nmore" in second.content


def test_ids_are_found_whatever_their_order() -> None:
    names = [f"d{number}" for number in range(500)] + ["é", "z/ü.html", "Ω", "𝄞", "a b"]
    random.Random(0).shuffle(names)
    ids = Identifiers(pa.chunked_array([names[:100], names[100:101], names[101:]]))
    assert [ids.row(name) for name in names] == list(range(len(names)))
    assert [ids.row(name) for name in ("", "d500", "D1", "zz")] == [None] * 4


def reference() -> list[Document]:
    """A reference page in the way of generated documentation: terms, and indented under them what is said of each."""
    parts: list[str] = []
    anchors: list[Anchor] = []
    for number in range(12):
        at = sum(map(len, parts))
        name = f"pool.step{number}"
        anchors.append(Anchor(name=name, start=at, end=at + len(name), kind="function"))
        parts.append(
            f"{name}(size)\n    Do step {number} with the pool. See next.\n\n    New in version 3.{number}.\n\n"
        )
    text = "".join(parts)
    at = text.index("See next")
    links = (Link(start=at, end=at + 8, target="ref", fragment="pool.step9"),)
    page = Document(id="ref", title="Pool", text=text, kind="page", links=links, anchors=tuple(anchors), source="s")
    return [page]


def test_a_link_to_a_place_opens_the_page_of_that_place() -> None:
    environment = make(reference(), page_size=150)
    first, place, unknown, paged = do(
        environment,
        ("open", {"document": "ref"}),
        ("open", {"document": "ref#pool.step9"}),
        ("open", {"document": "ref#nowhere"}),
        ("open", {"document": "ref#pool.step9", "page": 1}),
    )
    assert "[See next](ref#pool.step9)" in first.content
    assert "pool.step9(size)\n    Do step 9" in place.content
    assert place.content.startswith("[Pool](ref), page ")
    assert unknown.content == first.content == paged.content


def test_find_says_how_many_matches_there_are_and_that_it_shows_fewer() -> None:
    environment = make(reference(), page_size=150, max_matches=5)
    found = do(environment, ("open", {"document": "ref"}), ("find", {"pattern": "pool"}))[1].content.split("\n")
    assert found[0].startswith('24 matches for "pool"')
    assert len(found) == 7
    assert found[-1] == "(The first 5 of 24 matches; a longer text has fewer.)"


_FILLER = [
    document.model_copy(update={"id": f"filler-{number}", "links": (), "title": f"Filler {number}"})
    for number in range(60)
    for document in small_documents()[:1]
]


def noisy_search(noise: Noise | None) -> SearchEnvironment:
    documents = [*small_documents(), *_FILLER]
    return SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=120, noise=noise)


class TestNoisySearchEnvironment(EnvironmentContract):
    """Whatever holds for a search environment holds for a noisy one."""

    def environment(self) -> SearchEnvironment:
        return noisy_search(Noise(start=0.5, end=0.5))

    def tasks(self) -> Sequence[Task]:
        return small_tasks()

    def examples(self) -> dict[str, Sequence[Any]]:
        return {"query": ["Arvel Torrin", "engineer", "founded"], "document": ["arvel-torrin", "nowhere"]}


@dataclass(frozen=True)
class _Hit:
    document: int


def _search(query: str, k: int) -> list[_Hit]:
    return [_Hit(row) for row in range(min(k, 80))]


@given(share=st.floats(0, 1), k=st.integers(1, 20), query=st.text(max_size=8), gold=st.frozensets(st.integers(0, 79)))
def test_results_are_replaced_from_behind_and_never_by_gold(
    share: float, k: int, query: str, gold: frozenset[int]
) -> None:
    def ask(count: int) -> list[int]:
        hits = noisy(_search, query, count, share=share, seed=1, task="t", without=gold)
        return [hit.document for hit in hits]

    found = ask(k)
    assert found == ask(k)
    assert found == ask(20)[:k]  # asking for more keeps what was shown
    assert len(set(found)) == len(found) == k
    for place, row in enumerate(found):
        assert row == place or (20 <= row < 60 and row not in gold)


def test_the_share_of_noise_is_the_share_that_was_asked_for() -> None:
    for share in (0.0, 0.25, 0.75, 1.0):
        replaced = [
            hit.document != place
            for number in range(400)
            for place, hit in enumerate(noisy(_search, str(number), 5, share=share, seed=3, task="t", without=()))
        ]
        spread = 3 * (share * (1 - share) / len(replaced)) ** 0.5
        assert abs(sum(replaced) / len(replaced) - share) <= spread


def test_without_pages_behind_results_stay() -> None:
    few = [_Hit(row) for row in range(7)]
    assert noisy(lambda query, k: few[:k], "q", 5, share=1.0, seed=0, task="t", without=()) == few[:5]


def test_the_schedule_is_that_of_zerosearch() -> None:
    noise = Noise(start=0.1, end=0.7, over=100, base=4)
    assert noise.share(index=0, hops=9) == pytest.approx(0.1)
    assert noise.share(index=50, hops=0) == pytest.approx(0.1 + (4**0.5 - 1) / 3 * 0.6)
    assert noise.share(index=100, hops=0) == noise.share(index=10_000, hops=0) == pytest.approx(0.7)
    even = Noise(start=0.0, end=0.8, by="hops", over=8, base=1)
    assert [even.share(index=99, hops=hops) for hops in (0, 2, 8)] == pytest.approx([0.0, 0.2, 0.8])
    shares = [noise.share(index=index, hops=0) for index in range(120)]
    assert shares == sorted(shares)
    with pytest.raises(ValidationError, match=r"noise\.end is less than noise\.start"):
        Noise(start=0.5, end=0.1)


def test_snapshots_of_another_noise_are_refused() -> None:
    task = small_tasks()[0]
    loud, quiet = noisy_search(Noise(start=0.5, end=0.5)), noisy_search(None)
    saved = loud.reset(task).snapshot()
    with pytest.raises(ValueError, match="noise"):
        quiet.reset(task).restore(saved)
    with pytest.raises(ValueError, match="noise"):
        loud.reset(task).restore(quiet.reset(task).snapshot())


def test_a_run_records_how_noisy_its_searches_were() -> None:
    task = small_tasks()[0]
    for noise, wanted in ((Noise(start=0.25, end=0.25), {"environment": {"noise_share": 0.25}}), (None, {})):
        environment = noisy_search(noise)
        episode = environment.reset(task)
        call = ToolCall(id="call_0_0", name="search", arguments={"query": "Arvel Torrin"})
        steps = (
            Step(turn=Turn(thought="Look.", calls=(call,)), results=(episode.step(call),)),
            Step(turn=Turn(answer="Mosk")),
        )
        prompt = Prompt(system="s", question=task.question, tools=environment.tools())
        done = Rollout(task, prompt, steps, StopReason.ANSWERED, episode.check("Mosk"))
        row = to_row(done, environment, role="policy", number=0, privileged=False, provenance=PROVENANCE)
        assert row.details == wanted
        assert history_of(row) == (prompt, steps)
