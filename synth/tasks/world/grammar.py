"""The machinery of English that the question grammar stands on: predicates, noun phrases, marks for hops.

A **predicate** is a verb with what follows it, up to the place where its object goes: "was born | in". From one
predicate come the finite clause ("was born in X"), the plural ("were born in X"), the question with inversion
("In which city was X born?") and the relative clause with a gap ("the city in which X was born").

A **noun phrase** carries its weight, because English puts heavy phrases last: "Which university did the person who
founded the newspaper that ... attend?" is what nobody says.

``NAME`` (0) a name or "that city"; ``NOMINAL`` (1) "the capital of X"; ``CLAUSE`` (2) "the city where X was born";
``NESTED`` (3) a clause around a nominal or clause. Only ``NAME`` and ``NOMINAL`` may stand in the middle of a clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.text.inflection import article

__all__ = [
    "CLAUSE",
    "NAME",
    "NESTED",
    "NOMINAL",
    "Phrase",
    "Predicate",
    "capitalise",
    "indefinite",
    "mark",
    "possessive",
    "strip_marks",
    "tidy",
    "unmark",
]

NAME, NOMINAL, CLAUSE, NESTED = 0, 1, 2, 3

_PLURAL = {"was": "were", "is": "are", "has": "have", "does": "do"}
_AUXILIARY = frozenset(_PLURAL) - {"does"}
_PLURAL_NAMES = ("Highlands", "Islands", "Laboratories")
_MARK = 0xE000  # private use area: hop i lies between chr(_MARK + 2i) and chr(_MARK + 2i + 1)


@dataclass(frozen=True)
class Phrase:
    """A noun phrase as text with marks, and its weight."""

    text: str
    weight: int = NAME


@dataclass(frozen=True)
class Predicate:
    """``first`` (finite verb) ``middle`` ``prep`` OBJECT ``tail``."""

    first: str
    base: str
    middle: str
    prep: str
    tail: str = ""

    @classmethod
    def parse(cls, spec: str) -> Predicate:
        """From ``"was born | in"``, ``"studied~study | under"``, ``"rises~rise on the slopes | of"``; where words
        follow the object, ``_`` shows its place: ``"succeeded~succeed | _ as mayor"``. ``a(n)`` as the last word before
        the object becomes "a" or "an".

        Raises:
            ValueError: no ``|``, or a verb that is not an auxiliary has no base form.
        """
        head, bar, rest = (part.strip() for part in spec.partition("|"))
        if not bar or not head:
            raise ValueError(f"predicate {spec!r} needs a verb and a '|'")
        prep, _, tail = (part.strip() for part in rest.partition("_"))
        verb, _, middle = head.partition(" ")
        first, tilde, base = verb.partition("~")
        if first in _AUXILIARY and not tilde:
            base = first
        elif not tilde:
            raise ValueError(f"predicate {spec!r}: give the base form, as in 'studied~study'")
        return cls(first=first, base=base, middle=middle, prep=prep, tail=tail)

    @property
    def auxiliary(self) -> bool:
        return self.first == self.base

    @property
    def present(self) -> bool:
        if self.auxiliary:
            return self.first != "was"
        return self.first in (self.base + "s", self.base + "es", self.base[:-1] + "ies")

    @property
    def plain_plural(self) -> bool:
        """Whether the plural needs no more than another verb: not "are a landmark of", "have its seat in"."""
        words = {*self.middle.split(), *self.tail.split()}
        return not words & {"a", "an", "the", "its", "one", "where"}

    @property
    def clausal(self) -> bool:
        """Whether the object is the subject of a clause: "is where | _ died"."""
        return self.middle.endswith("where")

    @property
    def participle(self) -> bool:
        """Whether the auxiliary may be left out in coordination: "was born in X and educated at Y"."""
        return self.first in ("was", "is") and bool(re.fullmatch(r"\w+(ed|en|rn|lt|ld|nd|wn|on)", self.middle))

    @property
    def light(self) -> bool:
        """Whether the object can be asked for and relativised: "was born in", not "rises on the slopes of"."""
        return (
            (len(self.middle.split()) <= 1 or self.middle in ("a citizen", "a national"))
            and self.middle != "home"  # "a museum that Orrin is home to"
            and self.first != "has"
            and not self.prep.endswith("a(n)")
            and not self.clausal
        )

    def said_in(self, text: str) -> bool:
        """Whether ``text`` uses the verb: not "is situated in a city which is situated in X"."""
        words = [self.middle.partition(" ")[0]] if self.auxiliary and self.middle else [self.first, self.base]
        return not {*strip_marks(text).split()}.isdisjoint(words)

    def fits(self, heavy: bool) -> bool:
        """Whether a heavy object can stand in the predicate: "is led by X as rector" has no place for one."""
        return not (heavy and self.tail and (self.prep or self.clausal))

    def finite(self, obj: str, *, heavy: bool = False, plural: bool = False, elided: bool = False) -> str:
        """The predicate over its object: "was born in X"; ``plural`` "were born in X";
        ``elided`` "born in X" (for auxiliaries only: the second of two coordinated verbs). A ``heavy`` object goes
        last: "has X as its mayor", but "has as its mayor the person who ..."."""
        first = self.first
        if plural:
            first = _PLURAL[first] if self.auxiliary else (self.base if self.present else first)
        if elided and self.auxiliary:
            first = ""
        if heavy and self.tail:
            return tidy(f"{first} {self.middle} {self.tail} {obj}")
        return tidy(f"{first} {self.middle} {self._object(obj)}")

    def _object(self, obj: str) -> str:
        if self.prep.endswith("a(n)"):
            return f"{self.prep.removesuffix('a(n)')} {indefinite(obj)} {self.tail}"
        return f"{self.prep} {obj} {self.tail}"

    def _inverted(self, subject: str) -> str:
        """Auxiliary, subject, rest without the preposition: "was X born", "did X study"."""
        if self.auxiliary:
            return f"{self.first} {subject} {self.middle}"
        return f"{'does' if self.present else 'did'} {subject} {self.base} {self.middle}"

    def questions(self, wh: str, subject: str, *, person: bool, strand: bool = True) -> list[str]:
        """Questions for the object, without capital and question mark: "in which city was X born" and, with
        ``strand``, "which city was X born in". ``wh`` is "which city" or "whom". Empty when the predicate is too heavy
        for inversion, or a person would be the agent of a passive ("by whom was X founded": nobody asks so)."""
        if not self.light or self._agent(person):
            return []
        return self._asked(wh, self._inverted(subject), person, strand)

    def clauses(self, wh: str, subject: str, *, person: bool, strand: bool = True) -> list[str]:
        """The same questions as parts of a sentence: "in which city X was born"."""
        if not self.light or self._agent(person):
            return []
        return self._asked(wh, f"{subject} {self.first} {self.middle}", person, strand)

    def _asked(self, wh: str, body: str, person: bool, strand: bool) -> list[str]:
        if not self.prep:
            return [tidy(f"{'who' if person and not self.tail else wh} {body} {self.tail}")]
        found = [tidy(f"{self.prep} {wh} {body} {self.tail}")]
        if strand and not person and not self.tail:
            found.append(tidy(f"{wh} {body} {self.prep}"))
        return found

    def _agent(self, person: bool) -> bool:
        """Whether the object is the agent of a passive."""
        return person and self.prep == "by"

    def gaps(self, subject: str, *, person: bool, place: bool, strand: bool = True) -> list[str]:
        """Relative clauses whose gap is the object: "in which X was born", "where X was born", "X was born in"; none
        whose gap is the agent of a passive."""
        if not self.light or self.prep == "by":
            return []
        body = f"{subject} {self.first} {self.middle}"
        pointed = strip_marks(subject).startswith(("that ", "this "))
        that = "which" if pointed else "that"  # not "the river that that city"
        if not self.prep:
            return [tidy(f"{'whom' if person else that} {body} {self.tail}")]
        found = [tidy(f"{self.prep} {'whom' if person else 'which'} {body} {self.tail}")]
        if self.tail:
            return found
        if place and self.prep in ("in", "at"):
            found.append(tidy(f"where {body}"))
        elif strand and not person and not pointed:
            found.append(tidy(f"that {body} {self.prep}"))
        return found


def tidy(text: str) -> str:
    """One space between words, none before punctuation. A child is one year old."""
    text = text.replace(" 1 years old", " 1 year old")
    return re.sub(r" +([,.?;:])", r"\1", re.sub(r"\s+", " ", text)).strip()


def capitalise(text: str) -> str:
    """First letter up, whatever marks stand before it."""
    for i, char in enumerate(text):
        if not 0xE000 <= ord(char) <= 0xF8FF:
            return text[:i] + char.upper() + text[i + 1 :]
    return text


def strip_marks(text: str) -> str:
    """``text`` without marks."""
    return "".join(char for char in text if not 0xE000 <= ord(char) <= 0xF8FF)


def indefinite(noun: str) -> str:
    """The noun with its indefinite article: "a city", "an award", "a university"."""
    return f"{article(strip_marks(noun))} {noun}"


def possessive(text: str) -> str:
    """The possessive, by one rule for all names but plurals: "Tarn Vale's", "Tarn Wells's", "the Highlands'"."""
    return f"{text}'" if strip_marks(text).endswith(_PLURAL_NAMES) else f"{text}'s"


def mark(hop: int, text: str) -> str:
    """``text`` as what states hop number ``hop``."""
    return f"{chr(_MARK + 2 * hop)}{text}{chr(_MARK + 2 * hop + 1)}"


def unmark(marked: str, hops: int) -> tuple[str, list[str]]:
    """The question without marks, and each hop's cue: the words that are its own, as one run of the question.

    A phrase that ends (or begins) with the phrase of an earlier hop leaves that out; one that has it in the middle
    keeps it, for a cue must be a substring.

    Raises:
        ValueError: a hop is not marked exactly once.
    """
    text: list[str] = []
    opened: dict[int, int] = {}
    spans: dict[int, tuple[int, int]] = {}
    for char in marked:
        code = ord(char) - _MARK
        if not 0 <= code < 0x1000:
            text.append(char)
        elif code % 2 == 0:
            if code // 2 in opened:
                raise ValueError(f"hop {code // 2} is stated twice")
            opened[code // 2] = len(text)
        else:
            spans[code // 2] = (opened[code // 2], len(text))
    if sorted(spans) != list(range(hops)):
        raise ValueError(f"{hops} hops, but {sorted(spans)} are stated")
    question = "".join(text)
    cues = []
    for hop in range(hops):
        start, end = spans[hop]
        inner = [
            s for other, s in spans.items() if other != hop and start <= s[0] and s[1] <= end and s != (start, end)
        ]
        for left, right in sorted(inner, reverse=True):
            if question[right:end].strip(" ,.?") in ("", "and") and start < left:
                end = left
        for left, right in sorted(inner):
            if question[start:left].strip() == "" and right < end:
                start = right
        cue = question[start:end].strip(" ,.?")
        cue = cue.removeprefix("'s ")
        if not cue:
            raise ValueError(f"hop {hop} has no words of its own in {question!r}")
        cues.append(cue)
    return question, cues
