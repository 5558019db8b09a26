"""Text that strangers wrote and a model reads: what a person does not see in it, and whether it gives orders.

Nothing is refused for it: text is shown as it stands, with controls written out, and what is suspicious goes as a
label with the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["READ", "clean", "hidden_characters", "orders_in"]

READ = 20_000
"""Characters of a text that are looked at for orders."""
_ORDERS = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for name, pattern in {
        "sets other instructions aside": r"\b(ignore|disregard|forget|override)\b.{0,40}"
        r"\b(previous|prior|above|earlier|other|all|system|your)\b.{0,30}\b(instruction|rule|prompt|guideline|message)",
        "asks for secrecy": r"\b(do not|don't|never|without)\b.{0,20}\b(tell|telling|mention|mentioning|inform"
        r"|informing|reveal|revealing|notify|notifying|asking)\b.{0,30}\b(user|anyone|human|them)\b",
        "speaks as the system": r"<\s*/?\s*(important|system|instructions?|secret|assistant|hidden|admin)\s*>"
        r"|\[(system|inst)\]|\b(system prompt|developer message)\b",
        "orders calls": r"\b(before|after|when|whenever|instead of)\b.{0,20}\b(using|calling|invoking|any)\b.{0,30}"
        r"\b(tool|tools|function)\b.{0,60}\b(must|always|first|read|call|send|use)\b",
        "asks for secrets": r"\b(read|open|send|include|pass|attach|upload|cat|append)\b.{0,60}(\.ssh|id_rsa|\.env\b"
        r"|/etc/passwd|\bpasswords?\b|\bapi[ _-]?keys?\b|\bcredentials?\b|\bmcp\.json|\bprivate keys?\b"
        r"|\bconversation history\b)",
        "addresses the model": r"\byou are (now )?(an? )?(ai|assistant|agent|language model)\b"
        r"|\b(the )?(ai|llm|assistant|model) (must|should always|shall|needs to)\b",
    }.items()
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Controls, and what makes text read otherwise than it is (directions, tags, nothing at all). Joiners stay: scripts
need them."""
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]")


def clean(text: str) -> str:
    """``text`` with line ends as ``\\n`` and every control or invisible character written out, as ``\\x1b``."""
    text = text.replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode()
    return _CONTROLS.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def hidden_characters(text: str) -> bool:
    """Whether something in ``text`` is not seen by a person who reads it."""
    return _HIDDEN.search(text) is not None


def orders_in(texts: Iterable[str]) -> Iterator[str]:
    """What gives the reader orders in ``texts``, one line per kind of order: what it does and the words that do it."""
    # Invisible characters between letters must not hide a word.
    visible = [_visible(text[:READ]) for text in texts]
    for what, pattern in _ORDERS:
        found = next((match for text in visible if (match := pattern.search(text))), None)
        if found is not None:
            yield f"{what}: {' '.join(clean(found.group()).split())[:160]!r}"


def _visible(text: str) -> str:
    return "".join(character for character in text if character in "\n\t" or not hidden_characters(character))
