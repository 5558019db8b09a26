"""Markdown to the same rows as HTML: it is rendered (CommonMark and tables, by markdown-it-py) and read as a page."""

from __future__ import annotations

import itertools
import re
import unicodedata
from typing import Any

from synth.sources.docs.html import iso_date, parse_html, spdx
from synth.sources.docs.page import Parsed

__all__ = ["parse_markdown"]

_LANGUAGE = re.compile(r"\A#!\w+ ")
"""What code in a line begins with where its language is named (PyMdown's InlineHilite)."""
_ATTRIBUTES = re.compile(r"\s*\{(?::\s*|\s*(?=[#.]))(?:#(?P<id>[\w-]+))?[^{}]*\}\s*$")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)


_OF_INLINE = re.compile(r"^\{:?(?: ?[.#][\w-]+)+ ?\}")


def parse_markdown(text: str) -> Parsed:
    """Read a page. A YAML front matter gives ``title``, ``date`` and ``license`` and is not part of the text.

    Headings get the fragments that GitHub gives them, so that ``page.md#some-heading`` leads there.
    """
    from markdown_it import MarkdownIt

    meta: dict[str, Any] = {}
    if match := _FRONT_MATTER.match(text):
        meta = _front_matter(match[1])
        if meta:
            text = text[match.end() :]
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = reader.parse(text)
    for child in itertools.chain.from_iterable(token.children or () for token in tokens):
        if child.type == "code_inline":
            child.content = _LANGUAGE.sub("", child.content)
        elif child.type == "text":  # what Python-Markdown reads as attributes of the code or link in front
            child.content = _OF_INLINE.sub("", child.content)
    seen: dict[str, int] = {}
    for token, inline in itertools.pairwise(tokens):
        if token.type == "heading_open":
            given = _attributes(inline.children or [])
            words = "".join(child.content for child in inline.children or ())
            token.attrSet("id", given or _slug(words, seen))
    body = reader.renderer.render(tokens, reader.options, {})
    parsed = parse_html(f"<html><body><main>{body}</main></body></html>")
    title = meta.get("title")
    if isinstance(title, str) and title.strip():
        parsed.title = " ".join(title.split())
    parsed.date = iso_date(str(meta.get("date", ""))) or parsed.date
    parsed.licence = spdx(str(meta.get("license") or meta.get("licence") or "")) or parsed.licence
    return parsed


def _attributes(children: list[Any]) -> str:
    """Takes the attributes from the end of a heading ("{: #fold-depth .new }", as Python-Markdown and Pandoc read
    them); the fragment that they give, if any."""
    match = _ATTRIBUTES.search(children[-1].content) if children and children[-1].type == "text" else None
    if match is None:
        return ""
    children[-1].content = children[-1].content[: match.start()]
    return match["id"] or ""


def _front_matter(text: str) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}  # then it is not front matter: two rules with text between them
    return found if isinstance(found, dict) else {}


def _slug(heading: str, seen: dict[str, int]) -> str:
    """GitHub's fragment of a heading: lower case, punctuation dropped, spaces to hyphens, repeats numbered."""
    kept = [c for c in unicodedata.normalize("NFC", heading).strip().lower() if c.isalnum() or c in " -_"]
    slug = "".join(kept).replace(" ", "-")
    count = seen.get(slug, 0)
    seen[slug] = count + 1
    return f"{slug}-{count}" if count else slug
