"""Near duplicates in the acceptance loop: exactly N, the same for every N and shard size, nothing proposed twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from engine_toys import Built, build

from synth.engine import Engine, LocalExecutor, Plan, StageNode
from synth.engine.accepting import Accepting
from synth.filtering.dedup import TaskRules
from synth.filtering.dedup.text import jaccard, shingles
from synth.schemas.plans import Given, PlannedCall
from synth.schemas.plans import Plan as Solution
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Difficulty, Task, Walk
from synth.stages.contract import CandidateStage, Implementation, Outcome, RowStage, StageConfig
from synth.store import Store

WORDS = "red green blue old new tall small stone iron glass tower bridge mill gate".split()
HASHED = Implementation(kind="hashed", factory="synth.retrieval.encoder:hashed_encoder")


class Asks(CandidateStage[StageConfig]):
    """Questions of ten drawn words; every fifth is an earlier one with a word more or its words turned round."""

    name = "asks"
    config_type = StageConfig
    version = 1
    writes = {"tasks": Task}
    candidates_per_shard = 16

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return [Outcome(kept=(self._task(index),)) for index in range(start, stop)]

    def _task(self, index: int) -> Task:
        of = index - 3 if index % 5 == 4 else index
        words = [WORDS[at] for at in self.context.generator(of).integers(0, len(WORDS), 10).tolist()]
        if of != index:
            words = [*words, "here"] if index % 2 else words[::-1]
        split = "test" if index % 20 == 4 else "train"
        return Task(
            id=f"t{index}",
            question=" ".join(words),
            answer=f"a{of % 7}",
            answer_kind="entity",
            shape="given",
            walk=Walk(shape="given", hops=()),
            gold_entities=(),
            gold_documents=(),
            difficulty=Difficulty(hops=0, constraints=0, branching=1.0, documents=0),
            checks=(),
            split=split,  # type: ignore[arg-type]
            candidate_index=index,
            provenance=self.context.provenance,
        )


class FewAsks(Asks):
    candidates_per_shard: ClassVar[int] = 5


class Copies(RowStage[StageConfig, Task]):
    """Reads what was accepted."""

    name = "copies"
    config_type = StageConfig
    version = 1
    reads = ("tasks",)
    writes = {"copies": Task}
    over = "tasks"

    def process(self, row: Task) -> Outcome:
        return Outcome(kept=(row,))


def _plan(wanted: int, rules: TaskRules | None, stage: type[Asks] = Asks) -> Plan:
    encoder = HASHED if rules is not None and rules.semantic is not None else None
    accepting = None if rules is None else Accepting(rules=rules, encoder=encoder)
    nodes = (
        StageNode("tasks", stage, StageConfig(), accepting=accepting),
        StageNode("copies", Copies, StageConfig(), {"tasks": "tasks"}),
    )
    return Plan(dataset="toy", seed=7, source="toys", nodes=nodes, wanted=wanted)


def _tasks(folder: Path, plan: Plan) -> tuple[list[Task], list[tuple[str, Reason, str]]]:
    with Engine(plan, Store(folder), LocalExecutor()) as engine:
        (report, _) = engine.run()
        rejected = [(row.row_id, row.reason, row.detail) for row in engine.rejected().rows()]
        assert report.rows_in == report.kept + len(rejected)
        assert list(engine.table("copies", "copies").rows()) == list(engine.table("tasks", "tasks").rows())
        return list(engine.table("tasks", "tasks").rows()), rejected


RULES = TaskRules(near=0.7, cluster=0.7, semantic=0.99)


def test_exactly_n_and_no_two_alike(tmp_path: Path) -> None:
    tasks, rejected = _tasks(tmp_path, _plan(40, RULES))
    assert len(tasks) == 40
    grams = [shingles(task.question, 3) for task in tasks]
    for number, own in enumerate(grams):
        for other in range(number):
            alike = jaccard(own, grams[other]) >= 0.7 or set(tasks[number].question.split()) == set(
                tasks[other].question.split()
            )
            assert not (alike and tasks[number].answer == tasks[other].answer)
    assert {reason for _, reason, _ in rejected} == {Reason.NEAR_DUPLICATE, Reason.SPLIT_CONFLICT}
    details = {row: detail for row, _, detail in rejected}
    assert details["9"] == "like t6: n-grams 0.8889"
    assert details["14"] == "like t11: cosine 1.0000"
    assert details["24"] == "like t21 of the split train: cosine 1.0000"
    assert len(_tasks(tmp_path, _plan(40, None))[1]) == 0


def test_more_tasks_leave_those_that_are_there_and_shards_do_not_count(tmp_path: Path) -> None:
    few, _ = _tasks(tmp_path / "a", _plan(23, RULES))
    more, _ = _tasks(tmp_path / "a", _plan(57, RULES))
    assert [task.model_dump_json() for task in more[:23]] == [task.model_dump_json() for task in few]
    assert _tasks(tmp_path / "b", _plan(57, RULES, FewAsks))[0] == more
    again: list[Built] = [build(tmp_path / "c", _plan(57, RULES), workers=2) for _ in range(2)]
    assert again[0].tables == again[1].tables
    assert again[0].rejected == again[1].rejected


def test_other_thresholds_propose_nothing_anew_and_their_readers_do_not_meet(tmp_path: Path) -> None:
    loose, _ = _tasks(tmp_path, _plan(30, RULES))
    with Engine(_plan(30, RULES), Store(tmp_path), LocalExecutor()) as engine:
        before = engine.fingerprint("tasks").value, engine.fingerprint("copies").value
    strict = _plan(30, TaskRules(near=None, cluster=None, exact=False))
    with Engine(strict, Store(tmp_path), LocalExecutor()) as engine:
        assert engine.fingerprint("tasks").value == before[0]
        assert engine.fingerprint("copies").value != before[1]
    free, rejected = _tasks(tmp_path, strict)
    assert rejected == []
    assert [task.id for task in free] == [f"t{number}" for number in range(30)] != [task.id for task in loose]
    assert _tasks(tmp_path, _plan(30, RULES))[0] == loose


class Planned(Asks):
    """Reverse tasks whose plans repeat every three candidates, whatever their words."""

    name = "planned"

    def ceiling(self, wanted: int) -> int:
        return 10 * wanted

    def _task(self, index: int) -> Task:
        given = {"id": Given(source="question", words="x")}
        call = PlannedCall(
            tool="cancel", arguments={"id": str(index % 3)}, changes=True, instruction="Do.", given=given
        )
        details = {
            "plan": Solution(outcome="done", calls=(call,)).model_dump(mode="json"),
            "goal": {"state": str(index % 3)},
        }
        return super()._task(index).model_copy(update={"shape": "reverse", "answer": "done", "details": details})


def test_reverse_tasks_of_one_plan_and_goal_are_the_same(tmp_path: Path) -> None:
    plan = _plan(3, TaskRules(near=None, cluster=None), Planned)
    tasks, _ = _tasks(tmp_path, plan)
    assert [task.id for task in tasks] == ["t0", "t1", "t2"]
    free, rejected = _tasks(tmp_path, _plan(5, TaskRules(near=None, cluster=None, structural=False), Planned))
    assert (len(free), rejected) == (5, [])
    with pytest.raises(Exception, match=r"accepted 3 of 5 .*near_duplicate"):
        _tasks(tmp_path, _plan(5, TaskRules(near=None, cluster=None), Planned))


def test_only_stages_that_propose_tasks_accept_by_likeness() -> None:
    node = StageNode("tasks", Copies, StageConfig(), {"tasks": "first"}, Accepting(rules=TaskRules()))
    with pytest.raises(ValueError, match="copies proposes no tasks"):
        Plan(dataset="d", seed=1, source="s", nodes=(StageNode("first", Asks, StageConfig()), node), wanted=1)
