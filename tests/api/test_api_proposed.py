"""Whole builds whose questions a model proposes, through HTTP: a good one, liars, a band of success, kills."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from api_builds import killed_and_resumed
from stand_ins.model_server import ModelServer, ProposerPlayer

import synth
from synth.api import BuildResult
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import BuildError, InputError

TASKS = 4
LEAN: dict[str, Any] = {
    "questions": {"kind": "proposed", "harden": 1},
    "critical": None,
    "preferences": None,
    "distractors": None,
    "contexts": None,
    "difficulty": None,
    "rl": False,
}
MILLS = (
    *("Ash", "Birch", "Cedar", "Elder", "Fir", "Hazel", "Juniper", "Larch", "Maple", "Nutwood", "Oak", "Pine"),
    *("Quince", "Rowan", "Spruce", "Thorn", "Willow", "Yew"),
)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Markdown: eighteen mills, the one who built each, and the road that leads there."""
    folder = tmp_path_factory.mktemp("notes")
    for number, name in enumerate(MILLS):
        road, builder = f"{name} Road", f"{name[0]}da {name}mann"
        (folder / f"{name}-road.md").write_text(
            f"# {road}\n\n{road} was paved with stones from the valley in its first year. From the old bridge it leads"
            f" up to the [{name} Mill]({name}-mill.md) and ends there. Carts have used it every day since then, in snow"
            " and in rain, and the farmers of the hills keep it in repair.\n"
        )
        (folder / f"{name}-mill.md").write_text(
            f"# {name} Mill\n\nThe {name} Mill was built by [{builder}]({name}-builder.md) after the flood. It stands"
            " by the river below the church. Its wheel was renewed twice, and its stones came from the quarry on the"
            " other side of the valley. Today it is a museum that schools visit in spring.\n"
        )
        (folder / f"{name}-builder.md").write_text(
            f"# {builder}\n\nThe trade was learned from an uncle in the next village. {builder} kept"
            f" {1000 + 37 * number} bees in hives behind the house and sold honey at the market. The account books lie"
            " in the archive of the town, where they can be read on request on most days of the week.\n"
        )
    return folder


def settings_of(server: ModelServer, notes: Path, **more: Any) -> dict[str, Any]:
    role = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
    return {**LEAN, "source.path": str(notes), "roles.proposer": role, **more}


def build(server: ModelServer, notes: Path, folder: Path, **more: Any) -> BuildResult:
    settings = settings_of(server, notes, **more)
    return synth.build("docs-search", tasks=TASKS, out=folder / "out", store=folder / "store", settings=settings)


def test_questions_are_proposed_proven_and_kept_with_what_was_explored(tmp_path: Path, notes: Path) -> None:
    player = ProposerPlayer()
    with ModelServer({"toy": player}) as server:
        built = build(server, notes, tmp_path)
        calls = len(server.log.records())
        again = build(server, notes, tmp_path)
        assert (server.errors, len(server.log.records()), again.reused) == ([], calls, True)
        settings = settings_of(server, notes)
        folder = tmp_path / "killed"
        folder.mkdir()
        resumed = synth.load(killed_and_resumed("docs-search", TASKS, folder, settings, "journal.append.after:3"))
        paid = Counter(record.call for record in server.log.records()[calls:])
    dataset = synth.load(built.path)
    for table in ("tasks", "proposals", "task_reviews"):
        assert list(resumed.rows(table)) == list(dataset.rows(table))
    # What was in flight when it was killed may be asked for once more; what had come is not.
    assert max(paid.values()) <= 2
    assert sum(paid.values()) - len(paid) <= 8
    assert validate(built.path) == []
    assert list(audit(built.path).violations) == []
    tasks = list(dataset.rows("tasks"))
    explored = {row.task_id: row for row in dataset.rows("proposals")}
    assert set(explored) == {task.id for task in tasks}
    names = ["quotes", "chain", "closed_book", "alternatives", "answerable", "needed"]
    for task in tasks:
        assert [check.check for check in task.checks] == names
        assert set(task.gold_documents) <= set(explored[task.id].read)
        assert len(explored[task.id].hardened) == task.obfuscation
        assert (task.provenance.model, task.shape) == ("toy", "proposed")
    reviews = Counter(row.check for row in dataset.rows("task_reviews"))
    assert reviews == dict.fromkeys(names[2:], TASKS)
    teacher = [row.success for row in dataset.rows("trajectories") if row.role == "teacher"]
    assert sum(teacher) >= TASKS - 1, "whoever knows the walk can do it"
    card = (built.path / "README.md").read_text()
    assert "Questions were worded by the model toy after exploring the documents" in card
    (stage,) = [stage for stage in built.report.stages if stage.label == "tasks"]
    assert {(use.role, use.model) for use in stage.models} == {("proposer", "toy")}


@pytest.mark.parametrize(
    ("fault", "reasons"),
    [
        ("misquotes", {"no_evidence"}),
        ("unread", {"no_evidence"}),
        ("leaks", {"answer_in_question"}),
        ("known", {"known_answer"}),
        ("ambiguous", {"not_unique"}),
        ("needless", {"shortcut"}),
        ("repeats", {"no_evidence"}),
    ],
)
def test_no_lie_gets_in(fault: Any, reasons: set[str], tmp_path: Path, notes: Path) -> None:
    with ModelServer({"toy": ProposerPlayer(fault)}) as server, pytest.raises(BuildError) as error:
        build(server, notes, tmp_path, **{"questions.harden": 0})
    assert re.search(f"accepted {'[01]' if fault == 'repeats' else 0} of {TASKS}", str(error.value))
    assert reasons <= {name for name in reasons if name in str(error.value)}
    assert not (tmp_path / "out").exists()


def test_a_question_that_the_policy_solves_too_often_is_made_harder_or_rejected(tmp_path: Path, notes: Path) -> None:
    with ModelServer({"toy": ProposerPlayer()}) as server:
        role = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
        more = {"questions.solved": {"runs": 2, "most": 0.4}, "roles.policy": role}
        built = build(server, notes, tmp_path, **more)
        never = {"questions.solved": {"runs": 2, "most": 0.4}, "roles.policy": role, "questions.harden": 0}
        with pytest.raises(BuildError, match=r"accepted 0 of 4 .* outside_band"):
            build(server, notes, tmp_path / "never", **never)
        always = {"questions.solved": {"runs": 2, "least": 0.6, "most": 1.0}, "roles.policy": role}
        easy = build(server, notes, tmp_path / "always", **always)
    for found, rounds, right in ((built, 1, 0), (easy, 0, 2)):
        for task in synth.load(found.path).rows("tasks"):
            (solved,) = [check.detail for check in task.checks if check.check == "solved"]
            assert (task.obfuscation, solved) == (rounds, f"{right} of 2 runs of the policy solve it")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"roles.proposer": None}, "bind roles.proposer"),
        ({"questions": {"kind": "docs"}}, "roles.proposer has no effect"),
        ({"task_reviews": {"closed_book": 0, "alternatives": 0, "answerable": 0}}, "must pass a check"),
        ({"questions.solved": {"runs": 2}, "roles.policy": None}, "bind roles.policy"),
        ({"roles.writer": {"backend": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}}, "no effect"),
    ],
)
def test_what_does_not_go_together_is_one_line(more: dict[str, Any], words: str, tmp_path: Path, notes: Path) -> None:
    role = {"backend": "openai", "model": "toy", "endpoints": ["http://127.0.0.1:9/v1"]}
    roles = {"teacher": {}, "policy": {}, "proposer": role}
    left_out = [key for key, value in more.items() if value is None]
    roles = {name: who for name, who in roles.items() if f"roles.{name}" not in left_out}
    settings = {**LEAN, "source.path": str(notes), "roles": roles}
    settings |= {key: value for key, value in more.items() if key not in left_out}
    with pytest.raises(InputError) as error:
        synth.build("docs-search", tasks=TASKS, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
