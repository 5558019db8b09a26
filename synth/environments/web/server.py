"""What the browser is connected to: a proxy on loopback that knows one site and nothing else.

Everything that Chromium wants from any network goes through it. The site's own address is answered from a folder, or by
an application on a port of this machine; whatever else is asked for, tunnels included, is refused. So pages have an
address that is the same in every run, and no way out.
"""

from __future__ import annotations

import http.client
import http.server
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from synth.environments.web.definition import SITE_FILE
from synth.errors import InputError

__all__ = ["Folder", "Reply", "Request", "SiteServer", "forward"]

_MAX_BYTES = 64 * 1024 * 1024
_MAX_FILES = 5_000
_MAX_BODY = 16 * 1024 * 1024
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".htm": "text/html; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}
_OF_FILES = re.compile(r"text/css|(?:text|application)/(?:x-)?javascript|(?:font|image)/.+|application/(?:x-)?font-.+")
_HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    "upgrade content-length date server".split()
)


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    """From the slash on, with the query."""
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Folder:
    """The files of a folder, read once: what changes later on the disk changes nothing for a build."""

    def __init__(self, folder: Path) -> None:
        """
        Raises:
            InputError: it holds no page, or too much.
        """
        self.files: dict[str, bytes] = {}
        size = 0
        root = folder.resolve()
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            hidden = any(part.startswith(".") for part in name.split("/"))
            # A link may lead anywhere: only what stands in the folder is served.
            if hidden or name == SITE_FILE or not path.is_file() or not path.resolve().is_relative_to(root):
                continue
            self.files[f"/{name}"] = path.read_bytes()
            size += len(self.files[f"/{name}"])
            if size > _MAX_BYTES or len(self.files) > _MAX_FILES:
                what = f"it holds more than {_MAX_FILES:,} files or {_MAX_BYTES // 2**20} MiB"
                raise InputError(what, where=f"site {folder.name}", mend="give a smaller folder")
        if not any(name.endswith((".html", ".htm")) for name in self.files):
            raise InputError("it holds no HTML page", where=f"site {folder.name}")
        found = sha256()
        for name, content in sorted(self.files.items()):
            found.update(f"{name} {sha256(content).hexdigest()}\n".encode())
        self.digest = found.hexdigest()
        """Hash of all names and contents."""

    def __call__(self, request: Request) -> Reply:
        if request.method not in ("GET", "HEAD"):
            return _plain(405, "This site only shows pages.")
        path = unquote(urlsplit(request.path).path)
        names = (path, f"{path.rstrip('/')}/index.html", f"{path}.html")
        name = next((name for name in names if name in self.files), None)
        if name is None:
            return _plain(404, "There is no such page.")
        kind = _TYPES.get(Path(name).suffix.lower(), "application/octet-stream")
        return Reply(200, self.files[name], (("Content-Type", kind),))


def forward(
    port: int, address: str, private: str | None, seconds: float, files: dict[str, Reply]
) -> Callable[[Request], Reply]:
    """Answers by asking the application on ``port``.

    Args:
        files: Style sheets, scripts, fonts and pictures that the application has on its disk, as it says: they are
            asked for once, whatever the episode. Pictures that it lacks, too, as long as nothing but GET was sent. By
            address; filled here.
        address: The site's address, for redirects that name the application's own.
        private: A path that the browser is not answered.
        seconds: How long the application may take.
    """

    untouched = True

    def answer(request: Request) -> Reply:
        nonlocal untouched
        if request.method not in ("GET", "HEAD"):
            untouched = False
        if private is not None and urlsplit(request.path).path == private:
            return _plain(404, "There is no such page.")
        found = files.get(request.path) if request.method == "GET" else None
        if found is not None and (found.status == 200 or untouched):
            return found
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
        try:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
            headers |= {"Connection": "close", "Accept-Encoding": "identity"}
            connection.request(request.method, request.path, request.body or None, headers)
            response = connection.getresponse()
            body = response.read(_MAX_BYTES)
            kept = [(name, value) for name, value in response.getheaders() if name.lower() not in _HOP_BY_HOP]
        except (OSError, http.client.HTTPException):
            return _plain(502, "The application does not answer.")
        finally:
            connection.close()
        own = (f"http://127.0.0.1:{port}", f"http://localhost:{port}")
        for place, (name, value) in enumerate(kept):
            for mine in own:
                if name.lower() == "location" and value.startswith(mine):
                    kept[place] = (name, address + value[len(mine) :])
        reply = Reply(response.status, body, tuple(kept))
        is_picture = request.headers.get("Accept", "").startswith("image/")
        if request.method == "GET" and reply.status == 404 and is_picture and untouched:
            files[request.path] = reply
        if request.method == "GET" and _is_file(reply):
            # It sets no cookies, this time as little as later.
            lasting = tuple(pair for pair in reply.headers if pair[0].lower() != "set-cookie")
            reply = files[request.path] = replace(reply, headers=lasting)
        return reply

    return answer


def _is_file(reply: Reply) -> bool:
    """Whether it is a file that stands on a disk: those have a date or a tag, what is made for one reader has not."""
    said = {name.lower(): value for name, value in reply.headers}
    kind = said.get("content-type", "").partition(";")[0].strip().lower()
    lasts = "last-modified" in said or "etag" in said
    return reply.status == 200 and lasts and bool(_OF_FILES.fullmatch(kind))


def _plain(status: int, words: str) -> Reply:
    page = f"<!doctype html><title>{words}</title><h1>{words}</h1>"
    return Reply(status, page.encode(), (("Content-Type", "text/html; charset=utf-8"),))


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    host: ClassVar[str]
    answer: ClassVar[Callable[[Request], Reply]]

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what pages ask for is no matter of the terminal's."""

    def handle_any(self) -> None:
        parts = urlsplit(self.path)
        inside = self.command != "CONNECT" and parts.scheme == "http" and parts.netloc == self.host
        size = self.headers.get("Content-Length") or "0"
        if not inside or "Upgrade" in self.headers or not size.isdigit() or int(size) > _MAX_BODY:
            self.close_connection = True
            self._send(_plain(403, "This is outside the site."))
            return
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        body = self.rfile.read(int(size))
        self._send(type(self).answer(Request(self.command, path, dict(self.headers.items()), body)))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_CONNECT = handle_any

    def _send(self, reply: Reply) -> None:
        try:
            self.send_response_only(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)
        except OSError:
            self.close_connection = True  # the browser went away


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is the browser's matter."""


class SiteServer:
    """The proxy; its thread ends with :meth:`close`."""

    def __init__(self, host: str, answer: Callable[[Request], Reply]) -> None:
        handler = type("_SiteHandler", (_Handler,), {"host": host, "answer": staticmethod(answer)})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._server.timeout = 0.05
        self._ended = False
        self._thread = threading.Thread(target=self._serve, name="synth-site", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._ended:
            self._server.handle_request()
        self._server.server_close()

    def leave(self) -> None:
        """:meth:`close`, without waiting for it: for finalizers, in which an interruption of the program would be
        lost."""
        self._ended = True

    def close(self) -> None:
        self.leave()
        self._thread.join()
