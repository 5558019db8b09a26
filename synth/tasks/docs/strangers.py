"""Names on a page that no entry explains: the graph holds nothing about them, so they count against uniqueness.

A page names functions, commands or classes of other collections, or of pages that are not there. Whatever is written
like a thing of the kind that a question asks for may satisfy it as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["strangers"]

_CALL = re.compile(r"([A-Za-z_][\w.]*)\(\)")
_MANUAL = re.compile(r"([A-Za-z][\w.+-]*)\(\d\w?\)")
_CAMEL = re.compile(r"(?<!\w)([A-Z]+[a-z0-9]+[A-Z]\w*)")
_SNAKE = re.compile(r"(?<![\w-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?!\w)")
_UPPER = re.compile(r"(?<!\w)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?!\w)")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)")
_FORMS = {
    "function": (_CALL,),
    "coroutine": (_CALL,),
    "decorator": (_CALL,),
    "C function": (_CALL,),
    "class": (_CAMEL,),
    "exception": (_CAMEL,),
    "command": (_MANUAL,),
    "program": (_MANUAL,),
    "utility": (_MANUAL,),
    "catalog": (_SNAKE,),
    "view": (_SNAKE,),
    "configuration parameter": (_SNAKE,),
    "environment variable": (_UPPER,),
    "command-line option": (_OPTION,),
}
"""How names of a kind are written; kinds that are missing are not told from other words."""


def strangers(text: str, kind: str, known: Collection[str]) -> frozenset[str]:
    """Names on a page that may be of ``kind``, by their last parts.

    Args:
        known: Last parts of the names of all entries.
    """
    written = [name for form in _FORMS.get(kind, ()) for name in form.findall(text)]
    last = {name.rsplit(".", 1)[-1] for name in written}
    return frozenset(name for name in last if name and name not in known)
