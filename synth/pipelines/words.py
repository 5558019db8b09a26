"""The words of a recipe's source: for its questions, and for scripted agents that read its pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from synth.engine import Engine
from synth.lexicon.model import Lexicon
from synth.places import is_remote
from synth.recipe.model import Recipe
from synth.sources.facts.graph import given_words
from synth.sources.facts.statements import FactsConfig
from synth.store.files import write_file
from synth.tasks.world.words import words_of
from synth.tasks.writing.drafting import drafted_lexicon
from synth.text.words import FUNCTION_WORDS, stem, words

__all__ = ["language_of", "lexicon_of", "worded_by_file", "write_words"]

_WORDS_HEAD = """\
# How pages and questions speak of your facts. Edit it, then build again with --set source.words=THIS_FILE
# {s} is the subject, {o} the object; in questions {x} is what is known, and | stands where the other end goes.
"""


def lexicon_of(recipe: Recipe) -> Lexicon | None:
    """The lexicon of the user's facts; None: what ships is enough.

    Raises:
        InputError: the facts or the user's words can't be read.
    """
    opened = recipe.source_spec.lexicon
    return None if opened is None else opened(recipe.source)


def worded_by_file(recipe: Recipe) -> tuple[str, ...]:
    """Relations that the user's file words, sorted: no words are drafted for them.

    Raises:
        InputError: the file can't be read.
    """
    given = given_words(recipe.source) if isinstance(recipe.source, FactsConfig) else {}
    return tuple(sorted(given.get("relations") or ()))


def write_words(recipe: Recipe, engine: Engine, out: Path) -> Path | None:
    """Writes the words of the user's facts, derived ones, drafted ones and the user's own, to ``<out>.words.yaml``, for
    a person to edit and name as ``source.words``. A file that is there stays as it is: it may have been edited.

    Returns:
        The file; None where what ships is enough, or ``out`` is in storage elsewhere.
    """
    lexicon = lexicon_of(recipe)
    if lexicon is None or is_remote(out):
        return None
    file = out.with_name(f"{out.name}.words.yaml")
    if not file.exists():
        for node in engine.plan.nodes:
            if "drafted_words" in node.stage.writes:
                lexicon = drafted_lexicon(lexicon, engine.table(node.label, "drafted_words").rows())
        parts = lexicon.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        text = yaml.safe_dump(parts, sort_keys=False, allow_unicode=True, width=110)
        write_file(file, f"{_WORDS_HEAD}{text}".encode())
    return file


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
