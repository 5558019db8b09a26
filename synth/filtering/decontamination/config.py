"""Keys of recipes that say what a task must not hold."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from synth.schemas.described import Described

__all__ = ["Decontaminate", "Part", "Rules"]

Part = Literal["question", "answer", "evidence"]
"""``answer``: with its parts, where it is a list. ``evidence``: the quotes that the walk rests on."""


class Rules(Described):
    """When a text overlaps with a benchmark."""

    fields: tuple[str, ...] = ()
    """Fields of a benchmark's rows that are compared with (all text in them, nested too); empty = those of the usual
    names for a question and an answer (question, query, problem, prompt, instruction, answer, ...) that a row has, and
    all its text where it has none. Context passages of a benchmark count only when they are named."""
    parts: tuple[Part, ...] = Field(default=("question", "answer", "evidence"), min_length=1)
    """Parts of our tasks that are compared."""
    ngram: int = Field(default=13, ge=4, le=100)
    """Words in a row that both must share (13: GPT-3, arXiv 2005.14165). Case, punctuation, accents and forms of
    Unicode make no difference."""
    shortest: int = Field(default=8, ge=4, le=100)
    """Texts of fewer than ``ngram`` words overlap when the shorter of both stands wholly in the other; it has so many
    words at least. Shorter ones, single names above all, are never taken for an overlap."""
    mask_numbers: bool = True
    """Numbers, in digits and in English words, count as equal: a question whose numbers were changed is found."""
    similarity: float | None = Field(default=None, gt=0, le=1)
    """Cosine from which a question is too much like a benchmark's; empty = vectors are not compared. 0.9 is strict for
    ``hashed``, which finds words in another order; ``sentence-transformers`` finds paraphrases."""
    encoder: str = "hashed"
    """Encodes questions for ``similarity``: ``hashed`` sees words and spelling and needs nothing,
    ``sentence-transformers`` is any such model (extra ``embed``)."""
    model: str | None = None
    """Of ``sentence-transformers``: the model's name on the Hub, or its folder."""
    revision: str | None = None
    """Of ``sentence-transformers``: commit of the model on the Hub."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.shortest > self.ngram:
            raise ValueError(f"decontaminate.shortest: {self.shortest}, more than ngram ({self.ngram})")
        if (self.encoder == "sentence-transformers") != (self.model is not None):
            raise ValueError(
                "decontaminate.model names the model of the encoder sentence-transformers, and only of that"
            )
        return self


class Decontaminate(Rules):
    """Benchmarks that no task may overlap with. Who is to be measured by them must not have been trained on them.

    Give the files that you measure with; nothing is fetched. Datasets on the Hub: `gaia-benchmark/GAIA` and `cais/hle`
    (both after their conditions were accepted), `google/frames-benchmark`, `hotpotqa/hotpot_qa`,
    `mandarjoshi/trivia_qa`, `akariasai/PopQA`, `google-research-datasets/natural_questions`, `callanwu/WebWalkerQA`,
    `Tevatron/browsecomp-plus`, `PALIN2018/BrowseComp-ZH`; MuSiQue, 2WikiMultihopQA, SimpleQA and Bamboogle by their
    authors. BrowseComp (openai/simple-evals), BrowseComp-Plus and BrowseComp-ZH come encrypted and must be decrypted
    first: no overlap is found with what nobody can read. tau2-bench, AppWorld and WebArena keep their tasks
    as JSON in their repositories. A rejected row names file and row and quotes neither.
    """

    benchmarks: tuple[str, ...] = Field(min_length=1)
    """Files: JSON Lines, JSON (a list), CSV with a header, Parquet, or plain text with one item per line."""
