"""How things, places and facts of documents are called in a question."""

from __future__ import annotations

import re

from synth.lexicon.reading import document_words
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.english import VERBS, clause, is_fragment
from synth.tasks.docs.leaks import leaks
from synth.text.inflection import capital, imperative
from synth.text.words import FUNCTION_WORDS

__all__ = ["Words", "in_place", "is_plural", "subject_question"]

_PLACES = frozenset(("page", "section", "index", "chapter", "appendix", "part"))
_LOCAL = frozenset(
    "option setting term variable key flag field format entry parameter argument mode modifier placeholder attribute "
    "property type value action file target rule qualifier switch clause constant".split()
)
"""Kinds whose things mean something on their page alone: a question names the page."""
_NO_KINDS = frozenset("entry thing name value no number example note notes item key feature element".split())
"""What things are not called in a question: headings of first columns that say nothing."""
_LEAST = 3
_NOUNS = frozenset("format name type range result state value access class display document group model".split())
"""Verbs of documentation that are nouns as well when a label ends in them."""
_NO_NOUN = ("ed", "ing", "ly", "able", "ible", "ful", "ous")
_OPENS_NO_NOUN = frozenset("implicitly requires includes if when how see since introduced".split())
_NO_LABEL = frozenset(
    "is are can has have does do was were may must should name names notes note comment comments description example "
    "examples yes no x links refers see also mentions value values".split()
)
_BEFORE_ARGUMENT = re.compile(
    r"\b(?:in|by|to|from|with|of|for|on|is|are|called|named|using|use|uses|as|into|under|via|call|calls|run|runs|"
    r"set|sets|create|creates|return|returns|implement|implements|pass|contain|contains|include|includes|support|supports|"
    r"provide|provides|require|requires|need|needs|add|adds|remove|removes|install|read|reads|write|writes) (?:the )?$"
)
_BEHIND_ARGUMENT = re.compile(
    r"\.$|, (?:which|as|so|and|but|unless|where|while)\b|"
    r" (?:with|for|to|in|from|when|if|before|after|by|on|at|into|while|unless|so|using|via|instead|because|until)\b"
)
_KIND_BEHIND = re.compile(
    r" (?P<kind>(?:environment |configuration |command-line |command line )?"
    r"(?:function|option|file|command|directive|field|"
    r"method|class|trait|type|macro|module|variable|flag|package|parameter|setting|attribute|keyword|crate|tool|program|"
    r"utility|library|format|protocol|header|table|operator|event|key|interface|object|struct|enum|statement|directory|"
    r"exception|error|signal|driver|terminal|style|system|standard|[Ss]pecification|server|project|license|algorithm|"
    r"language|element|argument|routine|extension|pragma|constant|value|property|branch|mode))(?![\w-])"
)
_SETTINGS = frozenset("option parameter setting directive flag switch argument qualifier".split())
"""Kinds whose things say what something else is to be: none of them "is the maximum number of connections"."""
_QUANTITY = re.compile(
    r"that is (?=(?:the|an?) (?!same|default|alias|synonym|short|abbreviation|equivalent|boolean|flag))"
)
_SAID = re.compile(r"([A-Z][a-z]+s) (?:the|an?|all|any|each|whether|if|how|which|what|its|no) ")
_ASIDE = re.compile(r"\b(?:of course|arguably|simply|actually|really|basically|merely|probably|perhaps|hopefully)\b")
_NOMINAL = re.compile(r"that is (?:an?|the) ")
_FINITE = re.compile(r" (?:will|must|should|shall|is|are|was|were|has|have|can|may)\b")
_INNER = re.compile(r" (?:that|which|who|whose|where|when|if|whether|how|what|because|unless|until|while|so|as)\b")
_SUBJECT = re.compile(
    r"(?:The |An? )?(?P<x>{x})(?: (?P<kind>[a-z]+(?: [a-z]+)?))? "
    r"(?P<verb>is|are|was|can|must|may|will|has|[a-z]+s) (?P<rest>.+)\."
)


class Words:
    """Names of things and places of one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def noun(self, entity: int) -> str | None:
        """What a question calls things of the entity's kind; None for places, which are asked for in no question."""
        found = self._corpus.entities[entity]
        kind = found.kind
        if kind == "term" and found.document in self._corpus.pages:
            page = self._corpus.entities[self._corpus.pages[found.document]]
            kind = "keyword" if page.kind == "command" else kind
        return (
            None
            if kind in _PLACES or kind in _NO_KINDS or not re.fullmatch(r"(?:[^\W\d_]|\+)+(?:[ -][^\W\d_]+){0,2}", kind)
            else kind
        )

    def is_local(self, entity: int) -> bool:
        found = self._corpus.entities[entity]
        return (
            not self._corpus.is_page(entity)
            and found.document >= 0
            and (
                found.kind in _LOCAL or "~row" in found.id or self._corpus.called[found.kind, found.name.casefold()] > 1
            )
        )

    def page(self, row: int) -> str:
        """ "git-log", "the mod_ssl module" or "“Config”": what a question calls a page; empty where it can't."""
        corpus = self._corpus
        found = corpus.entities[corpus.pages[row]]
        if found.kind not in _PLACES and corpus.page_named[found.name.casefold()] == 1:
            return found.name if found.kind == "command" else f"the {found.name} {found.kind}"
        title = corpus.columns.titles[row].strip('“”"')
        if corpus.titled[title] > 1 or any(c in title for c in "“”") or len(title) > 90:
            return ""
        return f"“{title}”"

    def place(self, row: int) -> str:
        """ "of git-log" or "in “Config”": how a question says on which page a thing stands; empty where it can't."""
        page = self.page(row)
        return f"{'in' if page.startswith('“') else 'of'} {page}" if page else ""

    def name(self, entity: int) -> str | None:
        """The name with its kind and, where it needs that, its page: "the --size option of git-log"; None when even so
        another thing goes by it."""
        corpus, found = self._corpus, self._corpus.entities[entity]
        noun = self.noun(entity)
        if (
            any(c in found.name for c in "“”\n")
            or len(found.name) > 60
            or " and " in found.name
            or found.name.startswith("(")
        ):
            return None
        bare = found.name
        said = f"the {bare} {noun}" if noun and noun != "term" else f"“{bare}”"
        if corpus.is_page(entity):
            if corpus.page_named[bare.casefold()] != 1:
                return None
            return said if noun else f"the page “{bare}”"
        if not self.is_local(entity):
            return said
        if len(bare) < _LEAST or corpus.on_page[found.document, bare.casefold()] != 1:
            return None  # nobody can search for "E"
        place = self.place(found.document)
        return f"{said} {place}" if place else None

    def said_of(self, entity: int, sentence: str) -> str | None:
        """What a sentence says of a thing, behind a noun ("that returns ..."), where that reads and does not give its
        name away."""
        found = self._corpus.entities[entity]
        short = re.split(r"\.|::", found.name)[-1]
        kind = "function" if found.kind in _LOCAL else found.kind
        said = None
        if "\n" not in sentence and len(sentence) > 15:
            sentence = capital(sentence.strip())
            said = clause(sentence, found.name, kind) or (
                clause(sentence, short, kind) if short != found.name else None
            )
        if said is None or is_fragment(said, least=22, most=150) or any(c in said for c in "“”"):
            return None
        if any(leaks(said, name) for name in (found.name, *found.aliases[:3]) if len(name) < 60):
            return None
        if found.kind.split()[-1] in _SETTINGS and (of := _QUANTITY.match(said)):
            said = f"that specifies {said[of.end() :]}"
        if re.match(r"that (?:is (?:not|no|the default|also)|does not|only|has no|are)\b", said) or _is_sentence(said):
            return None
        return said

    def asks(self, relation: str, x: str) -> tuple[str, ...]:
        """Questions for a value: "What is the status of {x}?"; none where the relation's name makes none."""
        known = document_words()
        if relation in known.relations:
            return tuple(text.format(x=x) for text in known.relations[relation].question.asks)
        words = relation.replace("_", " ").split()
        if not 0 < len(words) <= 3 or not all(word.isalpha() for word in words) or set(words) & _NO_LABEL:
            return ()
        if (
            words[-1] in FUNCTION_WORDS
            or words[0] in FUNCTION_WORDS
            or (len(words) == 1 and len(words[0]) < 3 and words[0].isascii())
        ):
            return ()
        label = " ".join(words)
        if words[-1].endswith(_NO_NOUN) or words[-1] in VERBS - _NOUNS or words[0] in _OPENS_NO_NOUN:
            return ()
        verb = "are" if is_plural(label) else "is"
        return tuple(text.format(label=label, x=x, **{"is": verb}) for text in known.other)


def is_plural(label: str) -> bool:
    """Whether a label names several things: "additional arguments"."""
    return label.endswith("s") and not label.endswith(("ss", "us", "is", "series"))


def in_place(sentence: str, word: str) -> str | None:
    """A sentence as a question for its word, without the sign: "in which directory are the manual pages installed", or
    with the word in its place where it begins the clause: "for games, which directory is used"."""
    at = sentence.find(word)
    before, after = sentence[:at], sentence[at + len(word) :]
    if (said := _SAID.match(sentence)) is not None and imperative(said[1].lower()) in VERBS:
        return None  # "Sets the string to what": of whom it is said stands elsewhere
    if len(sentence) > 190 or at < 12 or any(c in before + after for c in '“”":;()') or sentence.count(",") > 2:
        return None
    if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", before + " " + after) or leaks(before + after, word):
        return None
    number = re.fullmatch(r"[\d.,]+ (\w+)|([\d.,]+)%", word)
    kind = _KIND_BEHIND.match(after)
    if number and re.search(r"\b(?:is|are|to|for|of|by|than|at|with|has|have|most|least|after|every) $", before):
        asked = f"how many {number[1]}" if number[1] else "what percentage"
    elif kind is not None:
        noun = kind["kind"][0].lower() + kind["kind"][1:]
        before = re.sub(r"\b(?:the|an?|this|its|your) $", "", before, flags=re.IGNORECASE)
        after = after[kind.end() :]
        begins = before.endswith(", ") or not before
        if not begins and _BEFORE_ARGUMENT.search(before) is None:
            return None  # "the initial Postfix which driver", "the -l or which flag"
        if not begins and after != "." and _BEHIND_ARGUMENT.match(after) is None:
            return None  # "the which option flag"
        asked = f"which {noun}"
    elif "," not in before and _BEFORE_ARGUMENT.search(before) and _BEHIND_ARGUMENT.match(after):
        before = re.sub(r"\bthe $", "", before)
        asked = _sort_of(word)
        if asked == "what" and re.search(r"[A-Z][a-z]+ [A-Z][a-z]+", word):
            return None  # who can tell whether that is a person?
    else:
        return None
    after = after.rstrip(".")
    return f"{before}{asked}{after}" if before.endswith(", ") or not before else _fronted(before, asked, after)


_AUXILIARY = re.compile(r" (is|are|was|were|can|must|may|will|should) ")
_CLAUSE = re.compile(
    r",|\b(?:that|which|who|where|when|if|because|and|or|but|not|has|have|unless|while|so|this|these|such)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r" (?:in|by|with|from|to|on|at|for|under|into|via|using|as)$")


def _fronted(before: str, asked: str, after: str) -> str | None:
    """A sentence around what it asks for as a question: "Manual pages are kept in which file" -> "in which file are
    manual pages kept"; None where it is built in another way."""
    said = before.rstrip()
    if _CLAUSE.search(said):
        return None
    preposition = _PREPOSITION.search(f" {said}")
    first = f"{preposition.group().strip()} {asked}" if preposition else asked
    said = said[: len(said) - len(preposition.group())].rstrip() if preposition else said
    auxiliaries = list(_AUXILIARY.finditer(f"{said} "))
    if len(auxiliaries) == 1:
        subject, verb, rest = said[: auxiliaries[0].start()], auxiliaries[0][1], said[auxiliaries[0].end() - 1 :]
        return f"{first} {verb} {_inner(subject)}{rest if rest.strip() else ''}{after}"
    words = said.split()
    at = next((n for n, word in enumerate(words) if n and word.islower() and imperative(word) in VERBS - _NOUNS), 0)
    subject, base = " ".join(words[:at]), imperative(words[at]) if at else ""
    if not at or auxiliaries or len(words[:at]) > 5:
        return None
    if base == words[at] and not is_plural(subject):
        return None
    auxiliary = "does" if base != words[at] else "do"
    return f"{first} {auxiliary} {_inner(subject)} {' '.join([base, *words[at + 1 :]])}{after}"


def _inner(subject: str) -> str:
    """A subject in the middle of a sentence."""
    return (
        subject[0].lower() + subject[1:]
        if re.match(r"(?:The|An?|All|Each|Every|No|Any|Its|You|Your|Most|Some)\b", subject)
        else subject
    )


def subject_question(sentence: str, word: str) -> tuple[str, str] | None:
    """(question, its cue) of a sentence that says something of ``word``: "Which directive controls ...?"."""
    match = re.fullmatch(_SUBJECT.pattern.replace("{x}", re.escape(word)), sentence)
    if match is None or not (
        match["kind"] or match["verb"] in ("is", "has", "can", "must") or sentence.startswith(word)
    ):
        return None
    kind = match["kind"]
    if kind and (
        kind.split()[-1] in FUNCTION_WORDS or kind.split()[-1].endswith("s") or kind.split()[0].endswith(("ly", "s"))
    ):
        return None
    if (
        match["verb"] in ("are", "was")
        or _ASIDE.search(match["rest"])
        or re.match(
            r"(?:(?:an?|the) )?"
            r"(?:not|also|only|still|now|no longer|bit|fine|similar|good|little|lot|different|same|one|way)\b",
            match["rest"],
        )
    ):
        return None
    said = f"{match['verb']} {match['rest']}"
    if is_fragment(said, least=30, most=190) or leaks(said, word) or any(c in said for c in "“”"):
        return None
    return f"{f'Which {kind}' if kind else 'What'} {said}?", said


def _is_sentence(said: str) -> bool:
    """Whether what follows "that is the ..." has a verb of its own, so that it is not a name of a thing but a sentence
    about something else: "that is the start action of a script must exit"."""
    match = _NOMINAL.match(said)
    verb = _FINITE.search(said, match.end()) if match else None
    return verb is not None and _INNER.search(said, match.end() if match else 0, verb.start()) is None


def _sort_of(word: str) -> str:
    """What asks for a word by how it is written."""
    if word.endswith("()"):
        return "which function"
    if word.startswith("--"):
        return "which option"
    if "/" in word or re.search(r"\.\w{1,5}$", word):
        return "which file or directory"
    return "what"
