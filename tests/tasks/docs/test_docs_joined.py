"""Questions over two pages: each is needed, and what one page alone could answer is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.identity import derive_generator
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Task
from synth.tasks.docs.joined import JOINED
from synth.tasks.docs.proposer import Proposed
from synth.tasks.draft import finish
from tests.tasks.docs.test_docs_proposer import World, audited, build, site

pytestmark = pytest.mark.thorough

ELSEWHERE = {
    "guide.html": "<h1>Guide</h1>"
    "<p>Use the velib_pace setting to limit how long visitors of the museum stay on the pier.</p>"
    "<table><thead><tr><th>Module</th><th>Purpose</th></tr></thead><tbody>"
    "<tr><td>wembly</td><td>Controls the lamps of all ships that pass the reef at night.</td></tr>"
    "<tr><td>plune</td><td>Counts the passengers who leave a ferry in the morning.</td></tr></tbody></table>",
    "lists.html": "<h1>Lists</h1><dl class='py function'><dt class='sig' id='drop_levels'>drop_levels(item)</dt>"
    "<dd><p>Release the drawing sheet that shows the anchor of a ship.</p></dd></dl>",
    "more.html": "<h1>More</h1><dl class='py function'><dt class='sig' id='keep_panes'>keep_panes(item)</dt>"
    "<dd><p>Fold the drawing sheet that shows the window of a church.</p></dd></dl>",
}
VIA = "What is the default of the setting that is used to limit how long visitors of the museum stay on the pier?"
WITHIN = (
    "Think of the module that controls the lamps of all ships that pass the reef at night. Which of its settings "
    "limits how often the glass prism is polished on a day?"
)
PAIR = (
    "Which function releases the drawing sheet that shows the anchor of a ship, and which one folds the drawing sheet "
    "that shows the window of a church?"
)


def joined(root: Path, **changes: str) -> tuple[World, dict[str, Task]]:
    pages = {name: f"<html><body>{body}</body></html>" for name, body in (ELSEWHERE | changes).items() if body}
    world = build(root, site() | pages)
    proposer = world.proposer()
    provenance = Provenance(
        dataset="d", stage="docs_tasks", stage_version=1, fingerprint="f", seed=1, source="s", source_sha256="0"
    )
    # Each candidate is there once; other numbers word it otherwise.
    made = [
        proposer.propose(index, "train", derive_generator(3, "docs", index, again))
        for again in range(4)
        for index in range(len(proposer.order))
    ]
    kept = [one for one in made if isinstance(one, Proposed) and one.draft.surface.partition("/")[0] in JOINED]
    tasks = [finish(one.draft, one.checks, provenance, number) for number, one in enumerate(kept)]
    return world, {task.question: task for task in tasks}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dict[str, Task]]:
    return joined(tmp_path_factory.mktemp("joined"))


@pytest.mark.parametrize(("question", "answer"), [(VIA, "12 times"), (WITHIN, "wembly_pace")])
def test_what_one_page_says_leads_to_another(made: tuple[World, dict[str, Task]], question: str, answer: str) -> None:
    task = made[1].get(question)
    assert task is not None, sorted(made[1])
    assert task.answer == answer
    assert [hop.needs for hop in task.walk.hops] == [(), (0,)]


def test_every_question_needs_two_pages_and_the_audit_proves_it(made: tuple[World, dict[str, Task]]) -> None:
    world, tasks = made
    for task in tasks.values():
        assert len(task.gold_documents) == 2
        assert audited(world, task) == []
    assert [part.answer for part in tasks[PAIR].answer_parts] == ["drop_levels", "keep_panes"]


def test_the_audit_sees_another_part(made: tuple[World, dict[str, Task]]) -> None:
    world, tasks = made
    task = tasks[WITHIN]
    first, last = task.walk.hops
    wrong = last.model_copy(update={"target": last.target.model_copy(update={"id": "x", "name": "x"})})
    spoiled = task.model_copy(update={"walk": task.walk.model_copy(update={"hops": (first, wrong)})})
    assert [rule for rule, _ in audited(world, spoiled)] == ["unique"]


@pytest.mark.parametrize(
    ("page", "body", "question"),
    [
        ("lib/velib.html", "own", VIA),
        ("guide.html", f"{ELSEWHERE['guide.html']}<p>Most keepers leave velib_pace at 12 times.</p>", VIA),
        ("again.html", "<h1>Again</h1><p>Its bell limits how long visitors of the museum stay on the pier.</p>", VIA),
        (
            "more.html",
            f"{ELSEWHERE['more.html']}<p>Its crane releases the drawing sheet that shows the anchor of a ship.</p>",
            PAIR,
        ),
    ],
)
def test_what_one_page_could_answer_is_not_asked(tmp_path: Path, page: str, body: str, question: str) -> None:
    if body == "own":
        said = "<p>It limits how long visitors of the museum stay on the pier.</p></body>"
        body = site()[page].removeprefix("<html><body>").replace("</body>", said)
    assert question not in joined(tmp_path, **{page: body})[1]


@pytest.mark.parametrize(("name", "asked"), [("tempo_rate", True), ("tempo", False), ("--tempo", False)])
def test_a_setting_of_another_page_is_the_same_only_by_a_name_that_nothing_else_has(
    tmp_path: Path, name: str, asked: bool
) -> None:
    body = "<h1>{}</h1><h2>Settings</h2><dl><dt>{}</dt><dd><p>{}</p></dd></dl>"
    pages = {
        "rope.html": body.format("Rope", name, "Limits how long the dancers of the opera wait in the snow."),
        "sail.html": body.format("Sail", name, "Numbers the boats of a small fleet. The default is 8 times."),
    }
    question = "the setting that limits how long the dancers of the opera wait in the snow?"
    assert any(question in found for found in joined(tmp_path, **pages)[1]) is asked
