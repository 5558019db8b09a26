"""Tasks of repair: working code is broken by one small edit, and its tests tell what went wrong.

Bugs made by edits of the syntax tree are the procedural modifications of SWE-smith (arXiv 2504.21798): an edit is a
task where at least one test that passes without it fails with it. What no test notices (an equivalent edit, or code
that is not tested) is rejected and counted, and so is what breaks more than a share of the tests, or never ends. The
request says what a call of a failing test does and should do; it names no file and no line.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log
from typing import Any, ClassVar, Protocol

from pydantic import Field, field_validator

from synth.environments.reports import Failure, TestRun, telling
from synth.errors import InputError
from synth.identity import split_of
from synth.lexicon.reading import phrases
from synth.schemas.code import Mutated, Mutation
from synth.schemas.described import Described
from synth.schemas.details import details_with
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import CheckResult, Difficulty, Task, Walk
from synth.sources.code.definitions import Definitions
from synth.sources.code.mutations import Edit, edits_of
from synth.sources.code.source import is_test
from synth.stages.contract import CandidateStage, Context, Implementation, Outcome, StageConfig
from synth.tasks.draft import Draft, finish, same_question

__all__ = ["CodeTasks", "CodeTasksConfig", "CodeTasksStageConfig"]

_OPERATORS = {
    "boundary": 3.0,
    "direction": 1.0,
    "equality": 1.0,
    "off_by_one": 3.0,
    "arithmetic": 2.0,
    "boolean": 2.0,
    "negation": 1.0,
    "truth": 1.0,
    "arguments": 2.0,
    "order": 1.0,
    "function": 1.0,
    "slice": 2.0,
    "loop": 1.0,
    "guard": 0.6,
    "branch": 0.4,
}


class CodeTasksConfig(Described):
    """How code is broken."""

    operators: dict[str, float] = _OPERATORS
    """Weights of the kinds of edits among the candidates: ``boundary`` (< for <=), ``direction`` (< for >),
    ``equality`` (== for !=, in for not in), ``off_by_one``, ``arithmetic``, ``boolean`` (and for or), ``negation``,
    ``truth`` (True for False), ``arguments`` and ``order`` (two swapped), ``function`` (min for max), ``slice``,
    ``loop`` (break for continue), and what takes code away: ``guard``, ``branch``."""
    most_failing: float = Field(default=0.3, gt=0, le=1)
    """An edit that fails a greater share of the tests is none."""
    fractions: dict[str, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of the functions that each split owns; sums to 1. All tasks in one function are in one split."""

    @field_validator("operators")
    @classmethod
    def _known(cls, weights: dict[str, float]) -> dict[str, float]:
        if unknown := sorted(set(weights) - set(_OPERATORS)):
            raise ValueError(f"there is no kind of edit {unknown[0]!r}; there are {', '.join(_OPERATORS)}")
        if min(weights.values(), default=-1.0) < 0 or not any(weights.values()):
            raise ValueError("weights are not negative, and one is greater than 0")
        return weights


class CodeTasksStageConfig(CodeTasksConfig, StageConfig):
    environment: Implementation
    """Where the tasks are to be solved, and where they are proved."""
    licence: str | None = None
    """SPDX id of the project's licence; None = not stated."""


class Breakable(Protocol):
    """An environment of code, as this stage sees it."""

    def texts(self) -> Mapping[str, str]:
        """Path -> text of the Python files that are no tests, sorted."""

    def files(self) -> Mapping[str, str]:
        """Path -> text of all files."""

    def tested(self, changed: Mapping[str, str]) -> TestRun:
        """What all tests say with these files in the place of the project's."""


@dataclass(frozen=True)
class _Site:
    path: str
    edit: Edit


class CodeTasks(CandidateStage[CodeTasksStageConfig]):
    name = "code_tasks"
    version = 16
    config_type = CodeTasksStageConfig
    reads = ("code_files",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}
    candidates_per_shard = 16
    """Each is a run of the tests."""

    def __init__(self, config: CodeTasksStageConfig, context: Context) -> None:
        super().__init__(config, context)
        self._environment: Breakable = context.make(config.environment, inputs=context.inputs)
        self._texts = self._environment.texts()
        self._files = self._environment.files()
        self._before = self._environment.tested({})
        if not self._before.passed:
            raise _untestable(self._before)
        self._definitions = Definitions(self._files)
        self._tests = "\n".join(text for path, text in self._files.items() if is_test(path))
        sites = [
            _Site(path, edit)
            for path, text in self._texts.items()
            for edit in edits_of(text)
            if config.operators.get(edit.operator)
        ]
        held = Counter(site.edit.operator for site in sites)
        draws = context.generator("sites").random(len(sites))

        def late(number: int) -> float:
            """Weighted order without replacement (Efraimidis and Spirakis, 2006)."""
            operator = sites[number].edit.operator
            return -log(max(float(draws[number]), 1e-300)) * held[operator] / config.operators[operator]

        self._sites = [sites[number] for number in sorted(range(len(sites)), key=late)]

    def exhausted(self) -> int:
        return len(self._sites)

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return [self._candidate(index) for index in range(start, stop)]

    def _candidate(self, index: int) -> Outcome:
        site = self._sites[index]
        broken = site.edit.applied(self._texts[site.path])
        try:
            ast.parse(broken)
        except SyntaxError:
            return self._refused(index, Reason.NOT_PYTHON, "the edit leaves no Python")
        run = self._environment.tested({site.path: broken})
        failing = tuple(sorted(self._before.passed - run.passed))
        if run.stopped is not None:
            return self._refused(index, Reason.STOPPED, f"the tests do not end: {run.stopped}")
        if not failing:
            return self._refused(index, Reason.UNTESTED, "no test fails: equivalent, or not tested")
        if len(failing) > max(1, self.config.most_failing * len(self._before.passed)):
            return self._refused(index, Reason.BREAKS_MUCH, f"{len(failing)} of {len(self._before.passed)} tests fail")
        said = "\n".join(line for one in run.failures if one.id in failing for line in one.lines())
        year = str(datetime.now().astimezone().year)
        if year in said and year not in self._tests:
            return self._refused(index, Reason.DATED, f"a test tells of {year}")
        return Outcome(kept=(self._task(index, site, run, failing),))

    def _refused(self, index: int, reason: Reason, detail: str) -> Outcome:
        site = self._sites[index]
        said = f"{site.edit.operator} in {site.path}, line {site.edit.line}: {detail}"
        return Outcome(rejected=(Rejection(stage=self.name, row_id=str(index), reason=reason, detail=said),))

    def _task(self, index: int, site: _Site, run: TestRun, failing: tuple[str, ...]) -> Task:
        edit = site.edit
        mutation = Mutation(
            path=site.path, start=edit.start, old=edit.old, new=edit.new, operator=edit.operator, scope=edit.scope
        )
        unit = f"{site.path}:{edit.scope}"
        before, passed = len(self._before.passed), len(self._before.passed & run.passed)
        question, surface = self._request(index, [one for one in run.failures if one.id in failing])
        draft = Draft(
            question=question,
            answer="Done.",
            answer_kind="text",
            environment="code",
            shape="repair",
            walk=Walk(shape="repair", hops=()),
            gold_entities=(unit,),
            gold_documents=(),
            difficulty=Difficulty(hops=0, constraints=1, branching=1.0, documents=0),
            split=split_of(unit, self.config.fractions),  # type: ignore[arg-type]
            surface=surface,
            licence=self.config.licence,
            details=details_with(self._known(mutation, run, failing, passed)),
        )
        checks = (
            CheckResult(check="original", outcome="passed", detail=f"{before} tests pass without the edit"),
            CheckResult(check="broken", outcome="passed", detail=f"{len(failing)} of them fail with it"),
            CheckResult(check="elsewhere", outcome="passed", detail=f"{passed} of them pass with it"),
        )
        return finish(draft, checks, self.context.provenance, index)

    def _known(self, mutation: Mutation, run: TestRun, failing: tuple[str, ...], passed: int) -> Mutated:
        """What the task knows of its solution, and how a reader gets there from the failure that tells most."""
        known = Mutated(mutation=mutation, failing=failing, passing=passed)
        shown = telling(run.failures)
        way = () if shown is None else self._definitions.way(shown.id, mutation.path, mutation.scope)
        return known.model_copy(update={"shown_by": shown.id, "way": way}) if shown is not None and way else known

    def _request(self, index: int, failures: Sequence[Failure]) -> tuple[str, str]:
        """The request, and its words without what is said of the failure."""
        words, draw = phrases("code_requests"), self.context.generator("request", index)

        def one(kind: str) -> str:
            return words[kind][int(draw.integers(len(words[kind])))]

        told = [failure for failure in failures if failure.compared is not None]
        kind = "by_call" if told else "by_test"
        frames = [one("opens"), one(kind), one("asks")]
        if told:
            compared = min(
                (dict(one.compared or {}) for one in told), key=lambda said: (len("".join(said.values())), said["call"])
            )
            said = {**compared, "call": f"`{compared['call']}`"}
        else:
            failure = failures[0]
            said = {"test": failure.id, "error": f"{failure.error}: {failure.message}".rstrip(": ")[:300]}
        return " ".join([frames[0], frames[1].format(**said), frames[2]]), " ".join(frames)


_MISSING = re.compile(r"No module named '(\w+)")


def _untestable(run: TestRun) -> InputError:
    """Why a project gives no tasks: none of its tests passes."""
    missing = list(dict.fromkeys(name for one in run.failures for name in _MISSING.findall(one.message)))
    if missing:
        what = f"no test passes on the project as it is: its tests import {', '.join(missing[:5])}, not installed here"
        return InputError(what, where="source", mend=f"install beside synth what provides {missing[0]}")
    first = run.failures[0].lines() if run.failures else [run.text()]
    what = f"no test passes on the project as it is: {' '.join(first)[:300]}"
    return InputError(what, where="source", mend="give the folder in which its tests pass")
