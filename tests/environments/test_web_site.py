"""What the browser is connected to, and what is known of a site: without a browser."""

from __future__ import annotations

import http.client
import os
import pickle
import sys
from pathlib import Path

import pytest

from synth.environments.web.application import Application, folder_digest
from synth.environments.web.definition import WebConfig, load_site
from synth.environments.web.server import Folder, Reply, Request, SiteServer
from synth.errors import InputError
from synth.inputs import checked


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "deep").mkdir(parents=True)
    (site / "index.html").write_text("<h1>first</h1>")
    (site / "deep" / "index.html").write_text("<h1>deep</h1>")
    (site / "data.json").write_text("{}")
    (site / ".secret").write_text("x")
    (site / "site.yaml").write_text("title: mine")
    (tmp_path / "outside.html").write_text("outside")
    (site / "link.html").symlink_to(tmp_path / "outside.html")
    return site


def get(folder: Folder, path: str, method: str = "GET") -> Reply:
    return folder(Request(method, path, {}, b""))


def test_a_folder_shows_its_pages_and_nothing_else(pages: Path) -> None:
    folder = Folder(pages)
    assert get(folder, "/?q=1").body == b"<h1>first</h1>"
    assert get(folder, "/deep").body == get(folder, "/deep/index.html").body == b"<h1>deep</h1>"
    assert dict(get(folder, "/data.json").headers)["Content-Type"] == "application/json"
    for path in ("/.secret", "/site.yaml", "/link.html", "/../outside.html", "/%2e%2e/outside.html", "/nothing"):
        assert get(folder, path).status == 404, path
    assert get(folder, "/", "POST").status == 405


def test_the_hash_of_a_folder_is_that_of_its_pages(pages: Path) -> None:
    before = Folder(pages).digest
    assert Folder(pages).digest == before
    (pages / "index.html").write_text("<h1>other</h1>")
    assert Folder(pages).digest != before


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no HTML page"):
        Folder(tmp_path)


def test_the_proxy_knows_one_site(pages: Path) -> None:
    server = SiteServer("mine.test", Folder(pages))
    try:
        port = int(server.address.rsplit(":", 1)[1])

        def ask(target: str, method: str = "GET", **headers: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request(method, target, headers=headers)
            status = connection.getresponse().status
            connection.close()
            return status

        assert ask("http://mine.test/") == 200
        assert ask("http://mine.test/deep?x", "HEAD") == 200
        for target in ("http://other.test/", "http://mine.test.evil/", "https://mine.test/", "/", "http://127.0.0.1/"):
            assert ask(target) == 403, target
        assert ask("mine.test:443", "CONNECT") == 403
        assert ask("http://mine.test/", Upgrade="websocket") == 403
    finally:
        server.close()


def test_the_shipped_site_is_sound() -> None:
    folder, definition = load_site("library")
    assert len(definition.starts) >= 10
    assert len(Folder(folder).files) >= 14
    assert {rule.at for rule in definition.requests} >= {"holds", "loans", "signups", "lists", "settings.email"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tittle: x", "site.yaml.tittle"),
        ("address: https://x.test", "address must be"),
        ("address: http://example.org", "ends in .test"),
        ("- [", "not YAML"),
        ("requests: [{at: a, change: gone, words: [x]}]", "site.yaml.requests.0.change"),
    ],
)
def test_a_wrong_site_file_is_said_in_one_line(pages: Path, text: str, said: str) -> None:
    (pages / "site.yaml").write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        load_site(str(pages))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"site": "library", "port": 1}, "environment.port"),
        ({"state_path": "/s"}, "goes with a command"),
        ({"replay_safe": False}, "goes with a command"),
        ({"viewport": [1, 1]}, "environment.viewport"),
        ({"now": "today"}, "environment.now"),
    ],
)
def test_wrong_options_are_said_in_one_line(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        checked(WebConfig, options, "environment")


def test_no_such_site_names_those_that_are() -> None:
    with pytest.raises(InputError, match="library"):
        load_site("no-such-site")


def test_errors_cross_process_borders() -> None:
    with pytest.raises(InputError) as caught:
        load_site("no-such-site")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_copy_of_a_site_holds_nothing_from_outside(pages: Path) -> None:
    """An application runs in a copy of its folder: a link to /dev/zero would never end, one to a home copies it."""
    (pages / "app.py").write_text("print()")
    (pages / "deep" / "near.html").symlink_to("../index.html")
    before = folder_digest(pages)
    (pages / "zero").symlink_to("/dev/zero")
    (pages / "home").symlink_to(pages.parent)
    (pages / "deep" / "up").symlink_to("../../outside.html")
    (pages / "here").symlink_to(pages)
    os.mkfifo(pages / "pipe")
    assert folder_digest(pages) == before
    serve = "import http.server as s; s.test(s.SimpleHTTPRequestHandler, port={port}, bind='127.0.0.1')"
    application = Application((sys.executable, "-c", serve), pages)
    try:
        own = {"index.html", "deep/near.html", "app.py"}
        for name in (*own, "link.html", "pipe", "zero", "home/outside.html", "deep/up", "here/index.html"):
            connection = http.client.HTTPConnection("127.0.0.1", application.port, timeout=20)
            connection.request("GET", f"/{name}")
            assert connection.getresponse().status == (200 if name in own else 404), name
            connection.close()
    finally:
        application.close()
