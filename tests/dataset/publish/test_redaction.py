"""Text without a licence leaves a dataset as references, and comes back byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report
from hypothesis import given
from hypothesis import strategies as st

from synth import api
from synth.dataset.audit import audit
from synth.dataset.key_hashes import hashes_in, remember
from synth.dataset.layout import write_dataset
from synth.dataset.reader import load
from synth.dataset.references import escaped, filled, reference, references_in, whole, whole_in
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.publish.redaction import LEAST, Passages, redact, unlicensed
from synth.publish.rehydration import rehydrate

pytestmark = pytest.mark.thorough

PAGE = "The mill on the Orrin was built by Ada Vance in the year of the flood, and burnt down twice after that. " * 3
BRACKET = "An opening ⟦ of its own, and a closing ⟧, and ⟦page-1#0:3⟧ that means nothing."


def bare(tables: dict[str, pa.Table], keep: int = 0) -> dict[str, pa.Table]:
    """Without licences, but for the first ``keep`` documents; every page is long enough to quote, and runs do."""
    made = dict(tables)
    pages = made["documents"].to_pylist()
    for number, page in enumerate(pages):
        page["licence"] = "CC0-1.0" if number < keep else None
        page["text"] += f" {page['id']} ⟦ " + PAGE.replace("Ada Vance", f"Ada Vance the {number}th")
    made["documents"] = pa.Table.from_pylist(pages, schema=made["documents"].schema)
    runs = made["trajectories"].to_pylist()
    for number, run in enumerate(runs):
        page = pages[number % len(pages)]
        for item in run["content"]:
            if item["class_"] == "text_observation" and item["source"] == "environment":
                item["content"] += f" {BRACKET} {page['text'][5:150]} and so on"
                break
        turn = {"call": "c" * 64, "finish": "stop", "prompt_tokens": 3, "completion_tokens": 2, "repaired": []}
        turn |= {"raw": page["text"][10:90] if number == 0 else "short", "token_ids": [1, 2], "logprobs": [-0.5, -0.1]}
        run["details"] = json.dumps(
            {**json.loads(run["details"]), "model_turns": [turn]} if number < 2 else json.loads(run["details"]),
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )
    made["trajectories"] = pa.Table.from_pylist(runs, schema=made["trajectories"].schema)
    for name in ("steps", "continuations", "preferences"):  # what quotes a run word for word would not fit any more
        made.pop(name, None)
    return made


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bare") / "dataset"
    tables = bare(whole_tables(5))
    write_dataset(folder, tables, sample_report(tables))
    assert validate(folder) == []
    return folder


@pytest.fixture(scope="module")
def edition(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edition") / "edition"
    redact(dataset, folder)
    return folder


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)


def test_an_edition_is_valid_and_holds_no_passage(dataset: Path, edition: Path) -> None:
    assert validate(edition) == []
    texts = unlicensed(load(dataset))
    assert len(texts) == load(dataset).count("documents")
    runs = {text[at : at + LEAST] for text in texts.values() for at in range(len(text) - LEAST + 1)}
    looked = 0
    for config in load(edition).configs:
        for row in load(edition).table(config).to_pylist():
            for text in leaves(row):
                looked += 1
                assert not any(text[at : at + LEAST] in runs for at in range(len(text) - LEAST + 1)), (config, text)
    assert looked > 1_000


def test_what_was_redacted_is_counted_and_said(edition: Path) -> None:
    about = load(edition).report.redacted
    assert about is not None
    assert about.documents == load(edition).count("documents") == about.rows["documents"]
    assert about.rows["tasks"] == load(edition).count("tasks")  # evidence is a reference at any length
    assert about.token_ids == 1
    card = load(edition).card
    assert f"Of {about.documents} documents without a stated licence" in card
    assert f"| trajectories | {about.rows['trajectories']} | {about.references['trajectories']} |" in card
    assert "synth rehydrate PATH --from COPY --out DIR" in card
    turns = [json.loads(text).get("model_turns") for text in load(edition).table("trajectories")["details"].to_pylist()]
    assert sorted(str(turn[0]["token_ids"]) for turn in turns if turn) == ["None", "[1, 2]"]


def test_what_needs_the_text_asks_for_it(edition: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"text is redacted in this edition.*synth rehydrate"):
        api.export(edition, to="trl-sft", out=tmp_path / "sft")
    with pytest.raises(InputError, match=r"text is redacted in this edition.*synth rehydrate"):
        audit(edition)
    # A benchmark's words may stand in a quote that is a reference here: nothing is called clean that nobody read.
    benchmark = tmp_path / "held-out.jsonl"
    benchmark.write_text(json.dumps({"question": "Who built the mill that stands on the bank of the Orrin river?"}))
    with pytest.raises(InputError, match=r"text is redacted in this edition.*synth rehydrate"):
        audit(edition, benchmarks=[benchmark])
    assert list(tmp_path.iterdir()) == [benchmark]


def test_evidence_that_names_another_place_is_found(edition: Path, tmp_path: Path) -> None:
    one = load(edition)
    tables = {config: one.table(config) for config in one.configs}
    rows = tables["tasks"].to_pylist()
    evidence = rows[0]["walk"]["hops"][0]["evidence"]
    evidence["quote"] = reference(evidence["document_id"], evidence["start"], evidence["end"] + 1)
    tables["tasks"] = pa.Table.from_pylist(rows, schema=tables["tasks"].schema)
    write_dataset(tmp_path / "other", tables, one.report)
    assert [str(problem) for problem in validate(tmp_path / "other") if "walk.hops[0].evidence" in str(problem)]


def test_a_copy_brings_the_same_bytes_back(tmp_path: Path) -> None:
    tables = bare(whole_tables(5), keep=3)
    runs = tables["trajectories"].to_pylist()
    for run in runs:  # token ids of turns that quote do not come back
        run["details"] = "{}"
    tables["trajectories"] = pa.Table.from_pylist(runs, schema=tables["trajectories"].schema)
    write_dataset(tmp_path / "dataset", tables, sample_report(tables))
    report = redact(tmp_path / "dataset", tmp_path / "edition")
    assert report.redacted is not None
    assert report.redacted.documents == tables["documents"].num_rows - 3
    assert validate(tmp_path / "edition") == []
    done = api.rehydrate(tmp_path / "edition", tmp_path / "dataset", tmp_path / "back")
    assert (done.documents, done.missing, done.other) == (report.redacted.documents, (), ())
    assert files(tmp_path / "back") == files(tmp_path / "dataset")


def test_a_part_of_a_copy_brings_a_part_back(dataset: Path, edition: Path, tmp_path: Path) -> None:
    texts = unlicensed(load(dataset))
    names = sorted(texts)
    some = {name: texts[name] for name in names[:6]} | {names[6]: texts[names[6]] + "."}
    done = rehydrate(edition, some, tmp_path / "part")
    assert (done.documents, done.other, done.missing) == (
        6,
        (names[6],),
        tuple(sorted(names[7:], key=done.missing.index)),
    )
    assert validate(tmp_path / "part") == []
    left = load(tmp_path / "part").report.redacted
    assert left is not None
    assert left.documents == len(names) - 6
    # The rest of it, later.
    rehydrate(tmp_path / "part", texts, tmp_path / "all")
    rehydrate(edition, texts, tmp_path / "at once")
    assert files(tmp_path / "all") == files(tmp_path / "at once")


def test_what_can_not_be_is_one_line(dataset: Path, edition: Path, finished: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="none of the 17 texts is in the copy: 16 ids are not there, 1 have another text"
    ):
        rehydrate(edition, {load(dataset).table("documents")["id"][0].as_py(): "other"}, tmp_path / "x")
    with pytest.raises(InputError, match="nothing is redacted"):
        rehydrate(dataset, {}, tmp_path / "x")
    with pytest.raises(InputError, match="redacted from it already"):
        redact(edition, tmp_path / "x")
    with pytest.raises(InputError, match="every document of it states a licence"):
        redact(finished, tmp_path / "x")


def test_everybody_gets_the_edition_and_the_owner_all_of_it(dataset: Path, little: Callable[[], Path]) -> None:
    said: list[str] = []
    done = api.push(dataset, "ann/bare", public=True, dry_run=True, announce=said.append)
    assert (done.redacted, done.private, done.left_out) == (17, False, ())
    assert [line for line in said if line.startswith("redacted: 17 texts, ")]
    said.clear()
    private = api.push(dataset, "ann/bare", dry_run=True, announce=said.append)
    assert (private.redacted, private.private) == (0, True)
    assert [line for line in said if "keep the repository private" in line]
    assert private.bytes != done.bytes
    assert api.push(little(), "ann/open", public=True, dry_run=True).redacted == 0


TEXT = st.text(alphabet="ab ⟦⟧#:0%", max_size=120)


@given(st.dictionaries(st.text(alphabet="ab⟦⟧#%/.", min_size=1, max_size=6), TEXT, max_size=4), st.data())
def test_every_text_has_one_form_and_comes_back(texts: dict[str, str], data: st.DataObject) -> None:
    """Against brute force: no run of 40 is left, and nothing else has changed."""
    passages = Passages(texts)
    parts = data.draw(st.lists(st.one_of(TEXT, st.sampled_from([*texts.values(), ""])), max_size=3))
    text = "".join(parts)
    form = passages.redacted(text)
    assert filled(form, lambda one: texts[one.document_id][one.start : one.end]) == text
    left = filled(form, lambda one: "\0")
    runs = {there[at : at + LEAST] for there in texts.values() for at in range(len(there) - LEAST + 1)}
    assert not any(left[at : at + LEAST] in runs for at in range(len(left) - LEAST + 1))
    for one in references_in(form):
        assert 0 <= one.start < one.end <= len(texts[one.document_id])
    if not runs:
        assert form == escaped(text)


@given(st.text(min_size=1), TEXT)
def test_a_whole_text_is_told_by_its_hash(name: str, text: str) -> None:
    form = whole(name, text)
    found = whole_in(form, name)
    assert found is not None
    assert (found.document_id, found.start, found.end) == (name, 0, len(text))
    assert whole_in(form, name + "x") is None
    assert whole_in(reference(name, 0, len(text)), name) is None
    assert whole(name, text + "a") != form


def test_an_edition_and_what_is_rehydrated_of_it_remember_the_keys(dataset: Path, tmp_path: Path) -> None:
    whole_one = tmp_path / "dataset"
    shutil.copytree(dataset, whole_one)
    remember(whole_one, ["wX4-tR9b-Lq7e-Zm2c"])
    redact(whole_one, tmp_path / "edition")
    api.rehydrate(tmp_path / "edition", whole_one, tmp_path / "rehydrated")
    known = hashes_in(whole_one)
    assert known is not None
    assert hashes_in(tmp_path / "edition") == hashes_in(tmp_path / "rehydrated") == known
