"""The user's own questions: read, located in the corpus, or rejected with reason and line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from synth.errors import InputError
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.tasks.draft import finish
from synth.tasks.given import Given, GivenQuestion, GivenTasks, read_given, unread_columns

TEXTS = {
    "bridge": "The bridge was opened in 1931. It spans 1,150 metres and was designed by Ann Lee.",
    "annual": "An annual report lists the bridge among others. Somebody else wrote this.",
    "tower": "Ann Lee lived near the tower. The tower has a bell. No visitor may climb it.",
    "notes": "See rule 12 of the club. The chapel of Keld has 12 windows, so yes, it is bright.",
}

PROVENANCE = Provenance(dataset="d", stage="s", stage_version=1, fingerprint="f", seed=1, source="s", source_sha256="0")


@dataclass(frozen=True)
class Table:
    arrow: pa.Table

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Any:
        return from_arrow(self.arrow.slice(number, 1), Document)[0]


@pytest.fixture(scope="module")
def tasks() -> GivenTasks:
    rows = [
        Document(
            id=name,
            title=name,
            text=text,
            kind="page",
            source="s",
            licence="MIT",
            partition="test" if name == "tower" else "train",
        )
        for name, text in TEXTS.items()
    ]
    return GivenTasks(Table(to_arrow(rows, Document)))


def test_json_lines_and_csv_say_the_same() -> None:
    row = {
        "question": "Who designed the bridge?",
        "answer": "Ann Lee",
        "aliases": ["A. Lee"],
        "documents": ["bridge", "tower"],
    }
    csv = 'question,answer,aliases,documents\n"Who designed the bridge?",Ann Lee,A. Lee,bridge|tower\n'
    found = [*read_given(json.dumps(row).encode(), "q.jsonl"), *read_given(csv.encode(), "q.csv")]
    expected = ("Who designed the bridge?", "Ann Lee", ("A. Lee",), ("bridge", "tower"))
    assert [(q.question, q.answer, q.aliases, q.documents) for q in found if isinstance(q, GivenQuestion)] == [
        expected
    ] * 2


def test_bad_lines_are_rejected_with_their_number() -> None:
    data = "\n".join(
        [
            '{"question": "Q?", "answer": "A"}',
            "",
            "{broken",
            "[1]",
            '{"question": "Q?"}',
            '{"question": " ", "answer": "A"}',
            '{"question": "Q?", "answer": true}',
            '{"question": "Q?", "answer": "A", "aliases": [1]}',
            '{"question": "Q?", "answer": 12}',
        ]
    )
    found = read_given(data.encode(), "q.jsonl")
    assert [item.row_id if isinstance(item, Rejection) else item.line for item in found] == [
        1, "line 3", "line 4", "line 5", "line 6", "line 7", "line 8", 9,
    ]  # fmt: skip
    assert all(
        item.reason == Reason.MALFORMED and item.row_id in item.detail for item in found if isinstance(item, Rejection)
    )


def test_a_csv_row_with_too_many_fields_is_rejected() -> None:
    found = read_given(b"question,answer\nQ?,A\nQ?,A,B\n", "q.csv")
    assert [isinstance(item, Rejection) for item in found] == [False, True]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'{"question": "Q?", "answer": "A", "id": 3, "doks": []}\n{"doks": 1, "note": 2}\n[]', "q.jsonl"),
        (b"Question,answer,doks,note,id\nQ?,A,,,3\n", "q.csv"),
    ],
)
def test_columns_that_nothing_reads_are_known(data: bytes, name: str) -> None:
    assert list(unread_columns(data, name)) == ["doks", "note"]
    first = read_given(data, name)[0]
    assert isinstance(first, GivenQuestion)
    assert (first.question, first.answer, first.documents, first.id) == ("Q?", "A", (), "3")


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"\xff\xfe", "q.jsonl", "not UTF-8 at byte 0"),
        (b"", "q.jsonl", "no question"),
        (b"question,reply\nQ?,A\n", "q.csv", "no column 'answer'"),
        (b"question,answer\n", "q.csv", "no question"),
    ],
)
def test_a_file_that_can_not_be_used_is_one_clear_line(data: bytes, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_given(data, name)


@pytest.mark.parametrize(
    ("question", "answer", "document", "quote"),
    [
        ("Who designed the bridge of 1931?", "Ann Lee", "bridge", "It spans 1,150 metres and was designed by Ann Lee."),
        ("Who lived near the tower?", "ann  lee", "tower", "Ann Lee lived near the tower."),
        ("How long is the bridge?", "1150", "bridge", "It spans 1,150 metres and was designed by Ann Lee."),
        ("When was it opened?", "1931", "bridge", "The bridge was opened in 1931."),
    ],
)
def test_evidence_is_the_sentence_that_fits_the_question(
    tasks: GivenTasks, question: str, answer: str, document: str, quote: str
) -> None:
    given = tasks.task(GivenQuestion(1, question, " ".join(answer.split())))
    assert isinstance(given, Given)
    evidence = given.draft.walk.hops[0].evidence
    assert (evidence.document_id, evidence.quote) == (document, quote)
    assert TEXTS[document][evidence.start : evidence.end] == quote
    assert given.draft.shape == "given"
    assert given.draft.split == ("test" if document == "tower" else "train")
    assert finish(given.draft, given.checks, PROVENANCE, 0).licence == "MIT"


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (GivenQuestion(4, "Who?", "Ann"), None),
        (GivenQuestion(4, "Who?", "Nobody"), Reason.NO_EVIDENCE),
        (GivenQuestion(4, "Which year?", "193"), Reason.NO_EVIDENCE),
        (GivenQuestion(4, "How long?", "150"), Reason.NO_EVIDENCE),
        (GivenQuestion(4, "Who designed it?", "Ann Lee", documents=("annual",)), Reason.NO_EVIDENCE),
        (GivenQuestion(4, "Who designed it?", "Ann Lee", documents=("gone",)), Reason.NO_EVIDENCE),
        (GivenQuestion(4, "Did Ann Lee do it?", "Ann Lee"), Reason.ANSWER_IN_QUESTION),
        (GivenQuestion(4, "What is the number of rule 77?", "77"), Reason.ANSWER_IN_QUESTION),
        (GivenQuestion(4, "Is it true or false that it has a bell?", "true"), None),
        (GivenQuestion(4, "Who designed it?", "Miss L.", aliases=("Ann Lee",)), None),
    ],
)
def test_what_has_no_evidence_is_rejected(tasks: GivenTasks, question: GivenQuestion, reason: Reason | None) -> None:
    found = tasks.task(question)
    assert (found.reason if isinstance(found, Rejection) else None) == reason
    if isinstance(found, Rejection):
        assert found.row_id == "line 4"


def test_search_says_which_documents_are_read() -> None:
    rows = [Document(id=n, title=n, text=t, kind="page", source="s") for n, t in TEXTS.items()]
    only_tower = GivenTasks(Table(to_arrow(rows, Document)), lambda query, k: [2])
    given = only_tower.task(GivenQuestion(1, "Who designed the bridge?", "Ann Lee"))
    assert isinstance(given, Given)
    assert given.draft.gold_documents == ("tower",)


@pytest.mark.parametrize(
    ("question", "answer", "aliases"),
    [
        ("May a visitor climb the tower?", "No", ()),
        ("Is the chapel bright?", "yes", ("true",)),
        ("Does the tower have a bell?", "True.", ("yes",)),
        ("How many arches does the bridge have?", "12", ()),
        ("Which rule forbids dogs in the garden?", "12", ("12.",)),
    ],
)
def test_a_sentence_that_merely_holds_the_word_is_no_evidence(
    tasks: GivenTasks, question: str, answer: str, aliases: tuple[str, ...]
) -> None:
    given = tasks.task(GivenQuestion(7, question, answer, aliases))
    assert isinstance(given, Given)
    assert given.draft.walk.hops == ()
    assert given.draft.gold_documents == ()
    assert given.draft.details == {"line": 7, "evidence": "none"}
    assert [check.check for check in given.checks] == ["answer_not_in_question", "evidence_sought"]
    assert finish(given.draft, given.checks, PROVENANCE, 0).walk.hops == ()


@pytest.mark.parametrize(
    ("question", "answer", "aliases", "quote"),
    [
        (
            "How many windows has the chapel of Keld?",
            "12",
            (),
            "The chapel of Keld has 12 windows, so yes, it is bright.",
        ),
        ("Did an engineer design the bridge?", "yes", ("designed by Ann Lee",), TEXTS["bridge"].partition(". ")[2]),
    ],
)
def test_a_short_answer_has_evidence_where_the_sentence_speaks_of_the_question(
    tasks: GivenTasks, question: str, answer: str, aliases: tuple[str, ...], quote: str
) -> None:
    given = tasks.task(GivenQuestion(7, question, answer, aliases))
    assert isinstance(given, Given)
    assert given.draft.walk.hops[0].evidence.quote == quote
