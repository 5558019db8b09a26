"""Tasks that overlap with a benchmark: by words in a row, and by vectors."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from synth.errors import InputError
from synth.filtering.decontamination.config import Part, Rules
from synth.filtering.decontamination.overlap import Overlaps
from synth.filtering.decontamination.words import words_of
from synth.identity import versioned
from synth.inputs import parse_json, read_input
from synth.retrieval.encoder import Encoder, hashed_encoder, sentence_encoder
from synth.retrieval.vectors import ExactIndex
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task

__all__ = [
    "BenchmarkFilter",
    "Benchmarks",
    "Item",
    "file_digest",
    "given_benchmarks",
    "parts_of",
    "read_benchmark",
    "read_items",
]

_QUESTIONS = ("question", "query", "problem", "prompt", "instruction", "instructions", "input", "goal", "task", "text")
_ANSWERS = ("answer", "answers", "final answer", "gold", "gold answer", "target", "solution", "response", "output")
_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet", ".txt")
_DECIMALS = 4


class Item(NamedTuple):
    """One row of a benchmark."""

    file: str
    row: int
    """Counted from 1; a header and blank lines are not counted."""
    texts: tuple[str, ...]
    """What is compared with. The first one is the question, where the row has a field of such a name."""


class Benchmarks:
    """A filter (see :mod:`synth.filtering.decontamination`): which tasks overlap with ``items``."""

    def __init__(self, items: Sequence[Item], rules: Rules) -> None:
        """
        Raises:
            InputError: the encoder's package or model is missing.
        """
        self._rules = rules
        self._owners = [item for item in items for _ in item.texts]
        texts = (words_of(text, mask_numbers=rules.mask_numbers) for item in items for text in item.texts)
        self._overlaps = Overlaps(texts, ngram=rules.ngram, shortest=rules.shortest)
        self._asked = [item for item in items if item.texts]
        self._encoder: Encoder | None = None
        if rules.similarity is not None and self._asked:
            asked = [item.texts[0] for item in self._asked]
            self._encoder = _encoder(rules)
            self._encoder.load(self._encoder.fit(asked))
            self._index = ExactIndex(self._encoder.encode(asked))

    def look(self, tasks: Sequence[Task]) -> list[tuple[Reason, str] | None]:
        """Of each task: None, or that it is contaminated, with the place of the match in the benchmark."""
        details = [self.shared(parts_of(task, self._rules.parts)) or self.like(task.question) for task in tasks]
        return [None if detail is None else (Reason.CONTAMINATED, detail) for detail in details]

    def overlap(self, text: str) -> tuple[Item, int] | None:
        """Row of the benchmark that ``text`` shares words with, and how many in a row."""
        found = self._overlaps.find(words_of(text, mask_numbers=self._rules.mask_numbers))
        return None if found is None else (self._owners[found.text], found.stop - found.start)

    def shared(self, parts: Iterable[tuple[Part, str]]) -> str | None:
        """One line on the first of the named texts that shares words in a row; None where none does."""
        for part, text in parts:
            found = self.overlap(text)
            if found is not None:
                item, count = found
                return f"{part}: {count} words in a row stand in row {item.row} of {item.file}"
        return None

    def like(self, question: str) -> str | None:
        """One line on the benchmark's question whose vector is too much like that of ``question``."""
        found = self.alike(question)
        if found is None:
            return None
        item, score = found
        return f"question: its vector is {score:.2f} like row {item.row} of {item.file}"

    def run(self, question: str, answer: str | None) -> str | None:
        """One line on a run whose question or answer overlaps; of one of ours :meth:`look` knows more."""
        parts: list[tuple[Part, str]] = [("question", question), ("answer", answer or "")]
        return self.shared(part for part in parts if part[0] in self._rules.parts) or self.like(question)

    def alike(self, text: str) -> tuple[Item, float] | None:
        """Row of the benchmark whose question is most like ``text``, and the cosine, where it is at least
        ``similarity``; None, too, where vectors are not compared."""
        least = self._rules.similarity
        if self._encoder is None or least is None:
            return None
        # One by one, as a batch of another shape may differ in the last bits; scores come rounded to four decimals.
        (near,) = self._index.search(self._encoder.encode([text]), 1)
        if not near or near[0].score < round(least, _DECIMALS):
            return None
        return self._asked[near[0].document], near[0].score


def given_benchmarks(
    files: Sequence[Path | str], rules: Rules | None = None
) -> tuple[Benchmarks | None, dict[str, str]]:
    """What compares with ``files``, and their names with their sha256; None where no file is given.

    Raises:
        InputError: a file can't be read, is of no known form, or holds nothing to compare with; two have one name.
    """
    used = rules or Rules()
    items: list[Item] = []
    known: dict[str, str] = {}
    for path in map(Path, files):
        content, rows = read_benchmark(path.name, str(path), used)
        if path.name in known:
            raise InputError(f"two benchmarks are called {path.name}", where=str(path), mend="rename one")
        known[path.name] = hashlib.sha256(content).hexdigest()
        items += rows
    return (Benchmarks(items, used) if items else None), known


def parts_of(task: Task, parts: Sequence[Part]) -> Iterator[tuple[Part, str]]:
    """Name and text of what is compared."""
    if "question" in parts:
        yield "question", task.question
    if "answer" in parts:
        yield "answer", task.answer
        yield from (("answer", part.answer) for part in task.answer_parts)
    if "evidence" in parts:
        yield from (("evidence", hop.evidence.quote) for hop in task.walk.hops)


def _encoder(rules: Rules) -> Encoder:
    if rules.model is not None:
        return sentence_encoder(model=rules.model, revision=rules.revision)
    if rules.encoder != "hashed":
        raise InputError(
            f"there is no encoder {rules.encoder!r}",
            where="decontaminate.encoder",
            mend="choose hashed or sentence-transformers",
        )
    return hashed_encoder()


@versioned(6)
class BenchmarkFilter(Benchmarks):
    """The same, from files: what the engine makes."""

    name: ClassVar[str] = "benchmark_screen"

    def __init__(self, *, files: Mapping[str, str], sha256: Mapping[str, str], **rules: Any) -> None:
        """
        Args:
            files: Name -> path.
            sha256: Name -> what the file was when the build began.
            rules: Those of :class:`synth.filtering.decontamination.config.Rules`.

        Raises:
            InputError: a file can't be read, is of no known form, holds nothing to compare with, or was changed.
        """
        read = Rules.model_validate(rules)
        items: list[Item] = []
        for name, path in files.items():
            content = _content(path)
            if hashlib.sha256(content).hexdigest() != sha256[name]:
                raise InputError("the benchmark was changed while the build went on", where=path, mend="build again")
            items += read_items(content, name, path, read)
        super().__init__(items, read)


def file_digest(path: str, rules: Rules) -> str:
    """sha256 of a benchmark's file, once it is clear that it can be used.

    Raises:
        InputError: it can't be read, is of no known form, or holds nothing to compare with.
    """
    content, _ = read_benchmark(PurePath(path).name, path, rules)
    return hashlib.sha256(content).hexdigest()


def read_benchmark(name: str, path: str, rules: Rules) -> tuple[bytes, list[Item]]:
    """Content and rows of the file at ``path``; rows are called by ``name``.

    Raises:
        InputError: it can't be read, is of no known form, or holds nothing to compare with.
    """
    content = _content(path)
    return content, read_items(content, name, path, rules)


def read_items(content: bytes, name: str, path: str, rules: Rules) -> list[Item]:
    """The rows of a benchmark.

    Args:
        content: Of the file.
        name: What the rows are called by.
        path: Its name decides how it is read; named in errors.

    Raises:
        InputError: it is of no known form, or no text in it is long enough to be found.
    """
    items = []
    for number, row in enumerate(_rows(content, path), 1):
        texts = tuple(_texts(row, rules.fields))
        items.append(Item(name, number, texts))
    if not any(len(words_of(text)) >= rules.shortest for item in items for text in item.texts):
        fields = f"in {', '.join(rules.fields)} " if rules.fields else ""
        raise InputError(
            f"no text {fields}has {rules.shortest} words or more: nothing would be found",
            where=path,
            mend="look at decontaminate.fields and decontaminate.shortest",
        )
    return items


def _content(path: str) -> bytes:
    return read_input(path, mend=f"give a file that ends in one of {', '.join(_SUFFIXES)}")


def _rows(content: bytes, path: str) -> Iterator[Any]:
    suffix = PurePath(path).suffix.lower()
    if suffix == ".parquet":
        try:
            yield from pq.read_table(io.BytesIO(content)).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"is not a Parquet file ({str(error).splitlines()[0]})", where=path) from None
        return
    if suffix not in _SUFFIXES:
        raise InputError(
            f"a benchmark with the ending {suffix!r} can't be read",
            where=path,
            mend=f"give one of {', '.join(_SUFFIXES)}",
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", where=path, mend="convert it to UTF-8") from None
    if suffix == ".txt":
        yield from (line for line in text.splitlines() if line.strip())
    elif suffix == ".csv":
        try:
            yield from csv.DictReader(io.StringIO(text, newline=""), strict=True)
        except csv.Error as error:
            raise InputError(f"is not CSV ({error})", where=path) from None
    elif suffix == ".json":
        whole = _json(text, path)
        yield from whole if isinstance(whole, list) else [whole]
    else:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _json(line, f"{path}:{number}")


def _json(text: str, where: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise InputError(f"is no JSON ({error})", where=where) from None


def _texts(row: Any, fields: Sequence[str]) -> Iterator[str]:
    """What is compared with: a question first."""
    if not isinstance(row, Mapping):
        yield from _strings(row)
        return
    if fields:
        for name in fields:
            yield from _strings(row.get(name))
        return
    named = {str(name).casefold().replace("_", " ").strip(): value for name, value in row.items()}
    usual = [name for name in (*_QUESTIONS, *_ANSWERS) if named.get(name)]
    for value in [named[name] for name in usual] if usual else list(row.values()):
        yield from _strings(value)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for inner in value:
            yield from _strings(inner)
