"""Thoughts as sentences of plain English, quotations apart; and where a run took up in thought what it went wrong with.

A thought proves nothing by itself: to name a thing is not to go for it. But a run that concludes in one turn what it
follows or answers some turns later went wrong where it concluded, not where it acted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from synth.agents.contract import History, Step
from synth.annotate.evidence.assessment import Effect, gold_documents
from synth.annotate.evidence.pages import judge_document
from synth.annotate.evidence.view import EvidenceView
from synth.schemas.tasks import Task
from synth.text.sentences import borders
from synth.text.words import words_of

__all__ = ["Commitment", "Sentence", "commitments", "names_in", "sentences_of", "without_names"]

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_CHAPTER = re.compile(r"(?:^|\s)(\d+(?:\.\d+)*)\.$")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a thought."""

    text: str
    quoted: str
    """The quotation that comes last before it, without its marks; empty where there is none."""


def sentences_of(view: EvidenceView, thought: str) -> list[Sentence]:
    """The sentences of ``thought`` that hold a word. The number of a chapter that begins a title seen ("9. Classes")
    ends no sentence; a quotation does."""
    found: list[Sentence] = []
    quoted = ""
    at = 0
    for quotation in (*_QUOTED.finditer(thought), None):
        end = len(thought) if quotation is None else quotation.start()
        found += (Sentence(text, quoted) for text in _split(view, thought[at:end]) if words_of(text).strip())
        if quotation is not None:
            quoted, at = quotation.group()[1:-1], quotation.end()
    return found


def _split(view: EvidenceView, text: str) -> Iterator[str]:
    start = 0
    for end, begin in _borders(text):
        if not _within_title(view, text[start:end], text[begin:]):
            yield text[start:end].strip()
            start = begin
    yield text[start:].strip()


@lru_cache(maxsize=1024)  # several rules read each thought
def _borders(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(borders(text))


def _within_title(view: EvidenceView, before: str, after: str) -> bool:
    number = _CHAPTER.search(before)
    if number is None:
        return False
    text = words_of(f"{number.group(1)} {after[:200]}")
    return any(text.startswith(name) for name in view.named if name.startswith(words_of(number.group(1))))


def names_in(view: EvidenceView, text: str) -> set[str]:
    """Names seen that stand in ``text`` (as ``words_of`` gives it), none within a longer one."""
    found = {name for name in view.named if name.strip() and name in text}
    return {name for name in found if not any(name != other and name in other for other in found)}


def without_names(sentence: str, names: set[str]) -> str:
    """The sentence with a dash for every name: a title may hold words that say something else outside it."""
    for name in sorted(names, key=lambda name: (-len(name), name)):
        words = name.split()
        if _PLAIN.fullmatch("".join(words)) and not _UNLIKE.search(sentence):
            sentence = _without_words(sentence, words)
        else:
            sentence = _pattern_of(words).sub("–", sentence)
    return sentence


_PLAIN = re.compile(r"\w+", re.ASCII)
_UNLIKE = re.compile("[İıſ\u212a]")
"""Letters beside A to Z that are one of these in another case."""
_RUN = re.compile(r"\w+")


def _pattern_of(words: Sequence[str]) -> re.Pattern[str]:
    pattern = r"\W+".join(re.escape(word) + r"(?:['’]s?)?" for word in words)
    return re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE)


def _without_words(sentence: str, words: Sequence[str]) -> str:
    """What :func:`_pattern_of` would make of it, for words of plain letters and digits: names are many, and to make a
    pattern of each takes longer than all else."""
    runs = [(one.group().lower(), one.start(), one.end()) for one in _RUN.finditer(sentence)]
    parts: list[str] = []
    at = place = 0
    while place < len(runs):
        last = _end_of(sentence, runs, place, words)
        if last is None:
            place += 1
            continue
        parts += [sentence[at : runs[place][1]], "–"]
        place, at = last
    return "".join((*parts, sentence[at:]))


def _end_of(
    sentence: str, runs: Sequence[tuple[str, int, int]], place: int, words: Sequence[str]
) -> tuple[int, int] | None:
    """Where ``words`` end that begin with run ``place``: the next run, and the next character. None where they do not
    stand there."""
    if place >= len(runs) or runs[place][0] != words[0]:
        return None
    end = runs[place][2]
    owns = sentence[end : end + 1] in ("'", "’")
    genitive = owns and place + 1 < len(runs) and runs[place + 1][:2] == ("s", end + 1)
    if len(words) > 1:
        found = _end_of(sentence, runs, place + 2, words[1:]) if genitive else None
        return found or _end_of(sentence, runs, place + 1, words[1:])
    if genitive:
        return place + 2, runs[place + 1][2]
    bare = owns and not (place + 1 < len(runs) and runs[place + 1][1] == end + 1)
    return place + 1, end + bare


_WRONG = frozenset((Effect.PASSED_OVER, Effect.WRONG_RESULT, Effect.UNFIT))
_PART = re.compile(r"[:;]\s+")
_ANSWER = ""
"""Stands for the answer among the documents that a step goes for."""


@dataclass(frozen=True)
class Commitment:
    """A thought that took something wrong, and the first later step that acted on it."""

    step: int
    acts: int
    about: str
    """The document that was taken; empty for an answer that goes by no page."""
    why: str
    """Why it was wrong to take it, by what was in view."""


def commitments(task: Task, history: History, wrong_answer: str | None) -> tuple[Commitment, ...]:
    """The wrong things that a run took in thought and acted on later, by step; each thing once.

    A step takes a thing when a sentence of its thought, quotations apart, names it and no rival beside it; wrongly,
    when what was in view before spoke against going for it. A later step acts on it with a call that names it or opens
    it, or by answering it. What a step takes and goes for at once is judged by the deed alone.

    Args:
        wrong_answer: What the run answered, where that is wrong; None where it is right, unjudged, or there is none.
    """
    if not task.walk.hops:
        return ()
    view = EvidenceView(task)
    taken: dict[str, tuple[int, str]] = {}
    acted: dict[str, Commitment] = {}
    for number, step in enumerate(history):
        deeds = _gone_for(view, step, wrong_answer)
        for thing in deeds & taken.keys() - acted.keys():
            acted[thing] = Commitment(taken[thing][0], number, thing, taken[thing][1])
        for thing, why in _taken(view, step, wrong_answer):
            if thing not in deeds:
                taken.setdefault(thing, (number, why))
        view.take(step)
    return tuple(sorted(acted.values(), key=lambda one: (one.step, one.acts, one.about)))


def _gone_for(view: EvidenceView, step: Step, wrong_answer: str | None) -> set[str]:
    """Documents that the step's calls name or open; of a wrong answer, those that go by it, and ``_ANSWER``."""
    if not step.turn.calls:
        if wrong_answer is None or step.turn.answer is None:
            return set()
        return {_ANSWER, *view.named.get(words_of(wrong_answer), set())}
    found: set[str] = set()
    for call in step.turn.calls:
        for value in call.arguments.values():
            if isinstance(value, str):
                known = value.split("#", 1)[0]
                found |= {known} if known in view.named_documents else view.named.get(words_of(value), set())
    return found


def _taken(view: EvidenceView, step: Step, wrong_answer: str | None) -> Iterator[tuple[str, str]]:
    """What the step's thought takes although what is in view speaks against it: (document or ``_ANSWER``, why)."""
    task, gold = view.task, gold_documents(view.task)
    value = (
        "" if wrong_answer is None or view.named.get(words_of(wrong_answer), set()) - gold else words_of(wrong_answer)
    )
    # Where the answer has to be worked out, to speak of something that was found is not to answer it yet.
    known = len(task.walk.hops) - 1 in view.hops and not task.walk.operations
    sentences = sentences_of(view, step.turn.thought or "")
    for text in (words_of(part) for sentence in sentences for part in _PART.split(sentence.text)):
        names = names_in(view, text)
        if value.strip() and value in text and known and names <= {value}:
            yield _ANSWER, f"{task.answer} was in view; takes {wrong_answer}"
        if len(names) != 1 or (name := names.pop()) in words_of(task.question):
            continue
        things = view.named[name]
        if len(things) == 1 and not things & gold:
            document = next(iter(things))
            assessment = judge_document(view, document)
            if assessment.kind in _WRONG:
                yield document, assessment.why
