"""Every command on folders that are not datasets, and with meaningless values: one clear line, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synth.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "dataset"))
from critical_samples import whole_tables
from exporter_samples import sample_report

from synth.dataset.layout import write_dataset

pytestmark = pytest.mark.thorough

COMMANDS: dict[str, list[str]] = {
    "show": ["show", "DIR"],
    "show a row": ["show", "DIR", "--id", "task-0001", "--json"],
    "scan": ["scan", "DIR"],
    "stats": ["stats", "DIR"],
    "stats as JSON": ["stats", "DIR", "--json"],
    "validate": ["validate", "DIR", "--deep"],
    "validate as JSON": ["validate", "DIR", "--json"],
    "export": ["export", "DIR", "--to", "trl-sft", "--out", "OUT"],
    "mix": ["mix", "DIR=1", "GOOD=1", "--out", "OUT"],
    "push": ["push", "DIR", "--repo", "ann/w", "--dry-run"],
    "redact": ["redact", "DIR", "--out", "OUT"],
    "rehydrate": ["rehydrate", "DIR", "--from", "GOOD", "--out", "OUT"],
    "serve-reward": ["serve-reward", "DIR", "--port", "0"],
    "serve-env": ["serve-env", "DIR", "--port", "0"],
    "report": ["report", "DIR", "--out", "OUT.html"],
}
TAKE_THE_REPORT = {*COMMANDS} - {"show", "show a row", "scan", "serve-reward"}
"""The others need the tables alone, as an import or a table that was annotated has them."""

Damage = Callable[[Path], None]


def _bytes(name: str, data: bytes) -> Damage:
    def damage(folder: Path) -> None:
        (path,) = folder.glob(name)
        path.write_bytes(data)

    return damage


def _report(**changes: object) -> Damage:
    def damage(folder: Path) -> None:
        report = json.loads((folder / "report.json").read_text())
        (folder / "report.json").write_text(json.dumps(report | changes))

    return damage


def _folder(folder: Path) -> None:
    (folder / "report.json").unlink()
    (folder / "report.json").mkdir()


def _without(folder: Path) -> None:
    shutil.rmtree(folder)


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file")


def _table(change: Callable[[pa.Table], pa.Table]) -> Damage:
    def damage(folder: Path) -> None:
        for name in ("tasks", "trajectories", "documents", "rl"):
            for path in (folder / name).glob("*.parquet"):
                pq.write_table(change(pq.read_table(path)), path)

    return damage


TASKS, RUNS = "tasks/train-*.parquet", "trajectories/train-*.parquet"
DAMAGES: dict[str, tuple[Damage, set[str], str]] = {
    "missing": (_without, {*COMMANDS}, "no such folder"),
    "a file": (_file, {*COMMANDS}, "no such folder"),
    "an empty folder": (_emptied, {*COMMANDS}, "no dataset"),
    "another version": (_report(schema_version="999"), {*COMMANDS}, "written with schema 999"),
    "a later report": (_report(schema_version="9.0.0", invented=1), {*COMMANDS}, "written with schema 9.0.0"),
    "an empty report": (_bytes("report.json", b""), TAKE_THE_REPORT, ""),
    "a binary report": (_bytes("report.json", bytes(range(256))), TAKE_THE_REPORT, ""),
    "a list as report": (_bytes("report.json", b"[]"), TAKE_THE_REPORT, ""),
    "a report nested too deep": (_bytes("report.json", b"[" * 100_000), TAKE_THE_REPORT, ""),
    "a folder as report": (_folder, TAKE_THE_REPORT - {"export", "mix"}, ""),
    "an empty table": (_bytes(RUNS, b""), {"show", "scan", "stats", "validate", "export", "push", "report"}, ""),
    "a binary table": (
        _bytes(TASKS, bytes(range(256)) * 9),
        {"scan", "stats", "validate", "mix", "push", "report"},
        "",
    ),
    "no column id": (
        _table(lambda table: table.drop_columns(["id"])),
        {"show", "show a row", "stats", "validate", "export", "mix", "push", "report"},
        "",
    ),
    "a column of numbers": (
        _table(lambda table: table.set_column(table.column_names.index("id"), "id", pa.array(range(len(table))))),
        {"show", "show a row", "stats", "validate", "export", "mix", "push", "report"},
        "",
    ),
    "keys that can't be read": (_bytes(".keys.json", b"{"), {"push"}, ".keys.json"),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("careless") / "good"
    tables = whole_tables(5)
    write_dataset(folder, tables, sample_report(tables))
    (folder / ".keys.json").write_text("{}")
    return folder


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _fails(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The line that a failed command says; nothing in ``folder`` changed."""
    before = _tree(folder)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    line = said.err.rstrip("\n").rsplit("\n", 1)[-1]
    assert ended.value.code in (2, 4, 5), said.err
    assert line.startswith("synth: "), said.err
    assert "Traceback" not in said.err + said.out
    assert len(line) < 1_000
    if "--json" in arguments and said.out:
        json.loads(said.out)
    assert _tree(folder) == before, "a failed command changed what was there"
    return line


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_no_dataset_is_one_line(
    name: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, commands, words = DAMAGES[name]
    shutil.copytree(good, tmp_path / "data")
    damage(tmp_path / "data")
    places = {"DIR": "data", "DIR=1": "data=1", "GOOD": str(good), "GOOD=1": f"{good}=1", "OUT": "out"}
    for command in sorted(commands):
        line = _fails([places.get(word, word) for word in COMMANDS[command]], tmp_path, capsys)
        assert words in line, command
        assert not (tmp_path / "out").exists()


OPTIONS: dict[str, str] = {
    "show GOOD --id": "requires an argument",
    "show GOOD --id https://example.org/page": "no row has the id 'https://example.org/page'",
    "show GOOD --role king": "no king trajectory",
    "show GOOD --failed --role teacher --json": "no failed teacher trajectory",
    "stats GOOD extra": "extra",
    "stats": "DIR",
    "scan GOOD --jsno": "--json",
    "validate GOOD --benchmark x.jsonl": "--deep",
    "validate GOOD --deep --benchmark folder": "is a folder, not a file. Give a file that ends in",
    "validate GOOD --deep --benchmark none.jsonl": "does not exist",
    "export GOOD --to csv --out out --json": "Choose one of",
    "export GOOD --to trl-sft": "--out",
    "export GOOD --to trl-sft --out out --select split=none": "none of train, validation, test",
    "export GOOD --to trl-sft --out out --select rating": "KEY=VALUE",
    "export GOOD --to trl-sft --out out --max-length 0": "--max-length",
    "export GOOD --to trl-sft --out out --max-length 9 --tokenizer folder": "tokenizer",
    "export GOOD --to trl-sft --out file": "not a folder",
    "export GOOD --to trl-sft --out full": "is left alone",
    "export GOOD --to trl-sft --out GOOD": "is left alone",
    "export GOOD --to trl-sft --out /proc/out": "/proc/out",
    "mix GOOD=1 --out out": "a mix needs two or more datasets",
    "mix GOOD=1 COPY --out out": "DIR=WEIGHT",
    "mix GOOD=1 COPY=much --out out": "DIR=WEIGHT",
    "mix GOOD=0 COPY=1 --out out": "is not a weight",
    "mix GOOD=nan COPY=1 --out out": "is not a weight",
    "mix GOOD=1e308 COPY=1e308 --out out": "too large",
    "mix GOOD=1e-320 COPY=1 --out out": "too few to mix",
    "mix GOOD=1 COPY=1 --out out --tasks 0": "too few to mix",
    "mix GOOD=1 COPY=1 --out out --near 7": "--near",
    "mix GOOD=1 COPY=1 --out full --json": "is left alone",
    "push GOOD": "--repo",
    "push GOOD --repo ann": "user/name",
    "push GOOD --repo ann/w --revision a..b --dry-run": "--revision",
    "push GOOD --repo ann/w --cron never": "--cron",
    "push GOOD --repo ann/w --json": "HF_HUB_OFFLINE",
    "redact GOOD --out out": "licence",
    "redact FREE --out full": "is not empty",
    "redact BROKEN --out out": "no Parquet file",
    "redact FREE --out file": "not a folder",
    "redact FREE --out /proc/out": "/proc/out",
    "rehydrate GOOD --from GOOD --out out": "nothing is redacted",
    "rehydrate GOOD --from none --out out": "none",
    "serve-reward GOOD --port 99999": "--port",
    "serve-reward GOOD --host no.invalid --port 0": "--host",
    "serve-env GOOD --over smoke": "'http', 'mcp'",
    "serve-env GOOD --host no.invalid --port 0 --environment app.yaml": "as --host",
    "serve-env GOOD --environment half.yaml": "option 'application' is missing",
    "serve-env GOOD --environment none.yaml": "does not exist",
    "serve-env GOOD --environment folder": "is a folder",
    "serve-env GOOD --environment binary": "UTF-8",
    "serve-env GOOD --environment nested": "nested more than",
    "serve-env GOOD --environment empty": "`kind`",
    "serve-env GOOD --idle nan": "--idle",
    "serve-env GOOD --sessions 0": "--sessions",
    "deploy world-search": "--cron",
    "deploy world-search --cron never": "--cron",
    "deploy world-search --cron @daily --timezone Mars": "--timezone",
    "deploy nothing --cron @daily": "no dataset 'nothing'",
    "deploy --recipe nested --cron @daily": "nested more than",
    "deploy --recipe folder --cron @daily": "is a folder",
    "deploy --recipe binary --cron @daily": "UTF-8",
    "deploy --recipe empty --cron @daily": "mapping",
    "deploy world-search --cron @daily --workers 0": "--workers",
    "deploy world-search --cron @daily --executor cloud": "'local'",
    "doctor patient": "patient",
    "recipe": "no dataset was named",
    "recipe nothing": "no dataset 'nothing'",
    "recipe --recipe nested": "nested more than",
    "recipe --recipe folder": "is a folder",
    "recipe world-search --set tasks=many": "tasks: ",
    "recipe world-search --set a=[[[[": "not YAML",
    "init file": "exists already",
    "init folder": "exists already",
    "init none/recipe.yaml": "can't be written",
    "init LONG": "can't be written",
    "init new.yaml --from nothing": "no dataset 'nothing'",
    "import file --from nothing --out out": "Choose one of",
    "import file --from openai --out out --licence https://example.org/mine": "none of 1 lines is JSON",
    "estimate world-search": "No such command 'estimate'",
}


@pytest.mark.parametrize("said", OPTIONS)
def test_a_value_that_means_nothing_is_one_line(
    said: str, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    for name, text in (("file", "text"), ("empty", ""), ("nested", "[" * 100_000), ("full/mine", "mine")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "app.yaml").write_text("kind: app\napplication: ledger\n")
    (tmp_path / "half.yaml").write_text("kind: app\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    words = said.replace("GOOD", str(good)).replace("COPY", f"{good}/").replace("LONG", "x" * 300).split()
    if found := {"FREE", "BROKEN"} & {*words}:
        tables = whole_tables(5)
        documents = tables["documents"]
        place = documents.column_names.index("licence")
        nothing = pa.nulls(len(documents), pa.string())
        tables["documents"] = documents.set_column(place, documents.schema.field(place), nothing)
        write_dataset(tmp_path / "free", tables, sample_report(tables))
        words = ["free" if word in found else word for word in words]
        if "BROKEN" in found:
            _bytes(RUNS, b"")(tmp_path / "free")
    line = _fails(words, tmp_path, capsys)
    assert OPTIONS[said].lower() in line.lower()
    assert not (tmp_path / "out").exists()


def _process(commands: list[list[str]], **settings: object) -> subprocess.CompletedProcess[str]:
    script = "import json, sys; from synth.cli import main; [main(words) for words in json.loads(sys.argv[1])]"
    given = [sys.executable, "-c", script, json.dumps(commands)]
    return subprocess.run(given, text=True, check=False, stderr=subprocess.PIPE, **settings)  # type: ignore[call-overload,no-any-return]


def test_an_output_that_takes_nothing_more_is_one_line(good: Path) -> None:
    with open("/dev/full", "w") as full:
        done = _process([["stats", str(good)]], stdout=full)
    assert done.returncode == 4
    assert done.stderr == "synth: standard output can't be written: No space left on device\n"


def test_a_terminal_without_our_characters_shows_their_escapes(good: Path) -> None:
    """The pages of the samples quote “the café”."""
    settings = {"stdout": subprocess.PIPE, "env": {**os.environ, "PYTHONIOENCODING": "ascii"}}
    row = ["show", str(good), "--id", "p1"]
    done = _process([[*row, "--json"], row], **settings)
    assert (done.returncode, done.stderr) == (0, "")
    printed, end = json.JSONDecoder().raw_decode(done.stdout)
    assert "“the café”" in printed["text"]
    assert r"caf\u00e9" in done.stdout[end:]
