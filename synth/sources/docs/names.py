"""What a page or an entry is called, and what kind of thing it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.schemas.documents import Anchor

__all__ = ["CODE_KINDS", "Named", "entry_name", "page_kind", "page_name", "section_name"]

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


_KIND_WORDS = "catalog|view|table|function|command|program|utility|extension|module|library|tool"
_SAID_BEFORE = r"(?:The |This |An? )?(?:system |SQL |built-in |standard )?(?P<k>{kinds})s? {name}(?!\w)"
_SAID_BEHIND = r"(?:The )?{name} (?P<k>{kinds})\b"
_SAID_AS = r"(?:The )?{name} is (?:an?|the) (?:[\w-]+ ){{0,3}}?(?P<k>{kinds})\b"
_COMMAND = re.compile(r"[A-Z]{2,}(?: [A-Z]{2,})*$")
_PROGRAM = re.compile(r"[a-z][\w.-]*$")


def page_kind(title: str, purpose: str | None, lead: str, calls: bool) -> str:
    """What kind of thing a page is about, as a person would call it; ``page`` when nothing tells.

    Args:
        title: as the page has it, with its number.
        purpose: what the title or a line below says behind the name ("change the definition of an index"), or None.
        lead: the first sentence, which may say it: "The catalog pg_class describes ...".
        calls: whether the page's synopsis calls the name: "int SPI_connect(void)".
    """
    named, _ = page_name(title, None)
    name = re.escape(named.name)
    for pattern in (_SAID_BEFORE, _SAID_BEHIND, _SAID_AS):
        if match := re.match(pattern.format(name=name, kinds=_KIND_WORDS), lead):
            return {"tool": "program", "utility": "program"}.get(match["k"], match["k"])
    if purpose is not None:
        if _COMMAND.match(named.name):
            return "command"
        if calls:
            return "function"
        if _PROGRAM.match(named.name):
            return "program"
    numbered = re.match(r"(?:(?P<word>chapter|appendix|part)\s|(?P<digits>[A-Z0-9]+\.\d+\.))", title, re.IGNORECASE)
    if numbered and numbered.group() != title:
        return numbered["word"].lower() if numbered["word"] else "section"
    return "page"


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
    if kind == "term":
        return _term_name(text)
    if domain == "std":
        text = re.split(r",\s|\s", text, maxsplit=1)[0].split("=")[0].split("(")[0]
    bare = re.sub(r"\s*\([^()]*\)\s*(?:#|¶)?$", "", text).strip()
    if not 1 < len(bare) <= 60 or len(bare.split()) > 6 or bare.endswith((".", ":", ",", ";")) or bare.count(","):
        return None
    return Named(bare, {"glossary": "glossary term"}.get(kind, kind), (text,) if text != bare else ())


_SETTING = re.compile(r"(?P<name>[a-z][\w.-]*) \((?:integer|boolean|string|enum|floating point|real|numeric)\)$")
_OPTIONS = re.compile(r"(?P<short>-\w)?(?:[^\n]*\n)*?(?P<long>--[a-z][\w-]+)")


def _term_name(text: str) -> Named | None:
    """The name in a term of a plain definition list: "work_mem (integer)" is a configuration parameter."""
    if match := _SETTING.fullmatch(text):
        return Named(match["name"], "configuration parameter")
    if text.startswith("-"):
        match = _OPTIONS.match(text)
        return (
            Named(match["long"], "command-line option", (match["short"],) if match["short"] else ()) if match else None
        )
    text = " ".join(text.split())
    bare = re.sub(r"\s*\([^()]*\)\s*(?:#|¶)?$", "", text).strip()
    if not 1 < len(bare) <= 60 or len(bare.split()) > 6 or bare.endswith((".", ":", ",", ";")) or bare.count(","):
        return None
    return Named(bare, "entry", (text,) if text != bare else ())


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
