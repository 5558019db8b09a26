"""A store that another version of synth made is refused, with the option that keeps what its models replied."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from synth.cli import main
from synth.mocks.model import ModelServer
from synth.mocks.model.cast import Cast


def test_replies_of_a_store_of_another_format_are_not_paid_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, another = tmp_path / "store", tmp_path / "another"
    with ModelServer(Cast(None)) as server:
        teacher = f"roles.teacher={{backend: openai, model: any, endpoints: ['{server.url}']}}"
        command = [
            "preview",
            "world-search",
            "--set",
            "source.entities=400",
            "--set",
            teacher,
            "--tasks",
            "2",
            "--json",
        ]
        main([*command, "--store", str(store)])
        first = json.loads(capsys.readouterr().out)
        paid = len(server.log.records())
        assert paid > 0
        (store / "format.json").write_text('{"format": 999}')
        with pytest.raises(SystemExit) as ended:
            main([*command, "--store", str(store)])
        assert ended.value.code == 4
        option = re.search(r"--store ANOTHER (--calls \S+)", capsys.readouterr().err)
        assert option is not None
        main([*command, "--store", str(another), *option[1].split()])
        assert json.loads(capsys.readouterr().out) == first
        assert len(server.log.records()) == paid
