"""Keys are taken out of every text that comes from outside, in the form in which they stand or encoded."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

__all__ = ["SHORTEST", "Redactor", "encodings", "hide_credentials", "password_of", "secrets_of"]

SHORTEST = 8
"""Characters of a key. Shorter ones (``EMPTY``, ``none``) are placeholders, and words that replies are full of."""
_REDACTED = b"[redacted]"
_TORN = 12
"""Characters of its beginning (or half of it, if more) by which a key is known where a text was cut."""
_SECRET_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)S?$", re.IGNORECASE)
_ESCAPED = (re.compile(rb"u00([2-7][0-9A-Fa-f])"), re.compile(rb"%(?:25)*([2-7][0-9A-Fa-f])"))
"""A character as JSON and URLs escape it, where no backslash is left. A literal comes first, so the search is fast."""
_CREDENTIALS = re.compile(r"(\w+://)[^\s/@'\"]+@")
_QUERY = re.compile(r"([?&][\w-]*(?:key|token|secret|password|signature)=)[^&\s'\"]+", re.IGNORECASE)


def secrets_of(environment: Mapping[str, str], shortest: int = SHORTEST) -> set[str]:
    """Values of the variables that are named as holding a secret."""
    return {value for name, value in environment.items() if _SECRET_NAMES.search(name) and len(value) >= shortest}


def password_of(address: str | None) -> set[str]:
    """The password of a URL, as it is written and as it is meant."""
    password = urlsplit(address).password if address else None
    return {password, unquote(password)} if password else set()


def hide_credentials(text: str) -> str:
    """``text`` in which URLs have no user, password or key."""
    if "://" not in text:
        return text
    return _QUERY.sub(r"\1***", _CREDENTIALS.sub(r"\1***@", text))


def encodings(secret: str) -> tuple[str, ...]:
    """``secret`` as it stands, in hex, and what is common to all base64 texts that hold it."""
    raw = secret.encode("utf-8", "surrogateescape")
    found = [secret, raw.hex(), raw.hex().upper()]
    for before in range(3):  # how many bytes stand before it in a group of three
        coded = base64.b64encode(b"\0" * before + raw).decode()
        core = coded[before + (before > 0) : (before + len(raw)) * 8 // 6]
        found += [core, core.translate(str.maketrans("+/", "-_"))]
    return tuple(dict.fromkeys(found))


class Redactor:
    """Takes the secrets that it was given out of texts: whole, or their beginning where a text was cut; escaped as JSON
    or a URL does it, in hex, in base64."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._forms: list[_Form] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Take ``secret`` out from now on, unless it is too short to be one."""
        if len(secret) >= SHORTEST and secret not in self._known:
            self._known.add(secret)
            self._forms += [_Form(form) for form in encodings(secret)]

    def data(self, data: bytes) -> bytes:
        """``data`` without any secret; the very same object where it holds none."""
        if not self._suspect(data):
            return data
        for form in self._forms:
            data = form.taken_from(data)
        return data

    def text(self, text: str) -> str:
        """``text`` without any secret."""
        raw = text.encode("utf-8", "surrogatepass")
        found = self.data(raw)
        return text if found is raw else found.decode("utf-8", "surrogatepass")

    def _suspect(self, data: bytes) -> bool:
        """Whether a secret may stand in it, as it is or escaped: errs on the side of yes, for replies are long."""
        if not self._forms:
            return False
        readings = [data.replace(b"\\", b"")]
        for escaped in _ESCAPED:
            reading = escaped.sub(lambda match: bytes([int(match[1], 16)]), readings[-1]).replace(b"\\", b"")
            if reading != readings[-1]:
                readings.append(reading)
        return any(form.bare_head in each for each in readings for form in self._forms)


class _Form:
    """One way in which a secret is written."""

    def __init__(self, text: str) -> None:
        raw = text.encode("utf-8", "surrogateescape")
        cut = min(len(raw), max(_TORN, len(raw) // 2))
        head = raw[:cut]
        self.bare_head = head.replace(b"\\", b"")
        self._head = re.compile(b"".join(map(_ways, head)))
        self._rest = [re.compile(_ways(one)) for one in raw[cut:]]

    def taken_from(self, data: bytes) -> bytes:
        kept, at = [], 0
        while (match := self._head.search(data, at)) is not None:
            kept += [data[at : match.start()], _REDACTED]
            at = match.end()
            for one in self._rest:
                further = one.match(data, at)
                if further is None:
                    break
                at = further.end()
        return b"".join([*kept, data[at:]]) if kept else data


def _ways(one: int) -> bytes:
    """An expression for a byte as it stands, escaped in JSON (texts inside of texts, too), or in a URL."""
    code = b"".join(b"[%c%c]" % (digit, digit ^ 32) if digit > 57 else b"%c" % digit for digit in b"%02x" % one)
    plain = re.escape(bytes([one]))
    return rb"(?:%s%s|\\+u00%s|%%(?:25)*%s)" % (b"" if bytes([one]).isalnum() else rb"\\*", plain, code, code)
