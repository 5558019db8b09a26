"""What each route of the Hub does with a repository."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import yaml

from synth.mocks.hub.repositories import Commit, Repo, RepoFile, Repositories
from synth.mocks.hub.xet import XetStorage

__all__ = ["Answer", "Request", "answer"]

_XET_TOKEN = "s1gn3d-by-xet"


@dataclass(frozen=True)
class Request:
    route: str
    values: Mapping[str, str]
    """What the path holds: repo, revision, path, content."""
    query: Mapping[str, list[str]]
    body: bytes
    headers: Mapping[str, str]
    """By lower-case name."""
    url: str
    """Of the server."""
    token: str
    """The one that it takes."""
    xet: XetStorage

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def known(self) -> bool:
        """Whether it brings the token."""
        return self.headers.get("authorization") == f"Bearer {self.token}"


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(request: Request, repositories: Repositories) -> Answer:
    """What the Hub answers; repositories change as it says."""
    # Uploads carry a signature or a token of Xet's in place of the Hub's.
    writes = request.route not in ("info", "tree", "resolve", "put", "xet chunk", "xet xorb", "xet shard")
    if writes and not request.known:
        return _error(401, None, "Invalid credentials in Authorization header")
    name = request.values.get("repo")
    if name is not None:
        repo = repositories.repos.get(name)
        if repo is None or (repo.private and not request.known):
            return _error(404 if request.known else 401, "RepoNotFound", "Repository not found")
    return _HANDLERS[request.route](request, repositories)


def _error(status: int, code: str | None, message: str) -> Answer:
    headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}
    return Answer(status, {"error": message}, headers)


def _whoami(request: Request, repositories: Repositories) -> Answer:
    return Answer(200, {"type": "user", "name": "ann", "orgs": []})


def _create(request: Request, repositories: Repositories) -> Answer:
    asked = request.json
    name = f"{asked.get('organization')}/{asked['name']}"
    private = asked.get("private", False) or asked.get("visibility") == "private"
    if asked.get("type") != "dataset":
        return _error(400, None, "this Hub holds datasets only")
    with repositories.lock:
        if not repositories.create(name, private):
            taken = _error(409, None, "You already created this dataset repo")
            return Answer(409, {**taken.body, "url": f"{request.url}/datasets/{name}"}, taken.headers)
    return Answer(200, {"url": f"{request.url}/datasets/{name}", "name": name, "id": name})


def _yaml(request: Request, repositories: Repositories) -> Answer:
    parts = request.json["content"].split("---\n", 2)
    try:
        matter = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else None
    except yaml.YAMLError as error:
        return Answer(400, {"errors": [{"message": str(error)}], "warnings": []})
    missing = [] if isinstance(matter, dict) else [{"message": "empty or missing yaml metadata in repo card"}]
    return Answer(200, {"errors": [], "warnings": missing})


def _at(request: Request, repositories: Repositories) -> tuple[Repo, Commit | None]:
    repo = repositories.repos[request.values["repo"]]
    return repo, repo.at(request.values.get("revision", "main"))


def _no_revision(request: Request) -> Answer:
    return _error(404, "RevisionNotFound", f"Invalid rev id: {request.values.get('revision')}")


def _info(request: Request, repositories: Repositories) -> Answer:
    repo, commit = _at(request, repositories)
    if commit is None:
        return _no_revision(request)
    siblings = [{"rfilename": path, **_described(file)} for path, file in sorted(commit.files.items())]
    name = request.values["repo"]
    return Answer(
        200,
        {"id": name, "author": name.split("/")[0], "sha": commit.id, "private": repo.private, "siblings": siblings},
    )


def _described(file: RepoFile) -> dict[str, Any]:
    lfs = {"lfs": {"sha256": file.content, "size": file.size, "pointerSize": 130}} if file.large else {}
    return {"size": file.size, "blobId": file.blob, **lfs}


def _tree(request: Request, repositories: Repositories) -> Answer:
    _, commit = _at(request, repositories)
    if commit is None:
        return _no_revision(request)
    below = f"{request.values['path']}/" if request.values.get("path") else ""
    rows = [_row(path, file) for path, file in sorted(commit.files.items()) if path.startswith(below)]
    if request.query.get("recursive", ["true"])[0].lower() == "false":
        folders = {below + row["path"][len(below) :].split("/")[0] for row in rows if "/" in row["path"][len(below) :]}
        rows = [row for row in rows if "/" not in row["path"][len(below) :]]
        rows += [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in sorted(folders)]
    return Answer(200, rows) if rows else _error(404, "EntryNotFound", "Entry not found")


def _paths_info(request: Request, repositories: Repositories) -> Answer:
    _, commit = _at(request, repositories)
    if commit is None:
        return _no_revision(request)
    asked = set(parse_qs(request.body.decode())["paths"])
    return Answer(200, [_row(path, file) for path, file in sorted(commit.files.items()) if path in asked])


def _row(path: str, file: RepoFile) -> dict[str, Any]:
    lfs = {"lfs": {"oid": file.content, "size": file.size, "pointerSize": 130}} if file.large else {}
    return {"type": "file", "path": path, "size": file.size, "oid": file.blob, **lfs}


def _preupload(request: Request, repositories: Repositories) -> Answer:
    _, commit = _at(request, repositories)
    if commit is None:
        return _no_revision(request)
    files = []
    for asked in request.json["files"]:
        path = asked["path"]
        there = commit.files.get(path)
        large = path.endswith(".parquet") or asked["size"] > 10_000_000
        oid = {"oid": there.content if there.large else there.blob} if there else {}
        mode = "lfs" if large else "regular"
        files.append({"path": path, "uploadMode": mode, "shouldIgnore": False, **oid})
    return Answer(200, {"files": files, "commitOid": commit.id})


def _batch(request: Request, repositories: Repositories) -> Answer:
    name = request.values["repo"]
    objects = []
    for asked in request.json["objects"]:
        one: dict[str, Any] = {"oid": asked["oid"], "size": asked["size"]}
        if not repositories.holds(asked["oid"]):
            one["actions"] = {
                "upload": {"href": f"{request.url}/storage/{asked['oid']}?signature=s1gn3d"},
                "verify": {"href": f"{request.url}/datasets/{name}.git/info/lfs/verify"},
            }
        objects.append(one)
    return Answer(200, {"transfer": "basic", "objects": objects})


def _put(request: Request, repositories: Repositories) -> Answer:
    if hashlib.sha256(request.body).hexdigest() != request.values["content"]:
        return _error(400, None, "the bytes are not those that were announced")
    repositories.keep(request.body)
    return Answer(200)


def _verify(request: Request, repositories: Repositories) -> Answer:
    return Answer(200, {}) if repositories.holds(request.json["oid"]) else _error(404, None, "nothing was uploaded")


def _xet_token(request: Request, repositories: Repositories) -> Answer:
    until = int(time.time()) + 3600
    given = {"casUrl": request.url, "accessToken": _XET_TOKEN, "exp": until}
    headers = {"X-Xet-Cas-Url": request.url, "X-Xet-Access-Token": _XET_TOKEN, "X-Xet-Token-Expiration": str(until)}
    return Answer(200, given, headers)


def _xet_chunk(request: Request, repositories: Repositories) -> Answer:
    return Answer(404, {})  # every chunk is new


def _xet_xorb(request: Request, repositories: Repositories) -> Answer:
    if request.headers.get("authorization") != f"Bearer {_XET_TOKEN}":
        return _error(401, None, "no token of Xet's")
    request.xet.keep(request.values["content"], request.body)
    return Answer(200, {"was_inserted": True})


def _xet_shard(request: Request, repositories: Repositories) -> Answer:
    try:
        request.xet.register(request.body, repositories)
    except ValueError as error:
        return _error(400, None, str(error))
    return Answer(200, {"result": 1})


def _branch(request: Request, repositories: Repositories) -> Answer:
    made = repositories.branch(request.values["repo"], request.values["revision"])
    return Answer(200, {}) if made else _error(409, None, "Reference already exists")


def _commit(request: Request, repositories: Repositories) -> Answer:
    header: dict[str, Any] = {}
    files: dict[str, RepoFile] = {}
    deleted: list[str] = []
    for line in request.body.splitlines():
        item = json.loads(line)
        value = item["value"]
        if item["key"] == "header":
            header = value
        elif item["key"] == "file":
            files[value["path"]] = repositories.regular(base64.b64decode(value["content"]))
        elif item["key"] == "lfsFile":
            file = repositories.large(value["oid"])
            if file is None:
                return _error(400, None, f"{value['path']}: its content was never uploaded")
            files[value["path"]] = file
        elif item["key"] == "deletedFile":
            deleted.append(value["path"])
    name, branch = request.values["repo"], request.values["revision"]
    made = repositories.commit(name, branch, header.get("parentCommit"), header["summary"], files, tuple(deleted))
    if made is None:
        return _error(412, None, "A commit has happened since. Please refresh and try again.")
    url = f"{request.url}/datasets/{name}/commit/{made.id}"
    return Answer(200, {"success": True, "commitOid": made.id, "commitUrl": url, "hookOutput": ""})


def _resolve(request: Request, repositories: Repositories) -> Answer:
    _, commit = _at(request, repositories)
    if commit is None:
        return _no_revision(request)
    file = commit.files.get(request.values["path"])
    if file is None:
        return _error(404, "EntryNotFound", "Entry not found")
    data = repositories.read(file)
    headers = {"X-Repo-Commit": commit.id, "ETag": f'"{file.content if file.large else file.blob}"'}
    wanted = request.headers.get("range", "")
    if wanted.startswith("bytes="):
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last) if last else len(data) - 1, len(data) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        return Answer(206, data[start : end + 1], headers)
    return Answer(200, data, headers)


_HANDLERS: Mapping[str, Callable[[Request, Repositories], Answer]] = {
    "whoami": _whoami,
    "create": _create,
    "yaml": _yaml,
    "info": _info,
    "tree": _tree,
    "paths info": _paths_info,
    "preupload": _preupload,
    "batch": _batch,
    "put": _put,
    "verify": _verify,
    "branch": _branch,
    "commit": _commit,
    "xet token": _xet_token,
    "xet chunk": _xet_chunk,
    "xet xorb": _xet_xorb,
    "xet shard": _xet_shard,
    "resolve": _resolve,
}
