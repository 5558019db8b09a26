"""Forms that an HTTP response may have."""

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=1\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n"
FORMS = {
    "length": (OK + b"Content-Length: 11\r\n\r\nhello world", True),
    "nothing": (OK + b"Content-Length: 0\r\n\r\n", True),
    "close": (OK + b"Connection: close\r\nContent-Length: 11\r\n\r\nhello world", False),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 11\r\n\r\nhello world", False),
    "old, kept": (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 11\r\n\r\nhello world", True),
    "chunked": (CHUNKED, True),
    "chunked, with a length": (CHUNKED.replace(b"chunked\r\n", b"chunked\r\nContent-Length: 3\r\n", 1), False),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 H\r\nLink: x\r\n\r\n" + CHUNKED, True),
    "said twice": (OK + b"Content-Length: 11\r\ncontent-length: 11\r\n\r\nhello world", True),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 11\r\n\r\nhello world", True),
    "more than asked": (OK + b"Content-Length: 11\r\n\r\nhello worldHTTP/1.1 200 OK\r\n", False),
}
"""Name -> (bytes, whether the connection can be used again). Their body is ``hello world`` or empty."""
