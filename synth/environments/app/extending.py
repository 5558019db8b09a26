"""An application that extends another: what its file adds to a shipped one, or to a file of the user's.

    name: my_ledger
    extends: ledger          # or base.yaml, beside this file
    tables: ...              # further tables, words, tools, requests, variants: by new names
    data: ...                # further statements, boundaries, invariants: after those that are there
    policy: ...              # rules of a title that is there join its section

What is there stays as it is; ``title``, ``about``, ``clock``, ``version`` and ``licence`` may be said anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synth.errors import InputError

__all__ = ["EXTENDS", "added", "extended"]

EXTENDS = "extends"
_NAMED = ("tables", "words", "tools", "variants")
_LISTED = ("data", "boundaries", "invariants")


def extended(base: Mapping[str, Any], more: Mapping[str, Any], where: str) -> dict[str, Any]:
    """``base`` with what ``more`` adds.

    Raises:
        InputError: ``more`` has no name of its own, names what is there, or has a part of another form.
    """
    of = more[EXTENDS]
    if more.get("name") in (None, base.get("name")):
        raise InputError(
            f"name: an application that extends {of} needs a name of its own", where=where, mend="for example my_ledger"
        )
    found = dict(base)
    for key, value in more.items():
        if key in _NAMED:
            found[key] = _named(base.get(key), value, key, of, where)
        elif key in _LISTED:
            found[key] = [*(base.get(key) or ()), *_list(value, key, where)]
        elif key == "policy":
            found[key] = _policy(base.get(key) or (), _list(value, key, where), where)
        elif key == "requests":
            found[key] = _requests(base.get(key) or {}, value, of, where)
        elif key != EXTENDS:
            found[key] = value  # of a key that there is not, the definition says so
    return found


def added(more: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Kind and names of the tables, tools, rules and requests that ``more`` adds."""
    for key in ("tables", "tools"):
        if isinstance(more.get(key), Mapping):
            yield key, list(more[key])
    sections = more.get("policy") or ()
    rules = [str(rule.get("name")) for section in sections for rule in section.get("rules") or ()]
    if rules:
        yield "rules", rules
    asked = more.get("requests") or {}
    names = [str(name) for key in ("asks", "questions") for name in asked.get(key) or ()]
    if names:
        yield "requests", names


def _named(base: Any, more: Any, key: str, of: Any, where: str) -> dict[str, Any]:
    if not isinstance(more, Mapping):
        raise InputError(f"{key}: is no mapping of names", where=where, mend="mend that part")
    taken = [name for name in more if name in (base or {})]
    if taken:
        what = f"{key}.{taken[0]}: {of} has one of this name, and what it has stays as it is"
        raise InputError(what, where=where, mend="choose another name")
    return {**(base or {}), **more}


def _list(value: Any, key: str, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{key}: is no list", where=where, mend="mend that part")
    return value


def _policy(base: Any, more: list[Any], where: str) -> list[Any]:
    """Sections by title: those that are there get further rules, and a further sentence."""
    found = [dict(section) for section in base]
    for section in more:
        if not isinstance(section, Mapping):
            raise InputError("policy: a section is a mapping", where=where, mend="mend that part")
        there = next((one for one in found if one.get("title") == section.get("title")), None)
        if there is None:
            found.append(dict(section))
            continue
        there["rules"] = [*(there.get("rules") or ()), *(section.get("rules") or ())]
        if section.get("text"):
            there["text"] = f"{str(there.get('text') or '').rstrip()} {section['text']}".strip()
    return found


def _requests(base: Mapping[str, Any], more: Any, of: Any, where: str) -> dict[str, Any]:
    if not isinstance(more, Mapping):
        raise InputError("requests: is no mapping", where=where, mend="mend that part")
    found = dict(base)
    for key, value in more.items():
        if key in ("asks", "questions", "harms"):
            found[key] = _named(base.get(key), value, f"requests.{key}", of, where)
        elif key in ("references", "weighs") and isinstance(value, Mapping):
            there = base.get(key) or {}
            found[key] = {**there, **{name: [*there.get(name, ()), *ways] for name, ways in value.items()}}
        elif key in base:
            raise InputError(f"requests.{key}: {of} says it already", where=where, mend="leave it out")
        else:
            found[key] = value
    return found
