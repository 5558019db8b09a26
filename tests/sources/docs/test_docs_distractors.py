"""Pages that mislead about documents: each false by the graph, marked, and with words by which a reader can tell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import synth
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.identity import derive_generator
from synth.lexicon.reading import misleading_words
from synth.schemas.arrow import to_arrow
from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import DISTRACTOR, Document, Edge, Entity
from synth.sources.docs.distract import DocumentDistractors, written_pages

MODES = ("strict", "lenient", "silent", "verbose")
LEAN = {"critical": None, "preferences": None, "contexts": None, "difficulty": None, "rl": False}


def tables(pages: int) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Pages about tools, each with a limit (a number), a mode (a word of four) and two names."""
    documents, entities, edges = list[Document](), list[Entity](), list[Edge]()
    for row in range(pages):
        name = f"tool-{row}"
        values = (("limit", str(100 + 7 * row)), ("mode", MODES[row % 4]), ("also", "one"), ("also", "two"))
        sentences = [f"The {relation} of {name} is {value}." for relation, value in values]
        text = f"# {name}\n\nIt is a tool.\n\n" + "\n\n".join(sentences)
        documents.append(Document(id=f"{name}.html", title=name, text=text, kind="page", source="s", licence="MIT"))
        entities.append(Entity(id=f"e{row}", name=name, kind="page", document=row, ordinal=row))
        for (relation, value), sentence in zip(values, sentences, strict=True):
            start = text.index(sentence)
            end = start + len(sentence)
            kind = "number" if value.isdigit() else "text"
            edges.append(
                Edge(
                    subject=row, relation=relation, object=-1, value=value, value_kind=kind,
                    document=row, start=start, end=end,
                )
            )  # fmt: skip
    return to_arrow(documents, Document), to_arrow(entities, Entity), to_arrow(edges, Edge)


def written(pages: int = 40, **wanted: float) -> tuple[Sequence[Document], Sequence[PlantedMisinformation]]:
    draw = partial(derive_generator, 3)
    return written_pages(*tables(pages), DocumentDistractors.model_validate(wanted), draw)


@pytest.mark.parametrize("kind", ["stale", "contradiction"])
def test_each_page_says_what_the_facts_deny_and_can_be_found_out(kind: str) -> None:
    documents, falsehoods = written(**{kind: 25.0})
    assert len(documents) == 2 * len(falsehoods) == 20
    _, entities, edges = (table.to_pylist() for table in tables(40))
    known = {(entities[edge["subject"]]["id"], edge["relation"]): edge for edge in edges}
    frames = misleading_words().documents[kind]  # type: ignore[index]
    assert len(frames.frames) >= 4
    pages = {document.id: document for document in documents}
    assert len(pages) == 20
    for falsehood in falsehoods:
        document = pages[falsehood.document_id]
        edge = known[falsehood.subject, falsehood.relation]
        assert (document.kind, falsehood.document_id, falsehood.kind) == (DISTRACTOR, document.id, kind)
        assert (falsehood.level, falsehood.cue) == (frames.level, frames.cue)
        assert falsehood.relation in ("limit", "mode"), "of two names neither is false"
        assert falsehood.true_object == edge["value"] != falsehood.stated_object
        assert falsehood.stated_object is not None
        assert (falsehood.truth.start, falsehood.truth.end) == (edge["start"], edge["end"])
        assert falsehood.stated_object in falsehood.statement.quote
        assert falsehood.true_object not in document.text.split()
        for evidence in (falsehood.statement, falsehood.cue_words):
            assert document.text[evidence.start : evidence.end] == evidence.quote
        (link,) = document.links
        assert document.text[link.start : link.end] in falsehood.truth.quote
        assert len(falsehood.stated_object) == len(falsehood.true_object) or falsehood.stated_object in MODES
    texts = {page["id"]: page["text"] for page in tables(40)[0].to_pylist()}
    false = {falsehood.document_id for falsehood in falsehoods}
    for document in (one for one in documents if one.id not in false):  # what looks alike and is so
        own = [
            line for line in texts[document.links[0].target].splitlines() if line.startswith(("The limit", "The mode"))
        ]
        assert any(line in document.text for line in own)


def test_they_depend_on_seed_and_graph_alone_and_nothing_is_the_default() -> None:
    assert written(stale=10, contradiction=10) == written(stale=10, contradiction=10)
    fewer, more = written(stale=10)[0], written(stale=20)[0]
    assert fewer[:4] == more[:4]
    assert fewer[4:] == more[8:12]
    assert written() == ([], [])


def test_a_dataset_with_them_holds_and_marks_them(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    verbs = ("Limits", "Widens", "Delays", "Repeats")
    for number, name in enumerate("amber brook cedar delta ember fjord grove heath inlet jetty knoll lagoon".split()):
        options = "".join(
            f'<dt id="{name}-{verb}"><code>--{name}-{verb[:3].lower()}</code></dt><dd>{verb} the {name} buffers that a'
            f" {verb[:-1].lower()}ing filter keeps. The default is {170 * number + 10 * at + 13}.</dd>"
            for at, verb in enumerate(verbs)
        )
        page = f"<html><head><title>{name}</title></head><body><h1>{name}</h1><dl>{options}</dl></body></html>"
        (tmp_path / "docs" / f"{name}.html").write_text(page)
    settings = {**LEAN, "source.distractors": {"stale": 25, "contradiction": 25}, "roles": {"teacher": {}}}
    options = {"out": tmp_path / "out", "store": tmp_path / "store", "settings": settings}
    built = synth.build("docs-search", source=tmp_path / "docs", tasks=5, **options)
    assert validate(built.path) == []
    assert audit(built.path).violations == ()
    dataset = synth.load(built.path)
    marked = {row.document_id: row.id for row in dataset.rows("planted_misinformation")}
    assert len(marked) == 6
    written = {row.id for row in dataset.rows("documents") if row.kind == DISTRACTOR}
    assert set(marked) < written
    assert len(written) == 12
    for row in dataset.rows("distractors"):
        assert row.misinformation_id == marked.get(row.document_id)
    assert not {page for task in dataset.rows("tasks") for page in task.gold_documents} & written
    with pytest.raises(InputError, match=r"source.distractors go with questions of kind docs"):
        synth.build("docs-search", source=tmp_path / "docs", tasks=5, tasks_file=tmp_path / "none", **options)
