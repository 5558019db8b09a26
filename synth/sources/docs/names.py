"""What a page or an entry is called, and what kind of thing it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.schemas.documents import Anchor

__all__ = ["CODE_KINDS", "Named", "entry_name", "page_name", "section_name"]

CODE_KINDS = {
    "py function": "function",
    "py class": "class",
    "py exception": "exception",
    "py method": "method",
    "py attribute": "attribute",
    "py property": "property",
    "py data": "variable",
    "c function": "C function",
    "c macro": "C macro",
    "c type": "C type",
    "c var": "C variable",
    "c member": "C struct member",
    "c struct": "C struct",
    "std envvar": "environment variable",
    "std cmdoption": "command-line option",
    "std opcode": "bytecode instruction",
    "js function": "JavaScript function",
    "js class": "JavaScript class",
    "js method": "JavaScript method",
    "cpp function": "C++ function",
    "cpp class": "C++ class",
}
"""Sphinx's object types as a person calls them. Others go by the second word of their type."""

_NUMBERING = re.compile(
    r"(?:(?:chapter|appendix|part|section)\s+)?(?:[A-Z0-9IVX]{1,5}\.)(?:\d+\.)*\s+(?=\S)", re.IGNORECASE
)
_PREFIX = re.compile(
    r"(?:abstract|static|async|final|coroutine|awaitable|virtual|inline|const|property|exception|class)\s+"
)
_SUBTITLE = re.compile(r"\s+[—–]\s+|\s+--+\s+")


@dataclass(frozen=True)
class Named:
    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """Names of a callable's parameters: words that mean nothing outside of its entry."""


def page_name(title: str, module: str | None) -> tuple[Named, str | None]:
    """The name of a page and its subtitle, from its title: "getopt — C-style parser" is called "getopt"."""
    bare = unnumbered(title)
    parts = _SUBTITLE.split(bare, maxsplit=1)
    subtitle = parts[1].strip() if len(parts) == 2 else None
    if module:
        return Named(module, "module", tuple(dict.fromkeys(a for a in (bare, title) if a != module))), subtitle
    name = parts[0].strip() if subtitle else bare
    return Named(name, "page", tuple(dict.fromkeys(a for a in (bare, title) if a != name))), subtitle


def section_name(heading: str) -> Named:
    """The name of a section: its heading without its number, which stays as an alias ("Section 28.4.4")."""
    bare = unnumbered(heading)
    aliases: list[str] = []
    if bare != heading:
        number = heading[: len(heading) - len(bare)].strip().rstrip(".")
        aliases = [heading, f"Section {number}"]
    return Named(bare, "section", tuple(aliases))


def unnumbered(title: str) -> str:
    title = " ".join(title.split())
    match = _NUMBERING.match(title)
    return title[match.end() :] if match else title


def entry_name(anchor: Anchor, signature: str) -> Named | None:
    """The name of what a term defines, or None when it is no name (a sentence, a code sample).

    A Python object goes by its full dotted name, which its fragment is; other things by what the term's line says.
    """
    kind = CODE_KINDS.get(anchor.kind) or (anchor.kind.split()[-1] if anchor.kind else "term")
    domain = anchor.kind.split()[0] if " " in anchor.kind else ""
    if domain in ("py", "c", "cpp", "js"):
        return _code_name(anchor, signature, kind, domain)
    text = signature.strip()
    if domain == "std":
        text = re.split(r",\s|\s", text, maxsplit=1)[0].split("=")[0].split("(")[0]
    bare = re.sub(r"\s*\([^()]*\)\s*(?:#|¶)?$", "", text).strip()
    if not 1 < len(bare) <= 60 or len(bare.split()) > 6 or bare.endswith((".", ":", ",", ";")) or bare.count(","):
        return None
    kind = {"glossary": "glossary term", "term": "entry"}.get(kind, kind)
    return Named(bare, kind, (text,) if text != bare else ())


def _code_name(anchor: Anchor, signature: str, kind: str, domain: str) -> Named | None:
    name = re.sub(r"^(?:c|cpp)\.", "", anchor.name) if domain != "py" else anchor.name
    if not re.fullmatch(r"[\w.]+", name) or name.endswith("."):
        return None
    head, _, inside = signature.partition("(")
    last = name.rsplit(".", 1)[-1]
    if not re.search(rf"(?<!\w){re.escape(last)}(?!\w)", head):
        return None
    words = head.split()[:-1]
    if kind == "variable" and last.isupper():
        kind = "constant"
    if signature.startswith("@"):
        kind = "decorator"
    elif kind == "method" and "classmethod" in words:
        kind = "class method"
    elif kind == "method" and ("static" in words or "staticmethod" in words):
        kind = "static method"
    elif kind in ("function", "method") and ("coroutine" in words or "async" in words):
        kind = "coroutine"
    elif kind == "attribute" and "property" in words:
        kind = "property"
    callable_ = "(" in signature and kind not in ("class", "exception", "attribute", "variable", "constant")
    aliases = [last] if last != name else []
    if callable_:
        aliases += [f"{name}()", *([f"{last}()"] if last != name else [])]
    if kind == "decorator":
        aliases.append(f"@{name}")
    parameters = tuple(dict.fromkeys(re.findall(r"(?<![\w.'\"=])\*{0,2}([A-Za-z_]\w*)(?=\s*[,)=\[\]:]|\s*$)", inside)))
    return Named(name, kind, tuple(aliases), parameters)
