"""An edition of a dataset that may be published: text without a stated licence stands in it as references."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from synth.dataset.configs import CONFIGS, Config
from synth.dataset.files import REPORT_FILE
from synth.dataset.key_hashes import carry
from synth.dataset.layout import write_dataset
from synth.dataset.reader import Dataset, load
from synth.dataset.references import escaped, filled, reference, references_in, whole
from synth.errors import DatasetError, InputError
from synth.identity import canonical_json
from synth.schemas.arrow import arrow_schema, parquet_json_columns
from synth.schemas.editions import RedactionReport
from synth.schemas.reports import BuildReport
from synth.schemas.row import Row
from synth.store import check_destination, staged

__all__ = ["LEAST", "Passages", "TextChange", "changed", "redact", "unlicensed"]


TextChange: TypeAlias = Callable[[Any, str], Any]
"""Gets a text, or an object within a row, and the name of its field; gives what is to stand there. An object comes
after what it holds."""

_NAMES = (
    "id",
    "name",
    "names",
    "title",
    "heading",
    "aliases",
    "target",
    "path",
    "url",
    "fragment",
    "provenance",
    "call",
)
"""Fields of ids, of names and of where things are: they tie rows together, and are not passages."""
_IDS = ("gold_entities", "gold_documents", "subject", "object", "true_object", "stated_object")


def changed(batch: pa.RecordBatch, row_type: type[Row], change: TextChange) -> pa.RecordBatch:
    """``batch`` with ``change`` of every text; JSON columns are opened, and closed in their canonical form."""
    json_paths = frozenset(parquet_json_columns(row_type))
    schema = arrow_schema(row_type)
    columns = []
    for field, array in zip(schema, batch.columns, strict=True):
        if not _kept(field.name) and _has_text(field.type):
            values = [_value(value, field.name, field.name, json_paths, change) for value in array.to_pylist()]
            array = pa.array(values, field.type)
        columns.append(array)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _value(value: Any, path: str, name: str, json_paths: frozenset[str], change: TextChange) -> Any:
    if isinstance(value, str):
        return canonical_json(_plain(json.loads(value), name, change)) if path in json_paths else change(value, name)
    if isinstance(value, list):
        return [_value(item, path, name, json_paths, change) for item in value]
    if isinstance(value, Mapping):
        held = {
            key: inner if _kept(key) else _value(inner, f"{path}.{key}", key, json_paths, change)
            for key, inner in value.items()
        }
        return change(held, name)
    return value


def _plain(value: Any, name: str, change: TextChange) -> Any:
    """The same within JSON, where a name of a field is the writer's own: only ids are left as they are."""
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, list):
        return [_plain(item, name, change) for item in value]
    if isinstance(value, dict):
        return change({key: inner if _is_id(key) else _plain(inner, key, change) for key, inner in value.items()}, name)
    return value


def _kept(name: str) -> bool:
    return name in _NAMES or name in _IDS or _is_id(name)


def _is_id(name: str) -> bool:
    return name in ("id", "call") or name.endswith(("_id", "_ids"))


def _has_text(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _has_text(kind.value_type)
    if pa.types.is_struct(kind):
        return any(_has_text(field.type) for field in kind)
    return bool(pa.types.is_string(kind))


LEAST = 40
"""Code points from which a common run counts as a passage: names, titles and single facts are shorter."""
_WINDOW = 16
_STRIDE = LEAST - _WINDOW + 1
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that no power of it is 0 modulo 2^64."""
_KEPT_TEXTS = 4_000
"""Texts whose form is remembered: pages and prompts stand in many rows."""


class Passages:
    """The documents' texts, hashed. Memory: their text, and sixteen bytes for every 25 code points.

    Windows of the documents are hashed at every 25th place, those of a text at every place: a common run of 40 holds a
    window of 16 that was hashed on both sides (sampled fingerprints, as in Schleimer et al., "Winnowing", SIGMOD 2003,
    with the samples on one side alone). What hashes alike is compared, so a chance hash finds nothing.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._ids = sorted(texts)
        self._texts = [texts[name] for name in self._ids]
        hashes, owners, places = [], [], []
        for number, text in enumerate(self._texts):
            found = _windows(text)[::_STRIDE]
            hashes.append(found)
            owners.append(np.full(len(found), number, np.int32))
            places.append(np.arange(len(found), dtype=np.int32) * _STRIDE)
        joined = np.concatenate([np.zeros(0, np.uint64), *hashes])
        order = np.argsort(joined, kind="stable")
        self._hashes = joined[order]
        self._owners = np.concatenate([np.zeros(0, np.int32), *owners])[order]
        self._places = np.concatenate([np.zeros(0, np.int32), *places])[order]
        self.redacted = lru_cache(_KEPT_TEXTS)(self._redacted)

    def _redacted(self, text: str) -> str:
        """``text`` with a reference in place of every passage: what is left shares no run of ``LEAST`` code points
        with a document. The same text has the same form, wherever it stands."""
        if len(text) < LEAST:
            return escaped(text)
        made: list[str] = []
        at = 0
        for start, end, owner, place in self._matches(text):
            first = max(start, at)
            if first >= end:
                continue
            made += [escaped(text[at:first])]
            made += [reference(self._ids[owner], place + first - start, place + end - start)]
            at = end
        return "".join([*made, escaped(text[at:])])

    def _matches(self, text: str) -> list[tuple[int, int, int, int]]:
        """(start, end, document, place there), by start; every window that was hashed on both sides lies in one."""
        found: list[tuple[int, int, int, int]] = []
        hashes = _windows(text)
        left = np.searchsorted(self._hashes, hashes, side="left")
        right = np.searchsorted(self._hashes, hashes, side="right")
        covered = 0
        for p in np.flatnonzero(right > left).tolist():
            if p + _WINDOW <= covered:
                continue
            best: tuple[int, int, int, int] | None = None
            since = max(0, min(covered, p - LEAST))  # what lies before is in a reference already
            for entry in range(int(left[p]), int(right[p])):
                owner, q = int(self._owners[entry]), int(self._places[entry])
                there = self._texts[owner]
                if not there.startswith(text[p : p + _WINDOW], q):
                    continue
                before = _common(text[since:p][::-1], there[max(0, q - p + since) : q][::-1])
                after = _common(text[p:], there[q : q + len(text) - p])
                if before + after >= LEAST and (best is None or (p + after, before) > (best[1], p - best[0])):
                    best = (p - before, p + after, owner, q - before)
            if best is not None:
                found.append(best)
                covered = best[1]
        return sorted(found)


def _common(first: str, second: str) -> int:
    """Length of the longest common beginning."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while high - low > 1:  # first[:low] is common, first[:high] is not
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _windows(text: str) -> Any:
    """Hash of every window: (len(text) - 15,) uint64, empty for a shorter text."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    if len(codes) < _WINDOW:
        return np.zeros(0, np.uint64)
    codes = (codes + np.uint64(1)) * _FACTOR
    codes ^= codes >> np.uint64(29)
    size = 1
    while size < _WINDOW:
        codes = codes[:-size] + codes[size:] * np.uint64(pow(int(_FACTOR), size, 1 << 64))
        size *= 2
    return codes


_ROWS = 100
"""Rows that are changed at a time."""
_EVIDENCE = {"document_id", "start", "end", "quote"}
_TURN = {"call", "finish", "token_ids", "logprobs"}
_ACTIONS = ("api_action", "code_action", "message_action")


def unlicensed(dataset: Dataset) -> dict[str, str]:
    """Id -> text of the documents without a stated licence."""
    if "documents" not in dataset.configs:
        return {}
    return {
        name: text
        for batch in dataset.batches("documents", columns=["id", "text", "licence"])
        for name, text, licence in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        if licence is None
    }


def redact(folder: str | Path, out: str | Path) -> BuildReport:
    """Write to ``out`` the dataset in ``folder`` without the text of documents that state no licence.

    In place of a text, or of a passage of it in any row (evidence, observations, thoughts, contexts), stands where it
    stood: ``⟦document#start:end⟧``. All else is as it was, so questions, answers, walks, labels and pairs can be read
    and counted; ``rehydrate`` brings the same bytes back from a copy of the documents. Two things do not come back:
    token ids and log probabilities of turns in which a model quotes such a passage, since they spell it out.

    Memory holds those documents. ``out`` must be empty or missing.

    Raises:
        InputError: there is no dataset, nothing of it has to be redacted, or it is such an edition already.
        DatasetError: a file is damaged, or two of the documents have one id.
        StoreError: ``out`` is not empty or can't be written; nothing is left there.
    """
    check_destination(out, marker=None)
    dataset = load(folder)
    if dataset.report.redacted is not None:
        raise InputError("text is redacted from it already", where=str(folder))
    texts = unlicensed(dataset)
    if not texts:
        raise InputError("every document of it states a licence, or it has none", where=str(folder))
    work = _Work(texts)
    tables = {config.name: work.batches(dataset, config) for config in CONFIGS if config.name in dataset.configs}
    characters = sum(map(len, texts.values()))
    about = RedactionReport(documents=len(texts), characters=characters, least=LEAST)
    report = dataset.report.model_copy(update={"redacted": about})
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
        if report.redacted is None:
            raise DatasetError("the report lost what was redacted")
        about = report.redacted.model_copy(
            update={
                "references": dict(sorted((+self._counts).items())),
                "rows": dict(sorted((+self._rows).items())),
                "token_ids": self._turns,
            }
        )
        return report.model_copy(update={"redacted": about})

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
            return self._passages.redacted(value)
        if value.keys() >= _EVIDENCE and value["quote"]:
            return {**value, "quote": self._quote(value)}
        if value.get("class_") in _ACTIONS or value.keys() >= _TURN:
            self._quotes |= any(references_in(text) for text in _texts(value))
        return value

    def _quote(self, evidence: Mapping[str, Any]) -> str:
        """Of a document that is redacted: its place, however short. Of another: the words, though both hold them."""
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
