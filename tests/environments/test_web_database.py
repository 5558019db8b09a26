"""The state of an application that others wrote: its SQLite file, its clock, and what a site must not be."""

from __future__ import annotations

import http.server
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from synth.environments.trust import untrusted
from synth.environments.web.application import without_sessions
from synth.environments.web.clock import Clock, find_clock
from synth.environments.web.database import Unreadable, primary_keys, read_tables
from synth.environments.web.definition import WebConfig
from synth.environments.web.server import Reply, Request, forward
from synth.environments.web.storage import compare, kept
from synth.errors import InputError
from synth.exploration.web.walking import is_sayable
from synth.recipe.sources import WebSource

TABLES = """
create table ticket (id integer primary key, summary text, time integer, file blob);
create table vote (ticket integer, who text, primary key (ticket, who));
create table "an ""odd"" name" (x real);
create table empty (x);
create virtual table words using fts5(summary);
insert into ticket values (1, 'Pump leaks', 1767225600, x'00ff'), (9007199254740993, 'Pane cracked', null, null);
insert into vote values (1, 'mara');
insert into "an ""odd"" name" values (0.5);
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "app.db")) as database:
        database.executescript(TABLES)
    (tmp_path / "not.db").write_text("no database at all, and long enough to be none" * 100)
    return tmp_path


def test_tables_are_read_row_by_row(folder: Path) -> None:
    found = read_tables(folder / "app.db", 1.0)
    assert {"ticket", "vote", 'an "odd" name'} <= set(found)
    assert "words" not in found
    assert "empty" not in found
    first, second = found["ticket"]
    assert first["summary"] == "Pump leaks"
    assert first["file"].startswith("sha256:")
    assert second["id"] == "9007199254740993", "JSON holds no such number exactly"
    assert found['an "odd" name'] == [{"x": 0.5}]
    keys = primary_keys(folder, "app.db")
    assert keys["(server).ticket"] == "id"
    assert "(server).vote" not in keys, "two columns together tell its rows apart"


def test_a_change_of_a_row_is_told_as_one(folder: Path) -> None:
    before = kept({}, read_tables(folder / "app.db", 1.0))
    with closing(sqlite3.connect(folder / "app.db")) as database, database:
        database.execute("update ticket set summary = 'Pump mended' where id = 1")
    after = kept({}, read_tables(folder / "app.db", 1.0))
    (change,) = compare(before, after, primary_keys(folder, "app.db"))
    assert (change.at, change.kind, change.field) == ("(server).ticket", "changed", "summary")
    assert (change.before, change.after) == ("Pump leaks", "Pump mended")


def test_what_can_not_be_read_is_told(folder: Path) -> None:
    with pytest.raises(Unreadable):
        read_tables(folder / "not.db", 1.0)
    with pytest.raises(InputError, match=r"source\.state_database: 'not\.db' can't be read"):
        primary_keys(folder, "not.db")
    with pytest.raises(InputError, match=r"there is no file 'none\.db'"):
        primary_keys(folder, "none.db")
    with closing(sqlite3.connect(folder / "app.db")) as database, database:
        database.executemany("insert into empty values (?)", [(n,) for n in range(20_000)])
    with pytest.raises(Unreadable, match="more than 20,000 rows"):
        read_tables(folder / "app.db", 1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"state_database": "app.db"}, "state_database goes with a command"),
        ({"fixed_clock": True}, "fixed_clock goes with a command"),
        ({"command": ["x"], "state_database": "../app.db"}, "is a path in the folder"),
        ({"command": ["x"], "state_database": "/app.db"}, "is a path in the folder"),
        ({"command": ["x"], "state_database": "app.db", "state_path": "/state"}, "name one"),
    ],
)
def test_keys_that_do_not_go_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        WebConfig(**options)


def test_a_dataset_of_pages_opens_without_trust_and_one_of_a_program_does_not() -> None:
    assert untrusted({"kind": "web", **WebSource(kind="web").model_dump(exclude={"kind", "licence"})}) is None
    told = untrusted({"kind": "web", "site": "library", "command": ["tracd"], "fixed_clock": True})
    assert told is not None
    assert "tracd" in told


def test_times_of_the_episode_are_no_matter_and_all_others_are() -> None:
    clock = Clock("2026-03-02T09:00:00Z")
    begin = 1_772_442_000
    state = {
        "t": [begin, begin + 3599, begin * 1000, begin * 1_000_000 + 17, "2026-03-02T09:00:07Z"],
        "compact": ["20260302090000", "20260302090007.250", "20260302T095959Z"],
        "other": [begin - 1, begin + 3600, "2026-03-02", "2026-03-02T08:59:59Z", "2026-03-02T09:00:00+02:00", True],
        "others": ["20260302085959.000", "20260302100000", "20260302", "20261302090000", "20260302 in all"],
    }
    told = clock.without_present(state)
    assert {*told["t"], *told["compact"]} == {"(now)"}
    assert (told["other"], told["others"]) == (state["other"], state["others"])


def test_cookies_that_only_the_server_reads_count_where_its_state_is_not_known() -> None:
    cookies = [{"name": "session", "value": "4fe8", "httpOnly": True}, {"name": "theme", "value": "dark"}]
    assert kept({"cookies": cookies})["(cookies)"] == {"session": "4fe8", "theme": "dark"}
    assert kept({"cookies": cookies}, {"t": [1]}, sessions=False) == {
        "(cookies)": {"theme": "dark"},
        "(server)": {"t": [1]},
    }


class Files(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/css" if self.path.endswith(".css") else "text/html")
        if self.path != "/made.css":
            self.send_header("Last-Modified", "Mon, 02 Mar 2026 09:00:00 GMT")
        self.send_header("Set-Cookie", "a=1")
        self.end_headers()
        self.wfile.write(self.path.encode())


def test_files_of_an_application_are_fetched_once_and_what_is_made_each_time() -> None:
    application = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=application.serve_forever, daemon=True).start()
    try:
        files: dict[str, Reply] = {}
        for _ in range(2):  # two episodes
            answer = forward(application.server_port, "http://site.test", None, 10.0, files)
            for path in ("/", "/style.css", "/made.css"):
                reply = answer(Request("GET", path, {}, b""))
                assert reply.body == path.encode()
                assert ("Set-Cookie" in dict(reply.headers)) is (path != "/style.css"), "a file sets none, ever"
    finally:
        application.shutdown()
        application.server_close()
    assert Files.asked == ["/", "/style.css", "/made.css", "/", "/made.css"]


@pytest.mark.parametrize(
    ("fact", "sayable"),
    [
        (("Belt sander", "Price per day", "9.50"), True),
        (("Joinery", "Keeper", "Mr Dunstan Ferrer"), True),
        (("Results (1 - 10 of 11)", "TracGuide: = The Trac User and Administration Guide ...", "= The Guide"), False),
        (("Assign-to", "Remove a session", "trac-admin /path session delete SID " * 4), False),
        (("Syntax", "Processor", "{{{#!span ..."), False),
        (("Links", "Home", "https://elsewhere.example/"), False),
    ],
)
def test_excerpts_and_markup_are_not_asked_for(fact: tuple[str, str, str], sayable: bool) -> None:
    assert is_sayable(fact) is sayable


def test_a_time_that_is_kept_as_text_and_a_session_are_not_the_state() -> None:
    clock = Clock("2026-03-02T09:00:00Z")
    assert clock.without_present(["1772442009", "1772442009000000", "1772400000", "seat 1772442009"]) == [
        "(now)",
        "(now)",
        "1772400000",
        "seat 1772442009",
    ]
    tables = {"session": [{"sid": "e569765f1a2af71effab0dd6", "name": "Robin"}], "note": [{"text": "dark"}]}
    names = {"e569765f1a2af71effab0dd6": "(cookie trac)"}
    assert without_sessions(tables, names) == {
        "session": [{"sid": "(cookie trac)", "name": "Robin"}],
        "note": [{"text": "dark"}],
    }


class Lacking(Files):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(404)

    do_POST = do_GET


def test_a_picture_that_is_lacking_is_asked_for_once_until_something_is_sent() -> None:
    application = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lacking)
    threading.Thread(target=application.serve_forever, daemon=True).start()
    picture, page = {"Accept": "image/avif,*/*"}, {"Accept": "text/html"}
    try:
        files: dict[str, Reply] = {}
        answer = forward(application.server_port, "http://site.test", None, 10.0, files)
        for _ in range(3):
            assert answer(Request("GET", "/logo.png", picture, b"")).status == 404
            assert answer(Request("GET", "/none", page, b"")).status == 404
        assert Lacking.asked == ["/logo.png", "/none", "/none", "/none"]
        answer(Request("POST", "/upload", page, b"x"))
        assert answer(Request("GET", "/logo.png", picture, b"")).status == 404
        assert Lacking.asked[4:] == ["/upload", "/logo.png"]
        again = forward(application.server_port, "http://site.test", None, 10.0, files)  # the next episode
        assert again(Request("GET", "/logo.png", picture, b"")).status == 404
        assert len(Lacking.asked) == 6
    finally:
        application.shutdown()
        application.server_close()


def test_the_clock_of_an_installed_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = tmp_path / "libfaketime/vendor/libfaketime/src/libfaketime.so.1"
    built.parent.mkdir(parents=True)
    (tmp_path / "libfaketime/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with suppress(InputError):  # the system may have none
        assert find_clock() != built, "it is not built yet"
    built.touch()
    assert find_clock() == built
