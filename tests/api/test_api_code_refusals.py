"""A folder that is no project with passing tests is told in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.cli import main


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"code.py": "x = 1\n"}, "it holds no tests"),
        ({"test_a.py": "def test_a():\n    assert True\n"}, "it holds no Python beside tests"),
        (
            {"code.py": "x = 1\n", "test_a.py": "def test_a():\n    assert False\n"},
            "no test passes on the project as it is",
        ),
        (
            {"code.py": "x = 1\n", "test_a.py": "import pytest, not_there_2\n\ndef test_a():\n    assert True\n"},
            "its tests import not_there_2, not installed here. Install beside synth what provides not_there_2",
        ),
    ],
)
def test_a_project_that_does_not_do_is_one_line(
    files: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    places = [f"--store={tmp_path / 'store'}", f"--out={tmp_path / 'out'}"]
    with pytest.raises(SystemExit) as end:
        main(["build", "code-repair", "--tasks=1", f"--source={tmp_path}", *places])
    assert end.value.code
    assert said in capsys.readouterr().err
