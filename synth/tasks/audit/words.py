"""What a text says, word by word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from synth.schemas.tasks import Node
from synth.tasks.audit.graph import VALUE_KINDS
from synth.tasks.audit.measures import said_forms

__all__ = ["contains", "forms", "plain", "squeezed"]


def plain(text: str) -> str:
    """Lower-case words joined by single blanks; possessive endings, accents, punctuation and the commas of numbers
    gone."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in text if not unicodedata.combining(char))
    text = text.casefold()
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"['’]s\b", "", text)
    words = re.sub(r"[^\w.'’]+|_", " ", text)
    return " ".join(word.strip(".'’") for word in words.split() if word.strip(".'’"))


def contains(text: str, names: Iterable[str]) -> str | None:
    """The first of ``names`` that stands in ``text`` as whole words. ``text`` is :func:`plain` already."""
    padded = f" {text} "
    for name in names:
        words = re.sub(r"^(?:the|an?) (?=\S)", "", plain(name))
        if words and f" {words} " in padded:
            return name
    return None


def forms(node: Node) -> list[str]:
    """Every way in which a text may write a node."""
    if node.kind in VALUE_KINDS and node.document_id is None:
        return [*said_forms(node.id, node.kind, node.name), *node.aliases]
    return [node.name, node.id, *node.aliases]


def squeezed(text: str) -> str:
    """Letters and digits alone, case folded: equal for questions that ask in the same words."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
