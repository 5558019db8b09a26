"""An environment over HTTP, for RL trainers that run elsewhere.

    GET  /health   {"status": "ok", "environment", "version", "tasks": N, "sessions": n}
    GET  /tools    {"tools": [JSON Schema functions], "instructions"}
    POST /reset    {"task": id or number}
                   -> {"session", "task", "question", "instructions", "tools", "calls_left"}
    POST /step     {"session", "calls": [{"name", "arguments"}]}
                   -> {"results": [{"call_id", "name", "content", "error"}], "calls_left"}
    POST /score    {"session", "answer"?}             -> {"reward": 1.0, 0.0 or null, "verdict": {...}, "task", "calls",
                                                           "checklist": [{"text", "kind", "weight", "met"}], "credit"}
    POST /close    {"session"}                        -> {"closed": true or false}

A reward of null means that no rule could tell. ``checklist`` holds the items of a reverse task's plan and whether each
is met (null: not known), ``credit`` the weight of those that are (CM2, arXiv 2602.12268; null where one is not known).
``/score`` ends the session, and so does not coming back for a while.
A tool call that is wrong is not a mistake of the request: it is answered in words, as an agent gets it, with ``error``
saying of what kind it is. A request that is wrong is answered as ``synth.serving.json_http`` says, with 404 for a task
or session that is not there, 409 when a session's calls are used up and 503 when too many sessions are open. The gold
answer never leaves the server: not before ``/score``, and there only as what the rule compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any

from synth.agents.credit import credit_of, weights_of
from synth.agents.plan_view import plan_of
from synth.episodes.sessions import NoSession, Session, Sessions, Trouble
from synth.errors import InputError
from synth.serving.json_http import JsonServer, WrongRequest

__all__ = ["EpisodeServer"]

MOST_CALLS = 64
"""In one request."""
_STATUS = {
    Trouble.UNKNOWN_TASK: HTTPStatus.NOT_FOUND,
    Trouble.UNKNOWN_SESSION: HTTPStatus.NOT_FOUND,
    Trouble.FULL: HTTPStatus.SERVICE_UNAVAILABLE,
    Trouble.SPENT: HTTPStatus.CONFLICT,
    Trouble.WRONG_CALL: HTTPStatus.BAD_REQUEST,
}


class EpisodeServer(JsonServer):
    """Serves the sessions of one environment."""

    title = "synth serve-env"

    def __init__(self, host: str, port: int, sessions: Sessions, *, allow_hosts: Collection[str] = ()) -> None:
        """As :class:`JsonServer`; every second, sessions that went unused for too long are ended.

        Raises:
            InputError: the address can't be listened on.
        """
        self.sessions = sessions
        # A call waits on a thread for its session's: one each, and a few for what is quick.
        super().__init__(host, port, allow_hosts=allow_hosts, workers=sessions.most + 8, every_second=sessions.sweep)

    def stop(self) -> None:
        """Finish what was begun, then end every session."""
        super().stop()
        self.sessions.close_all()


def _health(server: EpisodeServer, body: Mapping[str, Any]) -> dict[str, Any]:
    sessions = server.sessions
    environment = sessions.environment
    return {
        "status": "ok",
        "environment": environment.name,
        "version": environment.version,
        "tasks": len(sessions.tasks),
        "sessions": len(sessions),
    }


def _about(server: EpisodeServer, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    environment = server.sessions.environment
    return {
        "tools": [tool.function() for tool in environment.tools()],
        "instructions": environment.instructions(),
    }


def _reset(server: EpisodeServer, body: Mapping[str, Any]) -> dict[str, Any]:
    _only(body, "task")
    task = body.get("task")
    if isinstance(task, bool) or not isinstance(task, str | int):
        raise InputError("is missing" if task is None else "is neither an id nor a number", where="task")
    session = _had(lambda: server.sessions.reset(task))
    return {
        "session": session.key,
        "task": session.task.id,
        "question": session.task.question,
        **_about(server),
        "calls_left": server.sessions.max_calls,
    }


def _step(server: EpisodeServer, body: Mapping[str, Any]) -> dict[str, Any]:
    _only(body, "session", "calls")
    key = _text(body, "session")
    calls = body.get("calls")
    if not isinstance(calls, list) or not calls:
        raise InputError("is not a list of calls, or an empty one", where="calls")
    if len(calls) > MOST_CALLS:
        raise InputError(f"has {len(calls):,} calls, over {MOST_CALLS}", where="calls")
    asked: list[tuple[str, Any]] = []
    for place, call in enumerate(calls):
        where = f"calls[{place}]"
        if not isinstance(call, dict):
            raise InputError(f"is a {type(call).__name__}, not an object", where=where)
        _only(call, "name", "arguments", where=where)
        asked.append((_text(call, "name", where), call.get("arguments", {})))
    results = _had(lambda: server.sessions.step(key, asked))
    last = int(results[-1].call_id.rpartition("_")[2]) + 1
    return {"results": [result.model_dump() for result in results], "calls_left": server.sessions.max_calls - last}


def _score(server: EpisodeServer, body: Mapping[str, Any]) -> dict[str, Any]:
    _only(body, "session", "answer")
    answer = body.get("answer")
    if answer is not None and not isinstance(answer, str):
        raise InputError(f"is a {type(answer).__name__}, not a text", where="answer")
    scored = _had(lambda: server.sessions.score(_text(body, "session"), answer))
    session: Session = scored[0]
    verdict = scored[1]
    reward = None if verdict.correct is None else float(verdict.correct)
    plan = plan_of(session.task)
    items = () if plan is None else plan.checklist
    weights = weights_of([item.kind for item in items])
    return {
        "reward": reward,
        "verdict": verdict.model_dump(),
        "task": session.task.id,
        "calls": session.calls,
        "checklist": [
            {"text": item.text, "kind": item.kind, "weight": weight, "met": met}
            for item, weight, met in zip(items, weights, session.checklist, strict=True)
        ],
        "credit": credit_of(weights, session.checklist),
    }


def _close(server: EpisodeServer, body: Mapping[str, Any]) -> dict[str, Any]:
    _only(body, "session")
    return {"closed": server.sessions.close(_text(body, "session"))}


def _had(work: Any) -> Any:
    try:
        return work()
    except NoSession as error:
        if error.kind is Trouble.WRONG_CALL:
            raise InputError(str(error), where="calls") from None
        raise WrongRequest(_STATUS[error.kind], str(error)) from None


def _only(body: Mapping[str, Any], *known: str, where: str | None = None) -> None:
    for key in body:
        if key not in known:
            raise InputError(f"there is no {key[:60]!r}", where=where, mend=f"send {', '.join(known)}")


def _text(body: Mapping[str, Any], key: str, where: str | None = None) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        place = f"{where}.{key}" if where else key
        raise InputError("is missing" if value is None else "is not text, or an empty one", where=place)
    return value


EpisodeServer.routes = {
    "/health": ("GET", _health),
    "/tools": ("GET", _about),
    "/reset": ("POST", _reset),
    "/step": ("POST", _step),
    "/score": ("POST", _score),
    "/close": ("POST", _close),
}
