"""What was in view and could be mistaken for something else: other documents, other names, other values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from synth.annotate.evidence.view import names_of
from synth.annotate.preferences.perturb.run import GoodRun
from synth.environments.observed import observe
from synth.environments.rendering import find_links
from synth.text.dates import DATE, YEAR, parse_date
from synth.text.numbers import NUMBER, parse_quantity
from synth.text.words import same_words, words_of

__all__ = [
    "Seen",
    "alike",
    "asked_for",
    "documents",
    "folder_of",
    "is_gold",
    "likely",
    "name_of",
    "of_kind",
    "passage_with",
    "wrong_answers",
]


@dataclass(frozen=True)
class Seen:
    """A document that an observation named."""

    name: str
    target: str
    """As an agent would write it: ``document`` or ``document#place``."""
    step: int
    """The turn whose observation showed it last."""


def documents(run: GoodRun, step: int) -> list[Seen]:
    """Documents that were named before ``step`` by a title or a link, each once, the last shown first, in the order of
    the text within one turn."""
    found: dict[str, Seen] = {}
    for number in range(step - 1, -1, -1):
        for result in run.history[number].results:
            for item in find_links(result.content) if result.error is None else ():
                found.setdefault(item.target.split("#", 1)[0], Seen(item.anchor, item.target, number))
    return list(found.values())


def name_of(run: GoodRun, step: int, target: str) -> str | None:
    """By what name ``target`` was shown last before ``step``."""
    document = target.split("#", 1)[0]
    exact = [item for item in _links(run, step) if item[1] == target]
    loose = [item for item in _links(run, step) if item[1].split("#", 1)[0] == document]
    return next((name for name, _ in (*exact, *loose)), None)


def _links(run: GoodRun, step: int) -> Iterator[tuple[str, str]]:
    for number in range(step - 1, -1, -1):
        for result in run.history[number].results:
            yield from ((item.anchor, item.target) for item in find_links(result.content))


def alike(left: str, right: str) -> float:
    """How easily two names are mistaken for each other, 0 to 1: shared words, shared beginnings and ends of words."""
    a, b = set(words_of(left).split()), set(words_of(right).split())
    if not a or not b:
        return 0.0
    grams = [{w[:3] for w in words} | {w[-3:] for w in words} for words in (a, b)]
    return 0.6 * len(a & b) / len(a | b) + 0.4 * len(grams[0] & grams[1]) / len(grams[0] | grams[1])


def likely(
    items: list[Seen], name: str, target: str | None, generator: np.random.Generator, keep: int = 4
) -> list[Seen]:
    """The ``keep`` documents that are the easiest to take for ``name`` (the document ``target``), in an order that is
    drawn: shown last, alike in name, of one folder."""
    folder = folder_of(target) if target is not None else None
    latest = max((item.step for item in items), default=0)
    ranked = sorted(
        items,
        key=lambda item: (
            -(alike(item.name, name) + 0.5 * (item.step == latest) + 0.5 * (folder_of(item.target) == folder)),
            item.target,
        ),
    )
    best = ranked[:keep]
    return [best[int(at)] for at in generator.permutation(len(best))]


def wrong_answers(run: GoodRun, step: int, generator: np.random.Generator) -> list[str]:
    """Values of the kind that is asked for, seen before ``step``, that are not the answer: those of the last
    observation first, in an order that is drawn. Nothing that the question itself says is among them."""
    found: list[str] = []
    for number in range(step - 1, max(-1, step - 4), -1):
        here: list[str] = []
        for result in run.history[number].results:
            if result.error is None:
                here += _values(run, result.content)
        here = list(dict.fromkeys(here))
        found += [here[int(at)] for at in generator.permutation(len(here))]
    return [value for value in dict.fromkeys(found) if _may_be_said(run, value)]


def asked_for(run: GoodRun) -> frozenset[str]:
    """Pages of what the question itself names or describes."""
    return frozenset(hop.source.document_id for hop in run.task.walk.hops if hop.source.document_id and not hop.needs)


def folder_of(target: str) -> str:
    """The folder that a document's id stands in: the one thing in an id that tells kinds of pages apart."""
    return target.split("#", 1)[0].rpartition("/")[0]


def is_gold(run: GoodRun, target: str) -> bool:
    """Whether ``target`` is the page of the answer, under whatever name."""
    gold = run.task.walk.hops[-1].target.document_id if run.task.walk.hops else None
    return gold is not None and gold == target.split("#", 1)[0]


def of_kind(run: GoodRun, target: str) -> bool:
    """Whether ``target`` could be what is asked for, as far as ids tell."""
    gold = run.task.walk.hops[-1].target.document_id if run.task.walk.hops else None
    return gold is not None and folder_of(gold) == folder_of(target)


def _values(run: GoodRun, content: str) -> Iterator[str]:
    kind = run.task.answer_kind
    observed = observe(content)
    # What the environment says of itself ("5 results", "page 1 of 3") is not a value that was read.
    own = bool(observed.about or observed.results)
    told = (part for part in observed.passages if (part.document or not own) and not part.text.startswith("("))
    text = "\n".join(passage.text for passage in told)
    if kind == "date":
        yield from (match.group() for match in DATE.finditer(text) if parse_date(match.group()))
    elif kind == "year":
        yield from (match.group() for match in YEAR.finditer(text))
    elif kind in ("number", "quantity"):
        unit = (parse_quantity(run.task.answer) or _NO_UNIT).unit
        masked = DATE.sub(lambda match: "#" * len(match.group()), text)
        for match in NUMBER.finditer(masked):
            written = match.group()
            if unit:
                after = re.match(rf"\s?{re.escape(unit)}(?!\w)", masked[match.end() :], re.IGNORECASE)
                written = f"{written}{after.group()}" if after else ""
            elif YEAR.fullmatch(written):
                written = ""
            if written and parse_quantity(written):
                yield written
    else:
        shown = [(item.anchor, item.document) for passage in observed.passages for item in passage.links]
        shown += [(hit.title, hit.document) for hit in observed.results]
        gold = {name for name, document in shown if is_gold(run, document)}
        yield from (name for name, document in shown if of_kind(run, document) and name not in gold)


def passage_with(run: GoodRun, step: int, value: str, beside: str = "") -> str | None:
    """A short sentence that was read before ``step`` and holds ``value``, the last read first; with ``beside``, another
    sentence: under the same heading of the same page."""
    for past in reversed(run.history[:step]):
        for result in past.results:
            passages = observe(result.content).passages if result.error is None else ()
            near = next((one for one in passages if one.text.strip() == beside), None)
            for passage in passages if near is not None or not beside else ():
                text, placed = passage.text.strip(), near is None or passage.heading == near.heading
                if placed and value in text and 20 <= len(text) <= 240 and '"' not in text and text[-1] in ".!?":
                    return text
    return None


class _NoUnit:
    unit = ""


_NO_UNIT = _NoUnit()


def _may_be_said(run: GoodRun, value: str) -> bool:
    if words_of(value) in words_of(run.task.question):
        return False
    golds = (run.task.answer, *run.task.answer_aliases, run.row.answer or "")
    if any(same_words(value, gold) for gold in golds):
        return False
    target = run.task.walk.hops[-1].target if run.task.walk.hops else None
    return target is None or not any(same_words(value, name) for name in names_of(target))
