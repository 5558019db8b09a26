"""What a server answers, as the text that an agent reads: bounded, without what a terminal or a parser trips over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from synth.environments.suspicion import clean
from synth.identity import canonical_json

__all__ = ["result_text"]


def result_text(
    blocks: Sequence[Mapping[str, Any]], structured: Any, *, replace: Mapping[str, str], max_chars: int
) -> str:
    """The observation.

    Args:
        blocks: The content blocks of a result, as the protocol has them.
        structured: Its structured content, None for none. Shown where no text block says the same.
        replace: Text -> what stands in its place (the name of the folder of this run).
        max_chars: Code points of the result that are shown. The rest is counted, so that nobody takes a part for the
            whole.
    """
    parts = [_block(block) for block in blocks]
    if structured is not None and not any(_says(block, structured) for block in blocks):
        text = canonical_json(structured)
        parts.append(f"Structured content: {text}" if parts else text)
    whole = "\n".join(parts)
    for old, new in replace.items():
        whole = whole.replace(old, new)
    if not whole.strip():
        return "(The tool gave an empty result.)"
    if len(whole) <= max_chars:
        return clean(whole)
    return f"{clean(whole[:max_chars])}\n(The result has {len(whole):,} characters; the first {max_chars:,} are shown.)"


def _says(block: Mapping[str, Any], structured: Any) -> bool:
    if block.get("type") != "text":
        return False
    try:
        said = json.loads(str(block.get("text", "")))
    except (ValueError, RecursionError):
        said = block.get("text")
    # The SDK wraps a result that is no object as {"result": ...}.
    return said == structured or (isinstance(structured, dict) and structured == {"result": said})


def _block(block: Mapping[str, Any]) -> str:
    kind = str(block.get("type", "nothing"))
    if kind == "text":
        return str(block.get("text", ""))
    if kind in ("image", "audio"):
        return _unread(f"{kind}, {block.get('mimeType') or 'of unknown type'}", block.get("data"))
    if kind == "resource":
        resource = block.get("resource")
        held = resource if isinstance(resource, Mapping) else {}
        if "text" in held:
            return f"[resource {held.get('uri', '')}]\n{held['text']}"
        return _unread(f"resource {held.get('uri', '')}", held.get("blob"))
    if kind == "resource_link":
        return f"[link to a resource: {block.get('name', '')} {block.get('uri', '')}]"
    return f"[content of type {kind[:40]} is not shown: only text is]"


def _unread(what: str, data: Any) -> str:
    size = len(data) * 3 // 4 if isinstance(data, str) else 0
    return f"[{what}, about {size:,} bytes, is not shown: only text is]"
