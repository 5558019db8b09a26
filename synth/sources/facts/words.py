"""Words for relations that the lexicon does not have: derived by rule from their labels.

A label is read as one of five forms: a noun ("capital", "date of birth"), a noun that names the subject ("author of"),
a passive ("directed by", "located in"), a verb ("borders", "plays for"), or a participle with a date ("founded"). What
the rule makes of it is data: it is written in the words of :mod:`synth.lexicon.model`, so a file can say it better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.lexicon.model import EntityTypeEntry, FramedComparison, InSize, QuestionWords, RelationEntry
from synth.schemas.documents import ValueKind
from synth.text.inflection import IRREGULAR_PLURALS, article, capital, imperative, plural, third_person

__all__ = [
    "PREPOSITIONS",
    "RelationShape",
    "derive_relation",
    "derive_type",
    "names_its_object",
    "opens_with_verb",
    "plain_label",
    "plural_of",
]

PREPOSITIONS = "by in at on from to with for after into under through as near against within".split()
_AUXILIARY = r"(?:(?:is|was|are|were|has been) )?"
_IRREGULAR = {
    "born": "bear", "built": "build", "chosen": "choose", "drawn": "draw", "found": "find", "given": "give",
    "held": "hold", "known": "know", "led": "lead", "made": "make", "run": "run", "set": "set", "shot": "shoot",
    "sold": "sell", "sung": "sing", "spoken": "speak", "taught": "teach", "taken": "take", "won": "win",
    "worn": "wear", "written": "write",
}  # fmt: skip
_PAST = {
    "bear": "bore", "choose": "chose", "draw": "drew", "give": "gave", "know": "knew", "run": "ran", "sing": "sang",
    "speak": "spoke", "take": "took", "wear": "wore", "write": "wrote",
}  # fmt: skip
_LASTING = frozenset(
    "located situated based headquartered contained included used named related connected owned".split()
)
"""Passives of what still holds: "is located in", where "was founded by" is over."""
_VERBS = frozenset(
    """
    borders belongs breaks calls causes contains consists controls covers crosses cites depends derives employs eats
    encloses enhances extends features feeds flows follows grows holds houses implements imports includes influences
    inhabits inherits invokes involves joins keeps leads lies links lives makes manages manufactures marries meets
    neighbours neighbors occupies offers operates orbits owns performs plays precedes produces prevents provides
    recommends references regulates replaces reports represents requires resembles runs sells serves shares speaks
    stands studies succeeds suggests supersedes supplies supports surrounds targets teaches treats touches triggers
    uses visits wears works writes
    """.split()
)
_VERB_WITH = re.compile(rf"[a-z]{{3,}}[^s]s (?:{'|'.join(PREPOSITIONS)})")
"""A verb that the list lacks shows by its preposition: "competes with", "subscribes to"."""
_E_STEMS = re.compile(r"(?:[^aeiou][aeiou](?:r|t)|at|[cgsvuz]|[^aeiou]l|duc|pos|fin|quir)$")
_NO_E = re.compile(r"(?:ss|sh|ch|ess|nt|ct|pt|ft|ll|ow|er|en|on|op|it|et|ish)$")
_COUNTED = re.compile(r"number of (?P<of>.+)|(?P<per>.+s per \w+)|(?P<many>[a-z ]+[^sui\W]s)")
"""What there are so many of: "number of cylinders", "miles per gallon", "inhabitants"."""
_SIZES = frozenset("area population size surface volume budget crew enrolment enrollment capacity diameter".split())
_EXTENTS = frozenset("height depth length width weight mass distance radius diameter thickness duration".split())


@dataclass(frozen=True)
class RelationShape:
    """What the facts of a relation look like."""

    label: str
    subject: tuple[str, ...]
    """Types of the subjects."""
    object: tuple[str, ...]
    """Types of the objects; empty when they are values."""
    value: ValueKind = "entity"
    unit: str | None = None
    functional: bool = True
    inverse_functional: bool = False
    symmetric: bool = False
    """Whenever one thing stands in it to another, the other does to the one."""
    usual: bool = True
    """Almost every subject has one object: "its capital" is how one speaks, even where a few have two."""
    crowded: bool = False
    """Many subjects share an object."""


def plain_label(label: str) -> str:
    """A label or identifier as words: "capitalOf", "capital_of", ".../capital-of" -> "capital of"."""
    text = re.split(r"[/#](?=[^/#]+$)", label)[-1] if "://" in label else label
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ")
    if "://" in label or " " not in text:
        text = text.replace("-", " ")
    text = " ".join(text.split())
    return text if re.search(r"[A-Z]{2}", text) else text.lower()


def plural_of(noun: str) -> str:
    """The plural; of "date of birth" that of its head."""
    head, of, rest = noun.partition(" of ")
    *first, last = head.split()
    return " ".join([*first, IRREGULAR_PLURALS.get(last) or plural(last)]) + of + rest


def derive_type(kind: str, *, hub: bool) -> EntityTypeEntry:
    """The words of a type of entities: its own name."""
    return EntityTypeEntry(noun=kind, plural=plural_of(kind), hub=hub)


def names_its_object(label: str) -> bool:
    """Whether a relation's label is a plain noun for what it leads to: "country", not "borders", "author of"."""
    words = plain_label(label).split()
    verbal = words[0] in _VERBS or words[0] in ("has", "is", "was") or words[-1] in (*PREPOSITIONS, "of")
    return len(words) <= 2 and not verbal and all(word.isalpha() for word in words) and not words[-1].endswith("ed")


def opens_with_verb(label: str) -> bool:
    """Whether a label is what its subject does: "borders", "speaks"."""
    return label.split()[0] in _VERBS


def _base(participle: str) -> str:
    """The base of a participle: "directed" -> "direct", "produced" -> "produce"."""
    if participle in _IRREGULAR:
        return _IRREGULAR[participle]
    stem = participle.removesuffix("ed")
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl":
        return stem[:-1]
    if _E_STEMS.search(stem) and not _NO_E.search(stem):
        return stem + "e"
    return stem


def derive_relation(shape: RelationShape) -> RelationEntry:
    """All that is said of the relation."""
    label = plain_label(shape.label)
    passive = re.fullmatch(rf"{_AUXILIARY}(\w+ed|{'|'.join(_IRREGULAR)})(?: ({'|'.join(PREPOSITIONS)}))?", label)
    first, _, rest = label.partition(" ")
    size = None
    counted = _COUNTED.fullmatch(label)
    if shape.value != "entity":
        if counted is not None and shape.value == "number" and shape.functional:
            things = counted["of"] or counted["per"] or counted["many"]
            page, question, size = _counted(things, f"number of {label}" if counted["many"] else label)
        elif label == "year" and shape.value == "year":
            page, question, size = _year(shape)
        elif passive is not None and not passive[2] and shape.value in ("date", "year"):
            page, question, size = _dated(passive[1], shape)
        else:
            noun = re.sub(r"^has (?:an? )?|^the ", "", label)
            page, question, size = _valued(noun, shape)
    elif label in ("origin", "country of origin", "place of origin") and shape.functional:
        page, question = _origin(label)
    elif passive is not None and passive[2]:
        page, question = _passive(passive[1], passive[2], shape)
    elif (named := re.fullmatch(rf"{_AUXILIARY}(?:an? |the )?(\w.*) of", label)) is not None:
        page, question = _named(named[1], shape)
    elif first in _VERBS or _VERB_WITH.fullmatch(label):
        page, question = _verb(first, rest)
    else:
        page, question = _noun(re.sub(r"^has (?:an? )?|^the ", "", label), shape)
    if shape.symmetric:
        question = question.model_copy(update={"object_does": question.subject_does, "subject_is": question.object_is})
    return RelationEntry(
        subject=shape.subject,
        object=shape.object,
        value=shape.value,
        unit=shape.unit,
        functional=shape.functional,
        inverse_functional=shape.inverse_functional,
        symmetric=shape.symmetric,
        crowd="closed" if shape.crowded else None,
        page=(page,),
        question=question,
        in_size=size,
    )


def _own(noun: str, shape: RelationShape) -> str:
    """Where the noun stands behind "has X as"."""
    if "person" in shape.subject:
        return f"their {noun}" if shape.usual else noun
    return f"its {noun}" if shape.usual else f"{article(noun)} {noun}"


def _noun(noun: str, shape: RelationShape) -> tuple[str, QuestionWords]:
    one = "the" if shape.usual else article(noun)
    page = "The {n} of {s} is {o}." if shape.functional else "{an} {n} of {s} is {o}."
    return page.replace("{n}", noun).replace("{an}", capital(article(noun))), QuestionWords(
        subject_does=(f"has | _ as {_own(noun, shape)}",),
        # Where many share an object, it is rather a property: nobody says "Turbo-prop is the engine of several planes".
        object_does=() if shape.crowded else (f"is {one} {noun} | of",),
        subject_sets=(f"{{things}} whose {noun} is {{x}}",) if shape.functional else (),
        object_is=(f"the {noun} of {{x}}", f"{{x's}} {noun}"),
        tense="present",
    )


def _named(noun: str, shape: RelationShape) -> tuple[str, QuestionWords]:
    """The relation says what its subject is: "author of"."""
    if noun == "part":
        said = "part"
    else:
        said = f"the {noun}" if shape.inverse_functional else f"{article(noun)} {noun}"
    own = noun if "person" in shape.object else f"{'its' if shape.inverse_functional else article(noun)} {noun}"
    return f"{{s}} is {said} of {{o}}.", QuestionWords(
        subject_does=(f"is {said} | of",),
        object_does=(f"has | _ as {own}",),
        subject_is=(f"the {noun} of {{x}}",) if shape.inverse_functional else (),
        tense="present",
    )


def _passive(participle: str, preposition: str, shape: RelationShape) -> tuple[str, QuestionWords]:
    verb = "is" if participle in _LASTING else "was"
    does: tuple[str, ...] = ()
    if preposition == "by":
        base = _base(participle)
        past = _PAST.get(base, participle)
        if verb == "is":
            past = third_person(base)
        does = (f"{past}~{base} |",)
    elif preposition in ("in", "at"):
        does = (f"is where | _ {verb} {participle}",)
    return f"{{s}} {verb} {participle} {preposition} {{o}}.", QuestionWords(
        subject_does=(f"{verb} {participle} | {preposition}",),
        object_does=does,
        tense="present" if verb == "is" else "past",
    )


def _verb(first: str, rest: str) -> tuple[str, QuestionWords]:
    base = imperative(first)
    *middle, last = rest.split() or [""]
    if last not in PREPOSITIONS:
        middle, last = [*middle, last] if last else middle, ""
    does = f"{first}~{base} {' '.join(middle)} | {last}".replace("  ", " ")
    return f"{{s}} {first} {rest + ' ' if rest else ''}{{o}}.", QuestionWords(subject_does=(does,), tense="present")


_ADDED = frozenset(
    "area population mass weight length duration distance cost price revenue budget income profit sales production "
    "capacity consumption emissions circulation attendance enrollment volume".split()
)
"""What several things have in common as a sum: "the combined area", but no combined density."""


def _valued(noun: str, shape: RelationShape) -> tuple[str, QuestionWords, InSize | None]:
    words = QuestionWords(
        subject_does=(f"has | _ as {_own(noun, shape)}",)
        if shape.value in ("date", "year", "text")
        else (f"has {article(noun)} {noun} | of",),
        object_is=(f"the {noun} of {{x}}", f"{{x's}} {noun}"),
        asks=(f"What is the {noun} of {{x}}?",),
        tense="present",
    )
    page = f"{'The' if shape.functional else capital(article(noun))} {noun} of {{s}} is {{o}}."
    if shape.value == "text" or not shape.functional:
        return page, words, None
    more, less, most, least = _degrees(noun, shape.value)
    return (
        page,
        words,
        InSize(
            noun=noun,
            more=(f"has the {more} [{noun}]",),
            less=(f"has the {less} [{noun}]",),
            most=(f"has the {most} [{noun}]",),
            least=(f"has the {least} [{noun}]",),
            together=FramedComparison(frame="combined") if noun.split()[-1] in _ADDED else (),
        ),
    )


def _counted(things: str, noun: str) -> tuple[str, QuestionWords, InSize]:
    """How many there are of something: "has more cylinders", where "has the higher number of cylinders" is a form's."""
    words = QuestionWords(
        subject_does=(f"has | _ {things}",),
        object_is=(f"the {noun} of {{x}}", f"{{x's}} {noun}"),
        asks=(f"How many {things} does {{x}} have?",),
        tense="present",
    )
    size = InSize(
        noun=noun,
        more=(f"has more [{things}]",),
        less=(f"has fewer [{things}]",),
        most=(f"has the most [{things}]",),
        least=(f"has the fewest [{things}]",),
        together=() if " per " in things else FramedComparison(frame="altogether", things=things),
    )
    return f"The {noun} of {{s}} is {{o}}.", words, size


def _year(shape: RelationShape) -> tuple[str, QuestionWords, InSize | None]:
    """A year that nothing more is said of: "is from 1974"."""
    words = QuestionWords(
        subject_does=("is | from",),
        object_is=("the year of {x}",),
        asks=("What year is {x} from?", "What is the year of {x}?"),
        tense="present",
    )
    size = InSize(
        noun="year",
        more=("is [newer]",),
        less=("is [older]",),
        most=("is the [newest]",),
        least=("is the [oldest]",),
    )
    return "The year of {s} is {o}.", words, size if shape.functional else None


def _origin(noun: str) -> tuple[str, QuestionWords]:
    return f"The {noun} of {{s}} is {{o}}.", QuestionWords(
        subject_does=("comes~come | from",),
        object_does=(f"is the {noun} | of",),
        object_is=(f"the {noun} of {{x}}", f"{{x's}} {noun}"),
        tense="present",
    )


def _degrees(noun: str, value: ValueKind) -> tuple[str, str, str, str]:
    """Which of two, and of many, lies higher or lower: "the larger area", "the earliest date of birth"."""
    if value in ("date", "year"):
        return "later", "earlier", "latest", "earliest"
    if noun.split()[-1] in _SIZES:
        return "larger", "smaller", "largest", "smallest"
    if noun.split()[-1] in _EXTENTS:
        return "greater", "smaller", "greatest", "smallest"
    return "higher", "lower", "highest", "lowest"


def _dated(participle: str, shape: RelationShape) -> tuple[str, QuestionWords, InSize | None]:
    """ "founded" with a date."""
    on, unit = ("in", "year") if shape.value == "year" else ("on", "date")
    said = f"was {participle}"
    words = QuestionWords(
        subject_does=(f"{said} | {on}",),
        object_is=(f"the {unit} {on} which {{x}} {said}",),
        asks=(f"When was {{x}} {participle}?", f"{on.capitalize()} which {unit} was {{x}} {participle}?"),
    )
    size = InSize(
        noun=f"{unit} {on} which it {said}",
        more=(f"[{said}] later",),
        less=(f"[{said}] earlier",),
        most=(f"[{said}] last",),
        least=(f"[{said}] first",),
    )
    return f"{{s}} {said} {on} {{o}}.", words, size if shape.functional else None
