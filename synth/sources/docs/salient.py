"""The word of a sentence that is worth asking for: a name, a number with its unit, a version, a quoted term."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from synth.sources.docs.bullets import is_condition
from synth.sources.docs.outline import Outline
from synth.text.asked import asked_sentences, command_asked, commented, written_subject
from synth.text.subjects import statement

__all__ = ["answers_of", "salient", "stands_alone", "telling_words"]

_STATES = 60
"""Sentences of a page from which a telling word is noted, about twice over: that open with it, and others."""
_UNITS = (
    "bytes|kilobytes|megabytes|gigabytes|bits|seconds|milliseconds|microseconds|minutes|hours|days|weeks|months|years|"
    "characters|columns|rows|lines|digits|percent|pixels|points|items|elements|entries|levels|arguments|pages|times|"
    "KB|MB"
)
_ALONE = r"(?<![\w./:-])"
_ENDS = r"(?![\w(/:-])"
_FILES = "conf|cfg|ini|toml|json|ya?ml|lock|rs|md|txt|xml|h|c|py"
_KINDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w.:/$-])[A-Za-z_][\w.]*(?:::\w+)*!?\(\)(?!\w)",  # a call
        r"(?<![\w-])--[a-z][\w-]+(?![\w=<\[-])",  # an option
        rf"{_ALONE}(?:[a-z]\w*(?:_\w+)+|[A-Za-z]\w*(?:::\w+)+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*){_ENDS}",
        rf"{_ALONE}[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+{_ENDS}",
        rf"(?<![\w.,-])\d[\d,.]*\d? (?:{_UNITS})\b|(?<![\w.,-])\d+(?:\.\d+)?%",  # a number with its unit
        rf"{_ALONE}(?:/[\w.+-]*\w)+|{_ALONE}[\w-]+\.(?:{_FILES})(?![\w.])",  # a file
        r"(?<=[“\"])[A-Za-z][\w -]{3,30}(?=[”\"])",  # a quoted term
        r"(?<=[a-z,] )(?:[A-Z][a-z]{2,} ){1,2}[A-Z][a-z]{2,}(?!\w)",  # a proper name
        rf"(?<=[a-z,] )[A-Z][a-z]*[A-Z]\w*{_ENDS}|(?<=[a-z,] )[A-Z]{{2,5}}(?![\w(/:.-])",  # an abbreviation
    )
)
"""What a telling word looks like, the most telling first."""
_POINTING = re.compile(
    r"\b(?:this|these|those|above|below|following|former|latter|here|such|previous|previously|next|also|however|"
    r"therefore|thus|hence|otherwise|instead|again|still|then|it|its|they|them|their|he|she|we|our|us|I|my|let’s|let's|"
    r"example|section|chapter|figure|listing|note|see|e\.g|i\.e|etc|respectively|same|another|other|both|now|"
    r"so|but|and|first|second|third|finally|as mentioned|as described|discussed|shown)\b",
    re.IGNORECASE,
)
_STARTS = re.compile(
    r"(?:This|These|Those|It|They|That|Such|Here|There|So|But|And|Or|Then|If so|Note|However|Also|Lastly|Finally|"
    r"Additionally|Furthermore|Moreover|Similarly|Likewise|See|For example|In this|In that|He|She|We|You|I|Now|Again|"
    r"Otherwise|Instead|Thus|Therefore|Hence|Change|Let)\b"
)
_MILD = frozenset("it its they their them and so but also other both same first then example such".split())
"""Pointing words that a sentence may well settle itself."""
_ODD = re.compile(r"[{}|\\^~`]|>>>|https?:|\.\.|[<>]|\[\d|=|\(c\)|#\d|TODO|FIXME|  ")


def stands_alone(sentence: str) -> bool:
    """Whether a sentence says what it says without those around it."""
    if not 50 <= len(sentence) <= 260 or not sentence.endswith(".") or not sentence[0].isupper():
        return False
    if _STARTS.match(sentence) or _ODD.search(sentence) or len(re.findall(r"[A-Za-z][a-z’'-]+", sentence)) < 7:
        return False
    if sentence.count("(") != sentence.count(")") or sentence.count("“") != sentence.count("”"):
        return False
    pointing = {match.group().lower() for match in _POINTING.finditer(sentence)}
    return pointing <= _MILD and sentence.count('"') % 2 == 0


def salient(sentence: str) -> str | None:
    """What a sentence that stands on its own speaks of, else its most telling word, when it stands there once."""
    said = statement(sentence)
    plain = sentence if said is None or not said.purpose else f"The {said.name} {said.kind} {said.verb} {said.rest}."
    if not stands_alone(plain):
        return None
    if said is not None and len(re.findall(rf"(?<!\w){re.escape(said.name)}(?!\w)", sentence, re.IGNORECASE)) == 1:
        return said.name
    for pattern in _KINDS:
        found = [match.group() for match in pattern.finditer(sentence)]
        for word in dict.fromkeys(found):
            if len(word) > 1 and len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", sentence)) == 1:
                return word
    return None


def telling_words(outline: Outline) -> Iterator[tuple[int, int, str]]:
    """(start, end, word) of a telling word of each sentence that stands on its own, of those first that speak of what
    the word names."""
    text = outline.text
    found: list[tuple[int, int, str]] = []
    for number, line in enumerate(outline.lines):
        if not line.prose or is_condition(outline, number):
            continue
        for start, end in outline.sentences(number):
            word = salient(text[start:end])
            if word is not None:
                found.append((start, end, word))
    first = [item for item in found if item[2].casefold() in text[item[0] : item[0] + len(item[2]) + 4].casefold()]
    for some in (first, [item for item in found if item not in first]):
        yield from some[:: max(1, len(some) // _STATES)]


def answers_of(outline: Outline, commands: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """(start, end, answer) of what sentences say with one of their words (:mod:`synth.text.asked`): where something is
    kept, what one uses for something, the command below "To do that, run", and what a comment says of a command.

    Args:
        commands: as of :func:`synth.text.shell_lines.code_commands`, of all pages.
    """
    text, lines = outline.text, outline.lines
    for number, line in enumerate(lines):
        said = text[line.start : line.end]
        if line.indent and (found := commented(said, commands)) is not None:
            yield line.start, line.end, found[0]
            continue
        for start, end in outline.sentences(number):
            sentence = " ".join(text[start:end].split())
            if line.prose and (written := written_subject(sentence, commands)) is not None:
                yield start, end, written.answer
            elif line.prose:
                yield from ((start, end, one.answer) for one in asked_sentences(sentence))
            below = _only_line_below(outline, number) if end == line.end else None
            if below is not None and (led := command_asked(sentence, text[lines[below].start : lines[below].end])):
                yield start, lines[below].end, led.answer


def _only_line_below(outline: Outline, number: int) -> int | None:
    """The line of code below a line, where it is a block of its own."""
    lines, below = outline.lines, number + 1
    if below >= len(lines) or lines[below].indent < lines[number].indent + 4:
        return None
    alone = below + 1 >= len(lines) or outline.text.count("\n", lines[below].end, lines[below + 1].start) > 1
    return below if alone or lines[below + 1].indent < lines[below].indent else None
