"""What a site keeps, as JSON that can be compared: the state that a task is about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from synth.identity import canonical_json, digest
from synth.schemas.details import Facts
from synth.schemas.row import Json, NonEmpty, Row

__all__ = ["Change", "WebGoal", "changes_in_words", "compare", "differing", "kept", "state_hash", "stored", "without"]


class Change(Row):
    """One difference between two states."""

    at: NonEmpty
    """Where: keys with dots, from the storage key on."""
    kind: Literal["added", "removed", "changed", "set"]
    """``added`` / ``removed``: an entry of a list; ``changed``: a field of an entry; ``set``: any other value."""
    field: str | None = None
    """Of ``changed``."""
    entry: Json = None
    """Of ``changed``: the entry as it was."""
    before: Json = None
    after: Json = None


class WebGoal(Row):
    """What a task wants of what the site keeps."""

    state: NonEmpty
    """Hash of the state to reach."""
    changes: tuple[Change, ...] = ()
    """The state as a difference from the beginning, for the words of a verdict."""
    answer: Literal["required", "free"] = "free"
    """``required``: what the agent says must be the gold answer, too."""


class WebBeginning(Facts):
    """Where a task on a site begins."""

    site: str | None = None
    """Identity of the site."""
    web_start: str | None = None
    """Name of the site's start; None: at its first page, with nothing stored."""


def stored(storage: Mapping[str, Json]) -> list[dict[str, str]]:
    """A start's storage as the browser takes it: name and text."""
    return [
        {"name": key, "value": value if isinstance(value, str) else _dumps(value)} for key, value in storage.items()
    ]


def _dumps(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))  # as JSON.stringify writes it


def kept(state: Mapping[str, Any], server: Json = None, *, sessions: bool = True) -> dict[str, Any]:
    """Playwright's storage state as one JSON object: localStorage by key, cookies, IndexedDB, the server's state.

    What is empty is left out. A text that is JSON of an object or list is shown as that.

    Args:
        sessions: Whether cookies count that no script of a page can read. They name what a server keeps (sessions,
            tokens of forms) by random numbers; where the server's own state is known, they say nothing more.
    """
    found: dict[str, Any] = {}
    databases: list[Any] = []
    for origin in state.get("origins", ()):
        for item in origin.get("localStorage", ()):
            found[str(item["name"])] = _read(str(item["value"]))
        databases += origin.get("indexedDB", ())
    counted = [one for one in state.get("cookies", ()) if sessions or not one.get("httpOnly")]
    cookies = {str(cookie["name"]): str(cookie["value"]) for cookie in counted}
    others = {"(cookies)": cookies, "(indexed_db)": databases, "(server)": server}
    return found | {name: value for name, value in others.items() if value}


def _read(text: str) -> Any:
    if text[:1] in ("{", "["):
        try:
            value = json.loads(text)
            canonical_json(value)
        except (ValueError, RecursionError):
            return text
        return value
    return text


def without(state: Mapping[str, Any], volatile: Sequence[str]) -> dict[str, Any]:
    """``state`` without what does not count. A path goes through lists: ``loans.seen`` is ``seen`` of every entry."""
    result = dict(state)
    for path in volatile:
        result = _drop(result, path.split("."))
    return result


def _drop(value: Any, path: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_drop(item, path) for item in value]
    if not isinstance(value, dict) or path[0] not in value:
        return value
    if len(path) == 1:
        return {key: item for key, item in value.items() if key != path[0]}
    return {**value, path[0]: _drop(value[path[0]], path[1:])}


def state_hash(state: Mapping[str, Any], volatile: Sequence[str]) -> str:
    """Canonical: entries of a list of objects count in any order."""
    return digest("web state", _sorted(without(state, volatile)))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        items = [_sorted(item) for item in value]
        return sorted(items, key=canonical_json) if any(isinstance(item, dict) for item in items) else items
    return value


def compare(before: Mapping[str, Any], after: Mapping[str, Any], keys: Mapping[str, str]) -> list[Change]:
    """What is different in ``after``, in a fixed order.

    Args:
        keys: List -> the field that tells its entries apart.
    """
    found: list[Change] = []
    for key in sorted({*before, *after}):
        _compare(key, before.get(key), after.get(key), keys, found)
    return found


def _compare(at: str, before: Any, after: Any, keys: Mapping[str, str], found: list[Change]) -> None:
    if canonical_json(_sorted(before)) == canonical_json(_sorted(after)):
        return
    lists = isinstance(before, list | None) and isinstance(after, list | None)
    if lists:
        _entries(at, before or [], after or [], keys.get(at), found)
    elif isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            _compare(f"{at}.{name}", before.get(name), after.get(name), keys, found)
    else:
        found.append(Change(at=at, kind="set", before=before, after=after))


def _entries(at: str, before: list[Any], after: list[Any], key: str | None, found: list[Change]) -> None:
    gone, new = _minus(before, after), _minus(after, before)
    for entry in list(gone):
        other = next((item for item in new if _same(entry, item, key)), None)
        if other is not None:
            gone.remove(entry)
            new.remove(other)
            for name in sorted({*entry, *other}):
                one, two = entry.get(name), other.get(name)
                if canonical_json(one) != canonical_json(two):
                    found.append(Change(at=at, kind="changed", field=name, entry=entry, before=one, after=two))
    found += [Change(at=at, kind="removed", before=entry) for entry in gone]
    found += [Change(at=at, kind="added", after=entry) for entry in new]


def _same(one: Any, other: Any, key: str | None) -> bool:
    both = isinstance(one, dict) and isinstance(other, dict)
    return key is not None and both and key in one and canonical_json(one[key]) == canonical_json(other.get(key))


def _minus(one: list[Any], other: list[Any]) -> list[Any]:
    left = [canonical_json(item) for item in other]
    result = []
    for item in one:
        text = canonical_json(item)
        if text in left:
            left.remove(text)
        else:
            result.append(item)
    return result


def differing(got: Sequence[Change], wanted: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Changes that nobody asked for, and those that are missing."""
    return [one for one in got if one not in wanted], [one for one in wanted if one not in got]


def changes_in_words(changes: Sequence[Change]) -> list[str]:
    said = []
    for one in changes:
        before, after = canonical_json(one.before), canonical_json(one.after)
        if one.kind == "added":
            said.append(f"{one.at}: new entry {after}")
        elif one.kind == "removed":
            said.append(f"{one.at}: no more entry {before}")
        elif one.kind == "changed":
            said.append(f"{one.at}, entry {canonical_json(one.entry)}: {one.field} {before} -> {after}")
        else:
            said.append(f"{one.at}: {before} -> {after}")
    return said
