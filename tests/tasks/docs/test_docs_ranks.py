"""Candidates by rank: the good ones first, sentences with a gap when nothing else is left, each once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from test_docs_proposer import World, build

import synth
from synth.dataset.stats import stats
from synth.errors import BuildError
from synth.identity import derive_generator
from synth.schemas.documents import Evidence
from synth.schemas.tasks import Hop, Node, QuestionRank, Walk
from synth.tasks.docs.families import Item
from synth.tasks.docs.proposer import DocsProposer, Proposed
from synth.tasks.docs.ranks import RANKS, order, rank_of, rank_of_walk

PAGES = {
    "kiln.html": "<h1>Kiln</h1><p>A sagger is a box of clay that shields the glaze of a pot from the flames.</p>"
    "<p>To fire the pots of a whole week over night, run:</p><pre>kiln fire --slow</pre>"
    "<p>Marks of all potters are kept in /etc/kiln/marks.</p>"
    "<p>It takes marks and marks, marks and marks, to fill a book.</p>"
    "<p>Saggers of the old workshop were bought from the Weaver Brothers in the year of the flood.</p>",
    "wheel.html": "<h1>Wheel</h1><p>Potters sit at it.</p>"
    "<p>The brass pedal stops the wheel of the potter without a touch of the hand.</p>"
    "<p>Only the eldest of the potters may sign for oil at the office in barn_12 of the harbour.</p>"
    "<h2>Cleaning the apron</h2><p>Wet hands are needed for this.</p>",
    **{
        f"{name}.html": f"<h1>{name.title()}</h1><p>Words about {name}.</p>" for name in ("sand", "ash", "slip", "oven")
    },
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    body = {name: f"<html><body>{text}</body></html>" for name, text in PAGES.items()}
    return build(tmp_path_factory.mktemp("ranks"), body)


def asked(proposer: DocsProposer) -> list[Proposed]:
    made = [proposer.propose(n, None, derive_generator(3, "docs", n)) for n in range(len(proposer.order))]
    return [one for one in made if isinstance(one, Proposed)]


def test_the_best_rank_comes_first_and_every_task_says_its_own(world: World) -> None:
    made = asked(world.proposer())
    ranks = [QuestionRank.of(one.draft.details).rank for one in made]
    assert ranks == sorted(ranks, key=RANKS.index)  # type: ignore[arg-type]
    assert set(ranks) == set(RANKS)
    found = {one.draft.question: (rank, one.draft.answer) for rank, one in zip(ranks, made, strict=True)}
    assert found["Where are marks of all potters kept?"] == ("good", "/etc/kiln/marks")
    command = found["Which command do you run to fire the pots of a whole week over night?"]
    assert command == ("good", "kiln fire --slow")
    assert found["Which page shows how to clean the apron?"] == ("fair", "Wheel")
    pedal = "According to “Wheel”, what stops the wheel of the potter without a touch of the hand?"
    assert found[pedal] == ("fair", "brass pedal")
    assert {answer for rank, answer in found.values() if rank == "gap"} == {
        "Weaver Brothers",
        "barn_12",
        "/etc/kiln/marks",  # one of the two is dropped when it comes to rows
    }


@pytest.mark.parametrize("ranks", [("good",), ("gap",), ("gap", "good")])
def test_only_the_ranks_that_are_wanted_are_asked_in_their_order(world: World, ranks: tuple[Any, ...]) -> None:
    proposer = world.proposer(ranks=ranks)
    assert list(dict.fromkeys(one.rank for one in proposer.order)) == list(ranks)
    assert proposer.ranked() == {rank: count for rank, count in world.proposer().ranked().items() if rank in ranks}
    assert {QuestionRank.of(one.draft.details).rank for one in asked(proposer)} == set(ranks)


def test_a_sentence_is_asked_about_once(world: World) -> None:
    """Whether by what it speaks of, with its page, or with a gap: the better rank has the lower number."""
    made = asked(world.proposer())
    of_marks = [one for one in made if "arks of all potters" in one.draft.walk.hops[0].evidence.quote]
    assert [QuestionRank.of(one.draft.details).rank for one in of_marks][:1] == ["good"]
    assert len(of_marks) > 1
    assert len({one.duplicate_key for one in of_marks}) == 1
    assert len({one.duplicate_key for one in made}) > len(made) // 2


def test_another_seed_is_another_order_of_the_same_candidates() -> None:
    items = {"train": {"identify": [Item("identify", (n,), str(n), "option") for n in range(40)]}}
    first, again, other = (order(items, {}, ["good"], derive_generator(seed, "o")) for seed in (1, 1, 2))  # type: ignore[arg-type]
    assert first == again != other
    assert Counter(first) == Counter(other)
    assert len(first) == 40


def test_no_template_and_no_answer_crowds_out_others() -> None:
    """Of 400 candidates for one answer and 20 for as many others, the first ones hold both."""
    many = [Item("described", (n,), "yes", "default") for n in range(400)]
    few = [Item("described", (n,), str(n), "type") for n in range(20)]
    firsts = Counter[str]()
    for seed in range(40):
        found = order({"train": {"described": [*many, *few]}}, {}, ["good"], derive_generator(seed, "o"))
        firsts.update(one.item.label for one in found[:10] if one.item)
    assert firsts["type"] > firsts["default"] > 0


@pytest.mark.parametrize(
    ("relation", "by_value", "rank"),
    [("since", True, "good"), ("default", True, "fair"), ("size", True, "fair"), ("size", False, "good")],
)
def test_what_is_sought_by_a_number_in_a_column_goes_down(relation: str, by_value: bool, rank: str) -> None:
    """ "Which option defaults to 5?" is asked, "Which option has size 5?" hardly, "What is the size ...?" again is."""
    thing = Node(id="trees.html#ash", name="--ash", kind="option", document_id="trees.html")
    value = Node(id="5", name="5", kind="number")
    source, target = (value, thing) if by_value else (thing, value)
    said = Evidence(document_id="trees.html", start=0, end=9, quote="--ash | 5")
    hop = Hop(source=source, target=target, relation=relation, forward=not by_value, evidence=said, cue="5")
    assert rank_of_walk(Walk(shape="composition", hops=(hop,))) == rank


def test_families_have_a_rank() -> None:
    assert [rank_of(name) for name in ("identify", "asked", "told", "section", "cloze")] == [
        "good", "good", "fair", "fair", "gap",
    ]  # fmt: skip


def test_a_build_fills_up_from_the_lower_ranks_and_says_how_many(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(f"<html><body>{text}</body></html>")
    given: dict[str, Any] = {"source": pages, "store": tmp_path / "store"}
    lean = {
        "stages": ["source", "graph", "index", "tasks"],
        "source.fractions": {"train": 1.0},
        "questions.ranks": ["good", "fair", "gap"],
    }
    made = synth.build("docs-search", tasks=6, out=tmp_path / "out", settings=lean, **given)
    ranks = Counter(task.details["rank"] for task in synth.load(made.path).rows("tasks"))
    assert ranks.total() == 6
    assert set(ranks) == set(RANKS)
    assert stats(made.path).ranks == dict(sorted(ranks.items(), key=lambda item: (-item[1], item[0])))
    good = {**lean, "questions.ranks": ["good"]}
    with pytest.raises(BuildError, match=r"add fair and gap to questions\.ranks"):
        synth.build("docs-search", tasks=6, out=tmp_path / "good", settings=good, **given)


def test_few_questions_of_a_build_are_alike(tmp_path: Path) -> None:
    """Forty settings have a default, and twelve a description: of 64 candidates three ask for a default."""
    pages = tmp_path / "pages"
    pages.mkdir()
    jobs = (
        "Limits how often the lids are washed in a year.",
        "Names the potter who may open the doors at night.",
        "Lists the colours in which plates are painted.",
        "Disables the bell of the harbour during storms.",
        "Selects the clay that jugs for oil are made of.",
        "Writes the marks of all guests into the book.",
        "Copies letters of the mayor to the library.",
        "Removes ash from the yard before the fair begins.",
        "Shows the road from the mill down to the river.",
        "Rejects orders of merchants without a seal.",
    )
    described = "".join(f"<h3>kiln_x{n}</h3><p>{job}</p>" for n, job in enumerate(jobs))
    plain = "".join(f"<h3>kiln_heat_{n}</h3><p>Default: {n * 7 + 1}</p>" for n in range(40))
    body = f"<html><body><h1>Kiln manual</h1><h2>Settings</h2>{described}{plain}</body></html>"
    (pages / "kiln.html").write_text(body)
    lean = {"stages": ["source", "graph", "index", "tasks"], "source.fractions": {"train": 1.0}}
    made = synth.build(
        "docs-search", source=pages, tasks=10, out=tmp_path / "out", store=tmp_path / "store", settings=lean
    )
    tasks = synth.load(made.path).rows("tasks")
    asked_for = [task.walk.hops[-1].relation for task in tasks]
    assert 0 < asked_for.count("default") <= 6
    assert all(" in “" not in task.question for task in tasks)  # one page has them all
    with pytest.raises(BuildError, match=r"near_duplicate.*add gap \(sentences with a gap\) to questions\.ranks"):
        synth.build(
            "docs-search", source=pages, tasks=40, out=tmp_path / "many", store=tmp_path / "store", settings=lean
        )
