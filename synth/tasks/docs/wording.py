"""How things, places and facts of documents are called in a question."""

from __future__ import annotations

import re
from dataclasses import replace

from synth.lexicon.reading import document_words
from synth.schemas.documents import Entity
from synth.tasks.docs.callings import Callings
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.descriptions import HOLDS, SETTINGS, decides, holds, is_sentence, may_be
from synth.tasks.docs.doubts import GIVEN, UNCLEAR, opens_with_a_noun
from synth.tasks.docs.english import active, clause, is_fragment, plain
from synth.tasks.docs.labels import is_plural, verb_of
from synth.tasks.docs.leaks import leaks
from synth.text.articles import with_articles
from synth.text.inflection import capital
from synth.text.subjects import KINDS, PLURAL_NOUNS, Statement, is_identifier, statement
from synth.text.verbs import THIRD_PERSON, VERBS
from synth.text.words import FUNCTION_WORDS

__all__ = ["Words"]

_PLACES = frozenset(("page", "section", "index", "chapter", "appendix", "part"))
_LOCAL = frozenset(
    "option setting term variable key flag field format entry parameter argument mode modifier placeholder attribute "
    "property type value action file target rule qualifier switch clause constant".split()
) | {"return value", "return code", "exit code"}
"""Kinds whose things mean something on their page alone: a question names the page."""
_NO_KINDS = frozenset(
    "entry thing name value no number example note notes item key feature element category area topic version "
    "data string integer boolean".split()
)
"""What things are not called in a question: headings of first columns that say nothing."""
_OF_WRITING = frozenset("form syntax notation spelling name description abbreviation usage".split())
"""Last words of headings of columns that say how a thing is written, and no kind of it: "Long form"."""
_NO_TITLES = frozenset(
    "index|contents|table of contents|home|search|general index|concept index|example|examples|overview|introduction|"
    "documentation|readme|notes|summary|description|usage|reference|page|format|general|misc|synopsis|name".split("|")
)
"""Titles that tell no page from those of other manuals: no question names a page by them."""
_OF_ALL_PLACES = re.compile(
    r"(?:(?:all|available|general|global|common) )?(?:settings|options|configuration|commands?|parameters|directives|"
    r"variables|command[- ]line(?: options| reference| interface)?|environment variables|"
    r"(?:configuration|settings|options|command) (?:reference|options|file|settings|parameters)|documentation|manual|"
    r"user guide|user manual|reference manual)",
    re.IGNORECASE,
)
"""Titles of the page on which a manual has all things of a kind: no question needs them."""
_IS_SET = re.compile(r"that is (?:set|given|passed|specified|provided|left) ")
"""What a reader is told to do with a thing, and not what it does: "set to false to prevent ..."."""
_PROVIDES = re.compile(r"^that (?:provides|supplies|chooses|picks|enters|gives) (?=the |an? )")
_OF_FORM = re.compile(r"^\((?:[a-z][\w -]{1,30})(?:, [^()]{2,60})?\) (?=[A-Z])")
"""The type in front of a description: "(boolean, default False) Whether ..."."""
_FILE = re.compile(
    r".*[./~*%].*|(?:[A-Z][a-z]+)?[a-z]*file|(?:README|LICENSE|COPYING|NEWS|INSTALL|"
    r"AUTHORS|MANIFEST)",
    re.DOTALL,
)
"""How files are called: with a dot, a slash, or as Makefile and README are."""
_WITH_VALUE = re.compile(r"\w+[=:]\S*[:=/]\S+")
"""A name with its value: "tcontext=system_u:object_r"."""
_ORDINAL = re.compile(r"\d*(?:1st|2nd|3rd|\dth)|#?\d+")
"""Places in a row: what stands there has no name."""
_LEAST = 3
_NOUNS = frozenset("format name type range result state value access class display document group model".split())
"""Verbs of documentation that are nouns as well when a label ends in them."""
_SORTS = frozenset("type value mode class category level format element feature language".split())
"""Headings of columns whose words sort what a table compares, and name nothing: "the Empty type"."""
_NO_NOUN = ("ed", "ing", "ly", "able", "ible", "ful", "ous")
_OPENS_NO_NOUN = frozenset(
    "implicitly requires includes if when how see since introduced new old current previous example sample resulting "
    "final expected actual source edit view download".split()
)
"""First words of labels that are no property of the thing: "New version" is what an example makes of another one."""
_OF_CALLABLES = frozenset("argument arguments arity parameters".split())
"""What things that are called have: a shell is started with arguments, and has none."""
_ATTRIBUTES = frozenset(
    "type default version status context result alias unit range size port class scope precedence associativity "
    "expansion location path level language format syntax value number code license licence category "
    "categories priority protocol method key shortcut name length width arity argument arguments parameters capital "
    "population symbol abbreviation equivalent replacement maximum minimum limit severity date year package "
    "extension sexptype permission permissions mode function operator override maintainer library interface "
    "encoding charset".split()
)
"""Last words of the labels that are asked for in English: what a thing has, and no heading of a comparison."""
_NO_LABEL = frozenset(
    "is are can has have does do was were may must should name names notes note comment comments description example "
    "examples yes no x links refers see also mentions value values section sections chapter page compatibility "
    "meaning area".split()
)
_ESCAPE = re.compile(r"[%\\&][A-Za-z]|%\{\w+\}")
"""Signs for something else: "%t"."""
_QUANTITY = re.compile(
    r"that is (?=(?:the|an?) (?!same|default|alias|synonym|short|abbreviation|equivalent|boolean|flag))"
)
_IDENTITY = re.compile(r"(?:is|was) (?:(?:an?|the) |\w+ (?:parameter|option|argument|attribute|field)s? of\b)")
_ADJECTIVE = re.compile(r"[A-Z][a-z]+(?:ed|al|ar|ive|ous|able|ible|ful|less|ary)")
_REMARKED = re.compile(r", which (?:must|may|can|should|will|is|are|was) [^,]*$")
_THING = re.compile(
    r"that is (?:an?|the) (?:[\w’'/-]+ ){0,4}?([\w-]+)(?= (?:to|of|for|that|which|in|with|used|from)\b|,|$)"
)
_CALLED = frozenset("function method macro procedure routine predicate command operator subroutine".split())
_OF_A_CALL = re.compile(rf"that is (?:an?|the) (?:[\w-]+ ){{0,3}}(?:{'|'.join(sorted(_CALLED))}|version)\b")
_OF_ARGUMENTS = frozenset(("function", "method", "procedure", "routine", "predicate"))
_OF_LOOKS = frozenset("colour color face highlight style theme".split())
"""Kinds that are named for what has them."""
_OF_CALLS = re.compile(
    r"that (?:returns|takes an? (?:\w+ )?argument|is (?:called|invoked) (?:for|when|to|by|with|after|before|on|if))\b"
)
"""What no module, type or file does, and none of them is."""
_NO_FILE = re.compile(
    r"that (?!is|was|has|holds|stores|keeps|contains|includes|lists|gives|names|says|shows|tells|provides|specifies|"
    r"defines|describes|configures|controls|sets|maps|determines|records|declares|documents|enables|allows|tracks|registers)[a-z]"
)
"""What no file does."""
_EVENTS = frozenset(("hook", "callback", "event", "handler", "signal"))
_NO_ACTORS = frozenset("enumerator member constant struct union typedef".split())
"""Kinds whose things do nothing themselves."""
_IMPERATIVE = re.compile(rf"(?:{'|'.join(sorted(VERBS))})\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"that is the (?:[\w’'/-]+ ){0,4}?[\w-]+[^\Wsui]s(?:,| (?:of|for|that|which|in|with|used|from|to|[a-z]{2,}ed)\b|$)"
)
"""What is said of several things: "the historical status-logs"."""


class Words:
    """Names of things and places of one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus, self._callings = corpus, Callings(corpus)

    def noun(self, entity: int) -> str | None:
        """What a question calls things of the entity's kind; None for places, which are asked for in no question."""
        found = self._corpus.entities[entity]
        kind = found.kind
        if kind == "term" and found.document in self._corpus.pages:
            page = self._corpus.entities[self._corpus.pages[found.document]]
            kind = "keyword" if page.kind == "command" and " " not in found.name else kind
            kind = "placeholder" if _ESCAPE.fullmatch(found.name) else kind
        return (
            None
            if kind in _PLACES
            or _ORDINAL.fullmatch(found.name)
            or self._callings.disputed(entity)
            or kind in _NO_KINDS
            or ": " in found.name
            or (kind == "file" and not self._is_file(found))
            or ("~row" in found.id and _WITH_VALUE.fullmatch(found.name))
            or kind.split()[-1] in _OF_WRITING
            or (kind.isascii() and len(kind) < _LEAST)
            or not re.fullmatch(r"(?:[^\W\d_]|\+)+(?:[ -][^\W\d_]+){0,2}", kind)
            else kind
        )

    def _is_file(self, found: Entity) -> bool:
        """Whether a thing below a heading on files is one: "config_search" below "Configuration files" is none."""
        if _FILE.fullmatch(found.name) or found.document < 0:
            return True
        name = re.escape(found.name)
        said = rf"(?<![\w-]){name}[”\"'`]? file\b|\bfile [“\"'`]?{name}(?![\w-])"
        return re.search(said, self._corpus.text(found.document)) is not None

    def is_local(self, entity: int) -> bool:
        """Whether a question needs the page to say which thing is meant."""
        found = self._corpus.entities[entity]
        return (
            not self._corpus.is_page(entity)
            and found.document >= 0
            and not self._is_alone(found)
            and (
                found.kind in _LOCAL
                or "~row" in found.id
                or self._is_subcommand(found)
                or self._corpus.called[found.kind, found.name.casefold()] > 1
            )
        )

    def _is_alone(self, found: Entity) -> bool:
        """Whether a thing stands where all of its kind do, and no other thing has its name."""
        title = self._corpus.columns.titles[found.document].strip('“”"')
        everywhere = _OF_ALL_PLACES.fullmatch(title) is not None or len(self._corpus.pages) == 1
        return everywhere and len(found.name) >= _LEAST and self._corpus.called[found.kind, found.name.casefold()] == 1

    def _is_subcommand(self, found: Entity) -> bool:
        """Whether a command stands on the page of another one: "exit" of systemctl."""
        page = self._corpus.pages.get(found.document)
        return found.kind == "command" and page is not None and self._corpus.entities[page].kind == "command"

    def page(self, row: int) -> str:
        """ "git-log", "the mod_ssl module" or "“Config”": what a question calls a page; empty where it can't."""
        corpus = self._corpus
        found = corpus.entities[corpus.pages[row]]
        if found.kind not in _PLACES and corpus.page_named[found.name.casefold()] == 1:
            return found.name if found.kind == "command" else f"the {found.name} {found.kind}"
        title = corpus.columns.titles[row].strip('“”"')
        if (
            title.casefold() in _NO_TITLES
            or self._of_several(row)
            or corpus.titled[title] > 1
            or not (title[:1].isalnum() and len(title) <= 60 and not set(title) & set("“”"))
        ):
            return ""
        return f"“{title}”"

    def _of_several(self, row: int) -> bool:
        """Whether a page that is called by one command describes others: what stands there may be of another one."""
        title = self._corpus.columns.titles[row]
        if re.fullmatch(r"[a-z][\w-]* [a-z][\w-]*", title) is None:
            return False
        first = f"{title.partition(' ')[0]} "
        headings = {section.heading for section in self._corpus.document(row).sections}
        return any(re.fullmatch(r"[a-z][\w-]* [a-z][\w-]*", h) and h.startswith(first) and h != title for h in headings)

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
            or ", " in found.name
            or " & " in found.name
            or found.name.startswith("(")
            or ("~row" in found.id and not _is_thing(found.kind, found.name))
        ):
            return None
        bare = found.name
        said = f"the {bare} {noun}" if noun and noun != "term" else f"“{bare}”"
        if noun and bare.casefold().endswith(f" {noun}"):
            said = f"the {bare}"
        if corpus.is_page(entity):
            if corpus.page_named[bare.casefold()] != 1:
                return None
            return said if noun else f"the page “{bare}”"
        if not self.is_local(entity):
            return said if noun or is_identifier(bare) else None  # "In which version was “Coverages” added?"
        if len(bare) < _LEAST or corpus.on_page[found.document, bare.casefold()] != 1:
            return None  # nobody can search for "E"
        place = self.place(found.document)
        return f"{said} {place}" if place else None

    def spoken_of(self, sentence: str, row: int) -> Statement | None:
        """What a sentence of a page speaks of, with the kind that pages give it.

        None: no question can ask for it, as for what all pages are about.
        """
        said = statement(sentence)
        if said is None or said.names:
            return said
        if said.kind:
            return None if self._corpus.is_everywhere(said.name) else said
        if self._corpus.is_everywhere(said.name):
            return None
        if said.plural and " " in said.name and self._corpus.is_everywhere(said.name.rpartition(" ")[0]):
            return None  # "Which rules ...?" (ESLint rules)
        is_label = (
            _IDENTITY.match(f"{said.verb} {said.rest}")
            or _ADJECTIVE.fullmatch(said.name)
            or said.verb in ("is", "was", "has", "can", "may", "must", "will")  # "Field has a value"
        )
        if is_label and re.fullmatch("[A-Z][a-z]+", said.name) and self._corpus.is_common(said.name):
            return None  # "Replacement is a formatter of type X", "Automated edits to the table will fail"
        if said.verb in ("is", "was"):
            return said  # "TLS is initiated when ...": no statement of the name is spoken of
        found = self._corpus.goes_last_by(said.name)
        if re.fullmatch("[A-Za-z]+", said.name):  # "GitHub": a hook of one page is no hook on the others
            found = [entity for entity in found if self._corpus.entities[entity].document == row]
        kinds = {self.noun(entity) for entity in found} - {None, "term", "keyword"}
        if said.plural and kinds:
            return None  # "BuildSteps are", of the class BuildSteps
        if (
            len(kinds) == 1
            and is_identifier(said.name)
            and not said.name.isupper()
            and not (kinds == {"function"} and said.name[0].isupper())
        ):
            return replace(said, kind=kinds.pop() or "", plural=False)
        return said

    def said_of(self, entity: int, sentence: str, *, hidden: bool = True) -> str | None:
        """What a sentence says of a thing, behind a noun ("that returns ..."), where that reads and, if it shall be
        ``hidden``, does not give its name away."""
        found = self._corpus.entities[entity]
        short = re.split(r"\.|::", found.name)[-1]
        kind = "function" if found.kind in _LOCAL else found.kind
        said = None
        sentence = _OF_FORM.sub("", sentence)
        if "\n" not in sentence and len(sentence) > 15 and not sentence.rstrip().endswith(":"):
            if opens_with_a_noun(plain(sentence), found.kind):
                return None
            sentence = capital(sentence.strip())
            said = (
                decides(sentence, found.kind)
                or holds(sentence, found.kind)
                or clause(sentence, found.name, kind)
                or (clause(sentence, short, kind) if short != found.name else None)
            )
        said = said and _REMARKED.sub("", said)
        if said is None or is_fragment(said, least=22, most=150) or any(c in said for c in "“”"):
            return None
        if hidden and any(leaks(said, name) for name in (found.name, *found.aliases[:3]) if len(name) < 60):
            return None
        last = found.kind.split()[-1]
        if last in _NO_ACTORS and re.match(r"that (?!is\b)", said) and _IMPERATIVE.match(sentence) is not None:
            return None  # "Attempt to validate." is said of who sets it
        if " " in found.kind and re.search(rf"\b{re.escape(found.kind)}s?\b", said):
            return None  # "Which environment variable retrieves environment variables?"
        if last in _OF_ARGUMENTS and said.startswith("that is ") and re.fullmatch(r"[a-z]+\d*", found.name):
            return None  # "srv: a valid server object" stands in the list of a function's arguments
        thing = _THING.match(said)
        if (thing is not None and thing[1] == last) or re.match(rf"that is an? {last} class\b", said):
            return None  # a function that "is a helper function", an exception that "is an exception class"
        if is_sentence(said):
            return None
        of_files = last != "extension" or len(found.name) < len(".parquet")
        verb = next((verb for kinds, verb in HOLDS if last in kinds and of_files), None)
        verb = "stands for" if found.kind == "term" and _ESCAPE.fullmatch(found.name) else verb
        if verb == "gives" and _OF_A_CALL.match(said):
            return None  # a function that "is an internal method", or "a faster version" of another
        if verb is not None and (of := _QUANTITY.match(said)):
            said = f"that {verb} {said[of.end() :]}"
        if _SEVERAL.match(said) or UNCLEAR.match(said) or (last not in SETTINGS and GIVEN.match(said)):
            return None
        if (thing := _THING.match(said)) is not None and not may_be(last, thing[1]):
            return None
        if last in _OF_LOOKS and said.startswith("that is "):
            return None  # a colour is not the line that is shown in it
        if last == "file" and _NO_FILE.match(said):
            return None  # "Partition Definition Files for ..."
        if _OF_CALLS.match(said) and last not in _CALLED | _EVENTS:
            return None
        if last in SETTINGS:  # who sets it provides it
            said = _PROVIDES.sub("that specifies ", said)
        if _IS_SET.match(said):
            return None
        return with_articles(active(said), self._corpus.counted[0].__contains__, self._is_name)

    def _is_name(self, word: str) -> bool:
        """Whether something of the documents goes by a word, or their sentences give it no article."""
        return bool(self._corpus.goes_by(word)) or word in self._corpus.counted[1]

    def asks(self, relation: str, x: str) -> tuple[str, ...]:
        """Questions for a value: "What is the status of {x}?"; none where the relation's name makes none."""
        known = document_words()
        if relation in known.relations:
            return tuple(text.format(x=x) for text in known.relations[relation].question.asks)
        words = relation.replace("_", " ").split()
        if not 0 < len(words) <= 2 or not all(word.isalpha() for word in words) or set(words) & _NO_LABEL:
            return ()
        if (
            (words[-1] in FUNCTION_WORDS and verb_of(" ".join(words)) is None)
            or words[0] in FUNCTION_WORDS
            or words[-1] == "since"
            or (words[0] in THIRD_PERSON - PLURAL_NOUNS and verb_of(" ".join(words)) is None)
            or (len(words) > 1 and words[0].endswith(("able", "ible", "ed")))
            or (len(words) == 1 and len(words[0]) < 3 and words[0].isascii())
        ):
            return ()
        if len(words) > 1 and words[-1] == "usage":
            return ()  # "Memory usage: free it with ..." is advice
        if words[-1] in _OF_CALLABLES and x != "x" and not _CALLED & set(re.findall("[a-z]+", x)):
            return ()
        label = " ".join(words)
        if (verb := verb_of(label)) is not None:
            return (f"What does {x} {verb}?",)
        if words[-1].endswith(_NO_NOUN) or words[-1] in VERBS - _NOUNS or words[0] in _OPENS_NO_NOUN:
            return ()
        if self._corpus.asked is self._corpus.english and words[-1] not in _ATTRIBUTES:
            return ()  # "What is the Linux kernel of the LISP protocol?"
        # "Tell me what are the arguments" is not said: of several things one asks which they are.
        frames = [text for text in known.other if " is " not in text] if is_plural(label) else known.other
        return tuple(text.format(label=label, x=x) for text in frames)


def _is_thing(kind: str, name: str) -> bool:
    """Whether a row of a table is about what people call a thing of a kind: "the Literal match match type" is none."""
    *before, last = kind.split()
    called = re.fullmatch(r"[^\W\d]\S*|[-$/.]\S*", name) is not None
    if last in _SORTS and not is_identifier(name):
        return False
    return called and (not before or last in KINDS | _LOCAL)
