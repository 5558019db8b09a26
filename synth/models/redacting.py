"""What a server sent, without the keys of those who asked it. Every response passes here before anything reads it."""

from __future__ import annotations

import json
from typing import Any

from synth.models.http_reader import Response
from synth.redaction import Redactor

__all__ = ["redacted"]

_TOKENS = ("token_ids", "prompt_token_ids", "logprobs")
"""Fields in which a text stands once more, in pieces that no key is found in."""


def redacted(response: Response, redactor: Redactor) -> Response:
    """``response`` without any secret; the same object where it holds none."""
    body = response.body
    if b"\0" in body[:4]:  # JSON in UTF-16 or UTF-32
        body = body.decode(json.detect_encoding(body), "replace").encode("utf-8", "replace")
    body = redactor.data(body)
    headers = {name: redactor.text(value) for name, value in response.headers.items()}
    if body is response.body and headers == response.headers:
        return response
    return Response(response.status, headers, _without_tokens(body))


def _without_tokens(body: bytes) -> bytes:
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(data, dict):
        return body
    choices = data.get("choices")
    for holder in (data, *(choices if isinstance(choices, list) else ())):
        for name in _TOKENS if isinstance(holder, dict) else ():
            holder.pop(name, None)
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
