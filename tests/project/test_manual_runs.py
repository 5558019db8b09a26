"""Every block of README and manual is run, in order and as a reader would, or says why it is not."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from manual_material import give, manual_pages
from manual_pages import PAGES, ROOT, Block, blocks_of
from stand_ins import forked

import synth

pytestmark = pytest.mark.thorough

FEW = 4
"""Tasks of a build, whatever a page asks for."""
SMALLER: Mapping[str, tuple[str, ...]] = {"world-search": ("--set", "source.entities=600")}
"""Recipe -> what makes it quicker, where the command says nothing of its source."""
ENTRY = [sys.executable, "-c", "from synth.cli import main; main()"]
SERVERS = ("mock-endpoint", "mock-hub", "serve-reward", "serve-env")
MEMORY = 2**36
MOST = 600.0
"""Seconds until a command that does not end is killed."""
BLOCKS = {page: list(blocks_of(page)) for page in PAGES}


class Reader:
    """Does what a page says, in a folder of its own."""

    def __init__(self, folder: Path, home: Path, servers: ExitStack) -> None:
        self.folder, self.home, self.servers = folder, home, servers
        self.addresses: dict[str, str] = {}
        self.hub: dict[str, str] = {}
        self.names: dict[str, Any] = {"__name__": "manual"}
        self.said = ""
        """What the last command printed."""

    def do(self, block: Block, recipes: str) -> None:
        if block.marked("not run"):
            return
        if name := block.marked("file"):
            (self.folder / name).write_text(block.text, encoding="utf-8")
        elif name := block.marked("begins"):
            assert (self.folder / name).read_text(encoding="utf-8").startswith(block.text), block.place
        elif name := block.marked("shows"):
            self._shows(block, self.folder / name)
        elif block.kind in ("sh", "material", "python", "text"):
            ways = {"sh": self._lines, "material": self._given, "python": self._python, "text": self._compare}
            ways[block.kind](block)
        else:
            self._recipe(block, recipes)

    def _given(self, block: Block) -> None:
        give(block.text, self.folder)

    def _lines(self, block: Block) -> None:
        left_out = block.left_out()
        lines = [line for line in block.text.splitlines() if line.strip()]
        for words in left_out:
            assert any(words in line for line in lines), f"{block.place}: no line has {words!r}"
        for line in lines:
            if not any(words in line for words in left_out):
                begun = time.monotonic()
                self._command(line, block.place, as_it_is=block.hidden)
                print(f"{time.monotonic() - begun:5.1f} s  {line}")

    def _python(self, block: Block) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = re.sub(r"\btasks=\d+", f"tasks={FEW}", self._here(block.text))
            exec(compile(code, block.place, "exec"), self.names)
        self.said = said.getvalue()

    def _compare(self, block: Block) -> None:
        """What was printed is what the page shows; ``...`` stands for anything."""
        shown = "\n".join(line.rstrip() for line in block.text.strip().splitlines())
        said = "\n".join(line.rstrip() for line in self.said.strip().splitlines())
        pattern = ".*?".join(re.escape(part) for part in shown.split("..."))
        assert re.fullmatch(pattern, said, re.S), f"{block.place} shows what was not printed:\n{said}"

    def _shows(self, block: Block, folder: Path) -> None:
        words = [word for line in block.text.splitlines()[1:] for word in line.split()]
        names = [word for word in words if word.endswith("/") or re.fullmatch(r"[\w/-]+\.(md|json|parquet)", word)]
        assert names
        for name in names:
            assert any(folder.glob(name.rstrip("/"))), f"{block.place}: {folder} has no {name}"

    def _recipe(self, block: Block, recipes: str) -> None:
        """Saved under its name, and built where no command of the page does."""
        assert block.kind == "yaml", f"{block.place}: nobody knows how to run {block.kind!r}"
        path = self.folder / f"{yaml.safe_load(block.text)['name']}.yaml"
        there = path.exists()
        path.write_text(self._here(block.text), encoding="utf-8")
        if f"--recipe {path.name}" not in recipes:
            self._command(f"synth build --recipe {path.name}", block.place)
        elif f"synth init {path.name}" in recipes and not there:  # later, and the page goes on with what that writes
            self._command(f"synth plan --recipe {path.name}", block.place)
            path.unlink()

    def _here(self, text: str) -> str:
        """With the addresses that servers got here, and the folder of this reader's pages."""
        for shown, there in self.addresses.items():
            text = text.replace(shown, there)
        return re.sub(r"/path/to/my/\w+", str(self.home / "docs"), text)

    def _command(self, line: str, place: str, *, as_it_is: bool = False) -> None:
        words = [
            str(self.home / word[2:]) if word.startswith("~/") else word
            for word in shlex.split(self._here(line), comments=True)
        ]
        variables: dict[str, str] = {}
        while words and re.match(r"[A-Z_]+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        if words == ["make", "demo"]:
            (words,) = (shlex.split(one)[1:] for one in self._demo() if "/synth build " in one)
            words = ["synth", *words]
        assert words[0] in ("synth", "python"), f"{place}: nobody knows how to run {words[0]!r}"
        if words[0] == "python":
            done: forked.Ended | subprocess.CompletedProcess[str] = self._ended([sys.executable, *words[1:]], variables)
        elif words[1] in SERVERS and "--over mcp " not in line:
            self._serve(words[1:])
            return
        elif words[1] == "push":
            done = self._ended([*ENTRY, *words[1:]], self.hub | variables)
        else:
            done = self._synth(words[1:] if as_it_is else _sized(words[1:], self.addresses), variables)
        assert done.returncode == 0, f"{place}: {line.strip()}\n{done.stdout}{done.stderr}"
        self.said = done.stdout

    def _demo(self) -> list[str]:
        """What `make demo` runs, at the size of a test."""
        command = ["make", "-n", "demo", f"DEMO_TASKS={FEW}"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()

    def _ended(self, words: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """In a process that knows nothing of this one: the Hub's client reads its variables when it is imported."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_HUB")}
        return subprocess.run(
            words,
            cwd=self.folder,
            env=kept | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MOST,
        )

    def _synth(self, words: list[str], variables: dict[str, str]) -> forked.Ended:
        for name in ("said.out", "said.err"):
            (self.folder / name).unlink(missing_ok=True)
        return forked.run(words, self.folder, variables=variables, memory=MEMORY, seconds=MOST)

    def _serve(self, words: list[str]) -> None:
        """Starts a server, at any free port, until the page ends."""
        if "--port" in words:
            place = words.index("--port")
            del words[place : place + 2]
        process = self.servers.enter_context(
            subprocess.Popen([*ENTRY, *words, "--port", "0"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        )
        self.servers.callback(process.wait, 60)
        self.servers.callback(process.terminate)  # first
        assert process.stdout is not None
        line = process.stdout.readline()
        there = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert there is not None, f"{words}: {line}"
        if words[0] == "mock-endpoint":
            for host in ("localhost", "127.0.0.1", "gpu1", "gpu2"):
                self.addresses[f"http://{host}:8000"] = there[0]
        elif words[0] == "mock-hub":
            self.addresses["http://127.0.0.1:8001"] = there[0]
            self.hub = dict(re.findall(r"(HF_\w+)=(\S+)", line))


def _sized(words: list[str], addresses: Mapping[str, str]) -> list[str]:
    """The command at the size of a test: the only thing that is not as the page has it."""
    if words[0] == "doctor" and "--model" in words and "--endpoint" not in words:
        return [*words, "--endpoint", addresses["http://localhost:8000"] + "/v1"]
    if words[0] not in ("build", "plan", "preview", "mix") or "--tasks-file" in words:
        return words
    sized = list(words)
    if "--tasks" in sized:
        place = sized.index("--tasks") + 1
        sized[place] = str(min(FEW, int(sized[place])))
    elif words[0] in ("build", "plan"):
        sized += ["--tasks", str(FEW)]
    if not any("source" in word for word in sized):
        sized += SMALLER.get(words[1], ())
    return sized


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's home, with pages of theirs in ``docs``, and one store for all pages of the manual."""
    home = tmp_path_factory.mktemp("home")
    manual_pages(home / "docs")
    return home


@pytest.fixture
def reader(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, value in {
        "SYNTH_STORE": home / "store",
        "XDG_CACHE_HOME": home / "cache",
        "HF_HOME": home / "hf",
    }.items():
        monkeypatch.setenv(name, str(value))
    with ExitStack() as servers:
        yield Reader(tmp_path, home, servers)


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCKS[page]], ids=lambda page: page.stem)
def test_what_the_page_says_works(page: Path, reader: Reader, tmp_path: Path) -> None:
    recipes = "\n".join(block.text for block in BLOCKS[page] if block.kind == "sh")
    for block in BLOCKS[page]:
        reader.do(block, recipes)
    reader.servers.close()
    for pushed in tmp_path.glob("hub/files/*/*"):  # written when the server ends
        assert synth.load(pushed).count("tasks")
