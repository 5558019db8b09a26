"""The checks of a question over documents. All fail closed: what can't be asked is no pass.

They stand in for those of :mod:`synth.tasks.checks`, which ask a complete graph of facts; documentation has none, so
here the texts themselves are asked as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from synth.schemas.rejections import Reason
from synth.schemas.tasks import CheckResult, Hop
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.describe import FRAMES, Descriptions, leaks, spells_out, stems
from synth.tasks.draft import Draft
from synth.tasks.text import mentions, value_forms
from synth.text.sentences import sentences
from synth.text.words import FUNCTION_WORDS, content_words, tokens

__all__ = ["Failure", "Judge"]

Search = Callable[[str, int], Sequence[int]]
_VALUES = frozenset(("text", "number", "date", "year", "quantity"))


@dataclass(frozen=True)
class Failure:
    reason: Reason
    detail: str


class Judge:
    """Runs the checks over one corpus and one search.

    Args:
        k: a hop is retrievable when its page is among this many best results.
        overlap: a sentence of another page that holds this share of a description's words fits it as well.
    """

    def __init__(
        self, corpus: Corpus, descriptions: Descriptions, search: Search | None, *, k: int, overlap: float
    ) -> None:
        self._corpus = corpus
        self._descriptions = descriptions
        self._search = search
        self._k = k
        self._overlap = overlap
        self._rows = {name: row for row, name in enumerate(corpus.columns.ids)}
        self._sentences: dict[int, list[tuple[frozenset[str], str]]] = {}

    def run(self, draft: Draft) -> tuple[CheckResult, ...] | Failure:
        """All results, or the first failure."""
        results = []
        for name, check in (
            ("answer_not_in_question", self._answer_hidden),
            ("split", self._split),
            ("evidence", self._evidence),
            ("no_shortcut", self._no_shortcut),
            ("retrievable", self._retrievable),
            ("unique_answer", self._unique),
        ):
            outcome = check(draft)
            if isinstance(outcome, Failure):
                return Failure(outcome.reason, f"{name}: {outcome.detail}")
            results.append(CheckResult(check=name, outcome="passed", detail=outcome))
        return tuple(results)

    # Nothing that is sought stands in the question.

    def _answer_hidden(self, draft: Draft) -> str | Failure:
        question = draft.question
        for hop in draft.walk.hops:
            node = hop.target
            if node.kind in _VALUES:
                forms = [*value_forms(node.id, draft.answer_kind, node.name), node.id.strip("'\"")]
            else:
                forms = [f for f in (node.name, *node.aliases) if len(f) > 1]
            if found := mentions(question, [form for form in forms if _telling(form)]):
                return Failure(Reason.ANSWER_IN_QUESTION, f"the question holds {found!r}")
        if draft.shape == "masked":
            # A word of a name may stand in the passage, as it may in what describes a thing; all of them may not.
            for hop in draft.walk.hops:
                if spells_out(question, hop.target.name):
                    return Failure(Reason.ANSWER_IN_QUESTION, f"the passage spells {hop.target.name!r} out")
        elif draft.answer_kind == "entity" and (word := leaks(question, draft.answer, self._corpus.generic)):
            return Failure(Reason.ANSWER_IN_QUESTION, f"{word!r} gives {draft.answer!r} away")
        return ""

    # One split owns the gold.

    def _split(self, draft: Draft) -> str | Failure:
        corpus = self._corpus
        exempt = 0
        pages = set(draft.gold_documents) | {h.target.document_id for h in draft.walk.hops if h.target.document_id}
        for name in sorted(pages):
            row = self._rows.get(name)
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
            row = self._rows.get(hop.evidence.document_id)
            if row is None:
                return Failure(
                    Reason.EVIDENCE_DOES_NOT_STATE, f"hop {number}: no document {hop.evidence.document_id!r}"
                )
            evidence = hop.evidence
            text = self._corpus.text(row)
            if not evidence.quote.strip() or text[evidence.start : evidence.end] != evidence.quote:
                return Failure(Reason.EVIDENCE_DOES_NOT_STATE, f"hop {number}: the quote is not what stands there")
            if not self._states(hop, row):
                return Failure(Reason.EVIDENCE_DOES_NOT_STATE, f"hop {number}: the quote does not state {hop.relation}")
        return f"{len(draft.walk.hops)} spans"

    def _states(self, hop: Hop, row: int) -> bool:
        quote = hop.evidence.quote
        if hop.relation == "masked":
            # The other page says of the thing, in a sentence of its own, what is said around the mask.
            held = stems(quote) - stems(hop.target.name)
            both = held & stems(hop.cue)
            return hop.target.document_id == hop.evidence.document_id and len(both) >= max(3, 0.4 * len(held))
        if hop.source.kind == "description":
            wanted = {w for w in stems(unframed(hop.cue)) if w not in stems(hop.target.kind)}
            held = stems(quote) | stems(hop.source.name.split(" that ")[0])
            return len(wanted & held) >= 0.8 * len(wanted)
        # The page states the hop; the end that is not the page's own subject must stand in the sentence, or be what
        # a link in the sentence leads to.
        far = hop.target if hop.forward else hop.source
        if far.kind in _VALUES:
            return far.id in quote
        if mentions(quote, (far.name, *far.aliases)):
            return True
        if far.document_id == hop.evidence.document_id and far.id == far.document_id:
            return True
        # An entry is stated by its own line; its module is told by the dotted name or by the page that it stands on.
        spans = [(link.start, link.end, link.target) for link in self._corpus.document(row).links]
        start, end = hop.evidence.start, hop.evidence.end
        return any(start <= s and e <= end and target == far.document_id for s, e, target in spans)

    # No part of the question is enough.

    def _no_shortcut(self, draft: Draft) -> str | Failure:
        hops = draft.walk.hops
        if draft.shape == "masked":
            home = hops[0].source.id.removeprefix("passage:").rpartition(":")[0]
            if any(hop.evidence.document_id == home for hop in hops):
                return Failure(Reason.SHORTCUT, "a name is given back by the passage's own page")
            return "every name is given back by another page; the passage's own page stays searchable"
        if len({hop.evidence.document_id for hop in hops}) < 2:
            return Failure(Reason.SHORTCUT, "one page states everything")
        if draft.shape != "composition":
            return ""
        if self._search is None:
            return Failure(Reason.SHORTCUT, "no search to ask")
        first = hops[0].evidence
        if draft.answer_kind == "entity":
            held = self._corpus.text(self._rows[first.document_id])[first.start : first.end]
            near = " ".join([held, *(hop.evidence.quote for hop in hops[1:-1])])
            if mentions(near, (hops[-1].target.name, *hops[-1].target.aliases)):
                return Failure(Reason.SHORTCUT, "an earlier hop's evidence names the answer")
        top = list(self._search(draft.question, 1))
        last = self._rows[hops[-1].evidence.document_id]
        if top and top[0] == last:
            return Failure(Reason.SHORTCUT, "the question as it stands finds the page that states the answer")
        return ""

    # Search finds every page with what is known at that hop.

    def _retrievable(self, draft: Draft) -> str | Failure:
        if self._search is None:
            return Failure(Reason.NOT_RETRIEVABLE, "no search to ask")
        ranks = []
        for number, hop in enumerate(draft.walk.hops):
            if hop.source.kind in _VALUES:
                # A value leads nowhere by itself: it tests what the other hops find, by the name that they give.
                hop = hop.model_copy(update={"source": hop.target, "forward": True})
            wanted = self._rows[hop.evidence.document_id]
            best = 0
            for query in queries(hop):
                found = list(self._search(query, self._k))
                if wanted in found:
                    place = found.index(wanted) + 1
                    best = place if not best else min(best, place)
            if not best:
                return Failure(Reason.NOT_RETRIEVABLE, f"hop {number}: {queries(hop)[0]!r} does not find its page")
            ranks.append(best)
        return f"ranks {ranks}"

    # No other page says what the description says.

    def _unique(self, draft: Draft) -> str | Failure:
        if self._search is None:
            return Failure(Reason.NOT_UNIQUE, "no search to ask")
        read = 0
        for hop in draft.walk.hops:
            if hop.source.kind != "description":
                continue
            own = self._rows[hop.evidence.document_id]
            wanted = stems(unframed(hop.source.name).split(" ", 1)[-1])
            names = (hop.target.name, *hop.target.aliases)
            for row in self._search(hop.source.name, self._k):
                read += 1
                if row == own or (row in self._corpus.hubs and self._corpus.columns.kinds[row] == "index"):
                    continue
                for held, said in self._sentence_words(row):
                    # A list of contents that says it beside the thing's own name says it of the same thing.
                    if self._descriptions.share(wanted, held) >= self._overlap and not mentions(said, names):
                        return Failure(Reason.NOT_UNIQUE, f"{self._corpus.columns.ids[row]!r} says the same")
        return f"{read} pages read for another fit"

    def _sentence_words(self, row: int) -> list[tuple[frozenset[str], str]]:
        known = self._sentences.get(row)
        if known is None:
            if len(self._sentences) > 200:
                self._sentences.pop(next(iter(self._sentences)))
            known = self._sentences[row] = []
            for line in self._corpus.text(row).split("\n"):
                for piece in sentences(line, clauses=True) if len(line) > 20 else ():
                    # In a short line (of a list, a table) the name may stand in another piece than what is said.
                    known.append((frozenset(stems(piece)), line if len(line) < 300 else piece))
        return known


def queries(hop: Hop) -> tuple[str, ...]:
    """What a solver who knows the hop's source, and no name beyond it, would search for."""
    if hop.source.kind == "description":
        bare = unframed(hop.source.name)
        return (hop.source.name,) if bare == hop.source.name else (bare, hop.source.name)
    name = hop.source.name
    words = [word for word in content_words(hop.cue) if word not in tokens(name)]
    if hop.source.kind in _VALUES or not hop.forward:
        return (" ".join([name, *words]), name)
    return (name, " ".join([name, *words]))


def unframed(description: str) -> str:
    """A description without the words that the grammar puts before the words of a title."""
    for frame in FRAMES:
        description = description.replace(frame, "")
    return description


def _telling(form: str) -> bool:
    """Whether standing in a question means anything: a bare function word or letter does not."""
    words = tokens(form)
    return bool(words) and not (len(words) == 1 and (words[0] in FUNCTION_WORDS or len(words[0]) < 2))
