"""Enough English to turn sentences of documentation into parts of a question, and to refuse what would not read well.

Documentation says what a thing does in few fixed ways: "Return the ...", "This module provides ...", "Raised when ...",
"A subclass of ...". Each is turned into a clause that can follow a noun: "the function *that returns the ...*". What
fits none of the ways, or depends on words around it, is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from synth.tasks.docs.doubts import NOUNS, doubt, opens_with_a_noun
from synth.text.inflection import article, third_person
from synth.text.subjects import PLURAL_NOUNS
from synth.text.verbs import THIRD_PERSON, VERBS
from synth.text.words import FUNCTION_WORDS, content_words

__all__ = ["active", "clause", "indefinite", "is_fragment", "plain", "without_remarks"]

_ADVERB = r"(?:(?:[A-Za-z]+ly|[Aa]lso|[Tt]hen|[Aa]synchronously) )?"
_DETERMINER = (
    r"(?:the|a|an|its|it|them|any|all|each|every|one|no|None|True|False|NULL|that|either|to|from|whether|as|if)\b"
)
_AND_VERB = re.compile(rf"(\s(?:and|or|then|but)(?: (?:also|then|[a-z]+ly))? )([a-z]+)(?= {_DETERMINER})")
_AND_BARE = re.compile(r"\s(?:and|or|then)(?: (?:then|[a-z]+ly))? ([a-z]+)\b")
_LEADING_PAIR = re.compile(r"^([a-z]+)((?:, ([a-z]+))?,? (?:and|or|and then) )([a-z]+)\b")
_GOVERNED = re.compile(
    r"\b(?:to|will|can|may|must|should|would|could|might|not|help|helps|let|lets|used for) [a-z]+"
    r"|\bthat |\bwhich |\bwho |\bwhen |\bif "
)
_PARENTHESES = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)(?!\w)")
_CALL = re.compile(r"(?<=\w)\(\)")


def plain(sentence: str) -> str:
    """The sentence without its remarks in parentheses, its final stop, and its notes on examples; calls keep theirs."""
    text = without_remarks(" ".join(sentence.split())).strip()
    text = _TRAILING.sub("", re.sub(r"; .*$", "", text))
    goes_on = r"(?::| —| –) .*$" if len(text) > 120 else r"(?<=[a-z]): [A-Z][a-z]* .*$"
    text = re.sub(goes_on, "", re.sub(r", (?:the )?default (?:is|being|:) .*$", "", text))
    text = re.sub(
        r"(?:,? (?:and |or )?(?:False|0|None|NULL|false) otherwise|, (?:False|0) if not"
        r"|,? (?:or )?else (?:return )?(?:False|0|None))$",
        "",
        text.rstrip(" .:;,"),
    )
    text = re.sub(r",? (?:such as|for example|for instance|e\.g\.|i\.e\.|see also|see)(?: .*)?$", "", text)
    if len(text) > 160 and (match := _LATE_CLAUSE.search(text, 60)):
        text = text[: match.start()]
    return text.rstrip(" .;:,")


def without_remarks(text: str) -> str:
    """The text without what stands in parentheses; calls keep theirs."""
    return _PARENTHESES.sub("", _CALL.sub("\x02", text)).replace("\x02", "()")


_TRAILING = re.compile(
    r"[.,;]? \(?(?:[Ss]ince|[Nn]ew in|[Aa]dded in) (?:[A-Z][\w-]* ){0,2}(?:version )?v?\d+(?:\.[\dx]+)+\.?$"
    r"|, (?:the |with (?:a |the )?)?default(?:s to| is| of|:)? \S+$|, [A-Z][a-z]+ only$"
)
"""Remarks behind a description that are facts of their own."""
_LATE_CLAUSE = re.compile(r", (?:which|where|whose|so that|so|including|unless|rather than|allowing|making|with|but) ")
_SUBJECT = re.compile(
    r"^(?:(?:This|The)(?: built-in| current)? (?P<noun>module|package|function|class"
    r"|exception|method|decorator|chapter|section"
    r"|document|documentation|page|tutorial|guide|appendix|part|macro|type|variable"
    r"|constant|option|command|program|utility"
    r"|attribute|property|parameter|instruction|extension|catalog|view|file|library"
    r"|subclass|object|statement|HOWTO|article|FAQ)"
    r"(?: object)?|This|It) "
)
_RAISED = re.compile(
    r"^(?:This exception is |Is |(?:An? |The )?(?:[Ee]xception|[Ee]rror|[Ww]arning)s? (?:that is "
    r"|which is |class )?)?([Rr]aised|[Ii]ssued|[Ee]mitted|[Tt]hrown) (?=(?:when|if|by"
    r"|whenever|to|on|for|in|from|upon|during|as)\b)"
)
_THINGS = frozenset(("variable", "constant", "C variable", "glossary term"))
_NOUN_START = re.compile(r"^(?:An?|The|One|Any|Two|Either) (?!(?:little|bit|lot)\b)[a-z]")
_PASSIVE = re.compile(
    r"^(Called|Used|Invoked|Triggered|Deprecated|Set|Sent|Returned|Emitted) (?=(?:when"
    r"|if|by|to|for|as|in|on|after|before|whenever|at|once|from)\b)"
)


@lru_cache(maxsize=1 << 16)
def clause(sentence: str, name: str, kind: str) -> str | None:
    """What ``sentence`` says about the thing called ``name``, as a clause to follow a noun; None when it does not read.

    "Return the length of a name." -> "that returns the length of a name"; "The getopt module is a parser for ..." ->
    "that is a parser for ..."; "Raised when a name is not found." -> "raised when a name is not found".
    """
    text = plain(sentence)
    if not text:
        return None
    if match := _RAISED.match(text):
        return f"{match[1].lower()} {text[match.end() :]}"
    if kind not in ("variable", "constant") and (match := _PASSIVE.match(text)):
        participle = match[1].lower()
        return None if participle == "deprecated" else f"that is {participle} {text[match.end() :]}"
    after = _after_name(text, name)
    match = (_OWN.match(text, after) if after else None) or _SUBJECT.match(text)
    if match:
        rest = text[match.end() :]
        words = rest.split(" ", 2)
        verb = words[0]
        adverb = verb.endswith("ly") and len(words) > 1
        finite = words[1] if adverb else verb
        if finite in ("is", "was") and len(words) > 1:
            if re.match(
                r"(?:is|was) (?:meant|mostly|only|also|not|now|deprecated|intended|currently|still|obsolete"
                r"|part|always|where|for|what|how|why|just|organi[sz]ed|divided|the same)\b",
                rest,
            ):
                return None
            return f"that {rest}"
        if finite in THIRD_PERSON or finite in ("can", "lets"):
            return None if finite == "can" and not rest.startswith("can be used") else f"that {rest}"
        return None
    if kind in ("page", "section", "chapter", "appendix", "part"):
        return None  # only what a page says of itself ("This chapter describes ...") is about the page
    if kind in _THINGS:  # "Print statistics during collection" is said of what a flag makes another thing do
        return _nominal(text) if _NOUN_START.match(text) else None
    return (None if opens_with_a_noun(text, kind) else _imperative(text)) or _nominal(text)


_OWN = re.compile(
    rf"(?:\(\))?(?: (?!(?:is|can|are|has|{'|'.join(sorted(THIRD_PERSON))})\b)[a-z]+(?= [a-z]))? (?=[a-z])"
)


_BEFORE_NAME = re.compile(
    r"The (?:(?:system|SQL|standard|built-in) )?(?:(?:catalog|view|table|function|command|program|utility|extension"
    r"|module|library|parameter) )?"
)


def _after_name(text: str, name: str) -> int:
    """Where the text goes on when it begins with ``name``, perhaps behind "The" or "The view"; else 0."""
    match = _BEFORE_NAME.match(text)
    start = match.end() if match else 0
    return start + len(name) if text.startswith(name, start) else 0


def _imperative(text: str) -> str | None:
    match = re.match(rf"^({_ADVERB})([A-Za-z]+)\b(.*)$", text)
    if not match:
        return None
    adverb, verb, rest = match[1].lower(), match[2].lower(), match[3]
    if adverb.strip() in VERBS:  # "supply" is not an adverb
        adverb, verb, rest = "", adverb.strip(), f" {match[2]}{rest}"
    if not rest.startswith((" ", ",")) or rest.lower().startswith(
        (" of ", " is ", " are ", " was ", " will ", " can ", " may ", " must ", " have ", " for the ", ", which")
    ):
        return None
    if (verb == "use" and rest.startswith((" as ", " like "))) or (verb in _HEADS and _COMPOUND.match(rest)):
        return None
    if verb in THIRD_PERSON and (text[0].isupper() or adverb):
        agreed = _agree(rest)
        return None if agreed is None else f"that {adverb}{verb}{agreed}"
    if verb not in VERBS and not _acts_on(verb, rest):
        return None
    lowered = verb + rest
    listed = re.match(r", ([a-z]+)", rest)
    if listed is not None and listed[1] not in VERBS and not listed[1].endswith("ly"):
        return None  # "list, tuple and set validation"
    if pair := _LEADING_PAIR.match(lowered):
        verbs = [v for v in (pair[1], pair[3], pair[4]) if v]
        if all(v in VERBS for v in verbs):
            joined = (
                ", ".join(third_person(v) for v in verbs[:-1])
                + pair[2].removeprefix(f", {pair[3]}")
                + third_person(verbs[-1])
            )
            return (
                f"that {adverb}{joined}{_agree(lowered[pair.end() :])}"
                if _agree(lowered[pair.end() :]) is not None
                else None
            )
    agreed = _agree(rest)
    return None if agreed is None else f"that {adverb}{third_person(verb)}{agreed}"


_HEADS = frozenset(
    "output display file group input log record reference release report request result state store test time value "
    "view index cache class control document exchange filter format import support".split()
)
"""Verbs that more often are nouns where another noun follows: "Output file encoding name"."""
_COMPOUND = re.compile(rf" (?!{_DETERMINER})[a-z]+(?<!s)(?: |$)")
_NO_VERBS = frozenset(
    "see note refer consult avoid please remember almost if when like unlike given during per via whether despite "
    "except because since while until unless".split()
)


def _acts_on(word: str, rest: str) -> bool:
    """Whether a first word that no list knows is a verb: it is followed by what it acts on ("Mangle the names")."""
    other = word in FUNCTION_WORDS or word in _NO_VERBS or word.endswith(("s", "ed", "ing", "ly", "al", "ion"))
    return not other and re.match(r" (?:the|an?|all|any|each|every|its|one|no) [a-z]", rest) is not None


def _agree(rest: str) -> str | None:
    """The rest of a sentence, later verbs of the same subject in the third person too; None if unsure."""
    out, place = [], 0
    for match in _AND_VERB.finditer(rest):
        if match[2] not in VERBS:
            continue
        if _GOVERNED.search(rest[: match.start()]):
            return None
        out += [rest[place : match.start(2)], third_person(match[2])]
        place = match.end()
    done = (
        ("".join(out) + rest[place:])
        .replace(" and do not ", " and does not ")
        .replace(" but do not ", " but does not ")
        .replace(" and don't ", " and does not ")
        .replace(" and don’t ", " and does not ")
    )
    if any(word in VERBS for word in re.findall(r"\band/or ([a-z]+)", done)):
        return None
    for match in _AND_BARE.finditer(done):
        # A verb after "and" that is neither inflected by now nor governed by "to": nobody can say without parsing.
        if match[1] in VERBS and (match[1] not in NOUNS or match.end() == len(done)):
            return None
    if any(_is_bare_verb(done, match) for match in _BARE_VERB.finditer(done)):
        return None
    return done


_TO = re.compile(rf"\b(?:to|can|will|may|must|should) (?!{_DETERMINER})[a-z]+|\bthat |\bwhich |\bwhen |\bif ")
_BARE_VERB = re.compile(
    r"(?:(?P<before>\w+) (?:and|or)|,) (?P<verb>[a-z]+) (?!operations?\b|accesses\b)(?=[a-z])"
    r"(?!(?:and|or|of|for|in|to|on|by|from|with|at|is|are|that|which|as)\b)"
)


def _is_bare_verb(text: str, match: re.Match[str]) -> bool:
    """Whether a later verb has no ending: "scales maps and copy color rules", "keeps hues, adjust tone"."""
    verb, before = match["verb"], match["before"]
    listed = before is None and re.match(r"[^,]*, (?:and|or) |[^,]* (?:and|or) ", text[match.end() :]) is not None
    spliced = before is None and verb in THIRD_PERSON - PLURAL_NOUNS  # "converts on the fly, uses less space"
    return (verb in VERBS or spliced) and not listed and before not in VERBS and not _TO.search(text[: match.start()])


_HEAD_END = re.compile(
    r" (?=(?:of|for|that|which|to|used|with|in|from|by|on|at|as|containing|whose|where"
    r"|when|representing|holding|between)\b)"
)
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|should|must|may|can|will|does|do)\b")


_BARE = re.compile(
    r"^(Abstract|Base|ABC|Class|Subclass|Generic|Helper|Function|Decorator|Context"
    r"|Concrete|Mixin|Wrapper|Factory|Utility"
    r"|Convenience|Interface|Container|Iterator|Exception|Dictionary|Data|Protocol|Metaclass|Handler)"
    r"((?: [a-z-]+){0,3}?) (for|that|which|of|used|with|to|providing|representing|implementing|indicating) "
)


def _nominal(text: str) -> str | None:
    """ "A subclass of ..." -> "that is a subclass of ..."; "Base class for ..." -> "that is the base class for ..."."""
    if match := _BARE.match(text):
        words = text if match[1] == "ABC" else text[0].lower() + text[1:]
        return f"that is the {words}" if match[1] == "Base" else f"that is {indefinite(words)}"
    if not _NOUN_START.match(text):
        return None
    head = _HEAD_END.split(text, maxsplit=1)[0].split()
    # A finite verb in the head makes it a sentence about something else: "The server process performs a checkpoint".
    if (
        len(head) > 9
        or any(word.lower() in THIRD_PERSON or word.endswith("ly") for word in head[1:])
        or _FINITE.search(" ".join(head))
    ):
        return None
    if _PAST.search(text):
        return None  # "A connection attempt timed out", "The server did not send it", "A client already owns the name"
    return f"that is {text[0].lower()}{text[1:]}"


_PAST = re.compile(
    r" \w+ed(?: (?:out|up|off|down))?$| (?:did|had|could|would|needs? to|must be) "
    r"| \w+ed (?:out|off|down) (?:while|when)\b| (?:already|never|always|still|also) [a-z]+s "
)
_DANGLING = re.compile(
    r"\b(?:this|these|those|above|below|following|former|latter|here|aforementioned"
    r"|respectively|previous section|previously|"
    r"next section|e\.g|i\.e|etc|et al|see|note|note that|you|your|we|our|us|my|also"
    r"|however|therefore|thus|otherwise|instead|"
    r"as follows|mentioned|described|listed|shown|discussed|documented|specified by|now|no longer|the new|they|"
    r"them|he|she)\b",
    re.IGNORECASE,
)
_ODD = re.compile(
    r"[{}\[\]<>=|\\^~*#@$`_]{2,}|>>>|::| : |\$/|\.\.|\d+\.\s|^\W|[\x00-\x1f]|https?:|\(c\)|\bTODO\b|[=<>{}\[\]|\\*]"
)


_BROKEN = re.compile(r"\bâ\w*â\b")
"""Quotation marks that were written in one encoding and read in another."""
_SECOND = re.compile(r"(?:[a-z)]|[A-Z\d]{2})\. (?:[A-Z][a-z]|[a-z]{2,}[ .])")
"""Where another sentence starts: "forwards the header. Evaluated only if ...\"."""


def is_fragment(text: str, *, least: int = 25, most: int = 170) -> str | None:
    """Why ``text`` can't stand in a question on its own, or None when it can."""
    if not least <= len(text) <= most:
        return f"{len(text)} characters"
    if match := _DANGLING.search(text):
        return f"{match.group()!r} points outside"
    if match := re.search(
        r",? (?:it|they|he) (?:is|are|has|can|will|\w+s)\b|\bdoes not work\b|\b(?:the (?:module"
        r"|package|class|library|extension)|module-specific)\b(?! of| that| which)",
        text,
    ):
        return f"{match.group()!r} starts another clause"
    if match := _ODD.search(text) or _BROKEN.search(text) or _SECOND.search(text):
        return f"{match.group()!r} in it"
    if (sign := doubt(text)) is not None:
        return f"{sign!r} in it"
    if text.count("(") != text.count(")") or text.count("“") != text.count("”") or text.count('"') % 2:
        return "unbalanced"
    if text.count(" '") != text.count("' ") + text.endswith("'"):
        return "unbalanced quotes"
    if text.endswith((", satisfying", ", yielding", ", giving", " defined by", " given by")):
        return "cut off before a formula"
    if re.search(
        r"\b(?:the|a|an|of|to|for|with|by|in|on|and|or|as|is|are|that|which|from|if|when|at|be|not|its)$",
        text,
        re.IGNORECASE,
    ):
        return "cut off"
    if len(content_words(text)) < 3 or len(re.findall(r"[A-Za-z][A-Za-z’'-]+", text)) < 4:
        return "too few words"
    return None


def active(said: str) -> str:
    """ "that is a utility to resize a disk" -> "that resizes a disk"."""
    found = re.fullmatch(
        r"that is an? (?:utility|tool|program|script|command) to ([a-z]+) ((?!.*\b(?:and|or)\b).+)", said
    )
    return f"that {third_person(found[1])} {found[2]}" if found is not None and found[1] in VERBS else said


def indefinite(noun: str) -> str:
    """The noun with its article."""
    return f"{article(noun)} {noun}"
