"""The tools of the environment ``code``, as agents see them."""

from __future__ import annotations

from collections.abc import Mapping

from synth.environments.contract import ToolSchema, number_argument, text_argument

__all__ = ["TOOLS"]

_PATH = text_argument("Path of a file in the project.", 300)
TOOLS: Mapping[str, ToolSchema] = {
    tool.name: tool
    for tool in (
        ToolSchema.of("list_files", "Lists the files of the project, with how many lines each has.", {}),
        ToolSchema.of(
            "read_file",
            "Shows lines of a file, with their numbers.",
            {"path": _PATH, "start": number_argument("The first line that is shown; without it, line 1.")},
            optional=("start",),
        ),
        ToolSchema.of(
            "search_files",
            "Finds the lines that hold a text, in all files or in one.",
            {"text": text_argument("The text, as it stands in a line.", 200), "path": _PATH},
            optional=("path",),
        ),
        ToolSchema.of(
            "edit_file",
            "Replaces a text that stands exactly once in a file by another one.",
            {
                "path": _PATH,
                "old": text_argument("What stands there, with its indentation.", 8_000),
                "replacement": {"type": "string", "maxLength": 8_000, "description": "What is to stand there."},
            },
        ),
        ToolSchema.of(
            "write_file",
            "Writes a whole file: a new one, or in the place of what it held.",
            {"path": _PATH, "file_text": {"type": "string", "maxLength": 100_000, "description": "All that it holds."}},
        ),
        ToolSchema.of(
            "run_tests",
            "Runs the tests and shows which fail and how; all of them, or those of one file.",
            {"path": text_argument("Path of a file of tests.", 300)},
            optional=("path",),
        ),
        ToolSchema.of(
            "run_python",
            "Runs a Python program that can import the project, and shows what it prints. Files that it writes are not "
            "kept.",
            {"program": text_argument("The program.", 8_000)},
        ),
    )
}
