"""Walks to questions, with the words of each hop marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synth.lexicon.reading import document_words
from synth.tasks.docs.describe import Start
from synth.tasks.docs.english import indefinite
from synth.tasks.docs.kinds import PLACES, noun_of, short
from synth.tasks.docs.steps import Step
from synth.text.lists import listed

__all__ = ["Said", "Worded", "constraint_words", "word_composition", "word_conjunction"]

_WORDS = document_words()
_MARKED = re.compile("«(.*?)»")
_TOLD = ("cross_reference", "also_listed", "cited_for", "refers_for", "more_in")
"""Where one text points to another, "the section that the section refers to" is hard to read: it gets its sentence."""
_LONG = 90
"""A known thing of more characters stands at the end of its question, and no further thing is told by it."""


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
    start: Start, steps: Sequence[Step], kinds: Sequence[str], generator: np.random.Generator
) -> Worded:
    """A question for ``steps`` from a start. ``kinds``: of each step's target, "" for values. The first cue is that of
    the start when it is described."""
    nouns = [noun_of(kind) if kind else "value" for kind in kinds]
    style = _style(start, steps, generator)
    cues = [] if start.description is None else [start.description.phrase]
    known = start.phrase
    sentences: list[str] = []
    family = ""
    called = [noun_of(start.kind)]
    for step, noun in zip(steps[:-1], nouns[:-1], strict=True):
        phrases = _WORDS.relations[step.relation]
        options = phrases.tell if style == "story" else phrases.noun
        text, cue, number = _say(options, _slots(step, noun, known), generator)
        family += f".{number}"
        cues.append(cue)
        if style == "story":
            sentences.append(text)
            known = f"that {short(noun)}" if noun not in called else f"that other {short(noun)}"
            called.append(noun)
        else:
            known = text
    last, noun = steps[-1], nouns[-1]
    slots = _slots(last, noun, known)
    if style == "request":
        text, cue, number = _say(_WORDS.relations[last.relation].noun, slots, generator)
        closing = int(generator.integers(len(_WORDS.closings)))
        sentences.append(_WORDS.closings[closing].format(n=text))
        family += f".{number}.{closing}"
    else:
        asks = _WORDS.relations[last.relation].ask
        ends = tuple(ask for ask in asks if ask.endswith("{s}?"))
        text, cue, number = _say(ends if len(known) > _LONG and ends else asks, slots, generator)
        sentences.append(text)
        family += f".{number}"
    cues.append(cue)
    relations = ">".join(step.relation for step in steps)
    begins = "named" if start.description is None else "described"
    question = " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)
    surface = f"composition/{begins}/{style}{family}/{relations}"
    return Worded(question, tuple(_as_written(cue, question) for cue in cues), surface)


def _say(options: Sequence[str], slots: dict[str, str], generator: np.random.Generator) -> tuple[str, str, int]:
    number = int(generator.integers(len(options)))
    template = options[number]
    if _PLACE.match(slots["s"]):
        template = template.replace(" the documentation of»", "»").replace(" the documentation of {s}", " {s}")
        template = template.replace("The documentation of {s}", "{S}")
    if slots["s"].startswith(("the page ", "that page", "that other page")):
        template = re.sub(r"\b([Ii])n(?=»? \{s\})", lambda m: "On" if m[1] == "I" else "on", template)
    return *say(template, **slots), number


_PLACE = re.compile(rf"(?:the|that)(?: other)? (?:{'|'.join(sorted(PLACES))})\b")
"""Of a stretch of text one says "in the section", of other things "in the documentation of"."""


def _style(start: Start, steps: Sequence[Step], generator: np.random.Generator) -> str:
    """One noun may be nested in another where both are short; else every hop gets a sentence of its own."""
    told = len(steps) > 1 and all(_WORDS.relations[step.relation].tell for step in steps[:-1])
    nested = len(steps) == 1 or (
        len(steps) == 2
        and bool(_WORDS.relations[steps[0].relation].noun)
        and len(start.phrase) + len(steps[0].extra) <= _LONG
        and steps[0].relation not in (steps[1].relation, *_TOLD)
    )
    styles = ["story", "story"] if told else []
    if nested or not told:
        styles.append("nested")
        if _WORDS.relations[steps[-1].relation].noun:
            styles.append("request")
    return choose(styles, generator)


def _slots(step: Step, noun: str, known: str) -> dict[str, str]:
    extra = step.extra
    return {"s": known, "S": known[0].upper() + known[1:], "k": noun, "x": extra, "X": extra[:1].upper() + extra[1:]}


def _as_written(cue: str, question: str) -> str:
    """The cue as the question has it: its first letter may have become a capital."""
    if cue in question:
        return cue
    return cue[0].upper() + cue[1:]


# Conjunctions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A constraint in words."""

    relation: str
    source: str
    after: str
    """Follows the noun: "added in version 3.5"."""
    verb: str
    """Follows the subject: "was added in version 3.5"."""


def constraint_words(relation: str, source: str, value: str, generator: np.random.Generator) -> Said:
    """``source``: a noun phrase ("the os module", "the section “Exceptions”"), or "" for a value."""
    after, verb = choose_pair(_WORDS.constraints[relation], generator)
    if _PLACE.match(source):
        where = "on {s}" if source.startswith("the page ") else "in {s}"
        after, verb = (text.replace("in the documentation of {s}", where) for text in (after, verb))
    slots = {"s": source, "v": value}
    return Said(relation, source, after.format(**slots), verb.format(**slots))


def choose_pair(options: Sequence[tuple[str, str]], generator: np.random.Generator) -> tuple[str, str]:
    return options[int(generator.integers(len(options)))]


def word_conjunction(noun: str, plural: str, said: Sequence[Said], generator: np.random.Generator) -> Worded:
    """A question for the one ``noun`` that satisfies all of ``said`` (two or three)."""
    relations = [one.relation for one in said]
    if len(said) == 2 and relations[0] == relations[1]:
        return _both(noun, said, generator)
    front = next((i for i, one in enumerate(said) if one.relation in _SCOPES), None)
    style = choose(
        ("which", "request", "riddle", "of_all") if front is not None else ("which", "request", "riddle"), generator
    )
    # A clause with a clause of its own stands last, so that no other can be taken for a part of it.
    order = sorted(range(len(said)), key=lambda i: said[i].relation in ("references", "bare_unit"))
    clauses = [one.verb for one in said]
    variant = 0
    if style == "of_all":
        assert front is not None
        start, variant = _choose_numbered(
            ("Of all {p} {a}, which {v}?", "Among the {p} {a}, which one {v}?", "Which of the {p} {a} {v}?"), generator
        )
        clauses[front] = said[front].after
        verbs = [said[i].verb for i in order if i != front]
        question = start.format(p=plural, a=said[front].after, v=_joined(verbs))
    elif style == "which":
        rest = order
        head = noun
        if front is not None:
            clauses[front] = said[front].after
            rest, head = [i for i in order if i != front], f"{noun} {said[front].after}"
        start, variant = _choose_numbered(("Which {n} {v}?", "What {n} {v}?"), generator)
        question = start.format(n=head, v=_joined([said[i].verb for i in rest]))
    elif style == "request":
        start, variant = _choose_numbered(
            (
                "Name the {n} that {v}.",
                "Find the {n} that {v}.",
                "Which is the {n} that {v}?",
                "Please find the {n} that {v}.",
            ),
            generator,
        )
        question = start.format(n=noun, v=_joined([clauses[i] for i in order]))
    else:
        first, *others = [clauses[i] for i in order]
        start, variant = _choose_numbered(
            ("I am looking for {n} that {v}.", "I need the name of {n} that {v}.", "There is {n} that {v}."), generator
        )
        end, number = _choose_numbered(("Which one is it?", "What is it called?", "What is its name?"), generator)
        variant = 3 * variant + number
        tail = " ".join(_also(verb) for verb in others)
        question = f"{start.format(n=indefinite(noun), v=first)} {tail} {end}"
    cues = tuple(_cue(cue, question) for cue in clauses)
    return Worded(question, cues, f"conjunction/{style}.{variant}/{'&'.join(sorted(relations))}")


_SCOPES = frozenset(
    (
        "defined_in",
        "listed_in",
        "added_in",
        "deprecated_since",
        "set_when",
        "row_of",
        "default_setting",
        "documented_in",
    )
)


def _both(noun: str, said: Sequence[Said], generator: np.random.Generator) -> Worded:
    template, variant = _choose_numbered(_WORDS.both[said[0].relation], generator)
    if said[0].relation == "named_on":
        # A section is a text itself; of anything else one reads the documentation.
        places = [bool(_PLACE.match(one.source)) for one in said]
        template = template.replace("the documentation of {a}", "{a}") if places[0] else template
        template = template.replace(
            "that of {b}", "{b}" if places[1] else f"{'the documentation' if places[0] else 'that'} of {{b}}"
        )
    text = template.format(n=noun, a=said[0].source, b=said[1].source)
    cues = tuple(_MARKED.findall(text))
    question = text.replace("«", "").replace("»", "").replace(f" a {noun}", f" {indefinite(noun)}")
    return Worded(question, cues, f"conjunction/both.{variant}/{said[0].relation}&{said[1].relation}")


def _choose_numbered(options: Sequence[str], generator: np.random.Generator) -> tuple[str, int]:
    number = int(generator.integers(len(options)))
    return options[number], number


def _also(verb: str) -> str:
    """ "was added" -> "It was also added."."""
    first, _, rest = verb.partition(" ")
    auxiliary = first in ("is", "was", "can") or verb.startswith("has been ")
    return f"It {first} also {rest}." if auxiliary else f"It also {verb}."


def _cue(clause: str, question: str) -> str:
    return clause if clause in question else clause.partition(" ")[2]


def _joined(verbs: Sequence[str]) -> str:
    """ "is listed here and is listed there" -> "is listed here and listed there"."""
    if len(verbs) == 2 and all(verb.startswith(("is listed ", "is mentioned ", "is found ")) for verb in verbs):
        return f"{verbs[0]} and {verbs[1][3:]}"
    return listed(verbs)
