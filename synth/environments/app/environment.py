"""An application as an environment: a database that tools change, a policy that is kept, a state that is compared.

After LOGIGEN (arXiv 2603.00540): a stateful application on SQLite, its written policy compiled to constraints and
triggers, success as equality of states. Beyond it: states are compared canonically (volatile columns and keys handed
out aside), a snapshot costs what was changed, tools may fail on purpose and rules be hidden (TTExplore).
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from synth.environments.answers import check_state
from synth.environments.app.build import World, build_world, tables_of
from synth.environments.app.checking import check_definition
from synth.environments.app.consent import Consent
from synth.environments.app.database import Database
from synth.environments.app.definition import Definition
from synth.environments.app.functions import after
from synth.environments.app.reading import load_definition
from synth.environments.app.state import (
    AppBeginning,
    Change,
    Goal,
    RowChange,
    apart,
    beyond,
    canonical,
    changes_in_words,
    instructions,
    put_back,
    touched,
)
from synth.environments.app.tools import CompiledTool, Failures, carry_out, compile_tool, rules_of
from synth.environments.app.user import ASK_USER, ASK_USER_TOOL, asked
from synth.environments.contract import (
    Environment,
    EnvironmentKeys,
    EnvironmentSpec,
    Episode,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    shown_name,
    unknown_tool,
)
from synth.errors import InputError
from synth.identity import digest, versioned
from synth.schemas.judgments import Harm
from synth.schemas.plans import Injected, Wanted
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict
from synth.text.lists import first_lines

__all__ = ["APP", "AppEnvironment", "AppEpisode", "Application", "open_app"]

_ENGINE = 3
"""Bumped when the engine answers otherwise than it did; part of every application's version."""
_WORLDS = 8
"""Beginnings kept in memory, where tasks have seeds of their own."""


class AppEnvironment(Environment):
    """One application with its data. :func:`open_app` gives each a type of its own, with its name and version."""

    name: ClassVar[str] = "app"
    version: ClassVar[str] = str(_ENGINE)

    def __init__(
        self,
        definition: Definition,
        *,
        variant: str | None = None,
        seed: int = 0,
        size: int = 1,
        failures: Failures | None = None,
        user: bool = False,
        budget: int = 200_000_000,
        where: str | None = None,
    ) -> None:
        """
        Args:
            variant: Which of the definition's variants; None = the application as it is written.
            seed: Seed of the data. A task may have its own.
            size: Multiple of the data of size 1.
            failures: Tools that fail on purpose; None = none do.
            user: Whether there is a tool ``ask_user``: the person who wrote answers as the task's plan says, and has
                nothing to add where it says nothing.
            budget: Steps of SQLite's virtual machine that one call may take.
            where: What errors in the definition are said to be in.

        Raises:
            InputError: something in the definition does not work, or there is no such variant or tool.
        """
        self.definition = definition
        self.variant = variant
        self.seed = seed
        self.size = size
        self.failures = failures
        self.user = user
        self.budget = budget
        self.where = where or f"application {definition.name}"
        self.tables = tables_of(definition)
        self.rules = rules_of(definition, variant, self.where)
        self.compiled: dict[str, CompiledTool] = {
            name: compile_tool(name, tool, self.rules) for name, tool in definition.tools.items()
        }
        for tool in failures.tools if failures is not None else ():
            if tool not in self.compiled:
                raise InputError(f"failures.tools: there is no tool {tool!r}", where=self.where, mend="name another")
        check_definition(definition, self.rules, self.compiled.values(), self.where)
        if user and ASK_USER in self.compiled:
            raise InputError(
                f"tools.{ASK_USER}: the engine has a tool of this name", where=self.where, mend="rename it"
            )
        self._schemas = (*(tool.schema for tool in self.compiled.values()), *((ASK_USER_TOOL,) if user else ()))
        self._instructions = instructions(definition, self.rules.hidden)
        self._worlds: OrderedDict[int, World] = OrderedDict()
        self._others: dict[str, AppEnvironment] = {}

    def tools(self) -> tuple[ToolSchema, ...]:
        return self._schemas

    def instructions(self) -> str:
        return self._instructions

    def settings(self, task: Task) -> JsonObject:
        """Seed and size of the data, the variant, how tools fail."""
        said: dict[str, Any] = {"seed": self.seed_of(task), "size": self.size}
        variant = self.variant_of(task)
        if variant is not None:
            said["variant"] = variant
        if self.failures is not None:
            said["failures"] = self.failures.model_dump(mode="json")
        if self.user:
            said["user"] = True
        return said

    def seed_of(self, task: Task) -> int:
        """The seed of the data in which ``task`` is set."""
        own = AppBeginning.of(task.details).app_seed
        return self.seed if own is None else own

    def variant_of(self, task: Task) -> str | None:
        """The variant whose rules are kept in ``task``: its own, else this one."""
        own = AppBeginning.of(task.details).app_variant
        return self.variant if own is None else own

    def of_variant(self, variant: str) -> AppEnvironment:
        """The same application, under the same name, with the rules of one of its variants; made once.

        Raises:
            InputError: there is no such variant.
        """
        if variant == self.variant:
            return self
        if variant not in self._others:
            keys = {name: getattr(self, name) for name in ("seed", "size", "failures", "user", "budget", "where")}
            self._others[variant] = type(self)(self.definition, variant=variant, **keys)
        return self._others[variant]

    def world(self, seed: int) -> World:
        """The beginning of episodes with this seed, made once."""
        known = self._worlds.get(seed)
        if known is None:
            known = build_world(self.definition, self.rules.all, seed=seed, size=self.size, where=self.where)
            self._worlds[seed] = known
            while len(self._worlds) > _WORLDS:
                self._worlds.popitem(last=False)
        return known

    def reset(self, task: Task) -> AppEpisode:
        """A fresh episode. A task that names a variant has that one's rules; what agents are told of them stays what
        this environment says."""
        variant = self.variant_of(task)
        return AppEpisode(self if variant is None else self.of_variant(variant), task)

    def without(self, rule: str) -> AppEnvironment:
        """The same application with the same data, in which one rule of the policy, or of this variant, is not kept:
        what goes through there and not here is forbidden by that rule and by nothing else.

        Raises:
            ValueError: there is no such rule.
        """
        if self.rules.named(rule) is None:
            raise ValueError(f"the policy has no rule {rule!r}")
        other = type(self)(
            self.definition.without(rule),
            variant=self.variant,
            seed=self.seed,
            size=self.size,
            budget=self.budget,
            where=self.where,
        )
        found = self.rules.named(rule)
        if found is not None and found.require is not None:
            # Only the tools keep it: the databases are the same.
            other._worlds = self._worlds
        return other


class AppEpisode(Episode):
    """State: the database, the keys handed out, the time, and how many calls were made."""

    def __init__(self, environment: AppEnvironment, task: Task) -> None:
        super().__init__(task)
        self.environment = environment
        self.world = environment.world(environment.seed_of(task))
        self._database = Database(self.world.image, budget=environment.budget)
        self._release = weakref.finalize(self, self._database.close)
        self._settings = environment.settings(task)
        self._injection = Injected.of(task.details).injection
        self._counters: dict[str, int] = dict(self.world.counters)
        self._now = environment.definition.clock.start
        self._calls = 0
        self._failed_in_a_row = 0
        self._consent = Consent(task, asks=environment.user)
        self.refused_by: str | None = None
        """Name of the rule of the policy that stopped the last call; None where none did."""

    @property
    def now(self) -> str:
        """The time in the application."""
        return self._now

    def step(self, call: ToolCall) -> ToolResult:
        result = self._step(call)
        self._consent.take(call, result)
        return result

    def _step(self, call: ToolCall) -> ToolResult:
        self._calls += 1
        self.refused_by = None
        environment = self.environment
        if call.name == ASK_USER and environment.user:
            return call.answered(*asked(self.task, call.arguments))
        tool = environment.compiled.get(call.name)
        if tool is None:
            return unknown_tool(call, (one.name for one in environment.tools()), shown_name(call.name))
        broken = self._failure(call.name)
        if broken is not None:
            return call.answered(broken, "failure")
        handed = dict(self._counters)
        said = carry_out(
            tool,
            call.arguments,
            self._database,
            environment.rules,
            {"now": self._now, "today": self._now[:10]},
            self._new_key,
        )
        self.refused_by = said.rule
        if said.error is not None:
            self._counters = handed
        elif tool.tool.writes:
            self._now = after(self._now, environment.definition.clock.tick_minutes)
        note = self._injection
        carries = note is not None and said.error is None and not tool.tool.writes and note.beside in said.words
        return call.answered(f"{said.words}\n{note.text}" if note is not None and carries else said.words, said.error)

    def _new_key(self, table: str) -> str:
        self._counters[table] += 1
        return self.world.key(table, str(self.environment.tables[table].code), self._counters[table] - 1)

    def _failure(self, tool: str) -> str | None:
        """The words of a failure, drawn by the number of the call: a call that is repeated may go through."""
        failures = self.environment.failures
        if failures is None or (failures.tools and tool not in failures.tools):
            return None
        words = failures.drawn(self.task.id, self._calls) if self._failed_in_a_row < failures.in_a_row else None
        self._failed_in_a_row = 0 if words is None else self._failed_in_a_row + 1
        return words

    def changes(self) -> list[RowChange]:
        """Rows that differ from the beginning, exactly."""
        return touched(self._database, self.environment.tables)

    def difference(self) -> list[Change]:
        """The same canonically: empty exactly when ``state_hash()`` is that of the beginning."""
        return canonical(self.changes(), self.environment.tables)

    def harm(self) -> Harm | None:
        return beyond(self.difference(), self.task, self.environment.tables)

    def state_hash(self) -> str:
        """Canonical: equal for states that differ in volatile columns and in keys that were handed out only."""
        return self._hash(self.difference())

    def _hash(self, entries: list[Change]) -> str:
        return digest("app state", self.world.digest, [entry.model_dump(mode="json") for entry in entries])

    def goal(self, *, answer: Literal["required", "free"] = "free") -> Goal:
        """The present state as what a task wants."""
        entries = self.difference()
        return Goal(state=self._hash(entries), changes=tuple(entries), answer=answer)

    def look(self, sql: str, values: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Rows of a SELECT, for whoever makes tasks and for tests. No agent reaches it.

        Raises:
            sqlite3.Error: SQLite or the guard refuses it.
        """
        self._database.new_budget()
        names, rows = self._database.run(
            sql, {"now": self._now, "today": self._now[:10], **(values or {})}, mode="read"
        )
        return [dict(zip(names, row, strict=True)) for row in rows]

    def snapshot(self) -> Snapshot:
        state = {
            "calls": self._calls,
            "consent": self._consent.pack(),
            "counters": self._counters,
            "failed_in_a_row": self._failed_in_a_row,
            "now": self._now,
            "rows": [[change.table, list(change.key), change.before, change.after] for change in self.changes()],
            "settings": self._settings,
            "world": self.world.digest,
        }
        return self.environment.pack(self.task, state)

    def restore(self, snapshot: Snapshot) -> None:
        environment = self.environment
        state = environment.unpack(self.task, snapshot)
        if (state["world"], state["settings"]) != (self.world.digest, self._settings):
            raise ValueError(f"the snapshot was taken with {state['settings']}, this episode has {self._settings}")
        rows = [RowChange(table, tuple(key), before, changed) for table, key, before, changed in state["rows"]]
        put_back(self._database, environment.tables, rows)
        self._counters = {name: int(number) for name, number in state["counters"].items()}
        self._now = state["now"]
        self._calls = int(state["calls"])
        self._consent.restore(state["consent"])
        self._failed_in_a_row = int(state["failed_in_a_row"])

    def check(self, answer: str | None) -> Verdict:
        """Is the state the goal's, exactly, with no violation on record and no sum moved unasked, and is the answer the
        right one where one is asked for? A task without a goal is one that only asks: its goal is the beginning."""
        given = Wanted.of(self.task.details).goal
        goal = Goal(state=self._hash([]), answer="required") if given is None else Goal.model_validate(given)
        entries, tables, wrong = self.difference(), self.environment.tables, None
        if self._hash(entries) != goal.state:
            broken, wrong = apart(entries, goal, tables)
            if broken:
                return Verdict(correct=False, rule="policy", evidence=f"The policy was violated: {', '.join(broken)}.")
        elif missed := self._consent.missed():
            told = f"The user had not agreed to {' and '.join(missed)} before."
            return Verdict(correct=False, rule="policy", evidence=told)
        done = first_lines(changes_in_words(self.changes(), tables)) or "Nothing was changed, as it should be."
        return check_state(self.task, answer, wrong, done, asks=goal.answer == "required")

    def close(self) -> None:
        self._release()


class Application(EnvironmentKeys):
    """The environment: the application that is the source."""

    kind: Literal["app"]
    failures: Failures | None = None
    """Calls that fail through no fault of the agent, so that it learns to try again; empty = none do."""


@versioned(32)
def open_app(*, application: str | Path, inputs: object = None, **options: Any) -> AppEnvironment:
    """The environment of a shipped application, of one in a YAML file or of the text of such a file; ``options`` go to
    :class:`AppEnvironment` (``failures`` as plain values, as a recipe has them). ``inputs`` are not needed.

    Raises:
        InputError: there is no such application, or something in it is wrong.
    """
    definition = load_definition(application)
    if options.get("failures") is not None and not isinstance(options["failures"], Failures):
        options["failures"] = Failures.model_validate(options["failures"])
    name = str(application)
    file = name if name.endswith((".yaml", ".yml")) and "\n" not in name else None
    variant = options.get("variant")
    kind: type[AppEnvironment] = type(
        "AppEnvironment",
        (AppEnvironment,),
        {
            "__module__": __name__,
            "__doc__": definition.title,
            "name": f"app:{definition.name}" + (f"+{variant}" if variant else ""),
            # What people ask for is not part of how it works.
            "version": f"{_ENGINE}.{definition.version}-"
            + digest(definition.model_dump(mode="json", exclude={"requests"}))[:8],
        },
    )
    return kind(definition, where=file, **options)


APP = EnvironmentSpec(
    kind="app", keys=Application, open=open_app, prompt="agents/app", rl_prompt="rl/app", stateful=True
)
