"""A server of the Model Context Protocol over stdio: to-dos in projects, and notes. Standard library only.

    python -I organizer.py [SET]

It begins with the set of data SET of ``organizer.json`` (``home`` where none is named) and keeps everything in memory:
a process of its own is a state of its own. Nothing depends on the time of day. Ids come from titles, so that what is
made in another order has the same ids.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Organizer", "main"]

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
PRIORITIES = ["low", "normal", "high"]


class _Refused(Exception):
    """What can't be done, in words."""


class Organizer:
    """The state, and a method per tool."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.projects: list[str] = list(data["projects"])
        self.tasks: dict[str, dict[str, Any]] = {}
        self.notes: dict[str, dict[str, Any]] = {}
        for title, project, day, priority, done in data["tasks"]:
            self._put(title, project, day, priority)["done"] = done
        for title, tag, text in data["notes"]:
            self.notes[title] = {"tag": tag, "text": text}

    def list_projects(self) -> str:
        counts = [
            (name, sum(t["project"] == name and not t["done"] for t in self.tasks.values())) for name in self.projects
        ]
        return "\n".join(f"{name}: {count} open" for name, count in counts)

    def list_tasks(self, project: str | None = None, status: str = "open") -> str:
        if project is not None:
            self._project(project)
        found = [
            self._line(key)
            for key in sorted(self.tasks, key=lambda key: str(self.tasks[key]["title"]).lower())
            if project in (None, self.tasks[key]["project"])
            and (status == "all" or self.tasks[key]["done"] == (status == "done"))
        ]
        return "\n".join(found) or "There are none."

    def get_task(self, task_id: str) -> str:
        task = self._task(task_id)
        state = "done" if task["done"] else "open"
        return "\n".join(
            [
                f"Title: {task['title']}",
                f"Project: {task['project']}",
                f"Day: {task['day'] or 'none'}",
                f"Priority: {task['priority']}",
                f"Status: {state}",
            ]
        )

    def add_task(self, title: str, project: str, day: str | None = None, priority: str = "normal") -> str:
        self._project(project)
        return f"Added: {self._line(self._put(title, project, day, priority)['id'])}"

    def complete_task(self, task_id: str) -> str:
        task = self._task(task_id)
        if task["done"]:
            raise _Refused(f"{task['title']!r} is done already.")
        task["done"] = True
        return f"Done: {task['title']}."

    def reopen_task(self, task_id: str) -> str:
        task = self._task(task_id)
        if not task["done"]:
            raise _Refused(f"{task['title']!r} is open already.")
        task["done"] = False
        return f"Open again: {self._line(task_id)}"

    def reschedule_task(self, task_id: str, day: str) -> str:
        task = self._open(task_id)
        task["day"] = day
        return f"Rescheduled: {self._line(task_id)}"

    def set_priority(self, task_id: str, priority: str) -> str:
        self._open(task_id)["priority"] = priority
        return f"Changed: {self._line(task_id)}"

    def move_task(self, task_id: str, project: str) -> str:
        self._project(project)
        self._open(task_id)["project"] = project
        return f"Moved: {self._line(task_id)}"

    def delete_task(self, task_id: str) -> str:
        return f"Deleted: {self.tasks.pop(self._task(task_id)['id'])['title']}."

    def list_notes(self, tag: str | None = None) -> str:
        found = [
            f"{title} (#{note['tag']})" for title, note in sorted(self.notes.items()) if tag in (None, note["tag"])
        ]
        return "\n".join(found) or "There are none."

    def read_note(self, title: str) -> str:
        note = self._note(title)
        return f"# {title}\n{note['text']}\n#{note['tag']}"

    def search_notes(self, query: str) -> str:
        words = query.lower().split()
        found = [
            f"{title}: {note['text'].splitlines()[0][:80]}"
            for title, note in sorted(self.notes.items())
            if all(word in f"{title} {note['text']} {note['tag']}".lower() for word in words)
        ]
        return "\n".join(found) or "Nothing was found."

    def write_note(self, title: str, text: str, tag: str) -> str:
        if title in self.notes:
            raise _Refused(f"There is a note {title!r} already; append to it, or delete it first.")
        self.notes[title] = {"tag": tag, "text": text}
        return f"Written: {title} (#{tag})"

    def append_to_note(self, title: str, line: str) -> str:
        note = self._note(title)
        note["text"] = f"{note['text']}\n{line}"
        return f"{title} has {len(note['text'].splitlines())} lines now."

    def rename_note(self, title: str, new_title: str) -> str:
        note = self._note(title)
        if new_title in self.notes:
            raise _Refused(f"There is a note {new_title!r} already.")
        self.notes[new_title] = note
        del self.notes[title]
        return f"{title} is called {new_title} now."

    def delete_note(self, title: str) -> str:
        self._note(title)
        del self.notes[title]
        return f"Deleted: {title}."

    def _put(self, title: str, project: str, day: str | None, priority: str) -> dict[str, Any]:
        if any(task["title"].lower() == title.lower() for task in self.tasks.values()):
            raise _Refused(f"There is a task {title!r} already.")
        number = zlib.crc32(title.encode())
        while f"t-{number % 9000 + 1000}" in self.tasks:
            number += 1
        key = f"t-{number % 9000 + 1000}"
        self.tasks[key] = {
            "id": key,
            "title": title,
            "project": project,
            "day": day,
            "priority": priority,
            "done": False,
        }
        return self.tasks[key]

    def _line(self, key: str) -> str:
        task = self.tasks[key]
        state = "done" if task["done"] else task["day"] or "no day"
        return f"[{key}] {task['title']} | {task['project']} | {state} | {task['priority']}"

    def _task(self, key: str) -> dict[str, Any]:
        if key not in self.tasks:
            raise _Refused(f"There is no task {key!r}; list_tasks shows their ids.")
        return self.tasks[key]

    def _open(self, key: str) -> dict[str, Any]:
        if self._task(key)["done"]:
            raise _Refused(f"{self.tasks[key]['title']!r} is done; reopen it first.")
        return self.tasks[key]

    def _note(self, title: str) -> dict[str, Any]:
        if title not in self.notes:
            raise _Refused(f"There is no note {title!r}; list_notes shows their titles.")
        return self.notes[title]

    def _project(self, name: str) -> None:
        if name not in self.projects:
            raise _Refused(f"There is no project {name!r}. There are: {', '.join(self.projects)}.")


def _text(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": about, "minLength": 1, "maxLength": 500, **more}


TASK_ID = _text("Id of the task, as list_tasks shows it.")
NOTE = _text("Title of the note.")
PROJECT = _text("Name of the project.")
DAY = _text("Day of the week.", enum=DAYS)
PRIORITY = _text("How urgent it is.", enum=PRIORITIES)
TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "list_projects": ("The projects, and how many open tasks each has.", {}, ()),
    "list_tasks": (
        "List tasks by title: [id] title | project | day | priority.",
        {"project": PROJECT, "status": _text("Which ones: open where it is left out.", enum=["open", "done", "all"])},
        (),
    ),
    "get_task": ("Everything about one task.", {"task_id": TASK_ID}, ("task_id",)),
    "add_task": (
        "Add a task to a project. Without a priority it is normal, without a day it has none.",
        {"title": _text("What is to be done."), "project": PROJECT, "day": DAY, "priority": PRIORITY},
        ("title", "project"),
    ),
    "complete_task": ("Mark an open task as done.", {"task_id": TASK_ID}, ("task_id",)),
    "reopen_task": ("Mark a task that is done as open again.", {"task_id": TASK_ID}, ("task_id",)),
    "reschedule_task": ("Put an open task on another day.", {"task_id": TASK_ID, "day": DAY}, ("task_id", "day")),
    "set_priority": (
        "Say how urgent an open task is.",
        {"task_id": TASK_ID, "priority": PRIORITY},
        ("task_id", "priority"),
    ),
    "move_task": (
        "Move an open task to another project.",
        {"task_id": TASK_ID, "project": PROJECT},
        ("task_id", "project"),
    ),
    "delete_task": ("Delete a task for good.", {"task_id": TASK_ID}, ("task_id",)),
    "list_notes": ("Titles and tags of the notes.", {"tag": _text("Only notes with this tag.")}, ()),
    "read_note": ("The text of a note.", {"title": NOTE}, ("title",)),
    "search_notes": ("Notes that hold all words of a query.", {"query": _text("Words.")}, ("query",)),
    "write_note": (
        "Write a new note.",
        {"title": NOTE, "text": _text("Its text."), "tag": _text("One word that says what it is about.")},
        ("title", "text", "tag"),
    ),
    "append_to_note": (
        "Add a line to the end of a note.",
        {"title": NOTE, "line": _text("The line.")},
        ("title", "line"),
    ),
    "rename_note": (
        "Give a note another title.",
        {"title": NOTE, "new_title": _text("Its new title.")},
        ("title", "new_title"),
    ),
    "delete_note": ("Delete a note for good.", {"title": NOTE}, ("title",)),
}


def _listed() -> list[dict[str, Any]]:
    """The tools, as the protocol has them."""
    return [
        {
            "name": name,
            "description": about,
            "inputSchema": {"type": "object", "properties": properties, "required": list(required)},
        }
        for name, (about, properties, required) in TOOLS.items()
    ]


def _called(organizer: Organizer, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a call. What is wrong with it is said in words."""
    try:
        if name not in TOOLS:
            raise _Refused(f"There is no tool {name!r}.")
        _, properties, required = TOOLS[name]
        for missing in [key for key in required if key not in arguments]:
            raise _Refused(f"{missing} is missing.")
        for key, value in arguments.items():
            if key not in properties or not isinstance(value, str) or not 0 < len(value) <= 500:
                raise _Refused(f"{key} is not what {name} takes.")
            if value not in properties[key].get("enum", [value]):
                raise _Refused(f"{key} must be one of {', '.join(properties[key]['enum'])}.")
        tool: Callable[..., str] = getattr(organizer, name)
        said, wrong = tool(**arguments), False
    except _Refused as refused:
        said, wrong = str(refused), True
    return {"content": [{"type": "text", "text": said}], "isError": wrong}


def _answer(organizer: Organizer, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a request is answered; None for a method that does not exist."""
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "organizer", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": _listed()}
    if method == "tools/call":
        return _called(organizer, str(params.get("name")), params.get("arguments") or {})
    return {} if method == "ping" else None


def main() -> None:
    """Answer requests, one a line, until there are no more."""
    sets = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    name = sys.argv[1] if len(sys.argv) > 1 else "home"
    if name not in sets:
        sys.exit(f"there is no set of data {name!r}; there are {', '.join(sets)}")
    organizer = Organizer(sets[name])
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or "id" not in message:
            continue
        result = _answer(organizer, str(message.get("method")), message.get("params") or {})
        unknown = {"error": {"code": -32601, "message": "there is no such method"}}
        reply = {"jsonrpc": "2.0", "id": message["id"], **({"result": result} if result is not None else unknown)}
        sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
