"""Memory of an import as its file grows: ``bench_import.py [--runs 25000 50000 100000] [--questions 2000]``.

Each import is a process of its own and goes all the way: card, splits, report. Memory is what it grows by at its peak,
memory-mapped files of the store apart: flat is a ratio near 1 of the last to the first. With ``--questions`` the runs
ask so many questions in turn, whose answers are known: then there are verdicts, labels of steps and pairs, too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORT = """
import json, sys
sys.path.insert(0, sys.argv[4])
from dedup_contenders import measured
import synth
import synth.pipelines.importing
report = {}
with measured(report):
    done = synth.import_file(sys.argv[1], "auto", sys.argv[2], store=sys.argv[3], tasks_file=sys.argv[5] or None)
print(json.dumps({"runs": done.report.trajectories, **report}))
"""
QUESTION = "How long is river number {}?"
_MORE = "More of it. " * 120


def write(path: Path, count: int, questions: int) -> None:
    """So many runs of about two kilobytes, each on a question of its own, or on one of ``questions``; of those every
    third run is wrong."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            river = number % questions if questions else number
            told = river + 7 + (1000 + number if questions and number % 3 == 0 else 0)
            call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": f'{{"n": {river}}}'}}
            messages = [
                {"role": "user", "content": QUESTION.format(river)},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": f"It is {told} km long. {_MORE}"},
                {"role": "assistant", "content": f"{told} km"},
            ]
            file.write(json.dumps({"id": f"r{number}", "messages": messages}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, nargs="+", default=[25_000, 50_000, 100_000])
    parser.add_argument("--questions", type=int, default=0)
    peaks: list[float] = []
    given = parser.parse_args()
    counts, questions = given.runs, given.questions
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="bench-import-") as folder:
            place = Path(folder)
            write(place / "runs.jsonl", count, questions)
            words = [str(place / name) for name in ("runs.jsonl", "out", "store")] + [str(Path(__file__).parent), ""]
            if questions:
                asked = ({"question": QUESTION.format(n), "answer": f"{n + 7} km"} for n in range(questions))
                words[-1] = str(place / "questions.jsonl")
                Path(words[-1]).write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
            done = subprocess.run([sys.executable, "-c", IMPORT, *words], check=True, capture_output=True, text=True)
            found = json.loads(done.stdout)
            peaks.append(found["grown_mb"])
            pace = found["runs"] / found["wall_s"]
            print(f"{found['runs']:>9,} runs: {found['grown_mb']:,.0f} MB, {pace:,.0f} runs/s", flush=True)
    if len(counts) < 2:
        return
    grown = (peaks[-1] - peaks[0]) * 1e6 / (counts[-1] - counts[0])
    print(f"ratio {peaks[-1] / peaks[0]:.2f} for {counts[-1] / counts[0]:.0f} times the runs: {grown:,.0f} bytes a run")


if __name__ == "__main__":
    main()
