"""Whether words give a name away."""

from __future__ import annotations

import re

from synth.text.words import tokens

__all__ = ["leaks", "name_words", "spells_out"]

_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")


def name_words(name: str) -> list[str]:
    """The words in a name: "FileExistsError" -> file, exists, error; "os.get_exec_path" -> os, get, exec, path."""
    found = tokens(_apart(name))
    found += [match.group().lower() for match in _CAMEL.finditer(name) if len(match.group()) > 2]
    return list(dict.fromkeys(found))


def leaks(text: str, name: str) -> str | None:
    """The word of ``text`` that gives ``name`` away: the whole name's last part, or a long word of it that is rare."""
    last = _last(name)
    for word in tokens(_apart(text)):
        if word == last.strip("_-").lower():
            return word
    joined = re.sub(r"(?<=\w)-(?=\w)", "", name)  # "e-mail address" is told by "email address"
    return name if spells_out(text, name) or (joined != name and spells_out(text, joined)) else None


def spells_out(text: str, name: str) -> bool:
    """Whether ``text`` holds every word of the name's last part: whoever reads it knows the name."""
    last = _last(name)
    said = tokens(_apart(text))
    whole = last.strip("_-").lower()
    parts = [w for w in name_words(last) if w != whole and len(w) > 1] or [whole]
    parts = [w for w in parts if len(w) > 3] or parts  # "no-renormalize" is told by "renormalize"
    if any(len(whole) > 5 and {word, whole} <= {word, f"{word}s", word.removesuffix("s")} for word in said):
        return True  # "SharedSettings" is told by "SharedSetting objects"
    return whole in said or all(any(_akin(word, part) for word in said) for part in parts)


def _last(name: str) -> str:
    return re.split(r"\.|::", name.removesuffix("()"))[-1] or name


def _apart(text: str) -> str:
    return re.sub(r"[_.:/-]", " ", text)


def _akin(word: str, part: str) -> bool:
    """Equal, or one begins with the other and both are long enough for that to mean something."""
    return word == part or (min(len(word), len(part)) >= 4 and (word.startswith(part) or part.startswith(word)))
