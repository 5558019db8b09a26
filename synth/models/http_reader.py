"""One HTTP/1.1 response (RFC 9112), from as many pieces as it comes in: lengths, chunks, bodies that end with the
connection, interim responses, gzip. However much a server sends, no more than a bound is held, unpacked or read."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

__all__ = ["MOST_BYTES", "Body", "Garbled", "HttpFailure", "Reader", "Response", "TooLarge"]

MOST_BYTES = 1 << 20
"""Of a response, for callers that expect a small one."""
_MAX_HEAD = 65_536
"""Bytes that status line and headers, or the lines about chunks, may have."""
_MAX_HEADERS = 256


class Response:
    """Status, headers and the whole body. Names of headers are in lower case."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class HttpFailure(Exception):
    """No whole response came."""


class Garbled(HttpFailure):
    """What came is not an HTTP response."""


class TooLarge(HttpFailure):
    """It has more bytes than it may have."""


class Body:
    """The body of a response, decoded as it comes: never more than ``most`` bytes of it, packed or unpacked."""

    __slots__ = ("_coding", "_inflate", "_most", "_plain", "received")

    def __init__(self, coding: str | None, most: int) -> None:
        self.received = 0
        """Bytes as they were sent."""
        self._coding = (coding or "identity").strip().lower()
        # 32 + 15: gzip or zlib, as its header says.
        self._inflate = None if self._coding == "identity" else zlib.decompressobj(47)
        self._most = most
        self._plain = bytearray()

    @property
    def held(self) -> int:
        return len(self._plain)

    def feed(self, data: bytes | bytearray) -> None:
        """
        Raises:
            TooLarge: there is more of it than there may be.
            Garbled: it can't be decoded.
        """
        self.received += len(data)
        if self._inflate is None:
            self._plain += data
        elif self._coding not in ("gzip", "x-gzip", "deflate"):
            raise Garbled(f"content encoding {self._coding[:40]!r}")
        elif not self._inflate.eof:
            try:
                self._plain += self._inflate.decompress(data, self._most - len(self._plain) + 1)
            except zlib.error as error:
                raise Garbled(f"{self._coding}: {error}") from error
        if max(self.received, len(self._plain)) > self._most:
            raise too_large(self._most)

    def whole(self) -> bytes:
        """
        Raises:
            Garbled: it ends early.
        """
        if self._inflate is not None and self.received and not self._inflate.eof:
            raise Garbled(f"{self._coding}: it ends early")
        return bytes(self._plain)


def too_large(most: int) -> TooLarge:
    return TooLarge(f"the response has more than {most:,} bytes")


class Reader:
    """One response of ``most`` bytes at most, from as many pieces as it comes in."""

    __slots__ = (
        *("_body", "_buffer", "_chunked", "_headers", "_length", "_most", "_received", "_status", "_trailers"),
        "reusable",
    )

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.reusable = False
        """Once it is read: whether the connection goes on after it."""
        self._buffer = bytearray()
        self._status = 0
        self._headers: dict[str, str] = {}
        self._length: int | None = None
        """Of the body; None = unknown."""
        self._chunked = False
        self._trailers = False
        """The last chunk was read; lines follow until an empty one."""
        self._most = most
        self._received = 0
        """Bytes, all that stands about the body included."""
        self._body = Body(None, most)

    @property
    def where(self) -> str:
        """How far it was read, in words."""
        if not self._status:
            return "within the headers" if self._buffer else "before the response"
        return f"within the body ({self._body.received:,} bytes" + (
            f" of {self._length:,})" if self._length is not None else ")"
        )

    @property
    def held(self) -> int:
        """Bytes that it keeps."""
        return len(self._buffer) + self._body.held

    def feed(self, data: bytes) -> Response | None:
        """The response when ``data`` ends it.

        Raises:
            Garbled: it is none.
            TooLarge: it has more bytes than it may have.
        """
        self._received += len(data)
        if self._received > self._most + _MAX_HEAD:
            raise too_large(self._most)
        if not self._status:
            rest = self._head(data)
            if rest is None:
                return None
            data = rest
        if self._chunked:
            return self._chunks(data)
        if self._length is None:
            self._body.feed(data)
            return None
        left = self._length - self._body.received
        if len(data) > left:
            self.reusable = False  # what follows was not asked for
            data = data[:left]
        self._body.feed(data)
        return self._whole() if len(data) == left else None

    def end(self) -> Response | None:
        """The connection has ended: the response, if that is what ends its body.

        Raises:
            Garbled: its body can't be decoded.
        """
        if not self._status or self._chunked or self._length is not None:
            return None
        self.reusable = False
        return self._whole()

    def _head(self, data: bytes) -> bytes | None:
        """What follows the headers in ``data``; None while they are not complete."""
        if self._buffer:
            self._buffer += data
            data = bytes(self._buffer)
        while True:
            if not b"HTTP/1.".startswith(data[:7]):
                raise Garbled(f"it begins with {data[:40]!r}")
            end = data.find(b"\r\n\r\n")
            if end < 0:
                if len(data) > _MAX_HEAD:
                    raise Garbled(f"its headers have more than {_MAX_HEAD:,} bytes")
                self._buffer = bytearray(data)
                return None
            version, status, headers = _parse_head(data[:end])
            data = data[end + 4 :]
            if status == 101:
                raise Garbled("it wants another protocol")
            if status >= 200:
                break  # before that: interim responses
        self._buffer.clear()
        self._status, self._headers = status, headers
        connection = headers.get("connection", "").lower()
        self.reusable = "close" not in connection if version else "keep-alive" in connection
        coding = headers.get("transfer-encoding")
        if status in (204, 304):
            self._length = 0
        elif coding is not None:
            if coding.lower().strip() != "chunked":
                raise Garbled(f"transfer encoding {coding!r}")
            self._chunked = True
            self.reusable = self.reusable and "content-length" not in headers
        elif (length := headers.get("content-length")) is not None:
            self._length = _length(length)
            if self._length > self._most:
                raise too_large(self._most)
        self._body = Body(headers.get("content-encoding"), self._most)
        return data

    def _chunks(self, data: bytes) -> Response | None:
        buffer = self._buffer
        buffer += data
        at = 0
        while (end := buffer.find(b"\r\n", at)) >= 0:
            if self._trailers:
                if end == at:
                    self.reusable = self.reusable and len(buffer) == end + 2
                    return self._whole()
                at = end + 2
                continue
            size = buffer[at:end].partition(b";")[0].strip()
            if not 0 < len(size) <= 15 or size.strip(b"0123456789abcdefABCDEF"):
                raise Garbled(f"a chunk of size {bytes(size[:40])!r}")
            count = int(size, 16)
            if count > self._most:
                raise too_large(self._most)
            if not count:
                self._trailers = True
                at = end + 2
                continue
            begin = end + 2
            if len(buffer) < begin + count + 2:
                break
            if buffer[begin + count : begin + count + 2] != b"\r\n":
                raise Garbled("a chunk is longer than its size")
            self._body.feed(buffer[begin : begin + count])
            at = begin + count + 2
        else:
            if len(buffer) - at > _MAX_HEAD:
                raise Garbled(f"a line about chunks has more than {_MAX_HEAD:,} bytes")
        del buffer[:at]
        return None

    def _whole(self) -> Response:
        return Response(self._status, self._headers, self._body.whole())


def _parse_head(head: bytes) -> tuple[int, int, dict[str, str]]:
    """(minor version, status, headers by name in lower case) of a response."""
    first, *lines = head.decode("latin-1").split("\r\n")
    minor, status = first[7:8], first[9:12]
    if not (
        minor.isdecimal() and first[8:9] == " " and status.isdecimal() and len(status) == 3 and first[12:13] in " "
    ):
        raise Garbled(f"it begins with {first[:40]!r}")
    if len(lines) > _MAX_HEADERS:
        raise Garbled(f"it has more than {_MAX_HEADERS} headers")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name[0] in " \t":
            raise Garbled(f"a header reads {line[:40]!r}")
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return int(minor), int(status), headers


def _length(value: str) -> int:
    lengths = {each.strip() for each in value.split(",")}
    length = lengths.pop()
    if lengths or not (length.isascii() and length.isdecimal() and len(length) <= 18):
        raise Garbled(f"content length {value[:40]!r}")
    return int(length)
