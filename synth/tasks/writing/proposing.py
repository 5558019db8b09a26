"""Questions that a model proposes from what it read, as far as its quotes bear them out.

The model points, and is not believed: each fact of its chain carries the words that state it, and is looked up in what
the explorer was shown and in the document itself. Whether the chain leads from the question to the answer, step by step
and with nothing left over, is decided by names alone (DocDancer, arXiv 2601.05163; TaskCraft, arXiv 2506.10055; SSP,
arXiv 2510.18821). Nothing is mended: a proposal that breaks a rule is refused, with the reason.

What this does not show is that a quote states this relation between its two ends and no other. The checks by a reader
come after it (:class:`synth.tasks.writing.checker.TaskChecker`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from synth.schemas.described import Described
from synth.schemas.documents import Evidence
from synth.schemas.rejections import Reason
from synth.schemas.row import Row, Split
from synth.schemas.tasks import Hop, Node, Walk
from synth.tasks.draft import Draft, draft_of, gold_documents
from synth.tasks.given import answer_kind_of
from synth.tasks.text import mentions

__all__ = [
    "EXPLORE",
    "HARDEN",
    "PROPOSE",
    "SHAPE",
    "NotedFact",
    "Proposal",
    "ProposalKeys",
    "Read",
    "Refused",
    "Solved",
    "judged",
    "locate",
]

EXPLORE, PROPOSE, HARDEN = "agents/propose", "tasks/propose", "tasks/harden"
SHAPE = "proposed"
_QUOTE = 3
"""Words of a quote that can state anything."""
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_YES_NO = re.compile(r"(?:yes|no|true|false)\b", re.IGNORECASE)
_ABOUT_PAGES = re.compile(
    r"\b(?:(?:this|these|the (?:above|given|following|same|first|second|other|linked)) "
    r"(?:pages?|documents?|texts?|passages?|articles?|excerpts?|sections?)"
    r"|the (?:page|document|passage|excerpt|text|collection)s?|according to|mentioned in|listed in|linked from)\b",
    re.IGNORECASE,
)
"""A question that speaks of the pages it was made from, instead of what they are about."""


class Solved(Described):
    """How often the policy may solve a question that is proposed."""

    runs: int = Field(default=4, ge=1, le=64)
    """Runs of the role ``policy`` on each question, and on each harder one."""
    least: float = Field(default=0.0, ge=0, le=1)
    """A question that a smaller share solves is rejected."""
    most: float = Field(default=0.75, ge=0, le=1)
    """A question that a larger share solves is made harder, and rejected where that fails."""


class ProposalKeys(Described):
    """How questions are explored and proposed, by the role ``proposer``."""

    steps: int = Field(default=12, ge=3, le=200)
    """Turns of an exploration at most."""
    facts: int = Field(default=2, ge=1, le=12)
    """Least number of facts that the answer takes."""
    most_facts: int = Field(default=6, ge=1, le=24)
    """Largest number of facts."""
    pages: int = Field(default=2, ge=1, le=12)
    """Least number of pages that state them."""
    attempts: int = Field(default=3, ge=1, le=20)
    """Proposals that are asked for after an exploration until one holds; each is told what was wrong with the earlier
    ones."""
    harden: int = Field(default=1, ge=0, le=8)
    """How often a question that holds is made harder: something that it names is described by a further fact
    (ASearcher, arXiv 2508.07976; OpenSeeker, arXiv 2603.15594). Where that fails, the question stays as it was. With
    ``solved`` it is made harder only as long as the policy solves it too often."""
    solved: Solved | None = None
    """The band in which the policy's success must lie; empty = it is not measured."""
    answer_words: int = Field(default=8, ge=1, le=40)
    """Longest answer, in words."""
    max_characters: int = Field(default=420, ge=80)
    """Longest question."""
    shown: int = Field(default=24_000, ge=1000)
    """Characters of what was read that a proposal is made from; of more, the first part of every page."""


class NotedFact(Row):
    """A fact as the model notes it."""

    document: str = Field(description="id of the page that states it")
    quote: str = Field(description="the sentence or line of the page that states it, copied letter by letter")
    known: str = Field(description="what has to be known beforehand, as the quote or the page's title names it")
    found: str = Field(description="what the fact tells, as the quote names it")
    cue: str = Field(description="the words of the question that ask for it, copied letter by letter")


class Proposal(Row):
    """What a model answers that is asked for a question."""

    facts: tuple[NotedFact, ...] = Field(description="in the order in which they have to be found")
    question: str | None = Field(description="null when the pages allow none")
    answer: str = Field(description="what the last fact finds; empty when there is no question")
    aliases: tuple[str, ...] = Field(description="other spellings that are as right; usually none")


@dataclass(frozen=True)
class Read:
    """A page that was read."""

    id: str
    title: str
    text: str
    """The document, whole."""
    split: Split
    licence: str | None
    shown: str
    """What the explorer saw of it."""


@dataclass(frozen=True)
class Refused:
    """Why a proposal is not a task."""

    reason: Reason
    detail: str


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Where ``text`` holds ``quote``, whatever its white space; links that an observation writes as [text](document)
    count as their text. None: nowhere."""
    bare = _LINK.sub(r"\1", quote).split()
    if not bare:
        return None
    found = re.search(r"\s+".join(re.escape(word) for word in bare), text)
    return None if found is None else found.span()


def judged(
    proposal: Proposal, read: Mapping[str, Read], keys: ProposalKeys, entity_of: Callable[[str], Node | None]
) -> Draft | Refused:
    """The task that ``proposal`` is, or the first rule that it breaks.

    Args:
        read: The pages that were read, by id.
        entity_of: The thing of this name that has a page of its own; None where there is none, or more than one.
    """
    if proposal.question is None:
        return Refused(Reason.NO_WALK, "the model found no question in what it read")
    question, answer = " ".join(proposal.question.split()), " ".join(proposal.answer.split())
    asked = _asked(question, answer, keys)
    if asked is not None:
        return asked
    if not keys.facts <= len(proposal.facts) <= keys.most_facts:
        return Refused(Reason.NO_WALK, f"{len(proposal.facts)} facts; {keys.facts} to {keys.most_facts} are wanted")
    hops: list[Hop] = []
    for number, fact in enumerate(proposal.facts):
        hop = _hop(number, fact, hops, question, read, entity_of)
        if isinstance(hop, Refused):
            return hop
        hops.append(hop)
    refused = _chained(hops, answer) or _hidden(hops, question)
    if refused is not None:
        return refused
    forms = tuple(
        form for form in dict.fromkeys(proposal.aliases) if mentions(form, [answer]) or mentions(answer, [form])
    )
    if hops[-1].target.document_id is None:
        named = hops[-1].target.model_copy(update={"aliases": tuple(form for form in forms if form != answer)})
        hops = [hop.model_copy(update={"target": named}) if _same(hop.target, answer) else hop for hop in hops]
    walk = Walk(shape=SHAPE, hops=tuple(hops))
    documents = gold_documents(walk)
    if len(documents) < keys.pages:
        return Refused(Reason.SHORTCUT, f"all facts stand on {len(documents)} pages; {keys.pages} are wanted")
    splits = {read[name].split for name in documents}
    if len(splits) > 1:
        return Refused(Reason.SPLIT_CONFLICT, f"its pages belong to {' and '.join(sorted(splits))}")
    last = hops[-1].target
    return draft_of(
        walk,
        (read[name].licence for name in documents),
        question=question,
        answer=last.name,
        answer_aliases=tuple(dict.fromkeys(name for name in (answer, *last.aliases) if name != last.name)),
        answer_kind="entity" if last.document_id is not None else answer_kind_of(last.name),
        split=splits.pop(),
        surface=SHAPE,
    )


def _asked(question: str, answer: str, keys: ProposalKeys) -> Refused | None:
    """What is wrong with the words of question and answer."""
    if not answer:
        return Refused(Reason.MALFORMED, "the answer is empty")
    if len(answer.split()) > keys.answer_words:
        return Refused(Reason.UNNATURAL, f"the answer has {len(answer.split())} words; {keys.answer_words} at most")
    if _YES_NO.match(answer):
        return Refused(Reason.UNNATURAL, f"the answer is {answer!r}, which half of all guesses get right")
    if not question.endswith("?") or not 20 <= len(question) <= keys.max_characters:
        return Refused(Reason.UNNATURAL, f"no question of 20 to {keys.max_characters} characters that ends in '?'")
    spoken = _ABOUT_PAGES.search(question)
    if spoken is not None:
        return Refused(Reason.UNNATURAL, f"it speaks of the pages ({spoken.group()!r}) instead of what they are about")
    if mentions(question, [answer]) is not None:
        return Refused(Reason.ANSWER_IN_QUESTION, f"the question holds {answer!r}")
    return None


def _hop(
    number: int,
    fact: NotedFact,
    before: Sequence[Hop],
    question: str,
    read: Mapping[str, Read],
    entity_of: Callable[[str], Node | None],
) -> Hop | Refused:
    told = f"fact {number}"
    page = read.get(fact.document)
    if page is None:
        return Refused(Reason.NO_EVIDENCE, f"{told}: {fact.document!r} was not read")
    span = locate(fact.quote, page.text)
    if span is None or locate(fact.quote, _LINK.sub(r"\1", page.shown)) is None:
        return Refused(Reason.NO_EVIDENCE, f"{told}: the quote does not stand in what was read of {fact.document!r}")
    if len(fact.quote.split()) < _QUOTE:
        return Refused(Reason.EVIDENCE_DOES_NOT_STATE, f"{told}: a quote of fewer than {_QUOTE} words says nothing")
    quote = page.text[slice(*span)]
    known, found = " ".join(fact.known.split()), " ".join(fact.found.split())
    if not known or not found or mentions(known, [found]) or mentions(found, [known]):
        return Refused(Reason.EVIDENCE_DOES_NOT_STATE, f"{told}: {known!r} to {found!r} is not a step")
    if mentions(quote, [found]) is None:
        return Refused(Reason.EVIDENCE_DOES_NOT_STATE, f"{told}: the quote does not name {found!r}")
    if fact.cue not in question or not fact.cue.strip():
        return Refused(Reason.MALFORMED, f"{told}: the words {fact.cue!r} are not in the question")
    needs = tuple(place for place, hop in enumerate(before) if _same(hop.target, known))[-1:]
    if not needs and mentions(question, [known]) is None:
        return Refused(Reason.NO_WALK, f"{told}: {known!r} is neither in the question nor found by an earlier fact")
    source = before[needs[0]].target if needs else entity_of(known) or _value(known)
    titled = source.document_id == page.id and mentions(page.title, [source.name]) is not None
    if mentions(quote, [known]) is None and not titled:
        return Refused(Reason.EVIDENCE_DOES_NOT_STATE, f"{told}: neither quote nor title names {known!r}")
    return Hop(
        source=source,
        target=entity_of(found) or _value(found),
        relation=SHAPE,
        forward=True,
        needs=needs,
        evidence=Evidence(document_id=page.id, start=span[0], end=span[1], quote=quote),
        cue=fact.cue,
    )


def _chained(hops: Sequence[Hop], answer: str) -> Refused | None:
    """Whether the facts lead to the answer, and each is needed on the way."""
    if not _same(hops[-1].target, answer):
        return Refused(Reason.NO_WALK, f"the last fact finds {hops[-1].target.name!r}, the answer is {answer!r}")
    used = {need for hop in hops for need in hop.needs}
    for number, hop in enumerate(hops[:-1]):
        if number not in used and hop.target.id != hops[-1].target.id:
            return Refused(Reason.SHORTCUT, f"fact {number}: nothing goes on from {hop.target.name!r}")
    return None


def _hidden(hops: Sequence[Hop], question: str) -> Refused | None:
    """Whether the question leaves to be found what has to be found."""
    for number, hop in enumerate(hops):
        names = (hop.target.name, *hop.target.aliases)
        told = mentions(question, names)
        if told is not None:
            return Refused(Reason.SHORTCUT, f"fact {number}: the question already names {told!r}")
    return None


def _same(node: Node, name: str) -> bool:
    wanted = " ".join(name.split()).casefold()
    return any(wanted == " ".join(form.split()).casefold() for form in (node.name, *node.aliases))


def _value(name: str) -> Node:
    return Node(id=name, name=name, kind=answer_kind_of(name))
