"""Where one can go from an entity, and by which words of the documentation: the hops of a walk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from synth.schemas.documents import Edge
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.english import condition, is_fragment, plain
from synth.tasks.docs.entries import Entries, parameters
from synth.tasks.text import content_words

__all__ = ["KIND_NOUNS", "Step", "Steps"]

KIND_NOUNS = {
    "module": "module", "page": "page", "section": "section", "function": "function", "coroutine": "coroutine",
    "class": "class", "exception": "exception", "decorator": "decorator", "method": "method", "attribute": "attribute",
    "class method": "class method", "static method": "static method", "environment variable": "environment variable",
    "command-line option": "command-line option", "C function": "C function", "C macro": "C macro", "C type": "C type",
    "variable": "variable",
    "constant": "constant", "glossary term": "glossary term",
    "entry": "entry", "bytecode instruction": "bytecode instruction",
}  # fmt: skip
_CALLABLE = frozenset(
    ("function", "coroutine", "method", "class method", "static method", "decorator", "C function", "C macro")
)
_TYPE = frozenset(("class", "exception"))
_PLAIN_CONSTANTS = frozenset(("None", "True", "False", "NotImplemented", "Ellipsis", "__debug__", "NULL"))
_LINKS = ("links_to", "like", "raises", "returns", "subclass_of", "replacement", "alias_of")
_SETTINGS = frozenset(("entry", "attribute", "environment variable", "command-line option", "C struct member"))
"""Kinds of things that have one default; a function has one per parameter."""
_VALUES = (
    "default_setting",
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
        if is_entry or corpus.entities[entity].kind in ("module", "page"):
            yield from self._mentions(entity, "mentions" if is_entry else "introduction_mentions")
        yield from self._quoted(entity)
        homes = corpus.targets(entity, "defined_in")
        if len(homes) == 1 and corpus.entities[home := next(iter(homes))].kind == "module":
            edge = corpus.edges[out["defined_in"][0]]
            if corpus.entities[entity].name.rpartition(".")[0] == corpus.entities[home].name:
                yield Step("defined_in", edge, entity, home)

    def _nameable(self, entity: int) -> bool:
        found = self.corpus.entities[entity]
        if found.kind in ("glossary term", "entry") and not re.fullmatch(r"[\w][\w .()/-]+", found.name):
            return False
        return found.kind in KIND_NOUNS and found.name not in _PLAIN_CONSTANTS and len(found.name) > 2

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
                if corpus.quote(edge) in body:
                    by_kind[_group(corpus.entities[edge.object].kind)].setdefault(edge.object, edge)
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
                w not in short and _TYPE & self._named.get(w, set()) and (w[0].isupper() or len(w) > 3) for w in words
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
            if relation == "default_setting" and (corpus.entities[entity].kind not in _SETTINGS or not _worthy(value)):
                continue
            if relation == "audit_event" and value in (corpus.entities[entity].name, *corpus.entities[entity].aliases):
                continue
            if relation == "availability" and (" not " in f" {value} " or "(" in value or value.count(",") > 2):
                continue
            yield Step(relation, edge, entity, -1, value, branching=sum(len(out.get(r, ())) for r in _VALUES))
        yield from self._changes(entity)
        yield from self._defaults(entity)
        homes = corpus.targets(entity, "listed_in")
        if len(homes) == 1:
            edge = corpus.edges[out["listed_in"][0]]
            yield Step("listed_in", edge, entity, edge.object)

    def _changes(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        found = []
        for number in corpus.out[entity].get("changed_in", ()):
            edge = corpus.edges[number]
            said = corpus.quote(edge).partition(": ")[2]
            if read := change(said):
                found.append((*read, edge))
        for relation, words, edge in found:
            same = [e for _, other, e in found if e is not edge and _alike(words, other)]
            if not same and edge.value and not is_fragment(words, least=8, most=110) and not edge.value.endswith("."):
                yield Step(
                    relation, edge, entity, -1, edge.value, extra=words, branching=len(corpus.out[entity]["changed_in"])
                )

    def _defaults(self, entity: int) -> Iterator[Step]:
        corpus = self.corpus
        numbers = corpus.out[entity].get("defined_in", ())
        if len(numbers) != 1 or corpus.entities[entity].kind not in (*_CALLABLE, "class"):
            return
        edge = corpus.edges[numbers[0]]
        found = defaults(corpus.quote(edge))
        for parameter, value in found.items():
            yield Step("default", edge, entity, -1, value, extra=parameter, branching=len(found))


GAP = "[…]"


_NAMED = "module|package|function|method|class|exception|decorator|object|instance|error"


def gap(sentence: str, name: str) -> str | None:
    """The sentence with the one mention of ``name`` replaced by a gap; None when it does not stand on its own."""
    last = name.rsplit(".", 1)[-1]
    # What fills the gap must be plain from the words around it: "[...]()", "the [...] module", "a [...] object".
    found = re.findall(rf"(?<![\w.])(?:\w+\.)*{re.escape(last)}(?!\w)", sentence)
    pattern = re.compile(rf"(?<![\w.])(?:\w+\.)*{re.escape(last)}(?:\(\)(?!\w)|(?= (?:{_NAMED})s?\b))")
    if len(last) < 3 or len(found) != 1 or not pattern.search(sentence):
        return None
    gapped = pattern.sub(GAP, sentence).rstrip(".")
    around = gapped.replace(GAP, "thing")
    if is_fragment(around, least=50, most=190) or not around[0].isupper() or len(content_words(around)) < 7:
        return None
    return None if any(c in gapped for c in "“”") or last.lower() in around.lower() else gapped


def _group(kind: str) -> str:
    if kind in _CALLABLE:
        return "callable"
    if kind in _TYPE:
        return "type"
    return kind if kind in ("module", "environment variable", "command-line option") else ""


_PURPOSE = (
    re.compile(r"^(?:Please )?(?:[Ss]ee|[Rr]efer to|[Cc]onsult) [^,]*? for (?P<p>.+)$"),
    re.compile(r"^For (?P<p>[^,]+), (?:please )?(?:see|refer to|consult) "),
)
_EMPTY_PURPOSE = re.compile(
    r"(?:(?:some|more|further|additional|full|complete|other|the|an?) )*(?:details?"
    r"|information|examples?|explanations?|descriptions?"
    r"|discussion|reference|documentation|usage|overview|background|links)$"
)


def purpose(sentence: str) -> str | None:
    """What readers are sent elsewhere for: "See X for the order of calls." -> "the order of calls"."""
    text = re.sub(r" \([^()]*\)", "", sentence).rstrip(" .")
    for pattern in _PURPOSE:
        if (match := pattern.match(text)) and not _EMPTY_PURPOSE.match(match["p"]):
            words = match["p"]
            return words if len(words.split()) >= 3 else None
    return None


_GAINS = (
    re.compile(
        r"^(?:The )?(?P<p>(?:(?:optional|keyword-only|new) )?\w+ (?:parameter|argument"
        r"|attribute|method|option|keyword argument|constant|flag)s?) (?:was|were|has been"
        r"|have been|is|are)? ?added$"
    ),
    re.compile(
        r"^Added (?:the )?(?P<p>(?:(?:optional|keyword-only|new) )?\w+ (?:parameter|argument"
        r"|attribute|method|option|keyword argument|constant|flag)s?)$"
    ),
    re.compile(r"^Added (?P<s>support (?:for|of) .+)$"),
    re.compile(r"^(?P<s>Support (?:for|of) [^.]+?) (?:was|has been|is)? ?added$"),
    re.compile(r"^(?:Now s|S|It now s|This (?:function|method|class) now s)upports? (?P<n>(?!both|either)[^.]+)$"),
)  # fmt: skip
_STARTS = re.compile(
    r"^(?:(?:It|This (?:function|method|class)) )?(?:[Nn]ow )?(?P<v>[Aa]ccepts?|[Rr]aises?"
    r"|[Rr]eturns?|[Uu]ses?) (?P<r>an? .+|the .+|all .+|any .+|None.*)$"
)
_GERUND = {"accept": "accepting", "raise": "raising", "return": "returning", "use": "using"}


def change(said: str) -> tuple[str, str] | None:
    """(``gained``, what) or (``started``, doing what) for the text of a change note; None when it is another change."""
    text = plain(said.split(". ")[0])
    for pattern in _GAINS:
        if match := pattern.match(text):
            groups = match.groupdict()
            if groups.get("p"):
                return "gained", "the " + groups["p"]
            if groups.get("n"):
                return "gained", f"support for {groups['n']}"
            words = groups["s"]
            return "gained", words[0].lower() + words[1:]
    if match := _STARTS.match(text):
        verb = match["v"].lower().removesuffix("s")
        return "started", f"{_GERUND[verb]} {match['r']}"
    return None


def defaults(signature: str) -> dict[str, str]:
    """Parameters of a signature with defaults worth asking for: no None, truth value, zero, one or empty thing."""
    _, bracket, inside = signature.partition("(")
    if not bracket or not inside.endswith(")") or "[" in inside:
        return {}
    parts, depth, quote, last = [], 0, "", 0
    for i, c in enumerate(inside[:-1]):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(inside[last:i])
            last = i + 1
    parts.append(inside[last:-1])
    found = {}
    for part in parts:
        name, equals, value = part.partition("=")
        name, value = name.split(":")[0].strip(" *"), value.strip()
        if equals and re.fullmatch(r"[A-Za-z_]\w+", name) and _worthy(value):
            found[name] = value
    return found


def _worthy(value: str) -> bool:
    if value in (
        "None",
        "True",
        "False",
        "0",
        "1",
        "-1",
        "...",
        "''",
        '""',
        "()",
        "[]",
        "{}",
        "b''",
        "<unrepresentable>",
    ):
        return False
    return bool(re.fullmatch(r"-?\d+(?:\.\d+)?|'[^']{2,30}'|\"[^\"]{2,30}\"|[A-Za-z_][\w.]{2,40}", value))


def _alike(left: str, right: str) -> bool:
    a, b = set(content_words(left)), set(content_words(right))
    return bool(a & b - {"parameter", "argument", "support", "attribute", "method", "option"})
