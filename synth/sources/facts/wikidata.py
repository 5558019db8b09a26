"""Facts of Wikidata's dump: a JSON object on each line, as ``latest-all.json`` has them, whole or a part of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synth.inputs import open_input

__all__ = ["is_wikidata", "wikidata_statements"]

_LANGUAGES = ("en", "mul", "en-gb", "en-us", "en-ca")
"""Of labels and texts, the most wanted first; "mul" holds names that are the same in many languages."""
_DAY, _YEAR = 11, 9
"""Precisions of a point in time from which its day, and its year, mean anything."""
_NO_UNIT = "1"


def is_wikidata(file: Path, mend: str) -> bool:
    """Whether the file's first line, behind a bracket, is an entity."""
    if file.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return False
    with open_input(file, mend=mend) as lines:
        first = next((found for line in lines if (found := _entity(line)) is not None), None)
    return isinstance(first, dict) and "claims" in first and "labels" in first


def wikidata_statements(
    file: Path, mend: str, things: set[str], labels: dict[str, dict[str, None]]
) -> Iterator[tuple[str, str, str, list[tuple[str, str]]] | None]:
    """The best statements of each item (those of preferred rank where there are any, deprecated ones never), each with
    its qualifiers; None for a line that is no entity. Names and aliases come into ``labels``, items that are objects
    into ``things``.

    Identifiers of other catalogues, files, addresses and places on a globe are no facts that a question could ask for.
    """
    with open_input(file, mend=mend) as lines:
        for line in lines:
            if not line.strip(b"[], \t\r\n"):
                continue
            entity = _entity(line)
            if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
                yield None
                continue
            names = labels.setdefault(entity["id"], {})
            label = _text(entity.get("labels"))
            aliases: list[Any] = next(
                (found for code in _LANGUAGES if (found := (entity.get("aliases") or {}).get(code))), []
            )
            names.update(dict.fromkeys([label] if label else []))
            names.update(dict.fromkeys(alias["value"] for alias in aliases))
            if not names:
                del labels[entity["id"]]
            if entity.get("type") == "property":
                continue
            for relation, claims in (entity.get("claims") or {}).items():
                for claim in _best(claims):
                    if value := _value(claim["mainsnak"], things):
                        yield entity["id"], relation, value, _qualifiers(claim, things)


def _entity(line: bytes) -> Any:
    text = line.strip().rstrip(b",")
    if not text.startswith(b"{"):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return ""


def _text(by_language: Any) -> str | None:
    found = by_language or {}
    return next((found[code]["value"] for code in _LANGUAGES if code in found), None)


def _best(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ranks = {claim.get("rank") for claim in claims}
    rank = "preferred" if "preferred" in ranks else "normal"
    best = (claim for claim in claims if claim.get("rank", "normal") == rank)
    return [claim for claim in best if claim["mainsnak"].get("snaktype") == "value"]


def _qualifiers(claim: dict[str, Any], things: set[str]) -> list[tuple[str, str]]:
    """What is said of a statement: since when, in which role."""
    snaks = [(name, snak) for name, each in (claim.get("qualifiers") or {}).items() for snak in each]
    told = [(name, _value(snak, things)) for name, snak in snaks if snak.get("snaktype") == "value"]
    return [(name, value) for name, value in told if value]


def _value(snak: dict[str, Any], things: set[str]) -> str | None:
    value, kind = snak["datavalue"]["value"], snak.get("datatype")
    if kind == "wikibase-item":
        name: str = value.get("id") or f"Q{value['numeric-id']}"
        things.add(name)
        return name
    if kind == "time":
        sign, date = value["time"][0], value["time"][1:11]
        precision = value["precision"]
        if sign == "-" or precision < _YEAR:
            return None
        year, _, _ = date.partition("-")
        return str(date if precision >= _DAY else year.lstrip("0"))
    if kind == "quantity":
        return str(value["amount"].lstrip("+")) if value["unit"] == _NO_UNIT else None
    if kind == "monolingualtext":
        return str(value["text"]) if value["language"] in _LANGUAGES else None
    return str(value) if kind == "string" else None
