"""Documents that are rows of a dataset of the Hub, which a stand-in plays; in processes of their own, since the process
of the tests stays offline."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import synth
from synth.dataset.rules.validate import validate
from synth.mocks.hub import HubServer

REPO = "ann/notes"
ROWS = [
    {
        "url": f"https://example.org/{n}",
        "name": f"Mill {n}",
        "body": f"Mill {n} was built in {1800 + n}. It stands by a river and ground rye for the village below.",
    }
    for n in range(12)
]
COLUMNS = {"text": "body", "title": "name"}
READ = """
import json, sys
from synth.errors import SynthError
from synth.sources.records.hub import HubConfig, HubRecords
for keys in json.loads(sys.argv[1]):
    try:
        source = HubRecords(HubConfig(**keys))
        read = source.read(source.files)
        rows = [[one.id, one.title, one.url] for one in read.documents]
        print(json.dumps([source.digest(), rows, [str(one.reason) for one in read.rejected]]))
    except SynthError as error:
        print(json.dumps([str(error)]))
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), file)
    with HubServer(tmp_path_factory.mktemp("hub"), token="t") as server:
        repos = server.repositories
        repos.create(REPO, private=False)
        data = {"data/train-00000-of-00001.parquet": repos.regular(file.getvalue()), "README.md": repos.regular(b"#\n")}
        repos.commit(REPO, "main", None, "rows", data, ())
        yield server


def environment(hub: HubServer, home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PREFECT_"))}
    off = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    return {**kept, **off, "HF_ENDPOINT": hub.url, "HF_HOME": str(home)}


def read(hub: HubServer, home: Path, *keys: dict[str, Any]) -> list[Any]:
    command = [sys.executable, "-c", READ, json.dumps([{"path": REPO, "columns": COLUMNS, **one} for one in keys])]
    done = subprocess.run(command, env=environment(hub, home), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_rows_are_documents_named_by_a_commit(hub: HubServer, tmp_path: Path) -> None:
    commit = hub.repositories.history(REPO)[0].id
    whole, pinned, fewer, *wrong = read(
        hub,
        tmp_path,
        {},
        {"revision": commit},
        {"rows": 3},
        {"columns": {"text": "content"}},
        {"split": "nowhere"},
        {"path": "ann/nothing"},
        {"columns": {"words": "body"}},
    )
    assert whole[1] == [[f"train#{n + 1}", f"Mill {n}", f"https://example.org/{n}"] for n in range(12)]
    assert pinned == whole, "a branch stands for the commit that it points at"
    assert fewer[1] == whole[1][:3]
    assert fewer[0] != whole[0]
    for (told,), words in zip(
        wrong,
        ("no column 'content'", "ann/notes can't be read", "ann/nothing can't be read", "no column 'words'"),
        strict=True,
    ):
        assert words in told
        assert "\n" not in told
    assert "url, name, body" in wrong[0][0], "it says which columns there are"


def test_a_build_over_a_dataset_of_the_hub(hub: HubServer, tmp_path: Path) -> None:
    asked = tmp_path / "questions.jsonl"
    lines = [{"question": f"In which year was Mill {n} built?", "answer": str(1800 + n)} for n in range(4)]
    asked.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [
        str(Path(sys.executable).with_name("synth")),
        "build",
        "docs-search",
        "--source",
        f"hf://datasets/{REPO}",
    ]
    command += ["--tasks-file", str(asked), "--set", f"source.columns={json.dumps(COLUMNS)}"]
    command += ["--out", str(tmp_path / "out"), "--store", str(tmp_path / "store"), "--set", "contexts=null"]
    done = subprocess.run(command, env=environment(hub, tmp_path), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert validate(tmp_path / "out") == []
    dataset = synth.load(tmp_path / "out")
    assert dataset.report.source.kind == "hub"
    assert [task.gold_documents for task in dataset.rows("tasks")] != []
    assert {task.answer for task in dataset.rows("tasks")} == {"1800", "1801", "1802", "1803"}


def test_a_pinned_build_goes_on_without_a_network(hub: HubServer, tmp_path: Path) -> None:
    commit = hub.repositories.history(REPO)[0].id
    here, gone = environment(hub, tmp_path), {**environment(hub, tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"}
    code = f"""
from synth.stages.read_records import ReadHub, ReadHubConfig
print(ReadHub.content_digest(ReadHubConfig(path="{REPO}", revision="{commit}")))
"""
    told = [
        subprocess.run([sys.executable, "-c", code], env=where, capture_output=True, text=True, timeout=300)
        for where in (here, gone)
    ]
    assert [one.returncode for one in told] == [0, 0], told[1].stderr
    assert told[0].stdout == told[1].stdout != ""
