"""What pages say of their own thing: the name of a manual page, and what kind of thing it is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from synth.sources.docs.names import MANUAL_KINDS, Named

__all__ = ["self_named"]

_HEAD = 1500
"""Characters in which a manual page gives its section and the line of its name."""
_OPENING = 4000
_NAME = re.compile(r"^(?:NAME|Name)\n+(?P<name>[\w.+-]+)(?:, [\w.+-]+)* (?:-|—|–|--) \S", re.MULTILINE)
_SECTION = re.compile(r"^Section: [^\n]*\((?P<section>[1-8])[a-z]{0,3}\)", re.MULTILINE)
_TITLE = re.compile(r"(?:man ?page of )?(?P<name>\S+)", re.IGNORECASE)
_PARTS = "module|plugin|library|function|extension|driver|class|macro"
"""What a shell can't run."""
_RUN = "command|program|utility|tool|daemon|script|server|service|application"


def self_named(named: Named, title: str, text: str) -> Named:
    """The name of a page as the page itself writes it.

    Manual pages turned into HTML are titled "KITED", with "kited - fly kites" under NAME and their section above. A
    title such as "pam_kite - tie a kite to a login" names a module where the page calls its thing one, else a command.
    """
    if named.kind == "page" and (manual := _manual_page(title, text)) is not None:
        return manual
    return replace(named, kind=_own_kind(named.name, text)) if named.kind == "command" else named


def _manual_page(title: str, text: str) -> Named | None:
    bare = _TITLE.fullmatch(title.replace("\\", ""))
    line, section = _NAME.search(text, 0, _HEAD), _SECTION.search(text, 0, _HEAD)
    if bare is None or line is None or section is None or line["name"].casefold() != bare["name"].casefold():
        return None
    return Named(line["name"], MANUAL_KINDS.get(section["section"], "page"), (title,))


def _own_kind(name: str, text: str) -> str:
    """ "This module provides ...", "pam_kite is a PAM module", "the pam_kite module": what is said most often."""
    found = Counter(
        match["kind"].lower()
        for match in re.finditer(
            rf"(?:\bThis|(?<![\w.-]){re.escape(name)}(?: is an?)?)(?: [A-Z]{{2,}})? (?P<kind>{_PARTS}|{_RUN})\b",
            text[:_OPENING],
        )
    )
    parts = {kind: count for kind, count in found.items() if kind in _PARTS.split("|")}
    if not parts or sum(parts.values()) <= found.total() - sum(parts.values()):
        return "command"
    return max(parts, key=lambda kind: (parts[kind], kind))
