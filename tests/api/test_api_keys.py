"""A build whose server says the key again and again: nothing that is kept holds it, and a push knows it afterwards."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from stand_ins.call_log import replies
from stand_ins.model_server import FixedPlayer, ModelServer, Reply, ServerOptions

import synth
from synth.dataset.key_hashes import KEYS_FILE, carry, hashes_in
from synth.errors import DatasetError
from synth.identity import digest
from synth.publish.contents import contents
from synth.publish.leaks import Machine, leaks, this_machine
from synth.schemas.reports import BuildReport
from synth.store.calls import CallStore
from synth.store.calls_format import CALLS_FILE

KEY = "bQ7-xkeWm4RtZp0c-9uLa"
VARIABLE = "SYNTH_TEST_CREDENTIAL"


def _parrot(request: Mapping[str, Any], sample: str | None) -> Reply:
    """Says the key in its thoughts, its answers and its errors."""
    if digest("worn", sample or "")[0] in "0123":
        raise RuntimeError(f"the key {KEY} is worn out")
    return Reply(content=f"<answer>{KEY}</answer>", reasoning=f"I was called with {KEY}.")


def _texts(folder: Path) -> list[tuple[str, str]]:
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        found.append((path.name, data.decode("latin-1")))
        if path.suffix == ".parquet":
            found.append((path.name, json.dumps(pq.read_table(path).to_pylist(), default=str)))
        if data[:2] == b"\x1f\x8b":
            found.append((path.name, gzip.decompress(data).decode("latin-1")))
        if data[:1] == b"\x78":
            found.append((path.name, zlib.decompress(data).decode("latin-1")))
    with CallStore(folder / "store" / CALLS_FILE) as calls:
        found += [("a stored reply", reply.body.decode()) for reply in replies(calls)]
    return found


TOWNS = {"Ashford": "Ada Lindqvist", "Brenton": "Boris Malek", "Carrow": "Clara Oduya", "Dunmore": "Dmitri Voss"}


def _pages(folder: Path) -> Path:
    folder.mkdir()
    for town, founder in TOWNS.items():
        text = f"<h1>{town}</h1><p>{town} is a town by the sea. It was founded by {founder} in 1815.</p>"
        (folder / f"{town}.html").write_text(text)
    return folder


def _questions(path: Path) -> Path:
    lines = ({"question": f"Who founded the town of {town}?", "answer": who} for town, who in TOWNS.items())
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    with pytest.MonkeyPatch.context() as patch, ModelServer(FixedPlayer(_parrot), ServerOptions(api_key=KEY)) as server:
        patch.setenv(VARIABLE, KEY)
        role = {"backend": "openai", "model": "m", "base_url": server.url, "api_key_env": VARIABLE, "attempts": 2}
        role["patience"] = {"first_delay": 0.01, "longest_delay": 0.02}
        settings = {"critical": None, "preferences": None, "distractors": None, "contexts": None}
        settings |= {"rl": False, "roles.policy": role, "difficulty": None}
        given = {"source": _pages(folder / "docs"), "tasks_file": _questions(folder / "questions.jsonl")}
        synth.build("docs-search", **given, out=folder / "out", store=folder / "store", settings=settings)
        assert server.log.records()
    return folder


def test_no_file_of_a_build_holds_the_key_that_its_server_says(built: Path) -> None:
    texts = _texts(built)
    assert not [name for name, text in texts if KEY in text or KEY[:12] in text]
    assert [name for name, text in texts if name == "a stored reply" and "[redacted]" in text]
    assert [name for name, text in texts if name.endswith(".parquet") and "[redacted]" in text]


def test_a_push_knows_the_key_when_its_variable_is_not_set_any_more(built: Path, tmp_path: Path) -> None:
    assert (built / "out" / KEYS_FILE).stat().st_mode & 0o777 == 0o600
    known = hashes_in(built / "out")
    assert known is not None
    assert known == hashes_in(built / "store")
    machine = this_machine(built / "out", None, {})
    assert machine.keys == known
    files, beside = contents(built / "out")
    assert KEYS_FILE not in beside
    assert not leaks(files, Machine(keys=known))
    carry([built / "out"], tmp_path)
    (tmp_path / "README.md").write_text(f"# Title\n\nCalled with {KEY}.\n")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "report.json").write_text("{}")
    rows = pq.read_table(next((built / "out/tasks").glob("*.parquet")))
    for number, planted in enumerate((KEY, KEY.encode().hex(), f"a {KEY} b")):
        place = rows.schema.get_field_index("question")
        said = [planted if row == 1 else "Who?" for row in range(rows.num_rows)]
        pq.write_table(
            rows.set_column(place, rows.schema.field(place), [said]),
            tmp_path / f"tasks/train-0000{number}-of-00003.parquet",
        )
    found = [str(one) for one in leaks(contents(tmp_path)[0], this_machine(tmp_path, None, {}))]
    assert found == [
        "README.md: line 3 holds a key that it was built with",
        *(
            f"tasks/train-0000{number}-of-00003.parquet, row 1: question holds a key that it was built with"
            for number in range(3)
        ),
    ]


def test_a_push_of_a_dataset_that_holds_the_key_is_refused_by_one_line(built: Path, tmp_path: Path) -> None:
    from synth.dataset.layout import write_dataset
    from synth.dataset.reader import load

    dataset = load(built / "out")
    report: BuildReport = dataset.report
    said = {**report.recipe, "description": f"Made with {KEY}."}
    tables = {config: dataset.batches(config) for config in dataset.configs}
    write_dataset(tmp_path / "out", tables, report.model_copy(update={"recipe": said}))
    carry([built / "out"], tmp_path / "out")
    with pytest.raises(DatasetError, match="holds a key that it was built with") as caught:
        synth.push(tmp_path / "out", "ann/w", dry_run=True)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
