"""Episodes as a trainer reaches them: of a dataset's environment in this process, or of a ``synth serve-env``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from synth.dataset.reader import load
from synth.episodes.sessions import NoSession, Sessions, Trouble
from synth.errors import InputError
from synth.pipelines.reopen import reopen
from synth.schemas.trajectories import Verdict

__all__ = ["Episodes", "LocalEpisodes", "RemoteEpisodes", "open_episodes"]

SPENT = "This call was not made: no calls are left. Finish with what you have."
"""What an agent is told whose session has used up its calls."""
_SECONDS = 600.0
"""So long one request may take: a call may drive a browser."""


class Episodes(Protocol):
    """One environment, and its tasks by id. Safe to be used by several threads."""

    def tools(self) -> list[dict[str, Any]]:
        """The tools, as JSON Schema functions (``{"type": "function", "function": {...}}``)."""

    def begin(self, task: str) -> str:
        """A fresh episode of a task, by its id; the key of its session.

        Raises:
            InputError: there is no such task, no more sessions may be open, or the server can't be reached.
        """

    def call(self, session: str, name: str, arguments: Any) -> str:
        """What the environment answers to one call; a wrong call is answered in words, as an agent gets it.

        Raises:
            InputError: the session is over, or the server can't be reached.
        """

    def score(self, session: str, answer: str | None) -> Verdict:
        """The verdict on what the session did and on the answer. The session is over with it.

        Raises:
            InputError: the session is over, or the server can't be reached.
        """

    def close(self, session: str) -> None:
        """End a session; nothing happens where it has ended."""


def open_episodes(where: str | Path, *, trust: bool = False) -> Episodes:
    """Episodes of a dataset's folder, stepped in this process, or behind the URL of a ``synth serve-env``.

    ``trust``: run the programs, read the files and reach the servers that the dataset names; without it, it may name
    only what ships with this package.

    Raises:
        InputError: there is no dataset, or its environment can't be opened; or nothing answers at the URL.
    """
    text = str(where)
    if text.startswith(("http://", "https://")):
        return RemoteEpisodes(text)

    environment, tasks = reopen(load(Path(where)), trust=trust)
    return LocalEpisodes(Sessions(environment, tasks, most=10_000))


class LocalEpisodes:
    """Episodes in this process."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    def tools(self) -> list[dict[str, Any]]:
        return [tool.function() for tool in self.sessions.environment.tools()]

    def begin(self, task: str) -> str:
        try:
            return self.sessions.reset(task).key
        except NoSession as error:
            raise _said(error, "task") from None

    def call(self, session: str, name: str, arguments: Any) -> str:
        try:
            (result,) = self.sessions.step(session, [(name, arguments)])
        except NoSession as error:
            if error.kind is Trouble.SPENT:
                return SPENT
            if error.kind is Trouble.WRONG_CALL:
                return f"This is not a call: {error}"
            raise _said(error, "session") from None
        return result.content

    def score(self, session: str, answer: str | None) -> Verdict:
        try:
            return self.sessions.score(session, answer)[1]
        except NoSession as error:
            raise _said(error, "session") from None

    def close(self, session: str) -> None:
        self.sessions.close(session)


def _said(error: NoSession, where: str) -> InputError:
    mend = "raise --idle of serve-env" if error.kind is Trouble.UNKNOWN_SESSION else None
    return InputError(str(error), where=where, mend=mend)


class RemoteEpisodes:
    """Episodes behind ``synth serve-env``. Holds no connection, so it may be copied into other processes."""

    def __init__(self, url: str) -> None:
        """
        Raises:
            InputError: this is not an address.
        """
        if not urlsplit(url).netloc:
            raise InputError("this is not an address", where=url, mend="give the URL that synth serve-env prints")
        self.url = url.rstrip("/")

    def tools(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("/tools")["tools"]
        return found

    def begin(self, task: str) -> str:
        return str(self._ask("/reset", {"task": task})["session"])

    def call(self, session: str, name: str, arguments: Any) -> str:
        body = {"session": session, "calls": [{"name": name, "arguments": arguments}]}
        status, answer = self._post("/step", body)
        if status == 409:
            return SPENT
        if status == 400 and answer.get("error", {}).get("where", "").startswith("calls"):
            return f"This is not a call: {answer['error']['what']}"
        return str(self._good("/step", status, answer)["results"][0]["content"])

    def score(self, session: str, answer: str | None) -> Verdict:
        return Verdict.model_validate(self._ask("/score", {"session": session, "answer": answer})["verdict"])

    def close(self, session: str) -> None:
        self._ask("/close", {"session": session})

    def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._good(path, *self._post(path, body))

    def _good(self, path: str, status: int, answer: dict[str, Any]) -> dict[str, Any]:
        if status == 200:
            return answer
        error = answer.get("error", {})
        raise InputError(str(error.get("what") or f"status {status}"), where=self.url + path, mend=error.get("mend"))

    def _post(self, path: str, body: Mapping[str, Any] | None) -> tuple[int, dict[str, Any]]:
        """Status and object. Never through a proxy: the server is a neighbour."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=_SECONDS) as reply:
                status, text = int(reply.status), reply.read()
        except HTTPError as error:
            status, text = error.code, error.read()
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", None) or error
            mend = "start it: synth serve-env DIR"
            raise InputError(f"the environment does not answer ({reason})", where=self.url, mend=mend) from None
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            what = f"the answer is not an object (status {status})"
            raise InputError(what, where=self.url + path, mend="give the URL that synth serve-env prints")
        return status, answer
