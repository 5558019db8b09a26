"""Dataset repositories on disk: content by hash, branches, commits that are all or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from synth.identity import digest

__all__ = ["Commit", "Repo", "RepoFile", "Repositories"]

_ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"


@dataclass(frozen=True)
class RepoFile:
    """A file of a commit."""

    content: str
    """Its sha256: where the bytes lie."""
    size: int
    blob: str
    """Git's name: of the bytes, or of the pointer to large file storage."""
    large: bool


@dataclass(frozen=True)
class Commit:
    id: str
    parent: str | None
    message: str
    files: Mapping[str, RepoFile]


@dataclass
class Repo:
    """One repository."""

    private: bool
    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def at(self, revision: str) -> Commit | None:
        """The commit that a branch or a commit id names."""
        return self.commits.get(self.branches.get(revision, revision))


class Repositories:
    """All repositories of a Hub; ``folder`` holds the bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = RLock()
        self.repos: dict[str, Repo] = {}
        (folder / "blobs").mkdir(parents=True, exist_ok=True)

    def create(self, name: str, private: bool) -> bool:
        """A repository with its first commit, as the Hub makes it; False when the name is taken."""
        with self.lock:
            if name in self.repos:
                return False
            self.repos[name] = Repo(private)
            self.commit(name, "main", None, "initial commit", {".gitattributes": self.regular(_ATTRIBUTES)}, ())
            return True

    def regular(self, data: bytes) -> RepoFile:
        """Keep small content."""
        content = self.keep(data)
        return RepoFile(content, len(data), _git_name(data), large=False)

    def large(self, content: str) -> RepoFile | None:
        """A file of kept content as a pointer to it; None when its bytes never came."""
        if not self.holds(content):
            return None
        size = (self.folder / "blobs" / content).stat().st_size
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{content}\nsize {size}\n"
        return RepoFile(content, size, _git_name(pointer.encode()), large=True)

    def keep(self, data: bytes) -> str:
        content = hashlib.sha256(data).hexdigest()
        path = self.folder / "blobs" / content
        if not path.exists():
            part = path.with_name(f".{content}")
            part.write_bytes(data)
            part.replace(path)
        return content

    def holds(self, content: str) -> bool:
        return (self.folder / "blobs" / content).exists()

    def read(self, file: RepoFile) -> bytes:
        return (self.folder / "blobs" / file.content).read_bytes()

    def commit(
        self,
        name: str,
        branch: str,
        parent: str | None,
        message: str,
        files: Mapping[str, RepoFile],
        deleted: tuple[str, ...],
    ) -> Commit | None:
        """Move ``branch`` on from ``parent`` (None = from wherever it is); None when it is elsewhere."""
        with self.lock:
            repo = self.repos[name]
            at = repo.branches.get(branch)
            if parent is not None and at != parent:
                return None
            before = dict(repo.commits[at].files) if at else {}
            after = {path: file for path, file in {**before, **files}.items() if path not in deleted}
            listed: dict[str, Any] = {path: [file.content, file.large] for path, file in sorted(after.items())}
            id_ = digest({"parent": at, "message": message, "files": listed, "number": len(repo.commits)})[:40]
            made = Commit(id_, at, message, after)
            repo.commits[id_] = made
            repo.branches[branch] = id_
            return made

    def branch(self, name: str, branch: str) -> bool:
        """A branch from where ``main`` is; False when there is one."""
        with self.lock:
            repo = self.repos[name]
            if branch in repo.branches:
                return False
            repo.branches[branch] = repo.branches["main"]
            return True

    def history(self, name: str, branch: str = "main") -> list[Commit]:
        """Commits of a branch, the latest first."""
        repo = self.repos[name]
        listed, at = [], repo.branches.get(branch)
        while at is not None:
            listed.append(repo.commits[at])
            at = repo.commits[at].parent
        return listed

    def checkout(self, name: str, into: Path, revision: str = "main") -> Path:
        """The files of a commit as a folder."""
        commit = self.repos[name].at(revision)
        if commit is None:
            raise KeyError(f"{name} has no {revision}")
        for path, file in commit.files.items():
            target = into / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.read(file))
        return into


def _git_name(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
