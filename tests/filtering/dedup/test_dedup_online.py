"""Tasks one by one: what is accepted depends on what was accepted before, exactly, and on nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.filtering.dedup import Asked, TaskFilter, TaskRules
from synth.filtering.dedup.spill import Postings
from synth.filtering.dedup.text import canonical_text, jaccard, shingles, text_hash
from synth.retrieval.encoder import HashedEncoder

QUESTION = "Which bridge over the river Senn was opened by the mayor of Tarnvale in the year of the great flood"


def _asked(number: int, question: str = QUESTION, answer: str = "Orla Bridge", split: str = "train") -> Asked:
    return Asked(f"t{number}", question, answer, split)


def test_a_double_is_named_with_its_score() -> None:
    accepted = TaskFilter(TaskRules())
    assert accepted.take(_asked(1)) is None
    same = accepted.take(_asked(2, QUESTION.upper() + "?"))
    assert same is not None
    assert (same.kind, same.of.id, same.score, same.conflict) == ("exact", "t1", 1.0, False)
    # Of 18 runs of three words 15 stay: 15 / 21 of them are shared.
    near = accepted.take(_asked(3, QUESTION.replace("year", "spring")))
    assert near is None
    close = accepted.take(_asked(4, QUESTION + " there"))
    assert close is not None
    assert (close.kind, close.of.id, close.score) == ("near", "t1", round(18 / 19, 4))


def test_questions_of_one_form_about_two_things_are_no_doubles() -> None:
    accepted = TaskFilter(TaskRules())
    assert accepted.take(_asked(1)) is None
    assert accepted.take(_asked(2, QUESTION + " there", answer="Venn Bridge")) is None
    strict = TaskFilter(TaskRules(same_answer=False))
    assert strict.take(_asked(1)) is None
    assert strict.take(_asked(2, QUESTION + " there", answer="Venn Bridge")) is not None


def test_a_cluster_lies_in_one_split() -> None:
    accepted = TaskFilter(TaskRules())
    assert accepted.take(_asked(1)) is None
    related = QUESTION.replace("year", "spring")
    met = accepted.take(_asked(2, related, split="test"))
    assert met is not None
    assert (met.kind, met.conflict, met.score) == ("near", True, round(15 / 21, 4))
    assert accepted.take(_asked(3, related)) is None
    assert TaskFilter(TaskRules(cluster=0.75)).take(_asked(2, related, split="test")) is None
    exact = accepted.take(_asked(4, split="test"))
    assert exact is not None
    assert exact.conflict


def test_vectors_find_the_same_words_in_another_order() -> None:
    turned = " ".join(reversed(QUESTION.split()))
    for semantic, found in ((0.9, "semantic"), (None, None)):
        accepted = TaskFilter(TaskRules(semantic=semantic), HashedEncoder())
        kinds = []
        for number, question in enumerate((QUESTION, "What is the tallest tower in Keldmark?", turned)):
            (vector,) = accepted.encode([question])
            double = accepted.take(_asked(number, question), vector)
            kinds.append(None if double is None else double.kind)
        assert kinds == [None, None, found]
    with pytest.raises(ValueError, match="need an encoder"):
        TaskFilter(TaskRules(semantic=0.9))
    with pytest.raises(ValueError, match="at most near"):
        TaskRules(cluster=0.9)


_words = st.lists(st.sampled_from("abcde"), max_size=9).map(" ".join)
_tasks = st.lists(st.tuples(_words, st.sampled_from(("x", "y")), st.sampled_from(("train", "test"))), max_size=30)


@settings(max_examples=60, deadline=None)
@given(_tasks, st.sampled_from((0.3, 0.5, 0.8, 1.0)), st.booleans())
def test_acceptance_agrees_with_comparing_every_two(
    tasks: list[tuple[str, str, str]], near: float, same_answer: bool
) -> None:
    """Brute force over all accepted ones; and what is accepted of a beginning is accepted of the whole."""
    rules = TaskRules(near=near, cluster=near * 0.7, words=2, same_answer=same_answer)
    accepted: list[Asked] = []
    judged = TaskFilter(rules)
    verdicts = []
    for number, (question, answer, split) in enumerate(tasks):
        task = Asked(str(number), question, answer, split)
        double = False
        for other in accepted:
            score = (
                round(jaccard(shingles(question, 2), shingles(other.question, 2)), 4)
                if canonical_text(question)
                else 0.0
            )
            comparable = not same_answer or other.answer == answer
            double |= text_hash(question) == text_hash(other.question)
            double |= comparable and (score >= near or (score >= near * 0.7 and split != other.split))
        if not double:
            accepted.append(task)
        verdicts.append(judged.take(task) is not None)
        assert verdicts[-1] == double
    half = TaskFilter(rules)
    beginning = [Asked(str(n), *task) for n, task in enumerate(tasks[: len(tasks) // 2])]
    assert [half.take(task) is not None for task in beginning] == verdicts[: len(beginning)]


@settings(max_examples=60, deadline=None)
@given(_tasks, st.sampled_from((0.3, 0.8)), st.booleans(), st.integers(1, 7))
def test_what_lies_on_the_disk_is_found_as_well(
    tasks: list[tuple[str, str, str]], near: float, same_answer: bool, held: int
) -> None:
    rules = TaskRules(near=near, cluster=near * 0.7, words=2, same_answer=same_answer, semantic=0.9)
    memory, disk = TaskFilter(rules, HashedEncoder()), TaskFilter(rules, HashedEncoder(), held=held)
    for number, (question, answer, split) in enumerate(tasks):
        task = Asked(str(number), question, answer, split, structure=question[:3] or None)
        (vector,) = memory.encode([question])
        assert memory.take(task, vector) == disk.take(task, vector)


def test_many_runs_of_postings_are_merged_and_found(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    held, plain = Postings(tmp_path), dict[int, list[int]]()
    for number in range(5_000):
        for key in generator.integers(0, 2_000, 3, dtype=np.uint64).tolist():
            held.add(key + 2**63, number)
            plain.setdefault(key + 2**63, []).append(number)
        if number % 190 == 189:
            held.spill()
    assert {key: held.get(key) for key in plain} == plain
    assert held.get(5) == []
    assert list(tmp_path.iterdir()) == []  # its files have no name
