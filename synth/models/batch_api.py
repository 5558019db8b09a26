"""The protocol of batch endpoints: a file of calls goes up, a batch is made of it, and files of replies come down.

OpenAI's ``/v1/files`` and ``/v1/batches``, as Groq, Azure and gateways such as LiteLLM have them too. A line of the
input is a call by its ``custom_id``; lines of the output come in any order, and what failed stands in a file of its
own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from synth.models.contract import FailureKind
from synth.models.endpoints import Replica
from synth.models.failures import Scope, Trouble, one_line, trouble_of
from synth.models.home import Home
from synth.models.transport import Response, TransportFailed

__all__ = [
    "BATCH_BYTES",
    "BatchEndpoint",
    "BatchLine",
    "BatchServer",
    "BatchState",
    "BatchTrouble",
    "batch_line",
    "line_of",
]

BATCH_BYTES = 64 << 20
"""Of an input file at most: providers take 100 or 200 MB."""
_MOST_OUTPUT = 1 << 30
_PAGES = 50
"""Of a list of batches that are looked through."""
_FINGERPRINT = "synth_batch"
"""Key of a batch's metadata that holds our name for it."""
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
_FULL = frozenset({"token_limit_exceeded", "request_limit_exceeded"})
_NO_BATCHES = "take `batch` out of the role: its server has no batch endpoint"


class BatchTrouble(Exception):
    """A request about a batch was not answered as it should be."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.detail)
        self.trouble = trouble


@dataclass(frozen=True)
class BatchState:
    """What a provider says of a batch."""

    status: str
    done: int
    total: int
    files: tuple[str, ...]
    """Of replies, and of what failed."""
    errors: tuple[tuple[int | None, str], ...] = ()
    """Why it was refused as a whole: (line of the input from 1, or None; words)."""
    is_full: bool = False
    """It was refused since too much is waiting there already."""

    @property
    def is_final(self) -> bool:
        return self.status in _FINAL


class BatchLine(NamedTuple):
    """One line of the files that come back."""

    request_id: str
    response: Response | None
    error: str
    """What is said where there is no response."""


def batch_line(request_id: str, body: str) -> bytes:
    """The line of the input for a call."""
    head = f'{{"custom_id":{json.dumps(request_id)},"method":"POST","url":"/v1/chat/completions","body":'
    return f"{head}{body}}}\n".encode()


class BatchEndpoint(Protocol):
    """Where batches are worked through."""

    async def upload(self, name: str, lines: Sequence[bytes]) -> str: ...

    async def create(self, file: str, name: str, window: str) -> str: ...

    async def find(self, name: str) -> str | None: ...

    async def look(self, remote: str) -> BatchState: ...

    async def download(self, file: str) -> Iterator[BatchLine]: ...

    async def release(self, remote: str) -> None: ...


class BatchServer:
    """The batch endpoint of ``replica``. Each request is made once; who asks may ask again."""

    def __init__(self, home: Home, replica: Replica, *, timeout: float, longest_wait: float) -> None:
        self._home = home
        self._replica = replica
        self._timeout = timeout
        self._longest_wait = longest_wait

    async def upload(self, name: str, lines: Sequence[bytes]) -> str:
        """Send a file; gives its id.

        Raises:
            BatchTrouble: the server refused it, or may have taken it without saying so.
        """
        boundary = hashlib.sha256(name.encode()).hexdigest()
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        body = b"".join((head.encode(), *lines, f"\r\n--{boundary}--\r\n".encode()))
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return _id_of(await self._json("POST", "files", body, kind))

    async def create(self, file: str, name: str, window: str) -> str:
        """Have the file worked through; gives the batch's id. Raises what :meth:`upload` raises."""
        wanted = {
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": window,
            "metadata": {_FINGERPRINT: name},
        }
        return _id_of(await self._json("POST", "batches", json.dumps(wanted).encode()))

    async def find(self, name: str) -> str | None:
        """The id of the batch created under ``name``, or None. Raises what :meth:`upload` raises."""
        after = ""
        for _ in range(_PAGES):
            page = await self._json("GET", f"batches?limit=100{after}")
            listed = [one for one in page.get("data") or () if isinstance(one, dict)]
            for one in listed:
                if (one.get("metadata") or {}).get(_FINGERPRINT) == name:
                    return _id_of(one)
            if not page.get("has_more") or not listed:
                return None
            after = f"&after={_id_of(listed[-1])}"
        return None

    async def look(self, remote: str) -> BatchState:
        """How a batch is going. Raises the same."""
        data = await self._json("GET", f"batches/{remote}")
        counts = data.get("request_counts") or {}
        done, failed, total = (counts.get(key) or 0 for key in ("completed", "failed", "total"))
        errors = [one for one in (data.get("errors") or {}).get("data") or () if isinstance(one, dict)]
        files = (data.get("output_file_id"), data.get("error_file_id"))
        return BatchState(
            status=str(data.get("status")).lower(),
            done=int(done) + int(failed),
            total=int(total),
            files=tuple(file for file in files if isinstance(file, str) and file),
            errors=tuple((_number(one.get("line")), one_line(str(one.get("message") or one))) for one in errors),
            is_full=any(one.get("code") in _FULL for one in errors),
        )

    async def download(self, file: str) -> Iterator[BatchLine]:
        """The lines of a file that came of a batch; what is no line of ours is passed over. Raises the same."""
        response = await self._request("GET", f"files/{file}/content", most=_MOST_OUTPUT)
        return filter(None, map(line_of, response.body.splitlines()))

    async def release(self, remote: str) -> None:
        """Its replies are in the store. The provider's files stay with it, for a look at them."""

    async def _json(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        response = await self._request(method, path, body, headers)
        try:
            data = json.loads(response.body)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise BatchTrouble(Trouble(FailureKind.MALFORMED, f"{path}: the body is no JSON object", costs=True))
        return data

    async def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        most: int = 1 << 24,
    ) -> Response:
        url = f"{self._replica.address}/{path}"
        given = {**self._replica.headers, **(headers or {})}
        transport, proxy = self._home.transport, self._replica.proxy
        try:
            if method == "GET":
                response = await transport.get(url, given, timeout=self._timeout, most=most, proxy=proxy)
            else:
                assert body is not None
                response = await transport.post(url, body, given, timeout=self._timeout, most=most, proxy=proxy)
        except TransportFailed as failed:
            raise BatchTrouble(failed.trouble) from None
        if response.status in (200, 201):
            return response
        trouble = trouble_of(response.status, response.headers, response.body, longest_wait=self._longest_wait)
        if trouble.scope is Scope.UNKNOWN_MODEL:
            raise BatchTrouble(Trouble(trouble.kind, trouble.detail, Scope.ENDPOINT, mend=_NO_BATCHES))
        raise BatchTrouble(trouble)


def _id_of(data: Mapping[str, Any]) -> str:
    found = data.get("id")
    if not isinstance(found, str) or not found or "/" in found:
        raise BatchTrouble(Trouble(FailureKind.MALFORMED, "an answer about a batch names no id", costs=True))
    return found


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def line_of(text: bytes) -> BatchLine | None:
    """A line of a file that came of a batch; None where it is none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("custom_id"), str):
        return None
    response, error = data.get("response"), data.get("error")
    words = one_line(json.dumps(error)) if error else "no response"
    if not isinstance(response, dict):
        return BatchLine(data["custom_id"], None, words)
    status, body = response.get("status_code"), response.get("body")
    if body is None and error:
        body = error
    if type(status) is not int:
        status = 200 if not error else 500
    if status == 200 and body is None:
        return BatchLine(data["custom_id"], None, words)
    plain = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return BatchLine(data["custom_id"], Response(status, {}, plain), words)
