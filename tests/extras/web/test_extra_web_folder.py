"""A folder of pages that somebody has, without a word about them: tasks, requests, and what is said of mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from browser_here import needs_browser

import synth
from synth.dataset.rules.validate import validate
from synth.environments.web.environment import open_web
from synth.errors import SynthError
from synth.exploration.pipeline import Exploration
from synth.exploration.web.explorer import web_explorer
from synth.schemas.rejections import Reason, Rejection
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft

pytestmark = [pytest.mark.extras, needs_browser, pytest.mark.timeout(900)]
HOME = """<!doctype html><html lang="en"><title>Hillside Workshop</title><h1>Hillside Workshop</h1>
<ul><li><a href="tools.html">Tools for hire</a><li><a href="rooms.html">Rooms</a><li><a href="list.html">To-do list</a>
<li><a href="https://elsewhere.example/">Our friends</a></ul><script>noSuchFunction();</script>"""
TOOLS = """<!doctype html><title>Tools</title><h1>Tools for hire</h1>
<table><tr><th>Tool</th><th>Price per day</th><th>Deposits</th></tr>
<tr><td>Belt sander</td><td>9.50</td><td>40</td></tr><tr><td>Jigsaw</td><td>6.00</td><td>25</td></tr></table>"""
ROOMS = """<!doctype html><title>Rooms</title><h1>Rooms</h1><h2>Joinery</h2><ul><li>Keeper: Mr Dunstan Ferrer</ul>
<h2>Forge</h2><p><b>Open:</b> Tuesdays and Fridays</p>"""
LIST = """<!doctype html><title>To-do</title><h1>To-do list</h1><form id="f"><label>New entry
<input name="entry"></label><button>Add</button></form><ul id="l"></ul>
<label><input type="checkbox" id="h"> Hide what is done</label><script>
const load = () => JSON.parse(localStorage.entries || '["Oil the hinges", "Sweep the yard"]');
const keep = (all) => { localStorage.entries = JSON.stringify(all); show(); };
const show = () => l.replaceChildren(...load().map((one, at) => {
  const item = document.createElement('li'), button = document.createElement('button');
  button.textContent = 'Remove';
  button.onclick = () => keep(load().filter((_, other) => other !== at));
  item.append(one + ' ', button);
  return item;
}));
f.onsubmit = (e) => { e.preventDefault(); const one = new FormData(f).get('entry'); if (one) keep([...load(), one]); };
h.onchange = () => { localStorage.hide = h.checked; };
show();
</script>"""


@pytest.fixture
def my_pages(tmp_path: Path) -> Path:
    folder = tmp_path / "my_pages"
    folder.mkdir()
    for name, text in {"index": HOME, "tools": TOOLS, "rooms": ROOMS, "list": LIST}.items():
        (folder / f"{name}.html").write_text(text)
    return folder


def drafts(folder: Path, kind: str, indices: Sequence[int]) -> list[Draft]:
    proposer = Exploration(
        web_explorer(environment=open_web(site=str(folder), html=False), kinds={kind: 1.0}, attempts=3)
    )
    found = [outcome for outcome in proposer.propose(indices, 3) if isinstance(outcome, Checked)]
    return [one.draft for one in found if isinstance(one.draft, Draft)]


def test_pages_that_nobody_described_are_asked_about_in_their_own_words(my_pages: Path) -> None:
    asked = drafts(my_pages, "answered", range(6))
    assert len(asked) >= 4
    facts = {"9.50", "40", "6.00", "25", "Mr Dunstan Ferrer", "Tuesdays and Fridays"}
    assert {one.answer for one in asked} <= facts
    for one in asked:
        assert any(name in one.question for name in ("Belt sander", "Jigsaw", "Joinery", "Forge")), one.question
        assert "localStorage" not in one.question
    done = drafts(my_pages, "done", range(6))
    assert done
    for one in done:
        assert "on the page “To-do list”" in one.question
        words = {"Add": ("New entry",), "Remove": ("Oil the hinges", "Sweep the yard")}
        for call in one.details["plan"]["calls"][2:]:
            element = next((name for name in words if f"“{name}”" in call["instruction"]), None)
            assert element is None or any(name in one.question for name in words[element]), one.question


def test_a_few_words_about_the_pages_are_the_words_of_the_requests(my_pages: Path) -> None:
    (my_pages / "site.yaml").write_text(
        "title: the pages of a workshop\nvalues: {New entry: [Sharpen the saws]}\nrequests:\n"
        "  - {at: entries, change: added, words: ['put “Sharpen the saws” on the list']}\n"
        "  - {at: hide, change: set, words: ['hide the entries that are done']}\n"
        "facts:\n  - {term: Deposits, words: ['How much do I leave as a deposit?']}\n"
        "  - {term: Keeper, words: ['Who keeps the joinery?']}\n"
    )
    keeper = drafts(my_pages, "answered", range(6))
    assert {("keeps the joinery?" in one.question, one.answer) for one in keeper} == {(True, "Mr Dunstan Ferrer")}
    proposer = Exploration(
        web_explorer(environment=open_web(site=str(my_pages), html=False), kinds={"answered": 1.0}, attempts=3)
    )
    rejected = [one for one in proposer.propose(range(6), 3) if isinstance(one, Rejection)]
    # One question for the deposits of two tools: nobody could answer it.
    assert {one.reason for one in rejected} <= {Reason.AMBIGUOUS, Reason.NO_WALK}


def test_a_build_from_a_folder(my_pages: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = {"source.site": str(my_pages), "questions.kinds": {"answered": 1.0}, "critical.share": 0.05}
    synth.build("web-site", tasks=2, out=out, store=tmp_path / "store", settings=settings)
    assert validate(out) == []
    dataset = synth.load(out)
    assert [run.success for run in dataset.rows("trajectories") if run.role == "teacher"] == [True, True]
    assert not any(str(tmp_path) in path.read_text("utf-8") for path in out.rglob("*.y*ml"))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (None, "there is no site"),
        ({"a.txt": "x"}, "it holds no HTML page"),
        ({"index.html": "<h1>x</h1>", "site.yaml": "titel: x"}, "titel"),
        ({"index.html": "<h1>x</h1>", "site.yaml": "title: ["}, "not YAML"),
    ],
)
def test_a_folder_that_can_not_be_used_is_said_in_one_line(
    tmp_path: Path, files: dict[str, str] | None, words: str
) -> None:
    folder = tmp_path / "mine"
    if files is not None:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    with pytest.raises(SynthError) as told:
        synth.build("web-site", tasks=1, out=tmp_path / "out", settings={"source.site": str(folder)})
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_pages_on_which_nothing_can_be_done_are_said_to_be_so(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "index.html").write_text("<title>x</title><h1>Nothing here</h1><p>Only words.</p>")
    with pytest.raises(SynthError) as told:
        synth.build("web-site", tasks=1, out=tmp_path / "out", settings={"source.site": str(folder)})
    assert "nothing to look up or to use was found on any page that links lead to (1 seen)" in str(told.value)
