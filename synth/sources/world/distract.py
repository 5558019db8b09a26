"""What the world's written pages state: about whom, what is true, and what is said instead.

Distractors at perception and cognition level follow RAGShaper (arXiv 2601.08699), where a model writes them and nobody
knows whether they are false. Here the generator knows every fact: a statement is drawn so that the subject has another
object for that relation, and only one. As many pages of each kind say what is so, or a title would tell what is false.
Nothing here is an edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import get_args

import numpy as np

from synth.identity import derive_generator
from synth.lexicon.reading import misleading_words
from synth.schemas.distractors import WrittenKind
from synth.sources.world.config import WorldConfig
from synth.sources.world.schema import PRESENT_YEAR, RELATIONS
from synth.sources.world.structure import NO_DATE, World
from synth.sources.world.templates import AN, IS, OBJECT, POSSESSIVE, SUBJECT, Sentence, compiled, page_plan
from synth.sources.world.vocabulary import TEXT_VALUES

__all__ = ["KINDS", "WrittenClaim", "claims", "object_of", "related", "written_claims"]

KINDS: tuple[WrittenKind, ...] = get_args(WrittenKind)

_TRIES = 60
_OLDEST_EDITION, _NEWEST_EDITION = 1921, PRESENT_YEAR - 12
_PEOPLE_APART = 30
"""Years between the births of the true and the stated person at most: more would give the lie away by itself."""


@dataclass(frozen=True)
class WrittenClaim:
    """One statement of a written page, and what the page needs beside it."""

    kind: WrittenKind
    subject: int
    """Ordinal."""
    relation: str
    true: int | str
    """Ordinal of the true object, or the value as ``Edge.value`` stores it."""
    stated: int | str | None
    """The same of what is stated; None when the page withholds the object."""
    year: int | None = None
    """Of the edition (``stale``)."""
    premise: str | None = None
    """Relation of another fact of the subject, which is told truly (``inference``)."""
    step: str | None = None
    """Relation of a fact of the stated object, which is told truly (``wrong_chain``, ``inference``)."""

    @property
    def holds(self) -> bool:
        """What the page states is so."""
        return self.stated == self.true


@lru_cache
def claims(name: str) -> tuple[Sentence, ...]:
    """The sentences of a relation that can be said about any subject by name, alone."""
    return tuple(sentence for sentence in map(compiled, RELATIONS[name].sentences) if _plain(sentence))


def _plain(sentence: Sentence) -> bool:
    slots = {piece for piece in sentence.pieces if isinstance(piece, int)}
    return bool(slots & {SUBJECT, POSSESSIVE}) and slots <= {SUBJECT, POSSESSIVE, OBJECT, AN, IS} and OBJECT in slots


def related(world: World, ordinal: int) -> tuple[str, ...]:
    """Functional relations by which the entity has an object that its own page states, in the schema's order."""
    names = _sayable(world.kind_of(ordinal))
    return tuple(name for name in names if object_of(world, name, ordinal) is not None)


@lru_cache
def _sayable(kind: str) -> tuple[str, ...]:
    """Functional relations that a page of the kind states and that can be said alone."""
    return tuple(name for name in page_plan(kind).forward if RELATIONS[name].functional and claims(name))


def object_of(world: World, name: str, ordinal: int) -> int | str | None:
    """The object of a functional relation: an ordinal, a value as ``Edge.value`` stores it, or None."""
    kind, relation = world.kind_of(ordinal), RELATIONS[name]
    raw = int(world.facts[name, kind][ordinal - world.first[kind]])
    if relation.value_kind == "entity":
        return raw if raw >= 0 else None
    if relation.value_kind == "date":
        return None if raw == NO_DATE else str(np.datetime64(raw, "D"))
    if relation.value_kind == "text":
        return world.text(name, kind, raw)
    return f"{raw} {relation.unit}" if relation.value_kind == "quantity" else str(raw)


@lru_cache(maxsize=2)
def _order(config: WorldConfig, kind: WrittenKind) -> np.ndarray:
    return derive_generator(config.seed, "world", "distractors", kind).permutation(config.entities)


def written_claims(world: World) -> Iterator[WrittenClaim]:
    """What the world's written pages state, kind by kind: as many false statements as its config asks for, and as many
    true ones, where there are subjects.

    Each kind goes through the entities in an order of its own, for true statements from the end, and what is said about
    an entity depends on the world, the kind and the entity alone: a mix with more of a kind holds all of a mix with
    less.
    """
    for kind in KINDS:
        wanted = round(getattr(world.config.distractors, kind) * len(world) / 100)
        order, subjects = _order(_bare(world.config), kind).tolist() if wanted else [], set[int]()
        for claim_of, ordinals in ((_false_claim, order), (_true_claim, order[::-1])):
            free = (ordinal for ordinal in ordinals if ordinal not in subjects)
            found = list(islice((claim for one in free if (claim := claim_of(world, kind, one))), wanted))
            subjects.update(claim.subject for claim in found)
            yield from found


def _bare(config: WorldConfig) -> WorldConfig:
    """Without what does not shape the order: one permutation serves every mix."""
    return WorldConfig(entities=config.entities, seed=config.seed)


def _false_claim(world: World, kind: WrittenKind, ordinal: int) -> WrittenClaim | None:
    """The false statement of a kind about an entity; None where none can be made."""
    names = _names(world, kind, ordinal)
    fitting = [name for name in names if _fits(kind, name)]
    if not fitting:
        return None
    generator = derive_generator(world.config.seed, "world", "distractors", kind, ordinal)
    if kind == "inference":
        return _inference(world, ordinal, names, [fitting[at] for at in generator.permutation(len(fitting))], generator)
    name = fitting[int(generator.integers(len(fitting)))]
    true = object_of(world, name, ordinal)
    assert true is not None
    if kind == "partial":
        return WrittenClaim(kind, ordinal, name, true, None)
    year = _edition(world, ordinal, generator) if kind == "stale" else None
    if kind == "stale" and year is None:
        return None
    stated = _instead(world, name, ordinal, true, year, generator)
    if stated is None:
        return None
    claim = WrittenClaim(kind, ordinal, name, true, stated, year)
    return claim if kind != "wrong_chain" else _with_step(world, claim, generator)


def _true_claim(world: World, kind: WrittenKind, ordinal: int) -> WrittenClaim | None:
    """The true statement on a page of a kind about an entity; None where none can be made."""
    generator = derive_generator(world.config.seed, "world", "distractors", "true", kind, ordinal)
    names = _names(world, kind, ordinal)
    year = _edition(world, ordinal, generator) if kind == "stale" else None
    if kind == "stale" and year is None:
        return None
    for name in (names[at] for at in generator.permutation(len(names))):
        true = object_of(world, name, ordinal)
        assert true is not None
        claim = WrittenClaim(kind, ordinal, name, true, true, year)
        if kind in ("wrong_chain", "inference"):
            if not isinstance(true, int):
                continue
            led = _with_reason(world, claim, names) if kind == "inference" else _with_step(world, claim, generator)
            if led is not None:
                return led
        elif year is None or _held(world, name, true, year):
            return claim
    return None


def _names(world: World, kind: WrittenKind, ordinal: int) -> tuple[str, ...]:
    """Relations of the entity that a page of the kind can speak of."""
    unfit = kind == "lookalike" and world.kind_of(ordinal) not in misleading_words().namesakes
    return () if unfit else related(world, ordinal)


def _edition(world: World, ordinal: int, generator: np.random.Generator) -> int | None:
    """A year in which an old edition may have spoken of the entity."""
    first = max(_OLDEST_EDITION, int(world.begin[ordinal]) + 10)
    return int(generator.integers(first, _NEWEST_EDITION)) if first < _NEWEST_EDITION else None


def _held(world: World, name: str, true: int | str, year: int) -> bool:
    """Whether an edition of ``year`` can have said so."""
    if isinstance(true, int):
        return _there(world, true, year)
    kind = RELATIONS[name].value_kind
    return kind == "text" or (kind in ("year", "date") and int(true[:4]) <= year)


def _there(world: World, ordinal: int, year: int) -> bool:
    """Whether a thing existed in a year; of a person, grown up and alive."""
    born = int(world.begin[ordinal])
    return born + 25 <= year <= int(world.end[ordinal]) if world.kind_of(ordinal) == "person" else born <= year


def _with_step(world: World, claim: WrittenClaim, generator: np.random.Generator) -> WrittenClaim | None:
    """The claim with a true step that leads on, not back to the subject, and gives nothing else away."""
    assert isinstance(claim.stated, int)  # what these kinds fit is entity-valued
    known = (claim.subject, claim.true)
    steps = [step for step in related(world, claim.stated) if object_of(world, step, claim.stated) not in known]
    return replace(claim, step=steps[int(generator.integers(len(steps)))]) if steps else None


def _with_reason(world: World, claim: WrittenClaim, names: Sequence[str]) -> WrittenClaim | None:
    """The claim with a third entity that subject and stated object have in common: it looks like a reason."""
    assert isinstance(claim.stated, int)
    shared = {object_of(world, other, claim.subject): other for other in names if other != claim.relation}
    for known in (claim.true, claim.stated):
        shared.pop(known, None)
    for step in related(world, claim.stated):
        found = object_of(world, step, claim.stated)
        if isinstance(found, int) and found in shared:
            return replace(claim, premise=shared[found], step=step)
    return None


def _inference(
    world: World, subject: int, names: Sequence[str], fitting: Sequence[str], generator: np.random.Generator
) -> WrittenClaim | None:
    """Subject and stated object have a third entity in common, and no more than that."""
    for name in fitting:
        true = object_of(world, name, subject)
        assert isinstance(true, int)
        for other in _others(world, subject, true, None, generator):
            led = _with_reason(world, WrittenClaim("inference", subject, name, true, other), names)
            if led is not None:
                return led
    return None


def _fits(kind: WrittenKind, name: str) -> bool:
    if kind == "stale":
        return name in misleading_words().time_varying
    if kind in ("wrong_chain", "inference"):
        return RELATIONS[name].value_kind == "entity"
    return True


def _instead(
    world: World, name: str, subject: int, true: int | str, year: int | None, generator: np.random.Generator
) -> int | str | None:
    """Another object that would be believed; None when none is found."""
    kind = RELATIONS[name].value_kind
    if isinstance(true, int):
        return _another(world, subject, true, year, generator)
    if kind == "text":
        others = [text for text in TEXT_VALUES[name, world.kind_of(subject)] if text != true]
        return others[int(generator.integers(len(others)))] if others else None
    if kind == "year":
        return _shifted_year(int(true), generator)
    if kind == "date":
        day = date.fromisoformat(true)
        shifted = _shifted_year(day.year, generator)
        return None if shifted is None else day.replace(year=int(shifted), day=min(day.day, 28)).isoformat()
    number, _, unit = true.partition(" ")
    other = _resized(int(number), year is not None, generator)
    return f"{other} {unit}" if unit else str(other)


def _shifted_year(true: int, generator: np.random.Generator) -> str | None:
    apart = int(generator.integers(1, 13))
    later = bool(generator.integers(2))
    year = true + apart if later and true + apart <= PRESENT_YEAR - 1 else true - apart
    return str(year) if year > 0 else None


def _resized(true: int, earlier: bool, generator: np.random.Generator) -> int:
    """Off by 6 to 40 percent, by 1 at least; what was counted in an earlier year is less."""
    share = float(generator.uniform(0.06, 0.4))
    down = earlier or bool(generator.integers(2))
    other = round(true * (1 - share if down else 1 + share))
    return other if other != true else true + 1


def _another(world: World, subject: int, true: int, year: int | None, generator: np.random.Generator) -> int | None:
    return next(_others(world, subject, true, year, generator), None)


def _others(world: World, subject: int, true: int, year: int | None, generator: np.random.Generator) -> Iterator[int]:
    """Other entities of the true object's type: its look-alike where there is one, then some from its home region, then
    from anywhere; of persons those of about the same age, or those who are grown up and alive in ``year``."""
    kind = world.kind_of(true)
    members = world.range_of(kind)
    first = [int(world.lookalike[true])] if world.lookalike[true] >= 0 else []
    home = members.start + np.flatnonzero(world.community[members.start : members.stop] == world.community[true])
    near = home[generator.integers(len(home), size=_TRIES)].tolist()
    far = generator.integers(members.start, members.stop, size=_TRIES).tolist()
    for other in dict.fromkeys((*first, *near, *far)):
        if other in (true, subject) or world.called[other] == world.called[true] or world.kind_of(other) != kind:
            continue
        if year is not None:
            fits = _there(world, other, year)
        else:
            fits = kind != "person" or abs(int(world.begin[other]) - int(world.begin[true])) <= _PEOPLE_APART
        if fits:
            yield int(other)
