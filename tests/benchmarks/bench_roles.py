"""How well a model plays each role: builds of ten tasks in which it has one role, and the others stay as they are.

    python tests/benchmarks/bench_roles.py DOCS --model NAME@URL                     every role
    python tests/benchmarks/bench_roles.py DOCS --model NAME@URL --roles judge,prm   some
    python tests/benchmarks/bench_roles.py DOCS --model NAME@URL --show 5            with what was turned down, quoted

DOCS is a folder of pages. Actors and judges work in the graph of a fictional world, where a run is short; the others
read DOCS. ``rows`` compares the table that a role contributes to with the same build without it. ``kept`` and ``turned
down`` are counted in the stages that called the model. The reflector is left out: no scripted teacher fails often
enough here to be reflected on.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import synth
from synth.dataset.reader import Dataset, load

ROOT = Path(__file__).parents[2]
WALKS = ROOT / "docs" / "guides" / "short-walks.yaml"
SEARCHED: Mapping[str, Any] = {"critical": {"share": 1.0}}

ROLES: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any], str]] = {
    # role -> (whose tasks, settings of both builds, settings of the one in which it is played, table)
    "policy": ("walks", {}, {}, "trajectories"),
    "teacher": ("walks", {}, {}, "trajectories"),
    "judge": ("walks", {"ratings": {}}, {}, "judgments"),
    "believer": ("walks", {}, {"ratings.answer_probability": True, "ratings.outcome_potential": True}, "steps"),
    "judges": ("walks", {"ratings": {}}, {"ratings.judges": 3}, "judgments"),
    "prm": ("docs", SEARCHED, {}, "continuations"),
    "expert": ("docs", SEARCHED, {}, "continuations"),
    "writer": ("docs", {}, {}, "tasks"),
    "extractor": ("docs", {}, {"source.extract": "model"}, "extracted_triples"),
    "checker": ("docs", {}, {}, "tasks"),
    "summarizer": ("docs", {"summaries": {"over": 300}}, {}, "trajectories"),
    "perturber": ("docs", {}, {}, "preferences"),
    "simulator": ("docs", {}, {"environment.simulated": {}}, "trajectories"),
    "student": ("walks", {}, {"rework.reword": True}, "trajectories"),
    "proposer": ("docs", {}, {"questions.kind": "proposed"}, "tasks"),
}


_PLAYED: Mapping[str, str] = {"extractor": "writer", "student": "policy", "believer": "policy", "judges": "judge"}
"""Jobs of a role beside its first one."""


def build(role: str, given: argparse.Namespace, folder: Path, *, played: bool) -> Dataset:
    asked, both, own, _ = ROLES[role]
    settings: dict[str, Any] = dict(both)
    if asked == "docs":
        settings |= {"source.path": str(given.docs), "source.licence": "unknown"}
    if played:
        name, _, address = given.model.rpartition("@")
        settings |= own
        settings[f"roles.{_PLAYED.get(role, role)}"] = {
            "backend": "vllm",
            "model": name,
            "endpoints": [address],
            "rollouts": 4 if role == "believer" else 1,
            "sampling": {"temperature": given.temperature, "max_tokens": given.max_tokens},
        }
    which = {"recipe": WALKS} if asked == "walks" else {"dataset": "docs-search"}
    out = folder / role / ("played" if played else "without")
    return load(synth.build(**which, tasks=given.tasks, settings=settings, out=out, store=folder / "store").path)


def line(role: str, given: argparse.Namespace, folder: Path) -> tuple[str, list[str]]:
    """A row of the table, and some of what was turned down."""
    without = build(role, given, folder, played=False)
    begun = time.monotonic()
    played = build(role, given, folder, played=True)
    seconds = time.monotonic() - begun
    asked = [stage for stage in played.report.stages if stage.models]
    uses = [use for stage in asked for use in stage.models]
    turned_down = sum((Counter(stage.rejected) for stage in asked), Counter[str]())
    table = ROLES[role][3]
    rows = [dataset.count(table) if table in dataset.configs else 0 for dataset in (played, without)]
    cells = (
        f"`{role}`",
        f"{sum(use.calls for use in uses):,}",
        f"{sum(use.prompt_tokens for use in uses):,} and {sum(use.completion_tokens for use in uses):,}",
        ", ".join(f"{stage.label}: {stage.kept} of {stage.rows_in}" for stage in asked),
        ", ".join(f"{reason} {count}" for reason, count in turned_down.most_common()) or "-",
        f"{table} {rows[0]:,} / {rows[1]:,}",
        f"{seconds:.0f}",
    )
    labels = {stage.label for stage in asked}
    quoted = [row for row in played.rows("rejected") if row.stage in labels][: given.show]
    return f"| {' | '.join(cells)} |", [
        f"{row.stage}: {row.reason}: {row.detail} | {row.preview[:200]!r}" for row in quoted
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--model", required=True, help="NAME@URL of a server of the chat completions protocol")
    parser.add_argument("--roles", default=",".join(ROLES))
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--show", type=int, default=0, help="rows turned down to quote, for each role")
    given = parser.parse_args()
    print("| role | calls | tokens: asked and said | kept | turned down | rows: with it / without | seconds |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for role in given.roles.split(","):
            try:
                row, quoted = line(role, given, Path(folder))
            except synth.SynthError as error:
                row, quoted = f"| `{role}` | - | - | - | no dataset: {error} | - | - |", []
            print(row, *(f"    {one}" for one in quoted), sep="\n", flush=True)


if __name__ == "__main__":
    main()
