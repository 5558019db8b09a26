"""``synth plan`` says what looking for duplicates will take, and whether the source gives enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from synth.api import BuildRequest, prepare
from synth.cli import main
from synth.cli.text import outlook_text
from synth.engine.supply import Supply


def test_the_plan_of_ten_million_tasks_says_how_much_memory_that_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["plan", "world-search", "--tasks", "10000000", "--no-sample", "--store", str(tmp_path / "store")]
    main(asked)
    _, _, plan = capsys.readouterr().out.partition("duplicates among")
    said = {line.split()[0]: line for line in plan.splitlines()[1:]}
    assert said["tasks"].split()[5:8] == ["10,000,000", "227", "MB"]
    assert "?" in said["pairs"]
    assert "10,000,000" in said["trajectories"]
    assert "documents" not in said  # those of a generated world are not compared
    main([*asked, "--set", "dedup.tasks.near=null", "--set", "dedup.tasks.cluster=null", "--set", "dedup.pairs=null"])
    again = capsys.readouterr().out
    assert "131 MB" in again
    assert "\npairs " not in again
    main([*asked, "--set", "dedup=null"])
    assert "duplicates among" not in capsys.readouterr().out


@pytest.mark.parametrize(("candidates", "said"), [(None, "source.entities=7000, or ask for fewer"), (9_000, "9,000")])
def test_the_plan_of_a_source_that_runs_dry_says_what_to_change(
    tmp_path: Path, candidates: int | None, said: str
) -> None:
    prepared = prepare(BuildRequest(dataset="world-search", tasks=5_000, store=tmp_path), progress="quiet")
    outlook = prepared.outlook(sample=False)
    assert "judged by" not in outlook_text(outlook)
    supply = Supply("tasks", 4_096, 2_345, 5_000, candidates)
    text = " ".join(outlook_text(replace(outlook, supply=supply)).split())
    assert text.endswith(said)
    assert ("gives about 2,300 that differ" in text) == (candidates is None)
