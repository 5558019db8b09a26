"""Which programs the lines of code in a manual call."""

from __future__ import annotations

import re

from synth.text.words import FUNCTION_WORDS

__all__ = ["code_commands"]

_OF_SHELLS = frozenset(
    "set export echo cd if for while source then else fi done do exit unset alias read local".split()
)


def code_commands(text: str) -> set[str]:
    """The programs that lines of code call, and their commands of two words: "kiln fire --slow" -> kiln, "kiln fire".

    Only a line with an option or a prompt tells that it calls one: a manual may be written in one block of code, and
    files of settings have lines that look like calls.
    """
    lines = list(_COMMAND.finditer(text))
    programs = {match["program"] for match in lines if match["prompt"] or " -" in match["more"]} - _OF_SHELLS
    two = {f"{m['program']} {m['command']}" for m in lines if m["program"] in programs and m["command"]}
    return programs | {name for name in two if name.split()[1] not in FUNCTION_WORDS}


_COMMAND = re.compile(
    r"^ {4,}(?P<prompt>\$ )?(?P<program>[a-z][a-z\d-]+)(?: (?P<command>[a-z][a-z-]+)(?= |$))?"
    r"(?P<more>(?: --?[A-Za-z][^\n]*| [^\s]*[/=._:<\[\"'~$\d][^\n]*| {2,}# [^\n]*)?)$",
    re.MULTILINE,
)
