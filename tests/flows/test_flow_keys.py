"""What a server echoes of a key is not in Prefect's database: no state, log line, parameter or artifact holds it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from shared_builds import LEAN

from synth.api import BuildRequest
from synth.errors import SynthError
from synth.flows.build import build_in_flow

pytestmark = pytest.mark.thorough

KEY = "wX4/tR9b-Lq7e+Zm2c0Ys"
VARIABLE = "SYNTH_TEST_CREDENTIAL"


def echoes(key: str, number: int) -> tuple[int, dict[str, Any]]:
    """A 400, an error in a 200, an answer: each says the key."""
    usage = {"prompt_tokens": 9, "completion_tokens": 9}
    message = {"role": "assistant", "content": f"<think>I was called with {key}.</think>It is {key}."}
    answer = {"id": key, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    error = {"error": {"code": 400, "message": f"echo: no such key {key}", "param": key.encode().hex()}}
    return [(400, error), (200, error), (200, answer)][number % 3]


@contextmanager
def serving(status: int | None) -> Iterator[tuple[str, list[str]]]:
    """(address, keys that were sent). With ``status``, every answer is that error."""
    seen: list[str] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                seen.append(self.headers["Authorization"].removeprefix("Bearer "))
                said, body = echoes(seen[-1], len(seen) if status is None else 0)
            data = json.dumps(body).encode()
            self.send_response_only(said if status is None else status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def database() -> bytes:
    """All bytes of the database of the session's Prefect server, with its log of what is not moved in yet."""
    from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

    url = PREFECT_API_DATABASE_CONNECTION_URL.value()
    place = Path(str(getattr(url, "get_secret_value", lambda: url)()).partition("///")[2])
    assert place.is_file()
    return b"".join(path.read_bytes() for path in sorted(place.parent.glob(f"{place.name}*")))


def request(folder: Path, name: str, url: str) -> BuildRequest:
    role = {"backend": "openai", "model": "m", "base_url": url, "api_key_env": VARIABLE, "attempts": 2}
    role["patience"] = {"first_delay": 0.001, "longest_delay": 0.002}
    settings = {"source.entities": 300, **LEAN, "roles.policy": role, "name": name}
    return BuildRequest(dataset="world-search", tasks=2, out=folder / name, store=folder / "store", settings=settings)


@pytest.mark.usefixtures("prefect_server")
def test_no_key_that_a_server_echoes_is_in_the_database_of_prefect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    with serving(None) as (url, seen):
        build_in_flow(request(tmp_path, "echoing-build", url))
        assert set(seen) == {KEY}
    with serving(401) as (url, seen):
        with pytest.raises(SynthError) as caught:
            build_in_flow(request(tmp_path, "refused-build", url))
        assert set(seen) == {KEY}
    assert KEY not in str(caught.value)
    held = database()
    assert b"echoing-build" in held
    assert b"refused-build" in held
    assert b"echo: no such key [redacted]" in held  # why the second flow run failed
    for form in (KEY, KEY[:12], KEY.replace("/", r"\/"), quote(KEY, safe=""), KEY.encode().hex()):
        assert form.encode() not in held
