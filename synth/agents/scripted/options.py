"""What a page offers as an answer to a clue: entries, linked names, names, dates, numbers, quantities, short texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from synth.agents.scripted.matching import FUNCTION_WORDS, content_stems, same_name
from synth.environments.passages import Passage
from synth.lexicon.reading import phrases
from synth.schemas.documents import ValueKind
from synth.text.dates import DATE, YEAR
from synth.text.numbers import NUMBER
from synth.text.words import fold, places_of

__all__ = [
    "Option",
    "about",
    "asked_for",
    "context_of",
    "folder_words",
    "holds",
    "is_row",
    "kind_called",
    "listed_with",
    "names",
    "of_other_kinds",
    "options_in",
    "subject",
    "term",
]

_MARKS = frozenset(
    "class exception coroutine async classmethod staticmethod property abstractmethod final static".split()
)
_IDENTIFIER = re.compile(r"[a-z-][\w.-]*|[A-Z]+[a-z0-9]+[A-Z]\w*")
"""A name that a heading may have: no word of a sentence, and no title."""
_BARE = re.compile(r"[^\w.-]+$")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z?][\w-]*")
_LONGEST_TERM = 60


@lru_cache(maxsize=65536)
def term(line: str) -> str | None:
    """The name that a line introduces ("class pool.Thing(size)" -> "pool.Thing", "-f, --file name" -> "--file"); None
    when it is no such line."""
    if len(line) <= _LONGEST_TERM and _FLAG.match(line) and not line.endswith("."):
        flags: list[str] = _FLAG.findall(line)
        return next((flag for flag in flags if flag.startswith("--")), flags[0])
    words = line.split("(", 1)[0].split()
    while len(words) > 1 and words[0] in _MARKS:
        words = words[1:]
    if not words or len(words) > 3 or line.rstrip().endswith((":", ".", "?")):
        return None
    name = _BARE.sub("", " ".join(words))
    return name if len(name) > 1 and name[0] not in ".#" else None


def names(text: str, name: str) -> bool:
    """Whether ``text`` (an anchor, a term) names ``name``: equal, or one is the other's last part ("Thing.run()")."""
    if same_name(text, name):
        return True
    a, b = _code(text), _code(name)
    return bool(a) and bool(b) and (a == b or b.endswith(f".{a}") or a.endswith(f".{b}"))


def _code(text: str) -> str:
    word = text.split("(", 1)[0].strip()
    return word if re.fullmatch(r"[\w-]+(?:\.[\w-]+)*", word) and not re.fullmatch(r"\d+(?:\.\d+)*", word) else ""


def about(sentences: Iterable[Passage], name: str) -> list[Passage]:
    """What stands under the entry of ``name``, the entry's own line first; empty where there is none.

    The last part of a dotted name is enough only where no entry has the whole name.
    """
    known = [sentence for sentence in sentences if sentence.text != sentence.heading]
    if rows := [s for s in known if s.text.startswith(f"{name} | ")]:
        return rows
    for match in (_whole, _last):
        found = [s for s in known if any(match(line, name) for line in (s.text, *s.parents))]
        if found:
            return found
    if not _IDENTIFIER.fullmatch(name):
        return []
    return [s for s in known if s.heading and names(s.heading.split(" ", 1)[0], name)]


def _whole(line: str, name: str) -> bool:
    found = term(line)
    return found is not None and fold(found) == fold(name)


def _last(line: str, name: str) -> bool:
    found = term(line)
    return found is not None and names(found, name)


def is_row(text: str) -> bool:
    """Whether a line is a row of a table, and no label with its value ("Default: | off")."""
    before, parted, _ = text.partition(" | ")
    return bool(parted) and not before.endswith(":")


def subject(sentence: Passage, title: str) -> list[str]:
    """What a sentence may be about, the likeliest first: the terms that it stands under, a heading that is a name
    ("--size", "Timeout Directive", but not "Career" or "Early life"), then the page."""
    terms = [sentence.text.split(" | ", 1)[0]] if is_row(sentence.text) else []
    terms += [found for line in reversed(sentence.parents) if (found := term(line)) is not None]
    heading = _NUMBER_OF.sub("", sentence.heading.lstrip(_SIGNS))
    bare, _, kind = heading.removeprefix("The ").partition(" ")
    bare = bare.removesuffix("()")
    is_name = _IDENTIFIER.fullmatch(bare) if not kind else kind[:1].isupper() and " " not in kind
    headed = [bare] if is_name and sentence.heading != title else []
    return [*terms, *headed, title]


_SIGNS = "◆◇§¶•■▸ "
"""Signs in front of headings."""
_NUMBER_OF = re.compile(r"(?:\d+\.)+(?:\d+\.?)? (?=The )")
""" "21.2.6.8. The kiln-list Command\""""
_UNIT = re.compile(r"\s?(?:%|(?:square |cubic |sq )?[^\W\d_]+²?)")
_NAME = re.compile(r"[A-Z][\w'’.-]*(?:\s+(?:(?:of|the|de|von|van|and)\s+)*(?:[A-Z][\w'’-]*|\d+))*")
_CODE = re.compile(r"\"[^\"]{1,80}\"|“[^”]{1,80}”|`[^`]{1,80}`|\b\w+(?:[._]\w+)+(?:\(\))?|--?[a-z][\w-]+")


@dataclass(frozen=True)
class Option:
    """Something that a clue's unknown could be."""

    text: str
    sentence: Passage
    place: str | None = None
    """The page that the option links to, or the place on one."""

    @property
    def document(self) -> str | None:
        return None if self.place is None else self.place.split("#", 1)[0]


@lru_cache(maxsize=65536)
def options_in(sentence: Passage, kind: ValueKind) -> tuple[Option, ...]:
    """The options of ``kind`` in ``sentence``, in reading order, each once."""
    text = sentence.text
    if kind == "date":
        found: Iterable[str] = (match.group() for match in DATE.finditer(text))
    elif kind == "year":
        found = (match.group() for match in YEAR.finditer(text))
    elif kind in ("number", "quantity"):
        # The parts of a date are not numbers, and a page of years is not a quantity.
        masked = DATE.sub(lambda match: " " * len(match.group()), text)
        found = (_with_unit(masked, match, kind) for match in NUMBER.finditer(masked))
    else:
        linked = tuple(Option(item.anchor, sentence, item.place) for item in sentence.links)
        if kind == "entity" and linked:
            return tuple(dict.fromkeys(linked))
        runs = [match.group().rstrip(".") for match in _NAME.finditer(text)]
        names = [run for run in runs if run.casefold() not in FUNCTION_WORDS]
        quoted = [match.group().strip('"“”`') for match in _CODE.finditer(text)] if kind == "text" else []
        plain = [Option(name, sentence) for name in dict.fromkeys((*quoted, *names))]
        return (*dict.fromkeys(linked), *plain)
    return tuple(Option(item, sentence) for item in dict.fromkeys(found))


def _with_unit(text: str, match: re.Match[str], kind: ValueKind) -> str:
    if kind == "number":
        return match.group()
    unit = _UNIT.match(text, match.end())
    return match.group() + (unit.group().rstrip() if unit else "")


_JOINT = re.compile(r"(?:,\s*(?:and\s+)?|\s+and\s+)(?:the\s+)?")


def listed_with(option: Option) -> list[str]:
    """All names of the list "A, B and C" that the option is part of, in order; empty when it stands alone."""
    sentence = option.sentence
    names = [item.anchor for item in sentence.links]
    if option.text not in names or len(names) < 2:
        return []
    runs: list[list[str]] = []
    at = 0
    previous_end: int | None = None
    for name in names:
        found = next(places_of(sentence.text[at:], name), None)  # "Nivania", not in "Nivanian"
        if found is None:
            return []
        start = at + found[0]
        if previous_end is not None and _JOINT.fullmatch(sentence.text[previous_end:start]):
            runs[-1].append(name)
        else:
            runs.append([name])
        at = previous_end = start + len(name)
    return next((run for run in runs if option.text in run and len(run) > 1), [])


_WHO = re.compile(r"\bwhom?\b|\bwhose\b|\bperson\b|\bpeople\b", re.IGNORECASE)


_CALLED = [one.split(": ") for one in phrases("word_lists")["kinds_in_other_words"]]
"""(what questions say, kind)."""
_KINDS = {stem: kind for word, kind in _CALLED for stem in content_stems(word)}


def asked_for(question: str) -> frozenset[str]:
    """Stems of the nouns that a question may ask for: "which book", "who"."""
    found = content_stems(question)
    found |= {stem for word, kind in _KINDS.items() if word in found for stem in content_stems(kind)}
    return found | content_stems("person") if _WHO.search(question) else found


def kind_called(kind: str, question: str) -> str:
    """What a question calls things of a kind: "paper" of newspapers."""
    found = content_stems(question)
    if content_stems(kind) & found:
        return kind
    return next((word for word, one in _CALLED if one == kind and content_stems(word) & found), kind)


def of_other_kinds(place: str | None, others: Iterable[tuple[str, str | None]], question: str) -> list[str]:
    """Of ``others`` (name, place) those that lie in another folder than ``place``, where the question names the kind
    of thing that lies there."""
    folder = (place or "").partition("/")[0]
    if "/" not in (place or "") or not content_stems(folder) & asked_for(question):
        return []
    return [name for name, other in others if other is not None and other.partition("/")[0] != folder]


def context_of(sentence: Passage) -> str:
    """A sentence with the heading and the labels ("See also:") that it stands under."""
    labels = " ".join(line for line in sentence.parents if line.endswith(":"))
    return f"{sentence.heading}: {labels} {sentence.text}"


def folder_words(document: str | None) -> frozenset[str]:
    """What the folder of a document says about the kind of thing that it is about."""
    return content_stems((document or "").rpartition("/")[0])


def holds(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text``, whatever the case and the signs around it."""
    return f" {fold(name)} " in f" {fold(text)} "
