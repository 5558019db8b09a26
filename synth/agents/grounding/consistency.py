"""Whether what a scripted agent says agrees with what it does, and leaves out nothing that it was shown.

``ungrounded`` looks at what is put into a thought; this looks at what is left out of one, and at words that the deed
belies. Who quotes a list and goes on with the members that happen to be right has used what was not read. It reads the
phrases of the lexicon, so it judges scripted agents; a model's words are its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from synth.agents.contract import History, Prompt
from synth.agents.grounding.claims import unlike, wrong_matches
from synth.agents.grounding.first_fit import unread_rivals
from synth.agents.grounding.said import SaidRun, SaidTurn, found_in, is_said, named_in, says
from synth.agents.scripted.matching import short
from synth.agents.scripted.phrases import PHRASES
from synth.environments.contract import ToolCall
from synth.environments.observed import observe
from synth.environments.shown import Page
from synth.text.words import fold

__all__ = ["Flaw", "Inconsistency", "inconsistencies", "poor_reason"]

_REWORDED = ("search_again", "search_reworded")
_WRONG_RELATION = ("g_wrong_relation", "g_wrong_plain")
_WHY_SILENT = ("dismiss_why_silent", "dismiss_why_described")
"""Reasons that need not name the page."""
_FIRST = ("g_common", "in_results")
"""Reasons to try something before what stands above it."""
_TRIED = ("candidate", "candidate_next", "candidate_read", "found")
_OPENS = ("open", "get_relations")
_OVER_PAGES = ("search", "open", "find", "outline", "filter", "count")
"""How names of tools begin in runs over pages; in a browser or a graph one opens by other means."""
_ACTS = {
    "search": (
        *("search_name", "search_names", "search_more", "search_reverse", "search_again", "search_longer"),
        *("search_described", "search_told", "search_first", "search_list", "search_rest", "search_narrower"),
    ),
    "open": (
        *(
            "hit_named",
            "hit_first",
            "hit_below",
            "hit_among",
            "hit_alike",
            "hit_told",
            "hit_snippet",
            "hit_try",
            "open_link",
            "open_page",
            "open_these",
            "rest_open",
            "next_page",
        ),
        *("leaf", "under_heading", "found_page", "verify_open", "crosscheck_open"),
    ),
    "find": ("find_word", "verify_find"),
    "outline": ("outline",),
}
"""Tool -> what is said by who calls it."""


class Flaw(StrEnum):
    """What is wrong with a turn."""

    LIST = "left out of a list"
    """A list is quoted, and a name of it is neither taken up nor rejected."""
    CANDIDATE = "left out of the candidates"
    """Something of a quoted list is tried, and the rest of the list is not named."""
    PASSED = "passed over in a list"
    """Something of a quoted list is tried, and nothing says why not what stands before it."""
    SILENT = "mentioned after all"
    """It puts a page aside because that does not mention a name, and it does."""
    FIRST = "stops at the first that fits"
    """Of several possibilities that it named it answers with one, or goes by one, and leaves others unread."""
    COMPARISON = "left out of a comparison"
    """Something on the agent's own list is not among what it compares, counts or answers from."""
    UNTOLD = "nothing said of it"
    """Something is asked of each on the list, and of one nothing is said."""
    DISMISSED = "rejected without a reason"
    """Something is put aside, and nothing before says why."""
    PAGE = "opened and never spoken of"
    """A page, or what is known of an entity, was looked at and left without a word."""
    REWORDED = "no other words"
    """It says that it searches in other words, and the words are the same."""
    CONTRADICTED = "put aside what it has just settled"
    """In one breath something is taken and rejected."""
    MATCHES = "another number of matches"
    """It tells of other matches than were found."""
    UNCHECKED = "a check that is not made"
    """It says that it checks, and answers."""
    UNSEARCHED = "no search behind it"
    """It says that nothing else turns up, and has not searched."""
    UNDONE = "no such call"
    """It says that it searches, opens or looks something up, and does not."""
    AT_ONCE = "begins in one place and looks in several"
    """It says that it begins with one name and comes to the rest later, and looks up several in that turn."""
    ALIKE = "nothing alike"
    """It says that a title resembles a name, and they share no word."""
    LINK = "no such link"
    """It claims to follow a link to a page, and neither what is in view nor what it quotes has one."""
    OTHER = "opens something else"
    """It opens what its thought does not name."""


@dataclass(frozen=True)
class Inconsistency:
    turn: int
    flaw: Flaw
    text: str

    def __str__(self) -> str:
        return f"turn {self.turn}: {self.flaw.value}: {self.text!r}"


def inconsistencies(prompt: Prompt, history: History, *, start: int = 0) -> list[Inconsistency]:
    """Everything in the turns from ``start`` on that leaves something out, or says what is not done; in order."""
    run = SaidRun(prompt, history)
    found = [
        Inconsistency(turn.number, flaw, text)
        for turn in run.turns
        if turn.number >= start and turn.thought
        for rule in _RULES
        for flaw, text in rule(run, turn)
    ]
    return [*found, *(one for one in _unspoken(run) if one.turn >= start)]


_REASONED = frozenset((Flaw.LIST, Flaw.CANDIDATE, Flaw.PASSED, Flaw.COMPARISON, Flaw.DISMISSED, Flaw.CONTRADICTED))
"""Flaws of a turn's reasons, whatever comes of it."""


_ANNOUNCED = ("search_name", "g_find", "g_relations", "g_triples", "hit_try")
"""What is said by who makes a call; alone it says nothing of why."""
_NO_REASON = ("answer_guess", "p_around", "untold")


def poor_reason(prompt: Prompt, history: History, *, start: int) -> str | None:
    """What is wrong with the reasons of the turns from ``start`` on as an example to follow, if anything: something was
    left out, put aside without a word, the answer is a guess, a rule is got around, or one who thinks elsewhere does
    not say why."""
    if len(history) == start + 1 and any(step.turn.thought for step in history[:start]):
        thought = history[start].turn.thought or ""
        if not thought or any(is_said(intent, thought) for intent in _ANNOUNCED):
            return f"no reason: {thought!r}"
    guess = (says(_NO_REASON, step.turn.thought or "") for step in history[start:])
    guessed = next((match.group() for match in guess if match is not None), None)
    if guessed is not None:
        return f"no reason: {guessed!r}"
    found = inconsistencies(prompt, history, start=start)
    return next((str(one) for one in found if one.flaw in _REASONED), None)


_Found = Iterator[tuple[Flaw, str]]


def _lists(run: SaidRun, turn: SaidTurn) -> _Found:
    members = [name for intent, name in turn.notes if intent == "member"]
    # A possibility taken up again comes from a list that was quoted before: what confirms it now is another list.
    confirmed = {name for intent, name in turn.notes if intent == "confirm"}
    tried = [name for intent, name in turn.notes if intent == "candidate"]
    tried += [name for intent, name in turn.notes if intent == "candidate_next" and name not in confirmed]
    # The same holds for a candidate confirmed in this turn: only a line quoted before it can be its list.
    until = _place_of_candidate(turn) if tried and confirmed.issuperset(tried) and not members else None
    listed = {name for one in run.turns[: turn.number] for intent, name in one.notes if intent == "member"}
    for names in run.listings(turn, until) if members or tried else ():
        if not set(names).isdisjoint(members):
            left = [name for name in names if not run.spoken_of(name, turn.number) and not named_in(run.question, name)]
            yield from ((Flaw.LIST, name) for name in left if name not in listed)
        elif not set(names).isdisjoint(tried):
            said = [one.bare for one in run.turns[: turn.number + 1]]
            left = [name for name in names if not any(named_in(text, name) for text in said)]
            if says(("g_common",), turn.thought) is not None:  # left out is what does not come up in both
                left = [name for name in left if sum(name in ends for ends in run.fans(turn.number)) > 1]
            yield from ((Flaw.CANDIDATE, name) for name in left if not any("and others" in text for text in said))
            if says(_FIRST, turn.thought) is None:
                yield from ((Flaw.PASSED, name) for name in _passed(run, turn, names, tried))
    for name in tried if says(_FIRST, turn.thought) is None else ():  # goes on with a list that was quoted before
        earlier = (names for one in reversed(run.turns[: turn.number]) for names in run.listings(one) if name in names)
        if not any(name in names for names in run.listings(turn)) and (before := next(earlier, None)) is not None:
            yield from ((Flaw.PASSED, other) for other in _passed(run, turn, before, [name]))


def _place_of_candidate(turn: SaidTurn) -> int | None:
    """Where the first possibility of a turn is named as one."""
    names = [name for intent, name in turn.notes if intent == "candidate"]
    places = [turn.thought.find(phrase.format(found=name)) for name in names for phrase in PHRASES["candidate"]]
    return min((place for place in places if place >= 0), default=None)


def _passed(run: SaidRun, turn: SaidTurn, names: Sequence[str], tried: Sequence[str]) -> Iterator[str]:
    """What stands in a list before the first that is tried, and was neither put aside nor is of another kind."""
    before = names[: next(at for at, name in enumerate(names) if name in tried)]
    earlier = run.turns[: turn.number + 1]
    gone = {name for one in earlier for intent, name in one.notes if intent in ("dismiss", "strike", *_TRIED)}
    kinds = " ".join(found.group() for one in earlier for found in found_in("of_kind", one.thought))
    for name in before:
        if name not in gone and not named_in(kinds, name) and not named_in(run.question, name):
            yield name


def _silent(run: SaidRun, turn: SaidTurn) -> _Found:
    """Over pages: what is said to be silent on a name is."""
    for title, page in run.pages(turn.number).items():
        for match in found_in("dismiss_why_silent", turn.thought):
            groups = [group for group in match.groups() if group]
            name = next((group for group in groups if group != title), None)
            if title in groups and name is not None and any(named_in(text, name) for text in page):
                yield Flaw.SILENT, f"{name} on {title}"


def _sets(run: SaidRun, turn: SaidTurn) -> _Found:
    """At the answer: every member of the list was struck, told of, or is named in the conclusion."""
    if run.history[turn.number].turn.calls or not run.history[turn.number].turn.answer:
        return
    notes = [note for one in run.turns[: turn.number + 1] for note in one.notes]
    if not any(intent == "complete" for intent, _ in notes) or says(("answer_guess",), turn.thought):
        return
    gone = {name for intent, name in notes if intent in ("strike", "dismiss")}
    members = [name for name in dict.fromkeys(name for intent, name in notes if intent == "member") if name not in gone]
    about = {name for intent, name in notes if intent in ("about", "untold", "keep")}
    if about:
        yield from ((Flaw.UNTOLD, name) for name in members if name not in about)
    noted = [phrase.format(found=name) for intent, name in turn.notes for phrase in PHRASES[intent]]
    ends = [turn.thought.rfind(text) + len(text) for text in noted if text in turn.thought]
    ends += [listed.end() for intent in ("all_listed", "members") for listed in found_in(intent, turn.thought)]
    conclusion = turn.thought[max(ends, default=0) :]
    yield from ((Flaw.COMPARISON, name) for name in members if not named_in(conclusion, name))


def _dismissals(run: SaidRun, turn: SaidTurn) -> _Found:
    for intent, name in turn.notes:
        if intent not in ("dismiss", "strike"):
            continue
        phrases = (phrase.format(found=name) for phrase in PHRASES[intent])
        before = turn.thought[: max(turn.thought.find(phrase) for phrase in phrases)]
        subject = name.removesuffix(" (out)").removesuffix(" (in)").removesuffix(" (both)")
        if subject not in before and '"' not in before and not says(_WHY_SILENT, before):
            yield Flaw.DISMISSED, name
        settled = [other for kind, other in turn.notes if kind in ("found", "told", "keep")]
        wrong = says(_WRONG_RELATION, turn.thought)
        for other in settled:
            if (name == other and intent == "dismiss") or (wrong is not None and other in wrong.group()):
                yield Flaw.CONTRADICTED, other


def _searches(run: SaidRun, turn: SaidTurn) -> _Found:
    calls = [call for call in run.history[turn.number].turn.calls if "query" in call.arguments]
    if says(_REWORDED, turn.bare) is not None:
        earlier = {
            frozenset(fold(str(call.arguments["query"])).split())
            for step in run.history[: turn.number]
            for call in step.turn.calls
            if "query" in call.arguments
        }
        for call in calls:
            if frozenset(fold(str(call.arguments["query"])).split()) in earlier:
                yield Flaw.REWORDED, str(call.arguments["query"])
    for intent, name in turn.notes:
        if intent == "complete" and _pages(run) and not _searched(run, turn.number, name):
            yield Flaw.UNSEARCHED, name


def _pages(run: SaidRun) -> bool:
    return any(call.name == "open" for step in run.history for call in step.turn.calls)


def _searched(run: SaidRun, before: int, name: str) -> bool:
    return any(
        named_in(str(call.arguments.get("query", "")), name)
        for step in run.history[:before]
        for call in step.turn.calls
        if "query" in call.arguments
    )


def _matches(run: SaidRun, turn: SaidTurn) -> _Found:
    yield from ((Flaw.MATCHES, text) for text in wrong_matches(run, turn))


def _alike(run: SaidRun, turn: SaidTurn) -> _Found:
    if _pages(run):
        yield from ((Flaw.ALIKE, text) for text in unlike(turn))


def _checks(run: SaidRun, turn: SaidTurn) -> _Found:
    said = None
    for intent in ("check_condition", "check_that"):
        for match in found_in(intent, turn.thought):
            said = match if said is None or match.end() > said.end() else said
    if said is None or run.history[turn.number].turn.calls:
        return
    rest = turn.thought[said.end() :]
    if not any(
        intent in ("confirm", "dismiss", "keep", "strike", "found") and name in rest for intent, name in turn.notes
    ):
        yield Flaw.UNCHECKED, said.group()


def _opens(run: SaidRun, turn: SaidTurn) -> _Found:
    calls = run.history[turn.number].turn.calls
    opened = [
        str(call.arguments.get("document") or call.arguments.get("entity") or "")
        for call in calls
        if call.name in _OPENS
    ]
    if len(opened) != 1 or len(calls) != 1:
        return
    document = opened[0].split("#", 1)[0]
    own = run.anchors.get(document, set())
    named = [other for other in run.titles.values() if other not in own and named_in(turn.bare, other)]
    if named and own and not any(named_in(turn.thought, name) for name in own) and "page" not in calls[0].arguments:
        yield Flaw.OTHER, run.titles[document]


def _deeds(run: SaidRun, turn: SaidTurn) -> _Found:
    """Where it says over pages that it does something, it does that. A call is told by how its tool's name begins."""
    made = [call.name for call in run.history[turn.number].turn.calls]
    if any(not _is_over_pages(call) for step in run.history for call in step.turn.calls):
        return
    for tool, intents in _ACTS.items():
        said = says(intents, turn.thought)
        if said is not None and not any(name.startswith(tool) for name in made):
            yield Flaw.UNDONE, said.group()


def _is_over_pages(call: ToolCall) -> bool:
    """Whether a call is of a run over pages. Tools of a desk may begin alike, and go on with what they find
    (``find_payee``)."""
    return call.name.startswith(_OVER_PAGES) and ("_" not in call.name or "query" in call.arguments)


def _at_once(run: SaidRun, turn: SaidTurn) -> _Found:
    said = says(("plan", "plan_many", "plan_first"), turn.thought)
    if said is not None and len(run.history[turn.number].turn.calls) > 1:
        yield Flaw.AT_ONCE, said.group()


def _linked(run: SaidRun, turn: SaidTurn) -> _Found:
    said = says(("open_link",), turn.thought)
    for call in run.history[turn.number].turn.calls if said is not None else ():
        target = str(call.arguments.get("document", "")).split("#", 1)[0]
        if said is not None and call.name == "open" and not run.links_to(target, turn):
            yield Flaw.LINK, said.group()


def _first_fit(run: SaidRun, turn: SaidTurn) -> _Found:
    yield from ((Flaw.FIRST, name) for name in unread_rivals(run, turn))


def _unspoken(run: SaidRun) -> Iterator[Inconsistency]:
    for number, step in enumerate(run.history):
        for call, result in zip(step.turn.calls, step.results, strict=False):
            shown = observe(result.content)
            if call.name not in _OPENS or result.error is not None or not shown.about or number + 1 >= len(run.turns):
                continue
            title = run.titles.get(shown.about.split("#", 1)[0], shown.about)
            texts = {passage.text for passage in shown.passages}
            after = run.turns[number + 1 :]
            goes_on = any(_inside(other, shown.about) for other in run.history[number + 1].turn.calls)
            if goes_on or says(("give_up", "answer_guess"), after[0].thought) is not None:
                continue
            own = shown.title if isinstance(shown, Page) else title  # a link may have called it something else
            if any(
                named_in(turn.bare, title)
                or named_in(turn.bare, short(own))
                or texts & set(turn.quotes)
                or any(named_in(turn.thought, item.relation) for item in shown.relations)
                for turn in after
            ):
                continue
            yield Inconsistency(number, Flaw.PAGE, title)


def _inside(call: ToolCall, document: str) -> bool:
    """Whether a call looks for something in the open document."""
    return call.name in ("find", "outline") or str(call.arguments.get("document", "")).split("#", 1)[0] == document


_RULES = (
    *(_lists, _silent, _sets, _dismissals, _searches, _matches, _alike, _checks, _opens, _deeds, _at_once),
    *(_linked, _first_fit),
)
