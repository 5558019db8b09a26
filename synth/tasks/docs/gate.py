"""The last look at a question: whether what it asks for is a thing, and whether its words are whole."""

from __future__ import annotations

import re
from collections import defaultdict

from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.sentences import stems
from synth.tasks.draft import Draft
from synth.text.numbers import NUMERALS
from synth.text.subjects import is_identifier
from synth.text.words import tokens

__all__ = ["Gate"]

_OF_PROSE = ("subject", "plain")
"""Families whose answer is what a sentence speaks of."""
_IN_PLACE = re.compile(
    r"\d+(?:st|nd|rd|th)|(?:line|step|part|phase|item|row|column|figure|table|listing|example|note) \d+"
    r"|(?:final|first|second|third|last|next|previous|following|above|resulting|other) .*",
    re.IGNORECASE,
)
"""What only the place in its page tells: "Line 11", "the final operation"."""
_CUT = re.compile(
    r"\b(?:if|when|where|unless|until|while|as) (?:it is |they are )?(?:set|unset|specified|given|enabled|disabled|"
    r"present|provided|omitted|true|false|defined|needed|necessary|required|applicable|supported|missing|empty|used|found|"
    r"possible|available|in use)(?=[?,]|$)"
)
"""A condition without what it is a condition on: "... when set"."""
_POINTS = re.compile(
    r"\b(?:is|are|was|specifies|holds|gives|provides|adds) (?:another|yet another|one more)\b"
    r"|\bthe (?:first|second|third|last|former|latter|other|remaining) (?!of\b|argument|parameter|element|character|"
    r"line|item|word|column|field|day|entry|byte|letter|page|row)[a-z]+(?= *[,?]| (?:by|in|with|for|and|is|are)\b)"
    r"|\b(?:of|on|in|to|for|with|from) both(?=[?,]|$)|\bboth parts\b"
    r"|\b(?:an?|the) (?:much |far |even |slightly )?more [a-z-]+ (?!.* than )(?:and [a-z-]+ )?[a-z]+[?]$"
    r"|\b(?:if|when|where|that) (?!I\b)[A-Za-z] (?:is|are|has)\b"
    r"|\b(?:follows?|uses?|has|works?|behaves?) the same [a-z]+ as\b"
    r"|\ban? similar [a-z]+\b(?! to (?:the|an?|that|those)\b)|\bthat [a-z]+ it[?]$"
    r"|\b(?:heart|meat|guts|brains|backbone|workhorse|cornerstone) of\b"
    r"|\b(?:is|are|was|can|may|will) then\b|\bin (?:this|that) (?:case|way|manner)\b"
)
"""What leans on a sentence that the question does not have: "another extension", "the first area", "if x is"."""
_SIGNS = re.compile(
    r"\b(?:which|who|whose|and|or)\?$|\b(?:is|are) \"[^\"]*\",|, (?:possible|valid|allowed|supported) values?\b"
    r"|\bused to (?!embed|feed|need|seed|speed|proceed|exceed|succeed|shed)[a-z-]+ed\b"
    r"|[a-z]\.\?$|\b[A-Z]\.[A-Z]\?$| [+&/|] |\"\(?\)?\"|(?<=[a-z]): (?=[a-z])|\b(?:TODO|FIXME|TBD|XXX)\b"
)
_NO_NAME = re.compile(
    r".* [—–|+=&] .*|[A-Za-z]|.*\bdocumentation$|.* (?:options|commands|settings|switches|parameters|arguments|flags)"
    r"|.*[.?!:;]$|(?:\S+ ){7,}\S+|[a-z]+(?:_[a-z]+)*=\S*[:;,]\S*",
    re.IGNORECASE,
)
"""Titles with the tail of their site, sentences, and a name with its value: no name of a thing."""
_ABOUT_ALL = frozenset(
    "typical empty average common normal ordinary sufficient proper certain usual single separate suitable "
    "appropriate careful complete correct good bad poor recent modern physical regular simple complex large small long "
    "nice interesting useful important main key great neat handy special new old other real basic usual "
    "short big high low wrong right".split()
)
"""In front of a noun they say what sort of it is meant, and name nothing."""
_WHO = re.compile(r"What (?:tries|wants|prefers|knows|thinks|decides|likes|attempts|chooses|believes|hopes)\b")
"""What only people do is done by no thing."""
_KIND_AGAIN = re.compile(
    r"Which ([a-z]+) (?:.* )?(?:all|any|other|every|each|another|several) (?:other )?\1(?:s|es)?\b"
)
""" "Which protocol is supported for all protocols?\""""
_TITLE = re.compile("“[^”]*”")
_MOST = 1
"""Words that a title may have beside those of a name that it supports."""


class Gate:
    """Judges the questions of one corpus by their words and by what its pages name."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._titles: dict[str, list[frozenset[str]]] = defaultdict(list)
        """Stem of a word -> names of pages, sections and things that have it, as stems."""
        for name in {each for found in corpus.entities for each in (found.name, *found.aliases[:2])}:
            words = frozenset(stems(name))
            for word in words:
                self._titles[word].append(words)

    def flaw(self, draft: Draft) -> str | None:
        """What is wrong with the words of a question or with its answer; None where nothing is seen."""
        question, answer = _TITLE.sub("“”", draft.question), draft.answer
        for pattern in (_CUT, _POINTS, _SIGNS, _WHO, _KIND_AGAIN):
            if (match := pattern.search(question)) is not None:
                return f"{match.group()!r} in it"
        named = draft.answer_kind == "entity" or draft.surface.partition("/")[0] in _OF_PROSE
        if named and not draft.answer_parts and not answer.startswith("-") and _NO_NAME.fullmatch(answer):
            return f"{answer!r} names nothing"
        if draft.surface.partition("/")[0] in (*_OF_PROSE, "told", "placed", "asked") and _IN_PLACE.fullmatch(answer):
            return f"{answer!r} is told by its place"
        if draft.surface.partition("/")[0] in _OF_PROSE:
            return self._unnamed(answer, defined=question.startswith("What do you call "))
        return None

    def _unnamed(self, answer: str, *, defined: bool) -> str | None:
        """Why plain words are no name: no title, heading or term of the documents has them, nor are they defined."""
        words = answer.split()
        if len(words) > 1 and words[0].lower() in (_ABOUT_ALL | set(NUMERALS)):
            return f"{words[0]!r} says only what sort of thing it is"
        written = any(is_identifier(word) or word[:1].isupper() or not word.isalpha() for word in words)
        if defined or written:
            return None
        if self._corpus.is_word_of_many_pages(answer):
            return f"which {answer!r}, its page says"
        wanted = stems(answer) or set(tokens(answer))
        some = self._titles.get(next(iter(sorted(wanted)), ""), ())
        if any(wanted <= title and len(title) <= len(wanted) + _MOST for title in some):
            return None
        return f"nothing in the documents is called {answer!r}"
