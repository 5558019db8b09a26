"""How a question is put: plainly, politely, as a quiz, with a reason, as a request.

What is asked comes in three forms (a :class:`Core`); every register takes one of them and adds words around it. The
words added say nothing about the walk: they stand outside the marks.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.sources.world.schema import ENTITY_TYPES
from synth.tasks.world.grammar import capitalise

__all__ = ["ALONE", "Core", "identify", "put"]

ALONE = frozenset({"quick", "trivia", "reason", "afterwards", "wonder", "quiz"})
"""Registers that open a conversation: none of them may follow a sentence that has already been told."""

_QUICK = ("quick question", "here is a question for you", "a small question", "one thing I could not find")
_TRIVIA = ("here's one for a pub quiz", "trivia question", "quiz question", "a riddle for the weekend")
_WONDER = ("I was just wondering", "I keep asking myself", "tell me", "something I have always wondered about")
_INDIRECT = ("do you know", "do you happen to know", "does anyone know", "any idea")
_POLITE = (
    "could you tell me", "can you tell me", "could you please tell me", "would you mind telling me",
    "are you able to tell me",
)  # fmt: skip
_FORGOTTEN = (("I can't remember", "can you help me"), ("I have forgotten", "can you remind me"))
_NEED = (
    ("I need to know", "can you help"), ("I'd like to know", "can you find out"),
    ("I'm trying to work out", "can you help me"), ("someone asked me", "do you have an answer"),
)  # fmt: skip
_ORDER = ("find out", "please tell me", "tell me", "please find out")
_REQUEST = ("can you name", "could you name", "can you identify", "could you please name")
_COMMAND = ("name", "please name", "identify", "give me the name of")
_LOOKING = ("I am looking for", "I'm trying to find", "I would like to identify", "I want to read up on")
_VALUE_COMMAND = ("give me", "please look up", "find", "look up")
_VALUE_REQUEST = ("can you give me", "could you find", "could you look up", "can you look up")
_VALUE_LOOKING = (
    ("I'm looking for", "can you find it"), ("I need", "can you look it up"), ("I'm trying to find", "what is it"),
    ("I would like to know", "can you help"),
)  # fmt: skip

_ENTITY_REASONS = (
    "I'm putting together a list of {topic}.",
    "I'm writing an article about {topic}.",
    "We're preparing a quiz about {topic}.",
    "My daughter is doing a school project on {topic}.",
    "I'm reading up on {topic}.",
)
_TOPICS = {"person": "notable people", "artwork": "works of art", "award": "prizes and awards",
    "team": "sports teams", "laboratory": "research laboratories", "species": "wildlife", "museum": "museums",
}  # fmt: skip
_VALUE_REASONS = {
    "date": ("I'm drawing up a timeline.", "I need an exact date for a caption.", "I'm checking some dates."),
    "year": ("I'm drawing up a timeline.", "I need a year for a caption.", "I'm checking some dates."),
    "number": ("I'm checking some figures.", "I need a figure for a report.", "I'm filling in a table."),
    "quantity": ("I'm checking some figures.", "I need a measurement for a report.", "I'm filling in a table."),
}


@dataclass(frozen=True)
class Core:
    """What is asked, marked, without capital and final sign."""

    kind: str
    """Entity type or value kind of what is sought."""
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
        return self.kind == "person"

    @property
    def is_value(self) -> bool:
        return self.kind not in ENTITY_TYPES


def identify(person: bool, head: str) -> tuple[str, ...]:
    """Questions that ask what a thing or person just described is called, without question mark."""
    if person:
        return ("Who is it", "What is this person's name", "Who is meant", "Who was this")
    return ("What is it called", "What is its name", f"Which {head} is it", f"Which {head} is meant")


def _topic(kind: str) -> str:
    return _TOPICS.get(kind) or ENTITY_TYPES[kind].plural


def put(core: Core) -> dict[str, list[str]]:
    """Whole questions by register, without capital. Registers that have none are left out."""
    found: dict[str, list[str]] = {
        "plain": [f"{text}?" for text in core.direct],
        "quick": [f"{opener}: {text}?" for text in core.direct for opener in _QUICK],
        "trivia": [f"{opener}: {text}?" for text in core.direct for opener in _TRIVIA],
        "wonder": [f"{opener}: {text}?" for text in core.direct for opener in _WONDER],
        "indirect": [f"{opener} {text}?" for text in core.clause for opener in _INDIRECT],
        "polite": [f"{opener} {text}?" for text in core.clause for opener in _POLITE],
        "forgotten": [f"{opener} {text}. {capitalise(end)}?" for text in core.clause for opener, end in _FORGOTTEN],
        "need": [f"{opener} {text}. {capitalise(end)}?" for text in core.clause for opener, end in _NEED],
        "order": [f"{opener} {text}." for text in core.clause for opener in _ORDER],
    }
    reasons: tuple[str, ...]
    if core.is_value:
        reasons = _VALUE_REASONS.get(core.kind, ())
        found["what"] = [f"what is {text}?" for text in core.phrase]
        found["command"] = [f"{opener} {text}." for text in core.phrase for opener in _VALUE_COMMAND]
        found["request"] = [f"{opener} {text}?" for text in core.phrase for opener in _VALUE_REQUEST]
        found["looking"] = [
            f"{opener} {text}. {capitalise(end)}?" for text in core.phrase for opener, end in _VALUE_LOOKING
        ]
    else:
        reasons = tuple(reason.format(topic=_topic(core.kind)) for reason in _ENTITY_REASONS)
        found["name"] = [f"what is the name of {text}?" for text in core.phrase]
        found["command"] = [f"{opener} {text}." for text in core.phrase for opener in _COMMAND]
        found["request"] = [f"{opener} {text}?" for text in core.phrase for opener in _REQUEST]
        found["looking"] = [
            f"{opener} {text}. {end}?"
            for text in core.phrase
            for opener in _LOOKING
            for end in identify(core.person, core.head)
        ]
    found["reason"] = [f"{reason} {capitalise(text)}?" for text in core.direct for reason in reasons]
    found["afterwards"] = [f"{text}? {reason}" for text in core.direct for reason in reasons]
    return {name: texts for name, texts in found.items() if texts}
