"""What a run says of a set or a value, against the walk: a thought can go wrong where no call does.

For a question that asks for all that fit, collecting is the deed and the list stands in thoughts: who puts a thing on
it that is none, takes a member off, or closes it with a member left out has gone wrong there, whatever the next call
is good for. The same holds for who rules out what the walk finds, and for a value that is written down and is none of
those that were asked for.

Thoughts are read as plain English, sentence by sentence, quotations apart. A sentence that is not understood says
nothing. The walk lists all members of a set, so what it lacks is none; where two conditions meet, it lists only those
that meet both, and what may meet one of them is not held against anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from synth.agents.contract import History
from synth.agents.grounding.computed import computations
from synth.agents.grounding.told import clauses
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.annotate.labels.thoughts import names_in, sentences_of, without_names
from synth.environments.answers import answer_pieces
from synth.environments.observed import observe
from synth.schemas.tasks import Hop, Task
from synth.text.words import words_of

__all__ = ["Claim", "false_claims", "list_hops"]

_TITLE = re.compile(r"(?:[A-Z][\w'’-]+)(?:\s+(?:of|the|and|[A-Z][\w'’-]*))*")
_NUMERIC = frozenset(("date", "year", "number", "quantity"))
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_PUTS = re.compile(
    r"\b(?:I (?:can |will |now )?(?:add|list|include)|one of them|among them|one more|another one"
    r"|counts? .+ in\b|(?:onto?|on|to) (?:the|my) list|belongs? (?:here|on|to)|(?:named|listed) here (?:is|are)"
    r"|the list now has|all of these (?:count|fit)|I have .+ for the list)",
    re.IGNORECASE,
)
_TAKES_OFF = re.compile(
    r"\b(?:rules? out|ruled out|(?:can't|cannot|can not) be|it (?:is not|isn't)|no longer consider"
    r"|off (?:the|my) list|cross(?:es)? off|take out|(?:set|put) aside|let go of|I drop|discard"
    r"|(?<!nothing )speaks against|so much for|no further at|(?:not go on|done) with|out goes|let – go"
    r"|leaves out –|list loses|no longer on the list|no place on the list|so I leave –|no: not –"
    r"|give up on|ends it for|no match|(?<=– )(?:fails|is out|does not fit(?=\.)))",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"\b(?:no (?:more(?! (?:than|about))|others?(?! (?:passage|way)))\b|(?<!am )(?<!get )(?<!look )no further\b"
    r"|nothing (?:else|more)|that is (?:all|the whole)|that(?:'s| is) everything|these are all|all of them are"
    r"|(?<!of )(?<!in )(?<!on )the (?:full |whole )?list (?:is(?! (?:not|there))|ends)|list is complete"
    r"|the list for – (?:is|seems|to be) |can close the list|leave it at that|hardly show more)",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:could|may|might|if|whether|perhaps|maybe|look(?:s|ing)? for|search|open|read|test)\b|\?", re.IGNORECASE
)
_ASKS = re.compile(r"\b(?:if|whether)\b|\?", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|no|nothing|never|nor|without)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True)
class Claim:
    """A statement that the walk contradicts."""

    step: int
    why: str
    about: str = ""
    """The document that it is about; empty for none."""


@dataclass
class _List:
    """The members that were put down so far."""

    names: set[str] = field(default_factory=set)


def list_hops(task: Task) -> tuple[Hop, ...]:
    """The hops that lead to members of sets: several from one source by one relation in one phrase."""
    hops = task.walk.hops
    if not task.walk.operations:
        return ()
    asked = {n for operation in task.walk.operations if operation.kind in ("list", "count") for n in operation.over}
    keys = [(hop.source.id, hop.relation, hop.forward, hop.cue) for hop in hops]
    several = {n for n, hop in enumerate(hops) if keys.count(keys[n]) > 1 and hop.target.document_id is not None}
    alike = {keys[n] for n in asked | several if hops[n].target.document_id is not None}
    return tuple(hop for hop, key in zip(hops, keys, strict=True) if key in alike)


def false_claims(task: Task, history: History, wrong_answer: str | None) -> tuple[Claim, ...]:
    """The false statements of a run, by step.

    Args:
        wrong_answer: What the run answered, where that is wrong; None where it is right, unjudged, or there is none.
    """
    if not task.walk.hops:
        return ()
    view = EvidenceView(task)
    members = list_hops(task)
    listed = _List()
    numbers = _gold_numbers(task)
    parts = _wrong_parts(task, wrong_answer)
    found: list[Claim] = []
    for number, step in enumerate(history):
        for sentence in (one for said in sentences_of(view, step.turn.thought or "") for one in _one_by_one(said.text)):
            text = words_of(sentence)
            names = names_in(view, text)
            said = without_names(sentence, names)
            off = _taken_off(view, said, names)
            if off is not None:
                listed.names.discard(off.target.id)
                found.append(
                    Claim(number, f"rules out {off.target.name}, which is right", off.target.document_id or "")
                )
            elif (page := _page_put_aside(view, said, names)) is not None:
                found.append(Claim(number, f"rules out {page}, which the walk needs"))
            elif members and not _TAKES_OFF.search(said):
                written = {name: _as_written(name, sentence) for name in names}
                found += (Claim(number, *claim) for claim in _of_set(view, members, listed, said, written))
            if not _reports(view, sentence):
                found += (Claim(number, why) for why in _of_values(view, numbers, said, sentence))
            found += (
                Claim(number, f"answers {part.strip()}, which is none of {task.answer}")
                for part in parts
                if part in text and not names - {part} and not _DENIES.search(said) and not _UNSURE.search(said)
            )
        view.take(step)
    return tuple(found)


def _one_by_one(sentence: str) -> list[str]:
    """Of what puts several things on a list ("I add these: A; B"), one that puts each on it."""
    begins, colon, items = sentence.partition(": ")
    return [f"{begins}: {item}" for item in items.split("; ")] if colon and _PUTS.search(begins) else [sentence]


def _is(view: EvidenceView, name: str, hop: Hop) -> bool:
    """Whether ``name`` goes for the hop's target."""
    own = {words_of(known) for known in names_of(hop.target)}
    return name in own or hop.target.document_id in view.named.get(name, set())


def _taken_off(view: EvidenceView, sentence: str, names: set[str]) -> Hop | None:
    """The hop whose target the sentence rules out; what the question itself names can be ruled out as another thing."""
    if len(names) != 1 or not _TAKES_OFF.search(sentence) or _ASKS.search(sentence):
        return None
    name = next(iter(names))
    if name in words_of(view.task.question):
        return None
    return next((h for h in view.task.walk.hops if h.target.document_id is not None and _is(view, name, h)), None)


def _page_put_aside(view: EvidenceView, sentence: str, names: set[str]) -> str | None:
    """The page, opened before, that the sentence rules out although the walk starts from it or finds its evidence
    there."""
    if len(names) != 1 or not _TAKES_OFF.search(sentence) or _ASKS.search(sentence):
        return None
    name = next(iter(names))
    documents = view.named[name]
    if name in words_of(view.task.question) or len(documents) != 1:
        return None
    needed = {page for hop in view.task.walk.hops for page in (hop.source.document_id, hop.evidence.document_id)}
    return next((page for page in documents if page in needed and page in view.read), None)


# Sets.


def _of_set(
    view: EvidenceView, members: Sequence[Hop], listed: _List, sentence: str, names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """``names``: those in the sentence, each with the way it is written there; ``sentence`` is without them."""
    sources = {words_of(name) for hop in view.task.walk.hops for name in names_of(hop.source)}
    own = {name for name in names if name not in sources or any(_is(view, name, hop) for hop in members)}
    if _CLOSES.search(sentence) and not _ASKS.search(sentence):
        yield from _closed(members, listed)
        return
    if not _PUTS.search(sentence) or _UNSURE.search(sentence) or _DENIES.search(sentence):
        return
    right = [hop for hop in members if any(_is(view, name, hop) for name in own)]
    listed.names |= {hop.target.id for hop in right}
    if right:
        return
    if own:
        for name in sorted(own):
            documents = sorted(view.named[name])
            if not any(_could_be(view.task, members, document) for document in documents):
                said = f"lists {names[name]}, which is none of them"
                yield said, documents[0] if len(documents) == 1 else ""
    elif not names and (title := _unlinked(sentence)):
        known = [view.task.question, *(name for hop in members for name in names_of(hop.target))]
        if not any(words_of(title) in words_of(text) for text in known):
            yield f"lists {title}, which is none of them", ""


def _as_written(name: str, sentence: str) -> str:
    """The name, known by its words alone, with the capitals and points that the sentence gives it."""
    found = re.search(r"\W+".join(map(re.escape, name.split())), sentence, re.IGNORECASE)
    return found.group() if found else name.strip()


def _closed(members: Sequence[Hop], listed: _List) -> Iterator[tuple[str, str]]:
    """Of each set that was begun, the members that were left out."""
    for key in dict.fromkeys((hop.source.id, hop.relation, hop.forward, hop.cue) for hop in members):
        mine = [hop for hop in members if (hop.source.id, hop.relation, hop.forward, hop.cue) == key]
        missing = [hop.target.name for hop in mine if hop.target.id not in listed.names]
        if missing and len(missing) < len(mine):
            yield f"closes the list without {', '.join(missing)}", ""
            return


def _could_be(task: Task, members: Sequence[Hop], document: str) -> bool:
    """Whether it may meet one of several conditions on one set, as far as the kind of page tells."""
    meets = {hop.target.id: 0 for hop in members}
    for hop in members:
        meets[hop.target.id] += 1
    kinds = {(hop.target.document_id or "").rpartition("/")[0] for hop in members}
    return max(meets.values()) > 1 and document.rpartition("/")[0] in kinds


def _unlinked(sentence: str) -> str | None:
    """A name in the sentence that no link shows: the last words with capitals that do not begin it."""
    found = [match.group() for match in _TITLE.finditer(sentence) if match.start() > 0]
    return found[-1] if found else None


# Values.


def _reports(view: EvidenceView, sentence: str) -> bool:
    """Whether it tells in words what a fact that was read states: no more a conclusion than a quotation is."""
    if not _numbers(sentence):
        return False
    facts = (passage.fact for _, result in view.results for passage in observe(result.content).passages)
    return any(said in sentence for fact in facts if fact is not None for said in clauses(fact))


def _gold_numbers(task: Task) -> frozenset[str] | None:
    """Numbers of the question and of all that the walk finds; None where it finds no number."""
    hops, operations = task.walk.hops, task.walk.operations
    if not any(hop.target.kind in _NUMERIC and _NUMBER.search(hop.target.name) for hop in hops):
        return None
    texts = [task.question, task.answer, *task.answer_aliases]
    for end in (end for hop in hops for end in (hop.source, hop.target)):
        texts += [*names_of(end), end.id]
    texts += [text for operation in operations for node in operation.result for text in (node.name, node.id)]
    return frozenset(number for text in texts for number in _numbers(text))


def _numbers(text: str) -> list[str]:
    return [n.replace(",", "").rstrip(".").lstrip("0") or "0" for n in _NUMBER.findall(text)]


def _of_values(view: EvidenceView, gold: frozenset[str] | None, said: str, sentence: str) -> Iterator[str]:
    """Values that a sentence states and that are none of the walk's, although they stand in what was read.

    Args:
        said: The sentence without names: those may hold numbers of their own.
    """
    if gold is None or _UNSURE.search(said) or _DENIES.search(said) or any(computations(sentence)):
        return
    wrong = [number for number in _numbers(said) if number not in gold]
    if not wrong or len(said.split()) > 12:
        return
    if all(any(f" {number} " in words_of(result.content) for _, result in view.results) for number in wrong):
        yield f"takes {wrong[0]}, which is none of the values that were asked for"


def _wrong_parts(task: Task, wrong_answer: str | None) -> tuple[str, ...]:
    """Parts of a wrong answer that are not part of the right one."""
    if wrong_answer is None or not task.answer_parts:
        return ()
    known = {words_of(text) for part in task.answer_parts for text in (part.answer, *part.aliases)}
    pieces = {words_of(piece) for piece in answer_pieces(wrong_answer)}
    return tuple(sorted(piece for piece in pieces if piece.strip() and not any(piece in other for other in known)))
