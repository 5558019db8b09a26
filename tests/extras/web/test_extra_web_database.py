"""An application as others write them: SQLite, times, a session by chance, style sheets. Its tables are the state."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from browser_here import needs_browser

import synth
from synth.dataset.audit import audit
from synth.dataset.audit.web_rules import open_site, site_problems
from synth.dataset.rules.validate import validate
from synth.environments.contract import Episode, ToolCall, ToolResult
from synth.environments.web.clock import find_clock
from synth.environments.web.environment import WebEnvironment, WebEpisode, open_web
from synth.errors import InputError
from synth.exploration.config import ExplorationConfig
from synth.exploration.web.survey import survey
from synth.exploration.web.walking import beginning_of


def _no_clock() -> str:
    """Why the clock of an application can't be held here; empty where it can."""
    try:
        find_clock()
    except InputError as error:
        return str(error)
    return ""


_NO_CLOCK = _no_clock()
pytestmark = [
    pytest.mark.extras,
    needs_browser,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(_NO_CLOCK), reason=_NO_CLOCK),
]
TRACKER = """
import html, http.server, secrets, sqlite3, sys, time, urllib.parse
database = sqlite3.connect("app.db", check_same_thread=False, isolation_level=None)
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def say(self, body, status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        for name, value in headers.items(): self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers(); self.wfile.write(body.encode())
    def do_GET(self):
        database.execute("insert into visit values (?)", (secrets.token_hex(),))
        rows = database.execute("select id, title, priority, changed from ticket order by id").fetchall()
        lines = "".join(f"<tr><td>{html.escape(title)}<td>{priority}<td>{int(time.time() - changed)} s ago"
                        for _, title, priority, changed in rows)
        menu = "".join(f"<option>{one}" for one in ("low", "high"))
        self.say("<title>Tickets</title><h1>Tickets</h1><table><tr><th>Title<th>Priority<th>Changed" + lines +
                 "</table><form method=post action=/new><label>Title <input name=title></label><label>Priority "
                 f"<select name=priority>{menu}</select></label><button>Create</button></form>",
                 Set_Cookie=f"session={secrets.token_hex()}; HttpOnly; Path=/")
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        given = dict(urllib.parse.parse_qsl(body))
        if given.get("title"):
            database.execute("insert into ticket (title, priority, changed) values (?, ?, ?)",
                             (given["title"], given["priority"], int(time.time())))
        self.say("", status=303, Location="/")
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
SITE = "title: a tracker\nvolatile: ['(server).visit']\n"
COMMAND = (sys.executable, "{workspace}/app.py", "{port}")
TABLES = """
create table ticket (id integer primary key, title text, priority text, changed integer);
create table visit (who text);
insert into ticket values (1, 'Pump leaks', 'high', 1772400000), (2, 'Pane cracked', 'low', 1772410000);
"""


@pytest.fixture
def tracker(tmp_path: Path) -> Path:
    folder = tmp_path / "tracker"
    folder.mkdir()
    (folder / "app.py").write_text(TRACKER)
    (folder / "site.yaml").write_text(SITE)
    with closing(sqlite3.connect(folder / "app.db")) as database:
        database.executescript(TABLES)
    return folder


@pytest.fixture
def opened(tracker: Path) -> Callable[..., WebEnvironment]:
    plain = {"site": str(tracker), "command": COMMAND, "state_database": "app.db", "fixed_clock": True, "html": False}
    return lambda **changes: open_web(**{**plain, **changes})


def do(episode: Episode, tool: str, name: str = "", **arguments: object) -> ToolResult:
    """A call on the element of this name."""
    assert isinstance(episode, WebEpisode)
    if name:
        assert episode.seen is not None
        arguments["ref"] = next(one.ref for one in episode.seen.tree.elements if one.name == name)
    return episode.step(ToolCall(id="x", name=tool, arguments=arguments))


def test_the_same_is_done_whenever_it_is_done(opened: Callable[..., WebEnvironment]) -> None:
    environment = opened()
    task = beginning_of(None)
    short, long = environment.reset(task), environment.reset(task)
    begun = short.state_hash()
    assert "Pump leaks" in do(short, "open", url="/").content
    assert short.state_hash() == begun, "to open it is no change"
    for _ in range(3):
        said = do(long, "open", url="/")
    first = do(short, "read").content
    assert "42000 s ago" in said.content or "s ago" in first
    for episode in (short, long):
        do(episode, "type", "Title", text="Gate squeaks")
        do(episode, "select", "Priority", option="high")
        assert "Gate squeaks" in do(episode, "click", "Create").content
    (change,) = short.changes()
    assert (change.at, change.kind) == ("(server).ticket", "added")
    assert change.after == {"id": 3, "title": "Gate squeaks", "priority": "high", "changed": "(now)"}
    assert short.state_hash() == long.state_hash(), "two more looks at the page change nothing"
    again = environment.reset(task)
    again.restore(short.snapshot())
    assert do(again, "read").content == do(short, "read").content, "times and all"
    for episode in (short, long, again):
        episode.close()


def test_one_that_goes_on_running_begins_again(opened: Callable[..., WebEnvironment], tracker: Path) -> None:
    """Files, tables, ids and the clock are restored, and proofs run in a freshly started application."""
    app = (tracker / "app.py").read_text()
    telling = app.replace("<h1>Tickets</h1>", '<h1>Tickets</h1><p>Process " + str(__import__("os").getpid()) + "</p>')
    noting = telling.replace(
        "    def do_POST(self):", "    def do_POST(self):\n        open('log.txt', 'a').write('x')"
    )
    assert app != telling != noting
    (tracker / "app.py").write_text(noting)
    environment = opened(restart=False)
    seen = []
    for reset in (environment.reset, environment.reset, environment.reset_fresh, environment.reset):
        episode = reset(beginning_of(None))
        begun = do(episode, "open", url="/").content
        seen.append((re.findall(r"Process (\d+)", begun), re.sub(r"Process \d+", "", begun), episode.state_hash()))
        do(episode, "type", "Title", text="Gate squeaks")
        do(episode, "click", "Create")
        (change,) = episode.changes()
        assert change.after == {"id": 3, "title": "Gate squeaks", "priority": "low", "changed": "(now)"}
        episode.close()
    (one, *first), (two, *second), (three, *third), (four, *fourth) = seen
    assert one == two == four != three
    assert first == second == third == fourth
    assert environment.identity == opened(restart=True).identity


def test_a_site_that_is_never_the_same_is_told_before_the_first_task(
    opened: Callable[..., WebEnvironment], tracker: Path
) -> None:
    config = ExplorationConfig(kinds={"done": 1.0})
    survey(opened(), config)
    (tracker / "site.yaml").write_text("title: a tracker\n")
    with pytest.raises(InputError, match=r"keeps at \(server\)\.visit is something else each time"):
        survey(opened(), config)
    (tracker / "site.yaml").write_text(SITE)
    app = (tracker / "app.py").read_text()
    by_chance = app.replace(
        'self.say("<title>Tickets</title><h1>Tickets</h1>', 'self.say(f"<h1>{secrets.token_hex()}</h1>'
    )
    assert by_chance != app
    (tracker / "app.py").write_text(by_chance)
    with pytest.raises(InputError, match="the first page is another one each time"):
        survey(opened(), config)


def test_a_build_on_it(tracker: Path, tmp_path: Path) -> None:
    settings = {
        "source": {
            "kind": "web",
            "site": str(tracker),
            "command": list(COMMAND),
            "state_database": "app.db",
            "fixed_clock": True,
            "restart": False,
            "licence": "CC0-1.0",
        },
        "questions.writes": {1: 1.0},
        "environment.html": False,
        "environment.screenshots": True,
        "critical.share": 0.05,
    }
    out = tmp_path / "out"
    synth.build("web-site", tasks=4, out=out, store=tmp_path / "store", settings=settings)
    assert validate(out) == []
    dataset = synth.load(out)
    assert {run.success for run in dataset.rows("trajectories") if run.role == "teacher"} == {True}
    wanted = [task.details["goal"]["changes"] for task in dataset.rows("tasks") if task.details["kind"] == "done"]
    assert wanted
    assert all(change["at"] == "(server).ticket" for changes in wanted for change in changes)
    for name in ("trl-sft-vision", "llamafactory-sft-vision"):
        assert synth.export(out, name, tmp_path / name).report.exported >= 1
    _proved_by_doing(out, tracker)


def _proved_by_doing(out: Path, tracker: Path) -> None:
    """Plans and runs are made again where that is asked for, and nothing is started where it is not."""
    rules = ("plan", "minimal", "rerun", "verdict")
    asked = {rule.rule: rule for rule in audit(out).rules if rule.rule in rules}
    assert all(asked[name].rows == 0 < asked[name].undecided for name in rules)
    assert all("say with --environment FILE" in asked[name].why for name in rules)
    place = {"kind": "web", "site": str(tracker), "command": COMMAND, "state_database": "app.db", "fixed_clock": True}
    found = audit(out, environment={**place, "restart": False})
    done = {rule.rule: rule for rule in found.rules if rule.rule in rules}
    assert found.violations == ()
    assert all(0 < done[name].rows <= asked[name].undecided for name in rules)
    assert not any(done[name].undecided for name in rules)
    environment = open_site({key: value for key, value in place.items() if key != "kind"})
    task = next(task for task in synth.load(out).rows("tasks") if task.details["kind"] == "done")
    plan = task.details["plan"]
    first, *rest = plan["calls"]
    for calls, rule, what in (
        ([first, first, *rest], "minimal", r"call \d \(open\) can be left out"),
        ([first, *rest[:-1]], "plan", "leads to another state"),
        ([*rest], "plan", "is refused"),
    ):
        details = {**task.details, "plan": {**plan, "calls": calls}}
        problems = list(site_problems(environment, task.model_copy(update={"details": details})))
        assert [one for one, _ in problems][:1] == [rule]
        assert re.search(what, problems[0][1])
    (tracker / "site.yaml").write_text(f"{SITE}about: another\n")
    moved = {rule.rule: rule for rule in audit(out, environment=place).rules if rule.rule in rules}
    assert all(moved[name].rows == 0 < moved[name].undecided for name in rules)
    assert "another one here than the task was made on" in moved["plan"].why
