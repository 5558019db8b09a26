"""Written pages of the corpus: documents like all others; those that mislead with the record of what they falsify."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from synth.identity import derive_generator, digest
from synth.lexicon.names import written_value
from synth.lexicon.reading import misleading_words
from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import DISTRACTOR, Document, Evidence, Link, Section
from synth.sources.world.config import WorldConfig
from synth.sources.world.distract import WrittenClaim, claims, object_of, written_claims
from synth.sources.world.pages import pages
from synth.sources.world.schema import ENTITY_TYPES, RELATIONS, article, with_article
from synth.sources.world.source import world_of
from synth.sources.world.structure import World, slug
from synth.sources.world.tables import LICENCE
from synth.sources.world.templates import AN, IS, OBJECT, POSSESSIVE, SUBJECT, page_plan
from synth.text.inflection import article as indefinite

__all__ = ["SHARD_PAGES", "distractor_shard", "distractor_shards"]

SHARD_PAGES = 2_000
"""Pages per shard, always."""

_WORDS = misleading_words()
_REMARKS = (2, 6)
"""Sentences of filler per page, from and to: what brings it to the length of other pages."""

T = TypeVar("T")

_NAMED = {SUBJECT: "{}", POSSESSIVE: "{}'s"}
_PRONOUNS = frozenset(("He", "Her", "His", "It", "Its", "She", "Their", "They", "These", "This"))

Piece = str | tuple[str, int]
"""Words, or (words, ordinal of the entity that they link to)."""


def distractor_shards(config: WorldConfig) -> int:
    """Number of shards of written pages."""
    return -(-len(_claims_of(config)) // SHARD_PAGES)


def distractor_shard(
    config: WorldConfig, shard: int, *, source: str = "world"
) -> tuple[list[Document], list[PlantedMisinformation]]:
    """Pages of a shard, and what those of them that mislead falsify; they belong behind the pages of all entities.

    Raises:
        IndexError: there is no such shard.
    """
    if not 0 <= shard < distractor_shards(config):
        raise IndexError(f"shard {shard} of {distractor_shards(config)}")
    world = world_of(config)
    mine = _claims_of(config)[shard * SHARD_PAGES : (shard + 1) * SHARD_PAGES]
    written = [_Page(world, claim, source).finish() for claim in mine]
    return [document for document, _ in written], [falsehood for _, falsehood in written if falsehood is not None]


@lru_cache(maxsize=2)
def _claims_of(config: WorldConfig) -> tuple[WrittenClaim, ...]:
    if not any(config.distractors.model_dump().values()):
        return ()
    return tuple(written_claims(world_of(config)))


class _Page:
    """Writes one page. ``pos`` is the length of the text so far."""

    def __init__(self, world: World, claim: WrittenClaim, source: str) -> None:
        self.world, self.claim, self.source = world, claim, source
        self.generator = derive_generator(world.config.seed, "world", "distractors", "page", claim.kind, claim.subject)
        self.kind = world.kind_of(claim.subject)
        self.parts: list[str] = []
        self.pos = 0
        self.links: list[Link] = []
        self.linked: set[int] = set()
        self.sections: list[Section] = []
        self.statement = self.cue = (0, 0)

    def finish(self) -> tuple[Document, PlantedMisinformation | None]:
        world, claim = self.world, self.claim
        frame = self._one(_WORDS.kinds[claim.kind].frames)
        called, noun = world.called[claim.subject], _WORDS.namesakes.get(self.kind, "")
        words = {"n": called, "noun": noun, "year": str(claim.year or ""), "of": ENTITY_TYPES[self.kind].noun}
        words["a_noun"] = f"{indefinite(noun)} {noun}" if noun else ""
        if self.kind == "person" and claim.kind == "lookalike":
            words["a_noun"] = "a character in a radio serial"
        sentences = frame.told(holds=claim.holds)
        title = frame.title.format(**words)
        self._literal(f"# {title}\n\n")
        begin = self.pos
        before, after = self._chosen()
        if _WORDS.kinds[claim.kind].level == "cognition":
            # What misleads there goes on from the opening sentence: remarks between would cut the thread.
            self._body(sentences[:1], words, (), before)
            before = []
        else:
            self._sentence(sentences[0], words)
        self.sections.append(Section(heading=title, level=1, start=begin, end=self.pos))
        self._literal(f"\n\n## {frame.heading}\n\n")
        begin = self.pos
        self._body(sentences[1:], words, before, after)
        self.sections.append(Section(heading=frame.heading, level=2, start=begin, end=self.pos))
        text = "".join(self.parts)
        key = digest("written", world.ids[claim.subject], claim.kind)
        # Names of entities are unique, and so is the title's part around the name: so is the id.
        name = title.replace(called, world.names[claim.subject], 1)
        partition = world.split_of(claim.subject)
        document = Document(
            id=f"{self.kind}/{slug(name)}-{key[:4]}",
            title=title,
            text=text,
            kind=DISTRACTOR,
            sections=tuple(self.sections),
            links=tuple(self.links),
            source=self.source,
            licence=LICENCE,
            partition=partition,
        )
        return document, None if claim.holds else self._falsehood(document)

    def _falsehood(self, document: Document) -> PlantedMisinformation:
        world, claim = self.world, self.claim
        words = _WORDS.kinds[claim.kind]
        true, stated = self._stored(claim.true), None if claim.stated is None else self._stored(claim.stated)
        subject = world.ids[claim.subject]
        key = digest("falsehood", document.id, subject, claim.relation, true, stated)
        return PlantedMisinformation(
            id=f"falsehood-{key[:16]}",
            document_id=document.id,
            level=words.level,
            kind=claim.kind,
            subject=subject,
            relation=claim.relation,
            true_object=true,
            stated_object=stated,
            value_kind=RELATIONS[claim.relation].value_kind,
            statement=_quote(document, *self.statement),
            cue=words.cue,
            cue_words=_quote(document, *self.cue),
            truth=self._truth(),
            partition=document.partition,
        )

    def _stored(self, item: int | str) -> str:
        return item if isinstance(item, str) else self.world.ids[item]

    def _truth(self) -> Evidence:
        """The sentence of the subject's own page: that page is written once more, as it is in its shard."""
        subject = self.claim.subject
        documents, _, edges = pages(self.world, subject, subject + 1)
        text = documents["text"][0].as_py()
        at = edges["relation"].to_pylist().index(self.claim.relation)
        start, end = edges["start"][at].as_py(), edges["end"][at].as_py()
        return Evidence(document_id=self.world.ids[subject], start=start, end=end, quote=text[start:end])

    # Sentences.

    def _one(self, items: Sequence[T]) -> T:
        return items[int(self.generator.integers(len(items)))]

    def _literal(self, text: str) -> None:
        self.parts.append(text)
        self.pos += len(text)

    def _body(
        self, sentences: Sequence[str], words: dict[str, str], before: Sequence[str], after: Sequence[str]
    ) -> None:
        items: list[tuple[bool, str]] = [(True, text) for text in before]
        items += [(False, text) for text in sentences]
        items += [(True, text) for text in after]
        for number, (remark, text) in enumerate(items):
            if number:
                self._literal(" ")
            if remark:
                self._literal(text)
            else:
                self._sentence(text, words)

    def _chosen(self) -> tuple[list[str], list[str]]:
        """Remarks for before and after what counts; they decide nothing."""
        remarks = self._remarks()
        count = min(len(remarks), int(self.generator.integers(*_REMARKS)))
        chosen = [remarks[at] for at in self.generator.permutation(len(remarks))[:count].tolist()]
        before = int(self.generator.integers(0, min(2, count) + 1))
        if self.claim.kind == "partial":
            before = count  # a damaged sheet ends with the damage
        return chosen[:before], chosen[before:]

    def _remarks(self) -> list[str]:
        """What may be said besides: true of anything of the type, or about the namesake."""
        claim = self.claim
        if claim.kind == "lookalike":
            return list(_WORDS.remarks.people if self.kind == "person" else _WORDS.remarks.things)
        alive = self.kind != "person" or int(self.world.end[claim.subject]) == 9999
        plan = page_plan(self.kind)
        called = self.world.called[claim.subject]
        full = with_article(self.kind, called)
        short = called.rsplit(" ", 1)[1] if self.kind == "person" else f"the {ENTITY_TYPES[self.kind].noun}"
        texts = []
        for filler in plan.fillers_alive if alive else plan.fillers:
            name = full if filler.by_name or self.generator.integers(2) else short
            said = [_NAMED.get(piece, "") if isinstance(piece, int) else piece for piece in filler.pieces]
            text = "".join(said).replace("{}", name)
            # A pronoun at the beginning would mean whoever was named last.
            if all(said) and text.split(" ", 1)[0] not in _PRONOUNS:
                texts.append(text[0].upper() + text[1:])
        return texts

    def _sentence(self, frame: str, words: dict[str, str]) -> None:
        begin = self.pos
        cue = frame.startswith("!")
        pieces: list[Piece] = []
        for part in _parts(frame.removeprefix("!")):
            pieces += self._slot(part, words)
        self._say(pieces)
        if "{claim}" in frame:
            self.statement = begin, self.pos
        if cue:
            self.cue = begin, self.pos

    def _say(self, pieces: Sequence[Piece]) -> None:
        for number, piece in enumerate(pieces):
            text, target = (piece, None) if isinstance(piece, str) else piece
            if not number and text:
                text = text[0].upper() + text[1:]
            if target is not None and target not in self.linked:
                self.linked.add(target)
                before = article(self.world.kind_of(target), self.world.called[target])
                start = self.pos + (len(before) if text.lower().startswith(before) else 0)
                self.links.append(Link(start=start, end=self.pos + len(text), target=self.world.ids[target]))
            self._literal(text)

    def _slot(self, part: str, words: dict[str, str]) -> list[Piece]:
        claim = self.claim
        if part == "{e}":
            return self._entity()
        if part == "{see}":
            return [(with_article(self.kind, self.world.called[claim.subject]), claim.subject)]
        if part == "{claim}":
            withheld = "[illegible]" if claim.stated is None else None
            clause = self._clause(claim.subject, claim.relation, claim.stated, withheld)
            if claim.kind == "lookalike" and (of := self._spoken_of()):
                return [f"{of}, ", *clause]
            return clause
        if part == "{premise}":
            assert claim.premise is not None
            return self._clause(claim.subject, claim.premise, object_of(self.world, claim.premise, claim.subject))
        if part == "{step}":
            assert claim.step is not None
            assert isinstance(claim.stated, int)
            return self._clause(claim.stated, claim.step, object_of(self.world, claim.step, claim.stated))
        return [words[part[1:-1]]] if part.startswith("{") else [part]

    def _spoken_of(self) -> str:
        """Which of two of the same name a statement is about, where it says so."""
        which = _WORDS.itself if self.claim.holds else _WORDS.namesake
        return which.get("person" if self.kind == "person" else "thing", "")

    def _entity(self) -> list[Piece]:
        """The subject with its type before it, unless its name says it."""
        subject = self.claim.subject
        called, noun = self.world.called[subject], ENTITY_TYPES[self.kind].noun
        if self.kind == "person" or noun in called.lower() or article(self.kind, called):
            return [(with_article(self.kind, called), subject)]
        return [f"the {noun} of " if self.kind in ("city", "region") else f"the {noun} ", (called, subject)]

    def _clause(self, subject: int, name: str, found: int | str | None, withheld: str | None = None) -> list[Piece]:
        """A relation's sentence as a clause: no full stop, no capital but that of a name."""
        world, kind = self.world, self.world.kind_of(subject)
        sentence = self._one(claims(name))
        called = with_article(kind, world.called[subject])
        pieces: list[Piece] = []
        # A namesake is spoken of by the same name, but a link would lead to the other one.
        namesake = self.claim.kind == "lookalike" and not self.claim.holds
        value: Piece
        if withheld is not None:
            value = withheld
        elif isinstance(found, int):
            value = (with_article(world.kind_of(found), world.called[found]), found)
        else:
            assert found is not None
            value = written_value(found, RELATIONS[name].value_kind)
        for number, piece in enumerate(sentence.pieces):
            if isinstance(piece, str):
                pieces.append(piece[0].lower() + piece[1:] if not number else piece)
            elif piece in (SUBJECT, POSSESSIVE):
                pieces.append(called if namesake else (called, subject))
                if piece == POSSESSIVE:
                    pieces.append("'s")
            elif piece == AN:
                pieces.append(indefinite(value if isinstance(value, str) else value[0]))
            elif piece == IS:
                gone = kind == "person" and int(world.end[subject]) != 9999 and not namesake
                pieces.append("was" if gone else "is")
            elif piece >= OBJECT:
                pieces.append(value)
        last = pieces[-1]
        if isinstance(last, str):
            pieces[-1] = last.removesuffix(".")
        return pieces


def _parts(frame: str) -> list[str]:
    parts, rest = [], frame
    while rest:
        start = rest.find("{")
        if start < 0:
            parts.append(rest)
            break
        if start:
            parts.append(rest[:start])
        end = rest.index("}", start) + 1
        parts.append(rest[start:end])
        rest = rest[end:]
    return parts


def _quote(document: Document, start: int, end: int) -> Evidence:
    return Evidence(document_id=document.id, start=start, end=end, quote=document.text[start:end])
