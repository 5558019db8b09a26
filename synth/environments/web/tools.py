"""What a web agent can do, as JSON schemas."""

from __future__ import annotations

from typing import Any

from synth.environments.contract import ToolSchema

__all__ = ["KEYS", "web_tools"]

KEYS = ("Enter", "Escape", "Tab", "Space", "Backspace", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageDown")
_REF = {
    "type": "string",
    "minLength": 1,
    "maxLength": 20,
    "description": "An element of the page as it was last shown, as e12.",
}


def web_tools(address: str) -> tuple[ToolSchema, ...]:
    """The tools for the site at ``address``, in a fixed order."""
    return (
        _tool("back", "Go back to the page before.", {}),
        _tool("click", "Click an element: a link, a button, a checkbox, a tab.", {"ref": _REF}),
        _tool(
            "open",
            f"Open a page of the site {address} by its address. {address}/ is the first page.",
            {
                "url": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 2000,
                    "description": "An address in the site, whole or from the slash on.",
                }
            },
        ),
        _tool(
            "press",
            "Press a key, in the element that was used last.",
            {"key": {"type": "string", "enum": list(KEYS), "description": "The key."}},
        ),
        _tool(
            "read",
            "Look at the page again. A long page comes in parts; any other tool shows the first.",
            {"part": {"type": "integer", "minimum": 1, "description": "Which part; the first if not given."}},
            required=(),
        ),
        _tool(
            "select",
            "Choose an option of a combobox or listbox.",
            {
                "ref": _REF,
                "option": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 400,
                    "description": "The option, as the page words it.",
                },
            },
        ),
        _tool(
            "type",
            "Put text into a text box, in place of what is in it.",
            {
                "ref": _REF,
                "text": {"type": "string", "maxLength": 4000, "description": "The text; empty to clear the box."},
                "submit": {"type": "boolean", "description": "Press Enter after it; not done if not given."},
            },
            required=("ref", "text"),
        ),
    )


def _tool(
    name: str, description: str, properties: dict[str, Any], required: tuple[str, ...] | None = None
) -> ToolSchema:
    parameters: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    needed = list(properties if required is None else required)
    if needed:
        parameters["required"] = needed
    return ToolSchema(name=name, description=description, parameters=parameters)
