"""Questions over real documents, asked again as far as facts and pages can answer.

A relation of such a question is a reading of a page: "mentioned on the page", "the only function that the entry names".
What follows from facts (``see_also``, ``defined_in``, versions, files), from the words of whole pages (``named_on``)
and from their lines about columns (``references``) is worked out here; what hangs on where an entry of a page begins
and ends, which no table of the dataset tells, is left undecided and counted as such.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from synth.dataset.audit.facts import VALUE_KINDS, Facts, Key, key_of, text_of
from synth.schemas.tasks import Hop, Task

__all__ = ["Documentation"]

_SAME = {"see_also_of": "see_also", "seen_also_from": "see_also"}
_PARTLY = {"added_in": "added_partly", "deprecated_since": "deprecated_partly"}
"""A note that a part of the thing changed may be meant as well: it makes rivals, never answers."""
_CONDITIONAL = frozenset(("raises", "refers_for"))
"""Relations of which a thing has several, told apart by a condition in the sentence."""
_COLUMN = re.compile(r"^(\w+) [^()\n]*\(references ", re.MULTILINE)
_NAMED = frozenset(("named_on", "see_also_of", "row_of"))
"""Relations of which a page speaks by naming things, whether or not the collection explains them."""
_LIKE: dict[str, str] = {
    **dict.fromkeys(("function", "coroutine", "decorator", "C function"), r"[A-Za-z_][\w.]*(?=\(\))"),
    **dict.fromkeys(("class", "exception"), r"\b[A-Z]+[a-z0-9]+[A-Z]\w*"),
    **dict.fromkeys(("command", "program", "utility"), r"[A-Za-z][\w.+-]*(?=\(\d\w?\))"),
    **dict.fromkeys(("catalog", "view", "configuration parameter"), r"(?<![\w-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b"),
    "environment variable": r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b",
    "command-line option": r"(?<![\w-])--[a-z][\w-]*",
}
"""How a name of a kind is written."""
_DESCRIBED = ("described_as", "subtitle")
_SMALL = frozenset(
    "a an the of in on at by for from to with and or but as is are was were be been that this it its which whose when "
    "where into than module class function method page term exception decorator constant variable attribute object "
    "described titled called has have can may used using use given".split()
)


class Documentation:
    """The facts of a documentation and, page by page, its words."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._by_kind: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for entity in facts.entities():
            self._by_kind[entity.kind].append((entity.id, entity.name.rpartition(".")[2]))
        self._linked: dict[str, set[str]] = defaultdict(set)
        self._words: dict[str, frozenset[str]] = {}
        self._columns: dict[str, Counter[str]] = {}
        self._texts: dict[str, str] = {}
        self._explained = {name.removesuffix("()") for known in self._by_kind.values() for _, name in known}
        self._told: dict[str, set[Key]] | None = None

    # -- what it must read -------------------------------------------------------------------------------------------

    def pages(self, task: Task) -> set[str]:
        """Ids of the documents whose words decide about the task."""
        asked = _NAMED | {"references"}
        return {page for hop in task.walk.hops if hop.relation in asked and (page := hop.source.document_id)}

    def read(self, document_id: str, text: str) -> None:
        """The text of a document that ``pages`` named."""
        self._texts[document_id] = text
        self._words[document_id] = frozenset(re.findall(r"\w+", text))
        self._columns[document_id] = Counter(_COLUMN.findall(text))

    def link(self, document_id: str, target: str) -> None:
        """A fact that stands on a page about an entity, or leads to one."""
        self._linked[document_id].add(target)

    def forget(self) -> None:
        """Let the words of all pages go."""
        self._words.clear()
        self._columns.clear()
        self._texts.clear()

    # -- what it says ------------------------------------------------------------------------------------------------

    def judge(self, task: Task) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """((rule, what is wrong), ...) and rule -> why it can't be judged."""
        problems: list[tuple[str, str]] = []
        unsure: dict[str, str] = {}
        for number, hop in enumerate(task.walk.hops):
            if hop.source.kind == "description" and task.shape != "masked":
                problems += [("unique", f"hop {number}: {what}") for what in self._description(hop)]
        if task.shape == "conjunction" and not task.walk.operations:
            self._conjunction(task, problems, unsure)
        elif task.shape == "composition":
            self._composition(task, problems, unsure)
        else:
            why = f"no rule for questions of shape {task.shape} over documents"
            unsure |= {"unique": why, "shortcut": why}
        return problems, unsure

    def _composition(self, task: Task, problems: list[tuple[str, str]], unsure: dict[str, str]) -> None:
        for number, hop in enumerate(task.walk.hops):
            if hop.source.kind == "description":
                continue
            found = self.candidates(hop)
            if found is None:
                unsure["unique"] = "what an entry or section of a page holds stands in no table"
            elif found != {key_of(hop.target)}:
                others = [key for key in found if key != key_of(hop.target)]
                problems.append(("unique", f"hop {number} ({hop.relation}) leads to {self._named(others)} as well"))
        if len({hop.evidence.document_id for hop in task.walk.hops}) < 2:
            problems.append(("shortcut", "one page states everything"))

    def _conjunction(self, task: Task, problems: list[tuple[str, str]], unsure: dict[str, str]) -> None:
        answer = key_of(task.walk.hops[-1].target)
        sets: list[tuple[int, set[Key]]] = []
        for number, hop in enumerate(task.walk.hops):
            if key_of(hop.target) != answer or hop.source.kind == "description":
                continue
            found = self.candidates(hop)
            if found is None:
                unsure |= dict.fromkeys(
                    ("unique", "shortcut"), "what an entry or section of a page holds stands in no table"
                )
                continue
            sets.append((number, found | self._unexplained(hop)))
        if not sets:
            return
        together = set.intersection(*(found for _, found in sets))
        if answer not in together:
            problems.append(("unique", f"{self._facts.name(answer)} does not satisfy the question"))
        elif len(together) > 1 and "unique" not in unsure:
            problems.append(("unique", f"{self._named(together - {answer})} fits as well"))
        if "shortcut" in unsure:
            return
        for number, _ in sets:
            rest = [found for other, found in sets if other != number]
            if rest and len(set.intersection(*rest)) < 2:
                problems.append(
                    ("shortcut", f"without hop {number} ({task.walk.hops[number].relation}) the answer is the same")
                )

    def candidates(self, hop: Hop) -> set[Key] | None:
        """Everything of the target's kind that the hop fits, from its source; None where that can't be told."""
        facts, source = self._facts, key_of(hop.source)
        relation = _SAME.get(hop.relation, hop.relation)
        if hop.relation == "named_on":
            return self._named_on(hop)
        if relation not in facts.relations:
            return None
        found = set(facts.step(source, relation, hop.forward))
        if not hop.forward and relation in _PARTLY:
            found |= set(facts.step(source, _PARTLY[relation], False))
        if hop.target.kind in VALUE_KINDS and hop.target.document_id is None:
            return found
        kind = facts.kind(key_of(hop.target))
        found = {key for key in found if facts.kind(key) == kind}
        if relation == "references" and hop.forward and len(found) > 1 and self._column(hop):
            return found & {key_of(hop.target)}
        return None if relation in _CONDITIONAL and len(found) > 1 else found

    def _unexplained(self, hop: Hop) -> set[Key]:
        """Names on the source's page that are written like the target's kind and that no entity bears."""
        page = hop.source.document_id
        if hop.relation not in _NAMED or page is None or page not in self._texts:
            return set()
        form = _LIKE.get(self._facts.kind(key_of(hop.target)))
        names = set(re.findall(form, self._texts[page])) if form else set()
        parts = {name.rpartition(".")[2] for name in names}
        return {f"name:{part}" for part in parts if part and part not in self._explained}

    def _column(self, hop: Hop) -> bool:
        """The question names the column of the hop's line, and the page has one such line. (That the line leads to the
        target is what the rule ``stated`` holds.)"""
        column = hop.evidence.quote.split(maxsplit=1)[0]
        page = self._columns.get(hop.evidence.document_id, Counter())
        return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", hop.cue) is not None and page[column] == 1

    def _named_on(self, hop: Hop) -> set[Key] | None:
        """Things of the kind that a page names, linked or not: by the last part of their names, in any sense of it."""
        page = hop.source.document_id
        if page is None or page not in self._words:
            return None
        words, linked = self._words[page], self._linked[page]
        return {
            name
            for name, last in self._by_kind[self._facts.kind(key_of(hop.target))]
            if last in words or name in linked
        }

    def _description(self, hop: Hop) -> Iterable[str]:
        """Something else is said to be all that the description says."""
        wanted = _words(hop.source.name)
        if len(wanted) < 2:
            yield f"{hop.source.name!r} describes nothing"
            return
        told = self._descriptions()
        fits: set[Key] | None = None
        for word in sorted(wanted, key=lambda word: len(told.get(word, ()))):
            held = told.get(word, set())
            fits = set(held) if fits is None else fits & held
            if not fits:
                return
        goal = key_of(hop.target)
        others = {key for key in fits or () if key != goal and self._facts.kind(key) == self._facts.kind(goal)}
        if others:
            yield f"{hop.source.name!r} is said of {self._named(others)} too"

    def _descriptions(self) -> dict[str, set[Key]]:
        """Word -> things that one of their descriptions uses it of. Made once."""
        if self._told is None:
            self._told = defaultdict(set)
            for relation in _DESCRIBED:
                for name in self._facts.starts(relation):
                    for text in self._facts.step(name, relation, True):
                        for word in _words(text_of(text)):
                            self._told[word].add(name)
        return self._told

    def _named(self, keys: Iterable[Key]) -> str:
        shown = sorted(self._facts.name(key) for key in keys)
        return ", ".join(shown[:5]) + (" and more" if len(shown) > 5 else "") if shown else "nothing"


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if word not in _SMALL and len(word) > 1}
