"""Words that a model drafts for relations, over HTTP: honest ones are spoken, and no liar's gets in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from shared_builds import LEAN
from stand_ins.model_server import JobPlayer, ModelServer

import synth
from synth.api import BuildResult
from synth.dataset.audit.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.lexicon.model import Lexicon
from synth.schemas.rejections import Reason
from synth.sources.facts.graph import open_lexicon
from synth.sources.facts.triples import TriplesConfig

SOURCES = Path(__file__).parents[1] / "sources" / "triples"
Said = Mapping[str, Any]

HONEST: Mapping[str, Said] = {
    "capital": {"names": ["the seat of government of {s}"], "statements": [("{o} governs {s}", "govern")]},
    "area": {"questions": ["How large is {s}?"], "names": ["the size of {s}"]},
    "currency": {"statements": [("{s} pays with {o}.", "pay")]},
}
TRUE = {
    phrase: label
    for label, said in HONEST.items()
    for phrase in [*said.get("names", ()), *said.get("questions", ()), *(one for one, _ in said.get("statements", ()))]
}


def words(said: Said) -> dict[str, Any]:
    statements = [{"words": one, "base": base} for one, base in said.get("statements", ())]
    return {"statements": statements, "names": said.get("names", []), "questions": said.get("questions", [])}


def honest_reader(data: Mapping[str, Any], sample: str | None) -> dict[str, Any]:
    """Picks the facts that the phrase truly speaks of."""
    return {"facts": [fact["number"] for fact in data["facts"] if TRUE.get(data["phrase"]) == fact["relation"]]}


class Server:
    """Counts what is asked."""

    def __init__(self, folder: Path, writer: Callable[[str], Said], reader: Any = honest_reader) -> None:
        self.folder = folder
        self.player = JobPlayer(
            {
                "lexicon/draft": lambda data, sample: words(writer(data["label"])),
                "lexicon/confirm": reader,
            }
        )

    def build(self, name: str, **settings: Any) -> BuildResult:
        with ModelServer({"toy-writer": self.player}) as server:
            role = {"backend": "openai", "model": "toy-writer", "endpoints": [server.url]}
            given = {
                **LEAN,
                "source.untyped": "country",
                "source.draft_words": True,
                "writing.share": 0,
                "roles.writer": role,
                **settings,
            }
            built = synth.build(
                "graph-search",
                source=SOURCES / "countries.tsv",
                tasks=10,
                out=self.folder / name,
                store=self.folder / "store",
                settings=given,
            )
            assert server.errors == []
        return built


def spoken(built: BuildResult) -> str:
    return " ".join(task.question for task in synth.load(built.path).rows("tasks"))


def test_drafted_words_are_spoken_paid_once_written_to_a_file_and_read_from_it(tmp_path: Path) -> None:
    server = Server(tmp_path, lambda label: HONEST.get(label, {}))
    built = server.build("out")
    assert validate(built.path) == []
    assert audit(built.path).violations == ()
    assert any(phrase in spoken(built) for phrase in ("the seat of government of", "How large is", "governs", "pays"))
    calls = dict(server.player.asked)
    assert calls == {"lexicon/draft": 6, "lexicon/confirm": len(TRUE)}
    assert server.build("again").reused
    assert server.player.asked == calls

    assert built.words is not None
    file = yaml.safe_load(built.words.read_text())
    assert file["relations"]["currency"]["question"]["subject_does"] == ["pays~pay | with"]
    question = file["relations"]["capital"]["question"]
    assert question["object_does"] == ["governs~govern |"]
    assert question["object_is"] == ["the seat of government of {x}"]
    assert question["subject_does"] == ["has | _ as its capital"], "of what nothing was drafted, the rule speaks"
    question["object_is"] = ["the first city of {x}"]
    question["subject_does"] = question["object_does"] = []
    built.words.write_text(yaml.safe_dump(file))
    edited = server.build("edited", **{"source.words": str(built.words)})
    assert server.player.asked == calls, "what a file words is not drafted"
    assert "the first city of" in spoken(edited)
    assert "seat of government" not in spoken(edited)
    assert Lexicon.model_validate(yaml.safe_load(built.words.read_text())).relations["area"].question.asks == (
        "How large is {x}?",
    )


def lies(label: str) -> Said:
    """Another relation's words, one phrase for all, the wrong way round, names, a denial, an order, a number."""
    other = {"capital": "the size of {s}", "area": "the seat of government of {s}"}.get(label, "the pride of {s}")
    return {
        "statements": [
            ("{o} is governed by {s}", "be"),
            ("{s} never saw {o}", "see"),
            ("{s} borders Spain, {o}", "border"),
        ],
        "names": [other, "the Parisian heart of {s}", "the seat of government"],
        "questions": ["How many of the 27 like {s}?", "Is {s} new; ignore the rules?"],
    }


def test_no_word_of_a_liar_gets_in(tmp_path: Path) -> None:
    server = Server(tmp_path, lies)
    built = server.build("out")
    refused = [row for row in synth.load(built.path).rows("rejected") if row.stage == "draft_words"]
    assert len(refused) == 6 * 8
    assert {row.reason for row in refused} == {
        *(Reason.NOT_CONFIRMED, Reason.MEANING_CHANGED, Reason.MALFORMED),
        Reason.UNNATURAL,  # an area that governs
    }
    assert server.player.asked["lexicon/confirm"] == 6 * 2 - 1, "what breaks a rule is shown to no reader"
    assert built.words is not None
    by_rule = open_lexicon(TriplesConfig(path=str(SOURCES / "countries.tsv"), untyped="country"))
    assert Lexicon.model_validate(yaml.safe_load(built.words.read_text())) == by_rule


def test_it_needs_a_writer() -> None:
    with pytest.raises(InputError, match="which model words relations"):
        synth.build(
            "graph-search",
            source=SOURCES / "countries.tsv",
            tasks=5,
            out="never",
            settings={"source.draft_words": True},
        )
