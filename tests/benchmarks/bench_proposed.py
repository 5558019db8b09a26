"""A scripted proposer over trees of documents, through HTTP: ``python tests/benchmarks/bench_proposed.py FOLDER...``.

Of each tree: tasks asked for and got, calls of the model, quotes that stand letter by letter where they are said to
stand, what ``validate --deep`` finds; then the same of players that lie, each with tasks that got in. Exit status 1
where a quote is not exact, a proof fails, or a liar gets anything in.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared_builds import LEAN
from stand_ins.model_server import ModelServer, ProposerPlayer
from stand_ins.model_server.proposing import Fault

import synth
from synth.dataset.audit.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import BuildError


def build(folder: Path, tasks: int, place: Path, player: ProposerPlayer) -> tuple[synth.BuildResult | None, int]:
    """The dataset, or None where not enough tasks were left; calls of the proposer."""
    settings: dict[str, Any] = {**LEAN, "questions": {"kind": "proposed"}, "difficulty": None}
    with ModelServer({"toy": player}) as server:
        settings["roles.proposer"] = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
        where: dict[str, Any] = {"out": place / "out", "store": place / "store"}
        try:
            built = synth.build("docs-search", source=folder, tasks=tasks, settings=settings, **where)
        except BuildError as error:
            print(f"    {error}"[:200], flush=True)
            return None, len(server.log.records())
        return built, len(server.log.records())


def exact(built: synth.BuildResult) -> tuple[int, int]:
    """(quotes that stand where they are said to stand, all of them)."""
    dataset = synth.load(built.path)
    texts = {document.id: document.text for document in dataset.rows("documents")}
    spans = [hop.evidence for task in dataset.rows("tasks") for hop in task.walk.hops]
    return sum(texts[span.document_id][span.start : span.end] == span.quote for span in spans), len(spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--tasks", type=int, default=5)
    given = parser.parse_args()
    right = True
    for folder in given.folders:
        for fault in (None, *get_args(Fault)):
            with tempfile.TemporaryDirectory(prefix="bench-proposed-") as scratch:
                built, calls = build(folder, given.tasks, Path(scratch), ProposerPlayer(fault=fault))
                name = f"{folder.name}, {fault or 'honest'}"
                if built is None:
                    print(f"{name}: no dataset, {calls} calls", flush=True)
                    right &= fault is not None
                    continue
                held, quotes = exact(built)
                found = [*validate(built.path), *audit(built.path).violations]
                tasks = len(list(synth.load(built.path).rows("tasks")))
            print(
                f"{name}: {tasks} tasks, {calls} calls, {held} of {quotes} quotes exact, {len(found)} violations",
                flush=True,
            )
            right &= fault is None and held == quotes and not found
    sys.exit(not right)


if __name__ == "__main__":
    main()
