"""Definitions that are written as a paragraph and an indented block, without a definition list.

DocBook's manual pages (``.PP`` and ``.RS``) and reStructuredText's block quotes give ``<p><b>--size</b></p>`` and a
``<div>`` or ``<blockquote>`` that says what it does.
"""

from __future__ import annotations

import re
from typing import Any

from synth.sources.docs.boilerplate import plain_text

__all__ = ["is_definition", "is_term"]

_CODE = frozenset("b strong code tt kbd samp".split())
_ARGUMENTS = _CODE | frozenset("i em var span a".split())
_LONGEST = 100
_PROSE = re.compile(r"[A-Za-z]{2,}")
_SENTENCE = re.compile(r"(?<!\.\.)[.!?:;]$| (?:is|are|was|has|can|may|must|will) ")
_INDENTED = re.compile(r"\bBd-indent\b")
_MARGIN = re.compile(r"(?:margin|padding)-left: *(?!0)")


def is_term(element: Any) -> bool:
    """Whether a paragraph is nothing but a name written as code, with its arguments, and a definition follows it."""
    following = element.getnext()
    return element.tag == "p" and following is not None and _is_name(element) and _is_indented(following)


def is_definition(element: Any) -> bool:
    """Whether an element is the indented block below such a paragraph."""
    before = element.getprevious()
    return before is not None and isinstance(before.tag, str) and _is_indented(element) and is_term(before)


def _is_indented(element: Any) -> bool:
    if element.tag == "blockquote":
        return True
    return element.tag == "div" and bool(
        _INDENTED.search(element.get("class") or "") or _MARGIN.search(element.get("style") or "")
    )


def _is_name(paragraph: Any) -> bool:
    parts = [part for part in paragraph if isinstance(part.tag, str)]
    if not parts or parts[0].tag not in _CODE or (paragraph.text or "").strip():
        return False
    if any(part.tag not in _ARGUMENTS or _PROSE.search(part.tail or "") for part in parts):
        return False  # words between the names: a sentence
    text = plain_text(paragraph)
    return 0 < len(text) <= _LONGEST and _SENTENCE.search(text) is None
