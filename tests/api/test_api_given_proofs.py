"""A build over given questions holds under ``validate --deep``, which counts what it can't prove of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shared_builds import LEAN

import synth
from synth.cli import main
from synth.dataset.audit import audit


def test_a_plan_says_what_is_wrong_with_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pages.jsonl").write_text('{"text": "Alder Bridge was opened by Alder Stone."}\n')
    rows = [{"question": "Who opened it?", "answer": "Alder Stone", "note": ""}, {"question": "Who?", "awnser": "X"}]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ("--source", str(tmp_path / "pages.jsonl"), "--tasks-file", str(tmp_path / "asked.jsonl"))
    main(["plan", "docs-search", *given, "--store", str(tmp_path / "store")])
    said = " ".join(capsys.readouterr().out.split())
    assert "asked.jsonl: 1 of 2 lines are questions (the first that is none: line 2: answer is missing)" in said
    assert "columns that nothing reads: note, awnser" in said


def test_given_questions_hold_and_what_is_not_proven_is_counted(tmp_path: Path) -> None:
    names = "Alder Birch Cedar Dahlia Elm Fir Gorse Hazel".split()
    pages = [
        {"id": f"p{n}", "title": f"{name} Bridge", "text": f"{name} Bridge was opened by {name} Stone in {1900 + n}."}
        for n, name in enumerate(names)
    ]
    asked = [{"question": f"Who opened {name} Bridge?", "answer": f"{name} Stone"} for name in names]
    for file, rows in (("pages.jsonl", pages), ("asked.jsonl", asked)):
        (tmp_path / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    built = synth.build(
        "docs-search",
        source=tmp_path / "pages.jsonl",
        tasks_file=tmp_path / "asked.jsonl",
        out=tmp_path / "out",
        store=tmp_path / "store",
        settings=LEAN,
    )
    found = audit(built.path)
    assert [str(violation) for violation in found.violations] == []
    rules = {rule.rule: rule for rule in found.rules}
    for name in ("unique", "shortcut", "stated"):
        assert (rules[name].rows, rules[name].undecided) == (0, len(names))
        assert "own question" in rules[name].why
    assert rules["evidence"].rows == rules["provenance"].rows == len(names)
    bad = tmp_path / "out" / "report.json"  # what is proven still is: another source than the report's is seen
    bad.write_text(bad.read_text().replace(built.report.source.sha256, "0" * 64))
    assert {violation.rule for violation in audit(built.path).violations} == {"provenance"}
