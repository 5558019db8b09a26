"""Kinds of things in documentation, as questions call them, and which of them count as the same."""

from __future__ import annotations

__all__ = [
    "CALLABLE",
    "DISTINCTIVE",
    "MEMBERS",
    "PLACES",
    "SETTINGS",
    "TYPES",
    "group_of",
    "is_nameable",
    "noun_of",
    "short",
]

PLACES = frozenset(("page", "section", "chapter", "appendix", "part"))
"""Stretches of text. They go by their titles."""
CALLABLE = frozenset(
    ("function", "coroutine", "method", "class method", "static method", "decorator", "C function", "C macro")
)
TYPES = frozenset(("class", "exception"))
MEMBERS = frozenset(("method", "class method", "static method", "attribute", "property", "C struct member"))
SETTINGS = frozenset(
    ("entry", "attribute", "environment variable", "command-line option", "C struct member", "configuration parameter")
)
"""Things that have one default; a function has one per parameter."""
DISTINCTIVE = ("configuration parameter", "command", "program", "catalog", "view")
"""Kinds whose names are no ordinary words, so that reading a text shows all that it mentions."""
_WORDED = {
    "index": "page",
    "C struct member": "member",
    "glossary term": "term",
    "entry": "entry",
    "C struct": "struct",
}
_UNNAMED = frozenset(("index", "C variable"))


def noun_of(kind: str) -> str:
    """ "glossary term" -> "term"; most kinds are their own noun."""
    return _WORDED.get(kind, kind)


def short(noun: str) -> str:
    """What a thing is called once it is known: "configuration parameter" -> "parameter"."""
    return noun.rsplit(" ", 1)[-1] if noun.startswith(("configuration", "environment", "command-line")) else noun


def group_of(kind: str) -> str:
    """Kinds between which a text does not tell ("callable", "type"); "" where one name may mean anything."""
    if kind in CALLABLE:
        return "callable"
    if kind in TYPES:
        return "type"
    return kind if kind in ("module", "environment variable", "command-line option", *DISTINCTIVE) else ""


def is_nameable(kind: str) -> bool:
    """Whether things of the kind can be the answer to "Which {kind} ...?"."""
    return kind not in _UNNAMED
