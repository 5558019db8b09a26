"""Sources, datasets and results lie on this machine or in storage elsewhere; every other place is a local one, or one
line says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from shared_builds import LEAN, WORLD, hashes, world_store

import synth
from synth.cli import main
from synth.errors import DatasetError, InputError, StoreError
from synth.recipe.load import load_recipe, parse_recipe
from synth.store import Store, check_destination
from synth.store.remote import local_copy, local_dataset, upload, url_of

COMMANDS = [
    ["build", "world-search", "--store", "hf://datasets/ann/w"],
    ["build", "--recipe", "file:///recipe.yaml"],
    ["plan", "world-search", "--store", "s3://bucket"],
    ["init", "s3://bucket/recipe.yaml"],
    ["report", "out/w", "--out", "s3://bucket/w.html"],
    ["evaluate", "out/w", "--model", "scripted", "--out", "s3://bucket/w"],
]


def fails(command: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(command)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return int(str(end.value.code)), said


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_refuses_a_url(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = fails(command, capsys)
    assert code == 2
    assert "is not on this machine" in said
    assert not list(tmp_path.iterdir())


UNUSABLE = {
    "no storage": (["build", "docs-search", "--source", "https://example.org/docs"], 2, "https:// is no storage"),
    "no driver": (["build", "world-search", "--out", "az://box/w"], 2, "pip install adlfs"),
    "no driver to read": (["stats", "az://box/w"], 2, "pip install adlfs"),
    "a commit per file": (["build", "world-search", "--out", "hf://datasets/ann/w"], 2, "`synth push`"),
    "nothing there": (["validate", "memory://nowhere/w"], 2, "there is no such bucket, folder or file"),
    "no source there": (["plan", "docs-search", "--source", "memory://nowhere"], 2, "there is no such bucket"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_is_one_line_before_anything_is_built(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command, code, line = UNUSABLE[name]
    monkeypatch.chdir(tmp_path)
    ended, said = fails(command, capsys)
    assert (ended, line in said) == (code, True), said
    assert not list(tmp_path.iterdir())


CALLS: dict[str, Callable[[], Any]] = {
    "store": lambda: synth.build("world-search", store="hf://datasets/ann/w"),
    "a dataset's own recipe": lambda: parse_recipe(
        {"name": "x", "source": {"kind": "docs", "path": "s3://b/docs"}}, "a dataset"
    ),
    "the store itself": lambda: Store("s3://b/w"),
    "redacted text": lambda: synth.rehydrate(Path("here"), "ftp://b/docs", "there"),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_api_refuses_a_url(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        CALLS[call]()
    assert not list(tmp_path.iterdir())


def test_a_url_stays_a_url_where_one_is_meant(tmp_path: Path) -> None:
    role = {"backend": "openai", "model": "m", "base_url": "http://host/v1"}
    assert load_recipe("world-search", settings={"roles.policy": role}).roles["policy"].addresses == ("http://host/v1",)
    check_destination(tmp_path / "a:b")
    assert [url_of(Path(url)) for url in ("s3://b/w/", "file:///a/b", "/a/b")] == ["s3://b/w", "file:///a/b", "/a/b"]


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A source and a build of it, in memory: storage that is reached by nothing but its driver."""
    files = fsspec.filesystem("memory")
    for number in range(12):
        other = (number * 5 + 1) % 12
        text = f"# Widget {number}\n\n[Widget {other}](w{other}.md) made Widget {number} in {1900 + number}.\n"
        files.pipe_file(f"/bucket/docs/w{number}.md", text.encode())
    return "memory://bucket"


def test_a_build_from_storage_to_storage(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    build = ["build", "world-search", "--tasks", "20", "--store", str(world_store(tmp_path))]
    for key, value in {**WORLD, **LEAN, "roles.policy.rollouts": 2}.items():
        build += ["--set", f"{key}={json.dumps(value)}"]
    main([*build, "--out", f"{bucket}/w"])
    assert f"synth stats {bucket}/w" in capsys.readouterr().out
    copy = synth.load(f"{bucket}/w").path
    main([*build, "--out", "here"])
    assert hashes(copy) == hashes(tmp_path / "here")
    main(["show", f"{bucket}/w"])
    main(["export", f"{bucket}/w", "--to", "openai", "--out", f"{bucket}/runs"])
    assert "export.json" in hashes(local_dataset(f"{bucket}/runs"))
    capsys.readouterr()
    code, said = fails([*build, "--out", f"{bucket}/runs"], capsys)
    assert (code, "another result" in said) == (4, True)
    code, said = fails([*build, "--out", f"{bucket}/docs"], capsys)
    assert (code, "no such result" in said) == (4, True)


def test_a_source_is_fetched_once_and_again_where_it_changed(bucket: str) -> None:
    files = fsspec.filesystem("memory")
    folder = local_copy(f"{bucket}/docs")
    assert folder.name == "docs"
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(before) == 12
    files.pipe_file("/bucket/docs/w3.md", b"# Another\n")
    files.rm_file("/bucket/docs/w4.md")
    (folder / "w5.md").write_text("not what is there", encoding="utf-8")
    (folder / "stray.md").write_text("left by a kill", encoding="utf-8")
    after = {path.name: path.stat().st_mtime_ns for path in local_copy(f"{bucket}/docs").iterdir()}
    assert {name for name in before if before[name] != after.get(name)} == {"w3.md", "w4.md", "w5.md"}
    assert sorted(set(before) - set(after)) == ["w4.md"]
    assert (folder / "w3.md").read_bytes() == b"# Another\n"
    assert local_copy(f"{bucket}/docs/w3.md").read_bytes() == b"# Another\n"


def test_a_file_that_is_not_the_stated_one_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "report.json").write_text("{}", encoding="utf-8")
    version = upload(tmp_path / "new", "memory://other/w", marker="report.json").partition("://")[2]
    files = fsspec.filesystem("memory")
    files.pipe_file(f"/{version}/report.json", b"[]")
    with pytest.raises(DatasetError, match="is not the file that its manifest states"):
        local_dataset("memory://other/w")
    files.pipe_file("/other/e/manifest.json", json.dumps({"marker": "a", "version": "../../x", "files": {}}).encode())
    assert [path.name for path in local_dataset("memory://other/e").iterdir()] == ["manifest.json"]
    with pytest.raises(StoreError, match="not empty"):
        check_destination("memory://other/e")
