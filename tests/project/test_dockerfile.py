"""The image as far as it can be checked without a container tool: what it is made of, and what a linter would say.

Nothing here builds it.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".ci" / "Dockerfile"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def instructions(text: str) -> list[tuple[str, str]]:
    """(``RUN``, its words), comments left out and continued lines joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", "")
    return [(words.split()[0], words.partition(" ")[2].strip()) for words in lines.splitlines() if words.strip()]


def problems(text: str) -> list[str]:
    """What a linter would say."""
    found: list[str] = []
    arguments: set[str] = set()
    stages: list[str] = []
    last: dict[str, str] = {}
    for name, words in instructions(text):
        if name == "ARG":
            arguments.add(words.partition("=")[0])
        elif name == "FROM":
            image, _, stage = words.partition(" AS ")
            stages.append(stage)
            last = {}
            if ":" not in image or image.endswith(":latest"):
                found.append(f"{image} has no version")
            found += [f"{used} is not declared" for used in re.findall(r"\$\{(\w+)", image) if used not in arguments]
        elif name == "COPY":
            found += [f"no stage {used}" for used in re.findall(r"--from=(\S+)", words) if used not in stages[:-1]]
        elif name == "RUN":
            if subprocess.run(["sh", "-n", "-c", words], capture_output=True, check=False).returncode:
                found.append(f"the shell can't read: {words}")
            if re.search(r"\bpip (install|wheel)\b(?!.*--no-cache-dir)", words):
                found.append("pip keeps its cache in the image")
        elif name in ("ENTRYPOINT", "CMD"):
            try:
                assert all(isinstance(word, str) for word in json.loads(words))
            except ValueError:
                found.append(f"{name} is run by a shell, which passes no signal on")
        elif name == "WORKDIR" and not words.startswith("/"):
            found.append("WORKDIR depends on the one before")
        elif name not in ("ENV", "USER", "VOLUME", "WORKDIR"):
            found.append(f"{name} is not known here")
        last[name] = words
    if last.get("USER", "root") in ("root", "0"):
        found.append("it runs as root")
    return found


def test_the_image_is_what_a_linter_wants() -> None:
    assert problems(FILE.read_text()) == []


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("${PYTHON}-slim-bookworm\n", "latest\n", "has no version"),
        ("ARG PYTHON=3.12\n", "", "PYTHON is not declared"),
        ("--from=wheel", "--from=wheels", "no stage wheels"),
        ("--no-cache-dir --no-deps", "--no-deps", "pip keeps its cache"),
        ("+[${EXTRAS}]}", "+[${EXTRAS}]", "the shell can't read"),
        ('["synth"]', "synth", "ENTRYPOINT is run by a shell"),
        ("WORKDIR /data", "WORKDIR work", "WORKDIR depends"),
        ("USER 1000\n", "", "it runs as root"),
        ("VOLUME /store", "VOLUMES /store", "VOLUMES is not known"),
    ],
)
def test_the_linter_sees_what_is_wrong(good: str, bad: str, said: str) -> None:
    text = FILE.read_text()
    assert good in text
    assert said in "; ".join(problems(text.replace(good, bad)))


def test_python_and_extras_of_the_image_are_those_of_the_project() -> None:
    text = FILE.read_text()
    (version,) = re.findall(r"^ARG PYTHON=(.+)$", text, re.M)
    assert version in SpecifierSet(PROJECT["requires-python"])
    named = {extra for extras in re.findall(r"--build-arg EXTRAS=([\w,-]+)", text) for extra in extras.split(",")}
    assert named
    assert named <= set(PROJECT["optional-dependencies"])
    ((_, words),) = [one for one in instructions(text) if one[0] == "ENTRYPOINT"]
    assert shlex.join(json.loads(words)) in PROJECT["scripts"]


def context() -> list[str]:
    """Tracked files that a builder is given: the last line of the ignore file that fits decides."""
    rules = [line for line in Path(f"{FILE}.dockerignore").read_text().splitlines() if line and line[0] != "#"]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    def given(name: str) -> bool:
        parents = [name, *map(str, Path(name).parents)][:-1]
        fits = [rule for rule in rules if any(fnmatch(part, rule.removeprefix("!")) for part in parents)]
        return not fits or fits[-1].startswith("!")

    return [name for name in listed.splitlines() if given(name)]


@pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="not a git checkout: nobody knows which files are the project's"
)
def test_a_builder_is_given_what_the_wheel_is_made_of_and_nothing_else() -> None:
    tops = {name.split("/")[0] for name in context()}
    assert tops == {"LICENSE", "README.md", "data_cards", "flows", "prompts", "pyproject.toml", "schemas", "synth"}
    links = {name for name in context() if (ROOT / name).is_symlink()}
    assert {(ROOT / name).resolve().relative_to(ROOT).parts[0] for name in links} <= tops, "no link leads out"
