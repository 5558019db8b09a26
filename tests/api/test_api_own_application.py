"""An application of one's own, from a YAML file that uses what the documentation names: a whole build, and typos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import synth
from synth.cli import main
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.environments.app.environment import open_app
from synth.errors import InputError
from synth.exploration.app.explorer import app_explorer

NURSERY = Path(__file__).parents[1] / "environments" / "nursery.yaml"
TEXT = NURSERY.read_text("utf-8")
TASKS = 20


def test_twenty_tasks_of_ones_own_application(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    off = [f"--set={name}=null" for name in ("critical", "preferences", "difficulty")]
    off += ["--set=roles={teacher: {}}", "--set=rl=false"]
    places = [f"--store={tmp_path / 'store'}", f"--out={tmp_path / 'out'}"]
    main(["build", "app-desk", f"--tasks={TASKS}", f"--set=source.application={NURSERY}", *off, *places])
    assert "nursery" not in capsys.readouterr().err
    assert validate(tmp_path / "out") == []
    found = audit(tmp_path / "out")
    assert found.violations == ()
    judged: dict[str, Any] = {rule.rule: (rule.rows, rule.undecided) for rule in found.rules}
    assert judged["plan"] == judged["minimal"] == (TASKS, 0)
    dataset = synth.load(tmp_path / "out")
    tasks = list(dataset.rows("tasks"))
    assert {task.environment for task in tasks} == {"app:nursery"}
    assert {str(task.details["kind"]) for task in tasks} >= {"done", "refused"}
    assert all(run.success for run in dataset.rows("trajectories") if run.role == "teacher")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert str(tmp_path) not in card
    assert {task.licence for task in tasks} == {None}
    assert dataset.report.row_licences == {"unknown": TASKS}
    assert "license_name: not-stated" in card


@pytest.mark.parametrize(
    ("right", "typo", "said"),
    [
        ("requests:\n  speaker:", "request:\n  speaker:", "request: there is no such key (did you mean requests?)"),
        (
            "      ends: true",
            "      end: true",
            "requests.asks.cancel_order.end: there is no such key (did you mean ends?",
        ),
        ("keywords: [when", "keyword: [when", "left.0.keyword: there is no such key (did you mean keywords?)"),
        ('says: "Order {order_id} is cancelled."', 'say: "x"', "tools.cancel_order.say: there is no such key"),
        ("table: customers\n    from", "table: customer\n    from", "requests.speaker: there is no table 'customer'"),
        ("look: [{tool: list_plants}]", "look: [{tool: list_plant}]", "there is no reading tool 'list_plant'"),
        ("with: {name: name}", "with: {nam: name}", "there is no argument of find_customer 'nam'"),
        ('words: ["{name:lower}"]', 'words: ["{name:smal}"]', "there is no form 'smal'"),
        ('words: ["{name:lower}"]', 'words: ["{name:lower"]', "a bracket opens or closes nothing"),
        ('"cancel {order_id}"', '"cancel {ordre_id}"', "cancel_order.do.0: there is no column 'ordre_id'"),
        (
            "    cancel_order:\n      ends",
            "    cancel_orders:\n      ends",
            "there is no tool that writes 'cancel_orders'",
        ),
        ("{three_days: [{tool: list_orders", "{tree_days: [{tool: list_orders", "there is no rule 'tree_days'"),
        ("{move_pickup: [order_id]}", "{move_pickups: [order_id]}", "there is no ask 'move_pickups'"),
        ("- argument: pickup", "- argument: pick_up", "there is no argument of place_order 'pick_up'"),
        ('answer: "{pickup}"', 'answer: "{pick}"', "requests.questions.when.answer.0: there is no column 'pick'"),
        ('says: ["On {pickup:day}.", "I can come on {pickup:day}."]', "says: []", "left.0.says: is empty"),
        ("= :speaker AND o.pieces", "= :speeker AND o.pieces", "nothing before it gives :speeker a value"),
        ("word('town', i)", "word('towns', i)", "data.0: there is no list of words 'towns' (there are: given, family"),
        ("code('plants', i)", "code('plant', i)", "data.1: there is no table 'plant' with a `code`"),
        ("roll('stock', i, 20)", "roll('stock', i, 0)", "data.1: roll(salt, i, n): n is at least 1"),
    ],
)
def test_a_typo_is_one_line_before_anything_runs(right: str, typo: str, said: str) -> None:
    assert right in TEXT
    with pytest.raises(InputError) as caught:
        app_explorer(environment=open_app(application=TEXT.replace(right, typo, 1)))
    line = str(caught.value)
    assert said in line
    assert "\n" not in line
    assert len(line) < 400


def test_a_typo_ends_the_command_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(TEXT.replace("word('town', i)", "word('towns', i)"))
    with pytest.raises(SystemExit) as ended:
        main(["build", "app-desk", "--tasks=3", f"--set=source.application={mine}", f"--store={tmp_path / 'store'}"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "data.0: there is no list of words 'towns'" in line
