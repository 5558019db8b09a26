"""The environment ``web``: a real Chromium on a folder of pages, or on a local application.

An episode is a browser context of its own. Its snapshots are the calls that were made (``synth.environments.replay``),
with a hash of what each of them showed and of what the site kept after it: going back means making them again in a
fresh context, which costs what the calls cost (tens of milliseconds each, and as much as three of them for the
context), without their pictures, and that only before a call that this episode has not made there yet. Success is what
the site keeps at the end (localStorage, cookies, IndexedDB, an application's own state), or an answer that stands on a
page.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from synth.environments.answers import check_state, check_task, differing_lines
from synth.environments.contract import (
    Environment,
    EnvironmentSpec,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    refusal,
    shown_name,
    unknown_tool,
)
from synth.environments.outline import Outline, render
from synth.environments.replay import ReplayedEpisode
from synth.environments.suspicion import READ, hidden_characters, orders_in
from synth.environments.web.application import ApplicationFailed, Applications, Held, folder_digest
from synth.environments.web.browser import Browser, BrowserGone, find_browser, shared_browser
from synth.environments.web.calls import Refused, read_call, web_tools
from synth.environments.web.clock import find_clock
from synth.environments.web.database import primary_keys
from synth.environments.web.definition import SiteStart, WebConfig, WebPages, load_site
from synth.environments.web.server import Folder, Reply, SiteServer
from synth.environments.web.session import Seen
from synth.environments.web.storage import (
    Change,
    WebBeginning,
    WebGoal,
    changes_in_words,
    compare,
    differing,
    kept,
    state_hash,
    stored,
    without,
)
from synth.errors import InputError
from synth.identity import canonical_json, digest, versioned
from synth.inputs import checked
from synth.schemas.plans import Wanted
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict
from synth.text.lists import first_lines

__all__ = [
    "WEB",
    "WebEnvironment",
    "WebEpisode",
    "open_web",
]

_MOST_WARNINGS = 20


class WebEnvironment(Environment):
    """One site. Shared by any number of episodes and threads."""

    name: ClassVar[str] = "web"
    version: ClassVar[str] = "36"

    def __init__(self, config: WebConfig) -> None:
        """
        Raises:
            InputError: there is no browser, no such site, or something in it is wrong.
        """
        self.config = config
        self.folder, self.definition = load_site(config.site)
        self.address = self.definition.address.rstrip("/")
        self.files = Folder(self.folder) if not config.command else None
        if config.state_database is not None:
            keys = primary_keys(self.folder, config.state_database)
            self.definition = self.definition.model_copy(update={"keys": {**keys, **self.definition.keys}})
        if config.fixed_clock:
            find_clock()
        self.static_files: dict[str, Reply] = {}
        """Of an application: what was fetched of its files, by address."""
        self.applications = Applications.of(self)
        self._executable = find_browser(config.executable)
        self._sandbox = config.sandbox if config.sandbox is not None else os.geteuid() != 0
        kept_apart = {
            "executable",
            "sandbox",
            "screenshots",
            "html",
            "site",
            "element_seconds",
            "call_seconds",
            "restart",
        }
        self.identity = digest(
            "web",
            self.files.digest if self.files is not None else folder_digest(self.folder),
            self.definition.model_dump(mode="json"),
            config.model_dump(mode="json", exclude=kept_apart),
        )
        """Hash of the pages, of what is known of them, and of all that changes what they show."""
        self._tools = web_tools(self.address)
        self.by_name = {tool.name: tool for tool in self._tools}
        self._server: SiteServer | None = None
        self._untouched: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # A worker serves for itself.
        return {**self.__dict__, "_server": None, "static_files": {}, "applications": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.applications = Applications.of(self)

    def tools(self) -> tuple[ToolSchema, ...]:
        return self._tools

    def instructions(self) -> str:
        text = (
            f"You use a browser on {self.definition.title} ({self.address}). Every call shows the page as an outline; "
            "elements that can be used have numbers there, such as [e12], and calls name them by these. The numbers "
            "are those of the last view. Begin with open."
        )
        return f"{text} {self.definition.about}" if self.definition.about else text

    def settings(self, task: Task) -> JsonObject:
        """Which site, which of its starts, which browser."""
        said: dict[str, Any] = {"site": self.identity[:16], "viewport": list(self.config.viewport)}
        if (start := WebBeginning.of(task.details).web_start) is not None:
            said["start"] = start
        if version := self.browser().version:
            said["browser"] = f"Chromium {version}"
        return said

    def browser(self) -> Browser:
        """The browser of this process; it starts with the first episode that needs it."""
        return shared_browser(self._executable, sandbox=self._sandbox)

    def start(self, task: Task) -> SiteStart:
        """
        Raises:
            InputError: the task names a start that the site does not have.
        """
        name = WebBeginning.of(task.details).web_start
        if name is None:
            return SiteStart()
        if name not in self.definition.starts:
            raise InputError(f"the site has no start {name!r}", where=f"task {task.id}")
        return self.definition.starts[name]

    def server(self) -> SiteServer:
        """The server of the folder's pages."""
        assert self.files is not None
        if self._server is None:
            self._server = SiteServer(self.address.removeprefix("http://"), self.files)
            weakref.finalize(self, self._server.leave).atexit = False  # its thread ends with the process
        return self._server

    def untouched(self) -> Any:
        """The state of an application before its first use, which is started once to find out; None for a folder of
        pages, and where the state can't be read."""
        if not self.config.command or not (self.config.state_path or self.config.state_database):
            return None
        if self._untouched is None:
            try:
                self._untouched = self.applications.untouched_state()
            except ApplicationFailed:
                return None  # the first call of an episode says so
        return self._untouched

    def reset(self, task: Task) -> WebEpisode:
        return WebEpisode(self, task)

    def reset_fresh(self, task: Task) -> WebEpisode:
        """As ``reset``, with an application that has just started, whatever ``restart`` says."""
        return WebEpisode(self, task, fresh=True)

    def resume(self, task: Task, recorded: JsonObject) -> WebEpisode:
        """As the contract says. A picture costs more than all else that is seen of a page, and is not part of what is
        compared: until ``begin`` or ``restore`` none is taken."""
        return WebEpisode(self, task, pictured=False)


@dataclass(frozen=True)
class _Stand:
    """Where an episode stands."""

    seen: Seen | None
    state: dict[str, Any]
    warnings: dict[str, dict[str, str]]


class WebEpisode(ReplayedEpisode):
    """State: the calls that reached the page, with a hash of what came of each."""

    remembers: ClassVar[bool] = True

    def __init__(self, environment: WebEnvironment, task: Task, *, pictured: bool = True, fresh: bool = False) -> None:
        """
        Args:
            fresh: An application is to have just started.
            pictured: False = pictures are left out until a run begins or a snapshot is gone back to.
        """
        safe = environment.config.replay_safe
        super().__init__(environment, task, identity=environment.identity, replay_safe=safe)
        self.environment = environment
        self._pictured = pictured
        self._start = environment.start(task)
        self._held = Held(environment, self._start, fresh=fresh)
        self._warnings: dict[str, dict[str, str]] = {}
        self._seen: Seen | None = None
        self._state = kept({"origins": [{"localStorage": stored(self._start.storage)}]}, environment.untouched())
        self._beginning = self._state
        self._hashed: tuple[Any, str] | None = None
        """A state, and its hash."""
        self._gone: str | None = None
        self._forgotten = weakref.finalize(self, self._held.drop, sound=False)  # from any thread: it waits for nothing

    def begin(self, system: str, generator_for_turn: Callable[[int], np.random.Generator]) -> None:
        self._pictured = True

    def refusal(self, call: ToolCall) -> ToolResult | None:
        tools = self.environment.by_name
        if call.name not in tools:
            return unknown_tool(call, tools, shown_name(call.name))
        wrong = refusal(call, tools, 500)
        if wrong is None and self.seen is None and call.name != "open":
            return call.answered(f"No page is open. Begin with open: {self.environment.address}/.", "refused")
        return wrong

    def mark(self, result: ToolResult) -> str:
        return digest("web-observation", result.content, result.error, self.state_hash())

    @property
    def seen(self) -> Seen | None:
        """The page as it was last seen; None where none is open."""
        return self._seen

    def remember(self) -> _Stand | None:
        # What came of a browser that did not answer in time may be otherwise the next time.
        return None if self._gone is not None else _Stand(self._seen, self._state, dict(self._warnings))

    def recall(self, memory: _Stand | None) -> None:
        if self._gone is not None:
            self.adrift()
        stand = memory if memory is not None else _Stand(None, self._beginning, {})
        self._gone, self._seen, self._state = None, stand.seen, stand.state
        self._warnings = dict(stand.warnings)

    def suffices(self, result: ToolResult) -> bool:
        wanted = self.environment.config.screenshots and self._pictured and result.page is not None
        return not wanted or (result.page is not None and result.page.screenshot is not None)

    def foretold(self, call: ToolCall) -> ToolResult | None:
        if self._gone is not None:
            return None
        address, seen = self.environment.address, self._seen
        tree, here = (None, "") if seen is None else (seen.tree, seen.address)
        try:
            read_call(call.name, call.arguments, tree, here, address)
        except Refused as error:
            return call.answered(error.words, error.error)
        return None

    def answer(self, call: ToolCall) -> ToolResult:
        if self._gone is not None:
            return call.answered(f"The tool failed: {self._gone}.", "failure")
        try:
            session = self._held.begin()
            part = int(call.arguments.get("part", 1))
            pictured = self._pictured and not self.replaying
            if call.name == "read" and part > 1 and session.seen is not None:
                if self.environment.config.screenshots and pictured and session.seen.page.screenshot is None:
                    self._seen = self._held.run(session.look_again())
                return self._shown(call, session.seen, part)
            refused = None
            try:
                seen: Seen | None = self._held.run(session.act(call.name, call.arguments, picture=pictured))
            except Refused as error:
                seen, refused = session.seen, error
            self._seen = seen
            if seen is not None:
                self._state = self._held.state(seen)
                self._look_for_orders(seen)
        except ApplicationFailed as error:
            return self._lose(call, f"the application does not work: {error}")
        except BrowserGone as error:
            return self._lose(call, str(error))
        if refused is not None:
            return call.answered(refused.words, refused.error)
        assert seen is not None
        return self._shown(call, seen, 1)

    def _lose(self, call: ToolCall, why: str) -> ToolResult:
        self._held.drop(sound=False)
        self._gone, self._seen = why, None
        return call.answered(f"The tool failed: {why}.", "failure")

    def _shown(self, call: ToolCall, seen: Seen, part: int) -> ToolResult:
        parts = seen.tree.parts(self.environment.config.max_chars)
        if part > len(parts):
            words = f"There is no part {part}: the page has {len(parts)}."
            return call.answered(words, "not_found")
        shown = Outline(seen.notes, seen.title, seen.address, part, len(parts), parts[part - 1])
        return call.answered(render(shown), page=seen.page)

    def _look_for_orders(self, seen: Seen) -> None:
        whole = "\n".join((seen.raw_title, *seen.notes, *seen.tree.raw))
        texts = [whole[at : at + READ] for at in range(0, len(whole), READ)]
        found = [("instructs", detail) for detail in orders_in(texts)]
        if hidden_characters(whole):
            found.append(("hidden_characters", "it holds characters that a person who reads it does not see"))
        path = seen.address.removeprefix(self.environment.address)
        for kind, detail in found:
            warning = {"page": path, "kind": kind, "detail": detail}
            if len(self._warnings) < _MOST_WARNINGS:
                self._warnings.setdefault(canonical_json(warning), warning)

    def facts(self) -> JsonObject:
        """What pages did that a reader of the run must know: text that gives orders."""
        return {"warnings": list(self._warnings.values())} if self._warnings else {}

    def state(self) -> dict[str, Any]:
        """What the site keeps, but for what does not count."""
        return without(self._state, self.environment.definition.volatile)

    def state_hash(self) -> str:
        """Canonical: equal for states that differ in nothing that counts."""
        if self._hashed is None or self._hashed[0] is not self._state:
            self._hashed = (self._state, state_hash(self._state, self.environment.definition.volatile))
        return self._hashed[1]

    def changes(self) -> list[Change]:
        """What is different from the beginning."""
        definition = self.environment.definition
        return compare(without(self._beginning, definition.volatile), self.state(), definition.keys)

    def goal(self, *, answer: Literal["required", "free"] = "free") -> WebGoal:
        """The present state as what a task wants."""
        return WebGoal(state=self.state_hash(), changes=tuple(self.changes()), answer=answer)

    def noted(self) -> JsonObject:
        seen = self.seen
        page = None if seen is None else digest("web page", seen.address, seen.title, seen.tree.lines)
        return {"kept": self.state_hash(), "page": page}

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._pictured = True

    def begin_anew(self) -> None:
        self._held.drop()
        self.recall(None)

    def check(self, answer: str | None) -> Verdict:
        """Does the site keep what the task wants, and is the answer right where one is asked for? A task without a goal
        only asks."""
        given = Wanted.of(self.task.details).goal
        if given is None:
            return check_task(self.task, answer)
        goal = WebGoal.model_validate(given)
        changes, wrong = self.changes(), None
        if self.state_hash() != goal.state:
            extra, missing = map(changes_in_words, differing(changes, goal.changes))
            wrong = differing_lines(missing, extra) or "The site keeps something else."
        done = first_lines(changes_in_words(changes)) or "Nothing was changed, as it should be."
        return check_state(self.task, answer, wrong, done, asks=goal.answer == "required")

    def close(self) -> None:
        self._held.drop(wait=True)
        self._seen = None
        self._gone = self._gone or "the browser was closed"


@versioned(WebEnvironment.version)
def open_web(*, inputs: Any = None, **options: Any) -> WebEnvironment:
    """The environment of a recipe: ``options`` are the keys of :class:`WebConfig`. It reads no tables.

    Raises:
        InputError: an option is wrong, or there is no browser or no such site.
    """
    return WebEnvironment(checked(WebConfig, options, "environment"))


WEB = EnvironmentSpec(kind="web", keys=WebPages, open=open_web, prompt="agents/web", rl_prompt="rl/web", stateful=True)
