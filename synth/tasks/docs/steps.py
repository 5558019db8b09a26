"""Where one can go from an entity, and by which words of the documentation: the hops of a walk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from synth.schemas.documents import Edge
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.english import condition, is_fragment
from synth.tasks.docs.entries import Entries, parameters
from synth.tasks.docs.kinds import CALLABLE, DISTINCTIVE, PLACES, SETTINGS, TYPES, group_of, is_nameable
from synth.tasks.docs.notes import alike, change, defaults, gap, purpose, remark, worthy

__all__ = ["Step", "Steps"]

_PLAIN_CONSTANTS = frozenset(("None", "True", "False", "NotImplemented", "Ellipsis", "__debug__", "NULL"))
_LINKS = ("links_to", "like", "raises", "returns", "subclass_of", "replacement", "alias_of")
_FOR_MORE = re.compile(r"For (?:more|further) (?:information|details?), see ")
_WHOLE_PAGE = 24_000
"""Characters of a page that can be read through for the one thing of a kind that it mentions."""
_TOLD_COLUMNS = frozenset(
    ("size", "type", "protocol", "command", "keyword", "licence", "license", "default", "function")
)
"""Headings of cells that a question can ask for."""
_VALUES = (
    "default_setting",
    "set_when",
    "bare_unit",
    "added_in",
    "deprecated_since",
    "removed_in",
    "source_file",
    "audit_event",
    "availability",
)


@dataclass(frozen=True)
class Step:
    """One hop onwards. ``target`` -1: the hop ends at ``value``."""

    relation: str
    """As the phrases know it."""
    edge: Edge
    """Whose span is the evidence."""
    source: int
    target: int
    value: str = ""
    extra: str = ""
    """What the words add: a condition, a purpose, a parameter."""
    forward: bool = True
    branching: int = 1
    """How many neighbours of the source compete: of the same relation, or linked at all."""


class Steps:
    """Hops from an entity that have one end only, proven from everything that its entry or page says."""

    def __init__(self, corpus: Corpus, entries: Entries) -> None:
        self.corpus = corpus
        self.entries = entries
        self._words_of: tuple[int, list[str]] = (-1, [])
        self._named: dict[str, set[str]] = defaultdict(set)
        """Last part of a name -> kinds of the things that are called so."""
        for entity in corpus.entities:
            self._named[entity.name.rsplit(".", 1)[-1]].add(entity.kind)
            if entity.kind == "module":
                self._named[entity.name].add("module")

    # Hops that end at an entity.

    def onward(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        out = corpus.out[entity]
        is_entry = self.entries.is_entry(entity)
        yield from self._conditional(entity, "raises", condition)
        yield from self._conditional(entity, "refers_for", purpose)
        for relation in ("returns", "subclass_of", "replacement"):
            targets = corpus.targets(entity, relation)
            if len(targets) == 1 and self._nameable(next(iter(targets))):
                edge = corpus.edges[out[relation][0]]
                yield Step(relation, edge, entity, edge.object, branching=self._degree(entity))
        yield from self._see_also(entity)
        if is_entry or corpus.is_page(entity) or corpus.entities[entity].kind == "module":
            yield from self._mentions(entity, "mentions" if is_entry else "introduction_mentions")
        yield from self._quoted(entity)
        yield from self._sole_mention(entity)
        yield from self._cross_reference(entity)
        yield from self._cited(entity)
        yield from self._references(entity)
        yield from self._more(entity)
        yield from self._also_listed(entity)
        homes = corpus.targets(entity, "defined_in")
        if len(homes) == 1 and corpus.entities[home := next(iter(homes))].kind == "module":
            edge = corpus.edges[out["defined_in"][0]]
            if corpus.entities[entity].name.rpartition(".")[0] == corpus.entities[home].name:
                yield Step("defined_in", edge, entity, home)

    def _nameable(self, entity: int) -> bool:
        found = self.corpus.entities[entity]
        if found.kind in ("glossary term", "entry") and not re.fullmatch(r"[\w][\w .()/-]+", found.name):
            return False
        return is_nameable(found.kind) and found.name not in _PLAIN_CONSTANTS and len(found.name) > 2

    def _degree(self, entity: int) -> int:
        return max(1, len({self.corpus.edges[n].object for r in _LINKS for n in self.corpus.out[entity].get(r, ())}))

    def _conditional(self, entity: int, relation: str, read: Callable[[str], str | None]) -> Iterator[Step]:
        corpus = self.corpus
        numbers = corpus.out[entity].get(relation, ())
        bare = parameters(self.entries.signature(entity))
        seen: dict[str, set[int]] = defaultdict(set)
        found = []
        for number in numbers:
            edge = corpus.edges[number]
            target = corpus.entities[edge.object]
            sentence = corpus.quote(edge)
            for name in sorted((target.name, *target.aliases), key=len, reverse=True):
                sentence = sentence.replace(name, "it")
            words = read(sentence)
            if words is None or is_fragment(words, least=12, most=110) or not self._nameable(edge.object):
                continue
            if any(re.search(rf"(?<!\w){re.escape(p)}(?!\w)", words) for p in bare):
                continue
            if relation == "raises" and corpus.entities[edge.object].kind != "exception":
                continue
            seen[words].add(edge.object)
            found.append((words, edge))
        for words, edge in found:
            if len(seen[words]) == 1:
                yield Step(relation, edge, entity, edge.object, extra=words, branching=max(1, len(seen)))

    def _see_also(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        by_kind: dict[str, set[int]] = defaultdict(set)
        for number in corpus.out[entity].get("see_also", ()):
            by_kind[corpus.entities[corpus.edges[number].object].kind].add(number)
        for numbers in by_kind.values():
            targets = {corpus.edges[n].object for n in numbers}
            if len(targets) == 1 and self._nameable(next(iter(targets))):
                edge = corpus.edges[min(numbers)]
                total = len(corpus.out[entity]["see_also"])
                yield Step("see_also", edge, entity, edge.object, branching=total)
        sources = corpus.sources(entity, "see_also")
        by_source: dict[str, list[int]] = defaultdict(list)
        for source in sorted(sources):
            by_source[corpus.entities[source].kind].append(source)
        for same in by_source.values():
            if len(same) == 1 and corpus.entities[same[0]].kind in ("module", "function", "class"):
                edge = next(e for n in corpus.into[entity]["see_also"] if (e := corpus.edges[n]).subject == same[0])
                yield Step("seen_also_from", edge, entity, same[0], forward=False, branching=len(sources))

    def _mentions(self, entity: int, relation: str) -> Iterator[Step]:
        """Things that are the only one of their kind that the entry (or the head of the page) names."""
        corpus = self.corpus
        body = self.entries.body(entity)
        if not body or len(body) > 4000:
            return
        by_kind: dict[str, dict[int, Edge]] = defaultdict(dict)
        degree = 0
        for name in (*_LINKS, "refers_for"):
            for number in corpus.out[entity].get(name, ()):
                edge = corpus.edges[number]
                degree += 1
                kind = corpus.entities[edge.object].kind
                if kind in DISTINCTIVE and corpus.is_page(entity):
                    continue  # the whole page is read for those
                if corpus.quote(edge) in body:
                    by_kind[group_of(corpus.entities[edge.object].kind)].setdefault(edge.object, edge)
        own = corpus.entities[entity].name
        for group, targets in by_kind.items():
            if len(targets) != 1 or group == "":
                continue
            target, edge = next(iter(targets.items()))
            name = corpus.entities[target].name
            if not self._nameable(target) or self._others(body, group, {own, name}):
                continue
            if name.rsplit(".", 1)[-1] in own or own.startswith(name + "."):
                continue
            if f" {corpus.entities[target].kind} module" in body:
                continue
            yield Step(relation, edge, entity, target, branching=max(1, degree))

    def _sole_mention(self, entity: int) -> Iterator[Step]:
        """Things of a distinctive kind that are the only one of it that the whole page mentions, linked or not."""
        corpus = self.corpus
        if not corpus.is_page(entity) or corpus.entities[entity].kind == "index":
            return
        row = corpus.entities[entity].document
        if len(corpus.text(row)) > _WHOLE_PAGE:
            return
        for kind in DISTINCTIVE:
            found = self._mentioned(row, kind) - {entity}
            if len(found) != 1:
                continue
            target = next(iter(found))
            edge = next((e for e in self._links_on[row] if e.object == target), None)
            if edge is not None and self._nameable(target):
                yield Step("sole_mention", edge, entity, target, branching=len(self._links_on[row]))

    @cached_property
    def _links_on(self) -> dict[int, list[Edge]]:
        found: dict[int, list[Edge]] = defaultdict(list)
        for edge in self.corpus.edges:
            if edge.object >= 0 and edge.relation in (*_LINKS, "refers_for", "see_also"):
                found[edge.document].append(edge)
        return found

    @cached_property
    def _names(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {kind: {} for kind in DISTINCTIVE}
        for entity in self.corpus.entities:
            if entity.kind in found:
                found[entity.kind][entity.name] = entity.ordinal
        return found

    def _mentioned(self, row: int, kind: str) -> set[int]:
        """Entities of a distinctive kind whose name stands in a page's text, the longest name at each place."""
        if row != self._words_of[0]:
            self._words_of = row, re.findall(r"[\w-]*\w", self.corpus.text(row))
        words, names = self._words_of[1], self._names[kind]
        found = set()
        for place in range(len(words)):
            for length in range(5, 0, -1):
                if (entity := names.get(" ".join(words[place : place + length]))) is not None:
                    found.add(entity)
                    break
        return found

    def _cross_reference(self, entity: int) -> Iterator[Step]:
        """The one other section that a numbered section refers to."""
        corpus = self.corpus
        if corpus.entities[entity].kind != "section":
            return
        edges = [corpus.edges[n] for r in (*_LINKS, "refers_for", "see_also") for n in corpus.out[entity].get(r, ())]
        targets = {e.object for e in edges if corpus.entities[e.object].kind in PLACES}
        if len(targets) == 1 and corpus.naming(next(iter(targets))) is not None:
            edge = next(e for e in edges if e.object in targets)
            name = corpus.entities[edge.object].name
            if name in corpus.quote(edge) and edge.relation != "refers_for":
                yield Step("cross_reference", edge, entity, edge.object, branching=max(1, len(edges)))

    def _cited(self, entity: int) -> Iterator[Step]:
        """A section that a statement names as its source or continuation: "... depends on the locale (see ...)"."""
        corpus = self.corpus
        if corpus.entities[entity].kind not in PLACES:
            return
        edges = [corpus.edges[n] for n in corpus.out[entity].get("links_to", ())]
        said = defaultdict(set)
        for edge in edges:
            said[edge.start].add(edge.object)
        for edge in edges:
            if corpus.entities[edge.object].kind not in PLACES or len(said[edge.start]) != 1:
                continue
            words = remark(corpus.quote(edge))
            if words is not None and corpus.entities[edge.object].name.lower() not in words.lower():
                yield Step("cited_for", edge, entity, edge.object, extra=words, branching=max(1, len(edges)))

    def _references(self, entity: int) -> Iterator[Step]:
        """A catalog whose rows a column holds ids of."""
        corpus = self.corpus
        numbers = corpus.out[entity].get("references", ())
        if corpus.entities[entity].kind not in ("catalog", "view", "table"):
            return
        for number in numbers:
            edge = corpus.edges[number]
            column = corpus.quote(edge).split(" ", 1)[0]
            yield Step("references", edge, entity, edge.object, extra=column, branching=len(numbers))

        sources = corpus.sources(entity, "references")
        if len(sources) == 1:
            edge = corpus.edges[corpus.into[entity]["references"][0]]
            yield Step("referenced_by", edge, entity, edge.subject, forward=False, branching=len(numbers) or 1)

    def _more(self, entity: int) -> Iterator[Step]:
        """Where an entry sends its readers for more: "For more information, see ANALYZE."."""
        corpus = self.corpus
        if not self.entries.is_entry(entity):
            return
        edges = [corpus.edges[n] for r in ("links_to", "refers_for") for n in corpus.out[entity].get(r, ())]
        edges = [e for e in edges if _FOR_MORE.match(corpus.quote(e))]
        if len({e.object for e in edges}) == 1 and self._nameable(edges[0].object):
            yield Step("more_in", edges[0], entity, edges[0].object, branching=self._degree(entity))

    def _also_listed(self, entity: int) -> Iterator[Step]:
        """The lists that a thing stands in, where there are two, on different pages."""
        corpus = self.corpus
        edges = [corpus.edges[n] for r in ("row_of", "far_row_of") for n in corpus.out[entity].get(r, ())]
        if len({e.object for e in edges}) == 2 and len({e.document for e in edges}) == 2:
            for edge in edges:
                if edge.relation == "row_of" and corpus.naming(edge.object) is not None:
                    yield Step("also_listed", edge, entity, edge.object, branching=2)

    def _quoted(self, entity: int) -> Iterator[Step]:
        """Sentences of the entry that name something once, with a gap in its place (MaskSearch, 2505.20285)."""
        corpus = self.corpus
        edges = [corpus.edges[n] for name in _LINKS for n in corpus.out[entity].get(name, ())]
        by_span: dict[tuple[int, int], set[int]] = defaultdict(set)
        for edge in edges:
            by_span[edge.start, edge.end].add(edge.object)
        for edge in edges:
            if len(by_span[edge.start, edge.end]) != 1 or not self._nameable(edge.object):
                continue
            gapped = gap(corpus.quote(edge), corpus.entities[edge.object].name)
            if gapped is not None and corpus.entities[entity].name not in gapped:
                yield Step("quoted", edge, entity, edge.object, extra=gapped, branching=max(1, len(by_span)))

    def _others(self, body: str, group: str, known: set[str]) -> bool:
        """Whether the text names, linked or not, yet another thing of the group. When in doubt, yes."""
        short = {name.rsplit(".", 1)[-1] for name in known} | known
        if group == "callable":
            return any(
                name not in short and name.rsplit(".", 1)[-1] not in short for name in re.findall(r"([\w.]+)\(", body)
            )
        if group == "module":
            named = re.findall(
                r"(?:^|[\s(])([\w.]+) (?:sub)?(?:module|package)s?\b|\b(?:[Mm]odule|package) ([\w.]*\w)", body
            )
            return any(
                name and name not in short and "module" in self._named.get(name, ()) for pair in named for name in pair
            )
        if group == "type":
            words = set(re.findall(r"(?<![\w.])(?:[\w.]+\.)?(\w+)", body))
            return any(
                w not in short and TYPES & self._named.get(w, set()) and (w[0].isupper() or len(w) > 3) for w in words
            )
        words = set(re.findall(r"-{0,2}\w[\w-]*", body))
        return any(word not in short and group in self._named.get(word, ()) for word in words)

    # Hops that end at a value, or at a chapter.

    def final(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        out = corpus.out[entity]
        for relation in _VALUES:
            values = corpus.values(entity, relation)
            if len(values) != 1:
                continue
            edge, value = corpus.edges[out[relation][0]], next(iter(values))
            if relation == "default_setting" and (corpus.entities[entity].kind not in SETTINGS or not worthy(value)):
                continue
            if relation == "audit_event" and value in (corpus.entities[entity].name, *corpus.entities[entity].aliases):
                continue
            if relation == "availability" and (" not " in f" {value} " or "(" in value or value.count(",") > 2):
                continue
            extra = ("when" if value.startswith("at ") else "where") if relation == "set_when" else ""
            yield Step(relation, edge, entity, -1, value, extra, branching=sum(len(out.get(r, ())) for r in _VALUES))
        yield from self._changes(entity)
        yield from self._defaults(entity)
        homes = corpus.targets(entity, "listed_in")
        if len(homes) == 1:
            edge = corpus.edges[out["listed_in"][0]]
            yield Step("listed_in", edge, entity, edge.object)
        yield from self._chapter(entity)
        if corpus.entities[entity].kind == "configuration parameter":
            for number in out.get("defined_in", ())[:1]:
                edge = corpus.edges[number]
                if corpus.naming(edge.object) is not None:
                    yield Step("documented_in", edge, entity, edge.object)
        lists = corpus.targets(entity, "has_list")
        if len(lists) == 1:
            edge = corpus.edges[out["has_list"][0]]
            yield Step("has_list", edge, entity, edge.object)
        yield from self._columns(entity)

    def _chapter(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        numbers = corpus.out[entity].get("part_of", ())
        if len(numbers) == 1 and corpus.entities[entity].kind in ("section", "list"):
            edge = corpus.edges[numbers[0]]
            if corpus.entities[edge.object].kind in ("chapter", "appendix"):
                yield Step("chapter_of", edge, entity, edge.object)

    def _columns(self, entity: int) -> Iterator[Step]:
        """Cells of a listed thing's row, where all its rows agree."""
        corpus = self.corpus
        numbers = corpus.out[entity].get("column", ())
        said: dict[str, list[tuple[str, Edge]]] = defaultdict(list)
        for number in numbers:
            edge = corpus.edges[number]
            heading, _, value = (edge.value or "").partition(": ")
            said[heading].append((value, edge))
        for heading, cells in said.items():
            if heading in _TOLD_COLUMNS and len({value for value, _ in cells}) == 1 and _cell(cells[0][0]):
                for value, edge in cells:
                    yield Step("column", edge, entity, -1, value, extra=heading, branching=len(said))

    def _changes(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        found = []
        for number in corpus.out[entity].get("changed_in", ()):
            edge = corpus.edges[number]
            said = corpus.quote(edge).partition(": ")[2]
            if read := change(said):
                found.append((*read, edge))
        for relation, words, edge in found:
            same = [e for _, other, e in found if e is not edge and alike(words, other)]
            if not same and edge.value and not is_fragment(words, least=8, most=110) and not edge.value.endswith("."):
                yield Step(
                    relation, edge, entity, -1, edge.value, extra=words, branching=len(corpus.out[entity]["changed_in"])
                )

    def _defaults(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        numbers = corpus.out[entity].get("defined_in", ())
        if len(numbers) != 1 or corpus.entities[entity].kind not in (*CALLABLE, "class"):
            return
        edge = corpus.edges[numbers[0]]
        found = defaults(corpus.quote(edge))
        for parameter, value in found.items():
            yield Step("default", edge, entity, -1, value, extra=parameter, branching=len(found))


def _cell(value: str) -> bool:
    """Whether a cell is a word or a number that an answer can give."""
    return bool(re.fullmatch(r"[\w.+/-]{2,24}(?: [\w.+/-]+)?", value)) and value not in ("no", "yes", "any", "both")
