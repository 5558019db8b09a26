"""What pages say of their own thing: the name of a manual page, and what kind of thing it is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from synth.sources.docs.names import MANUAL_KINDS, Named

__all__ = ["self_named", "spelt_title"]

_HEAD = 1500
"""Characters in which a manual page gives its section and the line of its name."""
_OPENING = 4000
_NAME = re.compile(
    r"^(?:NAME|Name)\n+ *(?P<name>[\w.+@:-]+)(?P<more>(?:, [\w.+@:-]+)*) (?:-|—|–|--) (?P<purpose>\S[^\n]*)",
    re.MULTILINE,
)
_CAPITALS = re.compile(r"(?P<name>[A-Z\d_.+@:-]*[A-Z][A-Z\d_.+@:-]*) ?\((?P<section>[1-8][a-z]{0,3})\)")
_NO_TITLE = re.compile(r"name", re.IGNORECASE)
_OF_FILES = re.compile(r"\bfiles?\b|\bfstab\b", re.IGNORECASE)
_SECTION = re.compile(r"^Section: [^\n]*\((?P<section>[1-8])[a-z]{0,3}\)", re.MULTILINE)
_TITLE = re.compile(r"(?:man ?page of )?(?P<name>\S+)", re.IGNORECASE)
_PARTS = "module|plugin|library|function|extension|driver|class|macro"
"""What a shell can't run."""
_RUN = "command|program|utility|tool|daemon|script|server|service|application"


def spelt_title(title: str, text: str) -> str:
    """The title of a page as the line of its name spells it: "KITED(8)" -> "kited(8)", and "NAME", the first heading
    of a manual page without a title, -> "Sky::Kite"."""
    nameless = _NO_TITLE.fullmatch(title) is not None
    line = _NAME.search(text, 0, len(text) if nameless else _HEAD)  # a list of its headings may come first
    if line is None or nameless:
        return title if line is None else line["name"]
    capitals = _CAPITALS.fullmatch(title)
    names = (line["name"], *line["more"].split(", ")[1:])
    spelt = next((n for n in names if capitals and n.casefold() == capitals["name"].casefold()), None)
    return title if capitals is None or spelt is None else f"{spelt}({capitals['section']})"


def self_named(named: Named, title: str, text: str) -> Named:
    """The name of a page as the page itself writes it.

    Manual pages turned into HTML are titled "KITED", with "kited - fly kites" under NAME and their section above. A
    title such as "pam_kite - tie a kite to a login" names a module where the page calls its thing one, else a command.
    """
    if named.kind == "page" and (manual := _manual_page(title, text)) is not None:
        return manual
    if named.kind == "file" and title.endswith("(5)") and not _is_file(named.name, text):
        return replace(named, kind="page")
    if named.kind != "command" or title.endswith(("(1)", "(6)")):
        return named  # section 1 has nothing but what a shell runs
    return replace(named, kind=_own_kind(named.name, text))


def _is_file(name: str, text: str) -> bool:
    """Whether a page of section 5 is about a file: that section also has formats and interfaces."""
    line = _NAME.search(text, 0, _HEAD)
    return line is None or _OF_FILES.search(line["purpose"]) is not None


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
