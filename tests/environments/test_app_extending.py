"""An application that adds to another: what there is then, and what may not be added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from synth.environments.app.reading import additions, load_definition, source_text
from synth.environments.trust import untrusted
from synth.errors import InputError

RULE = {"name": "short", "text": "Short.", "table": "notes", "check": "1", "else": "x"}
MORE: dict[str, Any] = {
    "name": "more",
    "extends": "ledger",
    "tables": {"notes": {"noun": "note", "columns": {"note": {"type": "text", "key": True}}}},
    "data": ["INSERT INTO notes VALUES ('tea')"],
    "policy": [
        {
            "title": "The books",
            "rules": [{"name": "short", "text": "Short.", "table": "notes", "check": "1", "else": "x"}],
        },
        {"title": "Notes", "text": "There are notes."},
    ],
    "tools": {"list_notes": {"about": "All.", "says": "None."}},
    "requests": {
        "questions": {
            "note": {
                "from": "SELECT note FROM notes",
                "words": ["Which?"],
                "answer": "{note}",
                "shown": ["note"],
                "look": [{"tool": "list_notes"}],
            }
        }
    },
}


def file(folder: Path, more: dict[str, Any], name: str = "more.yaml") -> str:
    (folder / name).write_text(yaml.safe_dump(more))
    return str(folder / name)


def test_what_is_there_stays_and_what_is_added_follows(tmp_path: Path) -> None:
    base, more = load_definition("ledger"), load_definition(file(tmp_path, MORE))
    assert (more.name, more.title, more.licence) == ("more", base.title, base.licence)
    assert dict(list(more.tables.items())[:-1]) == base.tables
    assert dict(list(more.tools.items())[:-1]) == base.tools
    assert more.data == (*base.data, "INSERT INTO notes VALUES ('tea')")
    assert [section.title for section in more.policy] == [*(one.title for one in base.policy), "Notes"]
    assert more.policy[0].rules == (*base.policy[0].rules, more.policy[0].rules[-1])
    assert base.requests is not None
    assert more.requests is not None
    assert more.requests.asks == base.requests.asks
    assert set(more.requests.questions) == {*base.requests.questions, "note"}
    assert more.invariants == base.invariants
    assert additions(str(tmp_path / "more.yaml")) == (
        "ledger",
        [("tables", ["notes"]), ("tools", ["list_notes"]), ("rules", ["short"]), ("requests", ["note"])],
    )
    assert additions("ledger") is None


def test_its_text_stands_for_both_wherever_it_goes(tmp_path: Path) -> None:
    path = file(tmp_path, MORE)
    text = source_text(path)
    assert "extends" not in yaml.safe_load(text)
    assert load_definition(text) == load_definition(path)
    (tmp_path / "deep").mkdir()
    deeper = file(tmp_path / "deep", {"name": "deeper", "extends": "../more.yaml", "title": "Deeper"})
    assert load_definition(deeper).tools == load_definition(path).tools
    assert load_definition(deeper).title == "Deeper"


def test_what_came_with_a_dataset_reads_no_file(tmp_path: Path) -> None:
    path = file(tmp_path, MORE)
    sly = f"name: sly\nextends: {path}\n"
    assert untrusted({"kind": "app", "application": sly}) is None
    with pytest.raises(InputError, match="there is no application"):
        load_definition(sly)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": None}, "name: an application that extends ledger needs a name of its own"),
        ({"name": "ledger"}, "needs a name of its own"),
        ({"extends": "leger"}, "extends: there is no application 'leger'. Did you mean ledger"),
        ({"extends": "more.yaml"}, "extends: more.yaml extends itself"),
        ({"extends": "nowhere.yaml"}, "nowhere.yaml: does not exist"),
        ({"tools": {"transfer": {"about": "x", "says": "y"}}}, "tools.transfer: ledger has one of this name"),
        ({"tables": ["x"]}, "tables: is no mapping of names"),
        ({"data": "x"}, "data: is no list"),
        ({"requests": {"speaker": {}, "asks": {"transfer": {}}}}, "requests.asks.transfer|requests.speaker"),
        ({"tols": {}}, "tols: there is no such key .did you mean tools"),
        ({"tools": {"x": {"about": "x", "say": "y"}}}, "tools.x.say: there is no such key"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"(?i){said}"):
        load_definition(file(tmp_path, {**MORE, **change}))
