"""Questions that a sentence answers with one of its own words, by how it is built.

    To VP, use X.  /  Use X to VP.  /  If C, use X.        What do you use to VP?  What should you use if C?
    S is kept in X.  /  S listens on X.                     Where is S kept?  What does S listen on?

Each gives the words around the answer in an order that English asks in; what leans on other sentences gives none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from synth.text.inflection import imperative, third_person
from synth.text.subjects import KINDS, PLURAL_NOUNS, is_identifier
from synth.text.verbs import THIRD_PERSON, VERBS

__all__ = [
    "MORE_VERBS",
    "AskedSentence",
    "asked_of",
    "asked_sentences",
    "command_asked",
    "commented",
    "leans",
    "written_subject",
]

_WORD = r"[\w$@%~+#*/-][\w.:$@%+~*/=#()-]*(?<![.:])"
_X = rf"(?P<x>{_WORD}(?: {_WORD}){{0,3}}?)"
_OF_KIND = rf"(?: (?P<kind>{'|'.join(sorted(KINDS | {'class', 'key', 'script', 'feature'}))}))?"
_DO = "use|run|set|call|pass|install|execute|try|enable|specify|choose|type|enter|invoke"
_YOU = (
    r"(?:(?:you|we|one|users) (?:(?:can|could|may|should|must|might|will|need to|have to|want to) )?"
    r"(?:also |simply |just )?)?"
)
_PARTICIPLE = (
    r"(?:[a-z]{2,}ed|given|written|built|made|held|known|kept|sent|found|put|run|read|set|driven|shown|taken|"
    r"drawn|hidden|spoken|chosen|split|bound|available|accessible|visible)"
)
_TAIL = (
    r"(?P<tail> (?:if|when|unless|while|before|after|during|for|by default|until|at|on|in|as|under|through)\b"
    r"[^,;:()]*)?"
)
_PLACED = frozenset("in at under inside within".split())
_TO_DO = (
    re.compile(rf"To (?P<vp>[a-z][^;:()]*?), {_YOU}(?P<do>{_DO}) (?:the |an? )?{_X}{_OF_KIND}(?P<tail> [^,;:()]*)?\."),
    re.compile(
        rf"(?:[Yy]ou (?:can|may|could|should) (?:also )?)?(?P<do>{_DO}|{_DO.title()}) (?:the |an? )?{_X}{_OF_KIND} "
        r"to (?P<vp>[a-z][^;:()]*)(?P<tail>)\."
    ),
    re.compile(rf"(?:The )?{_X}{_OF_KIND} (?:can be|may be|is) (?P<do>used) to (?P<vp>[a-z][^;:()]*)(?P<tail>)\."),
    re.compile(rf"(?:The )?{_X}{_OF_KIND} (?P<do>lets|allows|enables) you (?:to )?(?P<vp>[a-z][^;:()]*)(?P<tail>)\."),
)
_IF = re.compile(
    rf"If (?P<c>[^;:()]*?), (?:then )?{_YOU}(?P<do>{_DO}|start with|switch to|upgrade to|look at|read) "
    rf"(?:the |an? )?{_X}{_OF_KIND}(?P<tail> [^,;:()]*)?\."
)
_PASSIVE = re.compile(
    r"(?P<s>[A-Z][^,;:()]*?) (?P<be>is|are|was|were|can be|may be|must be|should be|will be) "
    rf"(?P<adverb>[a-z]+ly |also |always )?(?P<done>{_PARTICIPLE}) "
    rf"(?P<prep>in|to|under|at|into|on|from|by|with|as|against) (?:the |an? )?{_X}{_OF_KIND}{_TAIL}\."
)
_VERB = re.compile(
    rf"(?P<s>[A-Z][^,;:()]*?) (?P<verb>{'|'.join(sorted(THIRD_PERSON))}) "
    rf"(?:(?P<prep>on|to|for|with|from|into|under|in|at) )?(?:the |an? )?{_X}{_OF_KIND}{_TAIL}\."
)
_POINTS = re.compile(
    r"\b(?:this|these|those|above|below|followings?|former|latter|here|such|previous|previously|next|however|therefore|"
    r"thus|otherwise|instead|again|still|then|it|its|they|them|their|he|she|him|his|her|my|me|i|section|chapter|figure|"
    r"example|same|another|other|both|now|so|also|there|that way|and/or|one|ones|respectively|latest|newest|"
    r"the new|the current|further|more|resulting|respective|corresponding)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:(?:The|An?|All|Each|Every|Most) )?[\w./$@-]+(?: [\w./$@-]+){0,8}")
_FINITE = re.compile(
    r" (?:is|are|was|were|has|have|had|can|may|must|will|should|would|could|do|does|did|"
    rf"{'|'.join(sorted(THIRD_PERSON - PLURAL_NOUNS))})\b"
)
_OPENS_NO_SUBJECT = re.compile(
    r"(?:In|On|At|By|For|From|With|To|When|If|While|Where|Since|After|Before|As|Once|Unless|Because|Although|Though|"
    r"However|Note|See|What|Which|Who|How|Why|There|Here|Any|Some|Many|Several|Other|Another|Both|Neither|Either|Not|No|"
    r"You|We|I|He|She|They|It|One|Nothing|Everything|Anyone|People|Users|Only|Each of|All of|Even|Just|Also|Yes|"
    r"Finally|First|Second|Third|Then|Next|Currently|Today|Usually|Often|Sometimes|Normally|Typically|Additionally)\b"
)
_SIGNS = (
    ("option", re.compile(r"--?[A-Za-z][\w-]*(?:=\S*)?")),
    ("command", re.compile(r"[a-z][\w.-]*\([168]\)")),
    ("function", re.compile(r"[A-Za-z_][\w.]*\((?:[23]|(?!\d[a-z]*\)).*)\)")),
    ("environment variable", re.compile(r"\$?[A-Z][A-Z\d]*_[A-Z\d_]+")),
    ("file", re.compile(r"[\w./~*-]*\w\.(?:conf|cfg|ini|toml|json|ya?ml|lock|txt|xml|py|sh|html?|md|list)")),
)


@dataclass(frozen=True)
class AskedSentence:
    """A question, the words of it that the sentence says, and the answer."""

    question: str
    cue: str
    answer: str
    local: bool
    """Whether the words need the page: advice, and a subject that only its page tells."""


def is_telling(x: str) -> bool:
    """Whether words are a name: written like code, with digits or capitals, and no word that a sentence opens with."""
    words = x.split()
    return all(
        is_identifier(word)
        or any(c.isdigit() or c in "/_.$@-" for c in word.strip("-"))
        or re.match(r"[A-Z]\w|-", word)
        for word in words
    ) and not re.fullmatch(r"[\d.,]+", x)


def asked_sentences(sentence: str) -> Iterator[AskedSentence]:
    """What a sentence answers; its spaces are single."""
    if not 30 <= len(sentence) <= 260 or any(c in sentence for c in "“”|{}<>\n"):
        return
    for pattern in _TO_DO:
        if (match := pattern.fullmatch(sentence)) is not None and (found := _to_do(match)) is not None:
            yield found
            return
    if (match := _IF.fullmatch(sentence)) is not None and (found := _advised(match)) is not None:
        yield found
        return
    if (match := _PASSIVE.fullmatch(sentence)) is not None and (found := _passive(match)) is not None:
        yield found
        return
    if (match := _VERB.fullmatch(sentence)) is not None and (found := _active(match)) is not None:
        yield found


def command_asked(sentence: str, command: str) -> AskedSentence | None:
    """What a sentence that leads to a command answers: "To list them by size, run:" and the line below it."""
    match = _LEADS.fullmatch(sentence)
    command = re.sub(r"^(?:[$#%>] )+", "", command.strip())
    if match is None or not _is_command(command) or (match["do"] in _VAGUE and "command" not in sentence):
        return None
    vp = match["vp"].strip()
    if not _is_done(vp):
        return None
    return AskedSentence(f"Which command do you run to {vp}?", vp, command, local=False)


def _is_command(text: str) -> bool:
    written = re.match(r"[a-z./][\w./-]*(?: |$)", text) is not None and 4 <= len(text) <= _LONGEST
    return written and "..." not in text and not re.search(r"[<>|{}\[\]“”]|&&|\s=\s|  |: ", text)


def commented(line: str, commands: Collection[str]) -> tuple[str, str] | None:
    """(command, comment) of a line of code that says what it does: "kiln fire --slow   # fires it over night".

    Args:
        commands: as of :func:`synth.text.shell_lines.code_commands`: a line of another program, or of a file of
            settings, gives none.
    """
    match = re.fullmatch(r"(?:[$%>] )?(?P<command>\S.*?) {2,}# (?P<comment>[A-Za-z][^#]*)", line.strip())
    if match is None or match["comment"].count(" ") < 2 or not _is_command(match["command"]):
        return None
    command = match["command"]
    if command.partition(" ")[0] not in commands:
        return None
    return (command, match["comment"]) if " " in command and not re.search(r"[,;=(]$|^\S+\(", command) else None


def asked_of(quote: str, value: str, commands: Collection[str] = ()) -> AskedSentence | None:
    """What a sentence, or one with the line of code below it, answers with ``value``.

    Args:
        commands: as of :func:`synth.text.shell_lines.code_commands`.
    """
    sentence, _, below = quote.rpartition("\n")
    if sentence:
        found = command_asked(" ".join(sentence.split()), below)
        return found if found is not None and found.answer == value else None
    said = " ".join(quote.split())
    if (written := written_subject(said, commands)) is not None and written.answer == value:
        return written
    return next((one for one in asked_sentences(said) if one.answer == value), None)


_WRITTEN = re.compile(
    r"(?:The )?(?P<x>[a-z][a-z\d-]+ [a-z][a-z-]+|[\w$.-]*[a-z\d)](?:\(\))?)(?: command)? (?P<verb>[a-z]{2,}s) "
    r"(?P<rest>(?:the|an?|its|all|any|each|every|how|what|whether|where|which|when|up|out|[a-z]+s)\b[^;:]*)(?:[;:].*)?[.:]"
)


def written_subject(sentence: str, commands: Collection[str]) -> AskedSentence | None:
    """What is asked for by what a command, or another thing written like code, does: "kiln fire heats the ..."."""
    match = _WRITTEN.fullmatch(re.sub(r"\s*\([^()]+\)(?!\w)", "", sentence))
    if match is None or re.search(r", (?:and )?--", sentence) or not 30 <= len(sentence) <= 260:
        return None
    x, verb, rest = match["x"], match["verb"], match["rest"]
    command = " " in x and x in commands
    if not command and (" " in x or not is_identifier(x) or x[0].isupper()):
        return None
    if (
        verb in ("is", "has", "was", "does", "means", "its", "this", "uses")
        or _POINTS.search(rest)
        or rest.count(" ") < 3
    ):
        return None
    kind = "command" if command else _kind(x, None)
    cue = f"{verb} {_GOES_ON.split(rest)[0]}"
    return AskedSentence(f"{f'Which {kind}' if kind else 'What'} {cue}?", cue, x, local=kind is None)


_GOES_ON = re.compile(r", (?:which|who|so|but|where|while|and (?:it|then|the)) ")


def leans(text: str) -> bool:
    """Whether words point at others around them."""
    return _POINTS.search(text) is not None


_VAGUE = ("use", "enter", "do")  # what one does with settings as well
_LONGEST = 90
"""Characters of a command that an answer may have."""
_LEADS = re.compile(
    rf"(?:To (?P<vp>[a-z][^,;:()]*),? {_YOU}(?P<do>run|use|type|execute|enter|issue|invoke|do)"
    r"(?: the)?(?: following)?(?: commands?)?(?: this)?:?)"
)


def _is_done(vp: str) -> bool:
    """Whether a verb phrase is complete without the words around it."""
    first = vp.partition(" ")[0]
    settled = _POINTS.search(vp) is None and 2 <= vp.count(" ") <= 22
    return (
        settled
        and (first in VERBS or first in MORE_VERBS)
        and _TWO_THINGS.search(vp) is None
        and not re.search(r"\b(?:run|use|be|to|the|an?|and|or)$", vp)
    )


_TWO_THINGS = re.compile(
    r"\band (?:the )?\S*[=_()$.-]\S* (?:[a-z]+ )?to [a-z]|\band (?:defaults?|is|are|was|has|can|may|will|must)\b|\.\."
)
"""A second thing that does something else: "set the interval and BurstOf= to set how many"."""
MORE_VERBS = frozenset(
    "see try know learn contribute upgrade downgrade rebuild compile configure customize disable override authenticate "
    "browse serve deploy profile lint publish preview clean switch turn go give tell allow make have avoid".split()
)


def _kind(x: str, kind: str | None) -> str | None:
    """The kind that a sentence gives a thing, or that is written into its name."""
    return kind or next((name for name, sign in _SIGNS if sign.fullmatch(x)), None)


def _to_do(match: re.Match[str]) -> AskedSentence | None:
    x, kind, vp, do = match["x"], match["kind"], match["vp"].strip(), match["do"].lower()
    tail = match["tail"] or ""
    if not is_telling(x) or _POINTS.search(x) or not _is_done(vp) or tail:
        return None
    found = _kind(x, kind)
    if do in ("lets", "allows", "enables"):
        return AskedSentence(f"{f'Which {found}' if found else 'What'} {do} you{_to(do)} {vp}?", vp, x, local=not found)
    verb = "use" if do == "used" else do
    if (found == "package" and verb == "use") or found is None:
        return AskedSentence(f"What {'can' if do == 'used' else 'do'} you {verb} to {vp}?", vp, x, local=found is None)
    return AskedSentence(f"Which {found} {'can' if do == 'used' else 'do'} you {verb} to {vp}?", vp, x, local=False)


def _to(do: str) -> str:
    return "" if do == "lets" else " to"


def _advised(match: re.Match[str]) -> AskedSentence | None:
    x, c, do = match["x"], match["c"].strip(), match["do"].lower()
    plain = re.fullmatch(r"[a-z]{4,}", x) is not None
    if (match["tail"] or "").strip() or not (is_telling(x) or plain) or x in _NO_ANSWER or _POINTS.search(c):
        return None
    if not re.match(r"(?:you|the|an?|your|all|no)\b", c) or c.count(" ") < 3 or "," in c:
        return None
    found = _kind(x, match["kind"])
    asks = f"Which {found}" if found else "What"
    return AskedSentence(f"{asks} should you {do} if {c}?", c, x, local=True)


_NO_ANSWER = frozenset("them this that these those care more less both either none something anything nothing".split())


def _self_contained(s: str) -> bool:
    return (
        _SUBJECT.fullmatch(s) is not None
        and _OPENS_NO_SUBJECT.match(s) is None
        and _POINTS.search(s) is None
        and _FINITE.search(s) is None
        and not re.search(r"\b(?:the|an?|and|or|of|to|not|only|must|be)$", s)
        and not re.match(r"[A-Z][a-z]+ing\b", s)
        and not re.search(r"\b(?:if|when|unless|where|while)\b", s)
        and not re.search(
            r"\b(?:information|details?|documentation|instructions|lists?|examples?|explanations?)\b", s.lower()
        )
    )


def _is_local(s: str) -> bool:
    """Whether plain words with an article are all that names a subject: "The server", "The configuration file"."""
    words = s.split()
    return (
        words[0] in ("The", "A", "An") and " of " not in s and " for " not in s and all(w.islower() for w in words[1:])
    ) or bool(re.search(r"\b(?:the|an?) [a-z]+$", s) and " of " in s)


def _is_plain(s: str) -> bool:
    """Whether two common words are all that a subject has: "Unused versions", of what, its page says."""
    return re.fullmatch(r"[A-Z]?[a-z]+(?: [a-z]+)?", s) is not None


def _inside(s: str) -> str:
    """A subject in the case that it takes inside a sentence: articles and common words in lower case."""
    first, _, rest = s.partition(" ")
    article = first in _ARTICLES
    named = not rest or re.match(r"[A-Z]", rest)
    plain = article or (not named and re.fullmatch(r"[A-Z][a-z]+(?:s|ic|al|ed|ive|able|ous|ary)", first))
    return f"{first.lower()} {rest}".strip() if plain else s


_ARTICLES = frozenset("The A An All Each Every Most".split())
_DATE = re.compile(r"(?:(?:\d{1,2} )?[A-Z][a-z]+ (?:\d{1,2},? )?)?(?:1[5-9]|20)\d\d")


def _passive(match: re.Match[str]) -> AskedSentence | None:
    s, x, prep, done = match["s"], match["x"], match["prep"], match["done"]
    be, adverb, tail = match["be"], match["adverb"] or "", match["tail"] or ""
    if (
        not _self_contained(s)
        or not is_telling(x)
        or _POINTS.search(tail)
        or done in ("used", "based", "called", "known")
        or done in _TOLD
        or re.match(r" (?:as|in|on|at|under|through)\b", tail)  # "can X be disabled with in Y?"
    ):
        return None
    if prep == "by" and re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*", x):
        return None  # a person, or a program: "who" or "what"?
    aux, _, more = be.partition(" ")
    subject = _inside(s)
    more = f"{more} " if more else ""
    kind = _kind(x, match["kind"])
    if prep in _PLACED and kind in (None, "file", "directory") and ("/" in x or kind):
        words = f"{subject} {more}{adverb}{done}{tail}"
        return AskedSentence(f"Where {aux} {words}?", words, x, local=_is_local(s) or (" " not in s and _is_plain(s)))
    if prep == "by" and be in ("is", "are") and not tail:
        does = next((third_person(verb) for verb in (done[:-2], done[:-1]) if verb in VERBS), None)
        asks = f"Which {kind}" if kind else "What"
        words = f"{does} {subject}"
        # Nobody says "What is the setup performed by?"
        return AskedSentence(f"{asks} {adverb}{words}?", words, x, local=_is_local(s) or _is_plain(s)) if does else None
    if prep in ("in", "on") and _DATE.fullmatch(x):
        words = f"{subject} {more}{adverb}{done}{tail}"
        return AskedSentence(f"When {aux} {words}?", words, x, local=_is_local(s))
    words = f"{subject} {more}{adverb}{done} {prep}{tail}"
    asks = f"Which {match['kind']}" if match["kind"] else "What"
    return AskedSentence(f"{asks} {aux} {words}?", words, x, local=_is_local(s))


_TOLD = frozenset(
    "described documented discussed explained covered mentioned outlined detailed specified shown "
    "illustrated depicted listed given summarized summarised presented".split()
)
_WITH = {
    "depends": "on", "relies": "on", "listens": "on", "binds": "to", "defaults": "to", "points": "to",
    "connects": "to", "belongs": "to", "resolves": "to", "expands": "to", "maps": "to", "writes": "to", "stands": "for",
    "refers": "to", "exits": "with", "comes": "from", "starts": "with", "ends": "with", "begins": "with",
    "translates": "to", "converts": "to", "inherits": "from", "adheres": "to", "corresponds": "to", "runs": "on",
}  # fmt: skip


def _active(match: re.Match[str]) -> AskedSentence | None:
    s, x, verb, prep = match["s"], match["x"], match["verb"], match["prep"]
    tail = match["tail"] or ""
    if not _self_contained(s) or not is_telling(x) or _POINTS.search(tail):
        return None
    if prep is None or _WITH.get(verb) != prep:
        return None
    words = f"{imperative(verb)} {prep}{tail}"
    asks = f"Which {match['kind']}" if match["kind"] else "What"
    return AskedSentence(f"{asks} does {_inside(s)} {words}?", f"{_inside(s)} {words}", x, local=_is_local(s))
