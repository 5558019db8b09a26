"""What a run concludes from what it read, against the walk: the turn where it takes one thing for another.

A run that writes "so it must be X" and goes on with X went wrong there, some turns before a page or an answer shows
it, where the walk leads to one thing alone and X is none of its things. Where a further condition tells which of
several is right, to settle on another one for now is how the condition gets tested, and is not held against anybody.
Nor is a conclusion that nothing follows from.

Thoughts are read as plain English: a conclusion is a short sentence that ends in what it concludes. The quotation
before it tells which hop it is about, where the evidence of one is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from synth.agents.contract import History, Step
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.annotate.labels.claims import list_hops
from synth.annotate.labels.thoughts import sentences_of
from synth.environments.answers import judge
from synth.environments.rendering import plain
from synth.schemas.tasks import Hop, Node, Task
from synth.text.words import words_of

__all__ = ["Conclusion", "false_conclusions"]

_LEAD = re.compile(
    r"(?:(?:so|then|thus|hence|therefore|and|now)\W+)*"
    r"(?:in other words|in short|that is to say|one (?:thing|piece)(?:\W+\w+){2,3}(?=:)"
    r"|(?:good|got it|there|(?:plain|clear) enough|just what I needed|now I know|there I have it)(?=:)"
    r"|(?:that answers this part|(?:much|that) is clear|this part is done)(?=:)"
    r"|I have my answer to this part|my note (?:on|for) this|that is how I (?:come|get) to"
    r"|what about|let me (?:try|test)|first up is|(?:I move )?on to"
    r"|(?:which|that|this|it)\b(?:\W+\w+){0,4}?\W+"
    r"(?:means|is|be|as|gives(?: me)?|leaves(?: me with)?|tells me|brings me to)"
    r"|(?:the|what)\b(?:\W+\w+){0,6}?\W+(?:is|be)"
    r"|my\b(?:\W+\w+){1,3}?\W+is"
    r"|I\b(?:\W+\w+){0,3}?\W+(?:have|down|conclude|get|this|take|settle on|start with|begin with|testing|luck with"
    r"|arrive at|note of|remember|keep|try|up)"
    r"|(?:as for|for|from|on|with) (?:this|that)(?: part| point)?,?(?: then,)?\W+(?:it is|I get|I have)"
    r"|as I read it, that is)"
    r"\W+",
    re.IGNORECASE,
)
"""What may stand before the thing that a sentence concludes, or chooses to go on with."""
_AFTER = re.compile(
    r"(?:,? (?:first|then|here|it is|is settled|from (?:this|that)|in mind|next|now|to begin with))?[.!?]?\s*$"
)
_NAME_LIKE = re.compile(r"[A-Z0-9_/.()-]")
_UNSURE = re.compile(r"\b(?:could|may|might|whether|perhaps|maybe|not|no|never|nor)\b|n't\b", re.IGNORECASE)
_CHAPTER = re.compile(r"^\d+(?:\.\d+)*\.\s+")
_LONGEST = 120
"""Characters of a name; longer is a passage."""


@dataclass(frozen=True)
class Conclusion:
    """A thing that a thought concluded although it is none of the walk, and that the run went on with."""

    step: int
    acts: frozenset[int]
    """The steps, this one or later, that name it or open its page, or answer with it."""
    about: str
    """The document that goes by its name; empty for none or several."""
    why: str


def false_conclusions(task: Task, history: History, wrong_answer: str | None) -> tuple[Conclusion, ...]:
    """The false conclusions that a run acted on, by step, one for each step.

    Args:
        wrong_answer: What the run answered, where that is wrong; None where it is right, unjudged, or there is none.
    """
    view = EvidenceView(task)
    listed = list_hops(task)
    settled: set[int] = set()
    texts: list[str] = []
    found: list[_Said] = []
    for number, step in enumerate(history if task.walk.hops else ()):
        for sentence in sentences_of(view, step.turn.thought or ""):
            name = next(_concluded(view, sentence.text, texts), None)
            if name is None or words_of(name) in words_of(task.question):
                continue
            hits = {n for n, hop in enumerate(task.walk.hops) if _is(view, name, hop.target)}
            settled |= hits
            if hits or _is_known(view, name):
                continue
            at_work = _at_work(task, settled, sentence.quoted)
            if at_work and all(_is_decided(task, n) and task.walk.hops[n] not in listed for n in at_work):
                right = " or ".join(dict.fromkeys(task.walk.hops[n].target.name for n in at_work))
                why = f"concludes {name}, where the walk leads to {right}"
                documents = frozenset(view.named.get(words_of(name), ()))
                found.append(_Said(number, words_of(name), documents, frozenset(at_work), why))
        view.take(step)
        texts += [plain(result.content) for result in step.results if result.error is None]
    open_values = {one for one in found if not one.documents and not settled & one.hops}
    return tuple(_acted_on(found, history, wrong_answer, open_values))


@dataclass(frozen=True)
class _Said:
    step: int
    name: str
    documents: frozenset[str]
    hops: frozenset[int]
    why: str


def _acted_on(
    said: Sequence[_Said], history: History, wrong_answer: str | None, open_values: AbstractSet[_Said]
) -> Iterator[Conclusion]:
    """Those that the run went on with. What one turn concludes is one chain: to act on a part of it is to act on all.
    A wrong answer acts on what it says, and on every value that was never set right: it may be worked out from it."""
    for number in dict.fromkeys(one.step for one in said):
        mine = [one for one in said if one.step == number]
        acts = {n for n, step in enumerate(history) if n >= number and any(_goes_for(one, step) for one in mine)}
        if wrong_answer is not None and any(one in open_values or one.name in words_of(wrong_answer) for one in mine):
            acts.add(len(history) - 1)
        if acts:
            documents = mine[0].documents
            about = next(iter(documents)) if len(documents) == 1 else ""
            yield Conclusion(number, frozenset(acts), about, mine[0].why)


def _goes_for(said: _Said, step: Step) -> bool:
    values = [value for call in step.turn.calls for value in call.arguments.values() if isinstance(value, str)]
    return any(value.split("#", 1)[0] in said.documents or said.name in words_of(value) for value in values)


def _at_work(task: Task, settled: AbstractSet[int], quoted: str) -> list[int]:
    """The hops that a conclusion may be about: those that could be followed by now, or of them the one whose evidence
    is quoted before it."""
    can = [n for n, hop in enumerate(task.walk.hops) if n not in settled and set(hop.needs) <= settled]
    text = words_of(quoted)
    shown = [n for n in can if _same_passage(text, words_of(task.walk.hops[n].evidence.quote))]
    return shown or can


def _same_passage(left: str, right: str) -> bool:
    return bool(left.strip()) and bool(right.strip()) and (left in right or right in left)


def _concluded(view: EvidenceView, sentence: str, texts: list[str]) -> Iterator[str]:
    """What the sentence concludes, if it does: the end of it that goes by a name, or that was read word for word."""
    if _LEAD.match(sentence) is None:
        return
    for start in (match.end() for match in re.finditer(r"\s+", sentence)):
        lead, rest = sentence[:start], sentence[start:]
        if not _LEAD.fullmatch(lead) or _UNSURE.search(lead):
            continue
        name = _AFTER.sub("", rest).strip()
        said = words_of(name)
        if not said.strip() or len(name) > _LONGEST:
            continue
        read = _NAME_LIKE.search(name) and any(name in text for text in texts)
        if read or any(known.startswith(said) for known in view.named):
            yield name


def _is(view: EvidenceView, name: str, node: Node) -> bool:
    """Whether ``name`` goes for ``node``: it is a name of it, the end of a dotted one, or the title of its page that
    begins with one."""
    name = _CHAPTER.sub("", name)
    said = words_of(name)
    for known in names_of(node):
        text = words_of(known)
        if said == text or ("." in name and "." in known and (text.endswith(said) or said.endswith(text))):
            return True
        titled = name.casefold().startswith(known.casefold()) and re.match(r"\s*[:—–]", name[len(known) :])
        if titled and node.document_id in view.named.get(words_of(name), set()):
            return True
    return False


def _is_known(view: EvidenceView, name: str) -> bool:
    """Whether ``name`` stands on the walk as something else than a target, or answers the question."""
    task = view.task
    if judge(name, gold=task.answer, aliases=task.answer_aliases, kind=task.answer_kind).correct:
        return True
    parts = [text for part in task.answer_parts for text in (part.answer, *part.aliases)]
    if any(words_of(part) in words_of(name) for part in parts):
        return True
    nodes = [hop.source for hop in task.walk.hops] + [n for done in task.walk.operations for n in done.result]
    return any(_is(view, name, node) for node in nodes)


def _is_decided(task: Task, number: int) -> bool:
    """Whether one condition alone leads to the hop's target and to all that it rests on, and no further condition on
    what follows from it tells which of several it is."""
    hops = task.walk.hops
    return not _is_tested(hops, number) and all(_is_decided(task, before) for before in hops[number].needs)


def _is_tested(hops: Sequence[Hop], number: int) -> bool:
    if sum(other.target.id == hops[number].target.id for other in hops) > 1:
        return True
    return any(number in hop.needs and _is_tested(hops, n) for n, hop in enumerate(hops))
