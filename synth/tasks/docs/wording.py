"""How things, places and facts of documents are called in a question."""

from __future__ import annotations

import re
from dataclasses import replace

from synth.lexicon.reading import document_words
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.english import clause, is_fragment, without_remarks
from synth.tasks.docs.leaks import leaks
from synth.text.inflection import capital, imperative, third_person
from synth.text.subjects import KINDS, PLURAL_NOUNS, Statement, is_identifier, statement
from synth.text.verbs import THIRD_PERSON, VERBS
from synth.text.words import FUNCTION_WORDS, content_words

__all__ = ["Words", "is_plural", "statement_question", "verb_of"]

_PLACES = frozenset(("page", "section", "index", "chapter", "appendix", "part"))
_LOCAL = frozenset(
    "option setting term variable key flag field format entry parameter argument mode modifier placeholder attribute "
    "property type value action file target rule qualifier switch clause constant".split()
)
"""Kinds whose things mean something on their page alone: a question names the page."""
_NO_KINDS = frozenset(
    "entry thing name value no number example note notes item key feature element category area topic".split()
)
"""What things are not called in a question: headings of first columns that say nothing."""
_LISTS = frozenset(("index", "contents", "table of contents", "home", "search", "general index", "concept index"))
"""Titles of pages that only point to others: no question is asked about what they say."""
_HOW_MANY = frozenset("multiple several many some few various".split())
"""In front of a noun they are no part of what it is called: "Multiple BPF filters per device"."""
_LEAST = 3
_NOUNS = frozenset("format name type range result state value access class display document group model".split())
"""Verbs of documentation that are nouns as well when a label ends in them."""
_HEADING_VERBS = frozenset(
    "replaces returns means contains specifies describes produces requires represents indicates denotes inserts prints "
    "removes deletes selects becomes equals enables generates resolves".split()
) | frozenset(f"{verb} to" for verb in "expands maps converts corresponds refers resolves evaluates translates".split())
"""Headings that say what the thing of a row does, and are no name of several things."""
_NO_NOUN = ("ed", "ing", "ly", "able", "ible", "ful", "ous")
_OPENS_NO_NOUN = frozenset("implicitly requires includes if when how see since introduced".split())
_NO_LABEL = frozenset(
    "is are can has have does do was were may must should name names notes note comment comments description example "
    "examples yes no x links refers see also mentions value values section sections chapter page compatibility "
    "meaning area".split()
)
_HOLDS = (
    (frozenset("option parameter setting directive flag switch argument qualifier".split()), "specifies"),
    (frozenset("variable field column attribute property member key".split()), "holds"),
    (frozenset("function method macro procedure routine".split()), "gives"),
)
"""Kinds whose things are not what is said of them, and what they do with it: an option is not "the maximum number"."""
_QUANTITY = re.compile(
    r"that is (?=(?:the|an?) (?!same|default|alias|synonym|short|abbreviation|equivalent|boolean|flag))"
)
_UNCLEAR = re.compile(
    r"that (?:is (?:not|no|any|all|each|every|[A-Z]|the default|also)|looks at|refers to|does not|only|has no|are)\b"
)
_THING = re.compile(
    r"that is (?:an?|the) (?:[\w’'/-]+ ){0,4}?([\w-]+)(?= (?:to|of|for|that|which|in|with|used|from)\b|,|$)"
)
_ACTS = frozenset(
    "command function method tool utility program script daemon service interface wrapper macro helper version variant "
    "alternative replacement way application client server shell plugin shorthand generator iterator callback "
    "constructor front-end frontend filter editor compiler interpreter implementation means routine alias synonym "
    "shortcut".split()
)
"""What a command or function may be said to be."""
_CALLED = frozenset("function method macro procedure routine predicate command operator subroutine".split())
_OF_ARGUMENTS = frozenset(("function", "method", "procedure", "routine", "predicate"))
_OF_CALLS = re.compile(r"that (?:returns|takes an? (?:\w+ )?argument)\b")
"""What no module, type or file does."""
_ASIDE = re.compile(r"\b(?:of course|arguably|simply|actually|really|basically|merely|probably|perhaps|hopefully)\b")
_NOMINAL = re.compile(r"that is (?:an?|the) ")
_FINITE = re.compile(r" (?:will|must|should|shall|is|are|was|were|has|have|can|may)\b")
_ANY_FINITE = re.compile(rf"{_FINITE.pattern}| (?:{'|'.join(sorted(THIRD_PERSON - PLURAL_NOUNS))})\b")
_INNER = re.compile(r" (?:that|which|who|whose|where|when|if|whether|how|what|because|unless|until|while|so|as)\b")
_OF_PEOPLE = re.compile(
    r"(?:is|was) (?:born|educated|raised|married|elected|appointed|nominated|knighted|ordained|buried|survived|"
    r"(?:an?|the) (?:[\w-]+ ){0,4}(?:actor|actress|director|singer|player|politician|writer|author|maintainer|composer|"
    r"musician|lawyer|scientist|professor))\b"
    r"|.*\b(?:his|her|himself|herself)\b"
)
_JOINED = re.compile(r"\b(?:and|or|but) ([a-z]+)")
_NEW_SUBJECT = (
    r",? and that [a-z]+ (?:is|was|are|were)\b"
    r"|, and [a-z]+s (?!.{0,12}ed\b)[a-z]+ (?:with|to|the|an?|from|on|in|their|its)\b"
)
""" "runs on the server, and clients talk to it": the second half is said of something else."""
_SIDE_BY_SIDE = (
    rf",(?: and)? (?:an?|each|every|one) (?:[\w-]+ ){{1,2}}(?:{'|'.join(sorted(THIRD_PERSON))})\b"
    rf"|,(?: and)? (?:the|any) (?:[\w-]+ ){{1,2}}(?:{'|'.join(sorted(THIRD_PERSON - PLURAL_NOUNS))})\b"
    r"|, (?:[\w-]+ ){0,2}[\w-]+s (?:get|change|have|are|become|use|need|take|make|give|do|can|will|must)\b"
)
"""A second sentence behind a comma: "handles all requests for a service, a host handles all of a virtual host"."""
_OUTSIDE = re.compile(
    r"^[A-Z], |"
    r"\b(?:of|to|for|with|by|on|in|from|at|about|than) (?:it|its|them|their|one)\b|[;:]|^(?:it|its|so)\b"
    r"|\(\d+(?:\.\d+)+(?:-\d+)?\)|\b[Ii]n (?:[Ss]ection )?\d+(?:\.\d+)+(?:-\d+)?$"
    r"|, (?:but|so|while|whereas|yet) | but (?:the|it|an?|this|not all) |[a-z]—[a-z]"
    r"|\bthe given\b|--\s|\bsuch (?!as\b)|\b(?:cases?|even|only)$|\bme\b"
    r"|, and (?:there|it|its|the|this|an?|one|inside|in|on|many|some|all|each|most|then|thus|therefore)\b"
    r"|,(?: and)? (?!(?:and|or|but|if|when|where|which|who|whose|that|as|unless|until)\b)(?:[\w-]+ ){1,4}"
    r"(?:is|are|was|were|has|have|had|will|can|must|may|does|do|gets?|becomes?|changes?|happens?)\b"
    rf"| [—–] |{_NEW_SUBJECT}|{_SIDE_BY_SIDE}"
    r"|,? and (?:there|it|their|its|the|this|many|some|all|each|most) (?:\w+ )?[a-z]+ "
    r"(?:is|are|has|have|can|will|[a-z]+s)\b"
)
"""What speaks of more than the sentence says, or goes on with another subject."""
_FOR_YOU = re.compile(r"(?<=lets|elps) you |(?<=llows|ables) you ")
"""Whom a sentence lets do something: that points nowhere."""
_ENOUGH = 40
_GOES_ON = re.compile(
    r",? (?:because|since|although|though|whereas)\b|, (?:so|but|while|which|as)\b"
    rf"|{_NEW_SUBJECT}"
    r"|, (?:and|or) (?:it|they|its|their|there|this|these|the|you|we|an?|one|can|may|will|must|should|is|are|has)\b"
)
"""Where a sentence goes on with something else than what it says of its subject."""
_ARE_KIND = re.compile(
    r"(?!not |only |also |[a-z]+(?:ed|ly|ing) )(?:(?!(?:to|with|in|by|for|of|from|on|and|or|only) )[a-z-]+ ){0,3}"
    r"[a-z]+s (?:that|which|of|for|in|with|whose|to|from|between|made|[a-z]+ed)\b"
)
_TWOFOLD = re.compile(r"\b(?:and|or) (?:aren't|don't|can't|are|have|were|do)\b|\bnor\b|, not\b|, (?:it|they) ")
"""A second statement, which the first one's subject no longer governs in a question."""
_ARE_THINGS = re.compile(r"(?:[\w’'/-]+ ){0,4}[\w-]+[^\Wsu]s(?:,| (?:and|of|for|in|to|with|from)\b|$)")
"""What several things are: things, by their name alone."""
_SAYS_NOTHING = frozenset(
    "objects object items item results result values value names name users packages package relationships addresses "
    "address descriptions locations access operators operator document documents list lists conflict files file match "
    "options option functions function commands command variables variable elements entries types fields parameters "
    "methods modules directory directories keys sizes format output packagers noun state states client server "
    "parameter section sections lines line block blocks code data component components part parts status system "
    "systems feature features tool tools form forms kind kinds things thing pieces mechanism mechanisms".split()
)
"""Nouns that alone, or behind any other word, name no thing that a reader would know."""
_OF_STATE = re.compile(
    r"(?:may|will|can|must|should|has|have)\b|(?:is|are|was|were) (?!thrown|raised)(?:[a-z]+ly )?"
    r"(?:[a-z]{2,}ed|given|written|built|made|held|known|chosen|set|run|read|kept|sent|found|put|shown|meant|hidden)\b"
)
"""A clause that begins like this does not identify the thing it is about."""
_SAYS_LITTLE = re.compile(
    r"does\b|(?:is|are) (?:either|neither|both|essentially|all|any)\b"
    r"|(?:is|are|was|were) (?:to\b|[a-z]+, |(?!missing\b)[a-z]{2,}ing\b)|"
    r"(?:is|are|was|has|have|(?:can|may|will|must) be) (?:usually |normally |often |always )?"
    r"(?:(?:an?|the) (?:bit|good|little|lot|different|same|one|way|"
    r"(?:[a-z]+ )?example|great|part of)|not|also|only|still|now|no longer|fine|similar|able|one|ignored|becoming|"
    r"good|different|important|useful|helpful|"
    r"common|popular|great|simple|easy|hard|possible|just|very|quite|more|most|less|available|true|similarly|likely|"
    r"equivalent|identical|used(?! to)|done|called|known|convenient|responsible|described|discussed|covered|because|"
    r"when|where|how|why)\b"
)
_VAGUE = frozenset("way aspect part thing reason kind sort result approach area case matter point term".split())
"""Nouns whose instances are not asked for by name."""
_KIND_OF = re.compile(
    r"(?P<article>an?|the) (?P<noun>(?:[\w’'/+.-]+,? ){0,6}?[\w’'+-]+)"
    r"(?: (?P<relative>that|which|who) (?=(?:[a-z]+ly )?(?:is|was|can|has|may|must|will|[a-z]+s) )"
    r"| (?=(?P<participle>(?!need|speed|seed)[a-z]{3,}ed |written |built |made |held |known |given )"
    r"(?:by|in|on|for|to|as|from|at|with|when|during) )"
    r"| (?=(?:of|for|to|in|from|with|on|by|between|at|whose|where|when|as)\b)|(?=,)|$)"
)
"""A predicate noun, and what follows it: "a tool that counts ...", "a film directed by ...", "the name of ..."."""


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
        if title.casefold() in _LISTS or corpus.titled[title] > 1 or any(c in title for c in "“”") or len(title) > 90:
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
        if noun and bare.casefold().endswith(f" {noun}"):
            said = f"the {bare}"
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

    def spoken_of(self, sentence: str) -> Statement | None:
        """What a sentence speaks of, with the kind that the pages give it; None where no question can ask for it: a
        word of many pages, which is what they are all about."""
        said = statement(sentence)
        if said is None or said.kind:
            return said
        if said.names:
            return said
        if self._corpus.is_everywhere(said.name):
            return None
        kinds = {self.noun(entity) for entity in self._corpus.goes_by(said.name)} - {None, "term", "keyword"}
        if len(kinds) == 1 and is_identifier(said.name) and not (kinds == {"function"} and said.name[0].isupper()):
            return replace(said, kind=kinds.pop() or "", plural=False)
        return said

    def said_of(self, entity: int, sentence: str, *, hidden: bool = True) -> str | None:
        """What a sentence says of a thing, behind a noun ("that returns ..."), where that reads and, if it shall be
        ``hidden``, does not give its name away."""
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
        if hidden and any(leaks(said, name) for name in (found.name, *found.aliases[:3]) if len(name) < 60):
            return None
        last = found.kind.split()[-1]
        if last in _OF_ARGUMENTS and said.startswith("that is ") and re.fullmatch("[a-z]+", found.name):
            return None  # "srv: a valid server object" stands in the list of a function's arguments
        thing = _THING.match(said)
        if (thing is not None and thing[1] == last) or _is_sentence(said):
            return None  # a function that "is a helper function"
        verb = next((verb for kinds, verb in _HOLDS if last in kinds), None)
        if verb is not None and (of := _QUANTITY.match(said)):
            said = f"that {verb} {said[of.end() :]}"
        if (thing := _THING.match(said)) is not None and not _may_be(last, thing[1]):
            return None
        if _OF_CALLS.match(said) and last not in _CALLED:
            return None
        if _UNCLEAR.match(said):
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
            (words[-1] in FUNCTION_WORDS and verb_of(" ".join(words)) is None)
            or words[0] in FUNCTION_WORDS
            or words[-1] == "since"
            or (len(words) > 1 and words[0].endswith(("able", "ible", "ed")))
            or (len(words) == 1 and len(words[0]) < 3 and words[0].isascii())
        ):
            return ()
        label = " ".join(words)
        if (verb := verb_of(label)) is not None:
            return (f"What does {x} {verb}?",)
        if words[-1].endswith(_NO_NOUN) or words[-1] in VERBS - _NOUNS or words[0] in _OPENS_NO_NOUN:
            return ()
        # "Tell me what are the arguments" is not said: of several things one asks which they are.
        frames = [text for text in known.other if " is " not in text] if is_plural(label) else known.other
        return tuple(text.format(label=label, x=x) for text in frames)


def verb_of(label: str) -> str | None:
    """The verb, without its ending, where a column is headed by what its rows do: "Replaces", "Expands to"."""
    first, _, rest = label.partition(" ")
    return f"{imperative(first)} {rest}".strip() if label in _HEADING_VERBS else None


def is_plural(label: str) -> bool:
    """Whether a label names several things: "additional arguments"."""
    return label.endswith("s") and not label.endswith(("ss", "us", "is", "series"))


def statement_question(said: Statement, *, placed: bool = False) -> tuple[str, str] | None:
    """(question, its cue) for what a sentence speaks of: "Which tool counts instructions?", "What are values without an
    owner called?"; None where it does not read on its own. ``placed``: the question will name the page, so that a
    sentence may lean on it."""
    rest, verb = _own_clause(without_remarks(said.rest)), said.verb
    addressed = _FOR_YOU.sub(" ", f"{verb} {rest}")
    if is_fragment(addressed, least=12 if said.names else 25, most=190) or leaks(rest, said.name):
        return None
    if _ASIDE.search(rest) or _TWOFOLD.search(rest) or _OUTSIDE.search(rest) or any(c in rest for c in "“”"):
        return None
    if said.names:
        be, called = verb.split(" ", 1)
        thing = rest[0].lower() + rest[1:] if _opens_inside(rest) else rest
        return f"What {be} {thing} {called}?", thing
    if _SAYS_LITTLE.match(f"{verb} {rest}") or len(content_words(f"{verb} {rest}")) < 4:
        return None
    if said.kind:
        if verb in ("has", "have", "may", "will", "was", "must", "should") and not said.purpose:
            return None
        if re.match(rf"(?:is|are) (?:an?|the) (?:[\w-]+ ){{0,5}}{said.kind}\b", f"{verb} {rest}"):
            return None  # "Which task is a task that ...?"
        if (last := said.name.split()[-1]).islower() and last in KINDS - {said.kind}:
            return None  # "the ftpmail script" is no module
        return f"Which {said.kind} {verb} {rest}?", f"{verb} {rest}"
    *modifiers, head = said.name.split()
    if any(leaks(rest, word) for word in modifiers) or {word.lower() for word in modifiers} & _HOW_MANY:
        return None
    if said.plural and verb == "are" and _ARE_KIND.match(rest):
        return f"What do you call {rest}?", rest
    named = not re.fullmatch(r"[a-z -]+", said.name)
    if not said.plural and verb in ("is", "was") and (kind := _KIND_OF.match(rest)) is not None:
        article, noun, relative, done = kind["article"], kind["noun"], kind["relative"], rest[kind.end() :]
        if {"one", "and", "or", "is"} & set(noun.split()) or noun.split()[-1] in _VAGUE:
            return None
        if relative:
            return f"Which {noun} {done}?", done
        if kind["participle"] and article != "the":
            return f"Which {noun} {verb} {done}?", done
        of = rest[len(article) + 1 :]
        return (f"What is the name of the {of}?", of) if named else (f"What do you call {rest}?", rest)
    stative = _OF_STATE.match(f"{verb} {rest}") and not (modifiers and verb == "are")
    if head.lower() in _SAYS_NOTHING or (not placed and (said.definite or stative)):
        return None
    if said.plural and modifiers:
        return f"Which {head.lower() if head.istitle() else head} {verb} {rest}?", f"{verb} {rest}"
    if said.plural:
        if verb == "are" and _ARE_THINGS.match(rest):
            return None  # "What is pure in-memory mechanisms?"
        if any(word in VERBS for word in _JOINED.findall(rest)) or " their " in rest:
            return None  # a second verb would have to agree as well
        verb = {"are": "is", "have": "has"}.get(verb) or third_person(verb)
        return f"What {verb} {rest}?", rest
    asks = "Who" if _OF_PEOPLE.match(f"{verb} {rest}") else "What"
    return f"{asks} {verb} {rest}?", f"{verb} {rest}"


def _own_clause(rest: str) -> str:
    """What is said up to where the sentence goes on with a reason or another subject, if that is enough."""
    end = next((match.start() for match in _GOES_ON.finditer(rest) if match.start() >= _ENOUGH), len(rest))
    return rest[:end]


def _opens_inside(subject: str) -> bool:
    """Whether the first word of a sentence has a capital for no other reason."""
    return re.match(r"(?:The|An?|All|Each|Every|Any|[A-Z][a-z]+s|[A-Z][a-z]+ [a-z]+s)\b", subject) is not None


def _may_be(kind: str, noun: str) -> bool:
    """Whether a thing of the kind may be called by the noun: no file is a function, and no command a group."""
    if kind in ("command", "function", "method"):
        return noun == kind or noun in _ACTS
    return kind != "file" or noun == kind or noun not in KINDS


def _is_sentence(said: str) -> bool:
    """Whether what follows "that is the ..." has a verb of its own, so that it is not a name of a thing but a sentence
    about something else: "that is the start action of a script must exit"."""
    match = _NOMINAL.match(said)
    verb = _ANY_FINITE.search(said, match.end()) if match else None
    return verb is not None and _INNER.search(said, match.end() if match else 0, verb.start()) is None
