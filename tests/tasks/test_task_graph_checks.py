"""The graph's checks of walks with operations: each broken task fails by its own words, the sound ones pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from query_worlds import Triple, done, little_facts, measures, members, step

from synth.schemas.rejections import Reason
from synth.schemas.tasks import AnswerPart, Difficulty, Hop, Operation, Shape, Walk
from synth.tasks.checks import check_answer_not_in_question, run_checks
from synth.tasks.contract import CheckConfig, Checked, Finding, Surroundings
from synth.tasks.draft import Draft, gold_documents, gold_entities
from synth.tasks.graph_checks import check_no_shortcut, check_unique_answer

FACTS: list[Triple] = [
    ("d0", "directed", "f1"), ("d0", "directed", "f2"), ("d0", "directed", "f3"),
    ("d9", "directed", "f4"), ("d9", "directed", "f5"),
    ("s6", "star", "f2"), ("s6", "star", "f3"), ("s6", "star", "f5"), ("g7", "made", "d0"), ("g8", "made", "d9"),
    ("f1", "year", "year:1950"), ("f2", "year", "year:1960"), ("f3", "year", "year:1970"),
    ("f4", "year", "year:1940"), ("f5", "year", "year:1990"),
    ("f1", "long", "quantity:90 minutes"), ("f2", "long", "quantity:120 minutes"),
    ("f3", "long", "quantity:100 minutes"), ("f4", "long", "quantity:60 minutes"),
    ("f5", "long", "quantity:200 minutes"), ("p5", "died", "year:1965"),
]  # fmt: skip
NAMES = ["d0", "d9", "f1", "f2", "f3", "f4", "f5", "p5", "s6", "g7", "g8"]
ALL = members("d0", "directed", ["f1", "f2", "f3"])
YEARS = measures(ALL, "year", ["year:1950", "year:1960", "year:1970"])


def apart(hops: Sequence[Hop]) -> list[Hop]:
    """Each hop stated on a page of its own."""
    return [
        hop.model_copy(update={"evidence": hop.evidence.model_copy(update={"document_id": f"page-{number}"})})
        for number, hop in enumerate(hops)
    ]


def draft(shape: Shape, hops: Sequence[Hop], *operations: Operation, **changes: object) -> Draft:
    walk = Walk(shape=shape, hops=tuple(apart(hops)), operations=operations)
    result = operations[-1].result
    given: dict[str, object] = {
        "question": "?",
        "answer": result[0].name,
        "answer_kind": "entity",
        "shape": shape,
        "walk": walk,
        "gold_entities": gold_entities(walk),
        "gold_documents": gold_documents(walk),
        "difficulty": Difficulty(hops=len(hops), constraints=1, branching=1.0, documents=2),
        "split": "train",
        **changes,
    }
    return Draft(**given)  # type: ignore[arg-type]


@dataclass
class Page:
    id: str
    text: str
    title: str = "page"
    partition: str = "train"


@dataclass
class Pages:
    text: str

    def document(self, document_id: str) -> Page:
        return Page(document_id, self.text)


def judge(task: Draft, triples: Sequence[Triple] = FACTS, text: str = "") -> list[Finding]:
    around = Surroundings(facts=little_facts(triples, NAMES), pages=Pages(text))  # type: ignore[arg-type]
    return [check(task, around, CheckConfig(margin=0.05)) for check in (check_unique_answer, check_no_shortcut)]


def superlative(last: str = "100 minutes") -> Draft:
    lengths = ["quantity:90 minutes", "quantity:120 minutes", f"quantity:{last}"]
    return draft("superlative", [*ALL, *measures(ALL, "long", lengths)], done("argmax", [3, 4, 5], "f2"))


def temporal(bound: str = "range:1955/1985", *inside: str, end: str = "f2") -> Draft:
    kept = inside or ("f2", "f3")
    first = done("filter", [3, 4, 5], *kept, bound=bound)
    return draft("temporal", [*ALL, *YEARS], first, done("argmin", [3, 4, 5], end, within=0))


def comparison(second: str = "100 minutes") -> Draft:
    hops = [step(f, "long", f"quantity:{v}", cue="long") for f, v in (("f2", "120 minutes"), ("f3", second))]
    return draft("comparison", hops, done("argmax", [0, 1], "f2"))


def intersection() -> Draft:
    hops = [*members("d0", "directed", ["f2", "f3"]), *members("s6", "star", ["f2", "f3"])]
    parts = tuple(AnswerPart(answer=name, kind="entity") for name in ("F2", "F3"))
    return draft("intersection", hops, done("list", [2, 3], "f2", "f3"), answer="F2 and F3", answer_parts=parts)


def count(number: str = "3") -> Draft:
    return draft("count", ALL, done("count", [0, 1, 2], f"number:{number}"), answer=number, answer_kind="number")


def computation(kind: str = "difference", result: str = "quantity:30 minutes") -> Draft:
    hops = [
        step("f1", "long", "quantity:90 minutes", cue="long"),
        step("f2", "long", "quantity:120 minutes", cue="long"),
    ]
    return draft("computation", hops, done(kind, [0, 1], result), answer_kind="quantity")  # type: ignore[arg-type]


@pytest.mark.parametrize("task", [superlative(), temporal(), comparison(), intersection(), count(), computation()])
def test_sound_tasks_pass(task: Draft) -> None:
    assert [finding.reason for finding in judge(task)] == [None, None], judge(task)


def replaced(subject: str, relation: str, value: str | None) -> list[Triple]:
    kept = [triple for triple in FACTS if triple[:2] != (subject, relation)]
    return kept if value is None else [*kept, (subject, relation, value)]


@pytest.mark.parametrize(
    ("task", "triples", "words"),
    [
        (superlative(), [*FACTS, ("d0", "directed", "f4")], "lists 3 of 4 members"),
        (superlative(), replaced("f3", "long", None), "not every candidate"),
        (superlative(), replaced("f3", "long", "quantity:120 minutes"), "alone at the end"),
        (superlative("118 minutes"), replaced("f3", "long", "quantity:118 minutes"), "too close"),
        (superlative(), replaced("f3", "long", "quantity:101 minutes"), "other values"),
        (superlative(), replaced("f3", "long", "quantity:3 hours"), "no order"),
        (superlative(), replaced("f3", "long", "quantity:150 minutes"), "does not give the answer"),
        (temporal(), replaced("f1", "year", "year:1958"), "does not give the answer"),
        (temporal("range:1955/1985", "f1", "f2", "f3"), FACTS, "operation 0 (filter) gives"),
        (comparison("117 minutes"), replaced("f3", "long", "quantity:117 minutes"), "too close"),
        (intersection(), [*FACTS, ("s6", "star", "f1")], "does not give the answer"),
        (count(), [*FACTS, ("d0", "directed", "f4")], "it gives ['4']"),
        (count("4"), FACTS, "it gives ['3']"),
        (computation(result="quantity:31 minutes"), FACTS, "it gives ['30 minutes']"),
        (computation("sum", "quantity:210 minutes"), replaced("f2", "long", "quantity:2 hours"), "no sum of 2"),
        (superlative().model_copy(update={"answer": "F3"}), FACTS, "the answer is 'F3'"),
        (intersection().model_copy(update={"answer_parts": (AnswerPart(answer="F2", kind="entity"),)}), FACTS, "parts"),
    ],
)
def test_what_has_not_one_answer_fails(task: Draft, triples: list[Triple], words: str) -> None:
    finding = judge(task, triples)[0]
    assert finding.reason is Reason.NOT_UNIQUE
    assert words in finding.result.detail


def test_a_description_that_fits_two_sets_fails() -> None:
    hops = [step("g7", "made", "d0"), *members("d0", "directed", ["f1", "f2", "f3"], 0)]
    task = draft("count", hops, done("count", [1, 2, 3], "number:3"), answer="3", answer_kind="number")
    assert [finding.reason for finding in judge(task)] == [None, None]
    finding = judge(task, [*FACTS, ("g7", "made", "d9")])[0]
    assert finding.reason is Reason.NOT_UNIQUE
    assert "2 answers" in finding.result.detail
    # Two sets of one size: the count is the same, the question is not.
    finding = judge(task, [*FACTS, ("g7", "made", "d9"), ("d9", "directed", "f1")])[0]
    assert finding.reason is Reason.NOT_UNIQUE
    assert "2 ways" in finding.result.detail


def test_a_bound_that_is_found_must_be_clear_of_every_member() -> None:
    hops = [*ALL, *YEARS, step("p5", "died", "year:1965", cue="death")]
    bound = "range:1965/"
    task = draft("temporal", hops, done("filter", [3, 4, 5], "f3", bound=bound))
    assert [finding.reason for finding in judge(task)] == [None, None]
    triples = [*replaced("f2", "year", "year:1965")]
    moved = [
        *ALL,
        *measures(ALL, "year", ["year:1950", "year:1965", "year:1970"]),
        step("p5", "died", "year:1965", cue="death"),
    ]
    task = draft(
        "temporal", moved, done("filter", [3, 4, 5], "f2", "f3", bound=bound), done("argmin", [3, 4, 5], "f2", within=0)
    )
    finding = judge(task, triples)[0]
    assert "too close to the bound" in finding.result.detail


@pytest.mark.parametrize(
    ("task", "triples", "words"),
    [
        (superlative(), replaced("f5", "long", "quantity:70 minutes"), "first of all of its kind"),
        (
            comparison(),
            [*replaced("f3", "long", "quantity:100 minutes"), ("f2", "follows", "f3")],
            "joined to the answer by one edge",
        ),
        (temporal("range:1945/1985", "f1", "f2", "f3", end="f1"), FACTS, "keeps everything"),
        (intersection(), [triple for triple in FACTS if triple != ("s6", "star", "f5")], "without hop 0"),
        (intersection(), [triple for triple in FACTS if triple != ("d0", "directed", "f1")], "without hop 2"),
    ],
)
def test_what_says_too_much_fails(task: Draft, triples: list[Triple], words: str) -> None:
    finding = judge(task, triples)[1]
    assert finding.reason is Reason.SHORTCUT
    assert words in finding.result.detail


def test_a_bound_that_changes_nothing_fails() -> None:
    task = temporal("range:/1965", "f1", "f2", end="f1")
    finding = judge(task)[1]
    assert "chooses the same without the bound" in finding.result.detail


def test_one_page_must_not_state_both_measures() -> None:
    task = comparison()
    page = task.walk.hops[0].evidence.document_id
    hops = [
        hop.model_copy(update={"evidence": hop.evidence.model_copy(update={"document_id": page})})
        for hop in task.walk.hops
    ]
    same = task.model_copy(update={"walk": task.walk.model_copy(update={"hops": tuple(hops)})})
    assert "one page states the measures" in judge(same)[1].result.detail


def test_a_computed_value_must_not_be_stated() -> None:
    task = computation()
    hops = list(task.walk.hops)
    quote = "It runs for 90 minutes, 30 minutes less than the other."
    hops[0] = hops[0].model_copy(update={"evidence": hops[0].evidence.model_copy(update={"quote": quote})})
    told = task.model_copy(update={"answer": "30 minutes", "walk": task.walk.model_copy(update={"hops": tuple(hops)})})
    assert "stands in the evidence" in judge(told)[1].result.detail


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("D0 made three famous films.", True),
        ("D0 made 3 fs in all.", True),
        ("D0 had three children. The fs are well known.", False),
        ("D0 made 30 fs.", False),
    ],
)
def test_a_count_must_not_be_readable_off_a_page(text: str, stated: bool) -> None:
    finding = judge(count(), text=text)[1]
    assert (finding.reason is Reason.SHORTCUT) == stated
    assert ("says 3 in a sentence" in finding.result.detail) == stated


def test_a_choice_between_named_things_may_name_its_answer() -> None:
    task = comparison().model_copy(update={"question": "Which is longer, F2 or F3?"})
    finding = check_answer_not_in_question(task, Surroundings(), CheckConfig())
    assert finding.reason is None
    assert "a choice between things that the question names" in finding.result.detail
    told = task.model_copy(update={"question": "Which is longer, F2 (120 minutes) or F3?"})
    assert check_answer_not_in_question(told, Surroundings(), CheckConfig()).reason is Reason.ANSWER_IN_QUESTION
    other = superlative().model_copy(update={"question": "Of F1 and others by D0, which is longest?"})
    assert check_answer_not_in_question(other, Surroundings(), CheckConfig()).reason is Reason.ANSWER_IN_QUESTION


@dataclass
class Ranked:
    """Search that finds every page, in this order, whatever it is asked."""

    order: list[str]

    def ranked(self, queries: Sequence[str], k: int) -> list[list[str]]:
        return [self.order[:k] for _ in queries]


@pytest.mark.parametrize(("first", "passes"), [("page-f2", False), ("page-f1", True), ("page-d0", True)])
def test_the_first_member_that_is_found_must_not_be_the_answer(first: str, passes: bool) -> None:
    task = superlative()
    pages = [first, *(f"page-{name}" for name in ("f1", "f3", "f2") if f"page-{name}" != first)]
    evidence = [hop.evidence.document_id for hop in task.walk.hops]
    around = Surroundings(search=Ranked([*pages, *evidence]))
    (verdict,) = run_checks([task], around, CheckConfig(k=20), ("retrievable",))
    assert isinstance(verdict, Checked) == passes
    assert verdict.checks[-1].check == "no_direct_hit"
    assert passes or "finds 'f2' first" in verdict.checks[-1].detail


def test_without_a_graph_nothing_passes() -> None:
    for check in (check_unique_answer, check_no_shortcut):
        assert check(count(), Surroundings(), CheckConfig()).result.outcome == "abstained"
    blind = Surroundings(facts=little_facts(FACTS, NAMES))
    assert check_no_shortcut(count(), blind, CheckConfig()).result.outcome == "abstained"
