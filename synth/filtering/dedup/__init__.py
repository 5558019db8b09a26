"""Duplicates: exact, structural, near (MinHash) and semantic (vectors), within a table or among tasks one by one.

:func:`find_duplicates` compares a whole table; :class:`TaskFilter` judges candidates in the acceptance loop.
"""

from synth.filtering.dedup.corpus import Corpus, Found, Method, find_duplicates
from synth.filtering.dedup.online import Asked, Double, TaskFilter
from synth.filtering.dedup.pairs import Clusters, Kind, Pair
from synth.filtering.dedup.rules import DEDUP_VERSION, Rules, TaskRules
from synth.filtering.dedup.structure import calls_key, compared_answer, task_structure, walk_key
from synth.filtering.dedup.text import canonical_text, text_hash

__all__ = [
    "DEDUP_VERSION",
    "Asked",
    "Clusters",
    "Corpus",
    "Double",
    "Found",
    "Kind",
    "Method",
    "Pair",
    "Rules",
    "TaskFilter",
    "TaskRules",
    "calls_key",
    "canonical_text",
    "compared_answer",
    "find_duplicates",
    "task_structure",
    "text_hash",
    "walk_key",
]
