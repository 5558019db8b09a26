"""Written distractors: what they say is false by the world's own facts, and a reader can find that out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pyarrow as pa
import pytest

from synth.lexicon.names import written_value
from synth.lexicon.reading import misleading_words
from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import DISTRACTOR, Document
from synth.sources.world.config import DistractorMix, WorldConfig
from synth.sources.world.distract import KINDS, written_claims
from synth.sources.world.distract_pages import distractor_shard, distractor_shards
from synth.sources.world.schema import ENTITY_TYPES, RELATIONS
from synth.sources.world.source import shard_count, shard_tables, world_of

WORDS = misleading_words()
_NONE = DistractorMix(lookalike=0, stale=0, partial=0, contradiction=0, wrong_chain=0, inference=0)
_MANY = WorldConfig(entities=900, seed=3, distractors=DistractorMix().times(5))


@cache
def _written(config: WorldConfig) -> tuple[list[Document], list[PlantedMisinformation]]:
    documents, falsehoods = [], []
    for shard in range(distractor_shards(config)):
        more, others = distractor_shard(config, shard)
        documents += more
        falsehoods += others
    return documents, falsehoods


def _misleading(config: WorldConfig) -> Iterator[tuple[Document, PlantedMisinformation]]:
    documents, falsehoods = _written(config)
    pages = {document.id: document for document in documents}
    return ((pages[item.document_id], item) for item in falsehoods)


@cache
def _tables(config: WorldConfig) -> tuple[pa.Table, pa.Table, pa.Table]:
    parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
    documents, entities, edges = (pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True))
    return documents, entities, edges


@cache
def _facts() -> tuple[dict[tuple[str, str], set[str]], set[tuple[str, str, str]]]:
    """(subject, relation) -> objects, and all facts with their inverse readings, from the tables alone."""
    _, entities, edges = _tables(_MANY)
    ids = entities["id"].to_pylist()
    objects: dict[tuple[str, str], set[str]] = {}
    for subject, relation, target, value in zip(
        *(edges[name].to_pylist() for name in ("subject", "relation", "object", "value")), strict=True
    ):
        found = ids[target] if target >= 0 else value
        objects.setdefault((ids[subject], relation), set()).add(found)
    return objects, {(s, r, o) for (s, r), found in objects.items() for o in found}


def test_each_kind_is_written_and_every_statement_is_false() -> None:
    documents, falsehoods = _written(_MANY)
    objects, facts = _facts()
    assert {item.kind for item in falsehoods} == set(KINDS)
    assert len(falsehoods) == len(documents) / 2 == round(900 * 0.05 * 6)
    for item in falsehoods:
        # True by the tables, and the only object there: so another one is false.
        assert objects[item.subject, item.relation] == {item.true_object}, item
        if item.kind == "partial":
            assert item.stated_object is None
            continue
        assert item.stated_object not in (None, item.true_object)
        assert (item.subject, item.relation, item.stated_object) not in facts
        inverse = RELATIONS[item.relation].inverse
        assert (item.stated_object, inverse, item.subject) not in facts


def test_the_page_states_what_is_false_and_withholds_what_is_true() -> None:
    world = world_of(_MANY)
    place = {name: at for at, name in enumerate(world.ids)}
    for document, item in _misleading(_MANY):
        assert item.document_id == document.id

        def forms(stored: str, item: PlantedMisinformation = item) -> str:
            at = place.get(stored)
            return written_value(stored, item.value_kind) if at is None else world.called[at]

        if item.stated_object is not None:
            assert forms(item.stated_object) in item.statement.quote
        true, subject = forms(item.true_object), world.called[place[item.subject]]
        if true not in subject:  # "the Senn Institute" may be named after Senn
            assert not re.search(rf"(?<!\w){re.escape(true)}(?!\w)", document.text), (document.text, true)


def test_as_many_pages_of_each_kind_and_title_state_what_is_so() -> None:
    """By the facts: of what else a true page links to, one is the object of a fact of what it is about."""
    documents, falsehoods = _written(_MANY)
    world, (_, facts) = world_of(_MANY), _facts()
    claims = list(written_claims(world))
    false = {item.document_id for item in falsehoods}
    assert [claim.holds for claim in claims] == [document.id not in false for document in documents]
    titles: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for document, claim in zip(documents, claims, strict=True):
        title = re.sub(r"\d{4}", "YEAR", document.title.replace(world.called[claim.subject], "NAME"))
        titles[claim.holds][re.sub(r"\([a-z ]+\)", "(KIND)", title)] += 1
        if claim.holds and isinstance(claim.stated, int):
            assert (world.ids[claim.subject], claim.relation, world.ids[claim.stated]) in facts
            assert {link.target for link in document.links} >= {world.ids[claim.stated]}
        elif claim.holds:
            assert (world.ids[claim.subject], claim.relation, claim.stated) in facts
            assert written_value(str(claim.stated), RELATIONS[claim.relation].value_kind) in document.text
    assert titles[True].keys() == titles[False].keys()


def test_every_span_is_what_it_says_and_the_official_page_contradicts() -> None:
    documents, _ = _written(_MANY)
    official = {row["id"]: row["text"] for row in _tables(_MANY)[0].select(["id", "text"]).to_pylist()}
    texts = official | {document.id: document.text for document in documents}
    for document, item in _misleading(_MANY):
        for evidence in (item.statement, item.cue_words, item.truth):
            assert texts[evidence.document_id][evidence.start : evidence.end] == evidence.quote
        assert item.statement.document_id == item.cue_words.document_id == document.id
        assert item.truth.document_id == item.subject
        assert (item.level, item.cue) == (WORDS.kinds[item.kind].level, WORDS.kinds[item.kind].cue)
        for link in document.links:
            assert link.target in official
            assert document.text[link.start : link.end].strip()
        for section in document.sections:
            assert document.text[section.start : section.end].strip()


def test_cues_can_be_read_without_knowing_the_truth() -> None:
    """Each cue holds words of its own kind, wherever it stands on the page."""
    told = {
        "other_thing": re.compile("|".join((*WORDS.namesakes.values(), "a character"))),
        "dated": re.compile(r"\b(19[2-9]\d)\b"),
        "illegible": re.compile(r"\[illegible\]"),
        "hearsay": re.compile(r"no other source|did not look it up|from memory|where it came from|able to confirm"),
        "retraction": re.compile(r"withdrawn|went wrong|correction|mix-up"),
        "supposition": re.compile(r"No document|never filled|a guess"),
    }
    for item in _written(_MANY)[1]:
        assert told[item.cue].search(item.cue_words.quote), item.cue_words.quote


def test_pages_read_like_sentences() -> None:
    for document in _written(_MANY)[0]:
        assert "{" not in document.text
        assert "  " not in document.text
        assert " ." not in document.text
        assert not re.search(r"\b(the the|a an|an a|of of)\b", document.text, re.IGNORECASE), document.text
        assert not re.search(r"\ba (?!one)[aeio]|\ban (?:one|[bcdfghjklmnpqrstvwxyz])", document.text), document.text
        for line in document.text.split("\n\n"):
            assert line[0].isupper() or line[0] in "#[", line


def test_ids_are_unique_and_no_page_of_the_world_changes() -> None:
    documents, _ = _written(_MANY)
    without = WorldConfig(entities=900, seed=3, distractors=_NONE)
    assert distractor_shards(without) == 0
    for one, other in zip(_tables(_MANY), _tables(without), strict=True):
        assert one.equals(other)
    ids = [document.id for document in documents] + _tables(_MANY)[0]["id"].to_pylist()
    assert len(set(ids)) == len(ids)
    assert {document.kind for document in documents} == {DISTRACTOR}
    # An id must not tell an agent what it is about to open.
    assert {document.id.partition("/")[0] for document in documents} <= set(ENTITY_TYPES)


def test_more_of_a_kind_keeps_what_was_there() -> None:
    few = WorldConfig(entities=900, seed=3, distractors=DistractorMix().times(2))
    more = {document.id: document for document in _written(_MANY)[0]}
    for document in _written(few)[0]:
        assert more[document.id] == document


def test_other_seeds_write_other_pages() -> None:
    other = WorldConfig(entities=900, seed=4)
    assert not {d.id for d in _written(other)[0]} & {d.id for d in _written(_MANY)[0]}


def test_there_is_no_shard_behind_the_last() -> None:
    with pytest.raises(IndexError, match="shard 1 of 1"):
        distractor_shard(_MANY, 1)


def test_every_frame_misleads_and_gives_a_cue() -> None:
    for kind, words in WORDS.kinds.items():
        for frame in words.frames:
            assert "{n}" in frame.title
            assert sum("{claim}" in sentence for sentence in frame.sentences) == 1, kind
            assert sum(sentence.startswith("!") for sentence in frame.sentences) == 1, kind
