"""Facts that the user gives: what is read, what is derived of it, and what the pages say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth.errors import InputError
from synth.lexicon.model import RelationEntry
from synth.recipe.requests import settings_of
from synth.schemas.rejections import Reason
from synth.sources.facts.graph import FactGraph, open_facts
from synth.sources.facts.triples import TriplesConfig, read_triples
from synth.sources.facts.words import RelationShape, derive_relation, plain_label, plural_of

COUNTRIES = Path(__file__).with_name("countries.tsv")
FACTS = [("Orrin", "capital", "Tarn"), ("Orrin", "borders", "Vell"), ("Vell", "population", "1200")]


def opened(**values: Any) -> FactGraph:
    return open_facts(TriplesConfig(**{"path": str(COUNTRIES), "untyped": "country", **values}))


def opened_text(file: Path, name: str) -> str:
    graph = open_facts(TriplesConfig(path=str(file)))
    return str(graph.tables(0)[0]["text"][graph.ids.index(name)].as_py())


def written(folder: Path, suffix: str) -> Path:
    file = folder / f"facts{suffix}"
    names = ("subject", "relation", "object")
    frame = pl.DataFrame(FACTS, schema=names, orient="row")
    if suffix == ".tsv":
        file.write_text("\n".join("\t".join(row) for row in FACTS) + "\n")  # no line of headings
    elif suffix == ".csv":
        frame.rename({"relation": "predicate"}).write_csv(file)
    elif suffix == ".jsonl":
        file.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in FACTS))
    elif suffix == ".parquet":
        frame.write_parquet(file)
    elif suffix == ".ttl":
        file.write_text(
            "@prefix : <http://example.org/> .\n:Orrin :capital :Tarn ; :borders :Vell .\n"
            ":Orrin :motto 'Ja'@de ; :seat [ :x 1 ] .\n"
            ":Vell :population 1200 ; <http://www.w3.org/2004/02/skos/core#prefLabel> 'Vell'@en .\n"
        )
    else:
        iri = "<http://example.org/{}>".format
        ends = [f'"{o}"' if o.isdigit() else iri(o) for _, _, o in FACTS]
        lines = [f"{iri(s)} {iri(p)} {o} ." for (s, p, _), o in zip(FACTS, ends, strict=True)]
        file.write_text(
            "# facts\n" + "\n".join(lines) + '\n<http://example.org/Orrin> <http://x.org/motto> "Ja"@de .\n'
        )
    return file


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_documents_bring_their_triples_and_their_text(tmp_path: Path, suffix: str) -> None:
    said = [{"subject": s, "relation": p, "object": o, "quote": f"{s}: {o}."} for s, p, o in FACTS]
    rows = [
        {"id": "1", "title": said[0]["subject"], "text": "It is old.", "triples": said[:2]},
        {"id": "2", "title": "Elsewhere", "text": "Nobody asks.", "triples": [*said[2:], {**said[0], "object": None}]},
    ]
    file = tmp_path / f"pages{suffix}"
    frame = pl.DataFrame(rows)
    frame.write_ndjson(file) if suffix == ".jsonl" else frame.write_parquet(file)
    read = read_triples(TriplesConfig(path=str(file)))
    assert read.facts == [tuple(fact) for fact in FACTS]
    assert read.prose[said[0]["subject"]] == "It is old."
    assert [row.row_id for row in read.rejected] == [f"pages{suffix}#{len(FACTS) + 1}"]
    assert (
        settings_of(dataset="graph-walk", source=file, tasks=None, tasks_file=None, seed=None, settings={})[
            "source.kind"
        ]
        == "triples"
    )


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet", ".nt", ".ttl"])
def test_every_format_gives_the_same_graph(tmp_path: Path, suffix: str) -> None:
    graph = open_facts(TriplesConfig(path=str(written(tmp_path, suffix))))
    assert graph.names == ("Orrin", "Tarn", "Vell")
    orrin, _, vell = graph.facts
    assert sorted(orrin) == [("borders", 2), ("capital", 1)]
    assert vell == (("population", "1200"),)


def entity(name: str, label: str, aliases: tuple[str, ...] = (), **claims: Any) -> str:
    """A line of Wikidata's dump; a claim is (datatype, value), or (datatype, value, rank)."""
    stated = {
        relation: [
            {
                "rank": rank[0] if rank else "normal",
                "mainsnak": {"snaktype": "value", "datatype": kind, "datavalue": {"value": value}},
            }
            for kind, value, *rank in of
        ]
        for relation, of in claims.items()
    }
    labels = {"en": {"language": "en", "value": label}} if label else {}
    named = {"en": [{"language": "en", "value": alias} for alias in aliases]}
    kind = "property" if name.startswith("P") else "item"
    return json.dumps({"id": name, "type": kind, "labels": labels, "aliases": named, "claims": stated})


def test_lines_of_wikidatas_dump_are_facts_with_labels_and_aliases(tmp_path: Path) -> None:
    item, number = "wikibase-item", {"amount": "+1200", "unit": "1"}
    founded = {"time": "+1291-08-01T00:00:00Z", "precision": 11}
    lines = [
        entity("P36", "capital"), entity("P31", "instance of"), entity("P1082", "population"),
        entity("P571", "inception"), entity("P227", "catalogue number"),
        entity(
            "Q1", "Orrin", ("Kingdom of Orrin",), P31=[(item, {"id": "Q3"})],
            P36=[(item, {"id": "Q2"}, "preferred"), (item, {"id": "Q4"})], P571=[("time", founded)],
            P227=[("external-id", "4-77")], P47=[(item, {"numeric-id": 9})],
        ),
        entity("Q2", "Tarn", P1082=[("quantity", number), ("quantity", {**number, "amount": "+7"}, "deprecated")]),
        entity("Q3", "country"),
    ]  # fmt: skip
    file = tmp_path / "part.json"
    file.write_text("[\n" + ",\n".join([*lines, '{"id": 7']) + "\n]\n")
    read = read_triples(TriplesConfig(path=str(file)))
    assert read.facts == [("Q1", "P36", "Q2"), ("Q1", "P571", "1291-08-01"), ("Q2", "P1082", "1200")]
    assert read.labels["Q1"] == ("Orrin", "Kingdom of Orrin")
    assert read.types == {"Q1": "country"}
    assert [row.detail for row in read.rejected] == [
        "no statement in row 6",
        "1 statements of what has no label in the file",
    ]


def test_qualifiers_are_facts_about_their_statement(tmp_path: Path) -> None:
    file = tmp_path / "part.json"
    held = json.loads(entity("Q1", "Ada Lum", P39=[("wikibase-item", {"id": "Q2"}), ("wikibase-item", {"id": "Q3"})]))
    since = {
        "snaktype": "value",
        "datatype": "time",
        "datavalue": {"value": {"time": "+1931-00-00T00:00:00Z", "precision": 9}},
    }
    unnamed = {"snaktype": "value", "datatype": "string", "datavalue": {"value": "x"}}
    held["claims"]["P39"][0]["qualifiers"] = {"P580": [since], "P99": [unnamed], "P582": [{"snaktype": "novalue"}]}
    named = [("P39", "position held"), ("P580", "start time"), ("Q2", "mayor"), ("Q3", "judge")]
    file.write_text("\n".join([json.dumps(held), *(entity(*each) for each in named)]))
    read = read_triples(TriplesConfig(path=str(file)))
    assert read.facts == [("Q1", "P39", "Q2"), ("Q1", "P39", "Q3"), ("Q1|P39|Q2", "P580", "1931")]
    assert read.labels["Q1|P39|Q2"] == ("Ada Lum (position held: mayor)",)
    assert read.types["Q1|P39|Q2"] == "position held"
    assert "The start time of Ada Lum (position held: mayor) is 1931." in opened_text(file, "Q1|P39|Q2")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_columns_may_qualify_a_row(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(
        {"subject": ["Ada", "Ben"], "relation": ["educated at"] * 2, "object": ["Orne"] * 2, "Since": [1931, None]}
    )
    file = tmp_path / f"facts{suffix}"
    {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}[suffix](file)
    read = read_triples(TriplesConfig(path=str(file), qualifiers=("since",)))
    assert [fact for fact in read.facts if fact[1] == "since"] == [("Ada|educated at|Orne", "since", "1931")]
    assert read.labels == {"Ada|educated at|Orne": ("Ada (educated at: Orne)",)}
    with pytest.raises(InputError, match="no column 'until'"):
        read_triples(TriplesConfig(path=str(file), qualifiers=("until",)))


def test_labels_and_aliases_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("subject,relation,object\nQ1,P36,Q2\nQ1,P31,Q3\n")
    (tmp_path / "labels.csv").write_text("id,label\nQ1,Orrin\nQ1,Kingdom of Orrin\nQ2,Tarn\nQ3,country\nP36,capital\n")
    graph = open_facts(TriplesConfig(path=str(tmp_path / "facts.csv"), labels=str(tmp_path / "labels.csv")))
    assert graph.names == ("Orrin", "Tarn")
    assert graph.aliases == (("Kingdom of Orrin",), ())
    assert graph.kinds == ("country", "capital")
    documents, _, _ = graph.tables(0)
    assert documents["text"][0].as_py() == "Orrin is a country. The capital of Orrin is Tarn."


def test_rows_without_a_part_are_rejected(tmp_path: Path) -> None:
    file = tmp_path / "facts.tsv"
    file.write_text("subject\trelation\tobject\na\tb\tc\na\t\tc\na\tb\tc\n")
    read = read_triples(TriplesConfig(path=str(file)))
    assert read.facts == [("a", "b", "c")]
    assert [(row.row_id, row.reason, row.detail) for row in read.rejected] == [
        ("facts.tsv#2", Reason.MALFORMED, "no relation in row 2")
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("facts.xml", "<a/>", "ends in none of .tsv"),
        ("facts.csv", "subject,verb,object\na,b,c\n", "no column 'relation'; it has subject, verb, object"),
        ("facts.tsv", "subject\trelation\tobject\n", "holds no fact"),
        ("facts.parquet", "no parquet", "can't be read"),
        ("facts.jsonl", "{", "can't be read"),
        (None, "", "does not exist"),
        ("", "", "no file was given"),
    ],
)
def test_a_file_that_is_none_is_one_line(tmp_path: Path, name: str | None, text: str, said: str) -> None:
    file = tmp_path / (name or "missing.tsv")
    if name:
        file.write_text(text)
    with pytest.raises(InputError) as error:
        open_facts(TriplesConfig(path="" if name == "" else str(file)))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_what_relations_are_is_derived() -> None:
    relations = opened().lexicon.relations
    found = {name: (entry.value, entry.functional, entry.symmetric, entry.object) for name, entry in relations.items()}
    assert found == {
        "capital": ("entity", True, False, ("capital",)),
        "area": ("quantity", True, False, ()),
        "official_language": ("entity", False, False, ("official language",)),
        "currency": ("entity", True, False, ("currency",)),
        "region": ("entity", True, False, ("region",)),
        "borders": ("entity", False, True, ("country",)),
    }
    assert relations["area"].unit == "km²"
    assert {name for name, entry in opened().lexicon.types.items() if entry.hub} == {"region"}


def test_every_fact_has_its_sentence_and_its_span() -> None:
    graph = opened()
    documents, entities, edges = graph.tables(0)
    texts, names = documents["text"].to_pylist(), entities["name"].to_pylist()
    assert len(edges) == sum(len(facts) for facts in graph.facts) == 131
    for edge in edges.to_pylist():
        sentence = texts[edge["document"]][edge["start"] : edge["end"]]
        assert names[edge["subject"]] in sentence
        assert (edge["value"] or names[edge["object"]]).split()[0].replace(",", "") in sentence.replace(",", "")
        assert sentence.endswith(".")
    for page in documents.to_pylist():
        for link in page["links"]:
            assert names[entities["id"].to_pylist().index(link["target"])] == page["text"][link["start"] : link["end"]]


@pytest.mark.parametrize(
    ("label", "value", "page", "question"),
    [
        ("directedBy", "entity", "{s} was directed by {o}.", "directed~direct |"),
        ("produced by", "entity", "{s} was produced by {o}.", "produced~produce |"),
        ("located in", "entity", "{s} is located in {o}.", "is where | _ is located"),
        ("author of", "entity", "{s} is the author of {o}.", "has | _ as its author"),
        ("plays_for", "entity", "{s} plays for {o}.", ""),
        ("depends on", "entity", "{s} depends on {o}.", ""),
        ("competes_with", "entity", "{s} competes with {o}.", ""),
        ("mother", "entity", "The mother of {s} is {o}.", "is the mother | of"),
        ("founded", "year", "{s} was founded in {o}.", ""),
        ("date of birth", "date", "The date of birth of {s} is {o}.", ""),
    ],
)
def test_a_label_is_worded_by_its_form(label: str, value: Any, page: str, question: str) -> None:
    ends = {"subject": ("film",), "object": ("thing",) if value == "entity" else ()}
    entry: RelationEntry = derive_relation(RelationShape(label, **ends, value=value, inverse_functional=True))
    assert entry.page == (page,)
    assert question in (entry.question.object_does or ("",))


def test_labels_and_plurals_are_plain() -> None:
    iri = "http://example.org/prop/birthPlace"
    assert [plain_label(text) for text in ("capitalOf", "capital_of", iri, "Official language")] == [
        "capital of",
        "capital of",
        "birth place",
        "official language",
    ]
    assert [plural_of(noun) for noun in ("country", "person", "date of birth", "class")] == [
        "countries",
        "people",
        "dates of birth",
        "classes",
    ]


def test_words_of_the_users_take_the_place_of_those_derived(tmp_path: Path) -> None:
    file = tmp_path / "words.yaml"
    file.write_text("relations:\n  borders:\n    page: ['{s} lies next to {o}.']\ntypes:\n  region: {plural: areas}\n")
    lexicon = opened(words=str(file)).lexicon
    assert lexicon.relations["borders"].page == ("{s} lies next to {o}.",)
    assert lexicon.relations["borders"].question == opened().lexicon.relations["borders"].question
    assert lexicon.types["region"].plural == "areas"
    file.write_text("relations: {neighbours: {page: [x]}}\n")
    with pytest.raises(InputError, match="no 'neighbours' among their relations"):
        opened(words=str(file))


@pytest.mark.parametrize(
    ("label", "asked", "more"),
    [
        ("inhabitants", "How many inhabitants does {x} have?", "has more [inhabitants]"),
        ("number of seats", "How many seats does {x} have?", "has more [seats]"),
        ("miles per gallon", "How many miles per gallon does {x} have?", "has more [miles per gallon]"),
        ("status", "What is the status of {x}?", "has the higher [status]"),
    ],
)
def test_what_is_counted_is_asked_with_how_many(label: str, asked: str, more: str) -> None:
    entry = derive_relation(RelationShape(label, ("town",), (), "number"))
    assert entry.question.asks == (asked,)
    assert entry.in_size is not None
    assert entry.in_size.more == (more,)
