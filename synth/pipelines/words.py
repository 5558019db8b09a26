"""The words of a recipe's source: for its questions, and for scripted agents that read its pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from synth.lexicon.model import Lexicon
from synth.recipe.model import Recipe
from synth.tasks.world.words import words_of
from synth.text.words import FUNCTION_WORDS, stem, words

__all__ = ["language_of", "lexicon_of"]


def lexicon_of(recipe: Recipe) -> Lexicon | None:
    """The lexicon of the user's facts; None: what ships is enough.

    Raises:
        InputError: the facts or the user's words can't be read.
    """
    opened = recipe.source_spec.lexicon
    return None if opened is None else opened(recipe.source)


def language_of(recipe: Recipe) -> Mapping[str, Any]:
    """What a scripted agent knows of words, as options of its factory."""
    lexicon = lexicon_of(recipe)
    language = {"language": getattr(recipe.questions, "wording", recipe.questions.kind)}
    return language if lexicon is None else {**language, "lexicon": _by_word(lexicon)}


def _by_word(lexicon: Lexicon) -> dict[str, list[str]]:
    """Word -> relations of whose sentences, phrases or name it is part."""
    found: dict[str, set[str]] = {}
    for name, entry in lexicon.relations.items():
        for text in (*entry.page, name.replace("_", " ")):
            for word in words(re.sub(r"\{\w+\}", " ", text)):
                if word not in FUNCTION_WORDS:
                    found.setdefault(stem(word), set()).add(name)
    for word, names in words_of(lexicon).by_word.items():
        found.setdefault(stem(word), set()).update(names)
    return {word: sorted(names) for word, names in sorted(found.items())}
