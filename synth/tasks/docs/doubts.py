"""Signs that a clause is broken, or that its first word is no verb: what has one is dropped, not asked."""

from __future__ import annotations

import re

from synth.text.subjects import PLURAL_NOUNS
from synth.text.verbs import VERBS

__all__ = ["GIVEN", "NOUNS", "UNCLEAR", "doubt", "opens_with_a_noun"]

NOUNS = frozenset(
    """
    access block cache class control copy count display document exchange file filter format group handle import
    increase index input limit link list load lock log map mark mask match model name network object offer order
    output overlay pack patch place point position process profile query queue quote record reference release
    report request result search set setup signal slice stack state store support table test time touch trace
    transfer update value view visit work
    """.split()
)
"""Verbs that are nouns as well: "read and write operations"."""
_OPENS = NOUNS | frozenset(
    "free guide cover scale increment form plot measure step color colour sample base range".split()
)
_LOOKS_FOR = frozenset("search test check look wait listen watch".split())
"""Behind these a preposition says nothing: "Search for files", where "Name for output map" has no verb."""
_HOLDERS = frozenset(
    "parameter argument setting variable field attribute property column key member constant class exception "
    "type".split()
)
"""Kinds whose things are described by what they hold or are, so that a word that may be a noun is one: "Map name", and
"Test helpers" of a class."""
_DETERMINED = re.compile(
    r" (?:(?:the|an?|its|any|all|each|every|no|none|only|that|whether|how|what|to|up|out)\b|[A-Z\d‘'\"])"
)
_FINITE = re.compile(r" (?:is|are|was|were|has|have) (?=[a-z])")
_DECLARED = re.compile(r" (?:is|are|was|were) (?:not |already )?(?:un)?[a-z]+\.?$")
_NEW_CLAUSE = re.compile(
    r"[,;:]|\b(?:that|which|who|whose|where|when|while|if|whether|how|what|because|unless|until|since|so|as|and|or|but|"
    r"than|it|they|you)\b"
)
"""Where a finite verb may follow whose subject is another: "Access to the system was denied" has none."""
_PARTED = re.compile(
    r" (?!the|all|any|each)[a-z]+ (?:[a-z]{3,}ed|found|given|taken|shown|read|written) "
    r"(?:by|in|from|for|to|with|on|when|if|while|after|before|during|at) "
)
_SIGNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b([A-Za-z]+) \1\b",  # "when when"
        r"\b(?:to|from|by) between\b|\bif not exists?\b|, returns? (?:true|false|none|null)\b",
        r", (?:some|others|many|most) (?:[\w-]+ )?(?:come|are|have|do|use|need|take|can|may|will)\b",
        r"\b(?:yourself|yourselves)\b",
        r"\b(?:allows?|enables?|permits?) to (?:[a-z]+ly )?[a-z]",  # whom?
        r"\ban (?!hour|honest|heir)(?=[a-z]{0,2}[aeiouy])[bcdfghjklmnpqrstvwxz][a-z]{3,}",
        r"(?<![\w-])a (?!one\b|once\b|eu|ewe|uni|use|usa|ut)(?=[a-z]{3})[aeio][a-z]+",
        r"[a-z)],[a-z]",  # code: "cat int,label varchar()"
        r"\b(?:eg|ie|resp|incl|approx|aka)$",
        r", (?:both|all|each|every|some|many) (?:[\w-]+ ){0,4}(?:is|are|was|were|must|can|may|will|has|have)\b",
        r", (?:do|does) not\b",
        r", [A-Z][a-z]+s (?:the|an?|true|false)\b",
        r"\band the --?[a-z][\w-]* (?:flag|option|switch)\b",
        r", doing so\b|\beven$|\bthe [a-z]+ (?:belongs|consists|depends) ",
        r"\b(?:boolean|string|number|integer) - [A-Z]| or undefined$",
        r" --? [a-z]|\?$|\b(?:it|that|there|what|here)['’]s\b",
        r"\ba (?:breeze|snap|cinch)\b",
        r"[a-z]- (?!(?:and|or|to|nor|versus)\b)[a-z]{3,}",  # "status- updates", broken at the end of a line
        r"\b(?:more|less) [a-z]+ly$",  # than what?
        r"\bmakes? (?:[\w-]+ ){1,6}to be\b",
        r"\bby (?:the|an?) [a-z]+ (?!(?:need|speed|seed|feed)\b)[a-z]{3,}ed (?=[A-Z\d]{2})",  # "by the tool returned"
        r"\bby default [a-z]+s\b",
        r"\b(?:is|are) (?:more |less )?[a-z]+er that\b",
        r"[,:] one of\b",
        r"(?<!\bto )(?<!\band )(?<!\bthat )\b[a-z]+[^su\W]s default to\b",  # "the permissions default to"
        r"[a-z]: [a-z]",
        r" [+] ",
        r" and re-[a-z]+(?<!s)(?= |$)",
        r"\bfor (?:various|several|many|different) reasons\b|\b[a-z]+ things (?:with|that|which)\b",
        r"\b(?:if|when|that|of|to):",
        r"\bspecifies .*\bto specify\b",
        # What stands for a value: "repository repo".
        r"\b([a-z]{3,})[a-z]{2,} \1$",
        r"\b([a-z]{4,})[a-z]{2,} \1\b(?! (?:by|of|the|an?)\b)",
        r"\b(?:to|from|of|by|with|in|on|than|at) (?:num|expr|str|arg|msg|cmd|func|idx|ptr|val|src|dst|len|repo|dir)\b",
        r", (?:ignore|skip|omit|remove|replace|return|use|keep|leave) (?!(?:[\w-]+,? )*(?:and|or)\b)",
        r"\b(?!is\b|was\b|seems\b|becomes\b|proves\b|remains\b)[a-z]+s useful (?:for|to|if|when|in)\b",
    )
)
UNCLEAR = re.compile(
    r"that (?:is (?:one of|not|no|any|all|each|every|[A-Z]|the default|also|either|specific (?:for|to)"
    r"|abbreviation|acronym|synonym|short for|another)|looks at|refers to|runs as|does|only|has no|are"
    r"|leaves (?:blank|empty|unset)|sets (?:to|this)|enters|makes sure|fills in"
    r"|(?:accepts|takes) (?:any number of|no|one|two|three|optional|several|many) (?:[a-z]+ )?arguments?$"
    r"|takes (?:[\w-]+ ){1,5}as (?:an |its |the )?(?:[a-z]+ )?arguments?$"
    r"|[a-z]+s an? (?:specific|particular|certain))\b"
)
"""What says too little of a thing, or tells its reader what to do."""
GIVEN = re.compile(
    r"that (?:(?:takes|gets) (?:an? |the )?(?:[\w-]+ )?(?:object|hash|string|name|list|id|reference)\b"
    r"(?!.* and (?:[a-z]+ly )?[a-z]+s (?:the|an?|all|its|only|any|every)\b)"
    r"|(?:.* and )?returns (?:an? |the )?(?:value|result|object|string|true|false|undef|nothing)$)"
)
"""What is given to a call, or that it gives something back, tells it from no other."""


def doubt(text: str) -> str | None:
    """What shows that the words are broken or colloquial; None where nothing does."""
    return next((match.group() for pattern in _SIGNS if (match := pattern.search(text))), None)


def opens_with_a_noun(text: str, kind: str) -> bool:
    """Whether the first word of a description may be a verb elsewhere and is a noun here.

    "Name for output map", "Point and centroid symbol" and, of what holds a value, "Scale factor for heights" have no
    verb; "Cache misses found in the table" has another one.
    """
    first, _, rest = text.partition(" ")
    verb, rest = first.lower(), f" {rest}"
    if verb in _OPENS and (late := _FINITE.search(rest)) is not None and not _NEW_CLAUSE.search(rest, 0, late.start()):
        return True
    if verb in PLURAL_NOUNS and (late := _FINITE.search(rest)) and not _NEW_CLAUSE.search(rest, 0, late.start()):
        return True  # "Models with hooks for signals are provided"
    late = _DECLARED.search(rest)
    if verb in VERBS and late is not None and not _NEW_CLAUSE.search(rest, 0, late.start()):
        return True  # "Duplicate handlers for a route are not allowed"
    if verb in VERBS and (joined := re.match(r" (?:and|or) ([A-Z]\w+)\b", rest)) and joined[1].lower() not in VERBS:
        return True  # "Cluster and HTTP client code"
    if verb in _OPENS and (meant := re.match(r" to ([a-z]+)\b", rest)) is not None and meant[1] in VERBS:
        return True  # "Filter to search for"
    if verb not in _OPENS or _DETERMINED.match(rest):
        return False
    if verb not in _LOOKS_FOR and re.match(r" (?:for|between|of|in)\b", rest):
        return True
    joined = re.match(r" (?:and|or) ([a-z]+)\b", rest)
    if joined is not None and joined[1] not in VERBS:
        return True
    return kind.split()[-1] in _HOLDERS or _PARTED.match(rest) is not None
