"""A model proposes applications for a policy over HTTP, and lies: nothing gets in but the one that holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from stand_ins.model_server import ModelServer
from stand_ins.model_server.designing import FLAWS, ArchitectPlayer

import synth
from synth.cli import main
from synth.dataset.rules.validate import validate
from synth.environments.app.reading import load_definition
from synth.exploration.app.architect import policy_lines

pytestmark = pytest.mark.extras


@pytest.fixture
def policy(place: Path, tmp_path: Path) -> Path:
    file = tmp_path / "policy.txt"
    file.write_text("# A boathouse\n" + "\n".join(policy_lines(load_definition("grammar:0"))), "utf-8")
    return file


def test_every_lie_is_told_and_the_honest_file_gets_in(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, calls = tmp_path / "desk.yaml", len(FLAWS) + 2  # a reply that is no object is asked for once more
    with ModelServer({"toy": ArchitectPlayer(0, FLAWS)}) as server:
        main(["architect", str(policy), "--model", "toy", "--endpoint", server.url, "--out", str(out)])
        assert len(server.log.records()) == calls
    said = capsys.readouterr().out
    assert [line.partition(":")[0] for line in said.splitlines()[: len(FLAWS)]] == [
        f"attempt {number}" for number in range(1, len(FLAWS) + 1)
    ]
    assert f"{calls} model calls over all runs" in said
    made = synth.build(
        "app-desk", tasks=4, out=tmp_path / "out", store=tmp_path / "store", settings={"source.application": str(out)}
    )
    assert validate(made.path) == []


def test_a_model_that_only_lies_leaves_no_file_and_goes_on_where_it_stopped(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write_text(policy.read_text("utf-8") + "\nNobody works at night.", "utf-8")
    for attempts, calls in ((2, 2), (3, 1), (3, 0)):  # those that were made are in the store
        with ModelServer({"toy": ArchitectPlayer(0, ())}) as server:
            given = ["--model", "toy", "--endpoint", server.url, "--out", str(tmp_path / "desk.yaml")]
            with pytest.raises(SystemExit) as ended:
                main(["architect", str(policy), *given, "--attempts", str(attempts)])
            assert (ended.value.code, len(server.log.records())) == (3, calls)
        told = capsys.readouterr()
        assert f"{attempts} model calls over all runs" in told.out
        assert f"none of {attempts} applications held" in told.err
    assert not (tmp_path / "desk.yaml").exists()
