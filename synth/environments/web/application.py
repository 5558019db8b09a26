"""What an episode holds: a browser session and, of a local application, a process in a copy of the site's folder."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from synth.environments.web.browser import Browser
from synth.environments.web.clock import Clock
from synth.environments.web.database import Unreadable, read_tables
from synth.environments.web.definition import SiteStart, WebConfig
from synth.environments.web.folder import FolderCopy, NotPutBack
from synth.environments.web.server import Reply, SiteServer, forward
from synth.environments.web.session import Seen, Session
from synth.environments.web.storage import kept, stored
from synth.guardian import NOT_STARTED, end, guarded
from synth.sources.files import leads_out

__all__ = ["Application", "ApplicationFailed", "Applications", "Held", "folder_digest", "without_sessions"]

_START_SECONDS = 30.0
_MOST_IDLE = 4
"""Applications that wait to be begun again."""
_SHORTEST_SESSION = 16
"""Characters of a cookie that may tell a session; a shorter one is a setting."""
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")


def outside(root: Path) -> Callable[[str, list[str]], set[str]]:
    """What :func:`shutil.copytree` leaves out of a site's folder: links that lead out of it, and what is not a file."""

    def foreign(path: str) -> bool:
        if os.path.islink(path):
            return os.path.isabs(os.readlink(path)) or leads_out(str(root), os.path.relpath(path, root))
        return not (os.path.isdir(path) or os.path.isfile(path))

    return lambda folder, names: {name for name in names if foreign(os.path.join(folder, name))}


def folder_digest(root: Path) -> str:
    """Hash of the names and contents of all files that a copy of the folder holds."""
    found, leave = sha256(), outside(root)
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted({*names} - leave(folder, names)):
            path = Path(folder, name)
            if path.is_file() and "__pycache__" not in path.parts:
                inner = sha256(path.read_bytes())
                found.update(f"{path.relative_to(root).as_posix()} {inner.hexdigest()}\n".encode())
    return found.hexdigest()


class ApplicationFailed(Exception):
    """It does not start, or does not tell its state."""


class Application:
    """A running application."""

    def __init__(
        self, command: tuple[str, ...], folder: Path, clock: Clock | None = None, *, again: float | None = None
    ) -> None:
        """
        Args:
            clock: What time it is for it; None = the machine's.
            again: It can be begun again (:meth:`begin_again`); how long to wait then for a database that is locked, in
                seconds. None = it can't.

        Raises:
            ApplicationFailed: it does not listen.
        """
        self.clock = clock
        self._first: FolderCopy | None = None
        self._home = Path(tempfile.mkdtemp(prefix="synth-web-"))
        workspace = self._home / "workspace"
        self._process: subprocess.Popen[bytes] | None = None
        try:
            shutil.copytree(folder, workspace, symlinks=True, ignore=outside(folder))
            held = clock.hold(self._home / "clock") if clock is not None else {}
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = int(probe.getsockname()[1])
            filled = [part.replace("{port}", str(self.port)).replace("{workspace}", str(workspace)) for part in command]
            self._process = subprocess.Popen(
                guarded(*filled, folder=self._home),
                cwd=workspace,
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"TZ": "UTC"} | held,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._wait(filled[0])
            if again is not None:
                self._first = FolderCopy(workspace, self._home / "first", again)
        except (OSError, ApplicationFailed, NotPutBack) as error:
            self.close()
            raise ApplicationFailed(str(error)) from None

    def _wait(self, command: str) -> None:
        assert self._process is not None
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            if self._process.poll() == NOT_STARTED:
                raise ApplicationFailed(f"there is no program {command!r}, or it can't be started")
            if self._process.poll() is not None:
                raise ApplicationFailed(f"it ended with {self._process.returncode} before it listened")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise ApplicationFailed(f"it does not listen on its port after {_START_SECONDS:g} seconds")

    def begin_again(self) -> None:
        """Put its files and its clock back to where they were when it listened first.

        Raises:
            ApplicationFailed: it can't be done, or it has ended.
        """
        if self._first is None or self._process is None or self._process.poll() is not None:
            raise ApplicationFailed("it has ended")
        try:
            self._first.put_back()
        except NotPutBack as error:
            raise ApplicationFailed(str(error)) from None
        if self.clock is not None:
            self.clock.rewind()

    def state(self, path: str, seconds: float) -> Any:
        """What it says of its state.

        Raises:
            ApplicationFailed: it says no JSON.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ApplicationFailed(f"{path} tells no state: {error}") from None
        finally:
            connection.close()

    def tables(self, name: str, seconds: float) -> Any:
        """What the tables of the SQLite file ``name`` hold.

        Raises:
            ApplicationFailed: it can't be read.
        """
        try:
            found = read_tables(self._home / "workspace" / name, seconds)
        except Unreadable as error:
            raise ApplicationFailed(f"{name} tells no state: {error}") from None
        return found if self.clock is None else self.clock.without_present(found)

    def close(self) -> None:
        """End it and all that it started; its folder is gone when this returns."""
        process, self._process = self._process, None
        if process is not None:
            end(process)
        shutil.rmtree(self._home, ignore_errors=True)


def _state_of(application: Application, config: WebConfig) -> Any:
    """
    Raises:
        ApplicationFailed: it does not tell it.
    """
    if config.state_path is not None:
        return application.state(config.state_path, config.call_seconds)
    return None if config.state_database is None else application.tables(config.state_database, config.call_seconds)


def without_sessions(value: Any, names: Mapping[str, str]) -> Any:
    """``value`` with names in the place of the browser's sessions: an application draws them by chance."""
    if isinstance(value, dict):
        return {name: without_sessions(item, names) for name, item in value.items()}
    if isinstance(value, list):
        return [without_sessions(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


class Applications:
    """The applications of one environment: one for each episode that is open, and those that wait to be begun again."""

    def __init__(self, config: WebConfig, folder: Path) -> None:
        self._config, self._folder = config, folder
        self._idle: list[Application] = []

    @classmethod
    def of(cls, environment: Site) -> Applications:
        """Those of ``environment``, ended with it."""
        found = cls(environment.config, environment.folder)
        weakref.finalize(environment, found.close)
        return found

    def take(self, *, fresh: bool) -> Application:
        """One that nothing was done in.

        Args:
            fresh: It is to have just started.

        Raises:
            ApplicationFailed: it does not start.
        """
        config = self._config
        while self._idle and not fresh:
            waiting = self._idle.pop()
            try:
                waiting.begin_again()
                return waiting
            except ApplicationFailed:
                waiting.close()
        clock = Clock(config.now) if config.fixed_clock else None
        again = None if fresh or config.restart else config.call_seconds
        return Application(config.command, self._folder, clock, again=again)

    def leave(self, application: Application, *, sound: bool) -> None:
        """It is not needed any more.

        Args:
            sound: Nothing went wrong with it, as far as was seen.
        """
        if sound and not self._config.restart and len(self._idle) < _MOST_IDLE:
            self._idle.append(application)
        else:
            application.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def untouched_state(self) -> Any:
        """The state before anything is done.

        Raises:
            ApplicationFailed: one does not start, or does not tell it.
        """
        application = self.take(fresh=False)
        sound = False
        try:
            state = _state_of(application, self._config)
            sound = True
            return state
        finally:
            self.leave(application, sound=sound)


class Site(Protocol):
    """The environment, as far as what an episode holds needs it."""

    config: WebConfig
    address: str
    folder: Path
    static_files: dict[str, Reply]
    applications: Applications

    def browser(self) -> Browser: ...

    def server(self) -> SiteServer: ...


class Held:
    """What an episode has to give back."""

    def __init__(self, environment: Site, start: SiteStart, *, fresh: bool) -> None:
        """
        Args:
            fresh: Whether an application is to have just started.
        """
        self._fresh = fresh
        self._applications = environment.applications
        self._browser = environment.browser()
        self._environment = weakref.ref(environment)
        self._start = stored(start.storage)
        self._seconds = environment.config.call_seconds
        self._sessions: dict[str, str] = {}
        """Values of the cookies so far -> what stands for them in the state."""
        self.session: Session | None = None
        self.application: Application | None = None
        self._server: SiteServer | None = None

    def begin(self) -> Session:
        """The session; begun where there is none.

        Raises:
            BrowserGone, ApplicationFailed: it does not begin.
        """
        environment = self._environment()
        assert environment is not None
        config = environment.config
        if self.session is None:
            clock = None
            if config.command:
                application = self.application = self._applications.take(fresh=self._fresh)
                clock = application.clock
                answer = forward(
                    *(application.port, environment.address, config.state_path, config.call_seconds),
                    environment.static_files,
                )
                self._server = SiteServer(environment.address.removeprefix("http://"), answer)
            server = self._server if self._server is not None else environment.server()
            session = Session(self._browser, config, environment.address, server.address, self._start)
            if clock is not None:
                session.second_passed = clock.tick
            self._browser.run(session.begin(), 180.0)
            self.session = session
        return self.session

    def state(self, seen: Seen) -> dict[str, Any]:
        """What the site keeps, with an application's own state.

        Raises:
            ApplicationFailed: the application does not tell it.
        """
        environment = self._environment()
        assert environment is not None
        config = environment.config
        server = None if self.application is None else _state_of(self.application, config)
        for cookie in seen.storage.get("cookies", ()):
            if len(cookie["value"]) >= _SHORTEST_SESSION:
                self._sessions.setdefault(cookie["value"], f"(cookie {cookie['name']})")
        server = without_sessions(server, self._sessions)
        return kept(seen.storage, server, sessions=not (config.state_path or config.state_database))

    def run(self, work: Coroutine[Any, Any, Seen]) -> Seen:
        return self._browser.run(work, self._seconds)

    def drop(self, *, wait: bool = False, sound: bool = True) -> None:
        """End everything; with ``wait`` it is gone when this returns.

        Args:
            sound: Nothing went wrong with the application, so that it may be begun again.
        """
        session, self.session = self.session, None
        application, self.application = self.application, None
        server, self._server = self._server, None
        again = application is not None and sound and not self._fresh and self._environment() is not None
        if session is not None:  # its open requests must not reach the application after a restart
            self._browser.leave(session.close(), wait=wait or again)
        if server is not None:
            server.close()
        if application is not None:
            self._applications.leave(application, sound=again)
