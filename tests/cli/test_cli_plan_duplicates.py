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
    said = capsys.readouterr().out
    assert "Looking for duplicates among 10,000,000 accepted tasks takes about 27.0 GB of memory and no disk." in said
    main([*asked, "--set", "dedup.tasks.near=null", "--set", "dedup.tasks.cluster=null"])
    assert "takes about 12.3 GB" in capsys.readouterr().out
    main([*asked, "--set", "dedup=null"])
    assert "Looking for duplicates" not in capsys.readouterr().out
