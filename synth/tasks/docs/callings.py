"""Whether a thing is what the heading, list or table that it stands in says, as far as the words of its page tell."""

from __future__ import annotations

import re
from collections import Counter

from synth.tasks.docs.corpus import Corpus
from synth.text.inflection import singular
from synth.text.subjects import is_identifier
from synth.text.words import FUNCTION_WORDS

__all__ = ["Callings"]

_ALIKE = (
    "option setting parameter argument directive variable key flag switch field property attribute keyword qualifier",
    "function method procedure routine macro operator callback hook predicate",
    "class type struct enum object trait interface exception error",
    "module package library crate plugin extension middleware addon",
    "command tool program utility script daemon server service client driver",
    "file directory folder",
    "event signal message",
    "rule policy",
)
"""Nouns that one page may say of one thing by turns."""
_GROUP = {noun: number for number, nouns in enumerate(_ALIKE) for noun in nouns.split()}
_FILE = re.compile(
    r"[\w.-]*\w\.(?:ya?ml|json|toml|ini|conf|cfg|xml|html?|txt|log|py|sh|sql|db|js|css|md|rst|csv|tsv|lua)"
)
_READ = 40
"""Places of a name that are looked at."""
_BEHIND = re.compile(r"[”\"'`]? (?:class (?=method))?([a-z]{3,}s?)\b")
_BEFORE = re.compile(r"\b[Tt]he ([a-z]{3,}) [“\"'`]?$")


class Callings:
    """Compares the kinds of things with what the sentences of their pages call them."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[int, bool] = {}

    def disputed(self, entity: int) -> bool:
        """Whether the page calls the thing by a noun of another sort, and never by one of its own: a setting in a
        section on extensions, which "the setting X" tells. A name with the ending of a file is no option or class,
        and one that ends in "the" is none."""
        if (known := self._known.get(entity)) is None:
            known = self._known[entity] = self._judged(entity)
        return known

    def _judged(self, entity: int) -> bool:
        found = self._corpus.entities[entity]
        own = _GROUP.get(found.kind.split()[-1])
        name = found.name.replace("::", ".").rpartition(".")[2] if found.name[-1:] != "." else found.name
        if " " in found.name and found.name.split()[-1].lower() in FUNCTION_WORDS:
            return True  # "PARTIALS from the", cut at a link
        if own is None or found.document < 0:
            return False
        if own == 0 and "::" in found.name and not found.name.startswith(("-", "$", ":")):
            return True  # a member of a class is no option
        file = found.name.rpartition("/")[2]
        if _FILE.fullmatch(file) and own < 3 and " " not in found.name and file.count(".") == 1:
            return True
        return is_identifier(name) and self._otherwise(name, own, self._corpus.text(found.document))

    @staticmethod
    def _otherwise(name: str, own: int, text: str) -> bool:
        said = Counter[int]()
        at = -1
        for _ in range(_READ):
            if (at := text.find(name, at + 1)) < 0:
                break
            end = at + len(name)
            if (at and re.match(r"[\w-]", text[at - 1])) or re.match(r"[\w-]", text[end : end + 1]):
                continue
            behind, before = _BEHIND.match(text, end), _BEFORE.search(text, max(0, at - 24), at)
            for match in (behind, before):
                if match is not None and (group := _GROUP.get(singular(match[1]))) is not None:
                    said[group] += 1
        return bool(said) and not said[own]
