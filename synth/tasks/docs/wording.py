"""Walks to questions, with the words of each hop marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synth.tasks.docs.describe import Description
from synth.tasks.docs.english import indefinite
from synth.tasks.docs.phrases import CLOSINGS, OPENINGS, PHRASES
from synth.tasks.docs.steps import KIND_NOUNS, Step

__all__ = ["Worded", "choose", "say", "word_composition"]

_MARKED = re.compile("«(.*?)»")
_LONG = 90
"""A known thing of more characters stands at the end of its question."""


@dataclass(frozen=True)
class Worded:
    question: str
    cues: tuple[str, ...]
    """Per hop, the words that state it."""
    surface: str


def choose(options: Sequence[str], generator: np.random.Generator) -> str:
    return options[int(generator.integers(len(options)))]


def say(template: str, **slots: str) -> tuple[str, str]:
    """(text, cue) of a template."""
    text = template.format(**slots)
    match = _MARKED.search(text)
    assert match is not None
    return text.replace("«", "", 1).replace("»", "", 1), match[1]


def word_composition(
    description: Description, steps: Sequence[Step], kinds: Sequence[str], generator: np.random.Generator
) -> Worded:
    """A question for the described thing and ``steps`` from it. ``kinds``: of each step's target, "" for values."""
    nouns = [KIND_NOUNS.get(kind, "page") for kind in kinds]
    style = _style(steps, generator)
    cues = [description.phrase]
    known = f"the {description.phrase}"
    sentences: list[str] = []
    if style == "story":
        article = indefinite(description.phrase).split(" ", 1)[0]
        opening = choose(OPENINGS, generator)
        sentences.append(opening.format(a=article, d=description.phrase))
        text, cue = say(choose(PHRASES[steps[0].relation].tell, generator), **_slots(steps[0], nouns[0], "it"))
        sentences.append(text)
        cues.append(cue)
        known = f"that {nouns[0]}"
    else:
        for step, noun in zip(steps[:-1], nouns[:-1], strict=True):
            text, cue = say(choose(PHRASES[step.relation].noun, generator), **_slots(step, noun, known))
            cues.append(cue)
            known = text
    last, noun = steps[-1], nouns[-1]
    slots = _slots(last, noun, known)
    if style == "request":
        text, cue = say(choose(PHRASES[last.relation].noun, generator), **slots)
        closing = choose(CLOSINGS, generator).format(n=text)
    else:
        asks = PHRASES[last.relation].ask
        ends = [ask for ask in asks if ask.endswith("{s}?")]
        closing, cue = say(choose(ends if len(known) > _LONG and ends else asks, generator), **slots)
    cues.append(cue)
    sentences.append(closing)
    relations = ">".join(step.relation for step in steps)
    question = " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)
    return Worded(question, tuple(_as_written(cue, question) for cue in cues), f"composition/{style}/{relations}")


def _style(steps: Sequence[Step], generator: np.random.Generator) -> str:
    styles = ["nested", "nested"]
    if len(steps) == 2 and PHRASES[steps[0].relation].tell:
        styles += ["story", "story"]
    if PHRASES[steps[-1].relation].noun:
        styles.append("request")
    return choose(styles, generator)


def _slots(step: Step, noun: str, known: str) -> dict[str, str]:
    extra = step.extra
    return {"s": known, "k": noun, "x": extra, "X": extra[:1].upper() + extra[1:]}


def _as_written(cue: str, question: str) -> str:
    """The cue as the question has it: its first letter may have become a capital."""
    if cue in question:
        return cue
    return cue[0].upper() + cue[1:]


# Conjunctions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A constraint in words."""

    after: str
    """Follows the noun: "added in version 3.5"."""
    verb: str
    """Follows the subject: "was added in version 3.5"."""


def constraint_words(relation: str, source: str, kind: str, value: str, generator: np.random.Generator) -> Said:
    """``source``: a noun phrase ("the os module", "the page “Exceptions”") of ``kind``."""
    place = f"on {source}" if kind == "page" else f"in the documentation of {source}"
    if relation == "defined_in":
        return Said(f"from {source}", choose((f"belongs to {source}", f"is part of {source}"), generator))
    if relation == "listed_in":
        return Said(
            f"listed under {source}",
            choose((f"is listed under {source}", f"is listed in the chapter {source}"), generator),
        )
    if relation == "added_in":
        return Said(
            f"added in version {value}",
            choose((f"was added in version {value}", f"is new in version {value}"), generator),
        )
    if relation == "deprecated_since":
        return Said(f"deprecated since version {value}", f"has been deprecated since version {value}")
    if relation == "availability":
        return Said(f"with {value} as its stated availability", f"has {value} as its stated availability")
    if relation == "see_also_of":
        words = f"listed under “See also” {place}"
        return Said(words, f"is {words}")
    words = choose((f"mentioned {place}", f"referred to {place}"), generator)
    return Said(words, f"is {words}")


def word_conjunction(
    noun: str, plural: str, said: Sequence[Said], relations: Sequence[str], generator: np.random.Generator
) -> Worded:
    """A question for the one ``noun`` that satisfies all of ``said`` (two or three)."""
    style = choose(("which", "which", "request", "riddle", "several"), generator)
    order = list(range(len(said)))
    clauses: list[str]
    if style == "several":
        # The constraint that the question opens with must be one that a page states of many things.
        opener = next((i for i in order if relations[i] in ("named_on", "see_also_of", "defined_in")), None)
        if opener is None:
            style = "which"
        else:
            rest = [i for i in order if i != opener]
            start = choose(
                (f"Several {plural} are {_bare(said[opener])}.", f"More than one {noun} is {_bare(said[opener])}."),
                generator,
            )
            verbs = [said[i].verb for i in rest]
            question = f"{start} Which of them {_joined(verbs)}?"
            clauses = ["" for _ in said]
            clauses[opener] = _bare(said[opener])
            for i, verb in zip(rest, verbs, strict=True):
                clauses[i] = verb
    if style == "which":
        front = [
            i
            for i in order
            if relations[i] in ("defined_in", "listed_in", "added_in", "deprecated_since", "availability")
        ]
        front = front[: len(order) - 1]
        rest = [i for i in order if i not in front]
        middle = "".join(f", {said[i].after}," for i in front[1:]).replace(",,", ",")
        head = f"{noun} {said[front[0]].after}{middle}" if front else noun
        verbs = [said[i].verb for i in rest]
        question = f"Which {head} {_joined(verbs)}?"
        clauses = [said[i].after if i in front else said[i].verb for i in order]
    elif style == "request":
        verbs = [said[i].verb for i in order]
        start = choose(("Name the", "Find the", "Give the name of the", "Identify the"), generator)
        question = f"{start} {noun} that {_joined(verbs)}."
        clauses = verbs
    elif style == "riddle":
        first, *others = [said[i].verb for i in order]
        start = choose(("I am looking for", "I need the name of", "We want to find"), generator)
        end = choose(("Which one is it?", "What is it called?", "What is its name?"), generator)
        tail = " ".join(
            f"It {verb.replace('is ', 'is also ', 1) if verb.startswith('is ') else verb}." for verb in others
        )
        question = f"{start} {indefinite(noun)} that {first}. {tail} {end}"
        clauses = [
            first,
            *(
                verb.removeprefix("is ") if f"It is also {verb.removeprefix('is ')}" in question else verb
                for verb in others
            ),
        ]
    # "is A and is B" may have become "is A and B".
    cues = tuple(cue if cue in question else cue.removeprefix("is ") for cue in clauses)
    return Worded(question, cues, f"conjunction/{style}/{'&'.join(sorted(relations))}")


def _bare(said: Said) -> str:
    return said.after if not said.after.startswith("from ") else said.after.replace("from ", "found in ", 1)


def _joined(verbs: Sequence[str]) -> str:
    """ "is A and is B" -> "is both A and B" where both begin alike."""
    if len(verbs) == 2 and all(verb.startswith("is ") for verb in verbs):
        return f"{verbs[0]} and {verbs[1][3:]}"
    if len(verbs) <= 2:
        return " and ".join(verbs)
    return ", ".join(verbs[:-1]) + " and " + verbs[-1]
