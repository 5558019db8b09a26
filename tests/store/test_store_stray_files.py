"""Files in a store that are not of it: they are left alone, and taken for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.errors import StoreError
from synth.store import Store
from synth.store.files import read_sealed_json, write_sealed_json


def test_a_stray_file_among_the_stage_runs_is_no_stage_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    folder = store.stage("rollouts", "0" * 64)
    folder.create({"fingerprint": "0" * 64})
    stray = [store.root / "stages" / "notes.txt", folder.path.parent / "notes.txt"]
    for path in stray:
        path.write_text("mine")
    assert [(entry.stage, entry.fingerprint) for entry in store.list()] == [("rollouts", "0" * 16)]
    assert len(store.prune(everything=True).removed) == 1
    assert [path.read_text() for path in stray] == ["mine", "mine"]


@pytest.mark.parametrize("what", ["garbage", "folder", "loop", "nested"])
def test_what_is_no_manifest_counts_as_missing(what: str, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    write_sealed_json(manifest, {"rows": 3})
    assert read_sealed_json(manifest) == {"rows": 3}
    manifest.unlink()
    if what == "garbage":
        manifest.write_bytes(b"[[{\xff")
    elif what == "nested":
        manifest.write_text("[" * 100_000)
    elif what == "folder":
        manifest.mkdir()
    else:
        manifest.symlink_to(manifest.name)
    assert read_sealed_json(manifest) is None


def test_a_file_where_the_store_belongs_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("mine")
    with pytest.raises(StoreError, match=r"store: this is not a folder\. Choose another folder"):
        Store(tmp_path / "store").list()
    assert (tmp_path / "store").read_text() == "mine"
