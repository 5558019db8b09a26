"""Requests in words for a server's tools, where there is no book.

A server's own description of a tool is untrusted text. It gets into a request as a plain phrase at most, and not at
all where the tool is suspicious; it is never followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.environments.contract import ToolSchema
from synth.environments.mcp.environment import McpEnvironment
from synth.exploration.mcp.listings import Listing, verb_of, without_target, words_of
from synth.lexicon.reading import phrases
from synth.text.inflection import article, imperative, plural, singular

__all__ = [
    "about_thing",
    "asks_of",
    "phrase",
    "questions_of",
    "questions_on_thing",
    "setting_of",
    "setting_of_tool",
    "thing_called",
]

_PHRASE = re.compile(r"[A-Z]?[a-z]+(?:[ ,'-]+[A-Za-z0-9]+){1,14}")
_LISTS = phrases("word_lists")
_NO_VERBS = frozenset(_LISTS["no_verbs"])
_SETS = frozenset({*_LISTS["setting_verbs"], "move"})
_GENERIC = tuple(_LISTS["generic_nouns"])
_STATES = frozenset(_LISTS["states_set"])
_SPELLED_OUT = dict(pair.split(": ") for pair in _LISTS["spelled_out"])
_UNITS = frozenset({"seconds", "minutes", "hours", "days", "weeks", "months", "years"})
_WHEN = re.compile(r"(\w+ed) (?:at|on|date|time)")


def phrase(environment: McpEnvironment, tool: ToolSchema) -> str:
    """What a tool does, as a clause that could follow "please"."""
    suspicious = {warning.tool for warning in environment.warnings}
    known = environment.tool(tool.name)
    first = tool.description.split("\n")[0].split(". ")[0].strip().rstrip(".")
    if (
        known is None
        or known.remote in suspicious
        or not _PHRASE.fullmatch(first)
        or first.split()[0].lower() in _NO_VERBS
    ):
        return " ".join(words_of(tool.name))
    verb, _, rest = first.partition(" ")
    return f"{imperative(verb.lower())} {rest}"


def asks_of(what: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Ways to ask for ``what`` (:func:`phrase`) with given arguments."""
    named = list(_named(arguments))
    listed = ", ".join(f"{name} “{hole}”" for name, hole in named)
    with_ = " and ".join(f"“{hole}” as the {name}" for name, hole in named)
    return (f"{what}, with {with_}", f"{what} ({listed})", f"{what}, using {with_}")


def thing_called(
    verb: str, noun: str, called: str | None, about: str, others: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """Ways to ask for something new.

    Args:
        called: The hole for what it is called; None where it has no name.
        about: What it is for, with a space before.
        others: (argument, hole) of what else is said of it.
    """
    told = [(" ".join(_SPELLED_OUT.get(word, word) for word in words_of(name)), hole) for name, hole in others]
    said = " and ".join(f"“{hole}” as the {name.removeprefix(f'{noun} ')}" for name, hole in told)
    with_ = f", with {said}" if said else ""
    if called is None:
        return (f"{verb} {article(noun)} {noun}{about}{with_}", f"{verb} a new {noun}{about}{with_}")
    return (
        f"{verb} {article(noun)} {noun} called “{called}”{about}{with_}",
        f"{verb} the {noun} “{called}”{about}{with_}",
        f"{verb} a new {noun}, “{called}”{',' if about else ''}{about}{with_}",
    )


def questions_of(tool: ToolSchema, arguments: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Ways to ask for the value that a tool returns as ``key``."""
    wanted = " ".join(words_of(key))
    given = " and ".join(f"{name} “{hole}”" for name, hole in _named(arguments))
    what = " ".join(words_of(tool.name))
    ((name, hole), *more) = list(_named(arguments)) or [("", "")]
    if name.endswith(" id") and not more:
        thing = " ".join(_SPELLED_OUT.get(word, word) for word in name.split()[:-1])
        return (
            f"What is the {wanted} of the {thing} “{hole}”?",
            f"Could you look up the {wanted} of the {thing} “{hole}”?",
        )
    return (
        f"What is the {wanted} for {given}?",
        f"For {given}, what does “{what}” give as the {wanted}?",
        f"Please look up the {wanted} for {given}. What is it?",
    )


def about_thing(what: str, tool: str, listing: Listing, hole: str) -> str:
    """``what`` (:func:`phrase`) applied to one object of a list: "delete the task “{task.name}”".

    Args:
        what: :func:`phrase` of the tool.
        hole: The template's hole for its name.
    """
    noun, thing = listing.noun, f"the {listing.noun} “{hole}”"
    words = words_of(tool)
    if [verb_of(tool)] == words:
        return f"{words[0]} {thing}"
    at = next((n for n, word in enumerate(words) if singular(word) in (noun, *_GENERIC)), None)
    rest = [*words[:at], *words[at + 1 :]] if at is not None else []
    if at is not None and len(rest) == 1:
        return f"{rest[0]} {thing}"  # task_delete, delete_task
    if at is not None and len(rest) == 2 and rest[1] in _STATES and at < 2:
        return f"{rest[0]} {thing} as {rest[1]}"  # mark_task_done
    if at == 1 and len(rest) == 2:
        return f"{rest[0]} the {rest[1]} of {thing}"  # approve_task_completion
    if at is None and len(words) == 2 and verb_of(tool) == words[0]:
        verb, what = words  # mark_done, resolve_blocker
        return f"{verb} {thing} as {what}" if what in _STATES else f"{verb} the {what} of {thing}"
    plain = re.compile(
        r"\b(?:an?|the|this|that|one)(?: (?:existing|given|single|specific|certain))? "
        rf"{re.escape(noun)}\b(?! (?!as\b)\w+s\b)"
    )
    found, changed = plain.subn(thing, what, count=1)
    return found if changed and len(found.split()) <= 12 else f"{what}, for {thing}"


def setting_of(argument: str, listing: Listing, hole: str, value: str) -> tuple[str, ...]:
    """Ways to ask for another value of a field."""
    field, thing = _told(argument, listing), f"the {listing.noun} “{hole}”"
    return (
        f"set the {field} of {thing} to “{value}”",
        f"change the {field} of {thing} to “{value}”",
        f"update the {field} of {thing} to “{value}”",
    )


def setting_of_tool(tool: str, argument: str, listing: Listing, hole: str, value: str) -> tuple[str, ...]:
    """Ways to ask for what a tool sets of one object, where its name says what that is (``update_deal_stage``,
    ``move_task``); none where it does not."""
    words, wanted = words_of(tool), without_target(argument)
    verb = verb_of(tool)
    if verb not in _SETS:
        return ()
    thing, told = f"the {listing.noun} “{hole}”", " ".join(wanted)
    if verb == "move":
        return (f"move {thing} to “{value}”", f"move {thing} to the {told} “{value}”")
    if wanted[0] in words or wanted[-1] in words:
        return setting_of(told, listing, hole, value)
    return ()


def questions_on_thing(field: str, values: Sequence[str], listing: Listing, hole: str) -> tuple[str, ...]:
    """Ways to ask for a field of one object; ``values`` are those that objects have."""
    told, thing = _told(field, listing), f"the {listing.noun} “{hole}”"
    if field == listing.group:
        return (f"In which {told} is {thing}?", f"Could you look up which {told} {thing} is in?")
    if when := _WHEN.fullmatch(told):
        return (f"When was {thing} {when[1]}?", f"Could you look up when {thing} was {when[1]}?")
    *measured, unit = told.split()
    if measured and unit in _UNITS:
        return (
            f"How many {unit} is the {' '.join(measured)} of {thing}?",
            f"Could you look up how many {unit} the {' '.join(measured)} of {thing} is?",
        )
    counted = told.removesuffix(" count") if told.endswith(" count") else ""
    if (counted or singular(told) != told) and all(value.isdigit() for value in values):
        many = plural(counted) if counted else told.removeprefix("total ")
        return (f"How many {many} does {thing} have?", f"Could you look up how many {many} {thing} has?")
    is_one = singular(told) == told or told.split()[-1] in _LISTS["singular_in_s"]
    return (
        f"What {'is' if is_one else 'are'} the {told} of {thing}?",
        f"What do we have as the {told} of {thing}?",
        f"Could you look up the {told} of {thing}?",
    )


def _told(field: str, listing: Listing) -> str:
    """A field in plain words."""
    words = [_SPELLED_OUT.get(word, word) for word in words_of(field)]
    return " ".join(words).removeprefix(f"{listing.noun} ")


def _named(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(name in words, hole) of every hole in a template."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _named(item, " ".join(words_of(key)))
    elif isinstance(value, list):
        for item in value:
            yield from _named(item, name)
    else:
        yield name, str(value)
