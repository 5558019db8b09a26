"""Questions over real documents, asked again as far as facts and pages can answer.

Which value a thing has follows from the facts. A description is compared with every other; a sentence with a gap is
filled in and read on its page again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from synth.dataset.audit.facts import Facts, Key, key_of, text_of
from synth.schemas.tasks import Hop, Task

__all__ = ["Documentation"]

_GAP = "____"
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
        self._texts: dict[str, str] = {}
        self._told: dict[str, set[Key]] | None = None

    # -- what it must read -------------------------------------------------------------------------------------------

    def pages(self, task: Task) -> set[str]:
        """Ids of the documents whose words decide about the task."""
        return {hop.evidence.document_id for hop in task.walk.hops if _GAP in hop.source.name}

    def read(self, document_id: str, text: str) -> None:
        """The text of a document that ``pages`` named."""
        self._texts[document_id] = " ".join(text.split())

    def forget(self) -> None:
        """Let the words of all pages go."""
        self._texts.clear()

    # -- what it says ------------------------------------------------------------------------------------------------

    def judge(self, task: Task) -> list[tuple[str, str]]:
        """(rule, what is wrong), ..."""
        problems: list[tuple[str, str]] = []
        for number, hop in enumerate(task.walk.hops):
            if _GAP in hop.source.name:
                found = self._gap(hop)
            elif hop.needs and hop.relation == "part_of" and not hop.forward:
                found = self._part(hop)
            elif hop.source.kind == "description":
                found = self._sentence(hop) if hop.relation == "states" else self._description(task, hop)
            else:
                found = self._fact(hop)
            problems += [("unique", f"hop {number}: {what}") for what in found]
        spans = {(hop.evidence.document_id, hop.evidence.end) for hop in task.walk.hops}
        if len(spans) < len(task.walk.hops):
            problems.append(("shortcut", "one sentence states everything"))
        return problems

    def _fact(self, hop: Hop) -> Iterable[str]:
        found = set(self._facts.step(key_of(hop.source), hop.relation, hop.forward))
        if found != {key_of(hop.target)}:
            yield f"{hop.relation} leads to {self._named(found - {key_of(hop.target)})} as well"

    def _part(self, hop: Hop) -> Iterable[str]:
        """No other part of the page is said to do the same."""
        wanted, told = _words(hop.cue), self._descriptions()
        fits = set.intersection(*(told.get(word, set()) for word in wanted)) if wanted else set()
        page = hop.source.document_id
        others = {key for key in fits if self._page(key) == page and key != key_of(hop.target)}
        if others:
            yield f"{hop.cue!r} is said of {self._named(others)} too"

    def _gap(self, hop: Hop) -> Iterable[str]:
        """The sentence, filled in, is what the page says, and it says nothing else around the same gap."""
        before, _, after = hop.source.name.partition(_GAP)
        filled = " ".join(hop.evidence.quote.split())
        inside = filled[len(before) : len(filled) - len(after)]
        names = {hop.target.name, *hop.target.aliases}
        if not (filled.startswith(before) and filled.endswith(after)) or inside.removesuffix("()") not in {
            name.removesuffix("()") for name in names
        }:
            yield f"{filled[:60]!r} is not the sentence filled in with {hop.target.name!r}"
        around = re.compile(f"{re.escape(before)}([^.]{{1,80}}?){re.escape(after)}")
        fills = {match[1].strip() for match in around.finditer(self._texts.get(hop.evidence.document_id, ""))}
        others = sorted(fill for fill in fills if inside.casefold() not in fill.casefold())
        if others:
            yield f"the page fills the same gap with {others[0]!r}"

    def _sentence(self, hop: Hop) -> Iterable[str]:
        """The sentence says what the question says of the thing, but for what kind of thing it is: that is a fact."""
        if not _words(hop.cue) <= _words(hop.evidence.quote) | _words(self._facts.kind(key_of(hop.target))):
            yield f"{hop.evidence.quote[:60]!r} does not say {hop.cue[:60]!r}"

    def _description(self, task: Task, hop: Hop) -> Iterable[str]:
        """Something else is said to be all that the description says: on the page that the question names, or
        anywhere; of what has a part that does it, on another page."""
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
        goal, facts = key_of(hop.target), self._facts
        page = self._page(goal)
        scoped = page is not None and self._says_page(task, page)
        if hop.relation == "part_of":
            others = {key for key in fits or () if self._page(key) != page}
        else:
            others = {
                key
                for key in fits or ()
                if key != goal
                and facts.kind(key) == facts.kind(goal)
                and facts.name(key) != facts.name(goal)
                and not (scoped and self._page(key) != page)
            }
        if others:
            yield f"{hop.source.name!r} is said of {self._named(others)} too"

    def _page(self, key: Key) -> str | None:
        entity = self._facts.entity(key)
        return None if entity is None else entity.document_id

    def _says_page(self, task: Task, page: str) -> bool:
        """Whether the question names the page, or what the page is about."""
        whole = self._facts.entity(page)
        names = () if whole is None else (whole.name, *whole.aliases)
        return " in “" in task.question or any(
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", task.question) for name in names
        )

    def _descriptions(self) -> dict[str, set[Key]]:
        """Word -> things that one of their descriptions uses it of. Made once."""
        if self._told is None:
            self._told = defaultdict(set)
            for relation in _DESCRIBED:
                for thing in self._facts.starts(relation):
                    for text in self._facts.step(thing, relation, True):
                        for word in _words(text_of(text)):
                            self._told[word].add(thing)
        return self._told

    def _named(self, keys: Iterable[Key]) -> str:
        shown = sorted(self._facts.name(key) for key in keys)
        return ", ".join(shown[:5]) + (" and more" if len(shown) > 5 else "") if shown else "nothing"


def _words(text: str) -> set[str]:
    """Words that say something, without the ending that a verb or a plural has: "performed" and "performs" say the
    same, as "verify" and "verifies" do."""
    words = re.findall(r"\w+", text.casefold())
    return {_bare(word) for word in words if word not in _SMALL and len(word) > 1}


def _bare(word: str) -> str:
    if re.fullmatch(r"\w{2,}ie[sd]", word):
        return f"{word[:-3]}y"
    if re.fullmatch(r"[a-z]{3,}ed", word):
        return re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", word[:-2])
    return word.removesuffix("s").removesuffix("e") if len(word) > 3 else word.removesuffix("s")
