"""Recall of retrievers on paraphrased questions: ``python tests/benchmarks/bench_retrieval.py [--model M]``.

48 short pages, each with a question that avoids its words (``tests/retrieval/paraphrased.tsv``). Without
a model, ``dense`` compares by the embedded encoder, which sees words and spelling.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path

from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.encoder import Encoder, hashed_encoder, sentence_encoder
from synth.retrieval.passages import PassageIndex
from synth.retrieval.retrievers import DenseRetriever, HybridRetriever, Retriever
from synth.testing.corpus import small_documents

SET = Path(__file__).parents[1] / "retrieval" / "paraphrased.tsv"


def rows() -> list[list[str]]:
    """(title, text, question) of each page."""
    return list(csv.reader(SET.read_text("utf-8").splitlines(), delimiter="\t"))


def retrievers(encoder: Encoder) -> Mapping[str, Retriever]:
    """The three ways to find the pages; further pages of another kind stand behind them."""
    pages = [(title, text) for title, text, _ in rows()] + [(page.title, page.text) for page in small_documents()]
    words = Bm25Index(Bm25Index.build((title, text, ()) for title, text in pages))
    passages = PassageIndex(PassageIndex.build(lambda: pages, encoder), encoder)
    return {"bm25": words, "dense": DenseRetriever(passages, words), "hybrid": HybridRetriever(passages, words)}


def recall(retriever: Retriever, k: int) -> float:
    """Share of the questions whose page is among the ``k`` best."""
    questions = [question for _, _, question in rows()]
    found = [row in {hit.document for hit in retriever.search(text, k)} for row, text in enumerate(questions)]
    return sum(found) / len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="name or folder of a sentence-transformers model")
    model = parser.parse_args().model
    encoder: Encoder = sentence_encoder(model=model) if model else hashed_encoder()
    print(f"{encoder.name}, {len(rows())} questions")
    made = retrievers(encoder)
    base = recall(made["bm25"], 10)
    for name, retriever in made.items():
        first, ten = recall(retriever, 1), recall(retriever, 10)
        print(f"{name}: recall@1 {first:.3f}, recall@10 {ten:.3f} = {ten / base:.2f} of BM25")


if __name__ == "__main__":
    main()
