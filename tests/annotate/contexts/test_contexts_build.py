"""A whole small build: contexts and rl rows that hold."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.annotate.contexts.admit import Admission, PageWords, may_hold
from synth.annotate.contexts.tokens import WordTokenizer
from synth.annotate.rewards import ground_truth, group_rewards
from synth.api import BuildRequest, prepare
from synth.dataset.reader import Dataset
from synth.dataset.rules.validate import validate
from synth.engine import Engine
from synth.engine.plan import StageNode
from synth.errors import InputError
from synth.identity import derive_generator
from synth.schemas.contexts import ContextRow
from synth.stages.contexts import Contexts, ContextsConfig
from synth.stages.contract import Context

SETTINGS: dict[str, Any] = {
    "source.entities": 300,
    "critical": None,
    "preferences": None,
    "contexts.budgets": [1000, 4000, 300_000],
    "contexts.tasks": 6,
}
OPTIONS: dict[str, Any] = {"tasks": 8, "settings": SETTINGS}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, store: Path) -> Dataset:
    result = synth.build("world-search", out=tmp_path_factory.mktemp("built") / "out", store=store, **OPTIONS)
    return synth.load(result.path)


def test_the_dataset_proves_itself(built: Dataset) -> None:
    assert validate(built.path) == []


def test_the_first_tasks_have_a_context_of_every_budget_that_can_be_filled(built: Dataset) -> None:
    first = [task.id for task in sorted(built.rows("tasks"), key=lambda task: task.candidate_index)][:6]
    contexts = list(built.rows("contexts"))
    assert sorted((row.task_id, row.budget) for row in contexts) == sorted(
        (name, budget) for name in first for budget in (1000, 4000)
    )
    dropped = [row for row in built.rows("rejected") if row.stage == "contexts"]
    assert sorted(row.row_id for row in dropped) == sorted(first)
    assert all(row.detail.startswith("300,000 tokens: the documents that may stand in it fill") for row in dropped)
    stages = {stage.label: stage for stage in built.report.stages}
    assert (stages["contexts-4000"].rows_in, stages["contexts-4000"].kept) == (6, 6)
    assert stages["contexts-300000"].rejected == {"no_context": 6}


def test_budgets_gold_positions_and_splits(built: Dataset) -> None:
    tasks = {task.id: task for task in built.rows("tasks")}
    documents = {document.id: document for document in built.rows("documents")}
    words = WordTokenizer()
    for row in built.rows("contexts"):
        task, content = tasks[row.task_id], row.prompt[0].content
        assert 0.99 * row.budget <= words.count(content) <= row.budget
        gold = [row.documents[place] for place in row.gold_positions]
        assert sorted(item.document_id for item in gold) == sorted(task.gold_documents)
        admission = Admission(task)
        for item in row.documents:
            document = documents[item.document_id]
            assert document.text.startswith(content[item.start : item.end])
            if item.kind == "gold":
                assert content[item.start : item.end] == document.text
                assert content.count(document.text) == 1
            else:
                assert may_hold(task.split, document.partition)
                assert admission.refusal(document.id, PageWords(document)) is None
        for hop in task.walk.hops:
            assert hop.evidence.quote in content


def test_tiers_are_those_of_the_table_of_distractors(built: Dataset) -> None:
    known = {(row.task_id, row.document_id): (row.kind, row.tier) for row in built.rows("distractors")}
    seen = set()
    for row in built.rows("contexts"):
        for item in row.documents:
            if item.tier in (1, 2):
                assert known[row.task_id, item.document_id] == (item.kind, item.tier)
                seen.add(item.tier)
            elif item.kind == "embedding":
                assert known[row.task_id, item.document_id] == (item.kind, item.tier)
    assert seen == {1, 2}


def test_every_task_has_an_rl_row_that_rewards_its_own_answer(built: Dataset) -> None:
    tasks = {task.id: task for task in built.rows("tasks")}
    rows = list(built.rows("rl"))
    assert sorted(row.task_id for row in rows) == sorted(tasks)
    for row in rows:
        task, truth = tasks[row.task_id], row.reward_model.ground_truth
        assert truth == ground_truth(task)
        assert {item.entity for item in truth.rubric} >= {
            name for name in task.gold_entities if any(hop.target.id == name for hop in task.walk.hops)
        }
        answer = "; ".join(part.answer for part in task.answer_parts) or task.answer
        way = ". ".join(item.names[0] for item in truth.rubric)
        right, bare, wrong = group_rewards(
            [f"{way}\nAnswer: {answer}", f"Answer: {answer}", f"{way}\nAnswer: no"], truth
        )
        assert (right.value, right.rubric, wrong.value) == (1.0, 1.0, 0.0)
        assert bare.value is not None
        assert 0.7 <= bare.value <= 1.0
        assert [tool["function"]["name"] for tool in row.tools] == ["search", "open", "find"]
        assert "Answer:" in row.prompt[0].content


class Inputs:
    """The finished tables of the build, for a stage run by hand."""

    def __init__(self, engine: Engine, node: StageNode) -> None:
        self._engine, self._node = engine, node

    def table(self, name: str) -> Any:
        return self._engine.table(*self._node.source_of(name))

    def arrays(self, name: str) -> Any:
        return self._engine.arrays(self._node.source_of(name)[0])


def test_contexts_do_not_depend_on_what_was_made_before_them(built: Dataset, store: Path) -> None:
    engine = prepare(BuildRequest(dataset="world-search", store=store, **OPTIONS), progress="quiet").engine
    for label in (node.label for node in engine.plan.nodes if node.stage is not Contexts):
        engine.run_stage(label)  # all of it stands in the store
    node = engine.plan.node("contexts-1000")
    rows = list(built.rows("contexts"))
    by_id = {row.id: row for row in rows if row.budget == 1000}
    generator = partial(derive_generator, engine.plan.seed, "contexts")
    assert isinstance(node.config, ContextsConfig)
    config = node.config.model_copy(update={"tasks": 3})
    for wanted in (config, node.config):  # a fresh stage each, with fewer tasks and with all
        context = Context(
            seed=engine.plan.seed, inputs=Inputs(engine, node), provenance=rows[0].provenance, generator=generator
        )
        stage = Contexts(wanted, context)
        tasks = list(context.inputs.table("tasks").rows(0, Contexts.first_rows(wanted)))
        made = [row for task in reversed(tasks) for row in stage.process(task).kept]  # whatever was made before
        assert len(made) == wanted.tasks
        for row in made:
            assert isinstance(row, ContextRow)
            assert row.prompt == by_id[row.id].prompt


def test_more_tasks_keep_every_context(built: Dataset, store: Path, tmp_path: Path) -> None:
    more = synth.build("world-search", out=tmp_path / "out", store=store, **{**OPTIONS, "tasks": 10})
    later = {row.id: row for row in synth.load(more.path).rows("contexts")}
    for row in built.rows("contexts"):
        assert later[row.id].prompt == row.prompt


def test_a_tokenizer_file_that_is_not_there_is_said_before_anything_runs(tmp_path: Path) -> None:
    settings = {**SETTINGS, "contexts.tokenizer": str(tmp_path / "none.json")}
    with pytest.raises(InputError, match=r"none\.json: does not exist\. Give the tokenizer.json"):
        synth.build("world-search", out=tmp_path / "out", store=tmp_path / "store", tasks=4, settings=settings)


@pytest.mark.parametrize("budgets", [[], [1000, 1000], [100]])
def test_budgets_that_make_no_sense_are_the_users_mistake(budgets: list[int], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contexts"):
        synth.build("world-search", out=tmp_path / "out", tasks=4, settings={"contexts.budgets": budgets})
