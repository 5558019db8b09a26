"""A definition of the user's own: every mistake is one line that says what and where."""

from __future__ import annotations

import itertools
from importlib.resources import files
from pathlib import Path

import pytest
from app_tools import LIBRARY, task

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.app.reading import load_definition, parse_definition, shipped
from synth.environments.app.requests import HOLE
from synth.errors import InputError
from synth.exploration.app.requests import AppRequests, beginning_of

TEXT = LIBRARY.read_text()
NAMES = "SELECT * FROM readers WHERE contains(name, :name) ORDER BY name"


def mistake(text: str) -> str:
    """The line that is said about a definition, made and filled as an environment does."""
    with pytest.raises(InputError) as caught:
        AppEnvironment(parse_definition(text, "my.yaml"), where="my.yaml").reset(task())
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith("my.yaml: ")
    assert len(said) < 400
    return said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: library", "name: [", "line 4, column 6"),
        ("name: library", "nmae: library", "nmae: there is no such key (did you mean name?)"),
        ("name: library", "names: [x]", "names: there is no such key"),
        ("title: A lending library", "title: A\ntitle: B", "key 'title' is given twice"),
        ("title: A lending library", "title: A\ncolour: red", "colour: there is no such key"),
        ("name: library", "name: My Library", "name: string should match"),
        ('"2030-01-10 12:00"', "noon", "clock.start: string should match"),
        ("vip: {type: boolean}", "vip: {type: bool}", "tables.readers.columns.vip.type"),
        (
            "book: {type: text, key: true}\n      copies",
            "book: {type: text}\n      copies",
            "tables.books: no column is the key",
        ),
        ("references: readers}", "references: people}", "refers to 'people', which is not a table"),
        (
            "lent_at: {type: datetime, volatile: true}",
            "lent_at: {type: datetime, generated: true}",
            "only a key is handed out",
        ),
        ("check: copies >= 0", "check: coppies >= 0", "no such column: coppies"),
        ("check: copies >= 0", "require: copies >= 0", "`before` names the tools of a `require`"),
        (
            "before: [lend]\n        require: :had",
            "before: [list_books]\n        require: :had",
            "there is no tool 'list_books' that writes",
        ),
        ("require: :had < 2", "require: :hadd < 2", "nothing before it gives :hadd a value"),
        ("{had:book/books}", "{hat:book/books}", "nothing gives {hat} a value"),
        ("{had:book/books}", "{had:euros}", "there is no ending 'euros'"),
        ("- name: two_at_most", "- name: in_stock", "there are two rules of this name"),
        ("forbid: NEW.due", "forbid: NEW.dew", "no such column: NEW.dew"),
        (NAMES, "SELECT * FROM reader ORDER BY 1", "tools.find_reader.lists.0: no such table: reader"),
        (NAMES, "SELECT * FROM readers", "rows without an ORDER BY"),
        (NAMES, NAMES + " LIMIT 5", 'near "LIMIT": syntax error'),
        (NAMES, "SELECT count(*) FROM readers ORDER BY 1", "needs a name of its own"),
        (NAMES, "SELECT *, random() AS r FROM readers ORDER BY 1", "may not do"),
        (NAMES, "SELECT * FROM sqlite_master ORDER BY 1", "prohibited"),
        (NAMES, "DELETE FROM readers -- ORDER BY", "tools.find_reader.lists.0"),
        ("add_days(:today, 14), :now)", "date('now'), :now)", "reads the clock of the machine"),
        ("add_days(:today, 14), :now)", "CURRENT_DATE, :now)", "reads the clock of the machine"),
        ("- {new: loan_id, of: loans}", "- {new: loan_id, of: books}", "'books' is not a table with a `code`"),
        ("- {new: loan_id, of: loans}", "- {new: loan_id}", "a step is find/from/else"),
        ("run: DELETE FROM notes WHERE loan_id = :loan_id", "run: DROP TABLE notes", "may not do"),
        ("run: DELETE FROM notes WHERE loan_id = :loan_id", "run: PRAGMA foreign_keys = OFF", "may not do"),
        (
            "run: DELETE FROM notes WHERE loan_id = :loan_id",
            "run: DELETE FROM notes; DELETE FROM loans",
            "one statement at a time",
        ),
        (
            "about: Make a loan longer.\n    writes: true",
            "about: Make a loan longer.",
            "tools.prolong: `writes: true` and a `run` step",
        ),
        ('says: "Loan {loan_id} is longer by {days:day/days}."', "", "tools.prolong: it has nothing to say"),
        ("days: {type: integer", "now: {type: integer", "the engine gives this name a value"),
        (
            "about: A note on the loan., optional: true",
            'about: A note., pattern: "(", optional: true',
            "not a regular expression",
        ),
        ("FROM numbers WHERE i < 4 * :size", "FROM number WHERE i < 4 * :size", "data.0: no such table: number"),
        ("word('name', i)", "word('names', i)", "data.0: there is no list of words 'names' (there are: name)"),
        ("('Lichen', 0, 100)", "('Lichen', -1, 100)", "data.1: CHECK constraint failed: rule:in_stock"),
        ("code('readers', 1), 'Moss'", "'R0', 'Moss'", "a reference leads nowhere"),
        ("rule: in_stock\n    pick", "rule: stock\n    pick", "boundaries.0: the policy has no rule 'stock'"),
        (
            "WHERE book = 'Ferns'\n",
            "WHERE book = 'Oak'\n",
            "1 rows are to be moved to the edge of in_stock and 0 can be",
        ),
        (
            "none: SELECT book FROM books WHERE copies < 0",
            "none: SELECT book FROM books WHERE copies < 1",
            "the data break the invariant",
        ),
        ("hide: [two_at_most]", "hide: [three_at_most]", "the policy has no rule 'three_at_most'"),
        ("  books:\n    noun", "  Books:\n    noun", "tables.Books: a name is lower-case letters"),
    ],
)
def test_a_mistake_is_one_line(old: str, new: str, said: str) -> None:
    assert old in TEXT
    assert said in mistake(TEXT.replace(old, new, 1))


def test_files_and_names_that_there_are_not(tmp_path: Path) -> None:
    for name, said in [
        ("airlin", "Did you mean airline?"),
        ("zzz", "Shipped ones: airline, ledger, memory, tracker"),
        (str(tmp_path / "no.yaml"), "does not exist"),
        (str(tmp_path), "there is no application"),
    ]:
        with pytest.raises(InputError, match=said.replace("?", r"\?")):
            load_definition(name)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        load_definition(binary)
    empty = tmp_path / "empty.yml"
    empty.write_text("")
    with pytest.raises(InputError, match="mapping of keys"):
        load_definition(empty)


def test_variants_and_failures_that_there_are_not() -> None:
    with pytest.raises(InputError, match="The variants are: quiet"):
        open_app(application=LIBRARY, variant="loud")
    with pytest.raises(InputError, match="there is no tool 'lendd'"):
        open_app(application=LIBRARY, failures={"rate": 0.1, "tools": ["lendd"]})


def test_words_of_yaml_stay_words() -> None:
    text = TEXT.replace(
        "book: {type: text, key: true}\n      copies",
        "book: {type: text, key: true, in: [Moss, Ferns, Lichen, no, on]}\n      copies",
    )
    column = parse_definition(text, "my.yaml").tables["books"].columns["book"]
    assert column.among == ("Moss", "Ferns", "Lichen", "no", "on")


@pytest.mark.parametrize("name", shipped())
def test_shipped_keys_can_not_be_guessed_from_one_another(name: str) -> None:
    """Keys with a pattern are in no order: the next one is rarely near the last."""
    environment = open_app(application=name)
    world = environment.world(0)
    for table, spec in environment.definition.tables.items():
        if spec.code is not None:
            keys = [world.key(table, spec.code, number) for number in range(60)]
            assert len(set(keys)) == 60
            rising = sum(first < second for first, second in itertools.pairwise(keys))
            assert 12 < rising < 48, (table, keys[:5])
            other = environment.world(1)
            assert sum(world.key(table, spec.code, n) == other.key(table, spec.code, n) for n in range(60)) < 6


@pytest.mark.parametrize("name", shipped())
def test_every_rule_by_which_a_shipped_application_decides_is_weighed(name: str) -> None:
    """Of each that something is looked up for, whatever is asked: but for one whose evidence no tool shows."""
    environment = open_app(application=name)
    requests = environment.definition.requests
    assert requests is not None
    app = AppRequests(environment)
    task = beginning_of(environment, 0)
    episode = environment.reset(task)
    try:
        speakers = [speaker["speaker"] for speaker in app.speakers(episode)]
        for ask_name, ask in requests.asks.items():
            rows = (row for speaker in speakers for row in app.rows(episode, ask, speaker)[:3])
            row = next(rows, None)
            for rule in ask.refused_by if row is not None else ():
                weighings = requests.weighs.get(rule, ())
                fits = any(one.needs <= (row or {}).keys() for one in weighings)
                assert fits, (ask_name, rule)
    finally:
        episode.close()


_SHOWN = {"membership", "regular"}
"""Words that an observation has wherever they are said."""


@pytest.mark.parametrize("name", shipped())
def test_every_comparison_with_a_rule_can_be_said(name: str) -> None:
    """Its own words are those of agents or of the policy; else it is left out of every thought without a word."""
    environment = open_app(application=name)
    requests = environment.definition.requests
    assert requests is not None
    prompt = Prompt(system=environment.instructions(), question="-", tools=tuple(environment.tools()))
    for rule, weighings in requests.weighs.items():
        for form in (form for one in weighings for form in (*one.met, *one.broken)):
            own = " ".join(HOLE.sub(" ", form).split()).strip(" ,:")
            found = ungrounded(prompt, (Step(turn=Turn(thought=f"Here {own}.")),), start=0)
            assert {one.text for one in found} <= _SHOWN, (rule, form)


@pytest.mark.parametrize(
    ("weighs", "said"),
    [
        ("unknown_rule: [{from: SELECT 1 AS holds, met: [x]}]", "there is no deciding rule 'unknown_rule'"),
        ("kept_stays: [{from: SELECT 1 AS one, met: [x]}]", "there is no column 'holds'"),
        ("kept_stays: [{from: SELECT :colour AS holds, met: [x]}]", "no ask that kept_stays decides on has ['colour']"),
        ('kept_stays: [{from: SELECT 1 AS holds, met: ["{size}"]}]', "there is no column 'size'"),
        ("kept_stays: [{from: SELECT 1 AS holds, met: []}]", "is empty: give one entry"),
    ],
)
def test_a_weighing_that_can_not_work_is_refused(weighs: str, said: str) -> None:
    text = files("synth.environments.app").joinpath("shipped", "memory.yaml").read_text(encoding="utf-8")
    head, _, rest = text.partition("  weighs:\n")
    broken = f"{head}  weighs:\n    {weighs}\n  questions:{rest.partition('  questions:')[2]}"
    assert said in mistake(broken)
