"""``validate`` finds every way of breaking distractors and falsehoods, and takes what is right about them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from breaking import DOCUMENTS, Mutation, edit, must_be_found, table, within
from exporter_samples import PROVENANCE, page, sample_report, sample_tables, task

from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.schemas.arrow import to_arrow
from synth.schemas.distractors import Distractor, PlantedMisinformation
from synth.schemas.documents import Document, Evidence
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.tasks import CheckResult

DISTRACTORS = "distractors/train-00000-of-00001.parquet"
FALSEHOODS = "planted_misinformation/corpus-00000-of-00001.parquet"
FACTS = "facts/graph-00000-of-00001.parquet"
_TEXT = "Overheard: Place 1\n\nPlace 1 was founded by Bob 7. Nobody could say where it came from.\n"


def _quote(name: str, text: str, words: str) -> Evidence:
    start = text.index(words)
    return Evidence(document_id=name, start=start, end=start + len(words), quote=words)


def _falsehood() -> PlantedMisinformation:
    return PlantedMisinformation(
        id="falsehood-1",
        document_id="w1",
        level="cognition",
        kind="contradiction",
        subject="place-1",
        relation="founded_by",
        true_object="Ada 1",
        stated_object="Bob 7",
        value_kind="text",
        statement=_quote("w1", _TEXT, "Place 1 was founded by Bob 7."),
        cue="hearsay",
        cue_words=_quote("w1", _TEXT, "Nobody could say where it came from."),
        truth=_quote("p1", page(1).text, "It was founded by Ada 1"),
        partition="train",
    )


def _distractor(number: int, document: str, tier: int, **changes: Any) -> Distractor:
    kinds = {1: "opened_not_cited", 2: "retrieved_not_opened", 3: "bm25"}
    met = {"role": "policy", "trajectory_id": f"trajectory-policy-{number:04d}", "step": 1, "runs": 1}
    values: dict[str, Any] = {
        "id": f"distractor-{number}-{document}",
        "task_id": task(number).id,
        "document_id": document,
        "tier": tier,
        "kind": kinds[tier],
        "query": "Place",
        "rank": 2,
        "checks": (
            CheckResult(check="not_gold", outcome="passed"),
            CheckResult(check="does_not_answer", outcome="passed"),
        ),
        "split": task(number).split,
        "provenance": PROVENANCE,
        **(met if tier < 3 else {"method": "bm25", "score": 1.5}),
        **changes,
    }
    return Distractor(**values)


def _tables() -> dict[str, pa.Table]:
    tables = sample_tables()
    written = Document(
        id="w1", title="Overheard: Place 1", text=_TEXT, kind="distractor", source="world", licence="CC0-1.0"
    )
    truth = _falsehood().truth
    fact = FactRow(
        subject="place-1",
        relation="founded_by",
        value="Ada 1",
        value_kind="text",
        document_id="p1",
        start=truth.start,
        end=truth.end,
    )
    rows = [_distractor(0, "w1", 1, misinformation_id="falsehood-1"), _distractor(0, "p9", 2), _distractor(0, "p12", 3)]
    return tables | {
        "documents": pa.concat_tables([tables["documents"], to_arrow([written], Document)]),
        "entities": to_arrow([EntityRow(id="place-1", name="Place 1", kind="place", document_id="p1")], EntityRow),
        "facts": to_arrow([fact], FactRow),
        "distractors": to_arrow(rows, Distractor),
        "planted_misinformation": to_arrow([_falsehood()], PlantedMisinformation),
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("distractors") / "world-search"
    tables = _tables()
    write_dataset(folder, tables, sample_report(tables))
    return folder


def _moved(evidence: Evidence) -> Evidence:
    return evidence.model_copy(update={"start": evidence.start + 1})


distractor = partial(within, DISTRACTORS, 1)
falsehood = partial(within, FALSEHOODS, 0)
written_row = partial(within, DISTRACTORS, 0)

MUTATIONS: dict[str, Mutation] = {
    "of no task": written_row("there is no task task-x", task_id="task-x"),
    "of no document": distractor("there is no document p999", document_id="p999"),
    "gold": distractor("p1 is a gold document", document_id="p1"),
    "twice": (table(DISTRACTORS, lambda t: pa.concat_tables([t, t.slice(1, 1)])), DISTRACTORS, "another distractor is"),
    "in another split": written_row("split: test", split="test"),
    "tier of another kind": distractor("tier: 1, and the kind is", tier=1),
    "met in no run": distractor("tier: 2 with trajectory_id", trajectory_id=None),
    "met in a run that is not there": distractor("there is no trajectory trajectory-x", trajectory_id="trajectory-x"),
    "a check failed": distractor(
        "checks: does_not_answer failed",
        lambda r: {"checks": (r.checks[0], r.checks[1].model_copy(update={"outcome": "failed"}))},
    ),
    "a check left out": distractor("must both be there", lambda r: {"checks": r.checks[:1]}),
    "written and not said so": written_row(
        "misinformation_id: None; the page was written for falsehood-1", misinformation_id=None
    ),
    "the false statement is true": falsehood("stated_object: Ada 1 is what is true", stated_object="Ada 1"),
    "the facts say what is called false": (
        edit(FACTS, 0, lambda r: {"value": "Bob 7"}),
        FALSEHOODS,
        "stated_object: Bob 7 is a fact",
    ),
    "the facts do not say what is called true": falsehood("no fact at that span says", true_object="Ada 2"),
    "the statement moved": falsehood("statement: w1 says", lambda r: {"statement": _moved(r.statement)}),
    "the cue moved": falsehood("cue_words: w1", lambda r: {"cue_words": _moved(r.cue_words)}),
    "the truth moved": falsehood("truth: p1 says", lambda r: {"truth": _moved(r.truth)}),
    "the page was rewritten": (
        edit(DOCUMENTS, 62, lambda d: {"text": d.text.replace("Bob 7", "Bob 8")}),
        FALSEHOODS,
        "statement: w1 says",
    ),
    "the cue is on another page": falsehood("cue_words: it is not on the page w1", lambda r: {"cue_words": r.truth}),
    "nothing is stated": falsehood("stated_object: None", stated_object=None),
}


def test_the_whole_dataset_holds(whole: Path) -> None:
    assert validate(whole) == []


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_break_is_found(whole: Path, name: str) -> None:
    must_be_found(MUTATIONS[name], whole)
