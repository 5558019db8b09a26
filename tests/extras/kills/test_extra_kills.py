"""Whatever is killed, whenever: the same command ends with the same bytes, and nothing finished or paid is done again.

Builds of the datasets that need no extra, one through a model's server under faults, an append, an import, an export,
an edition without text that is not ours, pushes to a Hub (by Xet and by LFS, of such an edition, of what was appended
to) and a build into storage elsewhere are killed at random times (of SYNTH_KILLS_SEED) until SYNTH_KILLS (40) kills are
through.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from faults_builds import Built, arguments, bound, serve
from faults_killed import KILLED, Run
from hub_pusher import XET
from shared_builds import hashes
from stand_ins.model_server import reconcile
from stand_ins.zygote import Zygote

import synth
from synth.identity import derive_generator
from synth.mocks.hub import HubServer
from synth.mocks.model import Faults
from synth.store.remote import local_dataset

pytestmark = pytest.mark.extras

KILLS = int(os.environ.get("SYNTH_KILLS", "40"))
SEED = int(os.environ.get("SYNTH_KILLS_SEED", "26"))
TOKEN = "hf_kills"
DOCS = Path(__file__).parents[3] / "docs"
FACTS = "subject\trelation\tobject\n" + "".join(
    f"City{n}\tin country\tLand{n % 9}\nCity{n}\tfounded in\t{1500 + 7 * n}\nLand{n % 9}\tcapital\tCity{n % 9}\n"
    for n in range(60)
)
LEFT_OUT = [f"--set={key}=null" for key in ("contexts", "distractors", "difficulty")]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    with HubServer(tmp_path_factory.mktemp("hub"), token=TOKEN) as server:
        yield server


@contextmanager
def commands(hub: HubServer, folder: Path, variables: Mapping[str, str]) -> Iterator[Zygote]:
    before = dict(os.environ)
    # The library reads them once.
    os.environ.update(HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN, HF_HUB_OFFLINE="0", **variables)
    made = Zygote()
    os.environ.clear()
    os.environ.update(before)
    # it imports first
    made.run(do="command", arguments=["--version"], variables={}, said=str(folder / "said"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def zygote(hub: HubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    with commands(hub, tmp_path_factory.mktemp("first"), {"HF_HUB_DISABLE_XET": "1"}) as made:
        yield made


@pytest.fixture(scope="module")
def by_xet(hub: HubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    """As the library uploads by itself."""
    folder = tmp_path_factory.mktemp("xet")
    with commands(hub, folder, {**XET, "HF_XET_CACHE": str(folder / "cache")}) as made:
        yield made


@pytest.fixture(scope="module")
def made(zygote: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small dataset, for what is done with one."""
    folder = tmp_path_factory.mktemp("made")
    assert Run(zygote, folder, build("world-search", "--tasks=4", "--set=source.entities=300")).once() == 0
    return folder / "out"


def quoting(zygote: Zygote, made: Path) -> Path:
    """A small dataset of pages without a licence: everybody gets an edition without their text."""
    folder = made.parent.parent / "pages"
    if not (folder / "out").exists():
        more = ("--tasks=3", "--source", str(DOCS / "guides"), "--set=questions.ranks=[gap, good, fair]")
        assert Run(zygote, folder, build("docs-search", *more)).once() == 0
    return folder / "out"


def build(name: str, *more: str) -> Callable[[Path], list[str]]:
    return lambda folder: ["build", name, *more, *LEFT_OUT, "--store", f"{folder}/store", "--out", f"{folder}/out"]


def facts(folder: Path) -> list[str]:
    (folder / "facts.tsv").write_text(FACTS, encoding="utf-8")
    return build("graph-search", "--tasks=4", "--source", f"{folder}/facts.tsv")(folder)


def into_storage(folder: Path) -> list[str]:
    command = build("world-search", "--tasks=3", "--set=source.entities=300")(folder)
    return [*command[:-1], f"file://{folder}/there"]


def appended(folder: Path, made: Path) -> list[str]:
    """To a copy of the build, in a copy of its store."""
    if not (folder / "out").exists():
        shutil.copytree(made.parent / "store", folder / "store")
        shutil.copytree(made, folder / "out")
    return ["append", f"{folder}/out", "--tasks=2", "--store", f"{folder}/store"]


TARGETS: dict[str, Callable[[Path, Path], list[str]]] = {
    "world-search": lambda folder, made: build("world-search", "--tasks=4", "--set=source.entities=300")(folder),
    "docs-search": lambda folder, made: build(
        "docs-search", "--tasks=4", "--source", str(DOCS), "--set=questions.ranks=[gap, good, fair]"
    )(folder),
    "graph-search": lambda folder, made: facts(folder),
    "graph-walk": lambda folder, made: build("graph-walk", "--tasks=4", "--set=source.entities=300")(folder),
    "app-desk": lambda folder, made: build("app-desk", "--tasks=3")(folder),
    "storage": lambda folder, made: into_storage(folder),
    "import": lambda folder, made: [
        *("import", str(made.parent / "runs.jsonl"), "--from", "auto"),
        *("--store", f"{folder}/store", "--out", f"{folder}/out"),
    ],
    "append": appended,
    "redact": lambda folder, made: ["redact", f"{made.parent.parent}/pages/out", "--out", f"{folder}/out"],
    "export": lambda folder, made: ["export", str(made), "--to", "openai", "--out", f"{folder}/out"],
}


PUSHES = ("push", "xet", "public", "appended")
EACH = max(1, KILLS // (len(TARGETS) + len(PUSHES) + 1))
"""Kills of a target."""


def result(folder: Path) -> dict[str, str]:
    there = folder / "there"
    return hashes(local_dataset(f"file://{there}") if there.exists() else folder / "out")


@pytest.mark.parametrize("name", TARGETS)
def test_a_killed_command_ends_with_the_same_bytes(name: str, zygote: Zygote, made: Path, tmp_path: Path) -> None:
    runs = made.parent / "runs.jsonl"
    if name == "import" and not runs.exists():
        synth.export(made, "openai", made.parent / "runs")
        runs.write_bytes(next((made.parent / "runs").rglob("*.jsonl")).read_bytes())
    if name == "redact":
        quoting(zygote, made)
    whole = Run(zygote, tmp_path / "whole", lambda folder: TARGETS[name](folder, made))
    began = time.monotonic()
    assert whole.once() == 0
    seconds = time.monotonic() - began
    generator = derive_generator(SEED, "kills", name)
    kills, wanted = 0, EACH
    for number in count():
        run = Run(zygote, tmp_path / str(number), whole.command)
        while kills < wanted and run.once(float(generator.uniform(0, seconds * 2 / 3))) == KILLED:
            kills += 1
        assert run.once() == 0
        assert result(run.folder) == result(whole.folder)
        if kills >= wanted:
            break
        assert number < 10 * wanted


@pytest.mark.parametrize("kind", PUSHES)
def test_a_killed_push_is_one_commit_with_all_files(
    kind: str, zygote: Zygote, made: Path, hub: HubServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """``public`` is an edition without the text of pages; ``appended`` finds on the Hub what it grew from."""
    generator = derive_generator(SEED, "kills", kind)
    sent = quoting(zygote, made) if kind == "public" else made
    pushing = request.getfixturevalue("by_xet") if kind == "xet" else zygote
    if kind == "appended":
        sent = made.parent / "grown" / "out"
        if not sent.exists():
            assert Run(zygote, sent.parent, lambda folder: appended(folder, made)).once() == 0

    def run(repo: str) -> Run:
        words = ["push", str(sent), "--repo", f"me/{kind}-{repo}", *(["--public"] if kind == "public" else [])]
        if kind == "appended":
            first = Run(zygote, tmp_path / f"{repo}-first", lambda folder: ["push", str(made), *words[2:]])
            assert first.once() == 0
        return Run(pushing, tmp_path / repo, lambda folder: words)

    began = time.monotonic()
    assert run("whole").once() == 0
    seconds = time.monotonic() - began
    kills, wanted = 0, EACH
    for number in count():
        one = run(f"w{number}")
        while kills < wanted and one.once(float(generator.uniform(0, seconds))) == KILLED:
            kills += 1
        assert one.once() == 0
        there = [
            hashes(hub.repositories.checkout(f"me/{kind}-{name}", tmp_path / f"at-{name}"))
            for name in ("whole", f"w{number}")
        ]
        assert there[0] == there[1]
        assert len(hub.repositories.history(f"me/{kind}-w{number}")) == (3 if kind == "appended" else 2)
        if kills >= wanted:
            break
        assert number < 10 * wanted


def test_a_killed_build_through_a_server_pays_for_no_reply_twice(zygote: Zygote, tmp_path: Path) -> None:
    """Under faults of every kind. Whether a kill cut off a call that was out is the server's word against the books."""
    size = (4, 400, 0.5)
    wanted = EACH
    plain = Run(zygote, tmp_path / "plain", lambda folder: arguments(folder, *size))
    assert plain.once() == 0
    generator = derive_generator(SEED, "kills", "models")
    with serve(list(synth.load(tmp_path / "plain" / "out").rows("tasks")), Faults.all(0.01, seed=3, slow=0.05)) as at:
        run = Run(zygote, tmp_path / "models", lambda folder: [*arguments(folder, *size), *bound(at.server.url)])
        kills = sum(run.once(float(generator.uniform(0.5, 3.0))) == KILLED for _ in range(wanted))
        assert run.once() == 0
        built = Built(run.folder, at.server.log.records(), kills)
        _, intents, _ = built.books()
        assert reconcile(built.records, intents).problems == ()
    assert len(list(built.dataset.rows("tasks"))) == size[0]
