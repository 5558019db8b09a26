"""Documents as a graph for the general grammar of shapes: things that pages define, and the values stated of them.

What a question may name or ask for is called as :class:`synth.tasks.docs.wording.Words` says; whatever has no name of
its own stays in the graph all the same, where it counts against uniqueness.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synth.graph.graph import Graph
from synth.lexicon.model import EntityTypeEntry, Lexicon
from synth.lexicon.reading import document_words
from synth.schemas.arrow import arrow_schema
from synth.schemas.documents import Edge, Entity, ValueKind
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Hop, Node
from synth.sources.facts.words import RelationShape, derive_relation, plural_of
from synth.tasks.contract import CheckConfig, Checked, Failed
from synth.tasks.docs.checks import Judge
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.families import Items, is_answer, is_of_a_part, is_value
from synth.tasks.docs.labels import is_plural, verb_of
from synth.tasks.docs.wording import Words
from synth.tasks.draft import Draft
from synth.tasks.graph_checks import check_no_shortcut, check_unique_answer
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.view import WorldView
from synth.tasks.world.words import Words as GraphWords
from synth.text.inflection import imperative
from synth.text.subjects import is_identifier
from synth.text.verbs import THIRD_PERSON, VERBS

__all__ = ["Shapes"]

PAGE = "page"
_IN = "part_of"
_SHAPES = {
    "composition": 0.25,
    "conjunction": 0.3,
    "comparison": 0.15,
    "superlative": 0.1,
    "count": 0.02,
    "intersection": 0.15,
}
_CONFIG: dict[str, Any] = {
    "shapes": _SHAPES,
    "obfuscation": {0: 1.0},
    "described": 0.0,
    "hops": {1: 0.85, 2: 0.15},
    "constraints": {2: 1.0},
    "members": (2, 6),
    "value_answers": 0.85,
    "value_sets": True,
    "hub_gold": False,
    "registers": ("plain", "what", "name", "indirect", "polite", "restrictive", "compare"),
    "checks": CheckConfig(entries=True, strict_chain=False, shortcut_rank=0),
}
_PLAIN = re.compile(r"(?![.:])[\w.:/%+#$~-]{1,32}(?: [\w.%]{1,12})?")
"""Values that a condition may name; in front of a stop no blank would stay."""
_SIGNS = re.compile(r"[\W_]+")
_MEASURED = ("comparison", "superlative")
_SAYS = re.compile(rf"(?:is|are|was|were|have|defaults?|{'|'.join(sorted(VERBS | THIRD_PERSON))})\b")
_MEMBERS = re.compile(r"[\w+ -]{2,40}? that (?=(?:default|have|are|were)\b)")
_LAST_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_CHECKS = (check_unique_answer, check_no_shortcut)


class _View(WorldView):
    """Things by the names that tell them apart: "the --size option of git-log"."""

    def __init__(self, corpus: Corpus, called: Sequence[str | None], *args: Any) -> None:
        super().__init__(*args)
        self._called = called
        self._rows = np.array([entity.document for entity in corpus.entities], dtype=np.int64)
        self._names = np.array([entity.name for entity in corpus.entities])
        self._near = corpus.near
        self._named = np.array([name is not None for name in called], dtype=np.bool_)

    @cached_property
    def _plain(self) -> NDArray[np.bool_]:
        """(n_nodes,) all but values that no condition can be made of: whole phrases, lists."""
        values = range(self.graph.n_entities, self.graph.n_nodes)
        plain = [_PLAIN.fullmatch(self.graph.value(node)[1]) is not None for node in values]
        return np.concatenate([np.ones(self.graph.n_entities, dtype=np.bool_), np.array(plain, dtype=np.bool_)])

    def spoken(self, node: int) -> str:
        if self.graph.is_value(node):
            return self.graph.value(node)[1]
        return self._called[node] or str(self._entities["name"][node].as_py())

    def own(self, split: Split) -> NDArray[np.bool_]:
        return super().own(split) & self._named

    def sources(self, split: Split) -> NDArray[np.bool_]:
        return super().sources(split) & self._plain

    def constraints(self) -> NDArray[np.bool_]:
        return self._plain

    def alike(self, members: NDArray[Any], first: int) -> NDArray[Any]:
        """Those of its page, of pages that link to it or that it links to, and those that go by the same name."""
        near = np.array([row in self._near[int(self._rows[first])] for row in self._rows[members].tolist()])
        return np.asarray(members[near | (self._names[members] == self._names[first])])


class Shapes:
    """Questions of every shape over the things of a corpus.

    Args:
        fractions: how many of the candidates each split gets.
    """

    def __init__(self, corpus: Corpus, words: Words, items: Items, judge: Judge, stage: str) -> None:
        self._judge, self._words, self._row_of = judge, words, corpus.row_of
        self._foregone = items.foregone
        self._ordinal = {entity.id: entity.ordinal for entity in corpus.entities}
        edges = _of_one_form(list(_edges(corpus, items)))
        called = [_called(corpus, words, entity.ordinal) for entity in corpus.entities]
        self.sizes = Counter(
            corpus.columns.partitions[edge.document]
            for edge in edges
            if edge.relation != _IN
            and called[edge.subject] is not None
            and (edge.object < 0 or (called[edge.object] is not None and not corpus.is_page(edge.object)))
            and edge.document not in corpus.hubs
        )
        """Facts of things with names, by split."""
        self._proposer: WorldProposer | None = None
        if not self.sizes:
            return
        words_of_graph = GraphWords(_lexicon(corpus, words, edges))
        tables = (
            pa.Table.from_pylist(_entities(corpus), schema=arrow_schema(Entity)),
            corpus.documents.arrow,
            pa.Table.from_pylist([edge.model_dump() for edge in edges], schema=arrow_schema(Edge)),
        )
        fractions: dict[str, float] = {split: size / self.sizes.total() for split, size in sorted(self.sizes.items())}
        self._config = WorldTasksConfig(fractions=fractions, **_CONFIG)
        graph = Graph.build(tables[0], tables[2], words_of_graph.inverses)
        view = _View(corpus, called, graph, *tables, self._config, words_of_graph)
        self._proposer = WorldProposer(
            graph, *tables, None, self._config, words_of_graph, stage=stage, view=view, check=self._checked
        )

    def propose(self, index: int, seed: int) -> Checked | Rejection:
        """Candidate ``index``, or why there is none.

        Raises:
            ValueError: ``sizes`` is empty.
        """
        if self._proposer is None:
            raise ValueError("the documents state nothing that a question can ask for")
        return self._proposer.propose([index], seed)[0]

    def _said_once(self, draft: Draft) -> str:
        """The question, in which things of one page that stand side by side share its name: "the A or the B of X"."""
        question = draft.question
        pages = {hop.source.document_id for hop in draft.walk.hops if hop.source.document_id is not None}
        for place in sorted({self._words.place(self._row_of[page]) for page in pages} - {""}):
            *before, last = question.split(f" {place}")
            question = f"{''.join(before)} {place}{last}" if len(before) > 1 else question
        return question if all(hop.cue in question for hop in draft.walk.hops) else draft.question

    def _with_place(self, draft: Draft) -> Draft:
        """Where a page is one of two conditions, the question says it with the thing: "Which option in “X” defaults
        to 5?" """
        places = {hop.cue: hop for hop in draft.walk.hops if hop.relation == _IN and hop.source.document_id is not None}
        said = [cue for cue in dict.fromkeys(hop.cue for hop in draft.walk.hops) if cue not in places]
        bare = _MEMBERS.sub("", said[0]) if len(said) == 1 else ""  # "parameters that default to 5"
        if len(places) != 1 or _SAYS.match(bare) is None:
            return draft
        (cue, hop), page = places.popitem(), ""
        page = self._words.place(self._row_of[hop.source.document_id or ""])
        noun = self._words.noun(self._ordinal[hop.target.id]) or ""
        opens = re.match(
            rf"(?:.*?\b(?:which|the name of the)) (?:of the )?(?:{_plural(noun)}|{noun})\b", draft.question, re.I
        )
        if opens is None or not page or not noun:
            return draft
        that = " that" if opens.group().endswith(f"name of the {noun}") else ""
        cues = {cue: page, said[0]: bare}
        hops = tuple(hop.model_copy(update={"cue": cues.get(hop.cue, hop.cue)}) for hop in draft.walk.hops)
        walk = draft.walk.model_copy(update={"hops": hops})
        return draft.model_copy(update={"question": f"{opens.group()} {page}{that} {bare}?", "walk": walk})

    def _is_foregone(self, hop: Hop) -> bool:
        return (self._ordinal.get(hop.source.id, -1), hop.relation) in self._foregone

    def _checked(self, drafts: Sequence[Draft]) -> list[Checked | Failed]:
        return [self._one(draft) for draft in drafts]

    def _one(self, draft: Draft) -> Checked | Failed:
        """The checks that ask the graph, and behind them those that read the documents themselves."""
        assert self._proposer is not None
        results: list[CheckResult] = []
        sets = ("intersection", "count")
        if draft.shape in ("composition", "conjunction", *sets) and any(
            _is_switch(hop.source) for hop in draft.walk.hops
        ):
            plain = CheckResult(check="telling", outcome="failed", detail="a bare yes or no does not identify anything")
            return Failed(draft, (plain,), Reason.UNNATURAL)
        if all(hop.relation == _IN for hop in draft.walk.hops):
            bare = CheckResult(check="telling", outcome="failed", detail="asks for no more than what a page explains")
            return Failed(draft, (bare,), Reason.UNNATURAL)
        if draft.shape == "composition" and any(self._is_foregone(hop) for hop in draft.walk.hops):
            guess = CheckResult(
                check="telling", outcome="failed", detail="nearly all things of its page have the value"
            )
            return Failed(draft, (guess,), Reason.UNNATURAL)
        found = [(_SIGNS.sub("", hop.target.name).casefold(), hop.target.id) for hop in draft.walk.hops]
        if draft.shape in sets and len({name for name, _ in found}) < len({ident for _, ident in found}):
            same = CheckResult(check="alike", outcome="failed", detail="two of them have one name")
            return Failed(draft, (same,), Reason.NOT_UNIQUE)
        for check in _CHECKS:
            finding = check(draft, self._proposer.surroundings, self._config.checks)
            results.append(finding.result)
            if finding.reason is not None:
                return Failed(draft, tuple(results), finding.reason)
        hops = draft.walk.hops
        unset = any(hop.target.name.startswith("-") for hop in hops)  # "-1" means that there is no limit
        if draft.shape in _MEASURED and (unset or len({_measure_of(hop.source.name) for hop in hops}) > 1):
            unlike = CheckResult(check="alike", outcome="failed", detail="values of things that have little in common")
            return Failed(draft, (*results, unlike), Reason.UNNATURAL)
        names = [hop.source.name for hop in hops]
        if draft.shape in _MEASURED and len(set(names)) < len(names):
            alike = CheckResult(
                check="alike", outcome="failed", detail="the answer is the name of two of those compared"
            )
            return Failed(draft, (*results, alike), Reason.NOT_UNIQUE)
        draft = self._with_place(draft)
        draft = draft.model_copy(update={"question": self._said_once(draft)})
        read, reason = self._judge.read(draft)
        results += read
        return Checked(draft, tuple(results)) if reason is None else Failed(draft, tuple(results), reason)


_SWITCHES = frozenset("true false yes no on off none null nil 0 1 enabled disabled default empty".split())


def _is_switch(node: Node) -> bool:
    """Whether it is a value that says no more than yes or no."""
    return node.document_id is None and node.name.strip("'\"“”").casefold() in _SWITCHES


def _measure_of(name: str) -> str:
    """What a thing with a number is a number of, by the last word of its name: ``maxBodyBytes`` of bytes."""
    words: list[str] = _LAST_WORD.findall(name)
    return words[-1].lower() if words else name


def _edges(corpus: Corpus, items: Items) -> Iterator[Edge]:
    """Every fact of the relations that a question can be made of, and on which page each thing stands."""
    for edge in corpus.edges:
        if edge.relation == _IN:
            wanted = corpus.is_page(edge.object)
        else:
            wanted = edge.relation in items.asked and (edge.value is None or (is_answer(edge.value) and is_value(edge)))
            wanted = wanted and not is_of_a_part(corpus, edge) and not _is_of_a_text(corpus, edge)
        if wanted:
            # What is written like a number need not be one: "2.10" comes after "2.9".
            kind = "text" if edge.relation == "since" else edge.value_kind
            yield edge if kind == edge.value_kind else edge.model_copy(update={"value_kind": kind})


def _is_of_a_text(corpus: Corpus, edge: Edge) -> bool:
    """Whether a version is that of a page about no single thing: "New in version 1.10" below "Coverages"."""
    found = corpus.entities[edge.subject]
    page = corpus.is_page(edge.subject) and found.kind == PAGE
    return edge.relation == "since" and page and not is_identifier(found.name)


def _of_one_form(edges: Sequence[Edge]) -> list[Edge]:
    """Without the facts of a relation that has things as its objects elsewhere, or values: a field "Returns: int" of a
    manual whose sentences say which class is returned. What is rarer goes."""
    forms: dict[str, Counter[bool]] = defaultdict(Counter)
    for edge in edges:
        forms[edge.relation][edge.object >= 0] += 1
    return [edge for edge in edges if forms[edge.relation].most_common(1)[0][0] is (edge.object >= 0)]


def _called(corpus: Corpus, words: Words, entity: int) -> str | None:
    """What a question calls the thing; None where it must neither start from it nor ask for it."""
    if corpus.entities[entity].document not in corpus.asked:
        return None
    if corpus.is_page(entity):
        return words.page(corpus.entities[entity].document) or None
    return words.name(entity) if words.noun(entity) not in (None, "term") else None


def _entities(corpus: Corpus) -> list[dict[str, Any]]:
    """The entities as the graph has them: pages are sources alone."""
    return [{**entity.model_dump(), "kind": _kind(corpus, entity.ordinal)} for entity in corpus.entities]


def _lexicon(corpus: Corpus, words: Words, edges: Sequence[Edge]) -> Lexicon:
    known = document_words().relations
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    targets: dict[str, Counter[str]] = defaultdict(Counter)
    values: dict[str, Counter[ValueKind]] = defaultdict(Counter)
    several = set()
    seen = set()
    for edge in edges:
        kinds[edge.relation][_kind(corpus, edge.subject)] += 1
        values[edge.relation][edge.value_kind] += 1
        if edge.object >= 0:
            targets[edge.relation][_kind(corpus, edge.object)] += 1
        if (edge.subject, edge.relation) in seen:
            several.add(edge.relation)
        seen.add((edge.subject, edge.relation))
    relations = {}
    for name, found in sorted(kinds.items()):
        value = max(values[name], key=lambda kind: (values[name][kind], kind))
        entry = derive_relation(
            RelationShape(
                name.replace("_", " "),
                subject=tuple(sorted(found)),
                object=tuple(sorted(targets[name])),
                value=value,
                functional=name not in several,
            )
        )
        if name in known:
            changes: dict[str, Any] = {"question": known[name].question, "in_size": known[name].in_size}
        else:
            label = name.replace("_", " ")
            verb = verb_of(label)
            several_of = is_plural(label) or verb is not None
            told = {"asks": words.asks(name, "{x}"), "object_is": () if several_of else (f"the {label} of {{x}}",)}
            if not targets[name]:  # nobody says "has A and B as its arguments"
                has = () if several_of else (f"has | _ as its {label}", f"has {label} |")
                finite, _, to = label.partition(" ")
                told["subject_does"] = (f"{finite}~{imperative(finite)} | {to}".strip(),) if verb else has
            changes = {"question": entry.question.model_copy(update=told)}
        relations[name] = entry.model_copy(update=changes)
    nouns = {_kind(corpus, entity.ordinal): words.noun(entity.ordinal) for entity in corpus.entities}
    types = {kind: EntityTypeEntry(noun=noun or kind, plural=_plural(noun or kind)) for kind, noun in nouns.items()}
    types[PAGE] = EntityTypeEntry(noun=PAGE, plural="pages", hub=True)
    return Lexicon(types=types, relations=relations)


def _plural(noun: str) -> str:
    return plural_of(noun) if noun.isascii() else noun


def _kind(corpus: Corpus, entity: int) -> str:
    return PAGE if corpus.is_page(entity) else corpus.entities[entity].kind
