"""What a sentence of reference prose speaks of: its subject, where that has a name, and what is said of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.text.verbs import THIRD_PERSON, VERBS
from synth.text.words import FUNCTION_WORDS

__all__ = ["KINDS", "PLURAL_NOUNS", "Statement", "is_identifier", "statement"]

KINDS = frozenset(
    "function option file command directive field method class trait type macro module variable flag package "
    "parameter setting attribute keyword crate tool program utility library format protocol header table operator "
    "event key interface object struct enum statement directory exception error signal driver system standard "
    "specification server project license algorithm language element argument routine extension pragma constant value "
    "property branch mode plugin daemon service".split()
)
"""Nouns that name what kind of thing the name in front of them goes by: "the or_insert method"."""
_OF_PLAIN = frozenset(
    "function method command directive option setting parameter field struct trait macro keyword crate module utility "
    "pragma routine plugin".split()
)
"""Those whose things may go by a plain word: "the take method", where "the output file" names none."""
PLURAL_NOUNS = frozenset(
    "accesses blocks calls checks copies counts displays forms groups handles increases lists loads locks logs maps "
    "marks matches models names objects offers orders outputs places queues points positions processes queries records "
    "references releases reports requests results searches sets signals stacks states stores supports tests traces "
    "transfers updates values views works links changes ends turns fixes features attempts benefits limits reads "
    "writes filters hooks issues guides covers controls comments notes samples tags routes scripts structures designs "
    "plans prompts profiles triggers tracks duplicates".split()
)
"""Verbs that are plural nouns as well."""
_DETERMINED = re.compile(
    r"(?:the|an?|its|all|any|each|every|one|no|whether|how|what|where|when|which|that|up|out|over)\b"
    r"|[A-Z`\d]"
)
_FINITE = re.compile(r"(?:is|are|was|were|has|have|can|may|must|will|should)\b")
_FINITE_PLURAL = re.compile(r"(?:include|contain|provide|allow|require|become|depend|refer)\b")
_RELATIVE = re.compile(r"(?:that|which) [a-z]+(?<!s)\b")
_TOKEN = r"[\w$:./*@-]*[\w()!]"
_OPENS = tuple(
    re.compile(
        rf"(?:(?P<article>The|An?) )?(?P<name>{_TOKEN}(?: {_TOKEN}){{{more}}})"
        r"(?<! never)(?<! hardly)(?<! rarely) (?:\([^()]{1,60}\) )?"
        r"(?:(?!hardly|rarely)[a-z]+ly |also |always |often )?(?P<verb>[a-z]+) (?P<rest>\S.*)\."
    )
    for more in range(5)
)
"""By the number of words in the name."""
_CALLED = re.compile(
    r"(?:(?P<scope>In [^,]{2,40}), )?(?P<thing>[A-Za-z][^,;:()]{8,110}?) (?P<verb>is|are) "
    r"(?:also |often |sometimes |commonly |usually |generally |typically )?"
    r"(?P<called>called|known as|referred to as|termed) "
    rf"(?:an? |the )?(?P<name>{_TOKEN}(?: {_TOKEN}){{0,3}})(?:,? (?:and|because|but|since|so|where|which) .*)?\."
)
_USED = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:(?:You|We|Users|Programs)(?: can| may| should| must)? (?:use|call|run|specify|set)|Use|Call|Run|Set) "
        rf"the (?P<name>{_TOKEN}) (?P<kind>(?!line\b)[a-z]+) to "
        r"(?P<rest>(?!(?:be|true|false|yes|no|on|off|an?|the)\b)[a-z].*)\.",
        rf"To (?P<rest>(?!be\b)[a-z][^,;:]*), (?:(?:you|we) (?:can |may |should |must |need to |have to )?)?"
        rf"(?:use|call|run|specify|set) the (?P<name>{_TOKEN}) (?P<kind>[a-z]+)\.",
        r"(?:(?:Alternatively|Additionally|Optionally|Similarly|Furthermore|Finally), )?"
        r"(?:[Yy]ou|[Uu]sers) (?:can|may) (?:also )?(?P<rest>(?!be\b|also\b|use\b)[a-z][^,;:]{12,100}?) "
        r"(?:by (?:using|setting|adding|defining|specifying)|using|with|via) "
        rf"the (?P<name>{_TOKEN}) (?P<kind>[a-z]+)(?:, (?:which|and|but) .*| which .*)?\.",
        rf"(?:The )?(?P<name>{_TOKEN}) (?P<kind>[a-z]+) (?:is|can be|may be) used to (?P<rest>[a-z].*)\.",
    )
)
"""Sentences that say what a thing of a kind is for."""
_TWO_USES = re.compile(r"\band [\w -]{2,40}? (?:can|may|is|are) (?:be )?[a-z]+$|\bby using the\b")
"""One thing does this, and another one that: "add labels by using the --label flag and options can be set"."""
_PLURAL = frozenset("are have can may must will".split())
_SINGULAR = frozenset("is was has can may must will".split())
_NO_NAMES = frozenset(
    "reason result goal idea problem difference answer way default advantage purpose rest value point thing rule "
    "effect aim intent case solution alternative users developers people programmers programs others nothing "
    "everything something anything example examples note number part kind lot even only instead sometimes usually "
    "often perhaps maybe please like unlike given during per via despite except because since while until unless if "
    "when how whether although though what who whose first second third last next other another good best better many "
    "most some any each every all both several few more less much table figure listing chapter section appendix page "
    "message output particular certain specific current usual older newer valid two three four full special proper "
    "own main new old single whole entire require let error separate returned larger smaller higher lower similar "
    "additional complex original generated named given resulting corresponding appropriate relevant itself different "
    "nb always never possible available supported diagram details information documentation instructions "
    "alice bob carol dave mallory foo bar baz "
    "thanks experience further argument arguments "
    "operand operands actual created following this that these already yet without".split()
)
"""Words that name nothing a question could ask for."""


@dataclass(frozen=True)
class Statement:
    """``name`` (of a ``kind``, where the sentence says so) ``verb`` ``rest``."""

    name: str
    kind: str
    verb: str
    """Of a sentence that gives a name ("X is called Y"): all that it is called by ("is called")."""
    rest: str
    """Of such a sentence: what has the name."""
    names: bool = False
    """Whether the sentence gives a name."""
    plural: bool = False
    purpose: bool = False
    """Whether the sentence says what the thing is used for, in whatever order."""
    definite: bool = False
    """Whether plain words with "the" in front are all that names it: which one that is, its page says."""


def statement(sentence: str) -> Statement | None:
    """What a sentence says of a thing that it names first, or None where it is built in another way.

    "The or_insert method returns a reference." -> or_insert, method, "returns", "a reference"; "Values without an owner
    are called orphans." -> orphans, by name.
    """
    if (called := _CALLED.fullmatch(sentence)) is not None and _is_name(called["name"].split()):
        scope = f" {called['scope'][0].lower()}{called['scope'][1:]}" if called["scope"] else ""
        thing = called["thing"]
        words = thing.split()
        if words[0].lower() not in FUNCTION_WORDS - {"the", "a", "an", "each", "all"} and "that" not in words[:2]:
            return Statement(called["name"], "", f"{called['verb']} {called['called']}", thing + scope, names=True)
    for pattern in _USED:
        used = pattern.fullmatch(sentence)
        if used is not None and _TWO_USES.search(used["rest"]):
            return None
        if used is not None and used["kind"] in KINDS and used["name"] not in KINDS and _is_name([used["name"]]):
            return Statement(used["name"], used["kind"], "is used to", used["rest"], purpose=True)
    opened = (pattern.fullmatch(sentence) for pattern in _OPENS)
    return next((found for match in opened if match and (found := _stated(match)) is not None), None)


def _stated(match: re.Match[str]) -> Statement | None:
    words, verb, article = match["name"].split(), match["verb"], match["article"]
    if re.match(r"(?:and|or)\b", match["rest"]) or _is_order(words, article):
        return None
    kind = ""
    last = words[-1].lower()
    if words[0] in ("Setting", "Using"):
        return None  # what one does: "Setting serviceAccount.name explicitly is ..."
    if article is None and len(words) > 1 and words[0] in _WAS_CHANGED:
        return None  # a line of a change log: "Removed extraneous use directives"
    named = len(words) > 1 and not {word.lower() for word in words[:-1]} & FUNCTION_WORDS
    behind = len(words) == 2 and words[0] in KINDS and article and re.fullmatch(r"[A-Z][a-z]+", words[1])
    if words[-1] in _NO_NAME and len(words) > 2:
        return None  # "the PDF class API"
    if named and words[-2].lower() in KINDS and (is_identifier(words[-1]) or behind):
        words, kind = words[-1:], " ".join(words[:-1]).lower()  # "the global flag noun_disp", "a pragma Restrictions"
    elif len(words) == 2 and last in KINDS and words[0].lower() not in KINDS:
        if last in _OF_PLAIN or is_identifier(words[0]) or _HYPHENS.fullmatch(words[0]):
            words, kind = words[:1], last
    elif len(words) == 2 and article == "The" and last == "class" and re.fullmatch(r"(?:[A-Z][a-z]+)+", words[0]):
        words, kind = words[:1], last
    elif len(words) == 3 and last in KINDS and is_identifier(words[0]) and words[1].isupper():
        # "the pam_echo PAM module", "the PostgreSQL COPY command"
        words, kind = words[1:2] if words[0][0].isupper() else words[:1], last
    elif len(words) > 1 and article == "The" and words[0] in ("word", "name", "title", "phrase"):
        return None  # "The word password is avoided", "The name Salic Law is a reference to ..."
    elif len(words) == 2 and article == "The" and words[0] == "term":
        words, kind = words[1:], "term"
    kind = re.sub(r"^(?:new|experimental|additional) ", "", kind)  # "New module kite.tail flies ..."
    if len(words) > 1 and words[-2].lower() in _NAMED_BEHIND and _plain(words[-1]):
        return None  # "The option threshold": its name, or a threshold
    if all(map(_plain, (word.lower() for word in words))) and words[0].lower() in _RANKS:
        return None  # "The lowest layer": of what, its page says
    if kind in _CALLABLE and len(words) == 1 and (_plain(words[0]) and _OF_NO_CALL.fullmatch(words[0])):
        return None  # "the decorated method", "the calculation method", "the parent function"
    ordered = not article and len(words) == 1 and words[0].lower() in VERBS and verb in THIRD_PERSON
    if ordered and re.match(r"(?:in|of|for|from|to|on|with|without|by|at)\b", match["rest"]):
        return None  # "Run builds in a sandbox"
    first, _, after = match["rest"].partition(" ")
    if verb in PLURAL_NOUNS and first in VERBS and not article and f"{first}s" not in PLURAL_NOUNS:
        return None  # "Parsed documents enable extraction"
    if first in THIRD_PERSON and verb in THIRD_PERSON and after.partition(" ")[0] not in FUNCTION_WORDS:
        return None  # "Topic exchanges matches routing keys"
    if _NUMBERED.fullmatch(" ".join(words)):
        return None  # "Step 3"
    if article == "The" and not kind and len(words) == 1 and re.fullmatch(r"[A-Z][a-z]+", words[0]):
        return None  # "The Deferred fires": which one, the sentence before has said
    goes_on = _FINITE_PLURAL.match(match["rest"]) and verb in THIRD_PERSON
    if goes_on or _FINITE.match(match["rest"]):
        return None  # "Double folds are", "Event triggers include": the name goes on
    if verb in PLURAL_NOUNS and _RELATIVE.match(match["rest"]) is not None:
        return None  # "Page links that are shown in the head"
    if verb in PLURAL_NOUNS and _DETERMINED.match(match["rest"]) is None:
        return None  # "calls to the server": those of whom, or who calls
    if _second_verb(verb, match["rest"]):
        return None  # "edits to the table will fail": the verb comes later
    if verb in ("present", "open", "live", "complete", "free") and _PLACED.match(match["rest"]):
        return None  # "Labels present in the table": no verb
    plural = not article and not kind and verb not in THIRD_PERSON | _SINGULAR
    if verb not in (VERBS | _PLURAL if plural else THIRD_PERSON | _SINGULAR) or not _is_name(words):
        return None
    if article == "The" and not kind and len(words) == 1 and _plain(words[0]):
        return None  # "the server": which one, the sentence before has said
    if plural and len(words) > 1 and verb not in _PLURAL and words[-1] in THIRD_PERSON:
        return None  # "Rust calls drop"
    if plural and verb not in _SINGULAR and not re.search(r"[^s]s$", words[-1]):
        return None
    name = " ".join(words)
    rest = " ".join(words[1:])
    lowered = re.fullmatch(r"[a-z-]+(?: [a-z-]+)*", rest) is not None or (plural and not rest)
    if not article and re.fullmatch(r"[A-Z][a-z]+(?:-[a-z]+)*", words[0]) and lowered:
        name = name[0].lower() + name[1:]
    definite = article == "The" and not kind and all(re.fullmatch(r"[a-z]+(?:-[a-z]+)*", word) for word in words)
    return Statement(name, kind, verb, match["rest"], plural=plural, definite=definite)


def _is_order(words: list[str], article: str | None) -> bool:
    """Whether a verb opens the sentence, so that it tells what to do ("Fix handshake issues generating ..."), or a
    clause without its relative stands behind its noun ("The exact behavior Redis follows")."""
    opens = words[0].lower()
    told = len(words) > 1 and article is None and opens in VERBS and f"{opens}s" not in PLURAL_NOUNS
    shut = article == "The" and len(words) > 2 and _plain(words[-2]) and re.fullmatch("[A-Z][a-z]+", words[-1])
    return bool(told or (opens in _ORDERS and article is None) or (shut and all(map(_plain, words[:-1]))))


_HYPHENS = re.compile(r"(?!.*-(?:to|of|the|in|and|on|by|as|or|a)-)[a-z\d]+(?:-[a-z\d]+){2,}")
"""How programs and packages are called: "debian-edu-install", where an "end-to-end" tool is no name."""
_NO_NAME = frozenset("API ABI CLI GUI UI ID URL URI".split())
_NAMED_BEHIND = frozenset("command option parameter directive function method module utility tool program".split())
_RANKS = frozenset(
    "lowest highest largest smallest simplest easiest fastest slowest latest newest oldest biggest greatest longest "
    "shortest earliest strongest best worst most outermost innermost topmost upper lower top bottom inner outer".split()
)
_CALLABLE = frozenset("method function class procedure routine trait struct macro".split())
_OF_NO_CALL = re.compile(
    r"[a-z]{2,}(?:ed|tion|sion|ment|ing|al)|parent|child|base|main|default|derived|wrapper|helper|callback"
)
"""Words in front of "method" or "function" that say which of several it is, and are no name."""
_NUMBERED = re.compile(
    r"(?:Class|Scenario|Example|Chapter|Mode|Group|Rule|Tier|Step|Part|Phase|Figure|Table|Case|Stage|Level|Option|Method|"
    r"Type) (?:\d+|[A-Z])"
)
_PLACED = re.compile(r"(?:in|on|at|within|for|to|from)\b")
_LATE_VERB = re.compile(r" (?:will|must|should|shall|is|are|was|were|has|have|can|may|does|do)\b")
_NEW_CLAUSE = re.compile(
    r",|[-—:;]|\b(?:that|which|who|whose|whom|where|when|whenever|while|if|whether|how|what|because|unless|until|since|so|as|and|or|but|"
    r"than|before|after|once|you|it|they|we|users?|one)\b"
)


def _second_verb(verb: str, rest: str) -> bool:
    """Whether what was taken for the verb, which may be a plural noun, is followed by another without a new clause."""
    rest = re.sub(r"\bas well as\b", "plus", re.sub(r"\([^()]*\)", "", rest))
    late = _LATE_VERB.search(rest)
    if late is None or verb not in THIRD_PERSON or verb in ("has", "does", "ensures", "means", "requires"):
        return False
    return _NEW_CLAUSE.search(rest[: late.start()]) is None


_WAS_CHANGED = frozenset(
    "Added Removed Fixed Improved Updated Renamed Replaced Changed Reduced Increased Refactored Implemented Introduced "
    "Dropped Moved Enhanced Reworked Corrected Ensured Allowed Made".split()
)
_ORDERS = frozenset("avoid ensure fix report refactor improve make add remove correct update".split())


def is_identifier(word: str) -> bool:
    """Whether a word is written as no word of prose is: ``os_path``, ``--size``, ``IndexError``."""
    return re.search(r"[a-z][_.:A-Z\d]|[_$(]|^-|[A-Z]{2}", word) is not None


def _plain(word: str) -> bool:
    return re.fullmatch(r"[a-z]+", word) is not None


def _is_name(words: list[str]) -> bool:
    lower = [word.lower() for word in words]
    if not 0 < len(words) <= 4 or set(lower) & (FUNCTION_WORDS | _NO_NAMES):
        return False
    if len(words) > 1 and lower[: len(words) // 2] == lower[(len(words) + 1) // 2 :] and len(words) % 2 == 0:
        return False  # a title run into the sentence
    if len(words) > 1 and re.fullmatch("[a-z]{3,}ing", words[-1]) and re.fullmatch("[a-z]+s", words[-2]):
        return False  # "objects representing" what follows
    if len(words) > 1 and (lower[-1].endswith("ly") or re.fullmatch("[a-z]+(?:ted|ned|ded|sed)", words[0])):
        return False  # "option simply", "mentioned size"
    if any(word.endswith("ing") for word in lower[1:-1]) or (len(words) > 1 and re.fullmatch("[a-z]+ed", words[-1])):
        return False  # "configuration simulated": a clause without its beginning
    if len(words) > 1 and (lower[0].endswith(("ing", "ly")) or any(w in THIRD_PERSON for w in lower[1:-1])):
        return False
    if len(words) == 1 and lower[0].endswith("ly"):
        return False
    return lower[0] not in THIRD_PERSON and len("".join(words)) > 2 and any(c.isalpha() for c in words[0])
