"""Sets in words: "the films directed by X", "the rivers that rise on Mount Orr", "how many books did X write"."""

from __future__ import annotations

from synth.tasks.world.grammar import CLAUSE, NAME, NOMINAL, Phrase, Predicate, mark, tidy
from synth.tasks.world.links import Link

__all__ = ["bracketed", "counted", "plural_does", "set_phrases", "several"]


def _echoes(predicate: Predicate, plural: str) -> bool:
    """Whether the predicate says the noun again: "the cities that X counts among its cities"."""
    return plural in (*predicate.middle.split(), *predicate.tail.split())


def plural_does(link: Link, known: Phrase) -> list[str]:
    """Finite clauses whose subject are the members: "were directed by X", "rise on Mount Orr"."""
    heavy = known.weight > NOMINAL
    return [
        predicate.finite(known.text, heavy=heavy, plural=True)
        for predicate in link.does()
        if predicate.plain_plural and predicate.fits(heavy) and not predicate.clausal and not (heavy and predicate.tail)
    ]


def set_phrases(link: Link, known: Phrase, plural: str) -> list[str]:
    """The members as a noun phrase without article, marked: "films directed by X", "films that X directed". Around a
    heavy ``known`` only what needs no second clause."""
    heavy = known.weight >= CLAUSE
    found = [
        template.replace("{things}", plural).replace("{x}", known.text)
        for template in link.sets()
        if not (heavy and "{things}" in template)  # "planes whose model is the model of ..."
    ]
    for predicate in link.does():
        if predicate.participle and predicate.plain_plural and predicate.fits(heavy) and not (heavy and predicate.tail):
            found.append(f"{plural} {predicate.finite(known.text, heavy=heavy, elided=True)}")
    if not heavy:
        pronoun = "who" if link.person else "that"
        found += [f"{plural} {pronoun} {clause}" for clause in plural_does(link, known)]
        for predicate in link.undergoes() if known.weight == NAME else ():
            if _echoes(predicate, plural) or {"a", "an"} & {*predicate.middle.split(), *predicate.tail.split()}:
                continue  # "people whom X had as a professor"
            gaps = predicate.gaps(known.text, person=link.person, place=False)
            # "people whom the academy educated" is too formal for a question.
            found += [f"{plural} {gap}" for gap in gaps if "whom" not in gap.split()]
    return [mark(link.number, text) for text in dict.fromkeys(found)]


def counted(link: Link, known: Phrase, plural: str) -> tuple[list[str], list[str]]:
    """Questions for the number of members and the same as clauses, marked: "how many films did X direct"."""
    wh = f"how many {plural}"
    told = [tidy(f"{wh} {clause}") for clause in plural_does(link, known)]
    direct, clauses = list(told), list(told)
    if known.weight < CLAUSE:
        for predicate in link.undergoes():
            if _echoes(predicate, plural) or (predicate.prep and not predicate.tail):
                continue  # "on how many rivers does X lie" asks for the place
            direct += predicate.questions(wh, known.text, person=False)
            clauses += predicate.clauses(wh, known.text, person=False)
    return [mark(link.number, text) for text in direct], [mark(link.number, text) for text in clauses]


def several(link: Link, known: Phrase, plural: str) -> list[str]:
    """Statements that there are members, marked, without capital: "X directed several films"."""
    if known.weight >= CLAUSE:
        return []
    found = [f"several {plural} {clause}" for clause in plural_does(link, known)]
    for predicate in link.undergoes():
        if predicate.prep.endswith("a(n)") or predicate.clausal or _singular(predicate) or _echoes(predicate, plural):
            continue
        found.append(f"{known.text} {predicate.finite(f'several {plural}')}")
    return [mark(link.number, tidy(text)) for text in found]


def _singular(predicate: Predicate) -> bool:
    """Whether the predicate speaks of one object: "is the source of several rivers" is fine, "is known as the author of
    several books" too, "has X as its capital" is not."""
    return bool(predicate.tail) and "among" not in predicate.tail


def bracketed(clause: str, measure: int, operation: int) -> str:
    """A clause of :mod:`synth.tasks.world.measures` with its brackets turned into marks: the words of the measure, and
    around them those of the operation."""
    left, open_, rest = clause.partition("[")
    if not open_:
        return mark(operation, mark(measure, clause))
    words, _, right = rest.partition("]")
    return mark(operation, f"{left}{mark(measure, words)}{right}")
