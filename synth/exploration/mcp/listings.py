"""Things that a server lists: what people call them, which key its tools take, and what can be asked about them.

Tools that need no arguments show lists: of objects in JSON, or lines of text that hold a number and a name each. A
field that tells the objects apart in words is their name; a field that other tools take as an argument is their key;
and where an argument has the name of a field, the values of the field are choices for it. Names are compared regardless
of spelling: ``taskId``, ``task_id`` and the ``id`` of an object under ``tasks`` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.exploration.mcp.book import Record, things
from synth.exploration.mcp.reading import value_of
from synth.lexicon.reading import phrases
from synth.text.inflection import singular

__all__ = [
    "PATH",
    "TEXT",
    "Listing",
    "fullest",
    "is_key",
    "is_plain",
    "is_worth",
    "list_noun",
    "listings",
    "names_all",
    "squeezed",
    "verb_of",
    "without_target",
    "words_of",
]

_LISTS = phrases("word_lists")
_READS = frozenset(_LISTS["reading_verbs"])
_MAKES = frozenset(_LISTS["making_verbs"])
_VERBS = _MAKES | frozenset(_LISTS["reading_verbs"]) | frozenset(_LISTS["changing_verbs"])
_NAMES = tuple(_LISTS["naming_fields"])
_NO_THINGS = frozenset({"items", "results", "data", "entries", "list", "rows", "records", "result", "content"})
_KEYS = frozenset({"id", "uuid", "guid", "key", "number", "slug", "code", "ref", "reference"})
_NOT_ASKED = frozenset(_LISTS["not_asked"])
_MEASURES = frozenset(_LISTS["measures"])
_LONGEST = 80
"""Characters of a name, an answer or a choice."""
_FEWEST = 2
"""Objects that a list must have to be asked about."""
_MOST_CHOICES = 8
"""Values of a field that count as choices."""
_COLLECTIVES = dict(pair.split(": ") for pair in _LISTS["collectives"])
_TARGETS = frozenset(_LISTS["of_targets"])
TEXT = "item"
"""The part that is the text itself, where texts are listed and not objects."""
PATH = "^/"
"""Of what is listed in a folder: the way to it from the first folder on, ``House/Loft.md``."""
_KEY_NOUN = "key"
"""What is kept under keys is spoken of by them."""
_FILE = re.compile(r"\S.*\.[A-Za-z][A-Za-z0-9]{0,4}")
_SIGN = re.compile(r"[\u2190-\u2bff\U0001f000-\U0001ffff]")
"""Arrows, ticks and emoji: not part of what people call a thing."""
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\d{8}T\d{6}Z?")
"""A time to the second: people don't ask for it."""
_KEY = r"(?P<id>[A-Z][A-Z0-9]*-\d+|\d{1,6}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_NAME = r"(?P<name>[^\W\d_][^\n|(){}\[\]“”]{1,78}?)"
_LINES = (
    rf"^ *(?:[-*•#]+ +)?(?:\[[A-Za-z ✓]{{1,12}}\] +)?[\[#]?{_KEY}(?:\]?[:.)]|\]| +[-–—|])? +{_NAME} *(?:[|(\[].*)?$",
    rf"^ *(?:[-*•#]+ +)?(?:\[[A-Za-z ✓]{{1,12}}\] +)?{_NAME} +[(\[](?:(?i:id)[:=]? *|#){_KEY}[)\]].*$",
)
"""What lines of a text list look like: "- [ ] [3] Water the plants", "TASK-3 - Order a skip", "Pea soup (id: 3)"."""


@dataclass(frozen=True)
class Listing:
    """A list of objects of one kind."""

    record: Record
    """Where the objects are found. Its ``names`` is a field that every object has, with a different value in each."""
    noun: str
    """One of them: "task"."""
    things: tuple[Mapping[str, str], ...]
    choices: Mapping[str, tuple[str, ...]]
    """Field that holds a list of texts -> all texts in it."""
    parent: Listing | None = None
    """What it hangs below: its look takes the key of one of those. A field of that one is written ``^requestId``."""
    group: str = ""
    """The field that tells lists of one answer apart ("column"); empty where there is one list."""

    @property
    def name(self) -> str:
        """The field that is their name."""
        assert self.record.names is not None
        return self.record.names

    def field_of(self, argument: str, tool: str) -> str | None:
        """The field whose value ``argument`` of ``tool`` takes, None where it is no key or name of these objects."""
        wanted, about = singular(squeezed(argument)), squeezed(self.noun)
        said = {singular(word) for word in words_of(tool)}
        made = verb_of(tool) in _MAKES  # then its name is a new one
        if self.name == TEXT:
            text = None if made else self._text_of(words_of(argument), said)
            return PATH if text == TEXT and self.parent is not None else text
        for field in self.fields:
            plain = squeezed(field)
            key = plain in _KEYS or plain.endswith("id") or (field == self.name and not made)
            if not key or not self._tells_apart(field) or self._is_of_another(plain):
                continue
            if wanted == f"{about}{plain.removeprefix(about)}" and (field != self.name or wanted != about):
                return field
            if wanted == plain and (plain not in _KEYS | {squeezed(self.name)} or set(self.noun.split()) <= said):
                return field
        return self.name if wanted == about and not made else None

    def _is_of_another(self, plain: str) -> bool:
        """Whether a field is the key of something else, beside one of its own: whose reminder it is."""
        about, own = squeezed(self.noun), {squeezed(field) for field in self.fields}
        foreign = plain.endswith("id") and plain not in _KEYS and not plain.startswith(about)
        return foreign and bool(own & {*_KEYS, f"{about}id"})

    def _text_of(self, words: Sequence[str], said: set[str]) -> str | None:
        """Of lists of texts, which are names of what they list: the text itself, or which list it stands in."""
        if words[0] in _TARGETS:
            return None
        noun, last = self.noun.split(), singular(words[-1])
        if self.group and words[-len(words_of(self.group)) :] == words_of(self.group):
            return self.group
        if words in (noun, *([*noun, word] for word in ("name", "title", "id")), ["item"]):
            return TEXT
        if self.of_files and last in ("path", "file", "filename", "filepath"):
            return TEXT
        return TEXT if last in ("title", "name") and len(words) == 1 and set(noun) <= said else None

    @property
    def of_files(self) -> bool:
        """Whether it lists names of files."""
        return self.name == TEXT and all(_FILE.fullmatch(thing[TEXT]) for thing in self.things)

    def asked(self) -> Iterator[str]:
        """Fields worth a question: plain values, neither name nor key, not the same for all."""
        for field in self.fields:
            values = {thing[field] for thing in self.things if field in thing}
            plain = squeezed(field)
            if field == self.name or plain in _KEYS | _NOT_ASKED or plain.endswith("id") or len(values) < _FEWEST:
                continue
            if is_worth(field, values) and not (self.noun == _KEY_NOUN and plain == "size"):
                yield field

    def values_of(self, argument: str) -> tuple[str, ...]:
        """Choices for an argument that has the name of a field."""
        wanted = "".join(without_target(argument))
        for field, values in self.choices.items():
            if squeezed(field) == wanted:
                return values
        for field in self.fields:
            told = [thing[field] for thing in self.things if field in thing]
            values = tuple(dict.fromkeys(told))
            if squeezed(field) == wanted and _FEWEST <= len(values) <= min(_MOST_CHOICES, len(told) // 2):
                return tuple(value for value in values if 0 < len(value) <= _LONGEST)
        return ()

    @property
    def fields(self) -> list[str]:
        return list(dict.fromkeys(field for thing in self.things for field in thing if field[:1] != "^"))

    def _tells_apart(self, field: str) -> bool:
        values = [thing.get(field) for thing in self.things]
        return None not in values and len(set(values)) == len(values)


def listings(answers: Iterable[tuple[tuple[str, Mapping[str, Any]], str]]) -> list[Listing]:
    """All lists in the answers, of each kind of thing the fullest one; the innermost first, for a task says more than
    the request that it belongs to.

    Args:
        answers: Calls (tool and arguments), each with its answer.
    """
    found: list[Listing] = []
    for (tool, arguments), content in answers:
        look = Record(tool=tool, arguments=dict(arguments), each="")
        try:
            value = value_of(content)
        except ValueError:
            found += _in_lines(look, content)
            continue
        for way in dict.fromkeys(_ways(value, "")):
            listing = _listing(look.model_copy(update={"each": way}), content, value)
            if listing is not None:
                found.append(listing)
    return fullest(found)


def fullest(found: Iterable[Listing]) -> list[Listing]:
    """Of the lists of one kind of thing the fullest, the innermost first; "active tasks" that are tasks are none."""
    best: dict[str, Listing] = {}
    for one in found:
        known = best.get(one.noun)
        if known is None or (len(one.things), len(one.fields)) > (len(known.things), len(known.fields)):
            best[one.noun] = one
    kept = [one for one in best.values() if not any(_is_part(one, other) for other in best.values())]
    return sorted(kept, key=lambda one: -(one.record.each or "").count("[]"))


def _is_part(one: Listing, other: Listing) -> bool:
    names = {thing[other.name] for thing in other.things}
    return one.noun.endswith(f" {other.noun}") and all(thing.get(one.name) in names for thing in one.things)


def _in_lines(look: Record, content: str) -> Iterator[Listing]:
    """The list in a text, in whichever format matches most lines."""
    noun = list_noun("", look.tool)
    records = [look.model_copy(update={"each": None, "pattern": pattern, "names": "name"}) for pattern in _LINES]
    shown = max(([dict(thing) for thing in things(record, content)] for record in records), key=len)
    record = next(one for one in records if [dict(thing) for thing in things(one, content)] == shown)
    if noun and names_all("name", shown) and len({thing["id"] for thing in shown}) == len(shown):
        yield Listing(record, noun, tuple(shown), {})


def _ways(value: Any, way: str) -> Iterator[str]:
    """Paths to lists of objects."""
    if isinstance(value, dict):
        for name, item in value.items():
            if "." not in name and "[" not in name:
                yield from _ways(item, f"{way}.{name}" if way else name)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield f"{way}[]"
        for item in value:
            if isinstance(item, dict):
                yield from _ways(item, f"{way}[]")


def _listing(look: Record, content: str, value: Any) -> Listing | None:
    way = look.each or ""
    plain = {field for item in _items(value, way.split(".")) for field, told in item.items() if is_plain(told)}
    shown = [{field: told for field, told in thing.items() if field in plain} for thing in things(look, content)]
    noun = list_noun(way, look.tool)
    name = next((field for field in _names(plain, noun) if names_all(field, shown)), None)
    noun = _KEY_NOUN if name is not None and squeezed(name) == _KEY_NOUN else noun
    if name is None or not noun:
        return None
    choices: dict[str, dict[str, None]] = {}
    for item in _items(value, way.split(".")):
        for field, told in item.items():
            if isinstance(told, list) and all(isinstance(one, str) and 0 < len(one) <= _LONGEST for one in told):
                choices.setdefault(field, {}).update(dict.fromkeys(told))
    several = {field: tuple(values) for field, values in choices.items() if len(values) >= _FEWEST}
    return Listing(look.model_copy(update={"names": name}), noun, tuple(shown), several)


def _items(value: Any, way: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The objects themselves, without the fields of what holds them."""
    if not way:
        if isinstance(value, dict):
            yield value
        return
    name, listed = way[0].removesuffix("[]"), way[0].endswith("[]")
    inner = value.get(name) if isinstance(value, dict) and name else value
    for item in (inner if isinstance(inner, list) else ()) if listed else (inner,):
        yield from _items(item, way[1:])


def is_worth(field: str, values: Iterable[str]) -> bool:
    """Whether a field is asked for: people say its values, and of numbers it says what they measure."""
    told = list(values)
    return all(map(_is_said, told)) and (_is_measure(field) or not all(map(_is_number, told)))


def _is_said(value: str) -> bool:
    """Whether people say it: one line, without arrows or ticks, and no time to the second."""
    return 0 < len(value) <= _LONGEST and "\n" not in value and not _SIGN.search(value) and not _STAMP.fullmatch(value)


def _is_number(value: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d+)?", value) is not None


def _is_measure(field: str) -> bool:
    """Whether a numeric field's name says what it measures: minutes, task_count, price; not pending, due_this_week."""
    words = words_of(field)
    if words[-1] == "count":
        return len(words) > 1
    return words[-1] in _MEASURES or (singular(words[-1]) != words[-1] and words[-1] not in _LISTS["singular_in_s"])


def is_plain(value: Any) -> bool:
    """Whether a value is a text or a number."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def list_noun(way: str, tool: str) -> str:
    """What to call one item of a list; empty where the list is not named after things ("no_due")."""
    last = words_of(way.split(".")[-1].removesuffix("[]"))
    if last and last[-1] not in _NO_THINGS:
        words = last if singular(last[-1]) != last[-1] else []
    else:
        words = words_of(tool)
    words = words[:-1] if len(words) > 1 and words[-1] in ("id", "ids") else words  # invoice_ids lists invoices
    noun = " ".join(word for word in words if word not in _READS)
    return _COLLECTIVES.get(noun, singular(noun))


def _names(fields: set[str], noun: str) -> list[str]:
    """Fields that may be the name, the likeliest first; of what is kept under keys without names, the key."""
    usual = [field for name in _NAMES for field in sorted(fields) if squeezed(field) in (name, squeezed(noun) + name)]
    usual += [field for field in sorted(fields) if squeezed(field) == _KEY_NOUN]
    return [*usual, *sorted(field for field in fields if field not in usual)]


def names_all(field: str, shown: Sequence[Mapping[str, str]]) -> bool:
    """Whether ``field`` reads like a name and tells all objects apart."""
    values = [thing.get(field, "") for thing in shown]
    return (
        len(values) >= _FEWEST
        and len({value.casefold() for value in values}) == len(values)
        and all(
            0 < len(value) <= _LONGEST and re.search(r"[^\W\d]{2}", value) and re.search(r"[\n“”{}]", value) is None
            for value in values
        )
        and (
            squeezed(field) in (*_NAMES, TEXT)
            or (squeezed(field) == _KEY_NOUN and all(map(is_key, values)))
            or sum(" " in value for value in values) * 2 > len(values)
        )
    )


def is_key(text: str) -> bool:
    """Whether a text may be a key that people chose: ``race:date``, ``gate-code``."""
    return re.fullmatch(r"[A-Za-z]\w*(?:[:./-]\w+)*", text) is not None


def words_of(name: str) -> list[str]:
    """The words of an identifier: ``mark_task_done``, ``taskId``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.split("__")[-1])
    return re.sub(r"[^A-Za-z0-9]+", " ", spaced).lower().split()


def verb_of(tool: str) -> str:
    """The first word of a tool's name that says what it does; empty where none does."""
    return next((word for word in words_of(tool) if word in _VERBS), "")


def without_target(argument: str) -> list[str]:
    """The words of an argument, without what only says that its value is to come: ``to_column`` is ``column``."""
    words = words_of(argument)
    return words[1:] if len(words) > 1 and words[0] in _TARGETS else words


def squeezed(name: str) -> str:
    """An identifier without its spelling: ``taskId`` and ``task_id`` are ``taskid``."""
    return "".join(words_of(name))
