"""Recall of retrievers on paraphrased questions: ``python tests/benchmarks/bench_retrieval.py [--model M]``.

48 short pages, each with a question that avoids its words (``tests/retrieval/paraphrased.tsv``). Without
a model, ``dense`` compares by the embedded encoder, which sees words and spelling. ``--policy`` also asks an agent, who
searches for the question as it stands, opens the first result and answers with the first clause of that page.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared_builds import LEAN
from stand_ins.model_server import ModelServer

import synth
from synth.environments.observed import observe
from synth.environments.shown import Page
from synth.mocks.model.conversation import read_conversation
from synth.mocks.model.replies import Call, Reply
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


def first_clause(text: str) -> str:
    return re.split(r"[,.;]", text, maxsplit=1)[0]


class _Reader:
    """Searches for the question, opens the first result, answers with its first clause."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        asked = read_conversation(request)
        if not asked.history:
            return Reply(calls=(Call.of("search", query=asked.prompt.question),))
        shown = observe(asked.history[-1].results[-1].content)
        if isinstance(shown, Page):
            return Reply(content=first_clause(shown.text))
        return Reply(calls=(Call.of("open", document=shown.results[0].document),))


def success(retriever: str, model: str | None, folder: Path) -> tuple[int, int]:
    """Runs of the policy that are right, of all."""
    pages = [{"id": f"p{row}", "title": title, "text": text} for row, (title, text, _) in enumerate(rows())]
    asked = [
        {"question": question, "answer": first_clause(text), "documents": [f"p{row}"]}
        for row, (_, text, question) in enumerate(rows())
    ]
    for name, lines in (("pages", pages), ("asked", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with ModelServer({"reader": _Reader()}) as server:
        role = {"backend": "openai", "model": "reader", "endpoints": [server.url]}
        vectors = None if model is None or retriever == "bm25" else {"encoder": "sentence-transformers", "model": model}
        found = {"environment.retriever": retriever, "environment.vectors": vectors}
        settings = {**LEAN, "roles": {"policy": role}, "dedup": None, **found}
        given = {"source": folder / "pages.jsonl", "tasks_file": folder / "asked.jsonl", "store": folder / "store"}
        built = synth.build("docs-search", out=folder / retriever, settings=settings, **given)
    runs = [row.success for row in synth.load(built.path).rows("trajectories")]
    return sum(map(bool, runs)), len(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="name or folder of a sentence-transformers model")
    parser.add_argument("--policy", action="store_true", help="also ask an agent that opens the first result")
    options = parser.parse_args()
    model = options.model
    encoder: Encoder = sentence_encoder(model=model) if model else hashed_encoder()
    print(f"{encoder.name}, {len(rows())} questions")
    made = retrievers(encoder)
    base = recall(made["bm25"], 10)
    for name, retriever in made.items():
        first, ten = recall(retriever, 1), recall(retriever, 10)
        print(f"{name}: recall@1 {first:.3f}, recall@10 {ten:.3f} = {ten / base:.2f} of BM25")
    with TemporaryDirectory() as folder:
        for name in made if options.policy else ():
            right, runs = success(name, model, Path(folder))
            print(f"{name}: the policy solves {right} of {runs}")


if __name__ == "__main__":
    main()
