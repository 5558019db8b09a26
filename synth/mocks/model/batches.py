"""Files and batches of a model server: ``/v1/files`` and ``/v1/batches``, worked through by the server's players."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

from synth.mocks.model.faults import BatchFault, FaultKind
from synth.mocks.model.log import DELIVERED, RequestLog
from synth.mocks.model.players import Player
from synth.mocks.model.protocol import ProtocolError, call_of, check_request, most_tokens, prompt_tokens
from synth.mocks.model.replies import Reply

__all__ = ["MockBatch", "MockBatches"]

_CALLS = 50_000
_SLOW = 10
_PAGE = 20


class Answers(Protocol):
    """The server whose batches they are."""

    options: Any
    log: RequestLog
    errors: list[Exception]

    def check_key(self, request: web.Request) -> None: ...

    def next_attempt(self, call: str) -> int: ...

    def player_of(self, model: str) -> Player: ...

    def answer(
        self, reply: Reply, wanted: dict[str, Any], call: str, attempt: int, prompt: int, most: int
    ) -> tuple[dict[str, Any], tuple[int, int], FaultKind | None]: ...


@dataclass
class MockBatch:
    """One batch."""

    number: int
    wanted: Mapping[str, Any]
    """The request that made it."""
    lines: tuple[bytes, ...]
    created: float
    due: float
    status: str = "in_progress"
    output: str | None = None
    errors: str | None = None
    refused: list[dict[str, Any]] = field(default_factory=list)
    completed: int = 0
    failed: int = 0

    @property
    def id(self) -> str:
        return f"batch_{self.number:06d}"

    def body(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self.wanted["endpoint"],
            "errors": {"object": "list", "data": self.refused} if self.refused else None,
            "input_file_id": self.wanted["input_file_id"],
            "completion_window": self.wanted["completion_window"],
            "status": self.status,
            "output_file_id": self.output,
            "error_file_id": self.errors,
            "created_at": int(self.created),
            "request_counts": {"total": len(self.lines), "completed": self.completed, "failed": self.failed},
            "metadata": self.wanted.get("metadata"),
        }


class MockBatches:
    """All files and batches of ``server``. A batch is worked through when it is asked for after its time."""

    def __init__(self, server: Answers) -> None:
        self._server = server
        self._files: dict[str, bytes] = {}
        self.made: list[MockBatch] = []
        """In the order in which they were made."""

    @property
    def uploads(self) -> int:
        """Files that clients sent."""
        return sum(name.startswith("file-in") for name in self._files)

    def routes(self) -> list[web.RouteDef]:
        """For the application of the server."""
        return [
            web.post("/v1/files", self._asked(self._upload)),
            web.get("/v1/files/{file}/content", self._asked(self._content)),
            web.post("/v1/batches", self._asked(self._create)),
            web.get("/v1/batches", self._asked(self._list)),
            web.get("/v1/batches/{batch}", self._asked(self._look)),
            web.post("/v1/batches/{batch}/cancel", self._asked(self._cancel)),
        ]

    def _asked(
        self, answer: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def asked(request: web.Request) -> web.StreamResponse:
            try:
                self._server.check_key(request)
                return await answer(request)
            except ProtocolError as error:
                return web.json_response(error.body, status=error.status)

        return asked

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        given = await request.post()
        file = given.get("file")
        if not isinstance(file, web.FileField) or given.get("purpose") != "batch":
            raise ProtocolError("A file and the purpose 'batch' are wanted.", param="purpose")
        content = file.file.read()
        name = self._keep("in", content)
        said = {"bytes": len(content), "created_at": int(time.time()), "filename": file.filename}
        return web.json_response({"id": name, "object": "file", **said, "purpose": "batch", "status": "processed"})

    def _keep(self, kind: str, content: bytes) -> str:
        name = f"file-{kind}{len(self._files):06d}"
        self._files[name] = content
        return name

    async def _content(self, request: web.Request) -> web.StreamResponse:
        content = self._files.get(request.match_info["file"])
        if content is None:
            raise ProtocolError("No such file.", status=404)
        return web.Response(body=content, content_type="application/jsonl")

    async def _create(self, request: web.Request) -> web.StreamResponse:
        wanted = await request.json()
        content = self._files.get(wanted.get("input_file_id"))
        if content is None or wanted.get("endpoint") != "/v1/chat/completions" or not wanted.get("completion_window"):
            raise ProtocolError("An uploaded file, an endpoint and a completion window are wanted.")
        options, number, now = self._server.options, len(self.made), time.time()
        slow = _SLOW if options.faults.of_batch(BatchFault.SLOW, number) else 1
        batch = MockBatch(number, wanted, tuple(content.splitlines()), now, now + slow * options.batch_seconds)
        batch.refused = list(_wrong_lines(batch.lines))
        if batch.refused:
            batch.status = "failed"
        self.made.append(batch)
        if options.faults.of_batch(BatchFault.LOST, number) and request.transport is not None:
            request.transport.abort()
        return web.json_response(batch.body())

    async def _list(self, request: web.Request) -> web.StreamResponse:
        newest = list(reversed(self.made))
        after = request.query.get("after")
        if after is not None:
            newest = newest[next((n for n, one in enumerate(newest, 1) if one.id == after), len(newest)) :]
        page = newest[: min(_PAGE, int(request.query.get("limit", _PAGE)))]
        body = {"object": "list", "data": [one.body() for one in page], "has_more": len(newest) > len(page)}
        return web.json_response(body)

    async def _look(self, request: web.Request) -> web.StreamResponse:
        batch = self._named(request)
        if batch.status == "in_progress" and time.time() >= batch.due:
            expires = self._server.options.faults.of_batch(BatchFault.EXPIRED, batch.number)
            self._work(batch, "expired" if expires else "completed")
        return web.json_response(batch.body())

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch = self._named(request)
        if batch.status == "in_progress":
            self._work(batch, "cancelled")
        return web.json_response(batch.body())

    def _named(self, request: web.Request) -> MockBatch:
        for batch in self.made:
            if batch.id == request.match_info["batch"]:
                return batch
        raise ProtocolError("No such batch.", status=404)

    def _work(self, batch: MockBatch, status: str) -> None:
        """All of its calls, or the first half where it ends early."""
        faults = self._server.options.faults
        half = len(batch.lines) if status == "completed" else len(batch.lines) // 2
        good: list[dict[str, Any]] = []
        bad: list[dict[str, Any]] = []
        for place, text in enumerate(batch.lines):
            line = json.loads(text)
            if place >= half:
                error = {"code": f"batch_{status}", "message": f"This request could not be executed before {status}."}
                bad.append({"id": f"req_{place}", "custom_id": line["custom_id"], "response": None, "error": error})
                continue
            answer = self._answer(line, batch.number)
            (good if answer["response"]["status_code"] == 200 else bad).append(answer)
            if faults.of_batch(BatchFault.LINE_TWICE, batch.number, place):
                good.append(good[-1]) if good else None
        if faults.of_batch(BatchFault.OUT_OF_ORDER, batch.number):
            good.sort(key=lambda line: hashlib.sha256(line["custom_id"].encode()).digest())
        batch.completed, batch.failed, batch.status = half, len(bad), status
        batch.output = self._keep("out", _jsonl(good)) if good else None
        batch.errors = self._keep("bad", _jsonl(bad)) if bad else None

    def _answer(self, line: Mapping[str, Any], number: int) -> dict[str, Any]:
        server, name = self._server, line["custom_id"]
        body = json.dumps(line["body"], ensure_ascii=False, separators=(",", ":")).encode()
        # Ours hold the sample in the middle, which a header holds otherwise.
        sample = name.split("-")[1] if name.count("-") == 2 else None
        call = call_of(sample, body)
        record = server.log.arrive(name, call, sample)
        attempt = server.next_attempt(call)
        if server.options.faults.of_batch(BatchFault.LINE_ERROR, number, call, attempt):
            server.log.answer(record, outcome=BatchFault.LINE_ERROR.value, status=500, attempt=attempt)
            error = {"error": {"message": "The server had an error.", "type": "server_error", "code": "server_error"}}
            return _line(name, 500, error)
        try:
            wanted = check_request(line["body"], strict_alternation=server.options.strict_alternation)
            player = server.player_of(wanted["model"])
        except ProtocolError as error:
            server.log.answer(record, outcome="refused", status=error.status, attempt=attempt)
            return _line(name, error.status, error.body)
        most = most_tokens(wanted)
        prompt = prompt_tokens(len(body), wanted["messages"])
        try:
            reply = player.reply(wanted, sample)
        except Exception as error:
            server.errors.append(error)
            server.log.answer(record, outcome="failed", status=500, attempt=attempt)
            return _line(name, 500, {"error": {"message": f"The player failed: {error}", "code": "player_failed"}})
        answer, used, content = server.answer(reply, wanted, call, attempt, prompt, most)
        server.log.answer(record, outcome=DELIVERED, status=200, usage=used, fault=content, attempt=attempt)
        return _line(name, 200, answer)


def _line(name: str, status: int, body: Mapping[str, Any]) -> dict[str, Any]:
    response = {"status_code": status, "request_id": f"req-{name}", "body": body}
    return {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": None}


def _jsonl(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def _wrong_lines(lines: tuple[bytes, ...]) -> Iterator[dict[str, Any]]:
    """Why a provider does not take a file."""
    if len(lines) > _CALLS or not lines:
        yield {"code": "too_many_tasks", "message": f"The batch has {len(lines)} requests.", "line": None}
    seen: set[str] = set()
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            whole = (
                line["method"] == "POST" and line["url"] == "/v1/chat/completions" and isinstance(line["body"], dict)
            )
            name = line["custom_id"]
        except (ValueError, KeyError, TypeError):
            whole, name = False, ""
        if not whole or not isinstance(name, str) or not 0 < len(name) <= 64:
            yield {"code": "invalid_json_line", "message": "This line is not a request.", "line": number}
        elif name in seen:
            yield {"code": "duplicate_custom_id", "message": "The custom_id is used twice.", "line": number}
        seen.add(name)
