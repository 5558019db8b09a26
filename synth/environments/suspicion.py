"""Text that strangers wrote and a model reads: what a person does not see in it, and whether it gives orders.

Nothing is refused for it: text is shown as it stands, with controls written out, and what is suspicious goes as a
label with the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from synth.lexicon.reading import phrases

__all__ = ["READ", "clean", "hidden_characters", "orders_in"]

READ = 20_000
"""Characters of a text that are looked at for orders."""
_ORDERS = tuple((what, re.compile(form, re.IGNORECASE | re.DOTALL)) for what, (form,) in phrases("orders").items())
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Controls, and what makes text read otherwise than it is (directions, tags, nothing at all). Joiners stay: scripts
need them."""
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]")


def clean(text: str) -> str:
    """``text`` with line ends as ``\\n`` and every control or invisible character written out, as ``\\x1b``."""
    text = text.replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode()
    return _CONTROLS.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def hidden_characters(text: str) -> bool:
    """Whether something in ``text`` is not seen by a person who reads it."""
    return _HIDDEN.search(text) is not None


def orders_in(texts: Iterable[str]) -> Iterator[str]:
    """What gives the reader orders in ``texts``, one line per kind of order: what it does and the words that do it."""
    # Invisible characters between letters must not hide a word.
    visible = [_visible(text[:READ]) for text in texts]
    for what, pattern in _ORDERS:
        found = next((match for text in visible if (match := pattern.search(text))), None)
        if found is not None:
            yield f"{what}: {' '.join(clean(found.group()).split())[:160]!r}"


def _visible(text: str) -> str:
    return "".join(character for character in text if character in "\n\t" or not hidden_characters(character))
