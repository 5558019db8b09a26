"""The checks of a question over documents. All fail closed: what can't be asked is not a pass.

They stand in for those of :mod:`synth.tasks.checks`, which ask a complete graph of facts; documentation has none, so
here the texts themselves are asked as well: a sentence that nobody read as a fact counts against uniqueness too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from synth.schemas.documents import DISTRACTOR
from synth.schemas.rejections import Reason
from synth.schemas.tasks import CheckResult, Hop
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.leaks import spells_out
from synth.tasks.docs.sentences import Sentences
from synth.tasks.draft import Draft
from synth.tasks.text import mentions, value_forms
from synth.text.numbers import NUMERALS
from synth.text.words import FUNCTION_WORDS, tokens

__all__ = ["Failure", "Judge"]

Search = Callable[[str, int], Sequence[int]]
_VALUES = frozenset(("text", "number", "date", "year", "quantity"))
_STATED = {"since": "version"}
"""Relation -> the word that any sentence has which states it, where that is not its name."""
_PLACED = ("told/", "placed/")
"""Questions that name their page, whatever they call it."""
_SAME_WORDS = 0.9
"""Share of the words of a condition in another sentence from which that says the same."""


@dataclass(frozen=True)
class Failure:
    reason: Reason
    detail: str


class Judge:
    """Runs the checks over one corpus and one search.

    Args:
        k: a hop is retrievable when its page is among this many best results.
        overlap: another sentence that holds this share of a description's words says the same.
    """

    def __init__(self, corpus: Corpus, search: Search | None, *, k: int, overlap: float) -> None:
        self._corpus = corpus
        self._search = search
        self._k = k
        self._overlap = overlap
        texts = [
            "" if kind in ("index", DISTRACTOR) else corpus.text(row) for row, kind in enumerate(corpus.columns.kinds)
        ]
        self._sentences = Sentences(texts)

    def rival(
        self,
        words: str,
        own: tuple[int, int, int],
        names: Sequence[str],
        *,
        within: int | None = None,
        outside: int | None = None,
        share: float | None = None,
    ) -> str | None:
        """A sentence that says the words of something else (:meth:`Sentences.rival`)."""
        share = share or self._overlap
        return self._sentences.rival(words, [own], names, share=share, within=within, outside=outside)

    def run(self, draft: Draft) -> tuple[CheckResult, ...] | Failure:
        """All results, or the first failure."""
        results = []
        for name, check in (
            ("answer_not_in_question", self._answer_hidden),
            ("split", self._split),
            ("evidence", self._evidence),
            ("unique_answer", self._unique),
            ("no_shortcut", self._no_shortcut),
            ("retrievable", self._retrievable),
        ):
            outcome = check(draft)
            if isinstance(outcome, Failure):
                return Failure(outcome.reason, f"{name}: {outcome.detail}")
            results.append(CheckResult(check=name, outcome="passed", detail=outcome))
        return tuple(results)

    def read(self, draft: Draft) -> tuple[list[CheckResult], Reason | None]:
        """What the documents say of a draft that the graph has proven; the first failure ends it."""
        results: list[CheckResult] = []
        for name, check in (
            ("answer_not_in_question", self._answer_hidden),
            ("split", self._split),
            ("evidence", self._evidence),
            ("no_rival", self._no_rival),
            ("one_passage", self._no_shortcut),
            ("retrievable", self._retrievable),
        ):
            outcome = check(draft)
            if isinstance(outcome, Failure):
                return [*results, CheckResult(check=name, outcome="failed", detail=outcome.detail)], outcome.reason
            results.append(CheckResult(check=name, outcome="passed", detail=outcome))
        return results, None

    # Nothing that is sought stands in the question.

    def _answer_hidden(self, draft: Draft) -> str | Failure:
        question = draft.question
        if any(op.kind == "count" for op in draft.walk.operations) and mentions(
            question, [draft.answer, *draft.answer_aliases]
        ):
            return Failure(Reason.ANSWER_IN_QUESTION, f"the question holds {draft.answer!r}")
        for hop in draft.walk.hops:
            node = hop.target
            if node.kind in _VALUES and node.document_id is None:
                forms = [*value_forms(node.id, draft.answer_kind, node.name), *node.aliases]
                forms += NUMERALS[int(node.id) : int(node.id) + 1] if node.id.isdecimal() else ()
            else:
                forms = [f for f in (node.name, *node.aliases) if len(f) > 1]
                if spells_out(hop.cue, node.name):
                    return Failure(Reason.ANSWER_IN_QUESTION, f"the question spells {node.name!r} out")
            if found := mentions(question, [form for form in forms if _telling(form)]):
                return Failure(Reason.ANSWER_IN_QUESTION, f"the question holds {found!r}")
        return ""

    # One split owns the gold.

    def _split(self, draft: Draft) -> str | Failure:
        corpus = self._corpus
        exempt = 0
        pages = set(draft.gold_documents) | {h.target.document_id for h in draft.walk.hops if h.target.document_id}
        for name in sorted(pages):
            row = corpus.row_of.get(name)
            if row is None:
                return Failure(Reason.SPLIT_CONFLICT, f"there is no document {name!r}")
            if row in corpus.hubs:
                exempt += 1
            elif corpus.columns.partitions[row] != draft.split:
                return Failure(Reason.SPLIT_CONFLICT, f"{name!r} belongs to {corpus.columns.partitions[row]}")
        return f"{exempt} hubs exempt" if exempt else ""

    # The evidence is read again.

    def _evidence(self, draft: Draft) -> str | Failure:
        for number, hop in enumerate(draft.walk.hops):
            evidence = hop.evidence
            row = self._corpus.row_of.get(evidence.document_id)
            if row is None:
                return Failure(Reason.EVIDENCE_DOES_NOT_STATE, f"hop {number}: no document {evidence.document_id!r}")
            text = self._corpus.text(row)
            if not evidence.quote.strip() or text[evidence.start : evidence.end] != evidence.quote:
                return Failure(Reason.EVIDENCE_DOES_NOT_STATE, f"hop {number}: the quote is not what stands there")
            if not self._states(hop, row):
                return Failure(Reason.EVIDENCE_DOES_NOT_STATE, f"hop {number}: the quote does not state {hop.relation}")
        return f"{len(draft.walk.hops)} spans"

    def _states(self, hop: Hop, row: int) -> bool:
        evidence = hop.evidence
        far = hop.target
        if far.kind in _VALUES and far.document_id is None:
            return far.id in evidence.quote or bool(mentions(evidence.quote, (far.id, far.name)))
        if mentions(evidence.quote, (far.name, *far.aliases)) or far.name in evidence.quote:
            return True
        if far.document_id == evidence.document_id:
            return True  # said on its page, under its own term, heading or title
        links = self._corpus.document(row).links
        return any(
            evidence.start <= link.start and link.end <= evidence.end and link.target == far.document_id
            for link in links
        )

    # One answer.

    def _unique(self, draft: Draft) -> str | Failure:
        """No other sentence says what the question says of what is sought. A description was compared when the question
        chose whether to name the page, and every fact of a thing and relation is known to lead to one end."""
        corpus = self._corpus
        for number, hop in enumerate(draft.walk.hops):
            if hop.relation != "states":
                continue
            row = corpus.row_of[hop.evidence.document_id]
            own = (row, hop.evidence.start, hop.evidence.end)
            said = draft.surface.startswith(_PLACED) or f"“{corpus.columns.titles[row]}”" in draft.question
            within = row if said else None
            if (rival := self.rival(hop.cue.replace("____", " "), own, (hop.target.name,), within=within)) is not None:
                return Failure(Reason.NOT_UNIQUE, f"hop {number}: another sentence says the same: {rival!r}")
        return "every sentence of the documents was compared"

    def _no_rival(self, draft: Draft) -> str | Failure:
        """What is sought by a value that it has: no sentence says the same of anything else, whether or not it was read
        as a fact."""
        hops = draft.walk.hops
        within = next((self._corpus.row_of[h.evidence.document_id] for h in hops if _on_page(h)), None)
        sought = [hop for hop in hops if hop.source.kind in _VALUES]
        own = [(self._corpus.row_of[h.evidence.document_id], h.evidence.start, h.evidence.end) for h in sought]
        names = [name for hop in sought for name in (hop.target.name, *hop.target.aliases)]
        for cue in dict.fromkeys(f"{_STATED.get(h.relation, h.relation)} {h.source.name}" for h in sought):
            rival = self._sentences.rival(cue, own, names, share=_SAME_WORDS, within=within)
            if rival is not None:
                return Failure(Reason.NOT_UNIQUE, f"another sentence says {cue!r}: {rival!r}")
        return f"{len(sought)} values looked for"

    # No part of the question is enough.

    def _no_shortcut(self, draft: Draft) -> str | Failure:
        hops = draft.walk.hops if draft.shape == "composition" else ()
        spans = {(hop.evidence.document_id, hop.evidence.end) for hop in hops}  # it may begin with the thing's name
        if len(spans) < len(hops):
            return Failure(Reason.SHORTCUT, "one sentence states everything")
        if len(hops) > 1 and mentions(hops[0].evidence.quote, (draft.answer, *draft.answer_aliases)):
            return Failure(Reason.SHORTCUT, "an earlier hop's evidence names the answer")
        return "every hop is stated in a place of its own"

    # Search finds every page with what is known at that hop.

    def _retrievable(self, draft: Draft) -> str | Failure:
        if self._search is None:
            return Failure(Reason.NOT_RETRIEVABLE, "no search to ask")
        ranks = []
        for number, hop in enumerate(draft.walk.hops):
            wanted = self._corpus.row_of[hop.evidence.document_id]
            if any(
                _on_page(other) and other.evidence.document_id == hop.evidence.document_id for other in draft.walk.hops
            ):
                ranks.append(1)  # the question names the page
                continue
            described = hop.source.kind == "description"
            queries = [hop.cue] if described else [f"{hop.source.name} {hop.cue}"]
            queries += [] if described or hop.source.kind in _VALUES else [hop.source.name]
            if draft.surface.startswith(_PLACED):
                queries.append(f"{self._corpus.columns.titles[wanted]} {hop.cue}")  # the question names the page
            best = 0
            for query in queries:
                found = list(self._search(query, self._k))
                if wanted in found:
                    best = found.index(wanted) + 1
                    break
            if not best and hop.needs and hop.evidence.document_id in draft.gold_documents[:1]:
                best = 1  # it is the page that the hop before has opened
            if not best:
                return Failure(Reason.NOT_RETRIEVABLE, f"hop {number}: {queries[0]!r} does not find its page")
            ranks.append(best)
        return f"ranks {ranks}"


def _on_page(hop: Hop) -> bool:
    """Whether the hop leads from a page that the question names to what stands on it."""
    return hop.relation == "part_of" and not hop.forward and hop.source.document_id is not None


def _telling(form: str) -> bool:
    """Whether standing in a question means anything: a bare function word or letter does not."""
    words = tokens(form)
    return bool(words) and not (len(words) == 1 and (words[0] in FUNCTION_WORDS or len(words[0]) < 2))
