"""Pages that were written to mislead, beside documents of any maker: an old version of a section, or hearsay.

A page takes a sentence that states a value ("Default: 90", "added in 3.2") and states another one. The graph knows the
value, so what the page says is false by the facts; and the page holds words by which a reader can tell that it needs a
check. As many pages of each kind repeat the value as it is, or titles would tell what is false. As in the generated
world (``synth.sources.world.distract``; RAGShaper, arXiv 2601.08699), nothing here is a fact of the graph.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pydantic import Field

from synth.identity import digest
from synth.lexicon.model import MisleadingKind
from synth.lexicon.reading import misleading_words
from synth.schemas.arrow import from_arrow
from synth.schemas.described import Described
from synth.schemas.distractors import PlantedMisinformation, WrittenKind
from synth.schemas.documents import DISTRACTOR, Document, Edge, Entity, Evidence, Link, Section

__all__ = ["DocumentDistractors", "written_pages"]

_LONGEST_VALUE, _LONGEST_SENTENCE = 40, 300
_WINDOWS = (900, 400, 150)
"""Code points on both sides of the sentence that an old version of its section repeats: the first that holds the true
value nowhere else."""
_NUMBER = re.compile(r"\d{1,9}$")
_SLOT = re.compile(r"(\{claim\}|\{e\})")
_UNFIT = frozenset({"described_as", "subtitle", "part_of"})
"""Relations whose values are names and sentences, not values that could have been others."""


class DocumentDistractors(Described):
    """False pages per 100 pages, by kind, and as many true ones that look alike. They stand among the pages that agents
    search."""

    stale: float = Field(default=0.0, ge=0.0, le=50.0)
    """An old version of a section, with another value."""
    contradiction: float = Field(default=0.0, ge=0.0, le=50.0)
    """Mails and notes that give another value, by hearsay."""


@dataclass(frozen=True)
class _Claim:
    """A value that a page states, and what is stated in its place."""

    edge: Edge
    subject: Entity
    page: Document
    value: str
    """The true value as the page writes it."""
    stated: str
    """What is stated: another value, or the true one."""

    @property
    def sentence(self) -> str:
        return self.page.text[self.edge.start : self.edge.end]

    def falsified(self, text: str) -> str:
        return _whole(self.value).sub(lambda _: self.stated, text)


def written_pages(
    documents: pa.Table,
    entities: pa.Table,
    edges: pa.Table,
    wanted: DocumentDistractors,
    draw: Callable[[str], np.random.Generator],
) -> tuple[list[Document], list[PlantedMisinformation]]:
    """The pages, and what those that mislead falsify; they belong behind all others.

    Args:
        documents, entities, edges: What was read, and the graph of it.
        draw: The generator of a name.
    """
    made: list[tuple[Document, PlantedMisinformation | None]] = []
    candidates = _values(edges)
    for kind in ("stale", "contradiction"):
        number = round(getattr(wanted, kind) * len(documents) / 100)
        order = draw(f"order of {kind}").permutation(len(candidates.edges)).tolist()
        for holds, places in ((False, order), (True, order[::-1])):
            subjects, generator = set[int](), draw(f"true {kind}" if holds else kind)
            for place in places:
                if len(subjects) == number:
                    break
                edge = candidates.edges[place]
                if edge.subject in subjects:
                    continue
                page: Document = from_arrow(documents.slice(edge.document, 1), Document)[0]
                subject: Entity = from_arrow(entities.slice(edge.subject, 1), Entity)[0]
                claim = _claim(edge, subject, page, candidates, generator, holds=holds)
                if claim is not None:
                    made.append(_written(claim, kind, misleading_words().documents[kind], generator))
                    subjects.add(edge.subject)
    return [document for document, _ in made], [falsehood for _, falsehood in made if falsehood is not None]


@dataclass(frozen=True)
class _Values:
    edges: tuple[Edge, ...]
    """Those that state a value which can be another one."""
    of_relation: dict[str, tuple[str, ...]]
    of_subject: dict[int, frozenset[str]]
    """All values of a thing, by any relation, case-folded."""


def _values(edges: pa.Table) -> _Values:
    found: list[Edge] = []
    of_relation: dict[str, dict[str, None]] = defaultdict(dict)
    of_subject: dict[int, set[str]] = defaultdict(set)
    count: dict[tuple[int, str], int] = defaultdict(int)
    for edge in from_arrow(edges, Edge):
        if edge.value is None:
            continue
        count[edge.subject, edge.relation] += 1
        of_subject[edge.subject].add(edge.value.casefold())
        short = len(edge.value) <= _LONGEST_VALUE and "\n" not in edge.value
        if edge.relation not in _UNFIT and short and (edge.relation != "states" or _NUMBER.match(edge.value)):
            found.append(edge)
            of_relation[edge.relation][edge.value] = None
    # Of what has several values one can't say that another is false.
    single = (edge for edge in found if edge.relation == "states" or count[edge.subject, edge.relation] == 1)
    return _Values(
        tuple(edge for edge in single if edge.end - edge.start <= _LONGEST_SENTENCE),
        {name: tuple(values) for name, values in of_relation.items()},
        {subject: frozenset(values) for subject, values in of_subject.items()},
    )


def _claim(
    edge: Edge, subject: Entity, page: Document, values: _Values, generator: np.random.Generator, *, holds: bool
) -> _Claim | None:
    """What is stated instead of the value of ``edge``, or the value where that ``holds``; None where nothing else would
    be believed, or false for certain."""
    assert edge.value is not None
    sentence = page.text[edge.start : edge.end]
    if page.kind == "index" or len(_whole(edge.value).findall(sentence)) != 1:
        return None
    known = values.of_subject[edge.subject]
    if _NUMBER.match(edge.value):
        apart = max(1, round(int(edge.value) * float(generator.uniform(0.06, 0.4))))
        options = [str(int(edge.value) + apart), str(int(edge.value) - apart)]
        options = [one for one in options if one.isdigit() and int(one) > 0 and len(one) == len(edge.value)]
    else:
        options = [one for one in values.of_relation[edge.relation] if _alike(one, edge.value)]
    options = [one for one in options if one.casefold() not in known and not _whole(one).search(page.text)]
    if not options:
        return None
    stated = edge.value if holds else options[int(generator.integers(len(options)))]
    return _Claim(edge, subject, page, edge.value, stated)


def _alike(one: str, other: str) -> bool:
    """Whether two values have the same form: words with words, versions with versions."""
    forms = [re.sub(r"\d+", "0", re.sub(r"[^\W\d]+", "a", text.casefold())) for text in (one, other)]
    return forms[0] == forms[1] and one.casefold() != other.casefold() and one.islower() == other.islower()


def _written(
    claim: _Claim, kind: WrittenKind, words: MisleadingKind, generator: np.random.Generator
) -> tuple[Document, PlantedMisinformation | None]:
    page, frame = claim.page, words.frames[int(generator.integers(len(words.frames)))]
    name = claim.subject.name if kind == "contradiction" else page.title
    title = frame.title.format(n=name)
    text, links, spans = f"# {title}\n\n", list[Link](), dict[str, tuple[int, int]]()
    sections = [Section(heading=title, level=1, start=0, end=0)]
    told, statement = _told(claim, whole=kind == "stale")
    for number, sentence in enumerate(frame.sentences):
        if number == 1:
            sections[0] = Section(heading=title, level=1, start=0, end=len(text.rstrip()))
            text = f"{text.rstrip()}\n\n"
            sections.append(Section(heading=frame.heading, level=2, start=len(text), end=len(text)))
            text += f"## {frame.heading}\n\n"
        begin = len(text)
        for piece in _SLOT.split(sentence.removeprefix("!")):
            if piece == "{e}":
                links.append(Link(start=len(text), end=len(text) + len(page.title), target=page.id))
                text += page.title
            elif piece == "{claim}":
                spans["statement"] = (len(text) + statement[0], len(text) + statement[1])
                text += told
            else:
                text += piece
        if sentence.startswith("!"):
            spans["cue"] = (begin, len(text))
        text += "\n\n" if kind == "stale" else " "
    text = text.rstrip()
    sections[-1] = sections[-1].model_copy(update={"end": len(text)})
    key = digest("written", page.id, kind, claim.edge.start, claim.edge.relation, claim.stated)
    stem, ending = posixpath.splitext(page.id)
    document = Document(
        id=f"{stem}-{key[:6]}{ending}",
        title=title,
        text=text,
        kind=DISTRACTOR,
        sections=tuple(sections),
        links=tuple(links),
        source=page.source,
        licence=page.licence,
        partition=page.partition,
    )
    if claim.stated == claim.value:
        return document, None
    return document, _falsehood(claim, kind, words, document, spans)


def _told(claim: _Claim, *, whole: bool) -> tuple[str, tuple[int, int]]:
    """What a page says with the other value, and where the sentence stands in it. ``whole``: the section of it, as far
    as that repeats the true value nowhere else."""
    edge, text = claim.edge, claim.page.text
    name = claim.subject.name
    inside = [one for one in claim.page.sections if one.start <= edge.start and edge.end <= one.end]
    first, last = (inside[-1].start, inside[-1].end) if inside else (0, len(text))
    for reach in _WINDOWS if whole else ():
        low = max(first, text.rfind("\n", 0, max(0, edge.start - reach)) + 1)
        high = min(last, edge.end + reach)
        high = max(edge.end, high if high == last else text.rfind("\n", edge.end, high))
        before, after = text[low : edge.start], text[edge.end : high].rstrip()
        if not _whole(claim.value).search(f"{before}\n{after}"):
            said = claim.falsified(claim.sentence)
            return f"{before}{said}{after}", (len(before), len(before) + len(said))
    said = claim.falsified(" ".join(claim.sentence.split()))
    said = said if name.casefold() in said.casefold() else f"{name}: {said}"
    return said, (0, len(said))


def _falsehood(
    claim: _Claim, kind: WrittenKind, words: MisleadingKind, document: Document, spans: dict[str, tuple[int, int]]
) -> PlantedMisinformation:
    edge = claim.edge
    key = digest("falsehood", document.id, claim.subject.id, edge.relation, claim.value, claim.stated)
    return PlantedMisinformation(
        id=f"falsehood-{key[:16]}",
        document_id=document.id,
        level=words.level,
        kind=kind,
        subject=claim.subject.id,
        relation=edge.relation,
        true_object=claim.value,
        stated_object=claim.stated,
        value_kind=edge.value_kind,
        statement=_quote(document, *spans["statement"]),
        cue=words.cue,
        cue_words=_quote(document, *spans["cue"]),
        truth=_quote(claim.page, edge.start, edge.end),
        partition=document.partition,
    )


def _quote(document: Document, start: int, end: int) -> Evidence:
    return Evidence(document_id=document.id, start=start, end=end, quote=document.text[start:end])


def _whole(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w)")
