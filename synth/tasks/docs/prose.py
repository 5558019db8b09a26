"""Which sentences of prose make a question: those whose subject has a name, and that say what tells it from others.

To the eye, in some 190 questions of twelve trees: what a thing *is* ("What is the name of the protocol ...?", "What
do you call ...?") and what has a kind in front of its name ("Which directive ...?") read well in nine cases of ten,
what a thing with a proper name does in seven of ten, and plain words that do something, several things at once and
what only its page tells from others in three of ten. The first are asked, the second where little else is left, and the
rest, with the page, when that is used up.
"""

from __future__ import annotations

import re
from typing import Literal

from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.sentences import stems
from synth.text.subjects import KINDS, Statement, is_identifier
from synth.text.words import content_words

__all__ = ["Prose"]

_WEAK = frozenset(
    """
    has have can may will must should is are was were does do includes include contains contain requires require needs
    need uses use takes take supports support runs run starts start returns return works work comes come makes make
    goes go offers lets lies stands remains becomes depends follows applies belongs consists occurs happens means says
    sees tries wants keeps gets looks changes costs varies affects involves focuses aims helps begins ends appears
    """.split()
)
"""What many things do: no question tells one of them by it."""
_LEAST_SAID = 5
"""Words that tell, in what a thing with a proper name is said to do."""
_PEOPLE = re.compile(
    r"(?:(?:all|an?|the|those|any) )?(?:(?!of |for |in )[\w-]+ ){0,2}"
    r"(?:people|persons?|someone|anyone|everyone|those|users?|individuals|volunteers|developers?|members?)"
    r"(?: [A-Z]\w+)*(?: [A-Z]\w+ [A-Z]\w+)? (?:who|that|with|whose|interested)\b"
)
_ADVERTISES = frozenset("gives provides offers simplifies improves delivers enables".split())
_BEST = re.compile(
    r"(?:the|an?) (?:[\w-]+ )*?(?:most|least|latest|newest|oldest|best|[a-z]{3,}(?<!for)(?<!qu)est)\b", re.IGNORECASE
)
"""What was so when the page was written, or of those that it has just told of."""

_BARE = re.compile(
    r"(?:the|this|each) (?:(?!(?:of|for|in|that|who|which|whose|with|without|to|from|on|at|by|between|used) )[\w-]+ ?)"
    r"{1,4}",
    re.IGNORECASE,
)
"""What only its page tells: "the normal operation mode" is called ProcRun, of one program."""
_SOMETIMES = re.compile(r"(?:is|are|was|were) (?:not )?[a-z]+(?:ed|set|given|sent) (?:if|when|unless|where)\b")
"""What a thing undergoes at times: it tells an exception or an event, and no parameter ("is omitted if ...")."""
_RAISED = frozenset("exception error signal event message warning".split())


class Prose:
    """Judges what the sentences of one corpus speak of."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        names = (name for found in corpus.entities for name in (found.name, *found.aliases[:2]))
        self._named = {frozenset(stems(name)) for name in names}
        """Names of pages, sections and things, as stems."""

    def family(self, said: Statement, question: str) -> Literal["subject", "plain"] | None:
        """The family of a question for what a sentence speaks of: ``subject``, ``plain`` (second choice) or none."""
        if said.names:
            return None if _BEST.match(said.rest) or _BARE.fullmatch(said.rest) else "subject"
        if question.startswith("What do you call "):
            if _PEOPLE.match(said.rest) or (said.plural and not self._is_named(said.name)):
                return None
            return "subject"
        if said.plural:
            return None  # "Which drives provide the fastest transfers?", "What is wild?" (tens)
        written = self.is_proper(said.name)
        opened = said.name.isalpha() and said.name[0].isupper() and not self._corpus.is_common(said.name)
        if said.kind:
            if said.kind.split()[-1] not in _RAISED and _SOMETIMES.match(f"{said.verb} {said.rest}"):
                return None
            return (
                "subject" if written or opened or not said.name.isalpha() or self._corpus.goes_by(said.name) else None
            )
        if question.startswith(("What is the name of ", "Which ", "What is the ")):
            return "subject" if (written or opened) and not _BEST.match(said.rest) else None
        if not written or (said.verb in _ADVERTISES and said.name.isalpha() and not self._corpus.goes_by(said.name)):
            return None  # a product that the page only mentions is praised, and not described
        if re.fullmatch(r".* \d+", said.name):
            return None  # "Debian 9 enables ...": so do those after it
        telling = said.verb not in _WEAK and len(content_words(f"{said.verb} {said.rest}")) >= _LEAST_SAID
        local = not self._corpus.is_word_of_many_pages(said.name)  # the program that the manual is of does everything
        return "plain" if telling and local and question.startswith("What ") else None

    def tells(self, said: Statement) -> bool:
        """Whether what a sentence says tells its subject from others at least on its page."""
        if said.names:
            return True
        if _PEOPLE.match(said.rest) or (said.kind and _SOMETIMES.match(f"{said.verb} {said.rest}")):
            return False
        return said.verb not in _WEAK - {"is", "are"} and len(content_words(f"{said.verb} {said.rest}")) >= _LEAST_SAID

    def _is_named(self, name: str) -> bool:
        """Whether a page, section or thing goes by the words, as the singular or the plural of them."""
        return frozenset(stems(name)) in self._named

    def is_proper(self, name: str) -> bool:
        """Whether a name is written as one: every word with a capital, a digit or a sign, and not because it opened
        its sentence. "Subsequent", "Reference operation" and "-noregex switch" are none, unless something of the
        documents goes by all of it."""
        words = name.split()
        if len(words) > 1 and (self._corpus.goes_by(name) or all(map(_is_written, words))):
            return not {words[0].lower(), words[-1].lower()} & KINDS or bool(self._corpus.goes_by(name))
        if len(words) > 1 or not _is_written(name):
            return False
        return is_identifier(name) or not name.isalpha() or self._corpus.is_proper(name)


def _is_written(word: str) -> bool:
    return is_identifier(word) or word[:1].isupper() or any(c.isdigit() for c in word)
