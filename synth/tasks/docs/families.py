"""What a corpus can be asked: every candidate of every family, found once.

``identify``  which thing does what its page says of it        ``subject``    what a sentence speaks of
``plain``      the same by what a thing with a proper name does, and not is: asked where little else is left
``described`` a value of a thing that is described             ``cloze``      a telling word left out of a sentence
``holder``    which page's thing has a part that does what is said of it
``asked``      what a sentence says with a word of its own    ``told``       either, on the page that the question names
``section``    which page shows how to do something           ``placed``     for an option, with the page that has it

What is asked of things that have names goes by the general shapes (:mod:`synth.tasks.docs.shapes`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from synth.schemas.documents import Edge
from synth.schemas.row import Split
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.guesses import STRUCTURE, alike_on_page, echoes, foregone
from synth.tasks.docs.leaks import leaks
from synth.tasks.docs.prose import Prose
from synth.tasks.docs.sentences import plain_stem
from synth.tasks.docs.spoken import answered, statement_question
from synth.tasks.docs.wording import Words
from synth.text.asked import commented
from synth.text.headings import how_to
from synth.text.subjects import Statement
from synth.text.words import FUNCTION_WORDS, tokens

__all__ = ["DESCRIBED", "Item", "Items", "is_answer", "is_of_a_part", "is_value"]

DESCRIBED = ("described_as", "subtitle")
_NO_DEFAULT = frozenset(("function", "method", "module", "file", "type", "command", "action", "event", "class"))
_PARTS = frozenset("function method option directive setting parameter command attribute property field macro".split())
"""Kinds of things that what a page is about has."""
_OF_CLASSES = frozenset(("method", "property", "attribute", "field"))
"""Parts that a class has, and no module."""
_OF_ALL = frozenset("debug help h version verbose quiet usage".split())
"""Options that any command has."""
_NO_DEFAULT_VALUE = re.compile(
    r"default|empty|blank|nothing|[Nn]o default|(?:the )?value of .*|not set|unset"
    r"|[A-Za-z]?[a-z]+(?: [a-z-]+){2,}|[Ss]ee [\w“\"].*|.* (?:if|otherwise|unless|below|above)\b.*"
)
"""What says in words what happens, or where to read of it: "see HOOKS, below", "$NAME if set, otherwise ..."."""
_FEW_PAGES = 5
_SECTIONS = frozenset(("section", "chapter", "part", "appendix"))
_PLACES = _SECTIONS | {"page", "index"}
_LONGEST = 70
_MANY = 10


@dataclass(frozen=True)
class Item:
    """A candidate: rows of edges, in the order in which a solver goes."""

    family: str
    edges: tuple[int, ...]
    ends_at: str
    """The answer, by which candidates are balanced."""
    label: str
    """What makes candidates alike: the relation asked for, the kind of thing."""


class Items:
    """Every candidate, by split and family; ``dropped`` counts why facts gave none.

    Args:
        gaps: whether sentences with a gap are wanted.
    """

    def __init__(self, corpus: Corpus, words: Words, *, gaps: bool) -> None:
        self._gaps = gaps
        self._corpus = corpus
        self._words = words
        self.dropped: Counter[str] = Counter()
        self.asked: set[str] = set()
        """Relations that lead to what a question can ask for."""
        self._said: dict[int, tuple[int, str]] = {}
        """Thing -> (edge, clause) of the description that is used for it."""
        self.told: dict[int, tuple[int, str]] = {}
        """The same of parts of what a page is about, where the clause may give the part's own name away."""
        self._words_of: dict[str, set[int]] = defaultdict(set)
        """Stem of a word -> things of which a description uses it."""
        self._values: dict[int, list[int]] = defaultdict(list)
        self._prose = Prose(corpus)
        self._repeated = _on_many_pages(corpus)
        self.foregone = alike_on_page(corpus)
        self._describe()
        self._value_edges()
        self.by_family: dict[Split, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
        self.spoken: dict[int, Statement] = {}
        """Edge -> what its sentence says, of those that speak of what they name and make a question."""
        self.add(self._all())

    def add(self, items: Iterable[Item]) -> None:
        """Sorts more candidates by the split that owns their pages."""
        corpus = self._corpus
        for item in items:
            owners = {
                corpus.columns.partitions[row]
                for number in item.edges
                for row in self._rows(corpus.edges[number])
                if row not in corpus.hubs
            }
            if len(owners) == 1:
                self.by_family[next(iter(owners))][item.family].append(item)
            else:
                self.dropped["pages of two splits" if owners else "pages that no split owns"] += 1

    def also_said(self, entity: int, clause: str, row: int | None) -> int | None:
        """Another thing of its kind of which a description says every word of a clause; ``row``: on this page alone."""
        corpus, wanted = self._corpus, _content(clause)
        held: list[set[int]] = [self._words_of.get(word, set()) for word in wanted]
        found = corpus.entities[entity]
        for other in sorted(set[int].intersection(*held) if held else ()):
            rival = corpus.entities[other]
            if rival.kind == found.kind and rival.name != found.name and row in (None, rival.document):
                return other
        return None

    def said_elsewhere(self, entity: int, clause: str) -> int | None:
        """A thing of another page of which a description says every word of a clause."""
        held = [self._words_of.get(word, set()) for word in _content(clause)]
        row = self._corpus.entities[entity].document
        found = sorted(set[int].intersection(*held) if held else ())
        return next((other for other in found if self._corpus.entities[other].document != row), None)

    def said(self, entity: int) -> tuple[int, str] | None:
        return self._said.get(entity)

    def clause(self, entity: int) -> str:
        """What is said of a thing of which something is."""
        return self._said[entity][1]

    def all_said(self) -> Iterable[tuple[int, tuple[int, str]]]:
        """(thing, (edge, clause)) of every description that is used."""
        return self._said.items()

    def values(self, entity: int) -> Sequence[int]:
        """Edges to the values of a thing that a question can ask for."""
        return self._values.get(entity, ())

    def _rows(self, edge: Edge) -> set[int]:
        page = self._corpus.page_of(edge.object) if edge.object >= 0 else None
        return {edge.document} if page is None else {edge.document, page}

    def _describe(self) -> None:
        for number, edge in enumerate(self._corpus.edges):
            if edge.relation not in DESCRIBED or edge.value is None:
                continue
            for word in _content(edge.value):
                self._words_of[word].add(edge.subject)
            if edge.subject in self._said:
                continue
            if (self._corpus.entities[edge.subject].name, edge.value) in self._repeated:
                self.dropped["descriptions that many pages repeat"] += 1
                continue
            if edge.document not in self._corpus.english:
                self.dropped["pages of another language"] += 1
                continue
            if self._words.noun(edge.subject) is None or self._is_private(edge.subject):
                continue
            if self._is_part(edge.subject) and edge.subject not in self.told:
                clause = self._words.said_of(edge.subject, edge.value, hidden=False)
                if clause is not None:
                    self.told[edge.subject] = (number, clause)
            said = self._words.said_of(edge.subject, edge.value)
            if said is None:
                self.dropped["descriptions that make no clause"] += 1
            else:
                self._said[edge.subject] = (number, said)

    def _is_about(self, entity: int) -> bool:
        """Whether a page goes by a title, and not by the name of a thing that came in some version."""
        found = self._corpus.entities[entity]
        return found.kind in _PLACES and " " in found.name

    def _is_private(self, entity: int) -> bool:
        """Whether a name is written as one that nobody outside is to use: "_validate_sequence"."""
        found = self._corpus.entities[entity]
        return found.kind in _NO_DEFAULT and re.match(r"(?:.*\.)?_[a-z]", found.name) is not None

    def _is_part(self, entity: int) -> bool:
        """Whether a thing is a part of what its page is about: a function of a class, an option of a command."""
        found = self._corpus.entities[entity]
        page = self._corpus.pages.get(found.document)
        whole = None if page is None or page == entity else self._words.noun(page)
        return whole is not None and whole != found.kind and found.kind in _PARTS

    def _value_edges(self) -> None:
        corpus = self._corpus
        silent = echoes(corpus) | foregone(corpus)
        for number, edge in enumerate(corpus.edges):
            if (
                edge.relation in STRUCTURE
                or edge.relation in silent
                or (edge.relation == "since" and self._is_about(edge.subject))
                or edge.relation == corpus.entities[edge.subject].kind
            ):
                continue
            if len(corpus.out[edge.subject][edge.relation]) > 1:
                self.dropped["values of which a thing has several"] += 1
            elif edge.value is not None and not (is_answer(edge.value) and is_value(edge)):
                self.dropped["values without a short answer"] += 1
            elif is_of_a_part(corpus, edge):
                self.dropped["defaults of arguments"] += 1
            elif (edge.subject, edge.relation) in self.foregone:
                self.dropped["values that nearly all things of a page have"] += 1
            elif not self._words.asks(edge.relation, "x"):
                self.dropped["relations that make no question"] += 1
            else:
                self.asked.add(edge.relation)
                self._values[edge.subject].append(number)

    def _all(self) -> Iterator[Item]:
        corpus = self._corpus
        for entity, (number, _) in self._said.items():
            found = corpus.entities[entity]
            alike = corpus.on_page[found.document, found.name.casefold()] > 1 and self._words.is_local(entity)
            if " and " in found.name or ", " in found.name or alike:
                continue  # a description of several things at once, or one of several things of a name
            yield Item("identify", (number,), found.id, found.kind)
            for value in self._values.get(entity, ()):
                if corpus.edges[value].value is not None and not self._is_column(value, number):
                    yield Item("described", (number, value), self._end(value), corpus.edges[value].relation)
        described = {(corpus.edges[number].document, corpus.edges[number].end) for number, _ in self._said.values()}
        yield from self._holders()
        yield from self._sections()
        for number, edge in enumerate(corpus.edges):
            if edge.document not in corpus.english:
                continue
            if edge.relation == "states" and edge.value is not None and (edge.document, edge.end) not in described:
                quote = corpus.quote(edge)
                said = self._words.spoken_of(quote, edge.document)
                if said is not None and said.name == edge.value:
                    for asks in self._spoken(said):
                        if asks != "told":
                            self.spoken[number] = said
                        yield Item(asks, (number,), edge.value, said.kind or said.verb)
                yield from self._answered(number, quote, edge)
                if (
                    self._gaps
                    and is_gap(edge.value)
                    and self._is_sentence(quote)
                    and _english(quote)
                    and not leaks(quote.replace(edge.value, " ", 1), edge.value)
                ):
                    yield Item("cloze", (number,), edge.value, "cloze")

    def _holders(self) -> Iterator[Item]:
        """Pages asked for by one of their parts, unless the page can be guessed."""
        corpus = self._corpus
        wholes = {entity: corpus.entities[corpus.pages[corpus.entities[entity].document]] for entity in self.told}
        named = {
            page.ordinal: (page.kind, page.name.casefold())
            for page in (corpus.entities[whole] for whole in corpus.pages.values())
        }
        of_name = Counter(named[page.ordinal] for page in wholes.values())
        kinds, of_kind = Counter(kind for kind, _ in set(named.values())), Counter(p.kind for p in wholes.values())
        for entity, (number, _) in self.told.items():
            found = corpus.entities[entity]
            if {found.name.strip("-"), *(name.strip("-") for name in found.aliases)} & _OF_ALL:
                continue  # said in other words of every other command
            page = wholes[entity]
            most = of_kind[page.kind] >= _MANY and 2 * of_name[named[page.ordinal]] > of_kind[page.kind]
            guessed = most or kinds[page.kind] < 2
            if guessed or (page.kind == "module" and corpus.entities[entity].kind in _OF_CLASSES):
                continue  # "Which module has a function that ...?": there is one, or most are of one
            yield Item("holder", (number,), page.id, page.kind)

    def _is_sentence(self, quote: str) -> bool:
        """Whether evidence is a sentence, and no line of code, with a comment or below a sentence."""
        return "\n" not in quote and commented(quote, self._corpus.commands) is None

    def _answered(self, number: int, quote: str, edge: Edge) -> Iterator[Item]:
        """What a sentence answers with a word of its own, or a comment says of its command."""
        asked = answered(quote, edge.value or "", self._corpus.commands)
        command = asked is not None and asked.question.startswith("Which command ")
        if asked is not None and (command or not self._corpus.is_everywhere(edge.value or "")):
            if not asked.local:  # an option means something with its program alone
                family = "placed" if asked.question.startswith(("Which option ", "Which flag ")) else "asked"
                yield Item(family, (number,), edge.value or "", asked.question.partition(" ")[0])
            yield Item("told", (number,), edge.value or "", asked.question.partition(" ")[0])

    def _sections(self) -> Iterator[Item]:
        """Pages by what one of their sections shows how to do."""
        corpus = self._corpus
        if len(corpus.pages) < _FEW_PAGES:
            return  # a book on one page: there is nothing to choose
        for number, edge in enumerate(corpus.edges):
            found = corpus.entities[edge.subject]
            if edge.relation != "part_of" or found.kind not in _SECTIONS or edge.document not in corpus.english:
                continue
            if how_to(corpus.quote(edge)) is not None and corpus.is_page(edge.object):
                yield Item("section", (number,), corpus.entities[edge.object].id, "section")

    def _spoken(self, said: Statement) -> Iterator[str]:
        """The families of what a sentence speaks of: by itself, and, where the page is said, of that page."""
        family = None
        if (asked := statement_question(said)) is not None:
            family = self._prose.family(said, asked[0])
        if family is not None:
            yield family
        if self._prose.tells(said) and statement_question(said, local=True) is not None:
            yield "told"
        elif asked is not None and family is None:
            self.dropped["sentences whose subject has no name, or that say little of it"] += 1

    def _is_column(self, value: int, described: int) -> bool:
        """Whether one row of a table says both: then nothing lies between them."""
        one, two = self._corpus.edges[value], self._corpus.edges[described]
        return one.document == two.document and (one.start, one.end) == (two.start, two.end)

    def _end(self, number: int) -> str:
        edge = self._corpus.edges[number]
        return edge.value if edge.value is not None else self._corpus.entities[edge.object].id


def is_answer(value: str) -> bool:
    """Whether a value is short, told, and no list with its bullets or labels."""
    listed = value.lower() == "n/a" or value.count(": ") > 1 or " - " in value or value.startswith("- ")
    short = 0 < len(value) <= _LONGEST and "\n" not in value and len(value.split()) <= 8
    return short and not listed and any(c.isalnum() for c in value)


def is_gap(word: str) -> bool:
    """Whether a word is worth leaving out: of a plain one ("memory", "finished dataset") several would fit."""
    opens = word.partition(" ")[0].lower()
    return opens not in FUNCTION_WORDS | {"without"} and re.fullmatch(r"[A-Z]?[a-z]+(?:[ -][a-z]+)*", word) is None


def is_value(edge: Edge) -> bool:
    """Whether a default is a value: "same category like nearest center" says what happens, in words."""
    if edge.value is not None and edge.value.startswith(("[", "{", "(", "<")):
        return False  # a list, or what a reader is to fill in
    if edge.value is not None and edge.value.lower().startswith(("see ", "same as ")):
        return False
    said = edge.relation == "default" and _NO_DEFAULT_VALUE.fullmatch(edge.value or "")
    return not said


def _on_many_pages(corpus: Corpus) -> set[tuple[str, str | None]]:
    """(name, description) of what page after page repeats, as its menu: "--help" of every command."""
    pages: dict[tuple[str, str | None], set[int]] = defaultdict(set)
    for edge in corpus.edges:
        if edge.relation in DESCRIBED:
            pages[corpus.entities[edge.subject].name, edge.value].add(edge.document)
    return {said for said, rows in pages.items() if len(rows) >= _MANY}


def _content(text: str) -> set[str]:
    return {plain_stem(word) for word in tokens(text) if word not in FUNCTION_WORDS and len(word) > 1}


def _english(sentence: str) -> bool:
    found = tokens(sentence)
    return sum(word in FUNCTION_WORDS for word in found) >= max(2, len(found) // 6)


def is_of_a_part(corpus: Corpus, edge: Edge) -> bool:
    """Whether the edge is the default of a thing that has none: what an argument of it defaults to."""
    return edge.relation == "default" and corpus.entities[edge.subject].kind in _NO_DEFAULT
