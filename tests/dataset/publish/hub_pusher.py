"""Pushes in a process of its own, for tests: one job per line of standard input, one result per line of output.

The process of the tests stays offline (HF_HUB_OFFLINE), as the library reads that once.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PREFECT_"))},
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
XET = {
    "HF_HUB_DISABLE_XET": "0",
    "HF_XET_CLIENT_RETRY_MAX_ATTEMPTS": "1",
    "HF_XET_CLIENT_RETRY_BASE_DELAY": "10ms",
    "HF_XET_TELEMETRY_ENABLED": "false",
    # The version of its protocol that the stand-in plays.
    "HF_XET_CLIENT_LEGACY_DIRECT_XORB_UPLOAD": "1",
    "HF_XET_CLIENT_SHARD_API_VERSION": "1",
}
"""For a push by Xet, as the library does it by itself where hf_xet is installed."""


def main() -> None:
    from synth.errors import SynthError
    from synth.publish import Patience, push

    for line in sys.stdin:
        job = json.loads(line)
        os.environ["HF_TOKEN"] = job["token"]
        said: list[str] = []
        result: dict[str, Any] = {"name": job["name"], "said": said}
        try:
            done = push(
                job["folder"],
                job["repo"],
                endpoint=job["endpoint"],
                patience=Patience(**job["patience"]),
                announce=said.append,
                **job["options"],
            )
            result["done"] = {**dataclasses.asdict(done), "unchanged": done.unchanged}
        except SynthError as error:
            result["error"] = [type(error).__name__, error.exit_code, str(error)]
        print(json.dumps(result), flush=True)


def run_jobs(
    jobs: Sequence[dict[str, Any]], home: Path, processes: int = 1, environment: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], str]:
    """Results by name, and all that the processes wrote. Jobs of one process run one after the other."""
    started = []
    for number in range(processes):
        mine = jobs[number::processes]
        process = subprocess.Popen(
            [sys.executable, __file__],
            env={**ENVIRONMENT, **(environment or {}), "HF_HOME": str(home / f"hf-{number}")},
            cwd=Path(__file__).resolve().parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append((process, "".join(json.dumps(job) + "\n" for job in mine)))
    results: dict[str, Any] = {}
    written = ""
    for process, lines in [(process, _feed(process, lines)) for process, lines in started]:
        output, errors = process.communicate()
        written += output + errors
        assert process.returncode == 0, errors
        for line in output.splitlines():
            result = json.loads(line)
            results[result["name"]] = result
        assert lines.count("\n") == len(output.splitlines())
    return results, written


def _feed(process: subprocess.Popen[str], lines: str) -> str:
    assert process.stdin is not None
    process.stdin.write(lines)
    process.stdin.flush()
    return lines


def job(name: str, folder: Path, url: str, token: str, **options: Any) -> dict[str, Any]:
    return {
        "name": name,
        "folder": str(folder),
        "repo": options.pop("repo", "ann/world-search"),
        "endpoint": url,
        "token": token,
        "patience": {
            "timeout": 4.0,
            "attempts": 12,
            "first_wait": 0.01,
            "longest_wait": 30.0,
            "jitter": 0.01,
            **options.pop("patience", {}),
        },
        "options": options,
    }


def texts_below(folders: Iterable[Path]) -> Iterable[bytes]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                yield path.read_bytes()


if __name__ == "__main__":
    main()
