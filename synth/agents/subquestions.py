"""The parts of a question: what has to be found first, what then, and what each of them asks by itself.

They are worded from the words of the question alone, part by part, and proven by its walk: a part has the answer that
the walk goes through. What a part needs of an earlier one is a place, ``#1``, until that one is answered. Chains and
independent parts come apart like this; several conditions that only together mean one thing stay in one part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, get_args

from synth.agents.scripted.matching import strip, uncapitalised
from synth.agents.scripted.reading import Clue, Reading, clue_hops, read_task
from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Node, Task, Walk
from synth.text.lists import listed

__all__ = ["SubQuestion", "part_asked", "sub_questions", "sub_task", "whole_answer"]

_PLACE = re.compile(r"#(\d+)")
_BACK = re.compile(r"\b(?:this|that|the same) (?P<noun>\w+?)(?P<of>['’]s)?(?!\w)", re.IGNORECASE)
"""Words that may point back to what was found before."""
_OPEN = re.compile(r"\b(?:of|in|at|by|on|through|from|for|with|to|into|under|near|about)$", re.IGNORECASE)
_PREDICATE = re.compile(r"(?:is|was|are|were|has|had|did|does|can|will)\b", re.IGNORECASE)
_ASKS = re.compile(r"(?:(?:in|by|on|at|for|to|from|of) )?(?:which|who|whom|whose|what|when|where|how)\b", re.IGNORECASE)
_DIRECT = re.compile(r".*\b(?:does|do|did)\b|\w+(?: \w+)? (?:is|was|are|were|has|can)\b", re.IGNORECASE)
"""A question that stands as one; others follow "find out"."""
_NOUNS = re.compile(r"(?:the|a|an)\b|.*['’]s [a-z]")
_HANGS = re.compile(r"\b(?:that|which|who|whose|whom|where)$", re.IGNORECASE)


@dataclass(frozen=True)
class SubQuestion:
    """One part of a question."""

    words: str
    """What it asks; ``#n`` stands for the answer of part n, from 1."""
    hops: tuple[int, ...]
    """Hops of the walk that it goes."""
    answer: Node
    """What they lead to."""

    @property
    def needs(self) -> tuple[int, ...]:
        """Numbers of the parts whose answers it needs, from 1."""
        return tuple(dict.fromkeys(int(number) for number in _PLACE.findall(self.words)))

    def asked(self, answers: Mapping[int, str]) -> str:
        """The question with what was found in its places.

        Raises:
            KeyError: a part that it needs has no answer.
        """
        return _PLACE.sub(lambda match: answers[int(match.group(1))], self.words)


def sub_questions(task: Task) -> tuple[SubQuestion, ...]:
    """The parts of the question of ``task``, each after those that it needs; empty where it does not come apart."""
    if task.walk.shape not in ("composition", "parallel") or task.walk.operations:
        return ()
    reading = read_task(task)
    hops = clue_hops(task)
    numbers: dict[int, int] = {}
    kinds: dict[int, str] = {}
    parts: list[SubQuestion] = []
    for unknown in dict.fromkeys(clue.target for clue in reading.clues):
        at = [number for number, clue in enumerate(reading.clues) if clue.target == unknown]
        if any(clue.every or clue.source not in (None, *numbers) for clue in _of(reading, unknown)):
            return ()
        walked = tuple(hop for number in at for hop in hops[number])
        answer = task.walk.hops[walked[-1]].target
        kinds[unknown] = answer.kind
        words = _words(task.question, reading, unknown, numbers, kinds)
        if words is None:
            return ()
        numbers[unknown] = len(parts) + 1
        parts.append(SubQuestion(words, walked, answer))
    return tuple(parts) if len(parts) > 1 else ()


def _of(reading: Reading, unknown: int | None) -> list[Clue]:
    return [clue for clue in reading.clues if clue.target == unknown]


def _words(
    question: str, reading: Reading, unknown: int, numbers: Mapping[int, int], kinds: Mapping[int, str]
) -> str | None:
    """What asks for ``unknown``; None where the words of the question make no sense by themselves."""
    clues = _of(reading, unknown)
    said = [_phrase(clue, reading, numbers, kinds) for clue in clues]
    first = said[0]
    if any(_HANGS.search(text) or (text[0] in "#" and not _NOUNS.match(text)) for text in said):
        return None
    if len(said) == 1 and _ASKS.match(first):
        return f"{first[0].upper()}{first[1:]}?" if _DIRECT.match(first) else f"Find out {first}."
    if len(said) == 1 and _is_noun(first):
        return f"What is {first}?" if clues[0].kind != "entity" else f"Find {first}."
    nouns = (*(clue.sought for clue in clues), kinds[unknown])
    noun = next((one for one in nouns if one and one in question.casefold()), "one")
    return f"Which {noun} {listed([f'is {text}' if _is_noun(text) else text for text in said])}?"


def _is_noun(text: str) -> bool:
    return _NOUNS.match(text) is not None and not _PREDICATE.match(text)


def _phrase(clue: Clue, reading: Reading, numbers: Mapping[int, int], kinds: Mapping[int, str]) -> str:
    """The words of a condition, with a place where they speak of what was found before."""
    cue = strip(clue.cue)
    words = cue if clue.name and cue.startswith(clue.name) else uncapitalised(cue)
    words = words.removeprefix("also ").replace(" also ", " ")
    if clue.source is None:
        return words
    before, place = _of(reading, clue.source), f"#{numbers[clue.source]}"
    inner = strip(before[0].cue) if len(before) == 1 else ""
    if inner and inner in words:
        return words.replace(inner, place)
    nouns = {word for one in before for word in (*one.cue.casefold().split(), one.sought)} | {kinds[clue.source]}
    for match in reversed(list(_BACK.finditer(words))):
        if match["noun"].casefold() in nouns:
            return f"{words[: match.start()]}{place}{match['of'] or ''}{words[match.end() :]}"
    if _PREDICATE.match(words) and not _OPEN.search(words):
        return f"{place} {words}"
    return f"{words} {place}"


def part_asked(task: Task, question: str) -> SubQuestion | None:
    """The part of the question of ``task`` that ``question`` is, with what the walk found in its places; None where it
    is none."""
    parts = sub_questions(task)
    for part in parts:
        words = [
            re.escape(text) if place % 2 == 0 else "|".join(map(re.escape, _names(parts[int(text) - 1].answer)))
            for place, text in enumerate(_PLACE.split(part.words))
        ]
        if re.fullmatch("".join(f"(?:{text})" for text in words), question, re.IGNORECASE):
            return part
    return None


def sub_task(task: Task, question: str) -> tuple[Task, SubQuestion | None]:
    """``task`` as it is for a helper who was asked ``question``, and which of its parts that is: then the task has the
    answer of that part, else it is the same task in other words, and nothing is known of an answer."""
    part = part_asked(task, question)
    return task.model_copy(update={"question": question}) if part is None else _of_part(task, part, question), part


def _names(node: Node) -> tuple[str, ...]:
    return (node.name, *node.aliases)


def _of_part(task: Task, part: SubQuestion, question: str) -> Task:
    asked = question.rstrip("?.")
    hops = tuple(
        task.walk.hops[number].model_copy(update={"needs": (), "cue": _cue(task.walk.hops[number].cue, asked)})
        for number in part.hops
    )
    kind = part.answer.kind if part.answer.kind in get_args(ValueKind) and not part.answer.document_id else "entity"
    pages = {hop.evidence.document_id for hop in hops}
    return task.model_copy(
        update={
            "question": question,
            "answer": part.answer.name,
            "answer_aliases": part.answer.aliases,
            "answer_kind": cast(ValueKind, kind),
            "answer_parts": (),
            "shape": "composition",
            "walk": Walk(shape="composition", hops=hops),
            "gold_entities": (part.answer.id,) if kind == "entity" else (),
            "gold_documents": tuple(page for page in task.gold_documents if page in pages),
        }
    )


def _cue(cue: str, asked: str) -> str:
    """The words of a sub-question that state what ``cue`` states in the whole one."""
    bare = strip(cue)
    return bare if bare in asked and not _OPEN.search(bare) else asked


def whole_answer(task: Task, answers: Mapping[int, str]) -> str | None:
    """The answer of the whole question, of those of its parts; None where one is missing that it is made of."""
    parts = sub_questions(task)
    used = {need for part in parts for need in part.needs}
    ends = [number for number in range(1, len(parts) + 1) if number not in used]
    if task.answer_parts and len(ends) != len(task.answer_parts):
        return None
    if not set(ends) <= set(answers):
        return None
    return listed(list(dict.fromkeys(answers[number] for number in ends)))
