"""Bytes to text, without guessing by statistics.

The rule, in this order: a byte order mark decides; else the charset that the file declares (``<meta charset>``, the
XML declaration), if the bytes are valid in it; else UTF-8, if they are valid; else Windows-1252, which is what
"latin-1" means on the web. A NUL byte outside UTF-16/32, or more than one control character in a hundred, means that
the file is not text.
"""

from __future__ import annotations

import codecs
import re

__all__ = ["NotTextError", "decode"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{2,40})""",
    re.IGNORECASE,
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_WEB = {"iso-8859-1": "cp1252", "iso8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "ascii": "cp1252"}
"""Labels that the web reads as Windows-1252 (WHATWG Encoding)."""


class NotTextError(ValueError):
    """The bytes are not text that we know. ``str`` says why."""


def decode(data: bytes) -> str:
    """The text of a file, without its byte order mark.

    Raises:
        NotTextError: NUL bytes, control characters, or a byte order mark that the bytes do not keep.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _checked(data[len(mark) :].decode(encoding))
            except UnicodeDecodeError as error:
                raise NotTextError(f"byte order mark of {encoding}, but invalid at byte {error.start}") from error
    if (place := data.find(b"\0")) >= 0:
        raise NotTextError(f"a NUL byte at {place}: a binary file")
    for encoding in _candidates(data):
        try:
            return _checked(data.decode(encoding))
        except (UnicodeDecodeError, LookupError):
            continue
    # Windows-1252 leaves five bytes undefined; the web maps them to controls, which ``_checked`` counts.
    return _checked(data.decode("cp1252", errors="replace").replace("\ufffd", "\x1a"))


def _candidates(data: bytes) -> list[str]:
    names = []
    if match := _DECLARED.search(data[:4096]):
        name = (match[1] or match[2]).decode("ascii", errors="ignore").lower()
        name = _WEB.get(name, name)
        # UTF-16 without a mark can't be what an ASCII declaration was found in.
        if not name.startswith(("utf-16", "utf-32", "utf16", "utf32")) and _is_text_codec(name):
            names.append(name)
    return [*names, "utf-8"]


def _is_text_codec(name: str) -> bool:
    try:
        return bool(getattr(codecs.lookup(name), "_is_text_encoding", True))
    except LookupError:
        return False


def _checked(text: str) -> str:
    controls = len(_CONTROL.findall(text))
    if controls > max(1, len(text) // 100):
        raise NotTextError(f"{controls} control characters: a binary file")
    return text
