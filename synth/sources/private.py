"""What must not be published by accident: personal data and secrets, found by their form.

Only forms that can be told from other text: where there is a check digit it is checked (cards: Luhn; IBAN: ISO 7064
mod 97-10), where there are addresses that belong to nobody they are left alone (RFC 2606 and 6761 for names, RFC 1918
and 5737 and their like for numbers, the fictitious North American telephone numbers 555-01xx). Names of people, street
addresses and dates of birth have no form of their own and are not looked for.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from typing import Literal, NamedTuple

from synth.schemas.documents import Document
from synth.sources.keys import PEM, issued

__all__ = ["PrivateData", "PrivateKind", "Sighting", "find_private", "handled", "masked"]

PrivateData = Literal["keep", "mask", "reject"]
"""What becomes of a document that holds some. ``keep``: nobody looks. ``mask``: letters and digits of it become ``*``,
so that the text is as long as before. ``reject``: the document is left out (``private_data``)."""


class PrivateKind(StrEnum):
    """What was found."""

    EMAIL = "email"
    """An address of electronic mail."""
    PHONE = "phone"
    """A telephone number with its country code, or in the North American form."""
    IBAN = "iban"
    """An international bank account number whose check digits are right."""
    CARD = "card"
    """The number of a payment card: prefix, length and check digit are right."""
    IP = "ip"
    """An address that is reachable on the Internet."""
    API_KEY = "api_key"
    """A key or token in a form that a service issues, or a random value that is named one."""
    PRIVATE_KEY = "private_key"
    """The beginning of a private key in PEM form."""


class Sighting(NamedTuple):
    """Where something stands: ``text[start:stop]``."""

    start: int
    stop: int
    kind: PrivateKind


_EMAIL = re.compile(
    r"(?<![\w.+-])[A-Za-z0-9][\w.%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![\w-])", re.A
)
_NOBODYS = re.compile(r"(?:^|[.@])(?:example(?:\.(?:com|net|org|edu))?|test|invalid|localhost|local|internal)$", re.I)
_PHONE = re.compile(
    r"(?<![\w+.,-])(?:\+[1-9]\d{0,2}(?:[ .\-/]?\(?\d{1,4}\)?){2,6}|(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[.-])"
    r"[2-9]\d{2}[ .-]\d{4})(?![\w-])",
    re.A,
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_CARD = re.compile(r"(?<![\w.,-])\d(?:[ -]?\d){12,18}(?![\w-])(?![.,]\d)", re.A)
_CARDS = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|"
    r"6(?:011|4[4-9]\d|5\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}"
)
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)", re.A)
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}(?![\w:])", re.A)
_VERSION = re.compile(r"(?:\bv|\bver\.?|\bversions?|\brelease|\bsection|§)\s*$", re.I)
_ISSUED = re.compile(rf"(?<![A-Za-z0-9])(?:{issued()})[A-Za-z0-9]*")
_NAMED = re.compile(
    r"(?:api[ _-]?key|secret|token|passw(?:or)?d|access[ _-]?key)[\"']?\s{0,3}(?:=|:|=>)\s{0,3}[\"']?"
    r"([A-Za-z0-9/+_=.-]{16,})",
    re.I,
)
_PEM = re.compile(PEM)
_BITS = 3.5
"""Bits per character from which a value that is named a secret looks random: words of a language have less."""


def find_private(text: str, kinds: Collection[PrivateKind] = tuple(PrivateKind)) -> list[Sighting]:
    """All that is found of ``kinds``, in the order in which it stands, nothing of it overlapping."""
    found = [one for kind in PrivateKind if kind in kinds for one in _FINDERS[kind](text)]
    kept: list[Sighting] = []
    for one in sorted(found, key=lambda one: (one.start, -one.stop)):
        if not kept or one.start >= kept[-1].stop:
            kept.append(one)
    return kept


def masked(text: str, kinds: Collection[PrivateKind] = tuple(PrivateKind)) -> str:
    """``text`` with every letter and digit of what is found replaced by ``*``: as long as before, so that spans of it
    stay right, and nothing is found in it any more."""
    for one in find_private(text, kinds):
        hidden = "".join("*" if char.isalnum() else char for char in text[one.start : one.stop])
        text = text[: one.start] + hidden + text[one.stop :]
    return text


def handled(document: Document, wanted: PrivateData) -> tuple[Document | None, Counter[PrivateKind]]:
    """The document as it may be used, None where it may not; and what was found in it. Text, title, other names and
    headings are looked at; ids, paths and addresses on the web are the user's own to publish."""
    found: Counter[PrivateKind] = Counter()
    if wanted == "keep":
        return document, found
    texts = (document.text, document.title, *document.aliases)
    found.update(one.kind for text in texts for one in find_private(text))
    if not found:
        return document, found
    if wanted == "reject":
        return None, found
    sections = tuple(one.model_copy(update={"heading": masked(one.heading)}) for one in document.sections)
    changes = {
        "text": masked(document.text),
        "title": masked(document.title),
        "aliases": tuple(map(masked, document.aliases)),
        "sections": sections,
    }
    return document.model_copy(update=changes), found


def _matches(
    pattern: re.Pattern[str], kind: PrivateKind, means: Callable[[re.Match[str]], bool], group: int = 0
) -> Callable[[str], Iterator[Sighting]]:
    def find(text: str) -> Iterator[Sighting]:
        for match in pattern.finditer(text):
            if means(match):
                yield Sighting(*match.span(group), kind)

    return find


def _somebodys(match: re.Match[str]) -> bool:
    return _NOBODYS.search(match[0].rpartition("@")[2]) is None


def _dialled(match: re.Match[str]) -> bool:
    digits = _digits(match[0])
    if match[0].startswith("+"):
        return 8 <= len(digits) <= 15 and not (digits.startswith("1") and _fictitious(digits[1:]))
    return not _fictitious(digits[-10:])


def _fictitious(digits: str) -> bool:
    return len(digits) == 10 and digits[3:8] == "55501"


def _iban(match: re.Match[str]) -> bool:
    plain = match[0].replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    moved = plain[4:] + plain[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _card(match: re.Match[str]) -> bool:
    digits = _digits(match[0])
    if _CARDS.fullmatch(digits) is None:
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _reachable(match: re.Match[str]) -> bool:
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return False
    return address.is_global and _VERSION.search(match.string[max(0, match.start() - 12) : match.start()]) is None


def _random(match: re.Match[str]) -> bool:
    value = match[1]
    counts = Counter(value)
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    return bits >= _BITS and any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def _always(match: re.Match[str]) -> bool:
    return True


def _ip(text: str) -> Iterator[Sighting]:
    for pattern in (_IPV4, _IPV6):
        yield from _matches(pattern, PrivateKind.IP, _reachable)(text)


def _keys(text: str) -> Iterator[Sighting]:
    yield from _matches(_ISSUED, PrivateKind.API_KEY, _always)(text)
    yield from _matches(_NAMED, PrivateKind.API_KEY, _random, group=1)(text)


_FINDERS: dict[PrivateKind, Callable[[str], Iterator[Sighting]]] = {
    PrivateKind.EMAIL: _matches(_EMAIL, PrivateKind.EMAIL, _somebodys),
    PrivateKind.PHONE: _matches(_PHONE, PrivateKind.PHONE, _dialled),
    PrivateKind.IBAN: _matches(_IBAN, PrivateKind.IBAN, _iban),
    PrivateKind.CARD: _matches(_CARD, PrivateKind.CARD, _card),
    PrivateKind.IP: _ip,
    PrivateKind.API_KEY: _keys,
    PrivateKind.PRIVATE_KEY: _matches(_PEM, PrivateKind.PRIVATE_KEY, _always),
}
