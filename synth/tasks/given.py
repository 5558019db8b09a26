"""The user's own questions and answers over their own corpus (``--tasks-file``).

JSON Lines (objects) or CSV (a header row), told apart by the file's name (``.csv``, ``.tsv``; all else is JSON Lines).
Fields of a question:

    question   required
    answer     required; a number or a string. Or ``answers``: a list, whose first is the answer and whose rest are
               aliases of it
    aliases    optional: other ways to write the answer: a list; in CSV parted by ``|``
    documents  optional: ids of the documents that hold the evidence: a list; in CSV parted by ``|``. Without it, the
               whole corpus is searched
    id         optional (or ``task_id``): what the file calls the question

Evidence is the sentence that names the answer (or an alias), as whole words; among several, the one that shares the
most words with the question, in the order of the documents. A question without evidence is rejected
(``no_evidence``): its answer could not be checked against the corpus.

Some answers stand in many sentences that have nothing to do with the question. Yes, no, true and false are never
evidence; a number of one or two digits is, in a sentence with at least half of the question's words (and two). Without
such a sentence the question becomes a task whose walk is empty and whose ``details`` say ``"evidence": "none"``.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from synth.errors import InputError
from synth.identity import digest
from synth.inputs import parse_json
from synth.schemas.details import details_with
from synth.schemas.documents import Evidence, ValueKind
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Hop, Node, QuestionId, UserQuestion, Walk
from synth.schemas.trajectories import RECORDED
from synth.tasks.docs.corpus import Documents
from synth.tasks.draft import Draft, draft_of
from synth.text.sentences import spans
from synth.text.words import content_words

__all__ = [
    "COLUMNS",
    "Given",
    "GivenQuestion",
    "GivenTasks",
    "answer_kind_of",
    "bare_task",
    "read_given",
    "unread_columns",
]

STAGE = "given_tasks"
COLUMNS = ("question", "answer", "answers", "aliases", "documents", "id", "task_id")
_DATE = re.compile(r"\d{4}-\d\d-\d\d$")
_YEAR = re.compile(r"[12]\d{3}$")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*$")
_TRUTH = re.compile(r"(?:yes|no|true|false)[.!]?$", re.IGNORECASE)
_SMALL_NUMBER = re.compile(r"-?\d{1,2}$")
_PARAGRAPH = re.compile(r"[^\n]+")


@dataclass(frozen=True)
class GivenQuestion:
    """A line of the file that is a question."""

    line: int
    """From 1; in CSV, the line on which the row ends."""
    question: str
    answer: str
    aliases: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    id: str | None = None
    """What the file calls it, where it does (``id``, ``task_id``)."""


@dataclass(frozen=True)
class Given:
    """A question with its evidence, before its provenance: :func:`synth.tasks.draft.finish` makes the row."""

    draft: Draft
    checks: tuple[CheckResult, ...]


def read_given(data: bytes, name: str) -> list[GivenQuestion | Rejection]:
    """One item per non-blank line (CSV: per row), in order: the question, or why it is none.

    Args:
        data: the file's content, UTF-8 (with or without byte order mark).
        name: the file's name, for its format and for messages.

    Raises:
        InputError: not UTF-8, no line at all, or a CSV without the columns ``question`` and ``answer``.
    """
    found = [row if isinstance(row, Rejection) else _question(*row) for row in _rows(data, name)]
    if not found:
        raise InputError(
            "there is no question in the file", where=name, mend="one JSON object per line, or a CSV with a header"
        )
    return found


def unread_columns(data: bytes, name: str) -> dict[str, int]:
    """Columns (keys) of such a file that nothing reads, the most frequent first -> rows that have them.

    Raises:
        InputError: as :func:`read_given`.
    """
    given = (row[1] for row in _rows(data, name) if not isinstance(row, Rejection))
    return dict(Counter(str(key) for row in given for key in row if key not in COLUMNS).most_common())


def _rows(data: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]] | Rejection]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", where=name, mend="save the file as UTF-8") from error
    suffix = PurePath(name).suffix.lower()
    return _csv(text, name, "\t" if suffix == ".tsv" else ",") if suffix in (".csv", ".tsv") else _json_lines(text)


def _json_lines(text: str) -> Iterator[tuple[int, Mapping[str, Any]] | Rejection]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except ValueError as error:
            yield _bad(number, Reason.MALFORMED, f"no JSON: {error}", line)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            yield _bad(number, Reason.MALFORMED, f"a JSON {type(row).__name__}, not an object", line)


def _csv(text: str, name: str, delimiter: str) -> Iterator[tuple[int, Mapping[str, Any]] | Rejection]:
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [column.strip().lower() for column in reader.fieldnames or ()]
    except csv.Error as error:
        raise InputError(f"the header row can't be read: {error}", where=name) from error
    missing = [column for column in ("question", "answer") if column not in header]
    if missing:
        raise InputError(
            f"no column {missing[0]!r}", where=name, mend="the first row names the columns: question,answer"
        )
    reader.fieldnames = header
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield _bad(reader.line_num, Reason.MALFORMED, f"no CSV: {error}", "")
            continue
        if None in row:
            yield _bad(reader.line_num, Reason.MALFORMED, "more fields than the header has", str(row.get("question")))
            continue
        listed = {column: _parted(row.get(column)) for column in ("aliases", "documents")}
        yield reader.line_num, {**row, **{column: listed[column] for column in listed if column in header}}


def _parted(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split("|") if part.strip()]


def _question(line: int, row: Mapping[str, Any]) -> GivenQuestion | Rejection:
    values: dict[str, str] = {}
    several = row.get("answers")
    if row.get("answer") is None and isinstance(several, list) and several:
        more = (*several[1:], *(row.get("aliases") or ()))
        row = {**row, "answer": several[0], "aliases": [str(one) for one in more]}
    for field in ("question", "answer"):
        value = row.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            what = "is missing" if value is None else "is empty" if value == "" else f"is a {type(value).__name__}"
            return _bad(line, Reason.MALFORMED, f"{field} {what}", str(row.get("question") or ""))
        values[field] = " ".join(value.split())
    lists: dict[str, tuple[str, ...]] = {}
    for field in ("aliases", "documents"):
        value = row.get(field) or ()
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, Sequence) or not all(isinstance(item, str) and item.strip() for item in value):
            return _bad(line, Reason.MALFORMED, f"{field} is not a list of strings", values["question"])
        lists[field] = tuple(dict.fromkeys(value))
    name = next((str(row[key]) for key in ("id", "task_id") if isinstance(row.get(key), str | int)), None)
    return GivenQuestion(line, values["question"], values["answer"], lists["aliases"], lists["documents"], name)


class GivenTasks:
    """Tasks out of questions, over one corpus.

    Args:
        documents: the ``documents`` table.
        search: ``search(query, k)`` -> row numbers, best first: which documents to read for evidence when the question
            names none. None: all of them are read, in order.
        k: how many results of the search are read.
    """

    def __init__(
        self, documents: Documents, search: Callable[[str, int], Sequence[int]] | None = None, *, k: int = 50
    ) -> None:
        self._text = documents.arrow["text"]
        self._ids: list[str] = documents.arrow["id"].to_pylist()
        self._partitions: list[Split] = documents.arrow["partition"].to_pylist()
        self._licences: list[str | None] = documents.arrow["licence"].to_pylist()
        self._rows = {name: row for row, name in enumerate(self._ids)}
        self._search = search
        self._k = k

    def task(self, item: GivenQuestion) -> Given | Rejection:
        """The task, of the split that owns the page with the evidence; or why there is none."""
        unknown = [name for name in item.documents if name not in self._rows]
        if unknown:
            return _bad(item.line, Reason.NO_EVIDENCE, f"there is no document {unknown[0]!r}", item.question)
        if not _TRUTH.match(item.answer) and not _hidden(item):
            return _bad(item.line, Reason.ANSWER_IN_QUESTION, f"the question holds {item.answer!r}", item.question)
        names = [name for name in (item.answer, *item.aliases) if not _TRUTH.match(name)]
        patterns = [_whole(name) for name in names if not _SMALL_NUMBER.match(name)]
        numbers = [_whole(name) for name in names if _SMALL_NUMBER.match(name)]
        rows = [self._rows[name] for name in item.documents] or self._candidates(item)
        asked = set(content_words(item.question))
        best: tuple[int, int, int, int] | None = None
        for row in rows:
            text = str(self._text[row].as_py())
            for start, end in _stating(text, [*patterns, *numbers]):
                score = len(asked & set(content_words(text[start:end])))
                told = score >= max(2, len(asked) / 2) or any(found.search(text, start, end) for found in patterns)
                if told and (best is None or score > best[0]):
                    best = (score, row, start, end)
        if best is None and (_TRUTH.match(item.answer) or _SMALL_NUMBER.match(item.answer)):
            return self._without(item, rows)
        if best is None:
            where = f"in {', '.join(item.documents)}" if item.documents else "in any document"
            return _bad(item.line, Reason.NO_EVIDENCE, f"{item.answer!r} was not found {where}", item.question)
        return self._given(item, best)

    def _candidates(self, item: GivenQuestion) -> list[int]:
        if self._search is None:
            return list(range(len(self._ids)))
        return list(
            dict.fromkeys(
                [*self._search(f"{item.question} {item.answer}", self._k), *self._search(item.answer, self._k)]
            )
        )

    def _without(self, item: GivenQuestion, rows: Sequence[int]) -> Given:
        """A task that says that no sentence of the corpus is its evidence; its split is that of the likeliest page."""
        draft = _draft(
            item,
            (),
            [self._licences[row] for row in rows[:1]],
            split=self._partitions[rows[0]] if rows else "train",
            surface="given",
            details=details_with(UserQuestion(line=item.line, evidence="none")),
        )
        detail = f"no sentence of the {len(rows):,} documents that were read is evidence"
        return Given(draft, (*_hidden(item), CheckResult(check="evidence_sought", outcome="passed", detail=detail)))

    def _given(self, item: GivenQuestion, best: tuple[int, int, int, int]) -> Given:
        score, row, start, end = best
        name = self._ids[row]
        quote = str(self._text[row].as_py())[start:end]
        kind = answer_kind_of(item.answer)
        hop = Hop(
            source=Node(id=f"question:{digest(item.question)[:16]}", name=item.question, kind="description"),
            target=Node(id=item.answer, name=item.answer, aliases=item.aliases, kind=kind),
            relation="given",
            forward=True,
            evidence=Evidence(document_id=name, start=start, end=end, quote=quote),
            cue=item.question,
        )
        draft = _draft(
            item,
            (hop,),
            [self._licences[row]],
            split=self._partitions[row],
            surface="given",
            details=details_with(UserQuestion(line=item.line)),
        )
        checks = (
            *_hidden(item),
            CheckResult(
                check="evidence", outcome="passed", detail=f"{score} words of the question stand in the sentence"
            ),
        )
        return Given(draft, checks)


def bare_task(item: GivenQuestion, licence: str | None = None, environment: str = RECORDED) -> Given:
    """A task that has only question and answer: nothing was checked, and nothing says that it was."""
    details = details_with(UserQuestion(line=item.line), QuestionId(question_id=item.id))
    draft = _draft(item, (), [licence], split="train", environment=environment, details=details)
    # No sentence was looked for: the pages are those that the file names.
    about = draft.difficulty.model_copy(update={"documents": len(item.documents)})
    draft = draft.model_copy(update={"gold_documents": item.documents, "difficulty": about})
    return Given(draft, ())


def _draft(item: GivenQuestion, hops: tuple[Hop, ...], licences: Sequence[str | None], **fields: Any) -> Draft:
    return draft_of(
        Walk(shape="given", hops=hops),
        licences,
        question=item.question,
        answer=item.answer,
        answer_aliases=item.aliases,
        answer_kind=answer_kind_of(item.answer),
        **fields,
    )


def _hidden(item: GivenQuestion) -> tuple[CheckResult, ...]:
    found = _whole(item.answer).search(item.question)
    return () if found else (CheckResult(check="answer_not_in_question", outcome="passed"),)


def _stating(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    """Sentences that name the answer; the layout's code and rows of tables count as sentences of one line."""
    for paragraph in _PARAGRAPH.finditer(text):
        if any(pattern.search(paragraph.group()) for pattern in patterns):
            for start, end in spans(text, *paragraph.span()):
                if any(pattern.search(text, start, end) for pattern in patterns):
                    yield start, end


def _whole(name: str) -> re.Pattern[str]:
    """The name as whole words, whatever the white space and case; a number may have digit groups in the text."""
    if _NUMBER.match(name):
        digits = name.replace(",", "")
        whole, dot, rest = digits.partition(".")
        grouped = r",?".join(re.escape(c) for c in whole)
        return re.compile(rf"(?<![\w.,]){grouped}{re.escape(dot + rest)}(?![\w]|[.,]\d)")
    words = r"\s+".join(re.escape(word) for word in name.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def answer_kind_of(answer: str) -> ValueKind:
    if _DATE.match(answer):
        return "date"
    if _YEAR.match(answer):
        return "year"
    if _NUMBER.match(answer):
        return "number"
    return "text"


def _bad(line: int, reason: Reason, detail: str, preview: str) -> Rejection:
    return Rejection(
        stage=STAGE, row_id=f"line {line}", reason=reason, detail=f"line {line}: {detail}", preview=preview[:500]
    )
