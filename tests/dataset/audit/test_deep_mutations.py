"""Every kind of broken task, planted in the Parquet of a finished dataset, is seen by the rule that is there for it."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from planted import TASKS, Planter
from plants import MUTATIONS, needs_itself, wrong_answer
from rich.console import Console

from synth.cli import main
from synth.dataset.audit import audit, render_audit

pytestmark = pytest.mark.thorough


def test_the_dataset_as_it_was_built_holds(audited: Path) -> None:
    found = audit(audited)
    assert [str(violation) for violation in found.violations] == []
    counts = {rule.rule: rule.rows for rule in found.rules}
    for rule in ("unique", "shortcut", "leak", "gold", "split", "duplicate", "near_duplicate", "provenance"):
        assert counts[rule] == TASKS, rule
    assert counts["evidence"] == counts["stated"] > 2 * TASKS
    assert 2 * TASKS - 2 <= counts["verdict"] <= 2 * TASKS  # a teacher's run that fails is dropped
    assert counts["operation"] > counts["members"] > 10
    assert all(rule.undecided == 0 for rule in found.rules)


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_broken_is_seen_by_its_rule(name: str, planter: Planter) -> None:
    plant, rule = MUTATIONS[name]
    broken = plant(planter)
    found = audit(planter.folder)
    assert rule in {violation.rule for violation in found.violations if violation.id == broken}, found.violations


def test_the_command_shows_every_violation_and_exits_with_5(
    planter: Planter, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = wrong_answer(planter)
    with pytest.raises(SystemExit) as stopped:
        main(["validate", str(planter.folder), "--deep", "--json"])
    assert stopped.value.code == 5
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert {(item["id"], item["rule"]) for item in told["audit"]["violations"]} == {(broken, "answer")}
    (rule,) = (rule for rule in told["audit"]["rules"] if rule["rule"] == "answer")
    assert (rule["rows"], rule["violations"], rule["undecided"]) == (TASKS, 1, 0)
    assert "1 violation" in err


def test_a_dataset_without_facts_is_judged_as_far_as_its_rows_go(planter: Planter) -> None:
    for config in ("facts", "entities"):
        shutil.rmtree(planter.folder / config)
    found = audit(planter.folder)
    assert found.violations == ()
    rules = {rule.rule: rule for rule in found.rules}
    assert rules["unique"].rows == 0
    assert rules["unique"].undecided == TASKS
    assert "no facts" in rules["unique"].why
    assert rules["leak"].rows == rules["answer"].rows == TASKS


def test_the_table_names_rule_rows_and_violations(planter: Planter) -> None:
    needs_itself(planter)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(render_audit(audit(planter.folder)))
    lines = console.export_text().splitlines()
    (walk,) = (line for line in lines if line.startswith("walk"))
    rows, undecided, violations = walk.split()[1:4]
    assert (rows, undecided) == (str(TASKS), "-")
    assert int(violations) >= 1
