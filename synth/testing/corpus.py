"""A collection that fits on one screen: sixteen pages written by hand, five tasks over them, a word-overlap index.

For contract tests and for outside packages that want a search environment without building anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from synth.schemas.documents import Document, Evidence, Link, Section, ValueKind
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import CheckResult, Difficulty, Hop, Node, Shape, Task, Walk

__all__ = ["PROVENANCE", "ListTable", "WordIndex", "small_documents", "small_tasks"]

PROVENANCE = Provenance(
    dataset="small", stage="test", stage_version=1, fingerprint="0" * 64, seed=0, source="small", source_sha256="0" * 64
)

# Links are written [[id|anchor]]; a line that starts with "## " is a heading.
_PAGES: dict[str, tuple[str, str]] = {
    "arvel-torrin": (
        "Arvel Torrin",
        "Arvel Torrin was an engineer from [[mosk|Mosk]]. She was born on 14 March 1871.\n\n## Career\n"
        "In 1899 Arvel Torrin founded the [[korvan-works|Korvan Works]], which made pumps. Later she was employed by "
        "[[lume-press|Lume Press]] as an adviser.\n\n## Family\nHer brother was [[edda-torrin|Edda Torrin]].",
    ),
    "arvel-torrent": (
        "Arvel Torrent",
        "Arvel Torrent was a painter who lived in [[velden|Velden]]. He was born on 2 May 1902. He founded the "
        "[[velden-school|Velden School]].",
    ),
    "edda-torrin": (
        "Edda Torrin",
        "Edda Torrin was a botanist. He was born on 9 June 1874 in [[mosk|Mosk]] and died in [[velden|Velden]].",
    ),
    "korvan-works": (
        "Korvan Works",
        "The Korvan Works was a maker of pumps. Its head office stood in [[dessau-ferry|Dessau Ferry]].\n\n## People\n"
        "The first director was [[ilse-brandt|Ilse Brandt]]. The company had 412 workers in 1910.",
    ),
    "korvan-mill": (
        "Korvan Mill",
        "Korvan Mill is a mill in [[mosk|Mosk]]. Its head office never left [[mosk|Mosk]].",
    ),
    "dessau-ferry": (
        "Dessau Ferry",
        "Dessau Ferry is a town on the river [[orl|Orl]]. It was founded in 1620 and has 12,450 inhabitants.",
    ),
    "ilse-brandt": (
        "Ilse Brandt",
        "Ilse Brandt was a chemist and a director. She was born on 30 January 1868 in [[velden|Velden]]. "
        "She studied at the [[orl-academy|Orl Academy]].",
    ),
    "orl-academy": (
        "Orl Academy",
        "The Orl Academy is a school of science in [[dessau-ferry|Dessau Ferry]]. Its library holds 80,000 books. "
        "Among its students were [[ilse-brandt|Ilse Brandt]], [[jon-maak|Jon Maak]] and [[edda-torrin|Edda Torrin]].",
    ),
    "jon-maak": (
        "Jon Maak",
        "Jon Maak was a geographer. He wrote the [[atlas-of-orl|Atlas of the Orl]] and died in [[mosk|Mosk]].",
    ),
    "atlas-of-orl": (
        "Atlas of the Orl",
        "The Atlas of the Orl is a book of maps. It was published by [[lume-press|Lume Press]] on 5 July 1911.",
    ),
    "lume-press": (
        "Lume Press",
        "Lume Press is a publisher in [[velden|Velden]]. It was started by [[hanne-velt|Hanne Velt]] in 1890.",
    ),
    "hanne-velt": ("Hanne Velt", "Hanne Velt was a printer. She was born on 1 April 1859 in [[mosk|Mosk]]."),
    "mosk": ("Mosk", "Mosk is a village known for its mill. The mayor of Mosk was [[per-holm|Per Holm]]."),
    "per-holm": ("Per Holm", "Per Holm was a baker and a mayor. He was born on 17 August 1880."),
    "velden": (
        "Velden",
        "Velden is a city in the hills. The city lies at a height of 412 metres. It has 98,000 inhabitants.",
    ),
    "velden-school": ("Velden School", "The Velden School is a school of painting. It was closed on 3 March 1950."),
    "orl": ("Orl", "The Orl is a river that is 240 km long. It flows past [[dessau-ferry|Dessau Ferry]]."),
}


def small_documents() -> list[Document]:
    """The pages, with links, sections and spans."""
    return [_document(document_id, title, text) for document_id, (title, text) in _PAGES.items()]


def _document(document_id: str, title: str, source: str) -> Document:
    text, links, at = "", [], 0
    for match in re.finditer(r"\[\[([^|]+)\|([^\]]+)\]\]", source):
        text += source[at : match.start()]
        links.append(Link(start=len(text), end=len(text) + len(match.group(2)), target=match.group(1)))
        text += match.group(2)
        at = match.end()
    text += source[at:]
    heads = list(re.finditer(r"^## (.+)\n", text, re.M))
    ends = [*(head.start() for head in heads), len(text)][1:]
    sections = tuple(
        Section(heading=head.group(1), level=2, start=head.end(), end=end)
        for head, end in zip(heads, ends, strict=True)
    )
    return Document(
        id=document_id, title=title, text=text, kind="page", sections=sections, links=tuple(links), source="small"
    )


class ListTable:
    """Documents in memory, in the form that a finished table has."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = list(documents)
        names = ("id", "title", "kind", "path", "date", "licence")
        self.arrow = pa.table({name: [getattr(document, name) for document in documents] for name in names})

    def __len__(self) -> int:
        return len(self._documents)

    def row(self, number: int) -> Document:
        return self._documents[number]

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Document]:
        yield from self._documents[start:stop]


@dataclass(frozen=True)
class _Hit:
    document: int
    score: float


class WordIndex:
    """Ranks by shared words, those of the title three times; ties by row number. Only for small collections."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._titles = [_words(document.title) for document in documents]
        self._texts = [_words(document.text) for document in documents]

    def search(self, query: str, k: int) -> list[_Hit]:
        words = _words(query)
        hits = [
            _Hit(row, 3.0 * len(words & title) + len(words & text))
            for row, (title, text) in enumerate(zip(self._titles, self._texts, strict=True))
        ]
        ranked = sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.document))
        return ranked[:k]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold())) - {"the", "of", "in", "was", "is", "a", "and", "by", "that", "did"}


def _node(document_id: str) -> Node:
    return Node(id=document_id, name=_PAGES[document_id][0], kind="page", document_id=document_id)


def _value(text: str, name: str, kind: ValueKind) -> Node:
    return Node(id=text, name=name, kind=kind)


def _hop(source: Node, target: Node, page: str, quote: str, cue: str, needs: tuple[int, ...], forward: bool) -> Hop:
    text = _document(page, *_PAGES[page]).text
    start = text.index(quote)
    evidence = Evidence(document_id=page, start=start, end=start + len(quote), quote=quote)
    return Hop(source=source, target=target, relation="r", forward=forward, needs=needs, evidence=evidence, cue=cue)


def _task(question: str, kind: ValueKind, shape: Shape, *hops: Hop) -> Task:
    answer = hops[-1].target
    bridges = tuple(dict.fromkeys(hop.target.id for hop in hops if hop.target.document_id))
    pages = tuple(dict.fromkeys(hop.evidence.document_id for hop in hops))
    number = sum(map(ord, question)) % 10_000
    return Task(
        id=f"small-{number:04d}",
        question=question,
        answer=answer.name,
        answer_kind=kind,
        shape=shape,
        walk=Walk(shape=shape, hops=hops),
        gold_entities=bridges,
        gold_documents=pages,
        difficulty=Difficulty(hops=len(hops), constraints=1, branching=1.0, documents=len(pages)),
        checks=(CheckResult(check="by_hand", outcome="passed"),),
        split="train",
        candidate_index=number,
        provenance=PROVENANCE,
    )


def small_tasks() -> list[Task]:
    """Chains of two and three hops, walked with and against the stated direction; conjunctions; a date and a number."""
    arvel, works, ferry, ilse = map(_node, ("arvel-torrin", "korvan-works", "dessau-ferry", "ilse-brandt"))
    academy, jon, atlas, lume = map(_node, ("orl-academy", "jon-maak", "atlas-of-orl", "lume-press"))
    founded = "In 1899 Arvel Torrin founded the Korvan Works, which made pumps."
    office = "Its head office stood in Dessau Ferry."
    director = "The first director was Ilse Brandt."
    born = "She was born on 30 January 1868 in Velden."
    wrote = "He wrote the Atlas of the Orl and died in Mosk."
    published = "It was published by Lume Press on 5 July 1911."
    students = "Among its students were Ilse Brandt, Jon Maak and Edda Torrin."
    birthday = _value("1868-01-30", "30 January 1868", "date")
    books = _value("80000", "80,000", "number")
    company = "the company that Arvel Torrin founded"
    return [
        _task(
            "In which town was the head office of the company that Arvel Torrin founded?",
            "entity",
            "composition",
            _hop(arvel, works, "arvel-torrin", founded, company, (), True),
            _hop(works, ferry, "korvan-works", office, "In which town was the head office", (0,), True),
        ),
        _task(
            "When was the first director of the company that Arvel Torrin founded born?",
            "date",
            "composition",
            _hop(arvel, works, "arvel-torrin", founded, company, (), True),
            _hop(works, ilse, "korvan-works", director, "the first director of", (0,), True),
            _hop(ilse, birthday, "ilse-brandt", born, "When was the first director", (1,), True),
        ),
        _task(
            "Which person wrote a book published by Lume Press?",
            "entity",
            "composition",
            _hop(lume, atlas, "atlas-of-orl", published, "a book published by Lume Press", (), False),
            _hop(atlas, jon, "jon-maak", wrote, "Which person wrote", (0,), False),
        ),
        _task(
            "Which student of the Orl Academy wrote the Atlas of the Orl?",
            "entity",
            "conjunction",
            _hop(academy, jon, "orl-academy", students, "student of the Orl Academy", (), True),
            _hop(atlas, jon, "jon-maak", wrote, "wrote the Atlas of the Orl", (), False),
        ),
        _task(
            "How many books does the library of the school where Ilse Brandt studied hold?",
            "number",
            "composition",
            _hop(
                ilse,
                academy,
                "ilse-brandt",
                "She studied at the Orl Academy.",
                "the school where Ilse Brandt studied",
                (),
                True,
            ),
            _hop(
                academy,
                books,
                "orl-academy",
                "Its library holds 80,000 books.",
                "How many books does the library",
                (0,),
                True,
            ),
        ),
    ]
