"""Plans that make no sense are refused; fingerprints change with everything that can change a result."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from engine_toys import (
    Answer,
    Answers,
    AnswersConfig,
    Index,
    IndexConfig,
    Page,
    Pages,
    PagesConfig,
    Question,
    Questions,
    QuestionsConfig,
    Summary,
    SummaryConfig,
    plan,
)

from synth.engine import Plan, StageNode
from synth.engine.fingerprint import carries_dataset, fingerprints, hashed_config
from synth.schemas.row import Row
from synth.stages.contract import Batch, Outcome, RowStage, StageConfig, TableStage


def made(*nodes: StageNode, wanted: int | None = 5) -> Plan:
    return Plan("toy", 1, "toys", nodes, wanted)


PAGES = StageNode("pages", Pages, PagesConfig())
INDEX = StageNode("index", Index, IndexConfig(), {"pages": "pages"})
QUESTIONS = StageNode("questions", Questions, QuestionsConfig(), {"index": "index"})


class ReadsSecrets(TableStage[StageConfig]):
    name = "reads_secrets"
    version = 1
    reads = ("secrets",)
    writes = {"pages": Page}

    def run(self) -> Batch:
        raise AssertionError


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ((PAGES, PAGES), "two stage runs have the label 'pages'"),
        ((INDEX, PAGES), "it reads pages from 'pages', which does not run before it"),
        ((PAGES, StageNode("index", Index, IndexConfig())), "nothing is given for pages"),
        ((StageNode("pages", Pages, PagesConfig(), {"more": "x"}),), "does not read more"),
        ((PAGES, StageNode("index", Index, IndexConfig(), {"pages": "pages:rows"})), "writes no table 'rows'"),
        (
            (PAGES, INDEX, QUESTIONS, StageNode("x", ReadsSecrets, StageConfig(), {"secrets": "questions"})),
            "it reads secrets of 'questions', which is sealed",
        ),
    ],
)
def test_plans_that_make_no_sense(nodes: tuple[StageNode, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        made(*nodes)


def value(changed: Plan, label: str) -> str:
    return fingerprints(changed)[label].value


def test_everything_that_can_change_a_result_changes_the_fingerprint() -> None:
    class NewVersion(Answers):
        version = 2

    class OtherLibraries(Answers):
        libraries = ("pyarrow",)

    base = plan(20)
    for other in (
        plan(20, seed=8),
        plan(20, dataset="other"),
        plan(20, answers=AnswersConfig(temper=2)),
        plan(20, pages=PagesConfig(pages=61)),
        plan(20, index=IndexConfig(scale=2)),
        plan(20, questions=QuestionsConfig(rejects=4)),
        plan(20, answers_stage=NewVersion),
        plan(20, answers_stage=OtherLibraries),
        Plan("toy", 7, "other source", base.nodes, 20),
    ):
        assert value(other, "answers") != value(base, "answers")


def test_what_cannot_change_a_result_does_not() -> None:
    base = plan(20)
    for label in ("pages", "index", "questions", "answers"):
        assert value(plan(30), label) == value(base, label)
    # A stage that reads a growing table whole depends on how much there is of it.
    assert value(plan(30), "summary") != value(base, "summary")
    for label in ("pages", "index"):
        assert value(plan(20, dataset="other"), label) == value(base, label)
    renamed = made(StageNode("a", Pages, PagesConfig()), StageNode("b", Index, IndexConfig(), {"pages": "a"}))
    assert value(renamed, "b") == value(made(PAGES, INDEX), "index")


def test_provenance_of_a_stage_run() -> None:
    found = fingerprints(plan(20))
    provenance = found["answers"].provenance(plan(20))
    assert (provenance.dataset, provenance.stage, provenance.seed, provenance.source) == ("toy", "answers", 7, "toys")
    assert provenance.fingerprint == found["answers"].value
    assert provenance.source_sha256 == found["pages"].value
    assert found["pages"].provenance(plan(20)).dataset == "shared"
    assert carries_dataset(Questions)
    assert not carries_dataset(Pages)


class Inner(StageConfig):
    unhashed: ClassVar[dict[str, str]] = {"key": "names a secret"}

    key: str = "a"
    size: int = 1


class Outer(StageConfig):
    inner: Inner = Inner()
    many: tuple[Inner, ...] = ()
    named: dict[str, Inner] = {}
    names: frozenset[str] = frozenset({"b", "a", "c"})


def test_configs_inside_configs_leave_out_what_they_declare() -> None:
    config = Outer(many=(Inner(),), named={"x": Inner()})
    assert hashed_config(config) == {
        "inner": {"size": 1},
        "many": [{"size": 1}],
        "named": {"x": {"size": 1}},
        "names": ["a", "b", "c"],
    }

    class Wrong(StageConfig):
        unhashed: ClassVar[dict[str, str]] = {"keey": "a typo"}

    with pytest.raises(ValueError, match="unhashed names keey"):
        hashed_config(Wrong())


def test_provenance_is_found_however_deep() -> None:
    class Wrapped(Row):
        inside: tuple[Question | None, ...] = ()

    class Deep(TableStage[Any]):
        name = "deep"
        version = 1
        writes = {"wrapped": Wrapped}

        def run(self) -> Batch:
            raise AssertionError

    assert carries_dataset(Deep)
    assert not carries_dataset(Summary)
    assert SummaryConfig().top == 3


class Paired(RowStage[StageConfig, Answer]):
    """Works over answers and looks up the question of each."""

    name = "paired"
    version = 1
    config_type = StageConfig
    reads = ("answers", "questions")
    writes: ClassVar[dict[str, type[Row]]] = {"pairs": Answer}
    over = "answers"
    looks_up = frozenset({"questions"})

    def process(self, row: Answer) -> Outcome:
        raise AssertionError


class Whole(Paired):
    name = "whole"
    looks_up = frozenset()


@pytest.mark.parametrize(("stage", "equal"), [(Paired, True), (Whole, False)])
def test_a_row_stage_that_looks_up_its_own_rows_does_not_depend_on_n(stage: type[Paired], equal: bool) -> None:
    answers = StageNode("answers", Answers, AnswersConfig(), {"questions": "questions", "pages": "pages"})
    node = StageNode("pairs", stage, StageConfig(), {"answers": "answers", "questions": "questions"})
    few, many = (fingerprints(made(PAGES, INDEX, QUESTIONS, answers, node, wanted=n)) for n in (5, 9))
    assert (few["pairs"].value == many["pairs"].value) is equal


def test_what_is_looked_up_must_be_read() -> None:
    class Wrong(Paired):
        name = "wrong"
        looks_up = frozenset({"pages"})

    answers = StageNode("answers", Answers, AnswersConfig(), {"questions": "questions", "pages": "pages"})
    node = StageNode("pairs", Wrong, StageConfig(), {"answers": "answers", "questions": "questions"})
    with pytest.raises(ValueError, match="looks up what it does not read"):
        made(PAGES, INDEX, QUESTIONS, answers, node)
