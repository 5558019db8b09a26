"""The fail-closed check behind "privilege may choose, never tell": nothing may be named that was not seen before.

Every name, number, date, id, quotation and code-like token in an agent's arguments, thoughts, words and answer must
stand in the system prompt, the question or an observation of an EARLIER turn. Beyond that an agent may use its own
plain words: function words and a closed list (``plain_words.txt``). A word that is neither seen nor plain is refused,
so an unknown word is never taken for harmless. A value that was not seen may be the result of a computation that the
agent's thought states and that holds (``synth.agents.grounding.computed``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import TypeGuard

from synth.agents.contract import History, Prompt, Turn
from synth.agents.grounding.computed import computations, holds, worked_out
from synth.agents.grounding.own_words import OwnWords, prose_of
from synth.agents.grounding.written import relative_forms, written_forms
from synth.environments.contract import ID_ARGUMENTS, PROGRAM_ARGUMENTS
from synth.environments.rendering import find_links, plain
from synth.text.numbers import NUMBER_WORDS, ungrouped
from synth.text.sentences import begins
from synth.text.words import LETTERS, bare

__all__ = ["Ungrounded", "plain_words", "ungrounded"]

_TOKEN = re.compile(rf"\d+(?:[.,:/-]\d+)*|{LETTERS}|[^\W_]+")
"""Dates, times and versions are one token each, with a place in the text: what was seen is looked for as written."""
_QUOTED = re.compile(r"\"(?!\s)([^\"]{2,})(?<!\s)\"|“([^”]{2,})”")
_CODE = re.compile(r"`([^`\n]*[()=\[\]<>+*/%:][^`\n]*)`")
"""Program text within prose."""
_GLUE = frozenset((".", "_", "/", "::", "__"))
_JOINS = _GLUE | {" ", "-", ", ", ". ", "'", "’", "&", " & "}
_Token = tuple[str, str, int]
"""(normal form, as written, offset)"""
_I = frozenset(f"I{end}{rest}" for end in "'’" for rest in ("m", "ve", "d", "ll")) | {"I"}
_PAGES = re.compile(r"page (\d+) of (\d+)|\((\d+) pages?\)|has (\d+) pages?")
_NUMBER_WORDS = NUMBER_WORDS - {"zero", "one", "two"} | {"dozen"}
"""Values, however plain: they must have been seen."""
_TODAY = re.compile(r"\bIt is (\d{4}-\d\d-\d\d)")
_COUNTS = frozenset(str(number) for number in range(11))
"""Numbers by which a thought counts its own steps and clues."""


@dataclass(frozen=True)
class Ungrounded:
    """Something that an agent named and had not seen."""

    turn: int
    place: str
    """``thought``, ``said``, ``answer``, or ``call 0: query``."""
    text: str

    def __str__(self) -> str:
        return f"turn {self.turn}, {self.place}: {self.text!r} was not seen before"


@cache
def plain_words() -> frozenset[str]:
    """The agents' own words, case-folded: function words and the vocabulary of looking things up."""
    text = files("synth.agents").joinpath("plain_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


class _Seen:
    """What an agent has seen so far; grows turn by turn."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.texts: list[str] = []
        self.names: set[str] = set()
        self.ids: set[str] = set()
        self.pages = 0
        self.today = ""
        """The day that the system prompt says it is; empty where it says none."""
        self.computed: set[str] = set()

    def add_result(self, text: str) -> None:
        """A value that was computed from what was seen."""
        words = [word for word, _, _ in _tokens(text)]
        self.words.update(words)
        self.texts.append(f" {' '.join(words)} ")
        self.computed.add(words[0])

    def add(self, text: str) -> None:
        tokens, names, normal, ids, pages = _digest(text)
        self.words |= tokens
        self.names |= names
        self.texts.append(normal)
        self.ids |= ids
        self.pages = max(self.pages, pages)

    def holds(self, run: str) -> bool:
        """Whether the words of ``run`` stand somewhere one after the other."""
        if " " not in run:
            return run in self.words
        return any(f" {run} " in text for text in reversed(self.texts))

    def holds_names(self, words: list[str]) -> bool:
        """Whether ``words`` are whole names that were seen, one after the other: a query may put two side by side."""
        if not words:
            return True
        ends = range(len(words), 0, -1)
        return any(" ".join(words[:end]) in self.names and self.holds_names(words[end:]) for end in ends)


@lru_cache(maxsize=512)
def _digest(text: str) -> tuple[frozenset[str], frozenset[str], str, frozenset[str], int]:
    flat = unicodedata.normalize("NFC", plain(text))
    found = list(_tokens(flat))
    tokens = [word for word, _, _ in found]
    links = list(find_links(text))
    names, targets = frozenset(_names(flat, found)), [item.target for item in links]
    ids = frozenset(targets) | {target.split("#", 1)[0] for target in targets}
    places = [_normal(target.split("#", 1)[1]) for target in targets if "#" in target]
    names |= {*places, *(_normal(anchor) for anchor in {item.anchor for item in links})}
    pages = max((int(n) for groups in _PAGES.findall(text) for n in groups if n), default=0)
    words = frozenset(tokens) | {word for name in places for word in name.split()}
    return words, names, " | ".join((f" {' '.join(tokens)} ", *(f" {name} " for name in places))), ids, pages


def _normal(text: str) -> str:
    return " ".join(word for word, _, _ in _tokens(text))


def _names(text: str, tokens: list[_Token]) -> Iterator[str]:
    """Longest runs of name-like tokens; at the start of a sentence also without the first word if that is plain."""
    run: list[_Token] = []
    for token in (*tokens, None):
        named = token is not None and _named(token[1])
        if run and not (named and token is not None and text[run[-1][2] + len(run[-1][1]) : token[2]] == " "):
            yield " ".join(word for word, _, _ in run)
            if len(run) > 1 and _is_start(text, run[0], plain_words()):
                yield " ".join(word for word, _, _ in run[1:])
            run = []
        if named and token is not None:
            run.append(token)


def _tokens(text: str) -> Iterator[_Token]:
    """Numbers lose their thousands separators, words case and possessive."""
    return ((_word(raw := one[0]), raw, one.start()) for one in _TOKEN.finditer(unicodedata.normalize("NFC", text)))


@lru_cache(maxsize=1 << 16)
def _word(raw: str) -> str:
    return ungrouped(raw) if raw[0].isdigit() else bare(raw).casefold().replace("’", "'")


def ungrounded(
    prompt: Prompt,
    history: History,
    *,
    start: int = 0,
    computed: bool = False,
    own_words: bool = False,
) -> list[Ungrounded]:
    """Everything in the turns from ``start`` on that names what had not been seen; empty when all is grounded.

    Args:
        start: First turn to judge (a continuation's own part); earlier turns only add what was seen.
        computed: The question's answer is a number that stands nowhere: it is grounded only as the result of a
            computation, however often the same number was seen.
        own_words: The agent is a language model, whose thoughts and queries are in words of its own: those that name
            nothing are free (:mod:`synth.agents.grounding.own_words`). Names, numbers, dates, ids, paths, quotations
            and the answer are judged like everybody's.
    """
    plain_list = plain_words()
    seen = _Seen()
    for text in (prompt.system, prompt.question, *(tool.description for tool in prompt.tools)):
        seen.add(text)
    for tool in prompt.tools:  # an agent sees the schemas of its tools
        for text in tool.words():
            seen.add(text)
    day = _TODAY.search(prompt.system)
    seen.today = day.group(1) if day is not None else ""
    own = OwnWords(prompt, history) if own_words else None
    found: list[Ungrounded] = []
    for number, step in enumerate(history):
        if number >= start:
            found += _turn(number, step.turn, seen, plain_list, own)
            found += _result(number, step.turn, seen) if computed else ()
        else:
            list(_computed(number, step.turn, seen))
        for result in step.results:
            seen.add(result.content)
            for value in worked_out(result.content):
                seen.add_result(value)
    return found


def _computed(number: int, turn: Turn, seen: _Seen) -> Iterator[Ungrounded]:
    """Take in the results of the computations that hold; gives those that do not."""
    for made in computations(turn.thought or ""):
        if holds(made, lambda operand: seen.holds(_normal(operand))):
            seen.add_result(made.result)
        else:
            yield Ungrounded(number, "thought", made.text)


def _result(number: int, turn: Turn, seen: _Seen) -> Iterator[Ungrounded]:
    tokens = [word for word, _, _ in _tokens(turn.answer or "")]
    if turn.answer is not None and not any(word in seen.computed for word in tokens):
        yield Ungrounded(number, "answer", turn.answer)


def _turn(
    number: int, turn: Turn, seen: _Seen, plain_list: frozenset[str], own: OwnWords | None
) -> Iterator[Ungrounded]:
    yield from _computed(number, turn, seen)
    asked = frozenset(_normal(value) for call in turn.calls for value in call.arguments.values() if _is_text(value))
    for place, text in (("thought", turn.thought), ("said", turn.said), ("answer", turn.answer)):
        if own is not None and place != "answer":
            judged = _thought(prose_of(text or ""), seen, plain_list, own, asked)
        else:
            judged = _prose(text or "", seen, plain_list, strict=place == "answer")
        for bad in judged:
            yield Ungrounded(number, place, bad)
    for position, call in enumerate(turn.calls):
        for name, value in call.arguments.items():
            for bad in _argument(name, value, seen, plain_list, own):
                yield Ungrounded(number, f"call {position}: {name}", bad)


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _thought(text: str, seen: _Seen, plain_list: frozenset[str], own: OwnWords, asked: frozenset[str]) -> Iterator[str]:
    """What a model's thought names and had not seen. A quotation of a few words is judged as words; a longer one says
    that it stands somewhere, unless it is what the turn goes on to search for."""
    for match in _QUOTED.finditer(text):
        quote = _normal(match.group(1) or match.group(2))
        if len(quote.split()) > 3 and quote not in asked and not seen.holds(quote):
            yield match.group()
            return
    yield from _prose(text, seen, plain_list, strict=False, own=own, thought=True)


def _argument(name: str, value: object, seen: _Seen, plain_list: frozenset[str], own: OwnWords | None) -> Iterator[str]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        # A page may be turned to when a document is known to have that many; a small count of results claims nothing.
        known = value == 1 or (name == "page" and value <= seen.pages) or (name == "k" and 1 <= value <= 20)
        if not known and not _written(name, value, seen):
            yield str(value)
    elif isinstance(value, str):
        if name in PROGRAM_ARGUMENTS:
            yield from _program(value, seen, plain_list) if own is None else ()
        elif name in ID_ARGUMENTS:
            if value not in seen.ids:
                yield value
        elif not _written(name, value, seen):
            yield from _prose(value, seen, plain_list, strict=True, own=own)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _argument(name, item, seen, plain_list, own)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _prose(str(key), seen, plain_list, strict=True, own=own)
            yield from _argument(str(key), item, seen, plain_list, own)


def _program(text: str, seen: _Seen, plain_list: frozenset[str]) -> Iterator[str]:
    """Words and numbers of a program that were not seen: in what order they stand is the agent's work."""
    for word, raw, _ in _tokens(text):
        if word not in seen.words and (word not in plain_list or word in _NUMBER_WORDS):
            yield raw


def _written(name: str, value: int | float | str, seen: _Seen) -> bool:
    """Whether the value was seen as a person writes it: an amount in dollars where the tool takes cents, "two" for 2,
    "17 May" for a date of the year at hand. A text that is no such value is judged as prose."""
    forms = written_forms(name, value)
    if isinstance(value, str):
        if len(forms) == 1:
            return False
        if seen.today and value == seen.today[:7]:
            return True  # this month
        year = value[:4]
        if not any(word == year or word.startswith(f"{year}-") for word in seen.words):
            return False
        forms = (*forms, *relative_forms(value, seen.today))
    return any(seen.holds(_normal(form)) for form in forms)


def _prose(
    text: str,
    seen: _Seen,
    plain_list: frozenset[str],
    *,
    strict: bool,
    own: OwnWords | None = None,
    thought: bool = False,
) -> Iterator[str]:
    """What in ``text`` was not seen. ``strict``: one plain word is neither answer nor argument. With ``own``, small
    words that name nothing are free; in a ``thought`` so are its quotations, which were judged, and small counts."""
    if not text:
        return
    text = unicodedata.normalize("NFC", text)
    if own is None:
        for match in _CODE.finditer(text):
            yield from _program(match.group(1), seen, plain_list)
        text = _CODE.sub(" ", text)
    for match in _QUOTED.finditer(text) if not thought else ():
        quote = _normal(match.group(1) or match.group(2))
        if quote and not seen.holds(quote):
            yield match.group()
            return
    tokens = list(_tokens(text))
    named = [_named(raw) for _, raw, _ in tokens]
    for place, (left, right) in enumerate(pairwise(tokens)):
        # Parts of a path or dotted name go together, and so do parts of a hyphenated word that is not all plain.
        between = text[left[2] + len(left[1]) : right[2]]
        if own is not None and between in ("-", "/") and left[1].islower() and right[1].islower():
            continue  # "step-by-step", "and/or"
        if between in _GLUE or (between == "-" and not {left[0], right[0]} <= plain_list):
            named[place] = named[place + 1] = True
    run: list[_Token] = []
    for token, is_named in zip(tokens, named, strict=True):
        if run and not (is_named and _adjacent(text, run[-1], token)):
            yield from _run(text, run, seen, plain_list, strict, own, thought)
            run = []
        if is_named:
            run.append(token)
            continue
        word, raw, _ = token
        free = thought if word in _NUMBER_WORDS else own is not None and own.free(word)
        if free or word in seen.words:
            continue
        if word not in plain_list or word in _NUMBER_WORDS or (strict and len(tokens) == 1):
            yield raw
    yield from _run(text, run, seen, plain_list, strict, own, thought)


@lru_cache(maxsize=1 << 16)
def _named(raw: str) -> bool:
    """A capitalised word, a number, or a token with digits or inner capitals: part of a name or value."""
    return raw[0].isupper() or any(char.isdigit() or char.isupper() for char in raw)


def _adjacent(text: str, left: _Token, right: _Token) -> bool:
    """Whether two name-like tokens belong together: glued to each other, or both like names and side by side."""
    between = text[left[2] + len(left[1]) : right[2]]
    if between in _GLUE or between in ("-", "'", "’", "&"):
        return True
    return between in _JOINS and _named(left[1]) and _named(right[1])


def _run(
    text: str,
    run: list[_Token],
    seen: _Seen,
    plain_list: frozenset[str],
    names: bool,
    own: OwnWords | None,
    thought: bool,
) -> Iterator[str]:
    """Judge a run of name-like tokens: together they must stand somewhere in this order, or fall apart into pieces
    that do at a comma or full stop, once plain words at the start of a sentence are taken off. Where ``names`` is true,
    a piece may also be several whole names side by side. A model's ``thought`` may count to ten on its own."""
    if not run or seen.holds(" ".join(word for word, _, _ in run)):
        return
    pieces: list[list[_Token]] = [[]]
    for token in run:
        if pieces[-1] and text[pieces[-1][-1][2] + len(pieces[-1][-1][1]) : token[2]] in (", ", ". "):
            pieces.append([])
        pieces[-1].append(token)
    for piece in pieces:
        while piece and (
            _is_start(text, piece[0], plain_list) or (own is not None and own.begins(text, piece[0][0], piece[0][2]))
        ):
            piece = piece[1:]
        if thought and len(piece) == 1 and piece[0][0] in _COUNTS:
            continue
        words = " ".join(word for word, _, _ in piece)
        if names and seen.holds_names(words.split()):
            continue
        if words and not seen.holds(words) and not _page_number(text, piece, seen):
            yield text[piece[0][2] : piece[-1][2] + len(piece[-1][1])]


def _is_start(text: str, token: _Token, plain_list: frozenset[str]) -> bool:
    """A plain word that is capitalised only because a sentence starts with it (and "I", "I'm" anywhere)."""
    word, raw, at = token
    if raw[0].isdigit() or word in _NUMBER_WORDS or word not in plain_list:
        return False
    return raw in _I or begins(text, at)


def _page_number(text: str, piece: list[_Token], seen: _Seen) -> bool:
    word, _, at = piece[0]
    return len(piece) == 1 and word.isdigit() and int(word) <= seen.pages and text[:at].endswith(("page ", "pages "))
