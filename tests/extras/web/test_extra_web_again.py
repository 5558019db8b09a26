"""Going back in a real browser: what is done again, what is not, and that a picture changes nothing. And what an
interrupted build says."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from browser_here import needs_browser

from synth.environments.contract import ToolCall, ToolResult
from synth.environments.web.environment import WebEnvironment, WebEpisode, open_web
from synth.testing.corpus import small_tasks

pytestmark = [pytest.mark.extras, needs_browser]
TASK = small_tasks()[0].model_copy(update={"details": {"web_start": "priya"}})


def do(episode: WebEpisode, name: str, **arguments: Any) -> ToolResult:
    return episode.step(ToolCall(id="c", name=name, arguments=arguments))


def use(episode: WebEpisode, tool: str, role: str, name: str, **arguments: Any) -> ToolResult:
    assert episode.seen is not None
    found = next(one.ref for one in episode.seen.tree.elements if (one.role, one.name) == (role, name))
    return do(episode, tool, ref=found, **arguments)


@pytest.fixture(scope="module")
def library() -> WebEnvironment:
    return open_web(screenshots=True)


def change(episode: WebEpisode) -> list[ToolResult]:
    """Several calls on one document."""
    return [
        do(episode, "open", url="/settings.html"),
        use(episode, "select", "combobox", "Usual branch", option="Harbour"),
        use(episode, "type", "textbox", "Email address", text="r.tate@example.net"),
        use(episode, "click", "button", "Save settings"),
    ]


def test_a_picture_leaves_the_page_as_it_is(library: WebEnvironment) -> None:
    with_pictures, without = library.reset(TASK), library.resume(TASK, {})
    seen, bare = change(with_pictures), change(without)
    assert all(one.page is not None and one.page.screenshot for one in seen)
    assert all(one.page is not None and one.page.screenshot is None for one in bare)
    assert seen == bare  # addresses and markup, too
    assert 'style=""' not in str(seen[-1].page)
    with_pictures.close()
    without.close()


def test_known_calls_are_told_from_memory_with_their_pictures(library: WebEnvironment) -> None:
    episode = library.reset(TASK)
    begin = episode.snapshot()
    first = change(episode)
    end = episode.snapshot()
    session = episode._held.session
    episode.restore(begin)
    again = change(episode)
    assert again == first
    assert [one.page.screenshot for one in again if one.page] == [one.page.screenshot for one in first if one.page]
    assert episode.snapshot() == end
    assert episode._held.session is session  # no other browser context was opened
    # A number that the page does not have needs no browser; what comes after it does, and stands behind a replay.
    episode.restore(begin)
    do(episode, "open", url="/settings.html")
    assert do(episode, "click", ref="e99").error == "not_found"
    assert episode._held.session is session
    assert "Harbour" in use(episode, "select", "combobox", "Usual branch", option="Harbour").content
    assert episode._held.session is not session
    other = library.reset(TASK)
    other.restore(episode.snapshot())
    assert other.snapshot() == episode.snapshot()
    episode.close()
    other.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_says_one_line(tmp_path: Path, number: signal.Signals) -> None:
    command = [str(Path(sys.executable).with_name("synth")), "build", "web-site", "--tasks", "20"]
    command += ["--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert started.stdout is not None
    said = ""
    while not re.search(r"^tasks .*: \d+$", said, re.M):  # in the middle of it, with a page before it
        line = started.stdout.readline()
        assert line, f"it ended before it could be interrupted:\n{said}"
        said += line
    # As a terminal does it with Ctrl-C: all that belongs to the program hears it.
    (os.killpg if number is signal.SIGINT else os.kill)(started.pid, number)
    said += started.communicate(timeout=120)[0]
    assert started.returncode == 130
    assert "interrupted" in said
    assert not re.search(r"never retrieved|was destroyed|Traceback|Error", said), said
    with pytest.raises(ProcessLookupError):  # no driver and no browser is left
        os.killpg(started.pid, 0)
