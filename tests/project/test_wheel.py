"""The wheel works outside the checkout, also in a folder that has packages named like ours."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
DATA_SUFFIXES = {".json", ".j2", ".jinja", ".md", ".toml", ".txt", ".typed", ".yaml"}
LINKED = ("data_cards", "flows", "prompts", "schemas")


def call(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution: what holds for it holds for both."""
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel alone in it; its dependencies are those of the environment of the tests."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    call(sys.executable, "-m", "venv", "--without-pip", folder, cwd=wheel.parent)
    python = folder / "bin" / "python"
    call(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    purelib = call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    # A line of a .pth file adds a folder without reading the .pth files in it: the editable checkout stays out.
    borrowed = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    Path(purelib, "zz_dependencies.pth").write_text("\n".join(borrowed) + "\n")
    return python


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A user's folder with packages of the names of our top-level folders, each of which must not be imported."""
    for name in (*LINKED, "synth_recipes", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise ImportError('the user has a {name} of his own')\n")
    return tmp_path


def test_the_wheel_claims_no_top_level_name_but_synth_and_holds_every_file_of_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        described = archive.read(metadata).decode()
        licences = [name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    assert {name.split("/")[0] for name in names} == {"synth"}
    tracked = call("git", "ls-files", "synth", *LINKED, cwd=ROOT).splitlines() if (ROOT / ".git").exists() else []
    wanted = set()
    for name in tracked:
        path = name if name.startswith("synth/") else f"synth/{name}"
        if (ROOT / name).is_file() and Path(name).suffix in {".py", *DATA_SUFFIXES}:
            wanted.add(path)
    assert wanted <= names, sorted(wanted - names)
    assert not [name for name in names if "__pycache__" in name]
    assert licences
    assert "License-Expression: Apache-2.0" in described
    assert "Requires-Python: >=3.11" in described
    assert "Requires-Dist: torch" not in described.replace("Requires-Dist: torch>=2.8; extra ==", "")


def test_the_wheel_imports_its_own_packages_in_a_folder_with_others_of_the_same_names(
    installed: Path, hostile: Path
) -> None:
    code = (
        "import json, synth, synth.errors, synth.flows, synth.identity, synth.schemas.adp, synth.stages.contract;"
        "print(json.dumps([m.__file__ for m in (synth, synth.flows, synth.schemas.adp, synth.stages.contract)]))"
    )
    files = json.loads(call(installed, "-c", code, cwd=hostile))
    home = installed.parent.parent
    assert all(Path(file).is_relative_to(home) for file in files), files


def test_prompts_and_card_templates_are_readable_from_the_wheel(installed: Path, hostile: Path) -> None:
    code = (
        "import json, importlib.resources as r\n"
        "def texts(folder):\n"
        "    for item in folder.iterdir():\n"
        "        if item.is_dir(): yield from texts(item)\n"
        "        elif item.name.endswith(('.md', '.j2', '.json', '.yaml')): yield len(item.read_text('utf-8'))\n"
        "print(json.dumps({n: list(texts(r.files('synth') / n)) for n in ('prompts', 'data_cards')}))"
    )
    sizes = json.loads(call(installed, "-c", code, cwd=hostile))
    assert sizes["prompts"]
    assert sizes["data_cards"]
    assert all(size > 0 for group in sizes.values() for size in group)


def test_the_command_of_the_wheel_lists_the_datasets(installed: Path, hostile: Path) -> None:
    shown = call(installed.parent / "synth", "list", cwd=hostile)
    assert "world-search" in shown
    assert "docs-search" in shown


def test_the_wheel_holds_only_what_users_run(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    inner = ("efficacy", "planted", "mcp_server", "model_server", "stand_ins", "snapshots", "codelock")
    assert not [name for name in names if any(word in name for word in inner)]
    shared = {name for name in names if name.startswith("synth/testing/")}
    assert shared == {f"synth/testing/{name}.py" for name in ("__init__", "corpus", "environments")}
