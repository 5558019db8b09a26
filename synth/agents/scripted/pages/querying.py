"""How scripted agents answer from tables (after SciResearcher, arXiv 2605.01489): they look which tables there are,
read the rows that the question is about, and have the answer worked out.

It goes for one set that the question names and one thing done with it; everything else is found on pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from synth.agents.contract import History, Turn
from synth.agents.scripted.choosing import Mistakes
from synth.agents.scripted.config import PolicyConfig
from synth.agents.scripted.matching import Lexicon, content_stems, fit_of
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading, clue_hops
from synth.environments.contract import ToolCall
from synth.environments.fact_tables import QUERY_TOOL
from synth.environments.observed import observe
from synth.environments.shown import Listed, Rows
from synth.schemas.tasks import Task
from synth.text.words import stem

__all__ = ["gold_columns", "likely_columns", "querying_turn"]

_LIST = "SELECT * FROM tables"
_WORKED_OUT = {"sum": "SUM({measure})", "count": "COUNT(*)", "argmin": "name", "argmax": "name"}
_ENDS = {"argmin": " ORDER BY {measure} LIMIT 1", "argmax": " ORDER BY {measure} DESC LIMIT 1"}
_RESERVED = frozenset(
    "all as by check default from group in index is limit order references set table to values where".split()
)
Tables = Mapping[str, Sequence[str]]
"""Table -> its columns, as they were shown."""


@dataclass(frozen=True)
class Columns:
    """Where the answer is looked for."""

    table: str
    member: str
    """The column that says whose set a row belongs to."""
    measure: str | None
    """The column of what is compared or added; None for a count."""


def querying_turn(
    reading: Reading,
    history: History,
    generator: np.random.Generator,
    choose: Callable[[Tables], Columns | None],
    *,
    forgets: Callable[[], bool] = lambda: False,
) -> Turn | None:
    """The next turn by tables; None where the question is not one for them, or they don't hold what it asks for.

    Args:
        choose: Which of the tables and columns that were shown.
        forgets: Whether the condition is left out where the answer is worked out.
    """
    asked = [call for step in history for call in step.turn.calls]
    if not _fits(reading) or any(call.name != QUERY_TOOL.name for call in asked):
        return None
    given = [observe(result.content) for step in history for result in step.results if result.error is None]
    shown = [one for one in given if isinstance(one, Rows)]
    if len(shown) < len(asked):
        return None
    thoughts = Thoughts(reading.question, generator)
    if not shown:
        thoughts.add("q_list")
        return _ask(_LIST, thoughts)
    chosen = choose({name: columns.split(", ") for name, columns, *_ in shown[0].rows})
    lists = {(row[0], column) for row in shown[0].rows for column in row[2].split(", ")}
    if chosen is None or any(one.total == 0 for one in shown):
        return None
    kind, name = reading.deeds[0].kind, reading.clues[0].name
    member, spelled = _quoted(chosen.member), name.replace("'", "''")
    is_list = (chosen.table, chosen.member) in lists
    holds = f"'; ' || {member} || ';' LIKE '%; {spelled};%'" if is_list else f"{member} = '{spelled}'"
    where = f" FROM {_quoted(chosen.table)} WHERE {holds}"
    measure = None if chosen.measure is None else _quoted(chosen.measure)
    if len(shown) == 1:
        thoughts.add("q_rows", table=chosen.table, name=name)
        return _ask(f"SELECT {', '.join(['name', member, *([measure] if measure else [])])}{where}", thoughts)
    if len(shown) == 2:
        thoughts.add("q_work_out")
        if forgets():
            where = where.partition(" WHERE ")[0]
        return _ask(f"SELECT {_WORKED_OUT[kind]}{where}{_ENDS.get(kind, '')}".format(measure=measure), thoughts)
    answer = shown[-1].rows[0][0]
    thoughts.add("q_answer", answer=answer)
    return Turn(thought=thoughts.text(), answer=answer)


def _fits(reading: Reading) -> bool:
    """Whether the question names one set, and asks one thing of it."""
    if len(reading.deeds) != 1 or not reading.clues or reading.deeds[0].kind not in _WORKED_OUT:
        return False
    first, *rest = reading.clues
    counts = reading.deeds[0].kind == "count"
    return bool(first.every and first.source is None and first.name) and len(rest) == (0 if counts else 1)


def gold_columns(task: Task, tables: Tables) -> Columns | None:
    """Those that state the hops of the walk, where they were shown."""
    hops = [task.walk.hops[numbers[0]] for numbers in clue_hops(task)]
    table, member = hops[0].target.kind, hops[0].relation
    measure = hops[1].relation if len(hops) > 1 else None
    known = tables.get(table, ())
    if hops[0].forward or member not in known or (measure is not None and measure not in known):
        return None
    return Columns(table, member, measure)


def likely_columns(
    reading: Reading, lexicon: Lexicon, config: PolicyConfig, mistakes: Mistakes, tables: Tables
) -> Columns | None:
    """Those whose names are most like the words of the question."""
    cues = [clue.cue for clue in reading.clues]

    def ranked(cue: str, columns: Sequence[str]) -> list[tuple[float, str]]:
        fits = ((fit_of(cue, Listed(name, "out", 1, ()), lexicon), name) for name in columns if name != "name")
        return sorted(((fit, name) for fit, name in fits if fit > 0), key=lambda one: (-one[0], one[1]))

    best: tuple[float, Columns] | None = None
    for table, columns in tables.items():
        found = [ranked(cues[0], columns)]
        found += [
            ranked(cue, [name for name in columns if [name] != [one for _, one in found[0][:1]]]) for cue in cues[1:]
        ]
        if all(found):
            fit = sum(one[0][0] for one in found) + (stem(table) in content_stems(cues[0]))
            measure = found[1] if len(found) > 1 else None
            if measure and len(measure) > 1 and mistakes.errs(config.wrong_measure):
                mistakes.log("wrong_measure", f"takes {measure[1][1]!r} for {measure[0][1]!r}")
                measure = measure[1:]
            if best is None or fit > best[0]:
                best = fit, Columns(table, found[0][0][1], measure[0][1] if measure else None)
    return None if best is None else best[1]


def _ask(sql: str, thoughts: Thoughts) -> Turn:
    return Turn(thought=thoughts.text(), calls=(ToolCall(id="x", name=QUERY_TOOL.name, arguments={"sql": sql}),))


def _quoted(name: str) -> str:
    return (
        name
        if re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in _RESERVED
        else '"' + name.replace('"', '""') + '"'
    )
