"""Whole builds in which models word and check the tasks, through HTTP: good ones, and others."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import shared_builds
from api_builds import played_by
from stand_ins.model_server import JobPlayer, ModelServer, Reply

import synth
from synth.api import BuildResult
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import BuildError
from synth.schemas.rejections import Reason

pytestmark = pytest.mark.thorough

LEAN: dict[str, Any] = {
    "source.entities": 600,
    **shared_builds.LEAN,
    "roles.policy.rollouts": 1,
}
TASKS = 8
OPENING = "Please tell me what I would like to know: "


def words(data: Mapping[str, Any], question: str | None = None) -> dict[str, Any]:
    """A wording that says all parts as they were said, behind other words of asking."""
    question = OPENING + data["question"] if question is None else question
    return {"question": question, "parts": [dict(part) for part in data["parts"]]}


def good(data: Mapping[str, Any], sample: str | None) -> Any:
    return words(data)


def same(data: Mapping[str, Any], sample: str | None) -> Any:
    return {"parts": [{**part, "verdict": "same"} for part in data["parts"]], "added": []}


def settings(server: ModelServer, *roles: str) -> dict[str, Any]:
    return {**LEAN, **played_by(server, *roles)}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """The same tasks without any model."""
    folder = tmp_path_factory.mktemp("plain")
    store = shared_builds.world_store(folder)
    return synth.build("world-search", tasks=TASKS, out=folder / "out", store=store, settings=LEAN)


def rows(built: BuildResult, table: str) -> list[Any]:
    return list(synth.load(built.path).rows(table))


def test_a_good_writer_words_every_question_and_the_tasks_are_the_same(
    plain: BuildResult, tmp_path: Path, world_store: Path
) -> None:
    writer, checker = JobPlayer({"tasks/write": good}), JobPlayer({"tasks/confirm": same})
    with ModelServer({"toy-writer": writer, "toy-checker": checker}) as server:
        more: dict[str, Any] = {
            **settings(server, "writer", "checker"),
            "task_reviews.closed_book": 0,
            "task_reviews.alternatives": 0,
            "task_reviews.answerable": 0,
        }
        built = synth.build("world-search", tasks=TASKS, out=tmp_path / "a", store=world_store, settings=more)
        calls = len(server.log.records())
        again = synth.build("world-search", tasks=TASKS, out=tmp_path / "b", store=world_store, settings=more)
        assert len(server.log.records()) == calls, "nothing is asked for twice"
        larger = synth.build("world-search", tasks=TASKS + 4, out=tmp_path / "c", store=world_store, settings=more)
        assert server.errors == []
    assert again.reused
    before, after = rows(plain, "tasks"), rows(built, "tasks")
    assert [task.answer for task in after] == [task.answer for task in before]
    told = {row.task_id: row for row in rows(built, "question_rewrites") if row.accepted}
    for old, new in zip(before, after, strict=True):
        if new.id not in told:
            assert new == old.model_copy(update={"provenance": new.provenance})
            continue
        assert new.question == OPENING + old.question == told[new.id].question
        assert new.details["question_before"] == old.question == told[new.id].before
        assert (new.provenance.model, told[new.id].confirmed_by) == ("toy-writer", "toy-checker")
        assert new.walk.hops[-1].evidence == old.walk.hops[-1].evidence
        assert new.checks[:-1] == old.checks
        assert (new.checks[-1].check, new.surface) == ("wording", "written")
    assert len(told) >= TASKS - 2, "a check of search may find the new words too easy"
    assert [task.id for task in rows(larger, "tasks")][:TASKS] == [task.id for task in after]
    teacher = [row for row in rows(built, "trajectories") if row.role == "teacher"]
    assert all(row.success for row in teacher), "the words are other words, and a reader understands them"
    assert validate(built.path) == []
    assert list(audit(built.path).violations) == []
    report = next(stage for stage in built.report.stages if stage.label == "tasks")
    card = (built.path / "README.md").read_text()
    assert "worded by a grammar, and anew by the model toy-writer where its words passed every check" in card
    assert {(use.role, use.model) for use in report.models} == {("writer", "toy-writer"), ("checker", "toy-checker")}


def leaks(answers: Mapping[str, str]) -> Any:
    """Tells the answer, as one who knows the page would."""

    def write(data: Mapping[str, Any], sample: str | None) -> Any:
        answer = answers.get(data["question"], "Stemstad")
        return words(data, f"{data['question'].rstrip('?.')}, {answer.lower()}?")

    return write


def adds(data: Mapping[str, Any], sample: str | None) -> Any:
    """Tells a fact that the grammar did not, inside a part."""
    parts = [dict(part) for part in data["parts"]]
    longer = parts[0]["words"] + " famous for its cathedral"
    question = data["question"].replace(parts[0]["words"], longer)
    for part in parts:
        part["words"] = part["words"].replace(parts[0]["words"], longer)
    return {"question": question, "parts": parts}


def compares(data: Mapping[str, Any], sample: str | None) -> Any:
    """An honest second reader."""
    added = ["famous for its cathedral"] if "cathedral" in data["new"] else []
    return {"parts": [{**part, "verdict": "same"} for part in data["parts"]], "added": added}


def nonsense(data: Mapping[str, Any], sample: str | None) -> Any:
    return "Certainly! Here is a much better question."


def refuses(data: Mapping[str, Any], sample: str | None) -> Any:
    return Reply(refusal="I can't help with that.")


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("leaks", {Reason.MEANING_CHANGED, Reason.ANSWER_IN_QUESTION}),
        ("adds", {Reason.NOT_CONFIRMED}),
        ("nonsense", {Reason.MALFORMED}),
        ("refuses", {Reason.REFUSAL}),
    ],
)
def test_what_a_bad_writer_writes_is_recorded_and_every_task_keeps_its_words(
    name: str, reasons: set[Reason], plain: BuildResult, tmp_path: Path, world_store: Path
) -> None:
    before = rows(plain, "tasks")
    write = {
        "leaks": leaks({task.question: task.answer for task in before}),
        "adds": adds,
        "nonsense": nonsense,
        "refuses": refuses,
    }[name]
    player = JobPlayer({"tasks/write": write, "tasks/confirm": compares})
    with ModelServer({"toy-writer": player}) as server:
        more = {**settings(server, "writer"), "writing.attempts": 1}
        built = synth.build("world-search", tasks=TASKS, out=tmp_path / "out", store=world_store, settings=more)
    after = rows(built, "tasks")
    assert [(task.id, task.question, task.walk) for task in after] == [(t.id, t.question, t.walk) for t in before]
    tried = rows(built, "question_rewrites")
    assert [row.task_id for row in tried] == [task.id for task in after]
    assert {row.reason for row in tried} <= reasons
    assert not any(row.accepted for row in tried)
    if name in ("leaks", "adds"):
        assert all(row.question not in (None, row.before) for row in tried), "what it wrote is there to be seen"
    if name == "adds":
        assert {row.confirmed for row in tried} == {"different"}
    assert validate(built.path) == []


OWN = '''
"""A writer of somebody else's: no model at all."""

from synth.models.asking import Asked
from synth.tasks.writing.asked import Compared, ComparedPart, NewPart, NewWording
import json


class Writer:
    def __init__(self, prompt, opening):
        self.prompt, self.opening = prompt, opening

    def ask(self, sample, **values):
        if self.prompt == "tasks/write":
            data = json.loads(values["question"])
            parts = tuple(NewPart(**part) for part in data["parts"])
            return Asked(NewWording(question=self.opening + data["question"], parts=parts))
        data = json.loads(values["questions"])
        return Asked(Compared(parts=tuple(ComparedPart(**part, verdict="same") for part in data["parts"]), added=()))


def make(*, prompt, opening="Please tell me: "):
    return Writer(prompt, opening)
'''


def test_a_writer_of_ones_own_takes_the_role(
    plain: BuildResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world_store: Path
) -> None:
    (tmp_path / "my_writer.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    more = {**LEAN, "roles.writer": {"backend": "my_writer:make", "options": {"opening": "Tell me, please: "}}}
    try:
        built = synth.build("world-search", tasks=TASKS, out=tmp_path / "out", store=world_store, settings=more)
    finally:
        sys.modules.pop("my_writer", None)
    accepted = [row for row in rows(built, "question_rewrites") if row.accepted]
    assert len(accepted) >= TASKS - 2
    assert all(row.question == f"Tell me, please: {row.before}" for row in accepted)
    assert {(row.model, row.provenance.backend) for row in accepted} == {(None, "my_writer:make")}
    assert [task.answer for task in rows(built, "tasks")] == [task.answer for task in rows(plain, "tasks")]
    assert validate(built.path) == []


def knows(answers: Mapping[str, str]) -> Any:
    def answer(data: Mapping[str, Any], sample: str | None) -> Any:
        return {"answer": answers.get(data["question"])}

    return answer


def test_tasks_that_a_check_rejects_are_replaced_and_the_number_is_exact(
    plain: BuildResult, tmp_path: Path, world_store: Path
) -> None:
    before = rows(plain, "tasks")
    known = {task.question: task.answer for task in before[::2]}

    def reads(data: Mapping[str, Any], sample: str | None) -> Any:
        assert "answer" not in data
        return {"quote": "", "answer": None}

    def doubts(data: Mapping[str, Any], sample: str | None) -> Any:
        return {"alternatives": [{"why": "who knows", "quote": "", "answer": "Somewhere else"}]}

    checker = JobPlayer({"tasks/closed_book": knows(known), "tasks/answerable": reads, "tasks/alternatives": doubts})
    with ModelServer({"toy-checker": checker}) as server:
        more = {**settings(server, "checker"), "task_reviews.reject": ["closed_book"]}
        built = synth.build("world-search", tasks=TASKS, out=tmp_path / "out", store=world_store, settings=more)
        assert server.errors == []
    after = rows(built, "tasks")
    assert len(after) == TASKS
    assert not {task.question for task in after} & set(known)
    assert {task.question for task in before[1::2]} <= {task.question for task in after}
    rejected = [row for row in rows(built, "rejected") if row.reason is Reason.KNOWN_ANSWER]
    assert {row.preview for row in rejected} == {question[:500] for question in known}
    assert all(row.detail.endswith("closed_book failed: 4 of 4 replies are right") for row in rejected)
    found = rows(built, "task_reviews")
    assert Counter((row.check, row.outcome) for row in found) == {
        ("closed_book", "passed"): TASKS,
        ("alternatives", "passed"): TASKS,
        ("answerable", "failed"): TASKS,  # a flag: nobody asked for a rejection
    }
    assert {one.verdict for row in found for one in row.claims} == {"refuted"}
    assert all(task.checks[-1].check == "closed_book" for task in after)
    assert {task.shape: sum(t.shape == task.shape for t in after) for task in after} == {
        line.shape: line.accepted for line in built.report.task_yields if line.accepted
    }
    assert sum(line.rejected.get("closed_book", 0) for line in built.report.task_yields) == len(rejected)
    assert validate(built.path) == []
    card = (built.path / "README.md").read_text()
    assert "Tasks and wordings were checked by the model toy-checker" in card
    assert "task_reviews" in card


def test_a_checker_that_says_nothing_flags_nothing_and_where_it_must_be_passed_nothing_passes(
    tmp_path: Path, world_store: Path
) -> None:
    talk = JobPlayer(dict.fromkeys(("tasks/closed_book", "tasks/answerable", "tasks/alternatives"), nonsense))
    with ModelServer({"toy-checker": talk}) as server:
        base = settings(server, "checker")
        built = synth.build("world-search", tasks=4, out=tmp_path / "out", store=world_store, settings=base)
        found = rows(built, "task_reviews")
        assert {row.outcome for row in found} == {"abstained"}
        assert len(found) == 12
        assert validate(built.path) == []
        # Few questions, so that they are used up soon: some of one's own.
        questions = tmp_path / "questions.jsonl"
        name = rows(built, "documents")[0].title
        lines = [json.dumps({"question": f"Number {n}: whose page is the first?", "answer": name}) for n in range(4)]
        questions.write_text("\n".join(lines))
        strict = {**base, "task_reviews.reject": ["closed_book"]}
        with pytest.raises(BuildError, match="unchecked"):
            synth.build(
                "world-search",
                tasks_file=questions,
                out=tmp_path / "none",
                store=world_store,
                settings=strict,
            )
