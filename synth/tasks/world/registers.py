"""How a question is put: plainly, politely, as a quiz, with a reason, as a request.

What is asked comes in three forms (a :class:`Core`); every register takes one of them and adds words around it. The
words added say nothing about the walk: they stand outside the marks.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.lexicon.reading import registers
from synth.tasks.world.grammar import capitalise
from synth.tasks.world.wording import Noun

__all__ = ["ALONE", "Core", "identify", "put", "topics"]

ALONE = frozenset({"quick", "trivia", "reason", "afterwards", "wonder", "quiz"})
"""Registers that open a conversation: none of them may follow a sentence that has already been told."""


@dataclass(frozen=True)
class Core:
    """What is asked, marked, without capital and final sign."""

    noun: Noun
    """What is sought."""
    head: str = ""
    """What a sought entity is called; empty for values."""
    direct: tuple[str, ...] = ()
    """Questions: "in which city was X born"."""
    clause: tuple[str, ...] = ()
    """The same as part of a sentence: "in which city X was born"."""
    phrase: tuple[str, ...] = ()
    """Definite noun phrases: "the city where X was born"."""

    @property
    def person(self) -> bool:
        return self.noun.person

    @property
    def is_value(self) -> bool:
        return self.noun.is_value


def identify(person: bool, head: str) -> tuple[str, ...]:
    """Questions that ask what a thing or person just described is called, without question mark."""
    if person:
        return ("Who is it", "What is this person's name", "Who was this")
    return ("What is it called", "What is its name", f"Which {head} is it")


def put(core: Core) -> dict[str, list[str]]:
    """Whole questions by register, without capital. Registers that have none are left out."""
    words = registers()
    found: dict[str, list[str]] = {
        "plain": [f"{text}?" for text in core.direct],
        **{
            name: [f"{opener}: {text}?" for text in core.direct for opener in words[name]]
            for name in ("quick", "trivia", "wonder")
        },
        **{
            name: [f"{opener} {text}?" for text in core.clause for opener in words[name]]
            for name in ("indirect", "polite")
        },
        **{
            name: [f"{opener} {text}. {capitalise(end)}?" for text in core.clause for opener, end in words[name]]
            for name in ("curious", "need")
        },
        "order": [f"{opener} {text}." for text in core.clause for opener in words["order"]],
    }
    around = words["value" if core.is_value else "entity"]
    if core.is_value:
        reasons = around["reasons"].get(core.noun.kind, ())
        found["what"] = [f"what is {text}?" for text in core.phrase]
        found["looking"] = [
            f"{opener} {text}. {capitalise(end)}?" for text in core.phrase for opener, end in around["looking"]
        ]
    else:
        reasons = [reason.format(topic=core.noun.topic) for reason in around["reasons"]]
        found["name"] = [f"what is the name of {text}?" for text in core.phrase]
        found["looking"] = [
            f"{opener} {text}. {end}?"
            for text in core.phrase
            for opener in around["looking"]
            for end in identify(core.person, core.head)
        ]
    found["command"] = [f"{opener} {text}." for text in core.phrase for opener in around["command"]]
    found["request"] = [f"{opener} {text}?" for text in core.phrase for opener in around["request"]]
    found["reason"] = [f"{reason} {capitalise(text)}?" for text in core.direct for reason in reasons]
    found["afterwards"] = [f"{text}? {reason}" for text in core.direct for reason in reasons]
    return {name: texts for name, texts in found.items() if texts}


def topics(thing: str) -> list[str]:
    """Sentences that introduce ``thing``, which the question goes on to speak of."""
    return [frame.format(thing=thing) for frame in registers()["topics"]]
