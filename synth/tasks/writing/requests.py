"""What a new wording of a request may and may not do: rules for tasks with a plan, checked exactly, without a model.

A request has no walk; it has stretches (who writes, one thing that is asked for, why), each with the values in it, and
a plan that says where each value of its calls comes from. So these rules hold: every value stands in the words of its
own stretch, led as it was ("from" stays "from"); the stretches keep their order; no value that has to be looked up is
told, none that the person says only when asked, none of another row; nothing becomes conditional that was not; and the
names, numbers, negations and directions of :mod:`synth.tasks.writing.words` hold as for any question.

Whether plain words still mean the same is what the second reader is asked. Whatever is unsure is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from synth.schemas.details import details_with
from synth.schemas.plans import Given, Plan, Planned, PlannedCall
from synth.schemas.tasks import Reworded
from synth.tasks.draft import Draft
from synth.tasks.writing.parts import Part
from synth.tasks.writing.words import ASKING, NUMBER_WORDS, additions, names_and_numbers, turns
from synth.tasks.writing.writer import Rules
from synth.text.words import FUNCTION_WORDS, content_words, stem, tokens
from synth.text.words import words as words_in

__all__ = ["Values", "given_words", "parts_in", "request_rules", "values_of"]

Values = Collection[tuple[str, ...]]
"""Values of an environment as runs of tokens."""
_LONGEST_VALUE = 5
"""Tokens of a value up to which it is looked for: longer ones are texts."""
_LONGEST = 1.8
"""A new request is at most so many times as long as the old one, or so long as it and 100 characters."""
_QUOTES = "\"“”'‘’"
_SMALL = re.compile(r"(?:^|[.!?] )[a-z]")
_DETERMINERS = frozenset("the a an my our your his her their this that".split())
_AGAINST = {"from": "to", "to": "from", "before": "after", "after": "before", "until": "since", "since": "until"} | {
    "under": "over",
    "over": "under",
    "below": "above",
    "above": "below",
    "by": "to",
    "with": "instead",
}
_CONDITIONS = frozenset("if unless otherwise provided whether case else failing alternatively".split())
_SEQUENCE = frozenset("then after afterwards once next finally last lastly subsequently".split())
_COURTESY = frozenset(
    """
    good morning afternoon evening day dear team hey there kindly appreciate appreciated grateful cheers thanks much
    many lot regards best favour favor sort arrange take care happy pleased handle get done please quick quickly
    additionally furthermore while anything everything moment possible whenever convenient sincerely greetings writing
    request requesting required require asap message contact contacting reach reaching
    """.split()
)
"""Words of somebody who writes to a desk, in which nothing is told."""
_OPENERS = (
    _COURTESY
    | _SEQUENCE
    | _CONDITIONS
    | frozenset(
        """
    add adjust apply arrange assign attach book bring buy call cancel carry change check choose clear close comment
    confirm connect convert copy correct create cut deduct delete delivery drop edit empty enter exchange extend file
    fill fix flag forward free grant hand hold increase install issue keep label leave lend link list lock log look
    lower
    make mark measure merge modify move note notify open order organise organize park pass pause pay pick place plan
    post prepare prolong publish push put raise rebook receive record redo reduce refund register release remind remove
    rename renew reopen repair replace reply report reschedule reserve reset resolve restore return review revoke run
    save schedule sell send set settle ship shorten sign split start stop store submit swap switch tag tick track
    transfer transform turn undo unlink unlock update upgrade use void watch withdraw write my our today tomorrow now
    something somebody unfortunately actually alternatively sorry just kindly got having going need needs thank
    """.split()
    )
)
"""Words with which a sentence of a request may begin, and that are not names."""


@dataclass(frozen=True)
class _Around:
    """What must not come in."""

    looked_up: tuple[tuple[str, ...], ...]
    untold: frozenset[str]
    others: Values
    ordered: bool


def parts_in(question: str, stretches: Sequence[tuple[str, Iterable[str]]]) -> tuple[Part, ...]:
    """The parts of a request, in the order in which they stand there; empty where one of them is not found.

    Args:
        stretches: Text of each, in any case, and the words in it that say a value.
    """
    found: list[tuple[int, Part]] = []
    plain = question.lower()
    if len(plain) != len(question):
        return ()
    taken: list[tuple[int, int]] = []
    for text, said in stretches:
        wanted = text.strip().rstrip(".").lower()
        at = plain.find(wanted)
        while at >= 0 and any(at < end and start < at + len(wanted) for start, end in taken):
            at = plain.find(wanted, at + 1)
        if at < 0 or not wanted:
            return ()
        taken.append((at, at + len(wanted)))
        cue = question[at : at + len(wanted)]
        found.append((at, Part(cue, _kept(cue, said))))
    return tuple(part for _, part in sorted(found, key=lambda one: one[0]))


def _kept(cue: str, said: Iterable[str]) -> tuple[str, ...]:
    """The values that stand in a stretch, as it has them, in their order there."""
    places: dict[str, int] = {}
    for words in map(_stripped, said):
        match = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", cue, re.I) if _tells(words) else None
        if match is not None:
            places.setdefault(match.group(), match.start())
    return tuple(sorted(places, key=lambda words: (places[words], -len(words))))


def values_of(texts: Iterable[object]) -> frozenset[tuple[str, ...]]:
    """Values that are looked for in a wording: short texts, by their tokens; numbers are compared elsewhere."""
    found: set[tuple[str, ...]] = set()
    for text in texts:
        if not isinstance(text, str) or len(text) > 80:
            continue
        words = tuple(tokens(text.replace("_", " ")))
        if 0 < len(words) <= _LONGEST_VALUE and any(len(word) > 2 and word not in FUNCTION_WORDS for word in words):
            found.add(words)
    return frozenset(found)


def request_rules(parts: Sequence[Part], draft: Draft, others: Values) -> Rules:
    """The rules for one request.

    Args:
        parts: Its stretches; none = it is not to be reworded.
        others: Values of the environment: those that the request does not say must not come in.
    """
    plan = Planned.of(draft.details).plan
    around = _Around(
        looked_up=tuple(values_of(_looked_up(plan))),
        untold=frozenset(word for fact in plan.user if not fact.amount for word in content_words(fact.says))
        - _COURTESY
        - ASKING,
        others=others,
        ordered=any(word in _SEQUENCE for word in words_in(draft.question)),
    )

    def problem(before: str, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
        found = (
            _form(before, question)
            or _foreign(before, question, around)
            or names_and_numbers(before, question, _OPENERS)
            or turns(before, question)
            or _gone(before, question, around)
            or _kind(before, question, around)
            or _stated(question, parts, words)
            or additions(before, question, words, _COURTESY)
        )
        if found is not None:
            return found
        for given in _said(plan):
            if given_words(given.words, question, parts, words) is None:
                return f"{given.words!r}, which the solution needs, is gone"
        return None

    return Rules(
        lambda _: parts, problem, lambda draft, question, words: _reworded(draft, plan, question, parts, words)
    )


def given_words(words: str, question: str, parts: Sequence[Part], new: Mapping[str, str]) -> str | None:
    """Words of the old request as the new one has them; None where it has them no more.

    A value stands there as it did. What was told in words of one's own is now told in the new words of its stretch.
    """
    if words in question:
        return words
    bare = _stripped(words)
    if _tells(bare) and (place := _find(bare, question)) is not None:
        return question[place : place + len(bare)]
    for part in parts:
        # Only a whole stretch, or words that hold no value, may be put in other words.
        whole = words.strip().rstrip(".").casefold() == part.cue.strip().rstrip(".").casefold()
        free = words.casefold() in part.cue.casefold() and not any(_in(value, words) for value in part.keep)
        if whole or (free and (len(words.split()) > 3 or not _tells(bare))):
            return new[part.cue]
    return None


def _reworded(draft: Draft, plan: Plan, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> Draft:
    def put(given: Given) -> Given:
        if given.source != "question":
            return given
        return given.model_copy(update={"words": given_words(given.words, question, parts, words)})

    def again(calls: Sequence[PlannedCall]) -> tuple[PlannedCall, ...]:
        return tuple(
            call.model_copy(update={"given": {path: put(given) for path, given in call.given.items()}})
            for call in calls
        )

    told = {"calls": again(plan.calls), "attempts": again(plan.attempts)}
    again_planned = Planned(plan=plan.model_copy(update=told))
    details = details_with(Reworded(question_before=draft.question), draft.details, again_planned)
    return draft.model_copy(update={"question": question, "surface": "written", "details": details})


# --- rules ------------------------------------------------------------------------------------------------------------


def _form(before: str, question: str) -> str | None:
    if question != " ".join(question.split()):
        return "it has line breaks or stray blanks"
    if not question.rstrip(_QUOTES + ")").endswith(("?", ".", "!")):
        return "it does not end as a sentence does"
    if len(_SMALL.findall(question)) > len(_SMALL.findall(before)):
        return "a sentence begins with a small letter"
    if len(question) > max(_LONGEST * len(before), len(before) + 100):
        return f"it has {len(question)} characters, the request had {len(before)}"
    strange = set("{}<>|\\`*#") - set(before)
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Co") for sign in question) or strange & set(question):
        return "it holds signs that no request needs"
    return None


def _stated(question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
    """Each stretch has its own words, behind those of the one before, with its values in them."""
    behind = 0
    for part in parts:
        said = words.get(part.cue)
        if not said or not said.strip():
            return f"nothing states {part.cue!r}"
        at = question.find(said, behind)
        if at < 0:
            where = "are not in it" if said not in question else "stand in another order, or in those of another part"
            return f"the words given for {part.cue!r} {where}: {said!r}"
        behind = at + len(said)
        missing = next((value for value in part.keep if not _in(value, said)), None)
        if missing is not None:
            return f"the words for {part.cue!r} do not hold {missing!r}"
        if len(said.split()) > 2 * len(part.cue.split()) + 8:
            return f"the words for {part.cue!r} say much more: {said!r}"
        wrong = _led(part, said)
        if wrong is not None:
            return wrong
    return None


def _led(part: Part, said: str) -> str | None:
    """No value is led by the opposite of the word that led it, and two that changed places by what led them before."""
    old, new = (
        {value: (_find(value, text) or 0, _lead(value, text)) for value in part.keep} for text in (part.cue, said)
    )
    for value in part.keep:
        if _AGAINST.get(old[value][1], "-") == new[value][1]:
            return f"{value!r} came behind {old[value][1]!r}, and now comes behind {new[value][1]!r}"
    for one, other in combinations(part.keep, 2):
        flipped = (old[one][0] < old[other][0]) != (new[one][0] < new[other][0])
        if flipped and any(not old[value][1] or old[value][1] != new[value][1] for value in (one, other)):
            return f"{one!r} and {other!r} stand in another order, and nothing says what each is"
    return None


def _kind(before: str, question: str, around: _Around) -> str | None:
    """What is asked for at once stays so, what is a second choice too, and an order that was said is said."""
    old, new = set(words_in(before)), set(words_in(question))
    conditional = [
        bool(words & _CONDITIONS) or "should that" in text.casefold() or "should this" in text.casefold()
        for words, text in ((old, before), (new, question))
    ]
    if conditional[0] != conditional[1]:
        return "a condition came or went"
    if around.ordered and not new & _SEQUENCE:
        return "it says no more in which order"
    return None


def _gone(before: str, question: str, around: _Around) -> str | None:
    """A number in words, or a value of the environment, that the request said by the way."""
    old, new = tokens(before), tokens(question)
    missing = next((word for word in old if word in NUMBER_WORDS and word not in new), None)
    if missing is not None:
        return f"the number {missing!r} is gone"
    for size in range(1, _LONGEST_VALUE + 1):
        for at in range(len(old) - size + 1):
            run = tuple(old[at : at + size])
            if run in around.others and not _is_verb(run) and not _run(run, new):
                return f"{' '.join(run)!r} is gone"
    return None


def _foreign(before: str, question: str, around: _Around) -> str | None:
    old, new = tokens(before), tokens(question)
    for value in around.looked_up:
        if _run(value, new) and not _run(value, old):
            return f"{' '.join(value)!r} has to be looked up"
    untold = [word for word in content_words(question) if word in around.untold and word not in old]
    if untold:
        return f"{untold[0]!r} is what the person says when asked"
    stems = {stem(word) for word in old}
    for size in range(1, _LONGEST_VALUE + 1):
        for at in range(len(new) - size + 1):
            run = tuple(new[at : at + size])
            if run not in around.others or _is_verb(run) or _run(run, old):
                continue
            if not all(stem(word) in stems for word in run):
                return f"{' '.join(run)!r} is a value that the request does not say"
    return None


def _is_verb(run: Sequence[str]) -> bool:
    """Whether a value reads like what one asks for ("change", as a topic): its stretch keeps it where it is a value."""
    return len(run) == 1 and run[0] in _OPENERS


# --- words ------------------------------------------------------------------------------------------------------------


def _looked_up(plan: Plan) -> Iterator[object]:
    """Values of the plan that an observation shows, or the person says."""
    for call in (*plan.calls, *plan.attempts):
        for path, given in call.given.items():
            if given.source in ("observation", "user"):
                value: object = call.arguments
                for step in path.split("."):
                    if isinstance(value, list):
                        value = value[int(step)]
                    else:
                        value = value.get(step) if isinstance(value, dict) else None
                yield value if isinstance(value, str) else None


def _said(plan: Plan) -> Iterator[Given]:
    for call in (*plan.calls, *plan.attempts):
        yield from (given for given in call.given.values() if given.source == "question")


def _stripped(words: str) -> str:
    return words.strip().strip(_QUOTES).strip()


def _tells(words: str) -> bool:
    """Whether words say a value: "me" and "it" may be put otherwise."""
    return any(word not in FUNCTION_WORDS for word in tokens(words))


def _find(value: str, text: str) -> int | None:
    """Where a value stands: letter by letter where it has capitals or digits, else in any case."""
    exact = any(sign.isupper() or sign.isdigit() for sign in value)
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, 0 if exact else re.I)
    return None if match is None else match.start()


def _in(value: str, text: str) -> bool:
    return _find(value, text) is not None


def _lead(value: str, text: str) -> str:
    """The word before a value, articles apart: it says what the value is to what is asked for."""
    at = _find(value, text)
    before = [word for word in tokens(text[: at or 0]) if word not in _DETERMINERS]
    return before[-1] if before else ""


def _run(needle: Sequence[str], words: Sequence[str]) -> bool:
    size = len(needle)
    return any(tuple(words[at : at + size]) == tuple(needle) for at in range(len(words) - size + 1))
