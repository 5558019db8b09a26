"""A command that is killed at random and run again, and what must hold of each run of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine_toys import begun, finished_on_disk, run_twice
from stand_ins.zygote import Zygote

from synth.store.ledger import read_ledger

KILLED = -signal.SIGKILL


@dataclass
class Run:
    """A command in ``folder``, run again and again."""

    zygote: Zygote
    folder: Path
    command: Callable[[Path], list[str]]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Further ones of its environment."""

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)

    def once(self, kill_after: float | None = None) -> int:
        """Its exit code; nothing that was finished before is done again."""
        store = self.folder / "store"
        ledger = self.folder / f"ledger-{len(list(self.folder.glob('ledger-*')))}"
        finished = finished_on_disk(store) if (store / "format.json").exists() else set()
        code = self.zygote.run(
            kill_after,
            do="command",
            arguments=self.command(self.folder),
            variables={
                "SYNTH_LEDGER": str(ledger),
                "SYNTH_COPIES": str(self.folder / "copies"),
                **self.variables,
            },
            said=str(self.folder / "said"),
        )
        assert code in (0, KILLED), (self.folder / "said").read_text()
        if code == KILLED and (told := os.environ.get("SYNTH_KILLS_TOLD")):
            with open(told, "a", encoding="utf-8") as file:
                file.write(".")
        entries = read_ledger(ledger)
        again = begun(entries) & finished
        assert again == set(), f"finished work was run again: {sorted(again, key=str)[:5]}"
        assert run_twice(entries) == []
        return code
