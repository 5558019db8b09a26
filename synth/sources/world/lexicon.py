"""What a reader without a model knows of English: which words speak of which relation, and how a sentence states one.

Both follow from the templates that pages are written with, so a scripted policy reads no more than is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from synth.sources.world.schema import RELATIONS
from synth.text.words import root

__all__ = ["content_words", "lexicon"]

_STOP = frozenset(
    """
    a about after all also among an and are as at be been before by can did do does for from had has have he her him his
    how i in include includes including into is it its known made many more most much no not of on one only or other out
    over own s she some such than that the their them there these they this those through to under up was were what when
    where which who whom whose will with year years day people name named names part held
    """.split()
)


def content_words(text: str) -> list[str]:
    """Stems of the words of ``text`` that are not function words, in order."""
    return [root(word) for word in re.findall(r"[a-z]+", re.sub(r"\{\w+\}", " ", text.lower())) if word not in _STOP]


@cache
def lexicon() -> Mapping[str, frozenset[str]]:
    """Stem of a content word -> names of the relations whose sentences (or name) use it."""
    found: dict[str, set[str]] = {}
    for item in RELATIONS.values():
        for text in (*item.sentences, item.name.replace("_", " ")):
            for word in content_words(text):
                found.setdefault(word, set()).add(item.name)
    return MappingProxyType({word: frozenset(names) for word, names in sorted(found.items())})
