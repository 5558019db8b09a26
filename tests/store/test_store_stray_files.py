"""Files in a store that are not of it: they are left alone, and taken for nothing."""

from __future__ import annotations

from pathlib import Path

from synth.store import Store


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
