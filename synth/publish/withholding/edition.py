"""An edition of a dataset that may be published: text for which nobody stated a licence stands in it as references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.configs import CONFIGS, Config
from synth.dataset.files import REPORT_FILE
from synth.dataset.key_hashes import carry
from synth.dataset.layout import write_dataset
from synth.dataset.reader import Dataset, load
from synth.dataset.references import escaped, filled, reference, references_in, whole
from synth.errors import DatasetError, InputError
from synth.publish.withholding.passages import LEAST, Passages
from synth.publish.withholding.tables import changed
from synth.schemas.reports import BuildReport, WithheldReport
from synth.store import check_destination, staged

__all__ = ["unlicensed", "withhold"]

_ROWS = 100
"""Rows that are changed at a time."""
_EVIDENCE = {"document_id", "start", "end", "quote"}
_TURN = {"call", "finish", "token_ids", "logprobs"}
_ACTIONS = ("api_action", "code_action", "message_action")


def unlicensed(dataset: Dataset) -> dict[str, str]:
    """Id -> text of the documents for which nobody stated a licence."""
    if "documents" not in dataset.configs:
        return {}
    return {
        name: text
        for batch in dataset.batches("documents", columns=["id", "text", "licence"])
        for name, text, licence in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        if licence is None
    }


def withhold(folder: str | Path, out: str | Path) -> BuildReport:
    """Write to ``out`` the dataset in ``folder`` without the text of documents that state no licence.

    In place of a text, or of a passage of it in any row (evidence, observations, thoughts, contexts), stands where it
    stood: ``⟦document#start:end⟧``. All else is as it was, so questions, answers, walks, labels and pairs can be read
    and counted; ``restore`` brings the same bytes back from a copy of the documents. Two things do not come back: token
    ids and log probabilities of turns in which a model quotes such a passage, since they spell it out.

    Memory holds those documents. ``out`` must be empty or missing.

    Raises:
        InputError: there is no dataset, nothing of it has to be withheld, or it is such an edition already.
        DatasetError: a file is damaged, or two of the documents have one id.
        StoreError: ``out`` is not empty or can't be written; nothing stands there then.
    """
    check_destination(out, marker=None)
    dataset = load(folder)
    if dataset.report.withheld is not None:
        raise InputError("text is withheld from it already", where=str(folder))
    texts = unlicensed(dataset)
    if not texts:
        raise InputError("every document of it states a licence, or it has none", where=str(folder))
    work = _Work(texts)
    tables = {config.name: work.batches(dataset, config) for config in CONFIGS if config.name in dataset.configs}
    characters = sum(map(len, texts.values()))
    about = WithheldReport(documents=len(texts), characters=characters, least=LEAST)
    report = dataset.report.model_copy(update={"withheld": about})
    with staged(Path(out), marker=REPORT_FILE) as staging:
        done = write_dataset(staging, tables, report, complete=work.complete)
        carry([dataset.path], staging)
    return done


class _Work:
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._passages = Passages(texts)
        self._counts: Counter[str] = Counter()
        self._rows: Counter[str] = Counter()
        self._turns = 0
        self._quotes = False
        """Whether an action of the row in hand quotes a passage."""

    def batches(self, dataset: Dataset, config: Config) -> Iterator[pa.RecordBatch]:
        for batch in dataset.batches(config.name, size=_ROWS):
            if config.name == "documents":
                yield self._documents(batch)
                continue
            for place in range(batch.num_rows):
                self._quotes = False
                row = changed(batch.slice(place, 1), config.row_type, self._change)
                if self._quotes:
                    row = changed(row, config.row_type, self._without_tokens)
                count = _references(row)
                self._counts[config.name] += count
                self._rows[config.name] += bool(count)
                yield row

    def complete(self, report: BuildReport) -> BuildReport:
        """With what was counted on the way."""
        if report.withheld is None:
            raise DatasetError("the report lost what was withheld")
        about = report.withheld.model_copy(
            update={
                "references": dict(sorted((+self._counts).items())),
                "rows": dict(sorted((+self._rows).items())),
                "token_ids": self._turns,
            }
        )
        return report.model_copy(update={"withheld": about})

    def _documents(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        place = batch.schema.get_field_index("text")
        names, texts, licences = (batch.column(name).to_pylist() for name in ("id", "text", "licence"))
        new = [
            whole(name, text) if licence is None else text
            for name, text, licence in zip(names, texts, licences, strict=True)
        ]
        self._counts["documents"] += licences.count(None)
        self._rows["documents"] += licences.count(None)
        return batch.set_column(place, batch.schema.field(place), pa.array(new, pa.string()))

    def _change(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return self._passages.withheld(value)
        if value.keys() >= _EVIDENCE and value["quote"]:
            return {**value, "quote": self._quote(value)}
        if value.get("class_") in _ACTIONS or value.keys() >= _TURN:
            self._quotes |= any(references_in(text) for text in _texts(value))
        return value

    def _quote(self, evidence: Mapping[str, Any]) -> str:
        """Of a document that is withheld: its place, however short. Of another: the words, though both hold them."""
        name, start, end = evidence["document_id"], evidence["start"], evidence["end"]
        if name in self._texts:
            return reference(name, start, end)
        words: str = evidence["quote"]
        return escaped(filled(words, lambda one: self._texts[one.document_id][one.start : one.end]))

    def _without_tokens(self, value: Any, name: str) -> Any:
        if isinstance(value, dict) and value.keys() >= _TURN and value["token_ids"] is not None:
            self._turns += 1
            return {**value, "token_ids": None, "logprobs": None}
        return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)


def _references(row: pa.RecordBatch) -> int:
    return sum(len(references_in(text)) for column in row.columns for text in _texts(column.to_pylist()))
