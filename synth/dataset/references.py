"""How a place in a document stands for the text there.

    ⟦guide/install.html#120:310⟧                     code points 120 to 310 of that document's text
    ⟦guide/install.html#0:5321 sha256:<64 hex>⟧      the whole text, in the table ``documents``
    ⟦⟧                                               an opening bracket that the text itself held

So every text has one form with references and every form with references one text: nothing has to be guessed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Reference", "escaped", "filled", "holds_reference", "reference", "references_in", "whole", "whole_in"]

_OPEN, _CLOSE = "⟦", "⟧"
_FORM = re.compile(
    rf"{_OPEN}(?:(?P<id>[^{_OPEN}{_CLOSE}]+)#(?P<start>\d+):(?P<end>\d+)"
    rf"(?: sha256:(?P<sha256>[0-9a-f]{{64}}))?)?{_CLOSE}"
)


class Reference(NamedTuple):
    """``text[start:end]`` of a document."""

    document_id: str
    start: int
    """In code points."""
    end: int
    sha256: str | None = None
    """Of the whole text in UTF-8, where the reference stands for all of it in ``documents``."""


def reference(document_id: str, start: int, end: int) -> str:
    """The form of a place."""
    return f"{_OPEN}{_quoted(document_id)}#{start}:{end}{_CLOSE}"


def whole(document_id: str, text: str) -> str:
    """The form of a whole text, which says by which text it may be replaced."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{_OPEN}{_quoted(document_id)}#0:{len(text)} sha256:{digest}{_CLOSE}"


def escaped(text: str) -> str:
    """``text``, which holds no reference, so that nothing in it looks like one."""
    return text.replace(_OPEN, _OPEN + _CLOSE)


def holds_reference(text: str) -> bool:
    return _OPEN in text and any(match["id"] is not None for match in _FORM.finditer(text))


def references_in(text: str) -> list[Reference]:
    """All references of a text with references, in order."""
    return [_read(match) for match in _FORM.finditer(text) if match["id"] is not None] if _OPEN in text else []


def whole_in(text: str, document_id: str) -> Reference | None:
    """The reference that stands for all of this document's text; None where the text is there."""
    match = _FORM.fullmatch(text)
    found = _read(match) if match is not None and match["sha256"] is not None else None
    return found if found is not None and found[:2] == (document_id, 0) else None


def filled(text: str, stated: Callable[[Reference], str | None], *, unescape: bool = True) -> str:
    """``text`` with what ``stated`` says for each reference; None leaves it as it is. ``unescape`` = nothing is left
    open, so brackets of the text itself get their own form back."""
    if _OPEN not in text:
        return text

    def put(match: re.Match[str]) -> str:
        if match["id"] is None:
            return _OPEN if unescape else match[0]
        found = stated(_read(match))
        if found is None:
            return match[0]
        return found if unescape else escaped(found)

    return _FORM.sub(put, text)


def _read(match: re.Match[str]) -> Reference:
    name = match["id"].replace("%5B", _OPEN).replace("%5D", _CLOSE).replace("%25", "%")
    return Reference(name, int(match["start"]), int(match["end"]), match["sha256"])


def _quoted(document_id: str) -> str:
    return document_id.replace("%", "%25").replace(_OPEN, "%5B").replace(_CLOSE, "%5D")
