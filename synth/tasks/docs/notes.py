"""What single sentences and signatures say beside a relation: purposes, changes, defaults, and sentences with a gap."""

from __future__ import annotations

import re

from synth.tasks.docs.english import VERBS, is_fragment, plain
from synth.text.inflection import gerund, third_person
from synth.text.words import content_words

__all__ = ["GAP", "alike", "change", "defaults", "gap", "purpose", "remark", "worthy"]

GAP = "[…]"


_NAMED = "module|package|function|method|class|exception|decorator|object|instance|error"


def gap(sentence: str, name: str) -> str | None:
    """The sentence with the one mention of ``name`` replaced by a gap; None when it does not stand on its own."""
    last = name.rsplit(".", 1)[-1]
    # What fills the gap must be plain from the words around it: "[...]()", "the [...] module", "a [...] object".
    found = re.findall(rf"(?<![\w.])(?:\w+\.)*{re.escape(last)}(?!\w)", sentence)
    pattern = re.compile(rf"(?<![\w.])(?:\w+\.)*{re.escape(last)}(?:\(\)(?!\w)|(?= (?:{_NAMED})s?\b))")
    if len(last) < 3 or len(found) != 1 or not pattern.search(sentence):
        return None
    gapped = pattern.sub(GAP, sentence).rstrip(".:")
    around = gapped.replace(GAP, "thing")
    if is_fragment(around, least=50, most=190) or not around[0].isupper() or len(content_words(around)) < 7:
        return None
    return None if any(c in gapped for c in "“”") or last.lower() in around.lower() else gapped


_PURPOSE = (
    re.compile(r"^(?:Please )?(?:[Ss]ee|[Rr]efer to|[Cc]onsult) [^,]*? for (?P<p>.+)$"),
    re.compile(r"^For (?P<p>[^,]+), (?:please )?(?:see|refer to|consult) "),
)
_VAGUE = re.compile(
    r"(?:more|further|additional|other|a (?:complete|full|detailed)|full|complete|some|how|why)\b"
    r"(?! (?:information|details?) (?:on|about|of) )"
)
_EMPTY_PURPOSE = re.compile(
    r"(?:(?:some|more|further|additional|full|complete|other|the|an?) )*(?:details?"
    r"|information|examples?|explanations?|descriptions?"
    r"|discussion|reference|documentation|usage|overview|background|links)$"
)


_INFINITIVE = re.compile(r"^(?:[Ss]ee|[Rr]efer to|[Cc]onsult) [^,]*?(?:, “[^”]*”,?)? to (?P<v>[a-z]+) (?P<p>[^.]+)$")
_CITATION = re.compile(r"(?:,? \((?:also )?[Ss]ee (?:also )?[^()]*\)|[;,] (?:also )?see (?:also )?[^;]*)(?=\.?$)")
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|can|may|must|should|will|does|do|"
    + "|".join(sorted(third_person(verb) for verb in VERBS))
    + r")\b"
)
"""Something is said of something; else it is an item of a list."""
_SELF = re.compile(r"\b(?:Section|Chapter|Appendix|Table|Figure|Example) [A-Z]?\d")


def remark(sentence: str) -> str | None:
    """What is said before a reference at the end: "Notes are kept (see Section 4)." -> "Notes are kept"."""
    text = _CITATION.sub("", sentence)
    if text == sentence:
        return None
    text = text.rstrip(" .;,")
    if _SELF.search(text) or any(c in text for c in "“”«»") or not text[:1].isupper():
        return None
    if not _STATES.search(text) and text.split()[0].lower() not in VERBS:
        return None
    return None if is_fragment(text, least=40, most=150) or len(content_words(text)) < 5 else text


def purpose(sentence: str) -> str | None:
    """What readers are sent elsewhere for: "See X for the order of calls." -> "the order of calls"."""
    text = re.sub(r" \([^()]*\)", "", sentence).rstrip(" .")
    if (match := _INFINITIVE.match(text)) and match["v"] in VERBS and not match["p"].startswith(("and ", "or ")):
        return f"{gerund(match['v'])} {match['p']}"
    for pattern in _PURPOSE:
        if (match := pattern.match(text)) and not _EMPTY_PURPOSE.match(match["p"]):
            if _VAGUE.match(match["p"]):
                return None
            words = re.sub(
                r"^(?:more |further |additional )?(?:information|details?)(?: on| about| of) ", "", match["p"]
            )
            return words if len(words.split()) >= 2 else None
    return None


_GAINS = (
    re.compile(
        r"^(?:The )?(?P<p>(?:(?:optional|keyword-only|new) )?\w+ (?:parameter|argument"
        r"|attribute|method|option|keyword argument|constant|flag)s?) (?:was|were|has been"
        r"|have been|is|are)? ?added$"
    ),
    re.compile(
        r"^Added (?:the )?(?P<p>(?:(?:optional|keyword-only|new) )?\w+ (?:parameter|argument"
        r"|attribute|method|option|keyword argument|constant|flag)s?)$"
    ),
    re.compile(r"^Added (?P<s>support (?:for|of) .+)$"),
    re.compile(r"^(?P<s>Support (?:for|of) [^.]+?) (?:was|has been|is)? ?added$"),
    re.compile(r"^(?:Now s|S|It now s|This (?:function|method|class) now s)upports? (?P<n>(?!both|either)[^.]+)$"),
)  # fmt: skip
_STARTS = re.compile(
    r"^(?:(?:It|This (?:function|method|class)) )?(?:[Nn]ow )?(?P<v>[Aa]ccepts?|[Rr]aises?"
    r"|[Rr]eturns?|[Uu]ses?) (?P<r>an? .+|the .+|all .+|any .+|None.*)$"
)
_GERUND = {"accept": "accepting", "raise": "raising", "return": "returning", "use": "using"}


def change(said: str) -> tuple[str, str] | None:
    """(``gained``, what) or (``started``, doing what) for the text of a change note; None when it is another change."""
    text = plain(said.split(". ")[0])
    for pattern in _GAINS:
        if match := pattern.match(text):
            groups = match.groupdict()
            if groups.get("p"):
                return "gained", "the " + groups["p"]
            if groups.get("n"):
                return "gained", f"support for {groups['n']}"
            words = groups["s"]
            return "gained", words[0].lower() + words[1:]
    if match := _STARTS.match(text):
        verb = match["v"].lower().removesuffix("s")
        return "started", f"{_GERUND[verb]} {match['r']}"
    return None


def defaults(signature: str) -> dict[str, str]:
    """Parameters of a signature with defaults worth asking for: no None, truth value, zero, one or empty thing."""
    _, bracket, inside = signature.partition("(")
    if not bracket or not inside.endswith(")") or "[" in inside:
        return {}
    parts, depth, quote, last = [], 0, "", 0
    for i, c in enumerate(inside[:-1]):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(inside[last:i])
            last = i + 1
    parts.append(inside[last:-1])
    found = {}
    for part in parts:
        name, equals, value = part.partition("=")
        name, value = name.split(":")[0].strip(" *"), value.strip()
        if equals and re.fullmatch(r"[A-Za-z_]\w+", name) and worthy(value):
            found[name] = value
    return found


def worthy(value: str) -> bool:
    if value in (
        "None",
        "True",
        "False",
        "0",
        "1",
        "-1",
        "...",
        "''",
        '""',
        "()",
        "[]",
        "{}",
        "b''",
        "<unrepresentable>",
    ):
        return False
    return bool(re.fullmatch(r"-?\d+(?:\.\d+)?|'[^']{2,30}'|\"[^\"]{2,30}\"|[A-Za-z_][\w.]{2,40}", value))


def alike(left: str, right: str) -> bool:
    a, b = set(content_words(left)), set(content_words(right))
    return bool(a & b - {"parameter", "argument", "support", "attribute", "method", "option"})
