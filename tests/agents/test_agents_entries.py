from __future__ import annotations

import pytest

from synth.agents.scripted.options import about, names, subject, term
from synth.environments.shown import passages_of

PAGE = """# Pool

Introduction to [pools](ref). It is short.

class pool.Thing(size, *, name=None)
    A thing in a pool. Return a new one.

    Note:
        Things are cheap.

    run(value)
        Run it. Raises [Trouble](errors#pool.Trouble).

        New in version 3.4.

pool.sleep(delay)
    Sleep for delay seconds.
"""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("class pool.Thing(size, *, name=None)", "pool.Thing"),
        ("pool.sleep(delay)", "pool.sleep"),
        ("PYTHONHOME", "PYTHONHOME"),
        ("Note:", None),
        ("A thing in a pool.", None),
        ("This is a whole sentence about nothing", None),
        ("", None),
    ],
)
def test_terms(line: str, name: str | None) -> None:
    assert term(line) == name


def test_what_stands_under_an_entry() -> None:
    sentences = passages_of(PAGE, "ref", "", 1)
    thing = [sentence.text for sentence in about(sentences, "pool.Thing")]
    assert thing[0].startswith("class pool.Thing")
    assert thing[1:] == [
        "A thing in a pool.",
        "Return a new one.",
        "Note:",
        "Things are cheap.",
        "run(value)",
        "Run it.",
        "Raises Trouble.",
        "New in version 3.4.",
    ]
    assert [sentence.text for sentence in about(sentences, "Thing.run()")] == thing[5:]
    assert [sentence.text for sentence in about(sentences, "sleep")][-1] == "Sleep for delay seconds."
    assert about(sentences, "Introduction") == []
    assert about(sentences, "Pool") == []


def test_what_a_sentence_is_about() -> None:
    sentences = {sentence.text: sentence for sentence in passages_of(PAGE, "ref", "", 1)}
    assert subject(sentences["New in version 3.4."], "Pool") == ["run", "pool.Thing", "Pool"]
    assert subject(sentences["It is short."], "Pool") == ["Pool"]


def test_names_of_code() -> None:
    assert names("Thing.run()", "pool.Thing.run")
    assert names("run()", "pool.Thing.run")
    assert not names("un()", "pool.Thing.run")
    assert not names("3.4", "10.3.4")
    assert names("The Korvan Works", "Korvan Works")
