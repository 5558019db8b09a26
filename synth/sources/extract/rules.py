"""Triples out of documents without links, by rules alone.

What pages call each other is found in their sentences: a name is the title of another page, or one of its aliases, that
no ordinary word could be mistaken for. What the sentence says of the two is read by the same narrow rules that read
linked documentation (:mod:`synth.sources.docs.relations`); where none of them fires, the page ``mentions`` the other.
Definitions, values, headings and tables need no link and are read by :func:`synth.sources.docs.graph.graph_tables`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from synth.schemas.documents import Document
from synth.sources.docs.outline import Outline
from synth.sources.docs.relations import ANCHOR, linked_relation
from synth.sources.records.triples import Triple

__all__ = ["MENTIONS", "Names", "RuleExtractor"]

MENTIONS = "links_to"
"""A sentence of one page names another: what a hyperlink in that sentence would say."""
_WORDS = re.compile(r"[^\W_]+(?:['’_.:-]+[^\W_]+)*(?:\(\))?")
_SEPARATE = re.compile(r"\s+[—–]\s+|\s+--+\s+|\s+\([^()]*\)$")
_NUMBER = re.compile(r"(?:(?:chapter|appendix|section|part)\s+)?[A-Z0-9]{1,4}\.(?:\d+\.)*\s+", re.IGNORECASE)
_MOST_WORDS = 8


@dataclass(frozen=True)
class Names:
    """Which page a run of words names. Names of several pages, and ordinary words, name none."""

    by_words: Mapping[tuple[str, ...], str]
    """Words as written -> id of the page."""
    titles: Mapping[str, str]
    """Id of a page -> its title, as triples call it."""

    @cached_property
    def _first(self) -> frozenset[str]:
        return frozenset(words[0] for words in self.by_words)

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Names:
        """The names of ``documents``.

        A name of one word counts when it is written as no word of a sentence is (a digit, an underscore, a capital, a
        dot or a hyphen inside it), or when at most one page in twenty writes that word at all.
        """
        owners: dict[tuple[str, ...], set[str]] = {}
        for document in documents:
            for name in _forms(document):
                words = tuple(_WORDS.findall(name))
                if words and len(words) <= _MOST_WORDS:
                    owners.setdefault(words, set()).add(document.id)
        seen: Counter[str] = Counter()
        for document in documents:
            seen.update(set(_WORDS.findall(document.text)))
        most = max(1, len(documents) // 20)
        kept = {}
        for words, ids in sorted(owners.items()):
            ordinary = len(words) == 1 and not _telling(words[0]) and seen[words[0]] > most
            # A title like "Introduction" may begin any sentence.
            if len(ids) == 1 and not ordinary and sum(map(len, words)) > 2:
                kept[words] = next(iter(ids))
        return cls(kept, {document.id: document.title for document in documents})

    def found(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        """(start, end, page id) of every name in ``text[start:end]``, the longest at each place, left to right."""
        words = list(_WORDS.finditer(text, start, end))
        place = 0
        while place < len(words):
            if words[place].group() not in self._first:
                place += 1
                continue
            for length in range(min(_MOST_WORDS, len(words) - place), 0, -1):
                run = words[place : place + length]
                page = self.by_words.get(tuple(match.group() for match in run))
                if page is not None and not re.search(r"[.;!?]\s", text[run[0].start() : run[-1].end()]):
                    yield run[0].start(), run[-1].end(), page
                    place += length
                    break
            else:
                place += 1


def _forms(document: Document) -> Iterator[str]:
    for name in (document.title, *document.aliases):
        yield name
        bare = _NUMBER.sub("", name, count=1)
        yield bare
        if (head := _SEPARATE.split(bare, maxsplit=1)[0]) != bare:
            yield head


def _telling(word: str) -> bool:
    """Whether a word is written as no word of a sentence is: "os.walk", "PageRank", "pg_dump"."""
    return bool(re.search(r"[\d_.:()-]|[a-z][A-Z]", word))


class RuleExtractor:
    """Triples of one document after the other, given the names of all. Deterministic; reads nothing else."""

    name = "rules"
    version = 1

    def __init__(self, names: Names) -> None:
        self._names = names

    def extract(self, document: Document) -> list[Triple]:
        """What the sentences of ``document`` say of other pages, in order of place, each relation and object once a
        sentence. The subject is the page."""
        outline = Outline(document.text)
        found: list[Triple] = []
        done: set[tuple[str, str, int]] = set()
        first = True
        for number, line in enumerate(outline.lines):
            if not line.prose:
                continue
            for start, end in outline.sentences(number):
                for a, b, page in self._names.found(document.text, start, end):
                    if page == document.id:
                        continue
                    said = document.text[start:a] + ANCHOR + document.text[b:end]
                    stated = linked_relation(said, first)
                    relation = stated[0] if stated else MENTIONS
                    if (relation, page, start) not in done:
                        done.add((relation, page, start))
                        found.append(
                            Triple(
                                document_id=document.id,
                                subject=document.title,
                                relation=relation,
                                object=self._names.titles[page],
                                start=start,
                                end=end,
                            )
                        )
                first = False
        return found
