"""Encoders: texts to unit vectors. The one that needs nothing is the default; models come with the extra ``embed``.

``hashed-words-384`` sees words and their spelling, not meaning: look-alike names and shared vocabulary come out near,
paraphrases do not. Whoever wants those takes a sentence-transformers model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from synth.errors import InputError
from synth.identity import versioned
from synth.retrieval.tokens import TOKENIZER_VERSION, tokenize

__all__ = ["Encoder", "HashedEncoder", "SentenceEncoder", "hashed_encoder", "sentence_encoder"]

Floats = NDArray[np.float32]

_DIM = 384
_BUCKETS = 1 << 18
"""Counters of document frequency: words that share one get the frequency of both."""
_SIGNS = 8
"""Places of a vector that a feature touches, with a sign each: a very sparse random projection (Li, Hastie & Church,
KDD 2006) that needs no matrix, since a hash of the feature draws its column."""
_SPELLING = 0.8
"""Weight of a word's spelling beside the word itself."""
_GRAM = (3, 4)
"""Lengths of the character n-grams of a word, its edges marked."""
_REMEMBERED = 1 << 14
"""Word vectors kept in memory: 24 MiB."""
_TOGETHER = 16
"""Texts whose new words get their vectors at once."""
_BATCH = 32
"""Texts per call of a model, always: other shapes give other last bits."""


class Encoder(Protocol):
    """Turns texts into vectors of length 1, so that their dot product is the cosine."""

    @property
    def name(self) -> str:
        """Names encoder and version: what was encoded under one name is never compared with another."""

    @property
    def dim(self) -> int: ...

    def fit(self, texts: Iterable[str]) -> Mapping[str, NDArray[Any]]:
        """Learn what the encoder needs of a corpus (document frequencies), or nothing: arrays for :meth:`load`."""

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what :meth:`fit` returned. Raises ValueError when it is of another encoder."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """``(len(texts), dim) float32``, rows of length 1; a text without words is a row of zeros."""


class HashedEncoder:
    """Words and their character n-grams, weighted by tf-idf and projected at random by hashes.

    A word's vector is that of the word plus ``0.8`` times the mean direction of its character 3- and 4-grams; a text is
    the sum of its words' vectors times ``(1 + ln tf) * idf``. Equal text, equal corpus: equal bytes, on any machine
    (sums in a fixed order, no linear algebra library). Downloads nothing.
    """

    name = "hashed-words-384-v1"
    dim = _DIM

    def __init__(self) -> None:
        self._idf: Floats | None = None
        self._row_of: dict[str, int] = {}
        self._reserve(_REMEMBERED)

    def fit(self, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Document frequencies: ``frequency (262144,) uint32`` and ``sizes (3,)``: texts, dim, tokenizer version."""
        frequency = np.zeros(_BUCKETS, dtype=np.uint32)
        count = 0
        known: dict[str, int] = {}
        for text in texts:
            count += 1
            if len(known) > 16 * _REMEMBERED:
                known.clear()
            buckets = set()
            for word in set(tokenize(text)):
                at = known.get(word)
                if at is None:
                    at = known[word] = _bucket(word)
                buckets.add(at)
            frequency[list(buckets)] += 1
        arrays: dict[str, NDArray[Any]] = {
            "frequency": frequency,
            "sizes": np.array([count, _DIM, TOKENIZER_VERSION], dtype=np.int64),
        }
        self.load(arrays)
        return arrays

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        count, dim, tokenizer = (int(number) for number in arrays["sizes"])
        if (dim, tokenizer) != (_DIM, TOKENIZER_VERSION) or len(arrays["frequency"]) != _BUCKETS:
            raise ValueError(f"these frequencies are not of {self.name} with tokenizer {TOKENIZER_VERSION}")
        frequency = np.asarray(arrays["frequency"], dtype=np.float64)
        self._idf = np.log1p((count - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)

    def encode(self, texts: Sequence[str]) -> Floats:
        """See :class:`Encoder`. Raises RuntimeError before :meth:`fit` or :meth:`load`."""
        if self._idf is None:
            raise RuntimeError(f"{self.name} knows no corpus yet: fit or load it")
        out = np.zeros((len(texts), _DIM), dtype=np.float32)
        for start in range(0, len(texts), _TOGETHER):
            found = [Counter(tokenize(text)) for text in texts[start : start + _TOGETHER]]
            self._learn({word for counts in found for word in counts})
            for at, counts in enumerate(found, start):
                words = sorted(counts)
                rows = [self._row_of[word] for word in words]
                often = np.array([1 + math.log(counts[word]) for word in words], dtype=np.float32)
                weights = often * self._idf[self._buckets[rows]]
                # A sum of numpy in a fixed order: a BLAS product may differ in its last bits between machines.
                total = (weights[:, None] * self._vectors[rows]).sum(axis=0)
                length = float(np.sqrt((total.astype(np.float64) ** 2).sum()))
                if length > 0:
                    out[at] = total / np.float32(length)
        return out

    def _learn(self, words: set[str]) -> None:
        """Make the vectors of those of ``words`` that have none yet."""
        new = sorted(words - self._row_of.keys())
        if len(self._row_of) + len(new) > len(self._vectors):
            self._row_of.clear()
            new = sorted(words)
            if len(new) > len(self._vectors):
                self._reserve(len(new))
        if new:
            rows = range(len(self._row_of), len(self._row_of) + len(new))
            self._row_of.update(zip(new, rows, strict=True))
            self._buckets[rows.start : rows.stop] = [_bucket(word) for word in new]
            self._vectors[rows.start : rows.stop] = _word_vectors(new)

    def _reserve(self, words: int) -> None:
        self._buckets: NDArray[np.int64] = np.empty(words, dtype=np.int64)
        self._vectors: Floats = np.empty((words, _DIM), dtype=np.float32)


def _word_vectors(words: Sequence[str]) -> Floats:
    marked = [f"<{word}>" for word in words]
    grams = [[f"c:{one[i : i + n]}" for n in _GRAM for i in range(len(one) - n + 1)] for one in marked]
    weights = np.array([_SPELLING / math.sqrt(max(1, len(own))) for own in grams], dtype=np.float32)
    return _feature_sums([[f"w:{word}"] for word in words]) + weights[:, None] * _feature_sums(grams)


def _bucket(word: str) -> int:
    return crc32(f"df:{word}".encode()) % _BUCKETS


def _feature_sums(groups: Sequence[Sequence[str]]) -> Floats:
    """The sum of the columns of each group of features ``(len(groups), 384)``. A column has ``_SIGNS`` places with +1
    or -1, scaled to length 1 (about: places may meet)."""
    raw = [name.encode() for names in groups for name in names]
    hashes = np.array([crc32(one) for one in raw], dtype=np.uint64)
    lengths = [len(one) for one in raw]
    starts = np.array([_starts(length) for length in range(max(lengths, default=0) + 1)], dtype=np.uint64)
    drawn = hashes[:, None] ^ starts[lengths]
    # crc32 is linear: without a multiplication, draws of one name would move together.
    drawn = (drawn * np.uint64(0x9E3779B1) ^ (drawn >> np.uint64(15))) & np.uint64(0xFFFFFFFF)
    places = ((drawn >> np.uint64(1)) % np.uint64(_DIM)).astype(np.int64)
    signs = np.where(drawn & np.uint64(1), 1.0, -1.0)
    # What meets in a column is summed before it is scaled, and columns are added in order: sums of floats depend on it.
    touched, entry = np.unique(np.arange(len(raw))[:, None] * _DIM + places, return_inverse=True)
    values = np.bincount(entry.ravel(), weights=signs.ravel()).astype(np.float32) / np.float32(math.sqrt(_SIGNS))
    group = np.repeat(np.arange(len(groups)), [len(names) for names in groups])
    sums = np.zeros((len(groups), _DIM), dtype=np.float32)
    np.add.at(sums, (group[touched // _DIM], touched % _DIM), values)
    return sums


@lru_cache(maxsize=1024)
def _starts(length: int) -> tuple[int, ...]:
    """What crc32 started with 1, 2, ... ``_SIGNS`` differs by from crc32 started with 0, for any ``length`` bytes: it
    is linear, so one pass over a name gives all its hashes."""
    zeros = bytes(length)
    return tuple(crc32(zeros, number + 1) ^ crc32(zeros) for number in range(_SIGNS))


class SentenceEncoder:
    """A sentence-transformers model, on the CPU, in batches of 32 (extra ``embed``).

    Args:
        model: Name on the Hub or path of a folder that ``SentenceTransformer`` opens.
        revision: Commit of the model on the Hub; part of the name, since other weights give other vectors.
    """

    def __init__(self, model: str, revision: str | None = None) -> None:
        try:
            from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]
        except ImportError as error:
            raise InputError(
                "the encoder 'sentence-transformers' needs the package of that name", mend="install the extra embed"
            ) from error
        try:
            self._model = SentenceTransformer(model, revision=revision, device="cpu")
        except (OSError, ValueError) as error:
            first = (str(error).splitlines() or [""])[0]
            raise InputError(f"the encoder model {model!r} can't be opened: {first}") from error
        self._model.eval()
        # A folder's name stands for it: paths of a machine are written nowhere.
        short = model.rstrip("/").rsplit("/", 1)[-1] if "/" in model and model.startswith((".", "/", "~")) else model
        self.name = f"sentence-transformers:{short}" + (f"@{revision}" if revision else "")
        self.dim = int(self._model.encode(["dimension"], show_progress_bar=False).shape[1])

    def fit(self, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
        """A model learns nothing of a corpus; the texts are not read."""
        return {"sizes": np.array([self.dim], dtype=np.int64)}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if int(arrays["sizes"][0]) != self.dim:
            raise ValueError(f"these arrays are not of {self.name}: {int(arrays['sizes'][0])} numbers, not {self.dim}")

    def encode(self, texts: Sequence[str]) -> Floats:
        """See :class:`Encoder`."""
        found = self._model.encode(
            list(texts), batch_size=_BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(found, dtype=np.float32).reshape(len(texts), self.dim)


@versioned(2)
def hashed_encoder() -> HashedEncoder:
    """The default encoder."""
    return HashedEncoder()


@versioned(2)
def sentence_encoder(*, model: str, revision: str | None = None) -> SentenceEncoder:
    """A sentence-transformers model. Raises InputError when the extra or the model is missing."""
    return SentenceEncoder(model, revision)
