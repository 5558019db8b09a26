"""Links that lead out of a source's folder, loops, pipes and devices: rejected with a reason, and nothing hangs."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from synth.schemas.rejections import Reason
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.sources.records.source import RecordsConfig, RecordsSource

SECRET = "The key to the mill lies under the third stone, says Ada Vance."


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text(f"# Secret\n\n{SECRET}\n")
    (folder / "secret.jsonl").write_text(json.dumps({"title": "Secret", "text": SECRET}) + "\n")
    return folder


def strange(root: Path, outside: Path, suffix: str) -> None:
    (root / "inner").mkdir(parents=True)
    (root / f"out{suffix}").symlink_to(outside / f"secret{suffix}")
    (root / "inner" / f"relative{suffix}").symlink_to(f"../../outside/secret{suffix}")
    (root / f"two-steps{suffix}").symlink_to(f"out{suffix}")
    (root / f"password{suffix}").symlink_to("/etc/passwd")
    (root / f"zero{suffix}").symlink_to("/dev/zero")
    (root / f"loop{suffix}").symlink_to(f"loop{suffix}")
    (root / f"gone{suffix}").symlink_to("no-such-file")
    os.mkfifo(root / f"pipe{suffix}")
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(root)  # names of sockets are short
        try:
            made.bind(f"socket{suffix}")
        finally:
            os.chdir(here)
    (root / "inner" / "again").symlink_to(root)


def test_pages(tmp_path: Path, outside: Path) -> None:
    root = tmp_path / "docs"
    strange(root, outside, ".md")
    (root / "folder").symlink_to(outside)
    (root / "page.md").write_text("# A page\n\nIt says what a page says.\n")
    (root / "same.md").symlink_to("page.md")
    source = DocsSource(DocsConfig(path=str(root)))
    documents, rejected = source.read(source.files)
    reasons = {row.row_id: row.reason for row in rejected}
    assert [document.id for document in documents] == ["page.md"]
    out = ("out.md", "inner/relative.md", "two-steps.md", "password.md", "zero.md", "folder")
    unread = ("loop.md", "gone.md", "pipe.md", "socket.md")
    assert reasons == {
        **dict.fromkeys(out, Reason.OUTSIDE),
        **dict.fromkeys(unread, Reason.UNREADABLE),
        "same.md": Reason.DUPLICATE_CONTENT,
    }
    assert "a link to '/etc/passwd'" in {row.detail for row in rejected}
    assert SECRET not in "".join(row.model_dump_json() for row in (*documents, *rejected))
    before = source.digest()
    (outside / "secret.md").write_text("# Another\n")
    assert DocsSource(DocsConfig(path=str(root))).digest() == before


def test_a_folder_that_is_a_link_itself_is_the_users(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "docs").symlink_to(outside)
    source = DocsSource(DocsConfig(path=str(tmp_path / "docs")))
    assert [document.id for document in source.read(source.files)[0]] == ["secret.md"]


def test_records(tmp_path: Path, outside: Path) -> None:
    root = tmp_path / "records"
    strange(root, outside, ".jsonl")
    (root / "own.jsonl").write_text(json.dumps({"id": "own", "title": "Own", "text": "It says its own."}) + "\n")
    source = RecordsSource(RecordsConfig(path=str(root)))
    source.digest()
    found = source.read(source.files)
    assert [document.id for document in found.documents] == ["own"]
    reasons = {row.row_id: row.reason for row in found.rejected}
    assert (reasons["out.jsonl"], reasons["password.jsonl"]) == (Reason.OUTSIDE, Reason.OUTSIDE)
    assert (reasons["pipe.jsonl"], reasons["loop.jsonl"]) == (Reason.UNREADABLE, Reason.UNREADABLE)
    assert SECRET not in "".join(row.model_dump_json() for row in (*found.documents, *found.rejected))
    (tmp_path / "given.jsonl").symlink_to(outside / "secret.jsonl")
    given = RecordsSource(RecordsConfig(path=str(tmp_path / "given.jsonl")))
    assert len(given.read(given.files).documents) == 1, "a file that is named is the user's choice"
