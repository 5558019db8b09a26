"""The shape of the repository: what stands where, what no file may hold, what every requirement says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "data_cards",
    "docs",
    "flows",
    "prompts",
    "pyproject.toml",
    "schemas",
    "synth",
    "tests",
}
LONGEST = 400
"""Lines of a Python file; a file of tests may have 100 more."""
PATCHING = r"monkeypatch\.(setattr|delattr|delitem|setitem\((?!sys\.modules))"
"""A module that a test makes up may be put into ``sys.modules``: that replaces nothing."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tracked() -> list[Path]:
    """Files of the repository that exist, links left out (they are listed under the folder that they point to)."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: nobody knows which files are the project's")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file() and not (ROOT / name).is_symlink()]


def python_files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Dotted names that a module imports, wherever in it."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            found.append(node.module or "")
    return tuple(found)


def test_the_top_level_holds_only_what_it_should() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} <= TOP_LEVEL


def test_links_into_the_package_point_to_the_top_level() -> None:
    for name in ("data_cards", "flows", "prompts", "schemas"):
        link = ROOT / "synth" / name
        assert link.is_symlink()
        assert str(link.readlink()) == f"../{name}"


def test_no_file_names_a_path_of_a_machine_or_the_host_of_a_registry() -> None:
    hosts = ["pypi" + ".org", "python" + "hosted", "npmjs" + ".", "debian" + ".org", "registry" + "."]
    paths = [r"(?<![\w.])/(?:" + "|".join(["wo" + "rk", "ro" + "ot", "ho" + "me"]) + r")/[\w.-]+"]
    wrong = re.compile("|".join([*map(re.escape, hosts[:-1]), *paths]))
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in wrong.finditer(text)]
    assert not found


def test_no_source_file_is_longer_than_one_thing() -> None:
    counts = {path: len(path.read_text().splitlines()) for path in tracked() if path.suffix == ".py"}
    most = {path: LONGEST + 100 * path.is_relative_to(ROOT / "tests") for path in counts}
    assert not {str(path.relative_to(ROOT)): count for path, count in counts.items() if count > most[path]}


def test_every_test_file_has_a_name_of_its_own() -> None:
    """In folders that are not packages, where modules of one name would shadow each other."""
    loose = (path for path in (ROOT / "tests").rglob("*.py") if not (path.parent / "__init__.py").exists())
    names = Counter(path.name for path in loose if path.name != "conftest.py")
    assert not [name for name, count in names.items() if count > 1]
    begun_first = re.findall(r'"(test_\w+\.py)"', (ROOT / "tests" / "conftest.py").read_text())
    assert set(begun_first) <= set(names)


def test_no_test_patches_or_mocks() -> None:
    found = []
    for path in (ROOT / "tests").rglob("*.py"):
        if any(name.split(".")[0] == "mock" or name.startswith("unittest.mock") for name in imported(path)):
            found.append(path.name)
        if path != Path(__file__) and re.search(PATCHING, path.read_text()):
            found.append(path.name)
    assert not found


def requirements() -> list[Requirement]:
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return [Requirement(text) for group in groups for text in group]


@pytest.mark.parametrize("requirement", requirements(), ids=lambda requirement: str(requirement.name))
def test_every_requirement_has_a_lower_bound(requirement: Requirement) -> None:
    assert {clause.operator for clause in requirement.specifier} & {">=", "==", "~="}, str(requirement)


def test_the_base_has_no_torch_and_no_faiss_and_the_two_faiss_never_meet() -> None:
    base = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert not base & {"torch", "faiss-cpu", "faiss-gpu", "sentence-transformers", "transformers", "ray", "vllm"}
    extras = PROJECT["optional-dependencies"]
    assert set(extras) == {
        "dev",
        "docs",
        "embed",
        "gcs",
        "gpu",
        "mcp",
        "pictures",
        "postgres",
        "ray",
        "s3",
        "telemetry",
        "tokenizers",
        "train",
        "web",
    }
    builds = {
        extra: {Requirement(text).name for text in extras[extra]} & {"faiss-cpu", "faiss-gpu"} for extra in extras
    }
    assert builds["embed"] == {"faiss-cpu"}
    assert builds["gpu"] == {"faiss-gpu"}
    conflicts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["conflicts"]
    assert [{"extra": "embed"}, {"extra": "gpu"}] in conflicts


def normal(distribution: str) -> str:
    """The one spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


NOT_IMPORTED = {
    "fastapi": "keeps Prefect's server working",
    "sqlalchemy": "keeps Prefect's schedules firing",
}
"""Requirements of the base that no module imports, each with its reason."""


def imported_tops(*folders: str) -> dict[str, set[str]]:
    """Top-level modules from outside that files below the folders import: module -> files."""
    found: dict[str, set[str]] = {}
    for folder in folders:
        for path in python_files(folder):
            if "sources/code/shipped" in path.as_posix():
                continue  # a project to be repaired: data
            for name in imported(path):
                top = name.split(".")[0]
                if top not in sys.stdlib_module_names and top not in {"synth", ""}:
                    found.setdefault(top, set()).add(str(path.relative_to(ROOT)))
    return found


def test_the_base_asks_for_nothing_that_is_not_used() -> None:
    providers = packages_distributions()
    used = {
        normal(name)
        for top in imported_tops("synth", "schemas", "flows")
        for name in providers.get(top, NOT_INSTALLED.get(top, [top]))
    }
    base = {normal(Requirement(text).name) for text in PROJECT["dependencies"]}
    assert base - used == set(NOT_IMPORTED)


NOT_INSTALLED = {"faiss": ["faiss-cpu"], "PIL": ["pillow"]}
"""Who provides what is imported only where an extra is installed and goes by another name."""


def test_what_is_imported_is_declared() -> None:
    """Distributions behind the imports of the package are requirements of ours, not gifts of somebody else's."""
    providers = packages_distributions()
    declared = {normal(requirement.name) for requirement in requirements()} | {"pydantic-core"}  # pydantic's own half
    missing = {
        top: files
        for top, files in imported_tops("synth", "schemas", "flows").items()
        if not {normal(name) for name in providers.get(top, NOT_INSTALLED.get(top, [top]))} & declared
    }
    assert not missing


def test_schemas_import_pydantic_and_arrow_only() -> None:
    # pydantic_core is pydantic's own half, numpy the one that pyarrow builds offsets with.
    found = {
        f"{path.name}: {name}"
        for path in python_files("schemas")
        for name in imported(path)
        if name.split(".")[0] not in {*sys.stdlib_module_names, "pydantic", "pydantic_core", "pyarrow", "numpy"}
        and not name.startswith("synth.schemas")
    }
    assert not found


def test_a_stage_sees_no_clock_environment_or_global_randomness() -> None:
    forbidden = {"os", "random", "secrets", "socket", "tempfile", "time", "uuid"}
    found = {
        f"{path.name}: {name}"
        for path in python_files("synth/stages")
        for name in imported(path)
        if name.split(".")[0] in forbidden
    }
    assert not found
