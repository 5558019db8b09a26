"""Replies that no sane server sends, drawn with a seed: bodies bent in structure, bytes and headers."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np

from synth.identity import derive_generator

__all__ = ["bent", "bent_response"]

RAW = "\ue000"
"""Marks a text that stands in the JSON without quotes."""
DEEP: Any = [[[[]]]]
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, -0.0, 10**18, 10**400, -(10**400), 1e300, "", " ", "x", "\x00", "\ufeff"),
    *("\ud800", "a\udc00b", "é" * 50, "[" * 3_000, "{" * 3_000, "<think>", "</think>", "1" * 5_000, "²", "404", "-1"),
    *([], {}, [None], [{}], [[]], {"": None}, {"text": {}}, [{"text": 5}], ["\ud800"], {"\ud800": "\ud801"}, DEEP),
    *(f"{RAW}NaN{RAW}", f"{RAW}Infinity{RAW}", f"{RAW}-Infinity{RAW}", f"{RAW}1e400{RAW}", f"{RAW}{'9' * 4_400}{RAW}"),
    *(f"{RAW}{'[' * 900}{']' * 900}{RAW}", f"{RAW}{'[' * 200}{']' * 200}{RAW}", [{"thinking": [1, "x", None]}]),
    *([{"thinking": 7}], [{"type": "thinking", "thinking": {"text": 1}}], [{"text": "said"}, {"thinking": "t"}]),
    *({"name": "search", "arguments": {"query": float("nan")}}, '{"query": 1e400}', '{"query": "\\ud800"}'),
    *('{"query": NaN}', '{"query": -Infinity}', '{"a": ' * 500 + "1" + "}" * 500, '{"query": ' + "9" * 5_000 + "}"),
    *('{"query": ' + "9" * 350 + "}", '{"\\ud800": 1, "\\ud801": 2}', "[]", "null", '"\\"x\\""', "{'query': 1e999}"),
    *("search(query=1e999)", "search(query='\\ud800')", '<tool_call>{"name":"search","arguments":{"query":NaN}}'),
    *('<tool_call>\n{"name":"search","arguments":{"query":"\\ud800"}}\n</tool_call>', "\\boxed{\ud800}"),
)
"""Values that stand where others belong."""
FIELDS = (
    *("choices", "message", "content", "tool_calls", "function", "arguments", "name", "id", "reasoning", "usage"),
    *("reasoning_content", "refusal", "finish_reason", "logprobs", "token_ids", "prompt_token_ids", "error", "model"),
    *("prompt_tokens", "completion_tokens", "prompt_tokens_details", "function_call", "code", "type", "text"),
)
RETRY_AFTER = (
    *("-3", "nan", "inf", "1e400", "", "soon", "0", "Wed, 21 Oct 2015 07:28:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"),
    *("Mon, 01 Jan 10000 00:00:00 GMT", "Mon, 99 Foo 2020 99:99:99 GMT", "Wed, 21 Oct 99999999999999999999 07:28:00"),
    *("Wed, 21 Oct 2015 07:28:00 +99999999999999999999", "Wed, 21 Oct 2015 07:28:00 -9999", "0" * 400, ",", "\xff"),
    *("Sat, 01 Jan 0001 00:00:00 +2359", "9" * 5_000),
)


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """(holder, key) of every part."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        found.append((value, key))
        _places(item, found)
    return found


def bent(body: dict[str, Any], *names: str | int) -> bytes:
    """``body`` with one to three parts replaced, doubled, renamed or dropped, then perhaps a few bytes."""
    generator = derive_generator(0, "odd replies", *names)

    def draw(items: Any) -> Any:
        return items[int(generator.integers(len(items)))]

    body = copy.deepcopy(body)
    for _ in range(int(generator.integers(1, 4))):
        places = _places(body, [])
        if not places:
            break
        holder, key = draw(places)
        match int(generator.integers(6)):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[draw(FIELDS)] = holder.pop(key)
            case 2 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case 3 if isinstance(holder, dict):
                holder[draw(FIELDS)] = copy.deepcopy(draw(ODD))
            case _:
                holder[key] = copy.deepcopy(draw(ODD))
    text = json.dumps(body).replace(f'"{RAW}'.encode("ascii", "backslashreplace").decode(), "")
    text = text.replace('\\ue000"', "").replace('"\\ue000', "").replace("\\ue000", "")
    data = text.encode()
    if generator.random() < 0.2:
        data = _damaged(data, generator)
    return data


def _damaged(data: bytes, generator: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(generator.integers(1, 5))):
        at = int(generator.integers(len(changed) + 1))
        match int(generator.integers(4)):
            case 0:
                del changed[at:]
            case 1:
                changed[at:at] = generator.bytes(int(generator.integers(1, 9)))
            case 2:
                changed[at : at + 5] = b"\xed\xa0\x80"
            case _:
                changed[at : at + 1] = b""
    return bytes(changed)


def bent_response(body: dict[str, Any], *names: str | int) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body: of four replies three are of status 200."""
    generator = derive_generator(0, "odd responses", *names)
    data = bent(body, *names)
    headers = {"Content-Type": str(generator.choice(["application/json", "text/html", "text/event-stream", ""]))}
    status = 200
    if generator.random() < 0.25:
        status = int(generator.choice([204, 400, 408, 409, 413, 418, 422, 425, 500, 502, 599]))
        headers["Retry-After"] = str(RETRY_AFTER[int(generator.integers(len(RETRY_AFTER)))])
    if generator.random() < 0.05:
        headers["Content-Encoding"] = str(generator.choice(["gzip", "deflate", "br", "x"]))
    return status, headers, data
