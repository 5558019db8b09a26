"""What may not leave the machine is found wherever it stands, and is not repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exporter_samples import PROVENANCE, sample_report, sample_tables

from synth.api import push
from synth.dataset.configs import CONFIGS, Config
from synth.dataset.layout import write_dataset
from synth.errors import DatasetError, InputError
from synth.publish.contents import contents
from synth.publish.leaks import Machine, leaks, this_machine, without_licence
from synth.schemas.arrow import arrow_schema, to_arrow
from synth.schemas.tasks import Task
from synth.sources.keys import ISSUED
from synth.sources.private import PrivateKind, find_private, masked
from synth.tasks.draft import finish as task_of
from synth.tasks.given import GivenQuestion, bare_task

pytestmark = pytest.mark.thorough

REPO = "ann/world-search"
SECRET = "correct horse battery staple"


def test_a_dry_run_needs_no_token_and_no_network(small: Path) -> None:
    said: list[str] = []
    done = push(small, REPO, dry_run=True, announce=said.append)
    assert done.dry_run
    assert done.private
    assert set(done.sent) == {path.relative_to(small).as_posix() for path in small.rglob("*") if path.is_file()}
    assert [line for line in said if line.startswith("not compared with the Hub")]


def test_nothing_is_pushed_offline(small: Path) -> None:
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        push(small, REPO)


@pytest.mark.parametrize("repo", ["world-search", "a/b/c", "ann/", "ann/../x", "ann/x y", "ann/x.git", "-ann/x", ""])
def test_a_bad_name_is_refused(repo: str, small: Path) -> None:
    with pytest.raises(InputError, match="is not a repository name"):
        push(small, repo, dry_run=True)


@pytest.mark.parametrize("revision", ["", "-x", "a..b", "a b", "0" * 40])
def test_a_bad_branch_is_refused(revision: str, small: Path) -> None:
    with pytest.raises(InputError, match="is not a branch name"):
        push(small, REPO, revision=revision, dry_run=True)


def test_an_invalid_dataset_is_not_pushed(little: Callable[[], Path]) -> None:
    folder = little()
    (folder / "report.json").unlink()
    with pytest.raises(DatasetError, match=r"it is not valid: report\.json"):
        push(folder, REPO, dry_run=True)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("Made from /ho" + "me/ann/docs.", "an absolute path"),
        (r"Made from C:\Users\ann.", "an absolute path"),
        ("The teacher was at http://10.1.2.3:8000/v1.", "a private host"),
        ("The teacher was at http://gpu-7:8000/v1.", "a private host"),
        ("The teacher was at https://vllm.corp/v1.", "a private host"),
        ("Key: hf_" + "a1" * 17, "a key or token"),
        ("Key: sk-" + "proj-" + "a1" * 17, "a key or token"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----", "a key or token"),
    ],
)
def test_the_card_may_not_name_the_machine_or_hold_a_key(line: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"# Title\n\n{line}\n")
    (found,) = leaks(contents(tmp_path)[0], Machine())
    assert str(found) == f"README.md: line 3 holds {what}"


def test_a_dataset_that_says_too_much_is_not_pushed(little: Callable[[], Path]) -> None:
    folder = little()
    card = folder / "README.md"
    card.write_text(f"{card.read_text()}Made in {folder}.\n")
    with pytest.raises(DatasetError, match="it holds what must not be published: README") as caught:
        push(folder, REPO, dry_run=True)
    assert str(folder) not in str(caught.value).removeprefix(str(folder))


KEYS = {
    "endpoint": ["sk-" + "ant-api03-" + "aB3_" * 9, "sk-" + "a1" * 12],
    "payments": ["sk_" + "live_" + "a1" * 9],
    "forge": ["gh" + "p_" + "a1" * 18, "github_" + "pat_" + "a1" * 20, "gl" + "pat-" + "a1" * 10],
    "cloud": ["AK" + "IA" + "A1" * 8, "AI" + "za" + "a1-_b" * 7],
    "chat": ["xo" + "xb-" + "12-ab" * 4],
    "hub": ["h" + "f_" + "a1" * 15],
    "packages": ["np" + "m_" + "a1" * 18, "py" + "pi-AgE" + "a1" * 25],
    "mail": ["S" + "G." + "a1" * 10 + "." + "b2" * 20],
    "signed": ["ey" + "J" + "a1" * 6 + ".ey" + "J" + "b2" * 9 + "." + "c3" * 9],
}


@pytest.mark.parametrize("form", ISSUED)
def test_a_push_and_the_scan_know_the_same_keys(form: str, tmp_path: Path) -> None:
    for number, key in enumerate(KEYS[form]):
        for text in (f"see {key}.", key, f"key={key} and more"):
            assert [one.kind for one in find_private(text)] == [PrivateKind.API_KEY]
            assert key not in masked(text)
            (tmp_path / "tasks").mkdir(exist_ok=True)
            path = tmp_path / "tasks/train-00000-of-00001.parquet"
            pq.write_table(pa.table({"id": [f"t{number}"], "content": [[{"text": text}]]}), path)
            (found,) = leaks(contents(tmp_path)[0], Machine())
            assert str(found).endswith("content holds a key or token")
        assert not find_private(f"x{key}"[:9])


@pytest.mark.parametrize(
    "line",
    [
        "See https://example.org/a/b.",
        "and/or/home",
        "a risk-based-approach-to-everything-else",
        "a sk-learn-compatible-estimator-of-densities",
        "./tmp/x",
        "half-life",
    ],
)
def test_what_is_harmless_is_let_through(line: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(line)
    assert not leaks(contents(tmp_path)[0], Machine())


def test_rows_are_searched_to_their_leaves(tmp_path: Path) -> None:
    rows = [[], [{"text": "fine", "more": ["fine"]}], [{"text": "fine", "more": ["fine", f"see {SECRET}."]}]]
    table = pa.table({"id": ["a", "b", "c"], "content": rows, "number": [1, 2, 3]})
    (tmp_path / "tasks").mkdir()
    path = tmp_path / "tasks/train-00000-of-00001.parquet"
    pq.write_table(table.replace_schema_metadata({"made in": "/mnt/cluster/ann"}), path, row_group_size=2)
    files, _ = contents(tmp_path)
    assert not leaks(files, Machine())
    found = [str(problem) for problem in leaks(files, Machine(secrets=(SECRET,), paths=("/mnt/cluster/ann",)))]
    assert found == [
        "tasks/train-00000-of-00001.parquet: the footer's made in holds a folder or the name of this machine",
        "tasks/train-00000-of-00001.parquet, row 2: content holds a secret of this machine's environment",
    ]


def _leaves(kind: pa.DataType, path: str) -> Iterator[str]:
    if pa.types.is_string(kind):
        yield path
    elif pa.types.is_list(kind):
        yield from _leaves(kind.value_type, path)
    elif pa.types.is_struct(kind):
        for field in kind:
            yield from _leaves(field.type, f"{path}.{field.name}")


def _planted(kind: pa.DataType, path: str, text: str) -> Any:
    """A value of ``kind`` that holds nothing but ``text`` at ``path``."""
    if pa.types.is_list(kind):
        return [_planted(kind.value_type, path, text)]
    if pa.types.is_struct(kind):
        name, _, rest = path.partition(".")
        return {name: _planted(kind.field(name).type, rest, text)}
    return text


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_no_text_of_any_table_is_overlooked(config: Config, tmp_path: Path) -> None:
    schema = arrow_schema(config.row_type)
    paths = [path for field in schema for path in _leaves(field.type, field.name)]
    assert paths
    text = "made in /mnt/cluster/ann/x on gpu-node-7 with gh" + "p_" + "a1" * 18
    (tmp_path / config.name).mkdir()
    for number, path in enumerate(paths):  # a file for each, as one that was found hides the next in its column
        name, _, rest = path.partition(".")
        column = pa.array([_planted(schema.field(name).type, rest, text)], schema.field(name).type)
        file = tmp_path / config.name / f"train-{number:05d}-of-{len(paths):05d}.parquet"
        pq.write_table(pa.table({name: column}), file)
    found = [
        str(one) for one in leaks(contents(tmp_path)[0], Machine(paths=("/mnt/cluster/ann",), secrets=("node-7 w",)))
    ]
    assert len(found) == 3 * len(paths)
    for what in ("a key or token", "a secret of this machine's environment", "a folder or the name of this machine"):
        assert sum(line.endswith(f"holds {what}") for line in found) == len(paths)


def test_no_text_beside_the_tables_is_overlooked(little: Callable[[], Path]) -> None:
    folder = little()
    assert not leaks(contents(folder)[0], this_machine(folder, None))
    beside = [file for file in contents(folder)[0] if file.path.suffix != ".parquet"]
    assert {file.path.suffix for file in beside} == {".md", ".json", ".svg", ".yaml"}
    for file in beside:
        file.path.write_bytes(file.path.read_bytes() + f"\n{folder}\n".encode())
    found = leaks(beside, Machine(paths=(str(folder),)))
    assert {problem.file for problem in found} == {file.name for file in beside}


def test_what_a_machine_knows_of_itself(tmp_path: Path) -> None:
    environment = {"MY_API_KEY": SECRET, "HUB_TOKEN": "short", "HOME": "x", "KEYBOARD": "a very long value indeed"}
    machine = this_machine(tmp_path / "dataset", "hf_of_the_login", environment)
    assert machine.secrets == tuple(sorted((SECRET, "hf_of_the_login")))
    assert str(tmp_path) in machine.paths
    # The mock Hub's, which stands in pages about it, is no secret; one of the Hub has 37 characters.
    assert this_machine(tmp_path / "dataset", "hf_mock", {"HF_TOKEN": "hf_mock"}).secrets == ()


def test_rows_without_a_licence_and_without_documents_are_not_published(tmp_path: Path) -> None:
    tables = sample_tables(5)
    del tables["documents"]
    place = tables["tasks"].schema.get_field_index("licence")
    bare = pa.array([None] * tables["tasks"].num_rows, pa.string())
    tables["tasks"] = tables["tasks"].set_column(place, tables["tasks"].schema.field(place), bare)
    write_dataset(tmp_path / "dataset", tables, sample_report(tables))
    assert without_licence(contents(tmp_path / "dataset")[0]) == {"tasks": 5}


def test_rows_that_nobody_licensed_are_refused_in_public_and_named_in_private(tmp_path: Path) -> None:
    given = bare_task(GivenQuestion(1, "Where is Mosk?", "Tervia"), None)
    rejected = sample_tables(1)["rejected"].slice(0, 0)
    tables = {"tasks": to_arrow([task_of(given.draft, (), PROVENANCE, 0)], Task), "rejected": rejected}
    write_dataset(tmp_path / "dataset", tables, sample_report(tables))
    said = r"no licence is stated for rows of tasks 1, which have no documents.*leave out --public"
    with pytest.raises(DatasetError, match=said):
        push(tmp_path / "dataset", REPO, public=True, dry_run=True)
    told: list[str] = []
    assert push(tmp_path / "dataset", REPO, dry_run=True, announce=told.append).private
    assert [line for line in told if "rows of tasks 1: keep the repository private" in line]


def test_what_is_no_part_of_a_dataset_stays_at_home(little: Callable[[], Path]) -> None:
    folder = little()
    (folder / ".cache").mkdir()
    (folder / ".cache/token").write_text("mine")
    (folder / "notes.md").write_text("mine")
    done = push(folder, REPO, dry_run=True)
    assert done.left_out == (".cache/token", "notes.md")
    assert not set(done.left_out) & set(done.sent)
