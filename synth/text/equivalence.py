"""Ways to write one answer: the table of equivalences that verdicts go by.

Each row of ``TABLE`` has a name and a function that gives plain forms of a text. Two texts are the same by a row where
they share a form. Rows add up: a text is brought into the forms of the first row, these into those of the second, and
so on, with the text itself kept at each. No row looks for a part of a text in another one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from synth.text.forms import normalize
from synth.text.numbers import NUMERALS, number_words
from synth.text.persons import NICKNAMES

__all__ = ["TABLE", "TITLES", "forms_of", "initials", "spelled", "unabbreviated"]

Forms = Callable[[str], Iterator[str]]

_SUFFIXES = frozenset(
    "inc incorporated ltd limited llc llp lp corp corporation co company gmbh ag plc sa nv bv oy ab spa pty kk".split()
)
TITLES = frozenset("dr prof professor sir dame lord lady mr mrs ms miss saint president king queen pope".split())
_NAMED = re.compile(r"^(?:(?:wikipedia|web)\s+)?(.{2,}?)\s+(?:(?:wikipedia|web|home)\s+)?(?:page|article|entry)$")
_QUALIFIER = re.compile(r"^(.*\S)\s*[(\[]\s*([^()\[\]]{1,60}?)\s*[)\]]$")
_NUMBERED = re.compile(
    r"^(?:(?:section|chapter|sec\.|ch\.|§)\s*\d+(?:\.\d+)*\s*[:.)\-–—]\s*|\d+(?:\.\d+)+\.?\s+|\(\d{1,2}\)\s*|\d{1,2}[.)]\s+)"
)
_NUMBERED_BEHIND = re.compile(r"\s*\(\d{1,2}\)$")
_OPTION = re.compile(r"^(?:option\s+|answer\s+|choice\s+)?\(?[a-e][).:]\s+(?=\S)")
_CALL = re.compile(r"^([a-z_][\w.:]*)\([^()]*\)$")
_CODE = re.compile(r"[._]|^[a-z]+$")
_KNOWN = {
    "uk": "united kingdom",
    "us": "united states",
    "usa": "united states",
    "united states of america": "united states",
    "uae": "united arab emirates",
    "eu": "european union",
    "un": "united nations",
    "nyc": "new york city",
    "la": "los angeles",
    "ussr": "soviet union",
    "great britain": "united kingdom",
}
_SPELLINGS = (
    ("our", re.compile(r"\b(\w{2,}?)our(s|ed|ing|ful|ite)?\b"), r"\1or\2"),
    ("is", re.compile(r"\b(\w{3,})is(e|ed|es|ing|ation)\b"), r"\1iz\2"),
    ("re", re.compile(r"\b(cent|theat|met|lit|fib)re(s?)\b"), r"\1er\2"),
    ("grey", re.compile(r"\bgrey\b"), "gray"),
    ("ll", re.compile(r"\b(\w+)ll(ed|ing|er)\b"), r"\1l\2"),
)
_ORDINALS = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first""".split(),
        start=1,
    )
}
_ORDINAL = re.compile(rf"\b(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})\b")
_DIGIT = re.compile(r"\d")
_ROMAN = {
    f"{ten}{one}": str(10 * tens + ones)
    for tens, ten in enumerate(("", "x", "xx"))
    for ones, one in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
    if ten or one
}
_DECADES = {word: f"19{tens}0s" for tens, word in enumerate("twenties thirties forties fifties".split(), start=2)} | {
    word: f"19{tens}0s" for tens, word in enumerate("sixties seventies eighties nineties".split(), start=6)
}
_RANGE = re.compile(
    r"^(?:from |between )?(?:the )?(\d[\d,.]*(?:st|nd|rd|th)?)\s*(?:-|–|—|−|to|until|till|through|and)\s*"
    r"(?:the )?(\d[\d,.]*(?:st|nd|rd|th)?)(\s+\S.*)?$"
)


def _accents(text: str) -> Iterator[str]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    yield plain.replace("ø", "o").replace("ł", "l").replace("æ", "ae").replace("œ", "oe").replace("đ", "d")


def _option(text: str) -> Iterator[str]:
    yield _OPTION.sub("", text)


def _section(text: str) -> Iterator[str]:
    yield _NUMBERED_BEHIND.sub("", _NUMBERED.sub("", text))


def _page(text: str) -> Iterator[str]:
    if match := _NAMED.match(text):
        yield match.group(1).removeprefix("the ")


def _call(text: str) -> Iterator[str]:
    if (match := _CALL.match(text)) and _CODE.search(match.group(1)):
        yield match.group(1)


def _qualifier(text: str) -> Iterator[str]:
    """Without what a parenthesis at its end adds, or says in other words; the parenthesis alone is not a form."""
    if (match := _QUALIFIER.match(text)) and not re.search(r"\b(?:not|no|never|or|false|wrong)\b", match.group(2)):
        yield match.group(1)


_SPELLED_OUT = re.compile(r"\b([A-Za-z]{2,10})\s*\(([^()]+)\)")


def unabbreviated(text: str) -> str:
    """ "SARS (severe acute respiratory syndrome)" without the initials that the parenthesis spells out."""
    return _SPELLED_OUT.sub(lambda match: match[2] if initials(match[2]) == match[1].lower() else match[0], text)


def initials(text: str) -> str:
    """The first letters of its words, small words apart."""
    return "".join(word[0] for word in normalize(text).split() if word not in ("of", "and", "for", "in", "on", "to"))


def _spelled_out(text: str) -> Iterator[str]:
    yield unabbreviated(text)


def _era(text: str) -> Iterator[str]:
    if match := re.match(r"^(?:(?:ad|a\.d\.) (\d{1,4})|(\d{1,4}) (?:ad|ce|a\.d|c\.e))$", text):
        yield match.group(1) or match.group(2)


def _range(text: str) -> Iterator[str]:
    if match := _RANGE.match(text):
        low, high, unit = match.group(1).replace(",", ""), match.group(2).replace(",", ""), match.group(3) or ""
        if len(low) == 4 and len(high) == 2 and low.isdigit() and high.isdigit():
            high = low[:2] + high  # 1914-18
        yield f"{low} to {high}{unit.replace('centuries', 'century')}"


def _signs(text: str) -> Iterator[str]:
    """Without punctuation; letters with full stops are one word, and so are initials that follow each other."""
    if text.replace(" ", "").isalnum():
        yield " ".join(text.split())
        return
    text = re.sub(r"(?<=\w)['’](?=s\b)", "", text.replace("&", " and "))
    text = re.sub(r"\b[^\W\d_](?:\.\s?[^\W\d_]\b)+\.?", lambda match: re.sub(r"[.\s]", "", match.group()), text)
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"(?<=\d)\.(?=\d)", "\0", text)
    yield " ".join(re.sub(r"[^\w%$€£\0+#]+", " ", text).split()).replace("\0", ".")


def _symbols(text: str) -> Iterator[str]:
    """C++ and C# are other things than C; all other signs go."""
    if "+" not in text and "#" not in text:
        yield " ".join(text.split())
        return
    yield " ".join(re.sub(r"(?<![a-z])[+#]+", " ", text).split())


def _article(text: str) -> Iterator[str]:
    yield re.sub(r"\b(?:the|an?) (?=\S)", "", text)


def _legal_form(text: str) -> Iterator[str]:
    yield _LONG_LEGAL.sub(lambda match: _LEGAL[match.group()], text)


_LEGAL = {"incorporated": "inc", "limited": "ltd", "corporation": "corp", "company": "co"}
_LONG_LEGAL = re.compile("|".join(rf"\b{long}$" for long in _LEGAL))


def _suffix(text: str) -> Iterator[str]:
    words = text.split()
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
        if words[-1] == "and" and len(words) > 1:
            words.pop()
        yield " ".join(words)


def _title(text: str) -> Iterator[str]:
    words = text.split()
    if len(words) > 2 and words[0] in TITLES:
        yield " ".join(words[1:])


def _known(text: str) -> Iterator[str]:
    if text in _KNOWN:
        yield _KNOWN[text]


def _short_words(text: str) -> Iterator[str]:
    for sign, pattern, full in _SHORT_WORDS:
        if sign in text:
            text = pattern.sub(full, text)
    yield text


_SHORT_WORDS = (
    ("st ", re.compile(r"\bst (?=\w)"), "saint "),
    ("mt ", re.compile(r"\bmt (?=\w)"), "mount "),
    ("ft ", re.compile(r"\bft (?=[a-z])"), "fort "),
    (" junior", re.compile(r" junior$"), " jr"),
    (" senior", re.compile(r" senior$"), " sr"),
)
"""(letters without which the pattern finds nothing, pattern, what it becomes)"""


def _clock(text: str) -> Iterator[str]:
    """A time of day by 24 hours."""
    if (match := _TIME.match(text)) and 1 <= int(match[1]) <= 12:
        yield f"{int(match[1]) % 12 + 12 * (match[3] == 'p')}:{match[2] or '00'}"
    elif match := re.match(r"^0?(\d{1,2}:\d{2})(?: ?(?:h|hrs|hours))?$", text):
        yield match[1]


_TIME = re.compile(r"^0?(\d{1,2})(?:[:.](\d{2}))? ?([ap])\.?m\.?$")


def _spelling(text: str) -> Iterator[str]:
    for sign, pattern, other in _SPELLINGS:
        if sign in text:
            text = pattern.sub(other, text)
    yield text


def _numbers(text: str) -> Iterator[str]:
    """Numbers, ordinals and decades in words as digits."""
    text = _ORDINAL.sub(lambda match: str(_ORDINALS[match.group()]), text.replace("twenty first", "twenty-first"))
    if _DIGIT.search(text):
        text = re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", r"\1", text)
        text = re.sub(r"\b(?:19)?([2-9]0)s\b", r"19\1s", re.sub(r"'(?=\d0s)", "", text))
    words = [_DECADES.get(word, word) for word in text.split()]
    if _STARTS.isdisjoint(words):
        yield " ".join(words)
        return
    made: list[str] = []
    while words:
        read = number_words(" ".join(words)) if words[0] in _STARTS else None
        if read is None:
            made.append(words.pop(0))
        else:
            made.append(str(read[0]))
            words = read[1].split()
    yield " ".join(made)


_STARTS = frozenset((*NUMERALS, "hundred", "dozen", *"thirty forty fifty sixty seventy eighty ninety".split()))


_PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5}
_FRACTION = re.compile(rf"\b(one|two|three|four|a) ({'|'.join(_PARTS)})\b")


def _fraction(text: str) -> Iterator[str]:
    if text == "half":
        yield "1 2"
    yield _FRACTION.sub(lambda m: f"{max(NUMERALS.index(m[1]), 1) if m[1] != 'a' else 1} {_PARTS[m[2]]}", text)


def _roman(text: str) -> Iterator[str]:
    words = text.split()
    if len(words) > 1 and words[-1] in _ROMAN:
        yield " ".join([*words[:-1], _ROMAN[words[-1]]])


def _inverted(text: str) -> Iterator[str]:
    """ "University of Oxford" is "Oxford University"; "battle of the bulge" keeps its only order."""
    words = text.split()
    if words.count("of") == 1 and words[0] in _HEADS:
        at = words.index("of")
        yield " ".join([*words[at + 1 :], *words[:at]])


_HEADS = frozenset("university city state republic kingdom province county museum bank port lake mount".split())


def _nickname(text: str) -> Iterator[str]:
    words = text.split()
    if len(words) > 1 and words[0] in NICKNAMES:
        yield " ".join([NICKNAMES[words[0]], *words[1:]])


TABLE: tuple[tuple[str, Forms], ...] = (
    ("accents", _accents),
    ("option", _option),
    ("section_number", _section),
    ("page", _page),
    ("call", _call),
    ("spelled_out", _spelled_out),
    ("qualifier", _qualifier),
    ("era", _era),
    ("clock", _clock),
    ("range", _range),
    ("punctuation", _signs),
    ("symbols", _symbols),
    ("article", _article),
    ("title", _title),
    ("legal_form", _legal_form),
    ("suffix", _suffix),
    ("abbreviation", _known),
    ("short_words", _short_words),
    ("spelling", _spelling),
    ("fraction", _fraction),
    ("number_words", _numbers),
    ("roman_numerals", _roman),
    ("inversion", _inverted),
    ("nickname", _nickname),
)


@lru_cache(maxsize=4096)
def forms_of(text: str, without: frozenset[str] = frozenset()) -> Mapping[str, str]:
    """Every form of ``text`` -> name of the row that made it; its normalized text is the first, by ``exact``."""
    found = {normalize(text): "exact"}
    for name, forms in TABLE:
        if name in without:
            continue
        for one in list(found):
            for made in forms(one):
                if made:
                    found.setdefault(made, name)
    return MappingProxyType(found)


@lru_cache(maxsize=4096)
def spelled(text: str) -> str:
    """``text`` in plain words: case, accents, articles, punctuation and ways to write numbers make no difference."""
    text = normalize(text)
    for forms in (_accents, _signs, _symbols, _article, _short_words, _numbers, _roman, _spelling):
        text = next(forms(text), text)
    return text
