"""``synth plan`` says what looking for duplicates will take."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.cli import main


def test_the_plan_of_ten_million_tasks_says_how_much_memory_that_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["plan", "world-search", "--tasks", "10000000", "--store", str(tmp_path / "store")]
    main(asked)
    _, _, plan = capsys.readouterr().out.partition("duplicates among")
    said = {line.split()[0]: line for line in plan.splitlines()[1:]}
    assert said["tasks"].split()[5:8] == ["10,000,000", "28.2", "GB"]
    assert "?" in said["pairs"]
    assert "10,000,000" in said["trajectories"]
    assert "documents" not in said  # those of a generated world are not compared
    main([*asked, "--set", "dedup.tasks.near=null", "--set", "dedup.tasks.cluster=null", "--set", "dedup.pairs=null"])
    again = capsys.readouterr().out
    assert "13.5 GB" in again
    assert "\npairs " not in again
    main([*asked, "--set", "dedup=null"])
    assert "duplicates among" not in capsys.readouterr().out
