"""Servers whose lists are not objects with a number each: ``python mcp_lists.py KIND``.

``board`` lists texts under columns, ``vault`` names of files in folders, ``requests`` tasks below each request, in a
table, ``shop`` tables with their rows, and ``store`` keys, one a line. Each but the last counts its writes and shows
the count, so that even a write that changes nothing else changes what is shown.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["command"]


def command(kind: str) -> list[str]:
    """The command line of such a server."""
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), kind]


_TEXT, _FREE = {"type": "string"}, {"type": "object"}


def _tool(name: str, description: str, required: str = "", **properties: Any) -> dict[str, Any]:
    named = dict.fromkeys(required.split(), _TEXT)
    schema = {"type": "object", "properties": {**named, **properties}, "required": required.split()}
    return {"name": name, "description": description, "inputSchema": schema}


_TOOLS = {
    "board": [
        _tool("list_cards", "List cards.", column=_TEXT),
        _tool("move_card", "Move a card from one column to another.", "title from_column to_column"),
        _tool("stamp_card", "Stamp a card.", "title column"),
        _tool("delete_card", "Delete a card.", "title column", mode={"type": "string", "enum": ["soft", "hard"]}),
    ],
    "vault": [
        _tool("list_directory", "List files.", path=_TEXT, sort=_TEXT),
        _tool("read_page", "Read a page.", "path"),
        _tool("get_fields", "Get the fields of a page.", "path"),
        _tool("delete_page", "Delete a page.", "path confirmPath"),
        _tool("update_fields", "Update the fields of a page.", "path fields", fields=_FREE),
        _tool("manage_tags", "Add, remove or list tags.", "path operation", operation={"enum": ["add", "remove"]}),
    ],
    "requests": [
        _tool("list_requests", "List requests."),
        _tool("get_next_task", "The next task of a request.", "requestId"),
        _tool("show_request", "Show a request.", "requestId"),
        _tool("mark_task_done", "Mark a given task as done.", "requestId taskId"),
        _tool("delete_task", "Delete a task from a request.", "requestId taskId"),
        _tool("update_task", "Update a task.", "requestId taskId"),
        _tool("show_order", "Show an order.", "order_id"),
    ],
    "store": [
        _tool("list", "List keys."),
        _tool("get", "Get a value.", "key"),
        _tool("find_related", "What goes with a key.", "key"),
        _tool("set", "Set a key-value pair.", "key value"),
        _tool("delete", "Delete one or more keys.", "key"),
    ],
    "shop": [
        _tool("list_tables", "List tables."),
        _tool("get_table_schema", "The columns of a table.", "tableName"),
        _tool("read_records", "Read records.", "table"),
        _tool("delete_records", "Delete records from a table.", "table conditions", conditions=_FREE),
        _tool("update_records", "Update records in a table.", "table data conditions", data=_FREE, conditions=_FREE),
    ],
}


class Server:
    """What it keeps, and what it answers."""

    def __init__(self) -> None:
        self.saved = 0
        self.board = {
            "NEXT": ["Mend the gate", "Order way markers"],
            "LATER": ["Draw it"],
            "DONE": ["Oil the saw"],
        }
        self.pages = {"Rye bread.md": "tested", "Garden diary.md": "open", "Old plans.md": "open", "Loft.md": "tested"}
        self.pages |= {"House/Boiler.md": "open", "House/Paint.md": "tested", "House/Attic/Beams.md": "open"}
        self.tasks = {
            "req-1": [["task-1", "Order boxes", "Forty", "Done"], ["task-2", "Cancel the contract", "In May", "Open"]],
            "req-2": [["task-3", "Book a band", "Under 800", "Open"], ["task-4", "Write invitations", "Sixty", "Open"]],
        }
        self.keys = {"race:date": "7 February", "gate:code": "4471", "coach:allergy": "latex"}
        self.tables: dict[str, list[dict[str, Any]]] = {
            "plants": [
                {"id": 1, "name": "Bay laurel", "kind": "shrub", "price": 18.5},
                {"id": 2, "name": "Boston fern", "kind": "fern", "price": 9.9},
                {"id": 3, "name": "Tree fern", "kind": "fern", "price": 61.0},
                {"id": 4, "name": "White camellia", "kind": "shrub", "price": 21.0},
            ],
            "suppliers": [
                {"id": 1, "name": "Fen Herbs", "town": "Ely"},
                {"id": 2, "name": "Tamar Nurseries", "town": "Bere"},
            ],
        }

    def list_cards(self, column: str | None = None) -> Any:
        return {name: cards for name, cards in self.board.items() if column in (None, name)}

    def move_card(self, title: str, from_column: str, to_column: str) -> Any:
        self.board[from_column].remove(title)
        self.board[to_column].append(title)
        return "moved"

    def stamp_card(self, title: str, column: str) -> Any:
        cards = self.board[column]
        cards[cards.index(title)] = f"{title} (stamped)"
        return "stamped"

    def delete_card(self, title: str, column: str, mode: str = "hard") -> Any:
        self.board[column].remove(title)
        return "deleted"

    def list_directory(self, path: str = "", sort: str = "") -> Any:
        inside = [page.removeprefix(f"{path}/").split("/") for page in sorted(self.pages) if page.startswith(path)]
        dirs = {way[0] for way in inside if len(way) > 1} | ({"Trips"} if not path else set())
        return {"dirs": sorted(dirs), "files": [way[0] for way in inside if len(way) == 1], "saved": self.saved}

    def read_page(self, path: str) -> Any:
        return {"fields": {"status": self.pages[path]}, "text": f"About {path}"}

    def get_fields(self, path: str) -> Any:
        return {"status": self.pages[path]}

    def delete_page(self, path: str, confirmPath: str) -> Any:
        assert path == confirmPath
        del self.pages[path]
        return "deleted"

    def update_fields(self, path: str, fields: dict[str, str]) -> Any:
        self.pages[path] = fields["status"]
        return "updated"

    def manage_tags(self, path: str, operation: str) -> Any:
        return "no tags"

    def list_requests(self) -> Any:
        wanted = {"req-1": "Move into the new flat", "req-2": "Plan the summer party"}
        rows = [{"requestId": key, "wanted": wanted[key], "taskCount": len(rows)} for key, rows in self.tasks.items()]
        return {"requests": rows, "saved": self.saved}

    def get_next_task(self, requestId: str) -> Any:
        head = "| Task ID | Title | Description | Status |\n|---|---|---|---|\n"
        rows = self.tasks[requestId]
        first = {"id": rows[0][0], "title": rows[0][1], "description": rows[0][2]} if rows else {}
        message = head + "".join(f"| {' | '.join(row)} |\n" for row in rows)
        return {"task": first, "newest": {**first, "heading": first.get("title")}, "message": message}

    def show_request(self, requestId: str) -> Any:
        contact = {"req-1": "Ida Whitcombe", "req-2": "Robin Tate"}[requestId]
        steps = [{"title": row[1], "contact": "To be decided"} for row in self.tasks[requestId]]
        return {"request": {"id": requestId, "room": f"Room of {contact}"}, "steps": steps, "contact": contact}

    def mark_task_done(self, requestId: str, taskId: str) -> Any:
        next(row for row in self.tasks[requestId] if row[0] == taskId)[3] = "Done"
        return "marked"

    def delete_task(self, requestId: str, taskId: str) -> Any:
        self.tasks[requestId] = [row for row in self.tasks[requestId] if row[0] != taskId]
        return "deleted"

    def update_task(self, requestId: str, taskId: str) -> Any:
        return "updated"

    def show_order(self, order_id: str) -> Any:
        payee = {"o-1": "Baines Music", "o-2": "Parish hall"}[order_id]
        return {"currency": "EUR", "order": {"id": order_id, "payee": payee}}

    def list(self) -> Any:
        return "\n".join(["Found keys:", *self.keys])

    def get(self, key: str) -> Any:
        return self.keys[key]

    def find_related(self, key: str) -> Any:
        return f"Nothing goes with {key}"

    def set(self, key: str, value: str) -> Any:
        self.keys[key] = value
        return "OK"

    def delete(self, key: str) -> Any:
        del self.keys[key]
        return "1"

    def list_tables(self) -> Any:
        return [{"name": name} for name in self.tables]

    def get_table_schema(self, tableName: str) -> Any:
        return [{"name": name, "type": type(value).__name__} for name, value in self.tables[tableName][0].items()]

    def read_records(self, table: str) -> Any:
        return self.tables[table]

    def delete_records(self, table: str, conditions: dict[str, Any]) -> Any:
        self.tables[table] = [row for row in self.tables[table] if not conditions.items() <= row.items()]
        return "deleted"

    def update_records(self, table: str, data: dict[str, Any], conditions: dict[str, Any]) -> Any:
        for row in self.tables[table]:
            row |= {**data, "saved": self.saved} if conditions.items() <= row.items() else {}
        return "updated"

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            about = {"name": "lists", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
        if method == "tools/list":
            return {"tools": _TOOLS[sys.argv[1]]}
        reads = params["name"].split("_")[0] in ("list", "get", "read", "show")
        self.saved += not reads
        try:
            shown = getattr(self, params["name"])(**params.get("arguments", {}))
        except (KeyError, ValueError, AssertionError, TypeError, StopIteration, AttributeError):
            return {"content": [{"type": "text", "text": "there is no such thing"}], "isError": True}
        text = shown if isinstance(shown, str) else json.dumps(shown)
        return {"content": [{"type": "text", "text": text}]}


if __name__ == "__main__":
    server = Server()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = server.answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
