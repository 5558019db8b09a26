"""Replies as bytes on disk: zlib with a preset dictionary.

A reply of 1 KB is half envelope: field names and brackets. zlib alone leaves 0.57 of it, with a preset dictionary of
the envelope 0.4 in the same time; higher levels take longer and gain 1 %. The first byte says how the rest is coded, so
that other codes can stand beside this one; then follow a check sum of the key, so that no damage serves the reply of
another call, and the deflated body, which ends with a check sum of its own.
"""

from __future__ import annotations

import zlib

__all__ = ["DamagedReply", "decode", "encode"]

_ZLIB_1 = b"\x01"

# Part of the format, never edited: a better dictionary gets a code byte of its own.
_DICTIONARY_1 = (
    b'{"id":"chatcmpl-","object":"chat.completion","created":17,"model":"","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":null,"refusal":null,"annotations":null,"audio":null,"function_call":null,'
    b'"reasoning_content":"","tool_calls":[{"id":"call_","type":"function","function":{"name":"","arguments":"{\\"'
    b'}]},"logprobs":{"content":[{"token":"","logprob":-0.0,"bytes":null,"top_logprobs":[]}]},"finish_reason":'
    b'"stop","stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":null,"usage":{'
    b'"prompt_tokens":,"total_tokens":,"completion_tokens":,"prompt_tokens_details":{"cached_tokens":0}},'
    b'"prompt_logprobs":null}\\"answer\\": \\"thought\\": \\"action\\": {\\"tool\\": \\"arguments\\": {\\"query\\": '
    b'\\"document\\": \\"url\\": I should look for it first. Let me search for the next, and then open what was '
    b'found. According to the document, {"call":"","content":null,"finish":"stop","fingerprint":null,"logprobs":'
    b'null,"model":"","reasoning":"The question asks which of these was the ","refusal":null,"token_ids":null,'
    b'"tool_calls":[],"usage":{"cached_tokens":0,"completion_tokens":1,"prompt_tokens":1}}"finish":"tool_calls",'
    b'"tool_calls":[{"arguments":"{\\"query\\": \\"","id":"call_","name":"search"}]'
)


class DamagedReply(Exception):
    """The bytes are not what ``encode`` made for this key: the disk, or another hand, changed them."""


def encode(key: bytes, body: bytes) -> bytes:
    """``body``, the reply to the call ``key``, as it is stored."""
    deflate = zlib.compressobj(1, zlib.DEFLATED, 15, 5, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY_1)
    return b"".join((_ZLIB_1, zlib.crc32(key).to_bytes(4, "big"), deflate.compress(body), deflate.flush()))


def decode(key: bytes, stored: bytes) -> bytes:
    """The body that ``encode`` was given.

    Raises:
        DamagedReply: a check sum or the code byte is wrong, or it belongs to another call.
    """
    if stored[:1] != _ZLIB_1:
        raise DamagedReply(f"unknown code {stored[:1]!r}")
    if stored[1:5] != zlib.crc32(key).to_bytes(4, "big"):
        raise DamagedReply("it belongs to another call")
    inflate = zlib.decompressobj(15, zdict=_DICTIONARY_1)
    try:
        body = inflate.decompress(stored[5:])
    except zlib.error as error:
        raise DamagedReply(str(error)) from error
    if not inflate.eof:
        raise DamagedReply("it ends early")
    return body
