"""Folders in storage elsewhere (``s3://``, ``gs://``, ``hf://``, ...), through fsspec.

A result (a dataset, an export) lies there as

    URL/versions/<id>/...    the folder, whole; <id> is the hash of its list of files
    URL/manifest.json        which version counts, with size and sha256 of its files; written last, in one piece

so that whoever follows the manifest sees the old result or the new one, whatever dies on the way. Files that are there
already are not sent again. What is read is copied to a folder of this machine first, and only what changed is fetched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from platformdirs import user_cache_path

from synth.errors import DatasetError, InputError, StoreError, SynthError
from synth.identity import canonical_json
from synth.places import is_remote
from synth.store.failpoints import failpoint
from synth.store.files import file_sha256, read_sealed_json, store_errors, write_sealed_json
from synth.store.locks import FileLock

__all__ = ["check_remote", "local_copy", "local_dataset", "upload", "url_of"]

STORAGE = {"az": "adlfs", "file": None, "gs": "gcsfs", "hf": None, "memory": None, "s3": "s3fs"}
"""Scheme -> the package that its driver needs; None = it comes with the base."""

MANIFEST = "manifest.json"
VERSIONS = "versions"
_VERSION = re.compile("[0-9a-f]{16}")
_FETCHED_AT_ONCE = 64
_STATE = ("size", "ETag", "etag", "md5Hash", "generation", "blob_id", "mtime", "created", "LastModified")
"""What drivers tell of a file that changes with its content."""
_CREDENTIALS = frozenset("NoCredentialsError PartialCredentialsError DefaultCredentialsError GoogleAuthError".split())
"""Errors of the drivers' own that say that nobody is logged in."""


def url_of(place: Path | str) -> str:
    """A place as a person writes it: URLs with the slashes that a ``Path`` took from them."""
    if not is_remote(place):
        return str(place)
    scheme, _, rest = str(place).partition(":")
    return f"{scheme}://{'/' if scheme == 'file' else ''}{rest.strip('/')}"


@dataclass(frozen=True)
class _Place:
    """A folder or file in storage."""

    url: str
    files: Any
    """The driver."""
    root: str
    """Its path there."""

    def at(self, *parts: str) -> str:
        return "/".join((self.root.rstrip("/"), *parts))


def _opened(place: Path | str, kind: type[SynthError]) -> _Place:
    url = url_of(place)
    scheme = url.partition(":")[0]
    if scheme not in STORAGE:
        raise InputError(f"{scheme}:// is no storage that synth reads or writes", where=url, mend=_SCHEMES)
    import fsspec

    with _errors(url, kind):
        files, root = fsspec.core.url_to_fs(url)
        files.invalidate_cache()
    return _Place(url, files, str(root))


_SCHEMES = f"give a local path, or one of {', '.join(f'{scheme}://' for scheme in STORAGE)}"


@contextmanager
def _errors(url: str, kind: type[SynthError]) -> Iterator[None]:
    """What a driver raises, each with errors of its own, as one line about ``url``."""
    try:
        yield
    except SynthError:
        raise
    except ImportError as error:
        package = STORAGE[url.partition(":")[0]]
        raise InputError(
            "the driver of this storage is not installed", where=url, mend=f"install it: `pip install {package}`"
        ) from error
    except FileNotFoundError:
        raise kind("there is no such bucket, folder or file", where=url, mend="check the URL") from None
    except Exception as error:
        name = type(error).__name__
        if isinstance(error, PermissionError) or name in _CREDENTIALS:
            raise kind(
                "permission denied, or nobody is logged in",
                where=url,
                mend="check the credentials of the storage and what they allow",
            ) from error
        said = str(error).strip().partition("\n")[0]
        raise kind(f"the storage failed ({name}: {said})", where=url, mend="run the same command again") from error


def check_remote(out: Path | str, *, marker: str | None) -> None:
    """Say before a long build what would only come out at its end: a missing driver or bucket, no right to write,
    something else at ``out``. ``marker`` as in :func:`upload`; None = nothing may be there.

    Raises:
        InputError: the storage is not known, or its driver is missing.
        StoreError: it can't be used.
    """
    place = _opened(out, StoreError)
    if place.url.startswith("hf:"):
        raise InputError("this would be a commit per file", where=place.url, mend="publish it with `synth push`")
    with _errors(place.url, StoreError):
        _check_replaceable(place, marker)
        probe = place.at(f".write-test-{os.getpid()}")
        _write(place, probe, b"")
        place.files.rm_file(probe)


def _check_replaceable(place: _Place, marker: str | None) -> None:
    try:
        names = {PurePosixPath(name).name for name in place.files.ls(place.root, detail=False)}
    except FileNotFoundError:
        return
    body = _manifest(place) if MANIFEST in names else None
    if marker is None and names - {VERSIONS}:
        raise StoreError("the folder is not empty", where=place.url, mend="choose another folder")
    if names - {VERSIONS} and (body is None or body["marker"] != marker):
        what = "it holds no such result of synth" if body is None else f"it holds {body['marker']}, another result"
        raise StoreError(f"this folder is not empty and {what}", where=place.url, mend="choose another --out")


def upload(folder: Path, out: Path | str, *, marker: str) -> str:
    """Send a finished folder, file by file, its manifest last; the version it replaces goes then. One writer at a time.

    Args:
        marker: The file by which such a result is known: only a result of the same kind is replaced.

    Returns:
        The URL of the version.

    Raises:
        StoreError: the storage can't be used; what was there counts as before.
    """
    place = _opened(out, StoreError)
    files = _files_of(folder)
    version = hashlib.sha256(canonical_json(files).encode()).hexdigest()[:16]
    with _errors(place.url, StoreError):
        _check_replaceable(place, marker)
        there = _sizes(place, place.at(VERSIONS, version))
        for name, stated in files.items():
            if there.get(name) != stated["size"]:
                target = place.at(VERSIONS, version, name)
                place.files.makedirs(target.rpartition("/")[0], exist_ok=True)
                place.files.put_file(str(folder / name), target)
                failpoint("publish.copied")
        place.files.invalidate_cache()
        there = _sizes(place, place.at(VERSIONS, version))
        if wrong := [name for name, stated in files.items() if there.get(name) != stated["size"]]:
            raise StoreError(f"{wrong[0]} is not there whole", where=place.url, mend="run the same command again")
        failpoint("publish.synced")
        body = {"marker": marker, "version": version, "files": files}
        _write(place, place.at(MANIFEST), json.dumps(body, indent=1).encode())
        failpoint("publish.moved")
        for old in place.files.ls(place.at(VERSIONS), detail=False):
            if PurePosixPath(old).name != version:
                place.files.rm(old, recursive=True)
    return f"{place.url}/{VERSIONS}/{version}"


def _files_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Name -> size and sha256 of every file."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    with store_errors(folder):
        return {
            path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "sha256": file_sha256(path)}
            for path in paths
        }


def _write(place: _Place, path: str, data: bytes) -> None:
    """A small file, whole or not at all: an object is put in one request; a file of a disk is moved into place."""
    if not place.url.startswith("file:"):
        place.files.pipe_file(path, data)
        return
    place.files.makedirs(path.rpartition("/")[0], exist_ok=True)
    place.files.pipe_file(f"{path}.part", data)
    os.replace(f"{path}.part", path)


def _manifest(place: _Place) -> dict[str, Any] | None:
    """What counts at ``place``; None where no result of ours is."""
    try:
        body = json.loads(place.files.cat_file(place.at(MANIFEST)))
        version, files = str(body["version"]), dict(body["files"])
        if _VERSION.fullmatch(version) is None:
            return None
        stated = {str(name): (int(one["size"]), str(one["sha256"])) for name, one in files.items()}
        marker = str(body["marker"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return None
    return {"version": version, "files": stated, "marker": marker}


def _sizes(place: _Place, root: str) -> dict[str, int]:
    return {name: int(found["size"]) for name, found in _found(place, root).items()}


def _found(place: _Place, root: str) -> dict[str, Mapping[str, Any]]:
    """Name under ``root`` -> what the driver tells of the file; nothing where there is no such folder."""
    try:
        found = place.files.find(root, detail=True)
    except FileNotFoundError:
        return {}
    start = root.rstrip("/") + "/"
    return {path.removeprefix(start): told for path, told in found.items() if path.startswith(start)}


def _copies(url: str) -> Path:
    """Where copies of ``url`` lie: below what ``SYNTH_COPIES`` names, else in the user's cache."""
    folder = (
        Path(os.environ.get("SYNTH_COPIES") or user_cache_path("synth-copies"))
        / hashlib.sha256(url.encode()).hexdigest()[:16]
    )
    with store_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _target(folder: Path, name: str, url: str) -> Path:
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise InputError(f"the name {name!r} leads out of the folder", where=url)
    return folder / name


def local_copy(place: Path | str) -> Path:
    """A file or folder in storage as it is now, on this machine; a local place as it is.

    Raises:
        InputError: it can't be reached or read.
    """
    if not is_remote(place):
        return Path(place)
    there = _opened(place, InputError)
    with _errors(there.url, InputError):
        one = there.files.info(there.root)
        single = one["type"] == "file"
        name = PurePosixPath(there.root).name or "root"
        found = {name: one} if single else _found(there, there.root)
    copies = _copies(there.url)
    folder = copies if single else copies / name
    with store_errors(copies), FileLock(copies):
        _refresh(there, folder, found, copies / ".index.json", single=single)
    return folder / name if single else folder


def _refresh(there: _Place, folder: Path, found: Mapping[str, Mapping[str, Any]], index: Path, *, single: bool) -> None:
    """Fetch what differs from what the index says was fetched, and remove what is gone."""
    states = {name: {key: str(told[key]) for key in _STATE if key in told} for name, told in found.items()}
    had = read_sealed_json(index) or {}
    wanted = [name for name in sorted(found) if had.get(name) != states[name] or not (folder / name).is_file()]
    kept = {name: state for name, state in had.items() if name in states and name not in wanted}
    for start in range(0, len(wanted), _FETCHED_AT_ONCE):
        names = wanted[start : start + _FETCHED_AT_ONCE]
        targets = [_target(folder, name, there.url) for name in names]
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        with _errors(there.url, InputError):
            there.files.get([there.root if single else there.at(name) for name in names], [str(t) for t in targets])
        kept |= {name: states[name] for name in names}
        write_sealed_json(index, kept)
    if not single:
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            if path.relative_to(folder).as_posix() not in states:
                path.unlink()
        folder.mkdir(parents=True, exist_ok=True)
    write_sealed_json(index, kept)


def local_dataset(place: Path | str) -> Path:
    """The folder that :func:`upload` put at ``place``, or a plain copy of one, on this machine; a local folder as it
    is.

    Raises:
        InputError: it can't be reached or read.
        DatasetError: a file there is not the one that the manifest states.
    """
    if not is_remote(place):
        return Path(place)
    there = _opened(place, InputError)
    with _errors(there.url, InputError):
        body = _manifest(there)
        if body is None and there.files.exists(there.at(VERSIONS)):
            raise InputError("the upload to it never finished", where=there.url, mend="rerun what writes it")
    if body is None:
        return local_copy(place)
    copies = _copies(there.url)
    folder = copies / f"{PurePosixPath(there.root).name or 'root'}-{body['version']}"
    with store_errors(copies), FileLock(copies):
        for name, (size, sha256) in body["files"].items():
            target = _target(folder, name, there.url)
            if target.is_file() and target.stat().st_size == size:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".part-{target.name}")
            with _errors(there.url, InputError):
                there.files.get_file(there.at(VERSIONS, body["version"], name), str(part))
            if file_sha256(part) != sha256:
                part.unlink()
                raise DatasetError(f"{name} is not the file that its manifest states", where=there.url)
            os.replace(part, target)
        for old in [path for path in copies.iterdir() if path.is_dir() and path != folder]:
            shutil.rmtree(old, ignore_errors=True)
    return folder
