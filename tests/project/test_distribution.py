"""The package is called the same everywhere, and by a name that is ours on the index."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import packages_distributions, version
from pathlib import Path

import yaml

import synth
from synth.cli.checkup import checkup
from synth.distribution import DISTRIBUTION, install

ROOT = Path(__file__).resolve().parents[2]


def test_the_distribution_is_named_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION != "synth"
    assert set(packages_distributions()["synth"]) == {DISTRIBUTION}
    assert synth.__version__ == version(DISTRIBUTION) == project["version"]


def test_it_is_cited_as_it_is_published() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])


def test_no_advice_installs_the_package_of_others() -> None:
    theirs = re.compile(r"pip install ['\"]?synth(?:\[|['\"]?\s|['\"]?$)", re.MULTILINE)
    files = [*ROOT.glob("*.md"), *(path for path in (ROOT / "synth").rglob("*") if path.suffix in (".py", ".md"))]
    assert not [path for path in files if theirs.search(path.read_text(encoding="utf-8"))]
    absent = [found.detail for found in checkup() if found.state == "absent" and found.what.startswith("extra ")]
    assert absent
    assert all(DISTRIBUTION in detail for detail in absent)
    assert install("ray") == f"pip install '{DISTRIBUTION}[ray]'"
