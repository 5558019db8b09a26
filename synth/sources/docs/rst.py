"""reStructuredText to the same rows as HTML: docutils reads and renders it, what Sphinx adds to it included.

Directives and roles that docutils does not know are registered as they are met, each by its name alone, so that one
file reads the same whatever was read before it. What a directive takes from elsewhere (code to document, a picture to
draw) is left out; what it holds in words stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from synth.sources.docs.hrefs import RST
from synth.sources.docs.html import parse_html
from synth.sources.docs.page import MalformedError, Parsed
from synth.sources.docs.rst_directives import register_directives
from synth.sources.docs.rst_roles import Label, register_roles

__all__ = ["RST", "labels_of", "parse_rst"]

_LABEL = re.compile(r"^\.\. _(?P<label>[^:\n`]+):[ \t]*$", re.MULTILINE)
_LINE = r"[=\-~^\"'#*+.`_:]"
_HEADING = re.compile(
    rf"\n(?:(?:\.\. _[^:\n`]+:[ \t]*)?\n)*(?:(?P<over>{_LINE})(?P=over){{2,}}\n)? ?(?P<title>\S[^\n]*)\n"
    rf"(?P<under>{_LINE})(?P=under){{2,}}[ \t]*$",
    re.MULTILINE,
)
"""A heading below a label, perhaps below other labels."""
_INCLUDE = re.compile(r"^(?P<indent>[ \t]*)\.\. include:: +(?P<path>\S+)[ \t]*$(?!\n[ \t]+:)", re.MULTILINE)
_DEEPEST = 3
"""Files within files that are read."""
_SUBSTITUTED = re.compile(r"\|([\w. -]{1,40})\|")
_SETTINGS: dict[str, Any] = {
    "_disable_config": True,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "embed_stylesheet": False,
    "file_insertion_enabled": False,
    "halt_level": 6,
    "initial_header_level": 1,
    "input_encoding": "unicode",
    "line_length_limit": 1_000_000,
    "math_output": "LaTeX",
    "output_encoding": "unicode",
    "raw_enabled": False,
    "report_level": 6,
    "smart_quotes": False,
    "stylesheet_path": "",
    "syntax_highlight": "none",
    "toc_backlinks": False,
    "warning_stream": False,
}
"""Nothing is read from other files, none of the machine's settings counts, and no remark of docutils becomes text."""


def labels_of(name: str, text: str) -> Mapping[str, Label]:
    """Label -> where it leads and the heading below it, if any: what ``:ref:`` goes by from any file of the folder.

    Args:
        name: of the document, relative to the folder.
    """
    found = {}
    for match in _LABEL.finditer(text):
        heading = _HEADING.match(text, match.end())
        found[match["label"].strip().lower()] = Label(f"/{name}", heading and heading["title"].strip())
    return found


def parse_rst(
    text: str, labels: Mapping[str, Label] | None = None, included: Callable[[str], str | None] | None = None
) -> Parsed:
    """Read a page.

    Args:
        labels: of all files (:func:`labels_of`).
        included: the text of a file that the page includes, by the path that it gives; None for one that is not read.

    Raises:
        MalformedError: docutils can't read it.
    """
    from docutils.core import publish_doctree, publish_from_doctree

    if included is not None:
        text = _with_included(text, included, _DEEPEST)
    register_directives(text)
    register_roles(text)
    try:
        tree = publish_doctree(text, settings_overrides=_SETTINGS)
        _settle(tree, labels or {})
        page = publish_from_doctree(tree, writer="html5", settings_overrides=_SETTINGS)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise MalformedError(f"docutils can't read it: {type(error).__name__}") from error
    body = page.partition("<body")[2].partition(">")[2].partition("</body>")[0]
    return parse_html(f"<html><body>{body}</body></html>")


def _with_included(text: str, included: Callable[[str], str | None], depth: int) -> str:
    """The text with what it includes whole in the place of the directive, indented as that is."""

    def put(match: re.Match[str]) -> str:
        inner = included(match["path"]) if depth else None
        if inner is None:
            return match.group()
        return "\n".join(match["indent"] + line if line else "" for line in inner.splitlines())

    found = _INCLUDE.sub(put, text)
    return found if found == text else _with_included(found, included, depth - 1)


def _settle(tree: Any, labels: Mapping[str, Label]) -> None:
    """Takes the remarks of docutils out of a tree, and leads each reference by its label to where that stands."""
    from docutils import nodes

    for node in list(tree.findall(nodes.system_message)):
        node.parent.remove(node)
    for node in list(tree.findall(nodes.problematic)):
        written = node.astext()
        substituted = _SUBSTITUTED.fullmatch(written)  # a name of the project's, of its version: only its build knows
        words = substituted[1] if substituted else written.strip("`_")
        node.parent.replace(node, nodes.Text(words))
    for node in list(tree.findall(nodes.field_list)):
        if node.parent is tree:
            node.parent.remove(node)  # what Sphinx is told of the page
    for node in list(tree.findall(nodes.reference)):
        label = node.get("label")
        if label is None:
            continue
        known = labels.get(label.lower())
        if known is not None:
            node["refuri"] = f"{known.path}#{nodes.make_id(label)}"
            if not node.get("worded") and known.title:
                node.children = [nodes.Text(re.sub(r"[`*]", "", known.title))]
        else:
            node.parent.replace(node, nodes.inline("", "", *node.children))
