"""An environment and a policy of the user's: the script of the manual, and whose fault it is when they fail."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import synth
from synth.dataset.audit.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import InputError

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"


def test_the_script_of_the_manual_ends_in_verified_pairs_before_the_last_step(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(GUIDES / "own_runs.py")], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    count = int(done.stdout.split()[0])
    assert done.stdout == f"{count} verified pairs, {count} of them before the last step\n"
    assert count >= 60
    assert validate(tmp_path / "out") == []
    assert not audit(tmp_path / "out").violations
    dataset = synth.load(tmp_path / "out")
    assert {row.success for row in dataset.rows("trajectories")} == {False}
    why = f"No step was verified in {90 - count}: continuations from no other action succeed clearly more often."
    assert why in dataset.report.notes
    failures = [row for row in dataset.rows("judgments") if row.kind == "failure" and row.verdict == "continuations"]
    assert [row.step for row in failures] == [0] * count


@pytest.fixture(scope="module")
def own() -> ModuleType:
    sys.path.insert(0, str(GUIDES))
    try:
        import own_runs
    finally:
        sys.path.remove(str(GUIDES))
    return own_runs


def store(own: ModuleType, **methods: Callable[..., Any]) -> Any:
    """The store of the manual with other methods in its episodes."""
    visit = type("Visit", (own.Visit,), methods)
    return type("Store", (own.Store,), {"reset": lambda self, task: visit(self, task)})()


def clerk(own: ModuleType, act: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda task: type("Clerk", (own.Clerk,), {"act": act})()


def annotated(own: ModuleType, folder: Path, environment: Any, policy: Any) -> tuple[str, ...]:
    runs = [own.log(order) for order in range(3)]
    asked = [{"question": own.ASKED.format(order), "answer": str(100 + 7 * order)} for order in range(3)]
    (folder / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    made = synth.annotate(runs, folder / "q.jsonl", folder / "out", environment=environment, policy=policy)
    return synth.load(made.path).report.notes


def raises(*given: Any) -> Any:
    raise KeyError("shelf")


def returns(*given: Any) -> Any:
    return True


EPISODES = {
    "step": (raises, r"test_api_own_runs.py, line \d+: Visit.step raised KeyError: 'shelf'. It never raises"),
    "check": (returns, r"Visit.check returned bool. It returns a Verdict"),
    "snapshot": (raises, r"Visit.snapshot raised KeyError: 'shelf'. The task's runs can't be continued"),
    "restore": (returns, r"Visit.restore returned bool"),
}


@pytest.mark.parametrize("method", EPISODES)
def test_what_an_environment_does_wrong_is_told_as_its_own(own: ModuleType, method: str, tmp_path: Path) -> None:
    does, words = EPISODES[method]
    with pytest.raises(InputError, match=words):
        annotated(own, tmp_path, store(own, **{method: does}), lambda task: own.Clerk())


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (raises, "line .*: Clerk.act raised KeyError: 'shelf'"),
        (returns, "Clerk.act returned bool. It returns a Decision"),
    ],
)
def test_what_a_policy_does_wrong_is_told_as_its_own(
    own: ModuleType, act: Callable[..., Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        annotated(own, tmp_path, own.Store(), clerk(own, act))


def test_an_object_that_is_no_environment_is_refused(own: ModuleType, tmp_path: Path) -> None:
    class Desk:
        name, version = "desk", "1"

    with pytest.raises(InputError, match="is no Environment"):
        annotated(own, tmp_path, Desk(), lambda task: own.Clerk())


def test_why_nothing_was_verified_is_said(own: ModuleType, tmp_path: Path) -> None:
    def elsewhere(self: Any, call: Any) -> Any:
        return call.answered("Closed today.")

    def again(self: Any, prompt: Any, history: Any, generator: Any) -> Any:
        shelf = own.SHELVES[(int(prompt.question.split()[6]) * 2 + 1) % 3]
        call = own.ToolCall(id="c0", name="open_shelf", arguments={"shelf": shelf})
        return own.Decision(own.Turn(answer="1") if history else own.Turn(calls=(call,)))

    drifting = annotated(own, tmp_path, store(own, step=elsewhere), lambda task: own.Clerk())
    assert any("its steps can't be branched from (the first: other_observation" in note for note in drifting)
    stubborn = annotated(own, tmp_path, own.Store(), clerk(own, again))
    assert any(note.startswith("Failed runs that were searched for critical steps: 3") for note in stubborn)
    assert any(note.startswith("No step was verified in") for note in stubborn)
