"""Verdicts judged again, and tasks with plans proved by doing: the plan from a fresh beginning, without any one of its
changes, and every run and continuation once more.

Only what the dataset holds is asked: the application stands in the recipe of its report. Servers and web applications
are started only where they come with this package, or where the caller names them: someone else's dataset must not
decide what runs here. Of others the rules say that they could not judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synth.agents.actions import NOTED, SAID
from synth.agents.contract import History
from synth.agents.trajectory import facts_of, history_of, steps_of
from synth.dataset.audit.code_rules import open_project, unbroken
from synth.dataset.audit.findings import Findings, Place, rows
from synth.dataset.audit.plan_rules import plan_problems
from synth.dataset.audit.web_rules import NotTheSite, open_site, recorded_elsewhere, site_problems
from synth.dataset.reader import Dataset
from synth.environments.answers import check_task
from synth.environments.app.environment import open_app
from synth.environments.contract import Environment, Episode, stateful_options
from synth.environments.trust import untrusted
from synth.environments.web.environment import WebEnvironment
from synth.errors import InputError
from synth.schemas.code import Mutated
from synth.schemas.plans import Injected, Planned, Request, RuleHidden
from synth.schemas.preferences import PreferenceRow, Repair
from synth.schemas.reports import BuildReport
from synth.schemas.row import JsonObject
from synth.schemas.steps import ContinuationRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow, judged_elsewhere
from synth.tasks.safety_pairs import twin_of

__all__ = ["PLAN_RULES", "RUN_RULES", "PlanAudit", "answers_of", "judge_runs"]

PLAN_RULES: Mapping[str, str] = {
    "plan": "From a fresh beginning the calls of the plan are not refused, and the state is then exactly the goal, "
    "with no violation of the policy on record.",
    "hidden": "What has to be tried is refused by the rule that the task names, which is in no instructions, and "
    "changes nothing.",
    "broken": "The tests that the task names pass on the project, and with its edit they, and no others, fail.",
    "injected": "The solution reads the instruction planted in a tool's result; obeying it works and misses the goal.",
    "minimal": "Without any one of the plan's changes the goal is not reached.",
    "repair": "Made once more, the runs behind a repair leave the harmful twin undone and do the harmless one.",
    "rerun": "Made once more, the calls of a run or continuation are answered as they were.",
}
_NO_DEFECT = "failures"
"""Options of an environment that make tools fail on purpose: a plan is carried out without."""


class PlanAudit:
    """Sees every task, then every run and continuation of one with a plan."""

    def __init__(
        self,
        found: Findings,
        report: BuildReport | None,
        dataset: Dataset,
        given: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            given: ``kind`` and options of the environment, in place of those that the report names.

        Raises:
            InputError: what is given is of another kind than the dataset's.
        """
        self._found, self._given = found, given
        self._tasks: dict[str, Task] = {}
        self._runs: dict[str, tuple[History, JsonObject]] = {}
        self._calm: Environment | None = None
        self._real: Environment | None = None
        self._why = "the report does not say in which application"
        if report is not None:
            self._open(report, dataset)

    def _open(self, report: BuildReport, dataset: Dataset) -> None:
        source, place = (report.recipe.get(name) or {} for name in ("source", "environment"))
        kind = source.get("kind") if isinstance(source, dict) and isinstance(place, dict) else None
        if kind == "code":
            try:
                self._real = open_project(place, dataset)
            except (InputError, TypeError) as error:
                self._why = f"the environment can't be opened: {error}"
            return
        if self._given is not None and self._given.get("kind") != kind:
            raise InputError(f"the dataset was made in an environment of kind {kind}", where="environment.kind")
        if kind not in ("app", "mcp", "web"):
            self._why = f"an environment of kind {_kind(place)} is not started for an audit"
            return
        options = stateful_options(*((source, place) if self._given is None else (self._given, {})))
        would = untrusted({"kind": kind, **options}) if self._given is None else None
        if would is not None:
            self._why = f"the dataset would {would}: say with --environment FILE what is to be started"
            return
        try:
            if kind == "app":
                self._real = open_app(**options)
                self._calm = open_app(**{name: value for name, value in options.items() if name != _NO_DEFECT})
            elif kind == "web":
                self._real = self._calm = open_site(options)
            else:
                from synth.environments.mcp.environment import open_mcp

                self._real = self._calm = open_mcp(**options)
        except (InputError, TypeError) as error:
            self._real = self._calm = None
            self._why = f"the environment can't be opened: {error}"

    def see(self, place: Place, task: Task) -> None:
        """Carry out the plan of one task, or break the code anew; nothing for any other task."""
        if Mutated.stand_in(task.details):
            self._see_broken(place, task)
        if not Planned.stand_in(task.details):
            return
        self._tasks[task.id] = task
        if self._calm is None:
            for rule in ("plan", "minimal", *_further(task)):
                self._found.leave(rule, self._why)
            return
        try:
            site = self._calm if isinstance(self._calm, WebEnvironment) else None
            problems = list(plan_problems(self._calm, task) if site is None else site_problems(site, task))
        except NotTheSite as error:
            self._calm = self._real = None
            self._why = str(error)
            self.see(place, task)
            return
        except ValueError as error:
            problems = [("plan", f"the plan or the goal does not parse: {str(error).splitlines()[0]}")]
        for rule in ("plan", "minimal", *_further(task)):
            self._found.rows[rule] += 1
        for rule, what in problems:
            self._found.add(place, task.id, rule, what)

    def _see_broken(self, place: Place, task: Task) -> None:
        self._tasks[task.id] = task
        if self._real is None:
            self._found.leave("broken", self._why)
            return
        self._found.rows["broken"] += 1
        what = unbroken(self._real, task)
        if what is not None:
            self._found.add(place, task.id, "broken", what)

    def judge(self, dataset: Dataset) -> None:
        """Every run and continuation of a task that was seen."""
        if not self._tasks:
            return
        for place, run in rows(dataset, "trajectories", TrajectoryRow):
            if run.task_id in self._tasks:
                self._run(place, run)
        for place, branch in rows(dataset, "continuations", ContinuationRow):
            if branch.task_id in self._tasks:
                self._branch(place, branch)
        if "preferences" in dataset.configs:
            for place, pair in rows(dataset, "preferences", PreferenceRow):
                if pair.repair is not None and pair.task_id in self._tasks:
                    self._repair(place, pair, pair.repair)

    def _repair(self, place: Place, pair: PreferenceRow, repair: Repair) -> None:
        """Both runs behind a repair, from its step on."""
        if self._real is None:
            self._found.leave("repair", self._why)
            return
        self._found.rows["repair"] += 1
        task, known = self._tasks[pair.task_id], self._runs.get(pair.trajectory_id)
        other = twin_of(task)
        if known is None or other is None:
            self._found.add(place, pair.id, "repair", "its task is not one of a safety pair, or its run can't be read")
            return
        kind = Request.of(task.details).kind
        if (kind == "harmful") != (repair.failure == "gave_in"):
            self._found.add(place, pair.id, "repair", f"{repair.failure} on a task that is {kind}")
        for one, content, name in ((task, repair.own, "own"), (other, repair.twin, "twin")):
            try:
                steps = steps_of(content, {}, gave_up=False, name=pair.id)
            except ValueError as error:
                self._found.add(place, pair.id, "repair", f"{name}: {error}")
                continue
            history = (*known[0][: pair.step], *steps)
            episode = self._real.resume(one, known[1])
            try:
                what = _difference(self._real, episode, history)
                verdict = episode.check(history[-1].turn.answer)
            finally:
                episode.close()
            if what is not None or verdict.correct is not True:
                self._found.add(place, pair.id, "repair", f"{name}: {what or verdict.evidence}")

    def _run(self, place: Place, run: TrajectoryRow) -> None:
        try:
            _, history = history_of(run)
        except ValueError as error:
            self._found.rows["rerun"] += 1
            self._found.add(place, run.id, "rerun", str(error))
            return
        self._runs[run.id] = history, facts_of(run)
        self._again(place, run.id, run, history, facts_of(run))

    def _branch(self, place: Place, branch: ContinuationRow) -> None:
        known = self._runs.get(branch.trajectory_id)
        if known is None:
            return  # the plain validation says so
        prefix, facts = known
        gave_up = branch.stop_reason is StopReason.GAVE_UP
        try:
            own = steps_of(branch.content, {}, gave_up=gave_up, name=branch.id)
        except ValueError as error:
            self._found.rows["rerun"] += 1
            self._found.add(place, branch.id, "rerun", str(error))
            return
        front = prefix[: max(0, branch.step)]
        self._again(place, branch.id, branch, (*front, *own), facts)

    def _again(
        self,
        place: Place,
        name: str,
        row: TrajectoryRow | ContinuationRow,
        history: History,
        facts: JsonObject,
    ) -> None:
        if self._real is None:
            for rule in ("rerun", "verdict"):
                self._found.leave(rule, self._why)
            return
        task = self._tasks[row.task_id]
        self._found.rows["rerun"] += 1
        episode = self._real.resume(task, facts)
        try:
            other = _difference(self._real, episode, history)
            if other is not None:
                why = recorded_elsewhere(self._real, task, facts)
                if why is None:
                    self._found.add(place, name, "rerun", other)
                else:
                    self._found.rows["rerun"] -= 1
                    self._found.leave("rerun", why)
                return
            if row.stop_reason is StopReason.REJECTED and row.verdict.correct is None:
                return
            self._found.rows["verdict"] += 1
            verdict = episode.check(row.answer)
        finally:
            episode.close()
        if verdict.correct != row.verdict.correct:
            now, said = _word(verdict.correct), _word(row.verdict.correct)
            what = f"done again it is {now} ({verdict.evidence}), the row says {said}"
            self._found.add(place, name, "verdict", what)
        elif row.success != (verdict.correct is True):
            self._found.add(place, name, "verdict", f"success is {row.success}, the end is {_word(verdict.correct)}")


def _kind(place: Any) -> Any:
    return place.get("kind") if isinstance(place, dict) else None


def _further(task: Task) -> Iterator[str]:
    """Rules for some tasks only."""
    if RuleHidden.stand_in(task.details) or Planned.of(task.details).plan.attempts:
        yield "hidden"
    if Injected.stand_in(task.details):
        yield "injected"


def _difference(environment: Environment, episode: Episode, history: History) -> str | None:
    for number, step in enumerate(history):
        for call, before in zip(step.turn.calls, step.results, strict=False):
            if call.name in SAID and before.content == NOTED:
                continue  # what an agent says is no call of the environment
            now = episode.step(call)
            # Only the text counts: rows of continuations do not say which error an answer was.
            if not environment.same(before.model_copy(update={"content": now.content}), before):
                got, told = _apart(now.content, before.content)
                return f"turn {number}: {call.name} answers {got!r}, not {told!r}"
    return None


def _apart(now: str, before: str) -> tuple[str, str]:
    """Of two texts what stands where they part, with a few words before it."""
    unlike = (at for at, (one, other) in enumerate(zip(now, before, strict=False)) if one != other)
    same = next(unlike, min(len(now), len(before)))
    start = max(0, same - 40) if same > 60 else 0
    mark = "..." if start else ""
    return f"{mark}{now[start : start + 100]}", f"{mark}{before[start : start + 100]}"


RUN_RULES: Mapping[str, str] = {
    "verdict": "Judged again, every answer of a rollout or continuation gets the verdict that is stored.",
}
_KEPT = (
    "id",
    "question",
    "answer",
    "answer_aliases",
    "answer_kind",
    "answer_parts",
    "answer_ordered",
    "details",
    "shape",
    "environment",
)


def answers_of(task: Task) -> Task:
    """The task without its walk and checks: what a verdict needs."""
    walk = task.walk.model_copy(update={"hops": ()})
    return Task.model_construct(**{name: getattr(task, name) for name in _KEPT}, walk=walk)


def judge_runs(dataset: Dataset, tasks: Mapping[str, Task], found: Findings) -> None:
    """``tasks``: by id, as ``answers_of`` leaves them."""
    for config, row_type in (("trajectories", TrajectoryRow), ("continuations", ContinuationRow)):
        for place, row in rows(dataset, config, row_type):
            task = tasks.get(row.task_id)
            if task is None:
                continue  # the plain validation says so
            if row.stop_reason is StopReason.REJECTED and row.verdict.correct is None:
                continue  # it gave no answer that could be judged
            if judged_elsewhere(row.verdict, task.environment, getattr(row, "environment", None)):
                continue
            found.rows["verdict"] += 1
            verdict = check_task(task, row.answer)
            if verdict.correct != row.verdict.correct:
                said = f"{row.answer!r} against {task.answer!r} is {_word(verdict.correct)}"
                found.add(place, row.id, "verdict", f"{said}, the row says {_word(row.verdict.correct)}")
            elif row.success != (verdict.correct is True):
                found.add(place, row.id, "verdict", f"success is {row.success}, the answer is {_word(verdict.correct)}")


def _word(correct: bool | None) -> str:
    return "unjudged" if correct is None else "right" if correct else "wrong"
