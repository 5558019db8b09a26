"""Whether what a scripted agent says agrees with what it does, and leaves out nothing that it was shown.

``ungrounded`` looks at what is put into a thought; this looks at what is left out of one, and at words that the deed
belies. Who quotes a list and goes on with the members that happen to be right has used what was not read. It reads the
phrases of the lexicon, so it judges scripted agents; a model's words are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from synth.agents.contract import History, Prompt
from synth.agents.scripted.options import Option, listed_with
from synth.agents.scripted.phrases import PHRASES, read_notes
from synth.environments.contract import ToolCall
from synth.environments.observed import observe
from synth.environments.passages import Passage
from synth.environments.rendering import find_links, plain
from synth.environments.shown import Hits
from synth.text.words import fold

__all__ = ["Flaw", "Inconsistency", "inconsistencies"]

_QUOTED = re.compile(r"\"([^\"]{2,})\"|“([^”]{2,})”")
_LABEL = re.compile(r"\s*\([^()]*\)$")
_REWORDED = ("search_again", "search_reworded")
_WRONG_RELATION = ("g_wrong_relation", "g_wrong_plain")
_WHY_SILENT = ("dismiss_why_silent", "dismiss_why_described")
"""Reasons that need not name the page."""
_OPENS = ("open", "get_relations")
_OVER_PAGES = ("search", "open", "find", "outline", "filter", "count")
"""How names of tools begin in runs over pages; in a browser or a graph one opens by other means."""
_ACTS = {
    "search": (
        *("search_name", "search_more", "search_reverse", "search_again", "search_longer", "search_described"),
        *("search_list", "search_rest", "crosscheck"),
    ),
    "open": (
        *("hit_named", "hit_among", "hit_alike", "hit_snippet", "hit_try", "open_link", "open_these", "next_page"),
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
    OTHERS = "other results speak of it"
    """It says that no other result speaks of a name, and one does that was not read."""
    OTHER = "opens something else"
    """It opens what its thought does not name."""


@dataclass(frozen=True)
class Inconsistency:
    turn: int
    flaw: Flaw
    text: str

    def __str__(self) -> str:
        return f"turn {self.turn}: {self.flaw.value}: {self.text!r}"


@lru_cache(maxsize=256)
def _pattern(intent: str) -> re.Pattern[str]:
    """Any phrasing of ``intent``, its slots as groups ``a``, ``b``, ... by phrasing."""
    options = []
    for phrase in PHRASES.get(intent, ()):
        parts = re.split(r"\{\w+\}", phrase)
        options.append("(.+?)".join(map(re.escape, parts)))
    return re.compile(rf"(?:(?<=\s)|\A)(?:{'|'.join(options)})(?=\s|\Z)") if options else re.compile(r"(?!)")


def _says(intents: Sequence[str], thought: str) -> re.Match[str] | None:
    return next((found for intent in intents if (found := _pattern(intent).search(thought)) is not None), None)


def _names(text: str, name: str) -> bool:
    """Whether ``text`` holds ``name``, with or without what tells things of one name apart ("(1927 film)")."""
    return any(f" {fold(form)} " in f" {fold(text)} " for form in (name, _LABEL.sub("", name)))


@dataclass
class _Turn:
    number: int
    thought: str
    notes: list[tuple[str, str]]
    bare: str
    """The thought without its quotations."""
    quotes: list[str]


class _Run:
    def __init__(self, prompt: Prompt, history: History) -> None:
        self.question, self.history = prompt.question, history
        seen = [prompt.question]
        self.turns: list[_Turn] = []
        for number, step in enumerate(history):
            thought = step.turn.thought or ""
            quotes = [match.group(1) or match.group(2) for match in _QUOTED.finditer(thought)]
            bare = _QUOTED.sub("this", thought)
            self.turns.append(_Turn(number, thought, read_notes(thought, seen), bare, quotes))
            seen += [plain(result.content) for result in step.results]
        self.titles: dict[str, str] = {}
        for step in history:
            for result in step.results:
                for item in find_links(result.content):
                    self.titles.setdefault(item.target.split("#", 1)[0], item.anchor)

    def listings(self, turn: _Turn) -> Iterator[list[str]]:
        """Lists that the turn quotes a line of: "A, B and C" in a sentence, or the far ends of one relation."""
        for step in self.history[: turn.number]:
            for result in step.results:
                shown = observe(result.content)
                facts = [passage for passage in shown.passages if passage.fact is not None]
                if any(passage.text in turn.quotes for passage in facts):
                    yield _far_ends(facts, shown.about)
                for passage in shown.passages:
                    if passage.fact is None and passage.text in turn.quotes:
                        runs = [listed_with(Option(item.anchor, passage)) for item in passage.links]
                        yield from (names for at, names in enumerate(runs) if names and names not in runs[:at])

    def fans(self, before: int) -> Iterator[list[str]]:
        """The far ends of each relation that was read."""
        for step in self.history[:before]:
            for result in step.results:
                shown = observe(result.content)
                facts = [passage for passage in shown.passages if passage.fact is not None]
                if facts:
                    yield _far_ends(facts, shown.about)

    def spoken_of(self, name: str, start: int) -> bool:
        """Whether a thought from turn ``start`` on names ``name``, beside its quotations."""
        return any(_names(turn.bare, name) for turn in self.turns[start:])


def _far_ends(facts: Sequence[Passage], about: str) -> list[str]:
    ends = [end for passage in facts if passage.fact for end in (passage.fact.subject, passage.fact.object)]
    return list(dict.fromkeys(end.name for end in ends if end.id != about))


def inconsistencies(prompt: Prompt, history: History, *, start: int = 0) -> list[Inconsistency]:
    """Everything in the turns from ``start`` on that leaves something out, or says what is not done; in order."""
    run = _Run(prompt, history)
    found = [
        Inconsistency(turn.number, flaw, text)
        for turn in run.turns
        if turn.number >= start and turn.thought
        for rule in _RULES
        for flaw, text in rule(run, turn)
    ]
    return [*found, *(one for one in _unspoken(run) if one.turn >= start)]


_Found = Iterator[tuple[Flaw, str]]


def _lists(run: _Run, turn: _Turn) -> _Found:
    members = [name for intent, name in turn.notes if intent == "member"]
    # A possibility taken up again comes from a list that was quoted before: what confirms it now is another list.
    confirmed = {name for intent, name in turn.notes if intent == "confirm"}
    tried = [name for intent, name in turn.notes if intent == "candidate"]
    tried += [name for intent, name in turn.notes if intent == "candidate_next" and name not in confirmed]
    for names in run.listings(turn) if members or tried else ():
        if not set(names).isdisjoint(members):
            left = [name for name in names if not run.spoken_of(name, turn.number) and not _names(run.question, name)]
            yield from ((Flaw.LIST, name) for name in left)
        elif not set(names).isdisjoint(tried):
            said = [one.bare for one in run.turns[: turn.number + 1]]
            left = [name for name in names if not any(_names(text, name) for text in said)]
            if _says(("g_common",), turn.thought) is not None:  # left out is what does not come up in both
                left = [name for name in left if sum(name in ends for ends in run.fans(turn.number)) > 1]
            yield from ((Flaw.CANDIDATE, name) for name in left if not any("and others" in text for text in said))


def _sets(run: _Run, turn: _Turn) -> _Found:
    """At the answer: every member of the list was struck, told of, or is named in the conclusion."""
    if run.history[turn.number].turn.calls or not run.history[turn.number].turn.answer:
        return
    notes = [note for one in run.turns[: turn.number + 1] for note in one.notes]
    if not any(intent == "complete" for intent, _ in notes) or _says(("answer_guess", "answer_early"), turn.thought):
        return
    gone = {name for intent, name in notes if intent in ("strike", "dismiss")}
    members = [name for name in dict.fromkeys(name for intent, name in notes if intent == "member") if name not in gone]
    about = {name for intent, name in notes if intent in ("about", "untold", "keep")}
    if about:
        yield from ((Flaw.UNTOLD, name) for name in members if name not in about)
    noted = [phrase.format(found=name) for intent, name in turn.notes for phrase in PHRASES[intent]]
    ends = [turn.thought.rfind(text) + len(text) for text in noted if text in turn.thought]
    ends += [listed.end() for listed in _pattern("all_listed").finditer(turn.thought)]
    conclusion = turn.thought[max(ends, default=0) :]
    yield from ((Flaw.COMPARISON, name) for name in members if not _names(conclusion, name))


def _dismissals(run: _Run, turn: _Turn) -> _Found:
    for intent, name in turn.notes:
        if intent not in ("dismiss", "strike"):
            continue
        phrases = (phrase.format(found=name) for phrase in PHRASES[intent])
        before = turn.thought[: max(turn.thought.find(phrase) for phrase in phrases)]
        subject = name.removesuffix(" (out)").removesuffix(" (in)").removesuffix(" (both)")
        if subject not in before and '"' not in before and not _says(_WHY_SILENT, before):
            yield Flaw.DISMISSED, name
        settled = [other for kind, other in turn.notes if kind in ("found", "told", "confirm", "keep")]
        wrong = _says(_WRONG_RELATION, turn.thought)
        for other in settled:
            if (name == other and intent == "dismiss") or (wrong is not None and other in wrong.group()):
                yield Flaw.CONTRADICTED, other


def _searches(run: _Run, turn: _Turn) -> _Found:
    calls = [call for call in run.history[turn.number].turn.calls if "query" in call.arguments]
    if _says(_REWORDED, turn.bare) is not None:
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


def _pages(run: _Run) -> bool:
    return any(call.name == "open" for step in run.history for call in step.turn.calls)


def _searched(run: _Run, before: int, name: str) -> bool:
    return any(
        _names(str(call.arguments.get("query", "")), name)
        for step in run.history[:before]
        for call in step.turn.calls
        if "query" in call.arguments
    )


def _matches(run: _Run, turn: _Turn) -> _Found:
    once, often = _says(("verified_once",), turn.bare), _says(("verified_often",), turn.bare)
    if once is None and often is None:
        return
    told = re.search(r"\d+", often.group()) if often is not None else None
    shown = re.search(r"^(\d+) match", _last_find(run, turn.number))
    if shown is None:
        yield Flaw.MATCHES, "no search within a page"
    elif int(shown[1]) != (int(told.group()) if told is not None else 1):
        yield Flaw.MATCHES, f"{shown[1]} were shown"


def _last_find(run: _Run, before: int) -> str:
    contents = [
        result.content
        for step in run.history[:before]
        for call, result in zip(step.turn.calls, step.results, strict=False)
        if call.name == "find" and result.error is None
    ]
    return contents[-1] if contents else ""


def _checks(run: _Run, turn: _Turn) -> _Found:
    said = None
    for match in _pattern("check_condition").finditer(turn.thought):
        said = match
    if said is None or run.history[turn.number].turn.calls:
        return
    rest = turn.thought[said.end() :]
    if not any(
        intent in ("confirm", "dismiss", "keep", "strike", "found") and name in rest for intent, name in turn.notes
    ):
        yield Flaw.UNCHECKED, said.group()


def _opens(run: _Run, turn: _Turn) -> _Found:
    calls = run.history[turn.number].turn.calls
    opened = [
        str(call.arguments.get("document") or call.arguments.get("entity") or "")
        for call in calls
        if call.name in _OPENS
    ]
    if len(opened) != 1 or len(calls) != 1:
        return
    title = run.titles.get(opened[0].split("#", 1)[0], "")
    named = [other for other in run.titles.values() if other != title and _names(turn.bare, other)]
    if title and named and not _names(turn.thought, title) and "page" not in calls[0].arguments:
        yield Flaw.OTHER, title


def _deeds(run: _Run, turn: _Turn) -> _Found:
    """Where it says over pages that it does something, it does that. A call is told by how its tool's name begins."""
    made = [call.name for call in run.history[turn.number].turn.calls]
    if any(not call.name.startswith(_OVER_PAGES) for step in run.history for call in step.turn.calls):
        return
    for tool, intents in _ACTS.items():
        said = _says(intents, turn.thought)
        if said is not None and not any(name.startswith(tool) for name in made):
            yield Flaw.UNDONE, said.group()


def _others(run: _Run, turn: _Turn) -> _Found:
    said = _pattern("crosscheck_none").search(turn.thought)
    if said is None or turn.number == 0:
        return
    name = next(group for group in said.groups() if group)
    read = {run.titles.get(target, target) for target in _opened(run, turn.number)}
    for result in run.history[turn.number - 1].results:
        shown = observe(result.content)
        for hit in shown.hits if isinstance(shown, Hits) else ():
            if hit.title not in read and _names(hit.text, name):
                yield Flaw.OTHERS, hit.title


def _opened(run: _Run, before: int) -> Iterator[str]:
    for step in run.history[:before]:
        for call in step.turn.calls:
            if call.name == "open":
                yield str(call.arguments.get("document", "")).split("#", 1)[0]


def _unspoken(run: _Run) -> Iterator[Inconsistency]:
    for number, step in enumerate(run.history):
        for call, result in zip(step.turn.calls, step.results, strict=False):
            shown = observe(result.content)
            if call.name not in _OPENS or result.error is not None or not shown.about or number + 1 >= len(run.turns):
                continue
            title = run.titles.get(shown.about.split("#", 1)[0], shown.about)
            texts = {passage.text for passage in shown.passages}
            after = run.turns[number + 1 :]
            goes_on = any(_inside(other, shown.about) for other in run.history[number + 1].turn.calls)
            if goes_on or _says(("give_up", "answer_guess"), after[0].thought) is not None:
                continue
            if any(
                _names(turn.bare, title)
                or texts & set(turn.quotes)
                or any(_names(turn.thought, item.relation) for item in shown.relations)
                for turn in after
            ):
                continue
            yield Inconsistency(number, Flaw.PAGE, title)


def _inside(call: ToolCall, document: str) -> bool:
    """Whether a call looks for something in the open document."""
    return call.name in ("find", "outline") or str(call.arguments.get("document", "")).split("#", 1)[0] == document


_RULES = (_lists, _sets, _dismissals, _searches, _matches, _checks, _opens, _deeds, _others)
