"""One browser context with one page: actions, and what the page shows after them.

Time stands still in the page except for one second per call, so timers fire, and dates come out, the same in every run;
``Math.random`` is seeded. Workers, whose clock can't be stopped, do not start: the page is told so, as a browser tells
it that forbids them. The page can't leave the site, open windows, download or ask for files.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from synth.environments.contract import WebPage
from synth.environments.suspicion import clean
from synth.environments.web.browser import Browser, BrowserGone
from synth.environments.web.calls import KEYS, Refused, is_inside, read_call, short
from synth.environments.web.definition import WebConfig
from synth.environments.web.in_page import IN_PAGES, NO_CARET, READ_PAGE, READY, START
from synth.environments.web.nodes import parse
from synth.environments.web.tree import Page, read_page

__all__ = ["Seen", "Session"]

_SETTLE_SECONDS = 10.0
_HELD_BACK = re.compile(r"Not allowed to (?:navigate top frame to|load local resource)\b.*?(?P<url>[a-z]+:\S*)")
_NO_FILES = "Nothing can be downloaded here."
_FILE_SECONDS = 0.5
"""How long after a page was not opened a file may still come of it."""
_SCRIPT_FAILED = "A script of the page failed: "
_ERROR_NAME = re.compile(r"^\w*Error: ")
_STACK = re.compile(r"\n\s+at ")
_MOST_NOTES = 6


@dataclass(frozen=True)
class Seen:
    """A page as it stands after a call."""

    tree: Page
    title: str
    raw_title: str
    address: str
    page: WebPage
    storage: Mapping[str, Any]
    """As Playwright tells it."""
    notes: tuple[str, ...]
    """What was held back, and what the page said in a dialog."""


class Session:
    """All methods but the constructor run on the browser's loop."""

    def __init__(self, browser: Browser, config: WebConfig, address: str, proxy: str, start: list[dict[str, str]]):
        """
        Args:
            address: The site's, without a slash at its end.
            proxy: Where its server is.
            start: What is in the localStorage when it begins.
        """
        self.browser = browser
        self.config = config
        self.address = address
        self._proxy = proxy
        self._start = start
        self._context: Any = None
        self._page: Any = None
        self._starting: Any = None
        """The script that puts the start into the storage, until a page of the site stands."""
        self._wire: Any = None
        self._open: set[Any] = set()
        """What the page and its frames wait for, as Playwright tells."""
        self._loading: dict[str, tuple[str, str]] = {}
        """What the page waits for, as it tells itself: by request, the document that asked, and the address."""
        self._leaving: dict[str, str] = {}
        """Where frames said that they go, until the request for it is told: address by frame."""
        self._is_loaded = False
        self._notes: list[str] = []
        self.second_passed: Callable[[], None] | None = None
        """Told whenever the page's clock goes on: an application's own must keep step."""
        self.seen: Seen | None = None
        """The page as it was last seen."""

    async def begin(self) -> None:
        width, height = self.config.viewport
        context = self._context = await self.browser.context(
            viewport={"width": width, "height": height},
            proxy={"server": self._proxy},
            locale="en-GB",
            timezone_id="UTC",
            service_workers="block",
            accept_downloads=False,
            reduced_motion="reduce",
            color_scheme="light",
        )
        context.set_default_timeout(self.config.element_seconds * 1000)
        context.set_default_navigation_timeout(self.config.call_seconds * 1000)
        await asyncio.gather(self._prepare(context), self._stop_clock(context))
        page = self._page = await context.new_page()
        context.on("page", lambda other: asyncio.ensure_future(self._no_window(other)))
        page.on("dialog", lambda dialog: asyncio.ensure_future(self._answer(dialog)))
        page.on("download", lambda download: asyncio.ensure_future(self._no_download(download)))
        page.on("filechooser", lambda chooser: self._note("Files can't be chosen here."))
        page.on("console", lambda message: self._hear(str(message.text)))
        page.on("request", lambda request: self._open.add(request))
        page.on("requestfinished", lambda request: self._open.discard(request))
        page.on("requestfailed", lambda request: self._open.discard(request))
        await self._listen(context)

    async def _listen(self, context: Any) -> None:
        """Hear of requests from the page itself. Playwright tells of one only when the network process has it too: a
        page that has asked for something would seem quiet until then."""
        wire = self._wire = await context.new_cdp_session(self._page)
        wire.on("Network.requestWillBeSent", self._asked)
        wire.on("Network.loadingFinished", lambda told: self._loading.pop(told["requestId"], None))
        wire.on("Network.loadingFailed", self._failed)
        wire.on("Page.frameRequestedNavigation", self._leaves)
        for event in ("Page.frameStoppedLoading", "Page.navigatedWithinDocument", "Page.frameDetached"):
            wire.on(event, lambda told: self._leaving.pop(told["frameId"], None))
        wire.on("Page.frameNavigated", self._arrived)
        # Not Playwright's "pageerror": that comes by another way, and so perhaps after the page that follows.
        wire.on("Runtime.exceptionThrown", self._script_failed)
        wire.on("Page.loadEventFired", self._loaded)
        await asyncio.gather(*(wire.send(f"{domain}.enable") for domain in ("Network", "Page", "Runtime")))

    def _asked(self, told: dict[str, Any]) -> None:
        self._loading[told["requestId"]] = (told["loaderId"], told["request"]["url"])
        if told.get("type") == "Document":
            self._leaving.pop(told.get("frameId", ""), None)

    def _failed(self, told: dict[str, Any]) -> None:
        _, url = self._loading.pop(told["requestId"], ("", ""))
        if told["type"] == "Document" and told["errorText"] == "net::ERR_ABORTED" and self._inside(url):
            self._leaving[_NO_FILES] = ""
            asyncio.get_running_loop().call_later(_FILE_SECONDS, self._leaving.pop, _NO_FILES, None)

    def _arrived(self, told: dict[str, Any]) -> None:
        frame = told["frame"]
        self._leaving.pop(frame["id"], None)
        if "parentId" not in frame:  # nobody tells any more what came of what the page before it had asked for
            here = frame["loaderId"]
            self._loading = {request: asked for request, asked in self._loading.items() if asked[0] == here}
            # Nor what failed there, often for want of an answer that came no more; or what fails while this one loads:
            # a script that runs before the rest of the page is there. Both are a matter of time.
            self._notes = [words for words in self._notes if not words.startswith(_SCRIPT_FAILED)]
            self._is_loaded = False

    def _loaded(self, told: dict[str, Any]) -> None:
        self._is_loaded = True

    def _script_failed(self, told: dict[str, Any]) -> None:
        if not self._is_loaded:
            return
        details = told["exceptionDetails"]
        thrown = details.get("exception", {})
        said = str(thrown.get("description") or thrown.get("value") or details["text"])
        words = _ERROR_NAME.sub("", _STACK.split(said, maxsplit=1)[0])
        self._note(f"{_SCRIPT_FAILED}{short(words)}")

    def _leaves(self, told: dict[str, Any]) -> None:
        if told["disposition"] == "currentTab":
            self._leaving[told["frameId"]] = told["url"]

    async def _prepare(self, context: Any) -> None:
        script = IN_PAGES.replace("SEED", str(self.config.seed % 2**31)).replace("NO_FILES", _NO_FILES)
        await context.add_init_script(script)
        if self._start:
            script = START.replace("ADDRESS", json.dumps(self.address))
            self._starting = await context.add_init_script(script.replace("ENTRIES", json.dumps(self._start)))
        # A pattern, not a function: what is inside never comes by here.
        await context.route(re.compile(f"^(?!{re.escape(self.address)}/|data:|blob:)"), self._hold_back)

    async def _stop_clock(self, context: Any) -> None:
        await context.clock.install(time=self.config.now)
        await context.clock.pause_at(self.config.now)

    async def close(self) -> None:
        context, self._context = self._context, None
        if context is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(context.close(), 10)

    def _inside(self, url: str) -> bool:
        return is_inside(url, self.address)

    async def _hold_back(self, route: Any) -> None:
        request = route.request
        if request.is_navigation_request():
            self._note(_not_left(request.url))
        else:
            self._note(f"The page asked for something outside the site ({_host(request.url)}), which it did not get.")
        with contextlib.suppress(Exception):
            await route.abort("aborted")

    async def _no_window(self, other: Any) -> None:
        if other is not self._page:
            self._note("A second window was closed.")
            with contextlib.suppress(Exception):
                await other.close()

    async def _no_download(self, download: Any) -> None:
        self._leaving.pop(_NO_FILES, None)
        self._note(_NO_FILES)
        with contextlib.suppress(Exception):
            await download.cancel()

    async def _answer(self, dialog: Any) -> None:
        if dialog.type != "beforeunload":
            ending = "" if dialog.type == "alert" else " It was answered with OK."
            self._note(f"The page said: {clean(dialog.message)[:300]!r}.{ending}")
        with contextlib.suppress(Exception):
            await dialog.accept()

    def _hear(self, message: str) -> None:
        """What is told to the console alone: that the browser has held back a page of data or a file."""
        if message == _NO_FILES:
            self._note(_NO_FILES)
        found = _HELD_BACK.match(message)
        if found is not None:
            self._note(_not_left(found["url"]))

    def _note(self, words: str) -> None:
        if words not in self._notes and len(self._notes) < _MOST_NOTES:
            self._notes.append(words)

    async def act(self, tool: str, arguments: Mapping[str, Any], *, picture: bool = True) -> Seen:
        """Carry out one call and look at the page.

        Args:
            picture: Whether a picture is taken, of those that the recipe asks for.

        Raises:
            Refused: it can't be carried out; the page stands as it did, but for what the try itself did.
        """
        from playwright.async_api import Error

        self._notes = []
        if self.seen is None and tool != "open":
            raise Refused(f"No page is open. Begin with open: {self.address}/ is the first page.")
        before = self._page.url
        try:
            await self._do(tool, arguments)
        except Error:
            if tool in ("open", "back"):
                await self._settle()
                if not self._notes:
                    raise Refused("The page could not be opened.") from None
            else:
                await self._settle()
                if self._page.url == before:
                    words = "The element can't be used: it is covered, hidden, disabled or takes no such value."
                    self.seen = await self._look(picture)
                    raise Refused(words) from None
                # It was used, and led elsewhere before the browser could tell so: a slow machine.
        await self._settle()
        if not self._inside(self._page.url):
            self._note(_not_left(self._page.url))
            with contextlib.suppress(Error):
                await self._page.goto(before if self._inside(before) else f"{self.address}/")
            await self._settle()
        self.seen = await self._look(picture)
        starting, self._starting = self._starting, None
        if starting is not None:
            await starting.close()
        return self.seen

    async def look_again(self) -> Seen:
        """The page as it was last seen, with its picture: nothing has moved since.

        Raises:
            BrowserGone: it can't be read any more.
        """
        assert self.seen is not None
        self._notes = list(self.seen.notes)
        self.seen = await self._look(True)
        return self.seen

    async def _do(self, tool: str, arguments: Mapping[str, Any]) -> None:
        page = self._page
        tree = self.seen.tree if self.seen is not None else None
        wanted = read_call(tool, arguments, tree, self._page.url, self.address)
        if tool == "open":
            await page.goto(wanted.url, wait_until="load")
        elif tool == "back":
            await page.go_back(wait_until="load")
        elif tool == "press":
            key = str(arguments["key"])
            assert key in KEYS
            await page.keyboard.press(key)
        elif wanted.element is not None:
            locator = page.locator(f"aria-ref={wanted.element.handle}")
            if tool == "click":
                await locator.click()
            elif tool == "select":
                await locator.select_option(label=wanted.option)
            else:
                await locator.fill(str(arguments["text"]))
                if arguments.get("submit"):
                    await locator.press("Enter")

    async def _settle(self) -> None:
        """Let a second pass in the page, and wait until it has loaded what it asked for."""
        from playwright.async_api import Error

        await self._quiet()
        if self.second_passed is not None:
            self.second_passed()
        for _ in range(3):
            try:
                await self._page.clock.run_for(1000)
                break
            except Error:  # the page changes just now
                await self._quiet()
        await self._quiet()

    async def _quiet(self) -> None:
        from playwright.async_api import Error

        loop = asyncio.get_running_loop()
        end = loop.time() + _SETTLE_SECONDS
        while loop.time() < end:
            try:
                asked = {"expression": READY, "awaitPromise": True}
                said = await self._wire.send("Runtime.evaluate", asked)
                done = said["result"].get("value") == "complete"
            except Error:
                done = False
            # What the page has asked for was told before the answer to the question above.
            if done and not (self._open or self._loading or self._leaving):
                return
            await asyncio.sleep(0.005)

    async def _look(self, picture: bool) -> Seen:
        """
        Raises:
            BrowserGone: the page can't be read any more.
        """
        from playwright.async_api import Error

        try:
            return await self._read(picture)
        except Error as error:
            raise BrowserGone(f"the page can't be read ({type(error).__name__})") from None

    async def _read(self, pictured: bool) -> Seen:
        page, config = self._page, self.config
        limit = config.call_seconds * 1000
        # Nothing moves in the page now, so it is asked for all of it at once.
        snapshot, (title, html, local, databases, icons), cookies = await asyncio.gather(
            page.aria_snapshot(mode="ai", timeout=limit),
            page.evaluate(READ_PAGE, config.html),
            self._context.cookies(),
        )
        tree = _tree(str(snapshot), str(title), icons)
        if databases:
            state = await self._context.storage_state(indexed_db=True)
        else:
            state = {"cookies": cookies, "origins": [{"localStorage": local}]}
        picture = None
        if config.screenshots and pictured:
            shot = await page.screenshot(
                animations="disabled", caret="initial", style=NO_CARET, scale="css", timeout=limit
            )
            picture = f"data:image/png;base64,{base64.b64encode(shot).decode()}"
        url = str(page.url)
        seen = WebPage(
            url=url, viewport=config.viewport, html=clean(str(html)) if config.html else None, screenshot=picture
        )
        return Seen(tree, clean(str(title)), str(title), url, seen, state, tuple(self._notes))


def _tree(snapshot: str, title: str, icons: Sequence[Sequence[Any]]) -> Page:
    try:
        return read_page(parse(snapshot, [(str(role), str(hint)) for role, hint in icons]), title)
    except (ValueError, TypeError, RecursionError):  # a page that is nested without end, or made to confuse
        lines = tuple(clean(line) for line in snapshot.splitlines())
        return Page(lines, (), (snapshot,))


def _not_left(url: str) -> str:
    """Addresses of pages that a script has made are other ones in every run: of all but the web's, the kind is said."""
    scheme = url.partition(":")[0]
    what = short(url) if scheme in ("http", "https", "about") else f"an address that begins with {short(scheme, 20)}:"
    return f"The site can't be left: {what} was not opened."


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "somewhere"
    return short(parts.netloc or f"{parts.scheme}:", 60)
