"""Benchmarks compared once more: what was put into a Parquet by hand is found, and what was not given is not passed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from planted import TASKS, Planter

from synth.cli import main
from synth.dataset.audit import RuleCount, audit

pytestmark = pytest.mark.thorough

ASKED = "In which of the 12 towns on the river did the painter of 1884 meet the woman who later ran the ferry?"
CLEAN = "Which of the two bridges that were built in 1920 carries more trains in a summer week?"
VARIANTS = {
    "verbatim": ASKED,
    "re-cased": ASKED.upper(),
    "re-punctuated": "; ".join(ASKED.replace("?", " ...").split()),
    "changed numbers": ASKED.replace("12", "thirty-one").replace("1884", "1902"),
    "inside of another text": f"Please tell me this. {ASKED} One word will do.",
}


def rule_of(folder: Path, *files: Path) -> tuple[RuleCount | None, list[str]]:
    found = audit(folder, benchmarks=files)
    rules = {rule.rule: rule for rule in found.rules}
    return rules.get("benchmark"), [str(one) for one in found.violations if one.rule == "benchmark"]


def recorded(folder: Path, file: Path, **rules: Any) -> None:
    """The report as a build writes it that looked at ``file``."""
    path = folder / "report.json"
    report = json.loads(path.read_text())
    report["benchmarks"] = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}
    report["recipe"]["decontaminate"] = {"benchmarks": [file.name], **rules}
    path.write_text(json.dumps(report))


@pytest.fixture
def benchmark_file(tmp_path: Path) -> Path:
    path = tmp_path / "held-out.jsonl"
    path.write_text("".join(json.dumps({"question": text, "answer": "x"}) + "\n" for text in (CLEAN, ASKED)))
    return path


@pytest.mark.parametrize("how", VARIANTS)
def test_an_overlap_in_the_file_is_found(how: str, planter: Planter, benchmark_file: Path) -> None:
    recorded(planter.folder, benchmark_file)
    broken = planter.put(planter.tasks[5], question=VARIANTS[how])
    rule, violations = rule_of(planter.folder, benchmark_file)
    assert rule is not None
    assert (rule.rows, rule.violations, rule.undecided) == (TASKS, 1, 0)
    (said,) = violations
    assert broken in said
    assert "words in a row stand in row 2 of held-out.jsonl" in said


def test_the_dataset_as_it_was_built_shares_nothing(planter: Planter, benchmark_file: Path) -> None:
    assert rule_of(planter.folder) == (None, []), "nobody named a benchmark"
    rule, violations = rule_of(planter.folder, benchmark_file)
    assert rule is not None, "one that the recipe does not name is compared as well"
    assert (rule.rows, violations) == (TASKS, [])


def test_what_was_not_given_is_not_checked(planter: Planter, benchmark_file: Path, tmp_path: Path) -> None:
    recorded(planter.folder, benchmark_file)
    rule, violations = rule_of(planter.folder)
    assert rule is not None
    assert (rule.rows, rule.undecided, violations) == (0, TASKS, [])
    sha = hashlib.sha256(benchmark_file.read_bytes()).hexdigest()
    assert rule.why == f"not checked: held-out.jsonl (sha256 {sha[:16]}) was not given: say --benchmark FILE"

    moved = tmp_path / "elsewhere.jsonl"
    moved.write_bytes(benchmark_file.read_bytes())
    rule, _ = rule_of(planter.folder, moved)
    assert rule is not None, "a file is known by what it holds"
    assert (rule.rows, rule.undecided) == (TASKS, 0)

    benchmark_file.write_text(json.dumps({"question": CLEAN}))
    rule, _ = rule_of(planter.folder, benchmark_file)
    assert rule is not None, "another file of the same name is another file"
    assert (rule.rows, rule.undecided) == (TASKS, TASKS)


def test_the_rules_are_those_of_the_recipe(planter: Planter, benchmark_file: Path) -> None:
    recorded(planter.folder, benchmark_file, parts=["answer"])
    planter.put(planter.tasks[5], question=ASKED)
    assert rule_of(planter.folder, benchmark_file)[1] == []
    recorded(planter.folder, benchmark_file, similarity=0.9)
    words = ASKED.rstrip("?").split()
    turned = planter.put(planter.tasks[6], question=" ".join([*words[1::2], *words[::2]]) + "?")
    (said,) = (one for one in rule_of(planter.folder, benchmark_file)[1] if turned in one)
    assert "its vector is" in said
    recorded(planter.folder, benchmark_file, similarity=0.9, encoder="sentence-transformers")
    rule, _ = rule_of(planter.folder, benchmark_file)
    assert rule is not None
    assert "vectors of a model are not compared" in rule.why


def test_the_command_takes_benchmarks(
    planter: Planter, benchmark_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["validate", str(planter.folder), "--benchmark", str(benchmark_file)])
    assert "Say --deep as well" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["validate", str(planter.folder), "--deep", "--benchmark", str(benchmark_file) + "x"])
    assert "does not exist. Give a file that ends in one of" in capsys.readouterr().err
