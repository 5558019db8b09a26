"""The browser of this process: one thread that owns Playwright and Chromium, one context per episode.

Playwright's synchronous interface belongs to the thread that began it and refuses to run beside an event loop, and
episodes are stepped from any thread, in an event loop or not. So all of it runs on one event loop in a thread of its
own, and callers wait for what they hand in. A process that was forked gets a browser of its own.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shutil
import threading
from collections.abc import Collection, Coroutine
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from synth.distribution import install
from synth.errors import InputError

__all__ = ["BROWSERS", "Browser", "BrowserGone", "find_browser", "shared_browser"]

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs that are looked for where a recipe names none. The first has no windows at all: the others, headless too,
build a whole browser window for each context, which costs three times as much."""
_START_SECONDS = 120.0
_SWITCHES = (
    # The only way out is the proxy of the site's server: no name is looked up, no other socket opened.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-quic",
    # One page is painted the same everywhere.
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--hide-scrollbars",
    "--disable-gpu",
)

_Result = TypeVar("_Result")


class BrowserGone(Exception):
    """The browser does not answer."""


def find_browser(executable: str | None) -> str:
    """The program to start.

    Raises:
        InputError: there is none, or no library to drive it with.
    """
    if find_spec("playwright") is None:
        raise InputError("the library playwright is not installed", where="environment web", mend=install("web"))
    names = (executable,) if executable is not None else BROWSERS
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return found
    what = f"there is no program {executable!r}" if executable is not None else "there is no Chromium on this machine"
    mend = (
        "install it (on Debian: apt-get install chromium-headless-shell), or name its program in environment.executable"
    )
    raise InputError(what, where="environment web", mend=mend)


class Browser:
    """A thread with an event loop, Playwright and a browser that starts with the first context."""

    def __init__(self, executable: str, *, sandbox: bool) -> None:
        self.executable = executable
        self.sandbox = sandbox
        self.version = ""
        """As the browser says; empty until it runs."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="synth-browser", daemon=True)
        self._thread.start()
        self._lock: asyncio.Lock | None = None
        self._playwright: Any = None
        self._browser: Any = None
        self._working: set[asyncio.Task[Any]] = set()
        """What was handed in and is not over."""

    def run(self, work: Coroutine[Any, Any, _Result], seconds: float) -> _Result:
        """Do ``work`` on the loop and wait for it.

        Raises:
            BrowserGone: it took longer.
        """

        async def bounded() -> _Result:
            task = asyncio.current_task()
            assert task is not None
            self._working.add(task)
            task.add_done_callback(self._working.discard)
            return await asyncio.wait_for(work, seconds)

        handed = asyncio.run_coroutine_threadsafe(bounded(), self._loop)
        try:
            return handed.result()
        except TimeoutError:
            raise BrowserGone(f"the page did not answer in {seconds:g} seconds") from None
        except BaseException:
            handed.cancel()  # whoever waited was interrupted: nobody wants it any more
            raise

    def leave(self, work: Coroutine[Any, Any, None], *, wait: bool) -> None:
        """Do ``work``, which raises nothing, on the loop; without ``wait``, when there is time. From any thread."""
        if self._loop.is_closed():
            work.close()
            return
        handed = asyncio.run_coroutine_threadsafe(work, self._loop)
        if wait:
            handed.result()

    async def context(self, **options: Any) -> Any:
        """A fresh context: no cookies, no storage, nothing of other episodes."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            if self._browser is None or not self._browser.is_connected():
                await self._start()
        return await self._browser.new_context(**options)

    async def _start(self) -> None:
        from playwright.async_api import Error, async_playwright

        if self._playwright is None:
            self._playwright = await async_playwright().start()
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=self.executable,
                chromium_sandbox=self.sandbox,
                args=list(_SWITCHES),
                timeout=_START_SECONDS * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except Error as error:
            said = str(error).strip().splitlines()
            sandbox = any("sandbox" in line.lower() for line in said)
            mend = (
                "environment.sandbox: false starts it without its sandbox (only for pages that you trust)"
                if sandbox
                else "start its program by hand to see what it says"
            )
            what = f"{Path(self.executable).name} does not start: {said[0] if said else 'it says nothing'}"
            raise InputError(what[:400], where="environment web", mend=mend) from None
        self.version = str(self._browser.version)

    def close(self) -> None:
        """End the browser and the thread; nothing of them is left when this returns."""
        if self._loop.is_closed():
            return

        async def end() -> None:
            # What breaks off now breaks off on purpose: Playwright's own futures, too, of which nobody asks the result.
            self._loop.set_exception_handler(lambda loop, context: None)
            await _give_up(self._working)
            with contextlib.suppress(Exception):
                if self._browser is not None:
                    await asyncio.wait_for(self._browser.close(), 10)
            with contextlib.suppress(Exception):
                if self._playwright is not None:
                    await asyncio.wait_for(self._playwright.stop(), 10)
            await _give_up(asyncio.all_tasks() - {asyncio.current_task()})

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _give_up(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel ``tasks`` and wait until they are over; not for ever."""
    ended = list(tasks)
    for task in ended:
        task.cancel()
    if ended:
        await asyncio.wait(ended, timeout=5)


_BROWSERS: dict[tuple[int, str, bool], Browser] = {}
_LOCK = threading.Lock()


def shared_browser(executable: str, *, sandbox: bool) -> Browser:
    """The browser of this process for this program; ended with the process."""
    key = (os.getpid(), executable, sandbox)
    with _LOCK:
        found = _BROWSERS.get(key)
        if found is None:
            found = _BROWSERS[key] = Browser(executable, sandbox=sandbox)
            atexit.register(found.close)
        return found
