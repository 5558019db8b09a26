"""Contexts of a task: who may stand in them, what the row says about them."""

from __future__ import annotations

import pytest
from context_samples import PAGES, TASK, distractor, filler, made

from synth.annotate.contexts.admit import Admission, PageWords, may_hold
from synth.annotate.contexts.assemble import Shortfall
from synth.annotate.contexts.tokens import WordTokenizer
from synth.schemas.contexts import ContextRow
from synth.schemas.documents import Document
from synth.schemas.row import Split
from synth.schemas.tasks import AnswerPart, Walk
from synth.testing.corpus import small_tasks

FILLERS = [filler(n) for n in range(60)]


def context(*arguments: object, **options: object) -> ContextRow:
    row = made(*arguments, **options)  # type: ignore[arg-type]
    assert isinstance(row, ContextRow), row
    return row


def page(text: str, title: str = "Notes", name: str = "notes") -> Document:
    return Document(id=name, title=title, text=text, kind="page", source="small")


def refusal(text: str, title: str = "Notes") -> str | None:
    return Admission(TASK).refusal("notes", PageWords(page(text, title)))


# -- what the row says ---------------------------------------------------------------------------------------------


def test_every_gold_document_is_in_it_once_and_whole() -> None:
    row = context(1500, others=FILLERS)
    content = row.prompt[0].content
    gold = [item for item in row.documents if item.kind == "gold"]
    assert sorted(item.document_id for item in gold) == sorted(TASK.gold_documents)
    for item in gold:
        assert content[item.start : item.end] == PAGES[item.document_id].text
        assert content.count(PAGES[item.document_id].text) == 1
        assert (item.tier, item.cut, item.names_answer) == (0, "none", False)
    assert [row.documents[place].kind for place in row.gold_positions] == ["gold"] * 3
    assert row.gold_depths == tuple(round(item.token_start / row.tokens, 4) for item in gold)


def test_the_row_keeps_its_budget_and_counts_truly() -> None:
    row = context(1500, others=FILLERS)
    words, content = WordTokenizer(), row.prompt[0].content
    assert row.tokens == words.count(content)
    assert 0.99 * 1500 <= row.tokens <= 1500
    assert row.tokenizer == "words-1"
    for item in row.documents:
        assert words.count(content[: item.start].rstrip()) <= item.token_start <= item.token_end <= row.tokens


def test_the_question_stands_below_the_documents_and_the_truth_beside_them() -> None:
    row = context(1500, others=FILLERS)
    content = row.prompt[0].content
    assert content.index(TASK.question) > max(item.end for item in row.documents)
    assert row.reward_model.ground_truth.answer == TASK.answer
    assert [item.entity for item in row.reward_model.ground_truth.rubric][:2] == ["korvan-works", "ilse-brandt"]
    assert (row.extra_info.id, row.extra_info.task_id) == (row.id, TASK.id)


def test_tiers_come_before_random_pages() -> None:
    tiers = [distractor("velden", 2), distractor("mosk", 1), distractor("orl", 3)]
    row = context(700, tiers, FILLERS)
    kinds = {item.document_id: (item.kind, item.tier) for item in row.documents}
    assert kinds["mosk"] == ("opened_not_cited", 1)
    assert kinds["velden"] == ("retrieved_not_opened", 2)
    assert kinds["orl"] == ("bm25", 3)
    assert {kind for kind, _ in kinds.values()} >= {"random"}


def test_the_lowest_tier_goes_first_where_room_is_short() -> None:
    tiers = [distractor(f"filler-{n}", 1 + n % 2, rank=n) for n in range(20)]
    pages = PAGES | {document.id: document for document in FILLERS}
    row = context(1200, tiers, (), pages=pages)
    inside = {item.document_id for item in row.documents if item.tier and item.cut == "none"}
    ranked = [one.document_id for one in sorted(tiers, key=lambda one: (one.tier, one.rank))]
    assert inside == set(ranked[: len(inside)])
    assert 5 < len(inside) < 20


def test_further_neighbours_come_between_the_distractors_and_random_pages() -> None:
    row = context(900, [distractor("mosk", 1)], FILLERS, near=[PAGES["velden"], PAGES["mosk"], PAGES["orl"]])
    kinds = {item.document_id: (item.kind, item.tier) for item in row.documents}
    assert kinds["velden"] == kinds["orl"] == ("bm25", 3)
    assert kinds["mosk"] == ("opened_not_cited", 1)
    assert ("random", 4) in kinds.values()


@pytest.mark.parametrize("limit", [0.25, 0.5, 1.0])
def test_neighbours_by_meaning_leave_no_more_than_the_allowed_share_to_chance(limit: float) -> None:
    row = context(2000, [distractor("mosk", 1)], FILLERS[30:], alike=FILLERS[:30], max_random=limit)
    assert row.tier_shares[4] <= limit
    assert sum(row.tier_shares) <= 1
    assert ("embedding" in {item.kind for item in row.documents}) == (limit < 1.0)
    tokens = sum(item.token_end - item.token_start for item in row.documents if item.tier == 3)
    assert row.tier_shares[3] == round(tokens / row.tokens, 4)


def test_where_neighbours_do_not_suffice_random_pages_fill_the_rest() -> None:
    row = context(2000, [], FILLERS[2:], alike=FILLERS[:2], max_random=0.0)
    assert row.tier_shares[4] > 0.5


def test_a_page_that_is_named_twice_stands_there_once() -> None:
    tiers = [distractor("mosk", 1), distractor("mosk", 2), distractor("korvan-works", 1)]
    row = context(900, tiers, [PAGES["mosk"], PAGES["ilse-brandt"], *FILLERS])
    names = [item.document_id for item in row.documents]
    assert len(names) == len(set(names))
    assert next(item.kind for item in row.documents if item.document_id == "korvan-works") == "gold"


def test_no_page_takes_a_quarter_of_the_budget_by_chance() -> None:
    long = filler(99, sentences=60)
    row = context(1500, others=[long, *FILLERS])
    assert long.id not in {item.document_id for item in row.documents}
    assert long.id in {
        item.document_id
        for item in context(1500, [distractor(long.id, 1)], FILLERS, pages=PAGES | {long.id: long}).documents
    }


def test_a_longer_context_holds_what_a_shorter_one_does() -> None:
    short, long = context(1000, others=FILLERS), context(2000, others=FILLERS)
    held = [{item.document_id for item in row.documents if item.cut == "none"} for row in (short, long)]
    assert held[0] < held[1]


def test_equal_seeds_give_equal_rows() -> None:
    assert made(1500, others=FILLERS) == made(1500, others=FILLERS)
    assert context(1500, others=FILLERS, seed=8).prompt != context(1500, others=FILLERS).prompt


def test_the_preview_lists_gold_and_counts() -> None:
    row = context(3000, others=FILLERS)
    lines = row.preview.split("\n")
    assert lines[:2] == [TASK.question, f"-> {TASK.answer}"]
    assert lines[2] == f"{row.tokens:,} tokens, {len(row.documents)} documents: 3 gold, {len(row.documents) - 3} random"
    assert sum("[gold]" in line for line in lines) == 3


# -- who may stand in it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "allowed"),
    [("train", {"train"}), ("validation", {"train", "validation"}), ("test", {"train", "validation", "test"})],
)
def test_no_context_holds_pages_of_a_split_to_come(split: Split, allowed: set[str]) -> None:
    splits: tuple[Split, ...] = ("train", "validation", "test")
    others = [filler(n, splits[n % 3]) for n in range(120)]
    partition = {document.id: document.partition for document in others}
    tiers = [distractor(document.id, 1) for document in others[:9]]
    task = TASK.model_copy(update={"split": split})
    row = context(1500, tiers, others, task=task, pages=PAGES | {document.id: document for document in others})
    assert {partition[item.document_id] for item in row.documents if item.tier} == allowed
    assert {other for other in splits if may_hold(split, other)} == allowed


@pytest.mark.parametrize(
    "text",
    [
        "In those days Arvel Torrin ran the Korvan Works.",
        "Ilse Brandt was born on January 30, 1868.",
        "ILSE BRANDT (1868-01-30) was a chemist.",
    ],
)
def test_a_page_that_does_the_work_of_a_gold_one_is_kept_out(text: str) -> None:
    assert (refusal(f"Rain fell. {text} It was late.") or "").startswith("it says what hop")


def test_the_title_speaks_in_every_sentence() -> None:
    assert refusal("She was a chemist. She was born on 30 January 1868.", "Ilse Brandt") == "it says what hop 2 says"
    assert refusal("He was a chemist. He was born on 30 January 1868.", "Ilse Brand") is None


@pytest.mark.parametrize(
    "text",
    [
        "Arvel Torrin was an engineer. The Korvan Works made pumps.",
        "Jon Maak was born on 30 January 1868.",
        "Arvel Torrent ran the Korvan Works.",
        "Nothing of it stands here.",
    ],
)
def test_a_page_that_only_looks_like_one_may_stand_there(text: str) -> None:
    assert refusal(text) is None


def test_pages_that_say_the_fact_are_in_no_context_whatever_their_tier() -> None:
    twin = page("Ilse Brandt, a chemist, was born on 30 January 1868.", "A chemist", "twin")
    near = page("Jon Maak was born on 30 January 1868, as so many were.", "A day", "near")
    row = context(
        900, [distractor("twin", 1), distractor("near", 1)], FILLERS, pages=PAGES | {"twin": twin, "near": near}
    )
    items = {item.document_id: item for item in row.documents}
    assert "twin" not in items
    assert items["near"].names_answer
    assert not any(item.names_answer for name, item in items.items() if name != "near")


def test_without_a_walk_no_page_may_name_the_answer() -> None:
    given = TASK.model_copy(update={"shape": "given", "walk": Walk(shape="given", hops=())})
    admission = Admission(given)
    assert admission.refusal("x", PageWords(page("It was on 30 January 1868."))) == "it names the answer"
    assert admission.refusal("x", PageWords(page("It was on 31 January 1868."))) is None


def test_a_list_is_named_by_all_of_its_parts() -> None:
    parts = tuple(AnswerPart(answer=name, kind="entity") for name in ("Mosk", "Velden"))
    admission = Admission(TASK.model_copy(update={"answer": "Mosk and Velden", "answer_parts": parts}))
    assert admission.names_answer(PageWords(page("From Velden to Mosk.")))
    assert not admission.names_answer(PageWords(page("From Mosk to the sea.")))


def test_all_tasks_of_the_small_collection_keep_their_answers_to_the_gold_documents() -> None:
    for task in small_tasks():
        row = made(1200, others=[*PAGES.values(), *FILLERS], task=task)
        assert isinstance(row, ContextRow)
        admission = Admission(task)
        for item in row.documents:
            if item.tier:
                document = PAGES.get(item.document_id) or filler(int(item.document_id.removeprefix("filler-")))
                assert admission.refusal(item.document_id, PageWords(document)) is None


# -- what can't be made --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gold_documents": ()}, "names no gold document"),
        ({"gold_documents": ("mosk", "nowhere")}, "there is no gold document nowhere"),
    ],
)
def test_tasks_without_their_gold_documents_have_no_context(change: dict[str, object], words: str) -> None:
    row = made(1500, others=FILLERS, task=TASK.model_copy(update=change))
    assert isinstance(row, Shortfall)
    assert words in row.what


def test_a_collection_that_is_too_small_is_said() -> None:
    row = made(5000, others=FILLERS[:4])
    assert isinstance(row, Shortfall)
    assert "of 5,000 tokens" in row.what
