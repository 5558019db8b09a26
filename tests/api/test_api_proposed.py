"""Whole builds whose questions a model proposes, through HTTP: a good one, liars, a band of success, kills."""

from __future__ import annotations

import os
import re
import resource
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import shared_builds
from api_builds import build_command
from stand_ins import forked
from stand_ins.call_log import intents
from stand_ins.model_server import ModelServer, ProposerPlayer

import synth
from synth.api import BuildResult
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import BuildError, InputError
from synth.identity import derive_generator
from synth.mocks.model.replies import Reply
from synth.schemas.tasks import Held

pytestmark = pytest.mark.thorough

TASKS = 4
KILLS, IN_FLIGHT = 10, 16
LEAN: dict[str, Any] = {
    "questions": {"kind": "proposed", "harden": 1},
    **shared_builds.LEAN,
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
    dataset = synth.load(built.path)
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


class _Killing(ProposerPlayer):
    """Kills the build of the process ``victim`` instead of its reply number ``kill_at``, counted from now."""

    victim: int | None = None
    kill_at = 0

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        self.kill_at -= 1
        if self.kill_at == 0 and self.victim is not None:
            os.kill(self.victim, signal.SIGKILL)
        return super().reply(request, sample)


def test_killed_ten_times_nothing_is_paid_twice(tmp_path: Path, notes: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    killed.mkdir()
    with ModelServer({"toy": (player := _Killing())}) as server:
        undisturbed = synth.load(build(server, notes, whole).path)
        calls = len(server.log.records())
        command = build_command("docs-search", TASKS, killed, settings_of(server, notes))
        for gap in derive_generator(21, "kills of a proposer").integers(3, calls // 8, size=KILLS):
            process = forked.start(command, killed, {}, resource.RLIM_INFINITY)
            player.victim, player.kill_at = process.pid, int(gap)
            process.join(120)
            assert process.exitcode == -signal.SIGKILL
        resumed = synth.load(build(server, notes, killed).path)
    for table in ("tasks", "proposals", "task_reviews"):
        assert list(resumed.rows(table)) == list(undisturbed.rows(table))
    # A reply that had come is never asked for again; what was in flight at a kill may be.
    attempts = intents(killed / "store" / "calls.sqlite")
    delivered = Counter(attempt.key for attempt in attempts if attempt.state == "delivered")
    assert delivered == Counter(attempt.key for attempt in intents(whole / "store" / "calls.sqlite"))
    assert 0 < len(attempts) - delivered.total() <= KILLS * IN_FLIGHT
    assert {attempt.state for attempt in attempts} == {"delivered", "unknown"}


def test_facts_of_two_collections(tmp_path: Path, notes: Path) -> None:
    """Mills in one, roads and builders in the other: nothing else gets in, and nothing else is paid for a review."""
    for kind in ("mill", "road", "builder"):
        for page in notes.glob(f"*-{kind}.md"):
            (tmp_path / "pages" / kind).mkdir(parents=True, exist_ok=True)
            moved = re.sub(r"\]\(([^()]*-(\w+)\.md)\)", r"](../\2/\1)", page.read_text())
            (tmp_path / "pages" / kind / page.name).write_text(moved)
    with ModelServer({"toy": ProposerPlayer()}) as server:
        divided = {"by": "folder", "of": {"mills": ["mill"], "others": []}, "spanned": 2}
        built = build(server, tmp_path / "pages", tmp_path, **{"environment.collections": divided})
    for task in synth.load(built.path).rows("tasks"):
        held = Held.of(task.details).collections
        assert set(held) == set(task.gold_documents)
        assert set(held.values()) == {"mills", "others"}


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
