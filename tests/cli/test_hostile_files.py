"""Files that are not files, or that no person wrote: each ends in one line at once, within bounded memory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_ins import forked

from synth.cli import main

pytestmark = pytest.mark.thorough

DEEP = 100_000
MEMORY = 3 << 30
SECONDS = 60

WORLD = "name: w\ntasks: 2\nsource: {kind: world, entities: 400}\nquestions: {kind: world}\n"
FILES: dict[str, Callable[[Path], str]] = {}


def file(function: Callable[[Path], str]) -> Callable[[Path], str]:
    FILES[function.__name__] = function
    return function


@file
def endless_device(folder: Path) -> str:
    return "/dev/zero"


@file
def fifo(folder: Path) -> str:
    os.mkfifo(folder / "fifo")
    return str(folder / "fifo")


@file
def directory(folder: Path) -> str:
    (folder / "directory").mkdir()
    return str(folder / "directory")


@file
def binary(folder: Path) -> str:
    (folder / "binary").write_bytes(bytes(range(256)) * 100)
    return str(folder / "binary")


@file
def missing(folder: Path) -> str:
    return str(folder / "missing")


@file
def loop(folder: Path) -> str:
    (folder / "loop").symlink_to("loop")
    return str(folder / "loop")


@file
def sparse(folder: Path) -> str:
    with open(folder / "sparse", "wb") as opened:
        opened.truncate(1 << 42)
    return str(folder / "sparse")


@file
def too_deep(folder: Path) -> str:
    (folder / "deep").write_text("[" * DEEP)
    return str(folder / "deep")


SMALL = ["--set", "source.entities=600", "--tasks", "2"]

USES: dict[str, list[str]] = {
    "recipe": ["build", "--recipe", "FILE"],
    "questions": ["build", "docs-search", "--source", "DOCS", "--tasks-file", "FILE"],
    "records": ["build", "docs-search", "--set", "source={kind: records, path: 'FILE'}", "--tasks", "2"],
    "benchmark": ["build", "world-search", "--set", "decontaminate={benchmarks: ['FILE']}", *SMALL],
    "tokenizer": ["build", "world-search", "--set", "contexts.tokenizer=FILE", *SMALL],
    "import": ["import", "FILE", "--from", "openai", "--out", "OUT"],
    "import-tasks": ["import", "RUNS", "--from", "openai", "--tasks-file", "FILE", "--out", "OUT"],
    "import-benchmark": ["import", "RUNS", "--from", "openai", "--benchmark", "FILE", "--out", "OUT"],
    "book": ["build", "mcp-tools", "--set", "questions.book=FILE", "--tasks", "2"],
}


def one_line(code: int, out: str, err: str) -> str:
    line = err.rstrip("\n").rsplit("\n", 1)[-1]
    assert code in (2, 3), err
    assert "Traceback" not in err + out
    assert line.startswith("synth: "), err
    assert len(line) < 1000
    return line


def in_process(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    return one_line(int(ended.value.code or 0), said.out, said.err)


def laid_out(folder: Path, use: str, name: str) -> list[str]:
    (folder / "docs").mkdir()
    (folder / "docs" / "a.html").write_text("<h1>A</h1><p>Ada Lovelace was born in London in 1815.</p>")
    runs = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada."}]
    (folder / "runs.jsonl").write_text(json.dumps({"messages": runs}) + "\n")
    places = {"FILE": name, "DOCS": str(folder / "docs"), "RUNS": str(folder / "runs.jsonl")}
    places["OUT"] = str(folder / "out")
    found = USES[use]
    for word, place in places.items():
        found = [part.replace(word, place) for part in found]
    return [*found, "--out", places["OUT"]] if found[0] == "build" else found


# Where opening would block or reading would never end, the process is another one, under a limit of memory and time.
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", [name for name in FILES if name not in ("endless_device", "fifo", "sparse")])
def test_a_file_that_is_none_is_one_line(
    use: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYNTH_STORE", str(tmp_path / "store"))
    given = FILES[name](tmp_path)
    line = in_process(laid_out(tmp_path, use, given), capsys)
    assert not (tmp_path / "out").exists()
    if name in ("missing", "loop", "directory"):
        assert given in line


@pytest.mark.parametrize("use", ["recipe", "questions", "records", "benchmark", "import", "book"])
def test_what_never_ends_is_one_line(use: str, tmp_path: Path) -> None:
    held = () if use in ("records", "import") else ("sparse",)  # those two are read line by line, whatever their size
    for name in ("endless_device", "fifo", *held):
        folder = tmp_path / name
        folder.mkdir()
        arguments = laid_out(folder, use, FILES[name](folder))
        store = {"SYNTH_STORE": str(folder / "store")}
        ended = forked.run(arguments, folder, variables=store, memory=MEMORY, seconds=SECONDS)
        one_line(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.parametrize("opened", ["[", "{a: ", "- ", '{"a":['])
def test_nesting_without_end_is_one_line(
    opened: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYNTH_STORE", str(tmp_path / "store"))
    recipe = tmp_path / "r.yaml"
    recipe.write_text(opened * DEEP)
    line = in_process(["plan", "--recipe", str(recipe)], capsys)
    assert f"{recipe}: nested more than" in line
    assert "line 1" in line
    assert "--set" in in_process(["plan", "world-search", "--set", f"tasks={opened * 2_000}"], capsys)


def test_aliases_that_expand_without_end_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYNTH_STORE", str(tmp_path / "store"))
    recipe = tmp_path / "r.yaml"
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    recipe.write_text("\n".join(lines))
    assert "line 6" in in_process(["plan", "--recipe", str(recipe)], capsys)
    recipe.write_text(f"{WORLD}description: &a [*a]\n")
    assert "line 5" in in_process(["plan", "--recipe", str(recipe)], capsys)


def test_an_alias_may_stand_for_what_was_said_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYNTH_STORE", str(tmp_path / "store"))
    recipe = tmp_path / "r.yaml"
    recipe.write_text(
        f"{WORLD}roles:\n  teacher: &who {{rollouts: 2}}\n  policy: {{<<: *who, rollouts: 3}}\ncritical: null\n"
    )
    main(["plan", "--recipe", str(recipe)])
    assert "teacher: scripted x 2, policy: scripted x 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WORLD + "tasks: 5\n", "'tasks' is given twice (lines 2 and 5)"),
        (WORLD + "limits:\n  max_turns: 8\n  max_turns: 9\n", "'max_turns' is given twice (lines 6 and 7)"),
        (WORLD + 'roles: {teacher: {}, policy: {}, "teacher": {}}\n', "'teacher' is given twice (lines 5 and 5)"),
        ('{"name": "w",\n "tasks": 2,\n "tasks": 3}', "'tasks' is given twice (lines 2 and 3)"),
    ],
)
def test_a_key_given_twice_is_named_with_its_lines(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "r.yaml"
    recipe.write_text(text)
    assert words in in_process(["plan", "--recipe", str(recipe), "--store", str(tmp_path / "store")], capsys)


@pytest.mark.parametrize(
    "value",
    [
        *("2020-13-45", "!!int x", "!!bool maybe", "!!timestamp x", "!!binary é", "0x_", "9" * 5000, "!!python/none x"),
        *("\x00", "&a [*a]", "? [a]: b", "*nowhere", "{a: 1, a: 2}", "'\\ud800'", '"\\ud800"'),
    ],
)
def test_a_value_that_yaml_cannot_hold_is_one_line(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(tmp_path / "store")]
    in_process(["plan", "world-search", *where, "--set", f"tasks={value}"], capsys)
    recipe = tmp_path / "r.yaml"
    recipe.write_text(f"{WORLD}description: {value}\nsead: 1\n", encoding="utf-8", errors="surrogatepass")
    in_process(["plan", "--recipe", str(recipe), *where], capsys)
