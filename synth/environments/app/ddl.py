"""Tables and rules as SQLite keeps them: strict typed tables, constraints, and the triggers that keep the policy.

Every table is STRICT and WITHOUT ROWID, so that its content is all there is to know of it: no hidden row number, no
order of insertion. Every trigger has a guard (``_engine.armed``), because putting a saved state back is no use of the
application.

Rules of a policy become constraints and triggers (LOGIGEN, arXiv 2603.00540). Beyond that: each keeps its name in the
database, so a refusal can quote the rule, and a rule that is only recorded leaves a row in ``policy_violations``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from synth.environments.app.definition import Column, Rule, Table

__all__ = ["VIOLATIONS", "VIOLATIONS_TABLE", "statements"]

VIOLATIONS = "policy_violations"
VIOLATIONS_TABLE = Table.model_validate(
    {
        "noun": "policy violation",
        "label": "of the rule {rule}",
        "columns": {
            "number": {"type": "integer", "key": True, "generated": True},
            "rule": {"type": "text"},
            # Which row it was about: a key that may be one that the application handed out.
            "about": {"type": "text", "volatile": True},
        },
    }
)
"""Written by triggers only; every application has it, and no tool sees it."""

_AFFINITY = {"text": "TEXT", "date": "TEXT", "datetime": "TEXT", "integer": "INTEGER", "money": "INTEGER"}
_FORMS = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%d %H:%M"}
_BOOKKEEPING = (
    "CREATE TABLE _engine (one INTEGER PRIMARY KEY CHECK (one = 1), armed INTEGER NOT NULL) STRICT",
    "INSERT INTO _engine VALUES (1, 0)",
    "CREATE TABLE _before (tab TEXT NOT NULL, key TEXT NOT NULL, row TEXT, PRIMARY KEY (tab, key)) "
    "STRICT, WITHOUT ROWID",
)
_ARMED = "(SELECT armed FROM _engine)"


def statements(tables: Mapping[str, Table], rules: Iterable[Rule]) -> Iterator[str]:
    """All statements that make the empty database, ``policy_violations`` among the ``tables``."""
    rules = tuple(rules)
    yield from _BOOKKEEPING
    for name, table in tables.items():
        yield _create(name, table, tables, [rule for rule in rules if rule.check is not None and rule.table == name])
        for column, spec in table.columns.items():
            if spec.references is not None and not (spec.key and len(table.key) == 1):
                yield f'CREATE INDEX "{name}_by_{column}" ON "{name}" ("{column}")'
        yield from _tracking(name, table)
    for rule in rules:
        if rule.forbid is not None or rule.record is not None:
            yield from _triggers(rule, tables[str(rule.table)])


def _create(name: str, table: Table, tables: Mapping[str, Table], rules: Iterable[Rule]) -> str:
    lines = [_column(column, spec, tables) for column, spec in table.columns.items()]
    lines.append(f"PRIMARY KEY ({_list(table.key)})")
    lines += [f'CONSTRAINT "rule:{rule.name}" CHECK ({rule.check})' for rule in rules]
    return f'CREATE TABLE "{name}" (\n  ' + ",\n  ".join(lines) + "\n) STRICT, WITHOUT ROWID"


def _column(name: str, spec: Column, tables: Mapping[str, Table]) -> str:
    parts = [f'"{name}"', _AFFINITY.get(spec.type, "INTEGER")]
    if not spec.optional:
        parts.append("NOT NULL")
    if spec.unique:
        parts.append("UNIQUE")
    conditions = []
    if spec.among:
        conditions.append(f'"{name}" IN ({", ".join(_quoted(word) for word in spec.among)})')
    if spec.least is not None:
        conditions.append(f'"{name}" >= {spec.least}')
    if spec.most is not None:
        conditions.append(f'"{name}" <= {spec.most}')
    if spec.type == "boolean":
        conditions.append(f'"{name}" IN (0, 1)')
    if spec.type in _FORMS:
        conditions.append(f"""\"{name}\" = strftime('{_FORMS[spec.type]}', \"{name}\")""")
    if conditions:
        # NULL passes a CHECK, so an optional column needs no more.
        parts.append(f'CONSTRAINT "column:{name}" CHECK ({" AND ".join(conditions)})')
    if spec.references is not None:
        parts.append(f'REFERENCES "{spec.references}" ("{tables[spec.references].key[0]}")')
        parts.append("DEFERRABLE INITIALLY DEFERRED")
    return " ".join(parts)


def _tracking(name: str, table: Table) -> Iterator[str]:
    """What a row was before the first write to it: all that a snapshot, a hash and a difference need to look at."""

    def keep(which: str, row: str) -> str:
        key = _key(which, table)
        return (
            f"INSERT INTO _before SELECT '{name}', {key}, {row} "
            f"WHERE NOT EXISTS (SELECT 1 FROM _before WHERE tab = '{name}' AND key = {key});"
        )

    old = "json_object(" + ", ".join(f"""'{column}', OLD."{column}\"""" for column in table.columns) + ")"
    bodies = {
        "INSERT": keep("NEW", "NULL"),
        "DELETE": keep("OLD", old),
        "UPDATE": f"{keep('OLD', old)} {keep('NEW', 'NULL')}",
    }
    for event, body in bodies.items():
        yield f'CREATE TRIGGER "_{name}_{event.lower()}" AFTER {event} ON "{name}" WHEN {_ARMED} BEGIN {body} END'


def _triggers(rule: Rule, table: Table) -> Iterator[str]:
    for event in dict.fromkeys(rule.on):
        which = "OLD" if event == "delete" else "NEW"
        if rule.forbid is not None:
            when, condition = "BEFORE", rule.forbid
            body = f"SELECT RAISE(ABORT, 'rule:{rule.name}');"
        else:
            when, condition = "AFTER", str(rule.record)
            body = (
                f"INSERT INTO {VIOLATIONS} (number, rule, about) SELECT coalesce(max(number), 0) + 1, "
                f"'{rule.name}', '{rule.table} ' || {_key(which, table)} FROM {VIOLATIONS};"
            )
        yield (
            f'CREATE TRIGGER "rule:{rule.name}:{event}" {when} {event.upper()} ON "{rule.table}" '
            f"WHEN {_ARMED} AND ({condition}) BEGIN {body} END"
        )


def _key(which: str, table: Table) -> str:
    """The key of OLD or NEW as SQL that gives a JSON array."""
    return "json_array(" + ", ".join(f'{which}."{column}"' for column in table.key) + ")"


def _list(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"
