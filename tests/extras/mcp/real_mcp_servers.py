"""Servers that none of us wrote: the protocol's own reference servers, each in an environment of its own.

They are installed once, below the folder that SYNTH_MCP_HOME names (else ``.venv-mcp-servers`` of the checkout):
what they need is no business of ours.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["CannotBeHad", "node_program", "program"]

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = {
    "mcp-server-time": ("mcp-server-time==2026.10.19",),
    "mcp-server-git": ("mcp-server-git==2026.10.19",),
    # Its last release knows the SDK's first version only: two versions of the protocol's library talk here.
    "mcp-server-sqlite": ("mcp-server-sqlite==2025.4.25", "mcp<2"),
}
NODE = {
    "mcp-server-memory": "@modelcontextprotocol/server-memory@2026.8.31",
    "mcp-server-filesystem": "@modelcontextprotocol/server-filesystem@2026.8.31",
}
"""Servers on Node.js."""


class CannotBeHad(Exception):
    """This machine can't have the server; the text says why, in one line."""


def program(name: str) -> str:
    """The program of a server; installed where it is not there yet.

    Raises:
        CannotBeHad: it could not be installed.
    """
    home = Path(os.environ.get("SYNTH_MCP_HOME") or ROOT / ".venv-mcp-servers")
    folder = home / name
    done = folder / ".installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        python = folder / "bin" / "python"
        _call(name, sys.executable, "-m", "venv", folder)
        _call(name, python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *REQUIREMENTS[name])
        done.touch()
    return str(folder / "bin" / name)


def node_program(name: str) -> str:
    """The program of a server on Node.js; installed where it is not there yet.

    Raises:
        CannotBeHad: there is no Node.js, or it could not be installed.
    """
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise CannotBeHad(f"{name} can't be had: there is no node or no npm")
    home = Path(os.environ.get("SYNTH_MCP_HOME") or ROOT / ".venv-mcp-servers")
    folder = home / f"node-{name}"
    done = folder / ".installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text("{}")
        _call(name, npm, "install", "--no-audit", "--no-fund", "--prefix", folder, NODE[name])
        done.touch()
    return str(folder / "node_modules" / ".bin" / name)


def _call(what: str, *command: str | Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=kept
    )
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise CannotBeHad(f"{what} can't be had: {last[:300]}")
