"""Builds that share their rows by claims: what must be so wherever the claims are kept.

Every hub has replies of its own, and no two are alike: equal tables show that each row was done by one build.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from engine_toys import Built
from model_toys import ChatsConfig, FakeHub, Wordings, chat_build, chat_plan, sent

from synth.engine import Plan, StageNode
from synth.errors import SynthError


def build(
    folder: Path,
    place: Path | str,
    name: str,
    plan: Plan | None = None,
    seconds: float = 0.01,
    beside: Sequence[str] = (),
) -> Built:
    """Whatever the machine does, no reply comes before each build of ``beside`` has sent a request."""
    hub = FakeHub(
        folder / f"calls-{name}",
        seconds=seconds,
        place=place,
        company=lambda: all(sent(folder / f"calls-{other}") for other in beside),
    )
    return chat_build(folder / f"store-{name}", hub, plan, shared=True)


def wordings() -> Plan:
    toy = chat_plan(20)
    nodes = (*toy.nodes[:2], StageNode("wordings", Wordings, ChatsConfig(), {"index": "index"}))
    return Plan(toy.dataset, toy.seed, toy.source, nodes, 20)


def two_builds_do_each_row_once(folder: Path, place: Path | str) -> None:
    """Rows, and candidates whose shards are cut by what was accepted."""
    for number, plan in enumerate((chat_plan(), wordings())):
        names = [f"{number}-one", f"{number}-two"]
        built: dict[str, Built] = {}

        def run(name: str, plan: Plan = plan, names: Sequence[str] = names, built: dict[str, Built] = built) -> None:
            built[name] = build(folder, place, name, plan, beside=names)

        threads = [threading.Thread(target=run, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert built[names[0]].tables == built[names[1]].tables
        counts = [len(sent(folder / f"calls-{name}")) for name in names]
        assert all(counts), "both took a part"
        build(folder, folder / f"{number}.sqlite", f"{number}-alone", plan)
        assert sum(counts) == len(sent(folder / f"calls-{number}-alone"))
        # One that comes when all is done asks nothing.
        assert build(folder, place, f"{number}-late", plan).tables == built[names[0]].tables
        assert not sent(folder / f"calls-{number}-late")


def what_a_killed_build_had_claimed_is_done_by_another(folder: Path, place: Path | str) -> None:
    """Killed, or ended by an error, while it is at rows."""
    child = os.fork()
    if not child:
        try:
            build(folder, place, "killed", seconds=0.3)
        finally:
            os._exit(1)
    began = time.monotonic()
    while len(sent(folder / "calls-killed")) < 6 and time.monotonic() - began < 20:
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    failing = FakeHub(folder / "calls-failing", place=place, budget=10, end=SynthError("no more"))
    try:
        chat_build(folder / "store-failing", failing, shared=True)
        raise AssertionError("it had a budget of fewer calls than there are")
    except SynthError:
        pass
    built = build(folder, place, "other")
    assert build(folder, place, "killed").tables == built.tables
    assert build(folder, place, "failing").tables == built.tables


CASES: tuple[Callable[[Path, Path | str], None], ...] = (
    two_builds_do_each_row_once,
    what_a_killed_build_had_claimed_is_done_by_another,
)
