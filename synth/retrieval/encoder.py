"""Encoders: texts to unit vectors. The one that needs nothing is the default; models come with the extra ``embed``.

``hashed-words-384`` sees words and their spelling, not meaning: look-alike names and shared vocabulary come out near,
paraphrases do not. Whoever wants those takes a sentence-transformers model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
        self._words: dict[str, Floats] = {}

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
        for row, text in enumerate(texts):
            counts = Counter(tokenize(text))
            if not counts:
                continue
            words = sorted(counts)
            weights = np.array(
                [(1 + math.log(counts[word])) * self._idf[_bucket(word)] for word in words], dtype=np.float32
            )
            # A sum of numpy in a fixed order: a BLAS product may differ in its last bits between machines.
            total = (weights[:, None] * np.stack([self._word(word) for word in words])).sum(axis=0)
            length = float(np.sqrt((total.astype(np.float64) ** 2).sum()))
            if length > 0:
                out[row] = total / np.float32(length)
        return out

    def _word(self, word: str) -> Floats:
        known = self._words.get(word)
        if known is None:
            marked = f"<{word}>"
            grams = [marked[i : i + n] for n in _GRAM for i in range(len(marked) - n + 1)]
            spelling = np.sum([_feature(f"c:{gram}") for gram in grams], axis=0, dtype=np.float32) if grams else 0.0
            known = _feature(f"w:{word}") + np.float32(_SPELLING / math.sqrt(max(1, len(grams)))) * spelling
            if len(self._words) >= _REMEMBERED:
                self._words.clear()
            self._words[word] = known
        return known


def _bucket(word: str) -> int:
    return crc32(f"df:{word}".encode()) % _BUCKETS


def _feature(name: str) -> Floats:
    """The column of a feature: ``_SIGNS`` places with +1 or -1, scaled to length 1 (about: places may meet)."""
    vector = np.zeros(_DIM, dtype=np.float32)
    raw = name.encode()
    for number in range(_SIGNS):
        drawn = crc32(raw, number + 1)
        # crc32 is linear: without a multiplication, draws of one name would move together.
        drawn = (drawn * 0x9E3779B1 ^ (drawn >> 15)) & 0xFFFFFFFF
        vector[(drawn >> 1) % _DIM] += 1.0 if drawn & 1 else -1.0
    return vector / np.float32(math.sqrt(_SIGNS))


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


@versioned(1)
def hashed_encoder() -> HashedEncoder:
    """The default encoder."""
    return HashedEncoder()


@versioned(1)
def sentence_encoder(*, model: str, revision: str | None = None) -> SentenceEncoder:
    """A sentence-transformers model. Raises InputError when the extra or the model is missing."""
    return SentenceEncoder(model, revision)
