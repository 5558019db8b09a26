"""Pages: every edge stands in its span, every fact on its page, and nothing else is claimed."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_reading import read_sentence

from synth.lexicon.names import written_value
from synth.schemas.arrow import arrow_schema, from_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.row import Row
from synth.sources.world.config import WorldConfig
from synth.sources.world.pages import pages
from synth.sources.world.schema import ENTITY_TYPES, RELATIONS
from synth.sources.world.source import shard_tables, world_of
from synth.sources.world.structure import NO_DATE, World
from synth.sources.world.vocabulary import TEXT_VALUES

CONFIGS = [
    WorldConfig(entities=1_200, seed=0),
    WorldConfig(entities=400, seed=8),
    WorldConfig(entities=2_500, seed=5, cross=0.4),
]


class Written:
    """A world with its tables as plain rows."""

    def __init__(self, config: WorldConfig) -> None:
        self.world: World = world_of(config)
        self.tables = pages(self.world, 0, config.entities)
        documents, entities, edges = (table.to_pylist() for table in self.tables)
        self.documents: list[dict[str, Any]] = documents
        self.entities: list[dict[str, Any]] = entities
        self.edges: list[dict[str, Any]] = edges
        self.names = set(self.world.called) | {alias for aliases in self.world.aliases for alias in aliases}


@cache
def written_by(config: WorldConfig) -> Written:
    return Written(config)


@pytest.fixture(params=CONFIGS, ids=lambda config: f"{config.entities}-{config.seed}")
def written(request: pytest.FixtureRequest) -> Written:
    return written_by(request.param)


def test_tables_hold_valid_rows(written: Written) -> None:
    row_types: tuple[type[Row], ...] = (Document, Entity, Edge)
    for table, row_type in zip(written.tables, row_types, strict=True):
        assert table.schema.equals(arrow_schema(row_type), check_metadata=True)
        assert len(from_arrow(table, row_type)) == table.num_rows
    world = written.world
    assert [row["id"] for row in written.documents] == [row["id"] for row in written.entities] == world.ids
    for at, (page, entity) in enumerate(zip(written.documents, written.entities, strict=True)):
        assert entity["ordinal"] == entity["document"] == at
        assert page["title"] == entity["name"] == world.names[at]
        assert page["kind"] == entity["kind"] == world.kind_of(at)
        assert page["aliases"] == entity["aliases"] == list(world.aliases[at])
        assert page["partition"] == entity["partition"] == world.split_of(at)
        assert page["licence"] == "CC0-1.0"


def test_spans_are_sentences_that_state_the_object(written: Written) -> None:
    world = written.world
    for edge in written.edges:
        text = written.documents[edge["document"]]["text"]
        quote = text[edge["start"] : edge["end"]]
        assert edge["subject"] == edge["document"]
        assert quote.endswith(".")
        assert quote[0].isupper() or quote[0].isdigit()
        assert text[: edge["start"]].endswith(("\n\n", ". "))
        assert edge["end"] == len(text) or text[edge["end"]] in " \n"
        if edge["object"] >= 0:
            assert edge["value"] is None
            assert edge["value_kind"] == "entity"
            names = (world.called[edge["object"]], *world.aliases[edge["object"]])
            assert any(name in quote for name in names), (edge, quote)
        else:
            assert written_value(edge["value"], edge["value_kind"]) in quote, (edge, quote)


def test_every_fact_is_stated_on_its_own_page_once(written: Written) -> None:
    world = written.world
    stated: dict[tuple[int, str], list[object]] = {}
    for edge in written.edges:
        stated.setdefault((edge["subject"], edge["relation"]), []).append(
            edge["value"] if edge["object"] < 0 else edge["object"]
        )
    for (name, kind), column in world.facts.items():
        relation = RELATIONS[name]
        for at, found in enumerate(column.tolist()):
            told = stated.pop((world.first[kind] + at, name), [])
            if relation.value_kind == "entity":
                assert told == ([found] if found >= 0 else [])
            elif relation.value_kind == "text":
                assert told == [TEXT_VALUES[name, kind][found]]
            elif relation.value_kind == "date":
                assert len(told) == (found != NO_DATE)
            else:
                assert told == [f"{found} {relation.unit}" if relation.unit else str(found)]
    for (name, kind), (offsets, flat) in world.lists.items():
        for at in range(world.count[kind]):
            told = stated.pop((world.first[kind] + at, name), [])
            truth = flat[offsets[at] : offsets[at + 1]].tolist()
            assert len(set(told)) == len(told)
            if RELATIONS[name].primary:
                assert sorted(told, key=str) == sorted(truth, key=str)
            else:  # some inverse facts, all true
                assert set(told) <= set(truth)
                assert len(told) <= 3
    assert not any(stated.values()), "edges that the world does not hold"


def test_inverse_facts_are_stated_for_a_part(written: Written) -> None:
    inverse = [edge for edge in written.edges if not RELATIONS[edge["relation"]].primary]
    assert 0.1 < len(inverse) / len(written.edges) < 0.6


def test_links_are_anchored_at_names(written: Written) -> None:
    world = written.world
    ordinal = {item: at for at, item in enumerate(world.ids)}
    mentioned = 0
    for page in written.documents:
        targets = set()
        for link in page["links"]:
            target = ordinal[link["target"]]
            anchor = page["text"][link["start"] : link["end"]]
            assert anchor in (world.called[target], *world.aliases[target])
            targets.add(target)
            mentioned += anchor != world.called[target]
        at = ordinal[page["id"]]
        assert at not in targets
    for edge in written.edges:
        if edge["object"] >= 0:
            spans = [
                (link["start"], link["end"])
                for link in written.documents[edge["document"]]["links"]
                if link["target"] == world.ids[edge["object"]]
            ]
            assert any(edge["start"] <= a < b <= edge["end"] for a, b in spans)
    assert mentioned > 0, "some mentions use an alias"


def test_sections_cover_the_page(written: Written) -> None:
    for page in written.documents:
        text, sections = page["text"], page["sections"]
        assert 2 <= len(sections) <= 5
        assert sections[0]["level"] == 1
        assert sections[0]["heading"] == page["title"]
        rebuilt = []
        for section in sections:
            assert section["level"] == 1 or section["level"] == 2
            body = text[section["start"] : section["end"]]
            rebuilt.append(f"{'#' * section['level']} {section['heading']}\n\n{body}")
            assert body == body.strip()
            assert body
        assert "\n\n".join(rebuilt) == text
        headings = [section["heading"] for section in sections]
        assert len(set(headings)) == len(headings)


def test_opening_says_what_it_is_and_brings_in_the_alias(written: Written) -> None:
    world = written.world
    for at, page in enumerate(written.documents):
        lead = page["text"][page["sections"][0]["start"] : page["sections"][0]["end"]]
        called = world.called[at]
        assert lead.startswith((called, f"The {called}")), lead
        assert re.match(r"[^.]*? (is|was) (an?|one of the) ", lead.removeprefix(called)), lead
        for alias in world.aliases[at]:
            assert alias in lead, (alias, lead)


def filler_pattern(kind: str) -> re.Pattern[str]:
    slots = {"{s}": ".{2,60}?", "{their}": "(?:his|her|its)", "{them}": "(?:him|her|it)", "{they}": "(?:he|she|it)"}
    options = []
    for filler in ENTITY_TYPES[kind].fillers:
        parts = re.split(r"(\{\w+\})", filler.text)
        options.append("".join(slots.get(part) or re.escape(part) for part in parts))
    return re.compile("(?:(?:" + "|".join(options) + r")(?: |$))*")


PATTERNS = {kind: filler_pattern(kind) for kind in ENTITY_TYPES}


def test_what_is_not_a_fact_is_filler(written: Written) -> None:
    """Take the stated sentences away: what is left is made of filler templates, without numbers or other names."""
    spans: dict[int, set[tuple[int, int]]] = {}
    for edge in written.edges:
        spans.setdefault(edge["document"], set()).add((edge["start"], edge["end"]))
    for at, page in enumerate(written.documents):
        for section in page["sections"]:
            rest, end = [], section["start"]
            for a, b in sorted(spans[at]):
                if section["start"] <= a < section["end"]:
                    rest.append(page["text"][end:a])
                    end = b
            rest.append(page["text"][end : section["end"]])
            for text in rest:
                assert PATTERNS[page["kind"]].fullmatch(text.strip()), text
                assert not re.search(r"\d", text)
    for kind, entry in ENTITY_TYPES.items():
        texts = [filler.text for filler in entry.fillers]
        assert len(texts) == len(set(texts)) >= 8, kind
        for text in texts:
            inner = re.sub(r"\{\w+\}", "", text)[1:]
            assert not re.search(r"[A-Z\d]", inner), text


def test_each_stated_sentence_reads_as_its_facts(written: Written) -> None:
    """The reader finds exactly what the span states, or the same fact from its other end."""
    world = written.world
    facts: dict[tuple[int, int, int], set[tuple[str, str]]] = {}
    for edge in written.edges:
        found = edge["object"]
        names = [world.called[found], *world.aliases[found]] if found >= 0 else []
        quote = written.documents[edge["document"]]["text"][edge["start"] : edge["end"]]
        name = max((name for name in names if name in quote), key=len, default="")
        key = (edge["document"], edge["start"], edge["end"])
        shown = name or written_value(edge["value"], edge["value_kind"])
        facts.setdefault(key, set()).add((edge["relation"], shown))
    for (at, start, end), truth in list(facts.items())[:4_000]:
        page = written.documents[at]
        quote = page["text"][start:end]
        read = read_sentence(quote, written.names, kind=page["kind"])
        told = {(reading.relation, name) for reading in read for name in reading.objects}
        assert truth <= told, (quote, truth, read)
        for relation, _ in told - truth:
            assert RELATIONS[relation].inverse in {name for name, _ in truth}, (quote, read)


MISTAKES = re.compile(
    r"  |\{|\}| ,| \.|\.\.|\b([Tt]he) the\b|\ba a\b|\b(\w+) \2\b(?<!\bthat that)|\ban [^aeiouAEIOU]|\ba [aeiou]"
    r"|\bthe The\b|\b(is|was) (is|was)\b|\?|\bNone\b|'s's|\bthe [A-Z]\w* [A-Z]\w* (is|was) his\b"
)
SOUNDS_ODD = re.compile(r"\ba (university|one-act|European|unique|use)|\ban honour", re.IGNORECASE)


def test_prose_has_no_slips(written: Written) -> None:
    for at, page in enumerate(written.documents):
        body = page["text"].replace(page["title"], "X").replace(written.world.called[at], "X")
        for name in sorted(
            {page["text"][link["start"] : link["end"]] for link in page["links"]}, key=len, reverse=True
        ):
            body = body.replace(name, "Y")
        for match in MISTAKES.finditer(body):
            found = body[max(0, match.start() - 30) : match.end() + 30]
            assert SOUNDS_ODD.search(found), found
        words = len(page["text"].split())
        assert 75 <= words <= 260, (page["id"], words)
        for sentence in re.split(r"(?<=\.) |\n\n", page["text"]):
            assert sentence[0].isupper() or sentence[0] in "#\"'", sentence


def test_pronouns_agree(written: Written) -> None:
    world = written.world
    own = {"he": {"he", "his", "him"}, "she": {"she", "her"}, "it": {"it", "its"}}
    for at, page in enumerate(written.documents):
        if page["kind"] != "person":
            continue
        mine = own["she" if world.gender[at - world.first["person"]] else "he"]
        others = (own["he"] | own["she"]) - mine
        words = set(re.findall(r"[a-z]+", page["text"].lower()))
        assert not words & others, page["text"]


def test_pages_vary(written: Written) -> None:
    """No opening, no heading order and no sentence frame dominates a type."""
    for kind in ("person", "city", "company", "book"):
        texts = [page for page in written.documents if page["kind"] == kind]
        shapes = {tuple(section["heading"] for section in page["sections"][1:]) for page in texts}
        assert len(shapes) >= min(8, len(texts) / 4), kind
    quotes: dict[str, set[str]] = {}
    for edge in written.edges:
        page = written.documents[edge["document"]]
        quote = page["text"][edge["start"] : edge["end"]]
        frame = re.sub(r"[A-Z][\w']*|\d[\d,]*", "", quote)
        quotes.setdefault(edge["relation"], set()).add(frame)
    common = [name for name in quotes if sum(edge["relation"] == name for edge in written.edges) > 60]
    assert len(common) > (20 if written.world.config.entities > 1_000 else 5)
    assert all(len(quotes[name]) >= 5 for name in common)


@settings(max_examples=15)
@given(st.integers(0, 1_200), st.integers(0, 1_200))
def test_a_page_depends_on_its_ordinal_only(a: int, b: int) -> None:
    start, stop = sorted((a, b))
    whole = written_by(CONFIGS[0])
    documents, entities, edges = pages(whole.world, start, stop)
    assert documents.equals(whole.tables[0].slice(start, stop - start))
    assert entities.equals(whole.tables[1].slice(start, stop - start))
    wanted = [edge for edge in whole.edges if start <= edge["document"] < stop]
    assert edges.to_pylist() == wanted


def test_shards_make_the_world() -> None:
    config = WorldConfig(entities=5_600, seed=3)
    parts = [shard_tables(config, shard) for shard in range(2)]
    whole = pages(world_of(config), 0, 5_600)
    for at, table in enumerate(whole):
        assert pa.concat_tables([part[at] for part in parts]).equals(table)
    with pytest.raises(IndexError):
        shard_tables(config, 2)


PROGRAM = """
import hashlib
from synth.sources.world.source import WorldConfig, shard_tables
digest = hashlib.sha256()
for table in shard_tables(WorldConfig(entities=400, seed=8), 0):
    digest.update(repr(table.to_pylist()).encode())
print(digest.hexdigest())
"""


def test_same_bytes_in_another_process_and_hash_seed() -> None:
    digest = hashlib.sha256()
    for table in written_by(CONFIGS[1]).tables:
        digest.update(repr(table.to_pylist()).encode())
    other = "4242" if os.environ.get("PYTHONHASHSEED") != "4242" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": other}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest.hexdigest()
