"""The store: finished shards, journals and acceptances, by the fingerprint of the stage run that made them.

    DIR/format.json                          version of this layout
    DIR/stages/<stage>/<fingerprint16>/
        stage.json                           what the fingerprint stands for
        shards/00000448-00000512/            the shard with units 448 to 511
        journals/00000448.journal            finished rows of a shard that is not committed yet
        views/200-1f3c0a.../                 which candidates make up the first 200 accepted rows (by which rules)
        complete.json                        how many shards there are; written when all of them stand
        used/<dataset>                       touched whenever a build of that dataset uses this
        write.lock, use.lock                 held by the one who writes, by all who read
    DIR/scratch/                             work in progress, nothing that is missed

The label that a recipe gives to a stage is not in the path: equal fingerprints are equal work, whatever it is called.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from synth.errors import StoreError
from synth.places import refuse_remote
from synth.store.calls_format import CALLS_FILE
from synth.store.files import (
    TEMPORARY,
    folder_bytes,
    read_sealed_json,
    remove_folder,
    store_errors,
    temporary_name,
    write_sealed_json,
)
from synth.store.ledger import Ledger
from synth.store.locks import FileLock

__all__ = ["STORE_FORMAT", "Pruned", "StageFolder", "Store", "StoreEntry"]

STORE_FORMAT = 1
"""Bumped when the layout changes; a store of another format is refused, never half understood."""

_FORMAT_FILE = "format.json"


@dataclass(frozen=True)
class StoreEntry:
    """One stage run in the store."""

    stage: str
    fingerprint: str
    """First 16 hex digits."""
    path: Path
    bytes: int
    shards: int
    complete: bool
    datasets: tuple[str, ...]
    last_used: float
    """Seconds since the epoch: when a build last read it, or, unfinished, last wrote to it."""
    in_use: bool


@dataclass(frozen=True)
class Pruned:
    removed: tuple[StoreEntry, ...]
    in_use: tuple[StoreEntry, ...]
    """Would have gone, but a build is working with them."""

    @property
    def bytes(self) -> int:
        return sum(entry.bytes for entry in self.removed)


@dataclass(frozen=True)
class StageFolder:
    """Where one stage run lives. Small when pickled."""

    path: Path
    stage: str
    fingerprint: str

    @property
    def name(self) -> str:
        """``<stage>/<fingerprint16>``."""
        return f"{self.stage}/{self.fingerprint[:16]}"

    @property
    def shards(self) -> Path:
        return self.path / "shards"

    @property
    def views(self) -> Path:
        return self.path / "views"

    @property
    def journals(self) -> Path:
        return self.path / "journals"

    def shard(self, start: int, stop: int) -> Path:
        """Folder of the shard with units ``start`` to ``stop - 1``. A last shard that grows leaves its shorter self be,
        and other shard sizes never meet."""
        return self.shards / f"{start:08d}-{stop:08d}"

    def journal(self, start: int) -> Path:
        """Journal of the shard that begins at unit ``start``."""
        return self.journals / f"{start:08d}.journal"

    def view(self, wanted: int | None, by: str | None = None) -> Path:
        """Folder of the acceptance of ``wanted`` candidates, or of all that there are; ``by`` names the rules."""
        name = "all" if wanted is None else str(wanted)
        return self.views / (name if by is None else f"{name}-{by[:16]}")

    def create(self, identity: Mapping[str, Any]) -> None:
        """Make the folders and remember what the fingerprint stands for.

        Raises:
            StoreError: they can't be made.
        """
        with store_errors(self.path):
            for folder in (self.shards, self.views, self.journals, self.path / "used"):
                folder.mkdir(parents=True, exist_ok=True)
            # A build that holds the write lock may take our temporary file for one that a kill left, once per build.
            for last in (False, False, False, True):
                if read_sealed_json(self.path / "stage.json") is not None:
                    break
                try:
                    write_sealed_json(self.path / "stage.json", dict(identity))
                except FileNotFoundError:
                    if last:
                        raise

    def committed(self) -> dict[int, list[int]]:
        """First unit of a shard -> where its committed folders stop, longest first."""
        found: dict[int, list[int]] = {}
        try:
            names = os.listdir(self.shards)
        except FileNotFoundError:
            return found
        for name in names:
            start, dash, stop = name.partition("-")
            if dash and start.isdigit() and stop.isdigit():
                found.setdefault(int(start), []).append(int(stop))
        return {start: sorted(found[start], reverse=True) for start in sorted(found)}

    def complete(self) -> dict[str, Any] | None:
        return read_sealed_json(self.path / "complete.json")

    def mark_complete(self, facts: Mapping[str, Any]) -> None:
        with store_errors(self.path):
            if self.complete() != dict(facts):
                write_sealed_json(self.path / "complete.json", dict(facts))

    def mark_used(self, dataset: str) -> None:
        with store_errors(self.path):
            (self.path / "used" / quote(dataset, safe=" ")).touch()

    def remove_unfinished(self) -> None:
        """Remove what a killed build left under temporary names. Only for the holder of the write lock."""
        with store_errors(self.path):
            for folder in (self.path, self.shards, self.views, self.journals):
                for name in os.listdir(folder):
                    if name.startswith(TEMPORARY):
                        _remove(folder / name)

    def remove_journals(self, committed: Collection[int]) -> None:
        """Remove journals and their locks of shards that are committed, by their first units: what a larger build has
        finished stays. Only for the holder of the write lock."""
        with store_errors(self.path):
            for path in self._journals_of(committed):
                path.unlink(missing_ok=True)

    def tidy(self, committed: Collection[int]) -> None:
        """The same, for one who only found the shards: journals are left by a kill that came between a commit and its
        end. A build that holds the write lock sees to them itself."""
        with store_errors(self.path):
            if self._journals_of(committed):
                lock = FileLock(self.path / "write.lock")
                if lock.try_acquire():
                    with lock:
                        self.remove_journals(committed)

    def _journals_of(self, committed: Collection[int]) -> list[Path]:
        starts = {f"{start:08d}" for start in committed}
        return [self.journals / name for name in os.listdir(self.journals) if name.partition(".")[0] in starts]

    @contextmanager
    def writing(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the write lock; ``waiting`` is called again and again while another build holds it."""
        lock = FileLock(self.path / "write.lock")
        with store_errors(self.path):
            lock.acquire(waiting)
        try:
            yield
        finally:
            lock.release()

    def using(self) -> FileLock:
        """Take a share in the use lock, so that nobody prunes this meanwhile."""
        lock = FileLock(self.path / "use.lock", shared=True)
        with store_errors(self.path):
            lock.acquire()
        return lock


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class Store:
    """A store at ``root``, made when it is missing.

    Raises:
        StoreError: the folder can't be made or written, is something else, or has another format.
    """

    def __init__(self, root: Path | str, *, ledger: Path | None = None) -> None:
        refuse_remote(root, "store")
        self.root = Path(root).absolute()
        self.ledger = Ledger(ledger) if ledger else None
        self._open()

    def _open(self) -> None:
        form = self.root / _FORMAT_FILE
        with store_errors(self.root):
            if self.root.is_symlink() and not self.root.exists():
                raise StoreError("this link leads nowhere", where=str(self.root), mend="choose another folder")
            self.root.mkdir(parents=True, exist_ok=True)
            if not form.exists():
                with FileLock(self.root):
                    self._found(form)
            body = read_sealed_json(form)
            found = body.get("format") if body else None
            if found != STORE_FORMAT:
                said = f"it has format {found}" if found is not None else "its format file is unreadable"
                mend = "choose another folder with --store, or the version of synth that made it"
                if (calls := self.root / CALLS_FILE).exists():
                    mend += f"; with --store ANOTHER --calls {calls} nothing is paid twice"
                raise StoreError(
                    f"{said}, and this version of synth reads format {STORE_FORMAT}", where=str(self.root), mend=mend
                )
            for name in ("stages", "scratch"):
                (self.root / name).mkdir(exist_ok=True)

    def _found(self, form: Path) -> None:
        """Make an empty folder a store. Two builds may come here at once: the second finds it made."""
        for name in os.listdir(self.root):
            if name.startswith(TEMPORARY):
                (self.root / name).unlink()
        if form.exists():
            return
        if os.listdir(self.root):
            raise StoreError(
                "this folder is not empty and is not a store",
                where=str(self.root),
                mend="choose an empty folder with --store",
            )
        write_sealed_json(form, {"format": STORE_FORMAT})

    def stage(self, stage: str, fingerprint: str) -> StageFolder:
        return StageFolder(self.root / "stages" / stage / fingerprint[:16], stage, fingerprint)

    def folder(self, name: str) -> Path:
        """A folder of the store for other caches (model calls), made when missing."""
        path = self.root / name
        with store_errors(path):
            path.mkdir(exist_ok=True)
        return path

    @contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """A folder for work in progress, removed afterwards. Those of killed builds are removed by the next one."""
        parent = self.root / "scratch"
        with store_errors(parent):
            self._sweep(parent)
            folder = temporary_name(parent / name)
            lock = FileLock(folder.with_name(folder.name + ".lock"), shared=True)
            lock.acquire()  # before the folder exists, so that no sweep finds it without
            folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.path.unlink(missing_ok=True)
            lock.release()

    @staticmethod
    def _sweep(parent: Path) -> None:
        for name in os.listdir(parent):
            if not name.endswith(".lock"):
                continue
            lock = FileLock(parent / name)
            if lock.try_acquire():
                shutil.rmtree(parent / name.removesuffix(".lock"), ignore_errors=True)
                lock.path.unlink(missing_ok=True)
                lock.release()

    def list(self) -> tuple[StoreEntry, ...]:
        """All stage runs, by stage and fingerprint."""
        with store_errors(self.root):
            stages = self.root / "stages"
            return tuple(
                self._entry(stage, fingerprint)
                for stage in sorted(os.listdir(stages))
                if (stages / stage).is_dir()  # a stray file is left alone, and is not a stage
                for fingerprint in sorted(os.listdir(stages / stage))
                if not fingerprint.startswith(TEMPORARY) and (stages / stage / fingerprint).is_dir()
            )

    def _entry(self, stage: str, fingerprint: str) -> StoreEntry:
        folder = self.stage(stage, fingerprint)
        used = folder.path / "used"
        times = {unquote(name): (used / name).stat().st_mtime for name in os.listdir(used)} if used.is_dir() else {}
        return StoreEntry(
            stage=stage,
            fingerprint=fingerprint,
            path=folder.path,
            bytes=folder_bytes(folder.path),
            shards=len(folder.committed()),
            complete=folder.complete() is not None or any(folder.views.glob("[0-9a]*/manifest.json")),
            datasets=tuple(sorted(times)),
            last_used=max(times.values() if times else _written(folder), default=0.0),
            in_use=not all(_is_free(folder.path / name) for name in ("use.lock", "write.lock")),
        )

    def prune(
        self,
        *,
        unused_for: float | None = None,
        dataset: str | None = None,
        everything: bool = False,
        dry: bool = False,
    ) -> Pruned:
        """Remove stage runs: those that no build used for ``unused_for`` seconds, those that only ``dataset`` used, or
        all. With ``dry`` nothing is removed. What a build is working with always stays.

        Raises:
            ValueError: no choice was made.
            StoreError: something can't be removed.
        """
        if unused_for is None and dataset is None and not everything:
            raise ValueError("say what to prune: unused_for, dataset or everything")
        now = time.time()
        removed: list[StoreEntry] = []
        in_use: list[StoreEntry] = []
        for entry in self.list():
            chosen = everything or (dataset is not None and entry.datasets == (dataset,))
            if unused_for is not None:
                chosen = chosen or now - entry.last_used >= unused_for
            if not chosen:
                continue
            (removed if not entry.in_use and (dry or self._remove(entry)) else in_use).append(entry)
        if everything and not dry:
            with store_errors(self.root):
                self._sweep(self.root / "scratch")
        return Pruned(tuple(removed), tuple(in_use))

    def _remove(self, entry: StoreEntry) -> bool:
        locks = [FileLock(entry.path / name) for name in ("write.lock", "use.lock")]
        with store_errors(entry.path):
            try:
                if not all(lock.try_acquire() for lock in locks):
                    return False
                remove_folder(entry.path)
            finally:
                for lock in locks:
                    lock.release()
        return True


def _written(folder: StageFolder) -> list[float]:
    """When something was last added, for work that no build has finished yet."""
    folders = (folder.path, folder.shards, folder.journals, folder.views)
    return [path.stat().st_mtime for path in (*folders, *folder.journals.glob("*.journal")) if path.exists()]


def _is_free(path: Path) -> bool:
    if not path.exists():
        return True
    lock = FileLock(path)
    free = lock.try_acquire()
    lock.release()
    return free
