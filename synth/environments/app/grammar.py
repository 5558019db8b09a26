"""Applications by grammar: each seed composes a desk of its own (after ASTRA, arXiv 2601.21558, and the architect of
LOGIGEN, 2603.00540, without a model).

A *trade* gives the words (a boathouse has guests, boats and bookings), a *form* the parts that such desks are made of:
tables, tools, rules, and what people ask. The base of a form is always there; of its features a seed draws some, and
the numbers in their rules. What comes out is the text of an application file, and goes through the checks that any
user's file goes through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import yaml

from synth.identity import derive_generator

__all__ = ["GRAMMAR", "desk_text"]

GRAMMAR = re.compile(r"grammar:(\d{1,18})")
"""Names the desk of a seed."""
_HOLE = re.compile(r"~([A-Za-z_]+)~")
_OWN = ("feature", "share", "draw", "append", "replace")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@cache
def _file(name: str) -> tuple[Any, ...]:
    text = (resources.files("synth.environments.app") / "desks" / f"{name}.yaml").read_text(encoding="utf-8")
    return tuple(yaml.safe_load_all(text))


def desk_text(seed: int) -> str:
    """The application of ``seed``, as the text of its file."""
    draw = derive_generator(seed, "desk")
    (words,) = _file("trades")
    trades = [(form, name) for form in sorted(words.keys() & _FORMS) for name in words[form]]
    form, name = trades[int(draw.integers(len(trades)))]
    base, *features = _file(form)
    chosen = [base, *(one for one in features if draw.random() < one["share"])]
    known = _words(words, name, words[form][name], chosen, draw)
    desk: dict[str, Any] = {
        "name": f"{name}_{seed}",
        "title": f"{known['name']}, {known['trade']}",
        "licence": "CC0-1.0",
        "about": "",
        "clock": {"start": f"20{31 + seed % 9}-{1 + seed % 12:02d}-{1 + seed % 27:02d} {known['hour']}"},
        "words": {"given": words["given"], "family": words["family"], "town": words["towns"]},
    }
    for one in chosen:
        part = _filled(one, known)
        _merge(desk, {key: value for key, value in part.items() if key not in _OWN})
        for path, text in part.get("append", {}).items():
            holder, key = _at(desk, path)
            holder[key] += text
        for path, value in part.get("replace", {}).items():
            holder, key = _at(desk, path)
            holder[key] = value
    return yaml.safe_dump(desk, sort_keys=False, allow_unicode=True, width=200)


_FORMS = frozenset({"booking"})


def _words(
    words: Mapping[str, Any], name: str, trade: Mapping[str, Any], parts: list[Any], draw: np.random.Generator
) -> dict[str, Any]:
    """What the holes of a form are filled with."""

    def one(options: Any) -> Any:
        return options[int(draw.integers(len(options)))]

    known: dict[str, Any] = dict(trade["words"])
    for part in parts:
        known |= {hole: one(options) for hole, options in part.get("draw", {}).items()}
    known |= {
        "name": one(words["businesses"]),
        "trade": trade["trade"],
        "kinds": trade["kinds"],
        "kind_special": one(trade["kinds"]),
        "reasons": trade["reasons"],
        "towns": words["towns"],
        "town_values": _rows((town,) for town in words["towns"]),
    }
    names = [trade["names"][at] for at in draw.permutation(len(trade["names"]))][: 5 + int(draw.integers(4))]
    things = [
        (at, called, one(trade["kinds"]), one(trade["room"]), 500 + 250 * int(draw.integers(30)))
        for at, called in enumerate(names)
    ]
    extras = [(extra, cents) for extra, cents in trade["extras"].items()]
    known |= {
        "thing_rows": _rows(things),
        "n_things": len(things),
        "thing_words": trade.get("thing_words", ["{name}", f"the {known['thing']} {{name}}"]),
        "extra_rows": _rows(extras),
        "extra_names": [extra for extra, _ in extras],
        "client_code": f"{known['client'][0].upper()}####",
        "thing_code": f"{known['thing'][0].upper()}##",
        "record_code": one(["#@@###", "@####", "@@-####", "####@"]),
        "put_down": "put me down for",
    }
    if "notice" in known:
        known |= {"notice_less": known["notice"] - 1, "notice_days": _days(known["notice"])}
    if "weekday" in known:
        known["weekday_name"] = _WEEKDAYS[known["weekday"] - 1]
    if "tier" in known:
        low, high = known["tier"].split(", ")
        known |= {"tiers": [low, high], "tier_low": low, "tier_high": high}
    starts = {hole.capitalize(): text.capitalize() for hole, text in known.items() if isinstance(text, str)}
    return starts | known


def _days(number: int) -> str:
    return "a day" if number == 1 else f"{number} days"


def _rows(rows: Any) -> str:
    """Rows as SQL has them behind VALUES."""
    return ", ".join("(" + ", ".join(_literal(value) for value in row) + ")" for row in rows)


def _literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _filled(value: Any, known: Mapping[str, Any]) -> Any:
    """``value`` with its holes filled; a text that is one hole becomes what it is filled with."""
    if isinstance(value, Mapping):
        return {_filled(key, known): _filled(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, known) for item in value]
    if not isinstance(value, str):
        return value
    whole = _HOLE.fullmatch(value)
    if whole:
        return known[whole[1]]
    return _HOLE.sub(lambda hole: str(known[hole[1]]), value)


def _merge(into: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Mappings are joined, lists go on, sections of the policy by their title."""
    for key, value in part.items():
        held = into.get(key)
        if isinstance(held, dict) and isinstance(value, Mapping):
            _merge(held, value)
        elif isinstance(held, list) and isinstance(value, list):
            for item in value:
                title = item.get("title") if isinstance(item, dict) else None
                same = next((one for one in held if title and one.get("title") == title), None)
                if same is None:
                    held.append(item)
                else:
                    _merge(same, {name: inner for name, inner in item.items() if name != "title"})
        else:
            into[key] = value


def _at(desk: dict[str, Any], path: str) -> tuple[Any, Any]:
    """What holds the place that ``path`` names, and the place in it."""
    *way, last = path.split(".")
    holder: Any = desk
    for step in way:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    return holder, int(last) if isinstance(holder, list) else last
