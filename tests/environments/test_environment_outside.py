"""An environment defined outside the package: found by its entry point, held to the contract, searched unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from outside_locker import Locker
from stand_ins.planted import generators

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits, rollout
from synth.agents.trajectory import to_row
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.contract import Point, Score
from synth.annotate.critical.search import search_trajectory
from synth.environments.contract import Environment, ToolCall
from synth.exploration.pipeline import blank_task
from synth.identity import derive_generator
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE
from synth.testing.environments import EnvironmentContract


def locker_task(code: tuple[int, int]) -> Task:
    details = {"code": list(code), "note": f"first {code[0]}, then {code[1]}"}
    said = {"question": "Open the locker.", "answer": f"number {code[0]}{code[1]}"}
    return blank_task(f"locker-{code[0]}{code[1]}", "locker", details).model_copy(update=said)


class TestLocker(EnvironmentContract):
    def environment(self) -> Environment:
        return Locker()

    def tasks(self) -> Sequence[Task]:
        return [locker_task((3, 7)), locker_task((0, 0))]

    def examples(self) -> dict[str, Sequence[Any]]:
        return {"to": [0, 3, 7, 10]}

    def check_answers(self) -> bool:
        return False


def test_it_is_found_by_its_entry_point(tmp_path: Path) -> None:
    installed = tmp_path / "locker-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: locker\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[synth.environments]\nlocker = locker_env:LOCKER\n")
    (tmp_path / "locker_env.py").write_text((Path(__file__).parent / "outside_locker.py").read_text())
    asked = (
        "from synth.registry import choices, find\n"
        "assert 'locker' in choices('environments') and 'search' in choices('environments')\n"
        "print(find('environments', 'locker')().instructions())"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).resolve().parents[2])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, Locker().instructions()), done.stderr


class _Guesser:
    """Reads the note half of the time, else guesses; whoever has read it follows it."""

    privileged = False

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        done = [call for step in history for call in step.turn.calls]
        said = [result.content for step in history for result in step.results if "note says" in result.content]
        turns = [call for call in done if call.name == "turn"]
        if any(call.name == "pull" for call in done):
            return Decision(Turn(answer="I have pulled the handle."))
        if not done and generator.random() < 0.5:
            return Decision(_turn("read_note", {}))
        if len(turns) == 2:
            return Decision(_turn("pull", {}))
        numbers = [int(sign) for sign in said[-1] if sign.isdigit()] if said else generator.integers(10, size=2)
        return Decision(_turn("turn", {"to": int(numbers[len(turns)])}))


def _turn(name: str, arguments: dict[str, Any]) -> Turn:
    return Turn(thought=f"I {name.replace('_', ' ')}.", calls=(ToolCall(id="c", name=name, arguments=arguments),))


class _Reader:
    """The expert would have read the note before anything else."""

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
        return (_turn("read_note", {}),) if not point.history else ()


class _LikesNotes:
    def score(self, point: Point, turns: Sequence[Turn]) -> tuple[Score, ...]:
        likes = (any(call.name == "read_note" for call in turn.calls) for turn in turns)
        return tuple(Score(value=0.9 if liked else 0.2, reason="it is in the note") for liked in likes)


def run_of(environment: Environment, task: Task, policy: _Guesser, number: int) -> TrajectoryRow:
    run = rollout(
        policy,
        environment,
        task,
        system="Open lockers.",
        limits=Limits(max_turns=8),
        generator_for_turn=lambda turn: derive_generator(1, "locker", number, turn),
    )
    return to_row(run, environment, role="policy", number=number, privileged=False, provenance=PROVENANCE)


def test_the_search_for_critical_steps_takes_it_as_it_is() -> None:
    environment, task, policy = Locker(), locker_task((3, 7)), _Guesser()
    runs = (run_of(environment, task, policy, number) for number in range(50))
    row = next(row for row in runs if not row.success)
    found = search_trajectory(
        row,
        task,
        environment,
        policy,
        scorer=_LikesNotes(),
        expert=_Reader(),
        config=CriticalConfig(max_turns=8),
        generator=generators(),
    )
    assert [(candidate.step, candidate.turn.calls[0].name) for candidate in found.verified] == [(0, "read_note")]
    verified = found.verified[0].criticality
    assert verified is not None
    assert verified.difference > 0.5
