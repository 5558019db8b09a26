"""Roles of Sphinx and of projects in reStructuredText: each becomes words, code or a link."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = ["Label", "register_roles"]

_NAME = r"([A-Za-z][\w+-]*(?:[:.][\w+-]+)*)"
_ROLE = re.compile(rf"(?<![\w:`]):{_NAME}:(?=`)|(?<=`):{_NAME}:(?![\w`])")
_TITLED = re.compile(r"(?P<words>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
_BUILT_IN = frozenset(
    "emphasis strong literal code math subscript sub superscript sup title-reference title title_reference t "
    "pep-reference pep rfc-reference rfc raw abbreviation ab acronym ac".split()
)
_BY_LABEL = frozenset(("ref", "numref", "any", "std:ref", "std:numref"))
_BY_PAGE = frozenset(("doc", "std:doc"))
_CALLS = frozenset(("func", "meth"))
_WORDS = frozenset(
    "term abbr guilabel menuselection index issue pull pr user ghuser dfn strike u bolditalic superscript".split()
)
"""What is no code: words of people."""


@dataclass(frozen=True)
class Label:
    """Where a label leads, and the heading that stands below it."""

    path: str
    title: str | None


def register_roles(text: str) -> None:
    """Registers every role of a text that docutils does not have."""
    from docutils.parsers.rst import roles

    for match in _ROLE.finditer(text):
        name = (match[1] or match[2]).lower()
        if name not in _BUILT_IN:
            roles.register_local_role(name, _role)


def _role(
    name: str, raw: str, text: str, line: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[Any], list[Any]]:
    """The signature is docutils'."""
    from docutils import nodes, utils

    said = utils.unescape(text).strip()
    titled = _TITLED.fullmatch(said)
    words, target = (titled["words"], titled["target"]) if titled else (said, said)
    name = name.lower()
    if name in _BY_LABEL:
        shown = words if titled else re.sub(r"[-_:]+", " ", target)
        return [nodes.reference("", shown, refuri="", label=target.strip(), worded=bool(titled))], []
    if name in _BY_PAGE:
        shown = words if titled else re.sub(r"[-_]+", " ", target.rstrip("/").rpartition("/")[2])
        return [nodes.reference("", shown, refuri=f"{target.strip()}.rst")], []
    last = name.rpartition(":")[2]
    if last in _WORDS:
        return [nodes.Text(re.sub(r"\s*\([^()]*\)$", "", words) if last == "abbr" else words.replace("-->", ">"))], []
    if not titled:
        words = words.rpartition(".")[2] if words.startswith("~") else words.lstrip("!")
        words = f"{words}()" if last in _CALLS and not words.endswith(")") else words
    return [nodes.literal("", words)], []
