"""A graph of the user's facts: entities with kinds, relations with properties and words, and a page about each entity.

Everything is derived from the facts: what is an entity and what a value, of which kinds a relation's ends are, whether
it has one object for each subject. A page states the facts of its entity, a sentence each: every fact has its place.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.errors import InputError
from synth.identity import digest
from synth.inputs import parse_yaml, read_text
from synth.lexicon.model import Lexicon
from synth.lexicon.names import with_article, written_value
from synth.schemas.arrow import arrow_schema
from synth.schemas.documents import Document, Edge, Entity, ValueKind
from synth.schemas.rejections import Rejection
from synth.schemas.row import Split
from synth.sources.facts.kinds import kinds_of_objects, kinds_of_subjects
from synth.sources.facts.labels import nature_of, word_relation
from synth.sources.facts.statements import FactsConfig, local_name
from synth.sources.facts.words import RelationShape, derive_type, names_its_object, plain_label
from synth.text.inflection import article, capital

__all__ = ["PAGES_PER_SHARD", "FactGraph", "given_words", "open_facts", "open_lexicon"]

PAGES_PER_SHARD = 4096
_PEOPLE = frozenset(("human", "person", "people", "human being"))
_VALUE_KINDS = frozenset(("date", "year", "number", "quantity", "text", "entity"))
_NUMBER = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")
_QUANTITY = re.compile(r"(-?\d[\d,]*(?:\.\d+)?) ?([A-Za-z°²³/]+(?: [a-z]+)?)")
_DATE = re.compile(r"\+?(\d{4}-\d\d-\d\d)(?:T[\d:.]+Z?)?")
_YEARS = re.compile(
    r"year|date|founded|born|died|inception|established|opened|released|published|since|(?:start|end|point in) time",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W_a-z0-9]")
_USUAL = 0.9
"""Share of subjects with one object from which a relation is spoken of as if it had one."""
_CROWD = 4
"""So many subjects for an object on average make a crowd: "the person who lives in X" is no way to speak."""
_MEND = "say words as synth/lexicon/model.py does"


@dataclass(frozen=True)
class FactGraph:
    """The facts as a graph. Entities are in order of their ids."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...]
    kinds: tuple[str, ...]
    facts: tuple[tuple[tuple[str, int | str], ...], ...]
    """For each entity (relation, object): the ordinal of an entity, or a value as ``Edge.value`` writes it."""
    lexicon: Lexicon
    digest: str
    rejected: tuple[Rejection, ...]
    rows: int
    config: FactsConfig
    prose: tuple[str, ...]
    """For each entity what its page ends with."""

    @property
    def shards(self) -> int:
        return math.ceil(len(self.ids) / PAGES_PER_SHARD)

    def split_of(self, ordinal: int) -> Split:
        """The split that owns an entity: by its id alone."""
        at = int(digest("triples", "split", self.ids[ordinal])[:13], 16) / 16**13 * sum(self.config.fractions.values())
        last: Split = "train"
        for split, share in self.config.fractions.items():
            last = split
            at -= share
            if at < 0:
                break
        return last

    def tables(self, shard: int) -> tuple[pa.Table, pa.Table, pa.Table]:
        """(documents, entities, edges) of the entities of a shard."""
        documents, entities, edges = [], [], []
        for at in range(shard * PAGES_PER_SHARD, min((shard + 1) * PAGES_PER_SHARD, len(self.ids))):
            split = self.split_of(at)
            own = {"id": self.ids[at], "kind": self.kinds[at], "aliases": self.aliases[at], "partition": split}
            text, links, stated = self._page(at)
            page = {"title": self.names[at], "text": text, "links": links, "sections": [], "anchors": []}
            documents.append({**own, **page, "source": self.config.source, "licence": self.config.licence})
            entities.append({**own, "ordinal": at, "name": self.names[at], "document": at})
            edges += stated
        return (
            pa.Table.from_pylist(documents, schema=arrow_schema(Document)),
            pa.Table.from_pylist(entities, schema=arrow_schema(Entity)),
            pa.Table.from_pylist(edges, schema=arrow_schema(Edge)),
        )

    def _page(self, at: int) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
        """(text, links, edges): a sentence for each fact, in the order in which the facts were given."""
        name, kind = with_article(self.names[at], always=False), self.kinds[at]
        noun = self.lexicon.types[kind].noun
        text = f"{capital(name)} is {article(noun)} {noun}."
        links: list[dict[str, Any]] = []
        edges: list[dict[str, Any]] = []
        for relation, found in self.facts[at]:
            entry = self.lexicon.relations[relation]
            spoken = (
                with_article(self.names[found], always=False)
                if isinstance(found, int)
                else written_value(found, entry.value)
            )
            start = len(text) + 1
            sentence = entry.page[0].replace("{o}", "\0").replace("{s}", name)
            sentence = capital(sentence)
            place = start + sentence.index("\0")
            sentence = sentence.replace("\0", spoken)
            text = f"{text} {sentence}"
            entity = isinstance(found, int)
            if entity and found != at:
                links.append({"start": place, "end": place + len(spoken), "target": self.ids[found]})  # type: ignore[index]
            edges.append(
                {
                    "subject": at,
                    "relation": relation,
                    "object": found if entity else -1,
                    "value": None if entity else found,
                    "value_kind": entry.value,
                    "document": at,
                    "start": start,
                    "end": start + len(sentence),
                }
            )
        return (f"{text}\n\n{self.prose[at]}" if self.prose[at] else text), links, edges


@lru_cache(maxsize=2)
def _opened(kind: type[FactsConfig], config_json: str, content: str) -> FactGraph:
    return _graph(kind.model_validate_json(config_json), content)


def open_facts(config: FactsConfig) -> FactGraph:
    """The graph of a source, read once for its content.

    Raises:
        InputError: what its ``read`` says, or a file of words that is none.
    """
    own = config.own()
    return _opened(type(own), own.model_dump_json(), own.content_digest())


def open_lexicon(config: FactsConfig) -> Lexicon:
    """The words of its relations."""
    return open_facts(config).lexicon


def _graph(config: FactsConfig, content: str) -> FactGraph:
    read = config.read()

    def label(name: str) -> str:
        return local_name(name, read.labels)

    relations: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for subject, relation, found in read.facts:
        relations[relation].append((subject, found))
    types = {name: _kind(kind) for name, kind in read.types.items()}
    things = {*types, *read.things, *(subject for pairs in relations.values() for subject, _ in pairs)}
    values = {
        name: _value_kind(label(name), [found for _, found in pairs], things, read.values.get(name))
        for name, pairs in relations.items()
    }
    used = {subject for pairs in relations.values() for subject, _ in pairs} | {
        found for name, pairs in relations.items() if values[name][0] == "entity" for _, found in pairs
    }
    labels = {name: label(name) for name in relations}
    told = {} if read.untyped else kinds_of_subjects(relations, labels)
    led = {} if read.untyped else kinds_of_objects(relations, labels)
    types = {name: _kind(kind) for name, kind in told.items()} | types
    kinds = {name: types.get(name) or _kind(led.get(name) or read.untyped or "thing") for name in used}
    for name, pairs in relations.items():  # what only objects are is what the relation calls it: "currency"
        if values[name][0] == "entity" and names_its_object(label(name)):
            subjects = {subject for subject, _ in pairs}
            kinds |= {found: _kind(label(name)) for _, found in pairs if found not in types and found not in subjects}
    ids = tuple(sorted(used))
    ordinals = {name: at for at, name in enumerate(ids)}
    names = {relation: _relation_name(label(relation)) for relation in relations}
    own = Counter(names.values())
    names = {key: name if own[name] == 1 else f"{name} ({local_name(key, {})})" for key, name in names.items()}
    facts: list[list[tuple[str, int | str]]] = [[] for _ in ids]
    for relation, pairs in relations.items():
        kind, read_value = values[relation]
        for subject, found in pairs:
            value = ordinals[found] if kind == "entity" else read_value(found)
            facts[ordinals[subject]].append((names[relation], value))
    lexicon = _lexicon(config, relations, names, {key: value[0] for key, value in values.items()}, kinds, label)
    return FactGraph(
        ids=ids,
        names=tuple(label(name) for name in ids),
        aliases=tuple(tuple(read.labels.get(name, ())[1:]) for name in ids),
        kinds=tuple(kinds[name] for name in ids),
        facts=tuple(tuple(dict.fromkeys(each)) for each in facts),
        lexicon=lexicon,
        digest=content,
        rejected=tuple(read.rejected),
        rows=read.rows,
        config=config,
        prose=tuple(read.prose.get(name, "") for name in ids),
    )


def _kind(label: str) -> str:
    name = plain_label(label)
    if name in _PEOPLE:
        return "person"
    return f"{name} entry" if name in _VALUE_KINDS else name


def _relation_name(label: str) -> str:
    return plain_label(label).replace(" ", "_")


def _value_kind(
    label: str, objects: Sequence[str], things: set[str], known: ValueKind | None
) -> tuple[ValueKind, Callable[[str], str]]:
    """What the objects of a relation are, and how one is written as ``Edge.value``."""
    distinct = list(dict.fromkeys(objects))
    if known == "text":
        return "text", str
    if known == "entity" or (known is None and any(found in things for found in distinct)):
        return "entity", str
    if all(_is_date(found) for found in distinct):
        return "date", lambda text: _DATE.fullmatch(text)[1]  # type: ignore[index]
    if all(re.fullmatch(r"[12]\d{3}", found) for found in distinct) and _YEARS.search(label):
        return "year", str
    if all(_NUMBER.fullmatch(found) for found in distinct):
        return "number", lambda text: text.replace(",", "")
    units = {match[2] if (match := _QUANTITY.fullmatch(found)) else None for found in distinct}
    if len(units) == 1 and None not in units:
        return "quantity", _quantity
    named = sum(bool(_NAME.match(found)) and len(found.split()) <= 6 for found in distinct)
    return ("entity" if named * 2 > len(distinct) else "text"), str


def _quantity(text: str) -> str:
    unit = _unit(text)
    return f"{text[: -len(unit)].strip().replace(',', '')} {unit}"


def _unit(text: str) -> str:
    match = _QUANTITY.fullmatch(text)
    return match[2] if match is not None else ""


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    try:
        return match is not None and bool(date.fromisoformat(match[1]))
    except ValueError:
        return False


def _lexicon(
    config: FactsConfig,
    relations: dict[str, list[tuple[str, str]]],
    names: dict[str, str],
    values: dict[str, ValueKind],
    kinds: dict[str, str],
    label: Callable[[str], str],
) -> Lexicon:
    entries = {}
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    labels: defaultdict[str, set[str]] = defaultdict(set)
    for relation, pairs in relations.items():
        for kind in {kinds[subject] for subject, _ in pairs}:
            labels[kind].add(label(relation))
    natures = {kind: nature_of(kind, told) for kind, told in labels.items()}
    for relation, pairs in relations.items():
        subjects = Counter(subject for subject, _ in pairs)
        objects = Counter(found for _, found in pairs)
        entity = values[relation] == "entity"
        sources.update(kinds[subject] for subject in subjects)
        targets.update(kinds[found] for _, found in pairs) if entity else None
        unit = _unit(pairs[0][1]) if values[relation] == "quantity" else None
        entries[names[relation]] = word_relation(
            RelationShape(
                label(relation),
                subject=_common(kinds[subject] for subject in subjects),
                object=_common(kinds[found] for found in objects) if entity else (),
                value=values[relation],
                unit=unit,
                functional=max(subjects.values()) == 1,
                symmetric=entity and _symmetric(pairs),
                usual=sum(count == 1 for count in subjects.values()) >= _USUAL * len(subjects),
                inverse_functional=entity and max(objects.values()) == 1,
                crowded=entity and len(pairs) >= _CROWD * len(objects),
            ),
            nature=frozenset.intersection(*(natures[kind] for kind in {kinds[subject] for subject in subjects})),
        )
    count = Counter(kinds.values())
    hubs = {kind for kind in count if sources[kind] == 0 and targets[kind] >= 3 * count[kind]}
    derived = Lexicon(
        types={kind: derive_type(kind, hub=kind in hubs) for kind in sorted(count)},
        relations={name: entries[name] for name in sorted(entries)},
    )
    return derived if config.words is None else _better(derived, given_words(config), config.words)


def _symmetric(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether the facts say it both ways wherever both things have facts of the relation."""
    stated = set(pairs)
    subjects = {subject for subject, _ in pairs}
    both = [(found, subject) for subject, found in pairs if found in subjects and found != subject]
    return len(both) >= 4 and sum(pair in stated for pair in both) >= _USUAL * len(both)


def _common(kinds: Iterable[str]) -> tuple[str, ...]:
    return tuple(kind for kind, _ in sorted(Counter(kinds).items(), key=lambda item: (-item[1], item[0])))


def given_words(config: FactsConfig) -> dict[str, Any]:
    """What the user's file of words says; nothing where there is none.

    Raises:
        InputError: it can't be read, or is no mapping.
    """
    if config.words is None:
        return {}
    file = Path(config.words).expanduser()
    given = parse_yaml(read_text(file, mend=_MEND), str(file), mend=_MEND) or {}
    if not isinstance(given, dict):
        raise InputError("a file of words is a mapping", where=str(file), mend=_MEND)
    return given


def _better(derived: Lexicon, given: dict[str, Any], file: str) -> Lexicon:
    """The derived words with those of the user's file in their place, key by key."""
    merged = derived.model_dump(mode="json", by_alias=True)
    for part in ("types", "relations"):
        for name, entry in (given.get(part) or {}).items():
            if name not in merged[part]:
                known = ", ".join(sorted(merged[part])[:20])
                raise InputError(f"the facts have no {name!r} among their {part}: {known}", where=file, mend=_MEND)
            merged[part][name] = {**merged[part][name], **entry}
    try:
        return Lexicon.model_validate(merged)
    except ValueError as error:
        raise InputError(" ".join(str(error).split())[:300], where=file, mend=_MEND) from None
