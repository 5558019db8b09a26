"""What a reader of reference documentation knows before opening it: how things of each kind are written, and which
words speak of the same matter. Used by the policy only; nothing here comes from any collection."""

from __future__ import annotations

import re
from collections.abc import Mapping

from synth.agents.scripted.nouns import NOUN
from synth.lexicon.reading import phrases
from synth.text.words import words

__all__ = ["KINDS", "REFERENCE_LEXICON", "cell_in", "labelled", "left_out", "looks_like", "values_in"]

_FIELD = re.compile(r"(?:[-•] )?(?P<label>[A-Z][\w -]{1,30}):\s*(?:\| )?(?P<value>\S.*)")

_GROUPS = phrases("reference_words")

REFERENCE_LEXICON: Mapping[str, tuple[str, ...]] = {
    word: tuple(name for name, words in _GROUPS.items() if word in words)
    for words in _GROUPS.values()
    for word in words
}

KINDS: Mapping[str, re.Pattern[str]] = {kind: re.compile(form) for kind, (form,) in phrases("reference_kinds").items()}
"""How a link to a thing of each kind reads."""

_ENTRIES = frozenset(("function", "coroutine", "method", "exception", "class", "decorator", "attribute", "constant"))

_VALUES = tuple((re.compile(asked), re.compile(form)) for asked, (form,) in phrases("reference_values").items())


def looks_like(text: str, place: str | None, kind: str) -> bool | None:
    """Whether a link reads like a thing of ``kind``; None when that can't be said of the kind."""
    pattern = KINDS.get(kind)
    if pattern is None:
        return None
    fragment = (place or "").partition("#")[2]
    bare = re.split(r"\s+[—–]\s", text, maxsplit=1)[0].removesuffix("()")
    if kind == "module":
        return fragment == f"module-{bare}" if fragment else bool(pattern.search(bare))
    if fragment and kind in _ENTRIES and not fragment.endswith(bare.rsplit(".", 1)[-1]):
        return False
    if kind in ("page", "chapter", "section"):
        return bool(pattern.search(text)) or not fragment
    if kind == "class" and KINDS["exception"].search(text):
        return False
    return bool(pattern.search(text))


def left_out(text: str, cue: str) -> str | None:
    """What ``text`` says where ``cue``, otherwise the same sentence, has a gap or asks; None where they differ in
    more."""
    known = set(words(cue))
    run: list[str] = []
    runs: list[list[str]] = []
    same = 0
    for word in text.split():
        if set(words(word)) <= known and words(word):
            same += 1
            run = []
        elif words(word):
            if not run:
                runs.append(run := [])
            run.append(word)
    if same < 6 or len(runs) != 1 or len(runs[0]) > 4 or same < 0.6 * len(text.split()):
        return None
    left = " ".join(runs[0]).strip(".,;:()\"“”'")
    return re.sub(rf"^(?:an?|the) (?=\S)|(?<=\S) {NOUN}$", "", left, flags=re.IGNORECASE)


def labelled(text: str, cue: str) -> str | None:
    """The value in ``text`` behind a label that ``cue`` names: "Default: off"."""
    field = _FIELD.fullmatch(text.strip())
    if field is None or not set(words(field["label"])) <= set(words(cue)):
        return None
    return field["value"].strip().strip('"“”').rstrip(".")


def cell_in(row: str, heading: str, cue: str) -> str | None:
    """The cell of a row of a table under the heading that ``cue`` names."""
    cells, heads = row.split(" | "), heading.split(" | ")
    asked = set(words(cue))
    found = [cell for cell, head in zip(cells[1:], heads[1:], strict=False) if set(words(head)) & asked]
    return found[0].strip() if len(cells) == len(heads) and len(found) == 1 else None


def values_in(text: str, cue: str) -> list[str]:
    """The values in ``text`` that ``cue`` asks for: the words that it leaves out of a sentence, what stands behind a
    label that it names, else versions, paths, platforms, defaults, audit events."""
    if (left := left_out(text, cue)) is not None:
        return [left]
    if (value := labelled(text, cue)) is not None:
        return [value]
    for asked, pattern in _VALUES:
        if asked.search(cue.lower()):
            return list(dict.fromkeys(match.group().strip() for match in pattern.finditer(text)))
    return []
