"""The contract of environments as an importable test suite.

Subclass ``EnvironmentContract``, give it an environment and tasks, and pytest runs the rest::

    class TestMine(EnvironmentContract):
        def environment(self) -> Environment: ...
        def tasks(self) -> Sequence[Task]: ...

Needs pytest and hypothesis (extra ``dev``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.environments.contract import Environment, Episode, Snapshot, ToolCall, ToolError, ToolResult, ToolSchema
from synth.schemas.tasks import Task

__all__ = ["EnvironmentContract", "calls_for", "near_misses"]

_JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**9), st.text(max_size=20), st.lists(st.integers(), max_size=2)
)


def calls_for(
    tools: Sequence[ToolSchema], examples: dict[str, Sequence[Any]]
) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """(tool name, arguments): right ones, drawn from ``examples`` (by parameter) and the types, and wrong ones."""

    def value(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        known = [st.sampled_from(list(examples[name]))] * 3 if examples.get(name) else []
        kinds: dict[str, st.SearchStrategy[Any]] = {
            "string": st.text(min_size=1, max_size=12),
            "integer": st.integers(1, 4),
            "number": st.integers(1, 4),
            "boolean": st.booleans(),
        }
        return st.one_of(*known, kinds.get(str(schema.get("type")), _JUNK))

    def right(tool: ToolSchema) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
        properties: dict[str, Any] = tool.parameters.get("properties", {})
        required = set(tool.parameters.get("required", ()))
        fixed = {name: value(name, schema) for name, schema in properties.items() if name in required}
        optional = {name: value(name, schema) for name, schema in properties.items() if name not in required}
        return st.fixed_dictionaries(fixed, optional=optional).map(lambda arguments: (tool.name, arguments))

    names = st.one_of(st.sampled_from([tool.name for tool in tools]), st.text(min_size=1, max_size=8))
    wrong = st.tuples(names, st.dictionaries(st.text(max_size=8), _JUNK, max_size=3))
    good = st.one_of(*[right(tool) for tool in tools])
    return st.one_of(good, good, good, wrong)


def near_misses(task: Task) -> list[str]:
    """Answers that hold the gold answer, or part of it, and are not it."""
    gold = task.answer
    misses = [
        f"not {gold}",
        f"{gold} or Atlantis",
        f"Atlantis, not {gold}",
        f"{gold}{gold}",
        f"it is certainly not {gold}",
        f"{gold} is incorrect",
        "correct",
        "incorrect",
        "yes",
    ]
    misses += [gold[:-1], gold[1:]] if len(gold) > 3 and gold[-2:].isalnum() else []
    words = gold.split()
    misses += [" ".join(words[:-1]), " ".join(words[1:])] if len(words) > 1 and task.answer_kind == "entity" else []
    known = {gold.casefold(), *(alias.casefold() for alias in task.answer_aliases)}
    return [miss for miss in misses if miss.casefold() not in known]


class EnvironmentContract:
    """What every environment must do. Test methods run under pytest."""

    max_examples = 60
    """Random sequences of calls per test; fewer where an episode is dear."""

    def environment(self) -> Environment:
        """A fresh environment; equal calls must give equal ones."""
        raise NotImplementedError

    def tasks(self) -> Sequence[Task]:
        raise NotImplementedError

    def examples(self) -> dict[str, Sequence[Any]]:
        """Sensible values of tool parameters, by name, so that random calls get somewhere."""
        return {}

    def check_answers(self) -> bool:
        """False where success is a state rather than an answer."""
        return True

    def _settings(self) -> settings:
        slow = [HealthCheck.too_slow, HealthCheck.differing_executors]
        return settings(max_examples=self.max_examples, deadline=None, suppress_health_check=slow)

    def _play(self, episode: Episode, calls: Sequence[tuple[str, dict[str, Any]]], start: int = 0) -> list[ToolResult]:
        return [
            episode.step(ToolCall(id=f"call_{number}", name=name, arguments=arguments))
            for number, (name, arguments) in enumerate(calls, start=start)
        ]

    def test_tools_are_json_schema_functions(self) -> None:
        tools = self.environment().tools()
        assert tools, "an environment has tools"
        assert len({tool.name for tool in tools}) == len(tools)
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.parameters)
            assert tool.parameters["type"] == "object"
            assert tool.parameters["additionalProperties"] is False
            assert set(tool.parameters.get("required", ())) <= set(tool.parameters.get("properties", {}))
            assert tool.description
            assert json.loads(json.dumps(tool.function())) == tool.function()
        assert self.environment().tools() == tools

    def test_it_says_what_it_is(self) -> None:
        environment = self.environment()
        assert environment.name
        assert environment.version
        assert environment.instructions()
        assert self.tasks(), "the suite needs tasks"

    def test_equal_calls_give_equal_observations(self) -> None:
        left, right = self.environment(), self.environment()

        @self._settings()
        @given(st.sampled_from(list(self.tasks())), st.lists(calls_for(left.tools(), self.examples()), max_size=8))
        def run(task: Task, calls: list[tuple[str, dict[str, Any]]]) -> None:
            first, second = left.reset(task), right.reset(task)
            assert self._play(first, calls) == self._play(second, calls)
            assert first.snapshot() == second.snapshot()

        run()

    def test_wrong_calls_are_answered_in_words(self) -> None:
        environment = self.environment()

        @self._settings()
        @given(
            st.sampled_from(list(self.tasks())), st.lists(calls_for(environment.tools(), self.examples()), max_size=8)
        )
        def run(task: Task, calls: list[tuple[str, dict[str, Any]]]) -> None:
            episode = environment.reset(task)
            for result, (name, _), number in zip(self._play(episode, calls), calls, range(len(calls)), strict=True):
                assert isinstance(result.content, str)
                assert result.content
                assert result.call_id == f"call_{number}"
                assert result.name == name
                assert result.error is None or result.error in get_args(ToolError)

        run()
        episode = environment.reset(self.tasks()[0])
        unknown = episode.step(ToolCall(id="x", name="no such tool", arguments={}))
        assert unknown.error == "unknown_tool"
        tool = environment.tools()[0].name
        refused = episode.step(ToolCall(id="y", name=tool, arguments={"no such parameter": 1}))
        assert refused.error == "bad_arguments"

    def test_a_restored_episode_is_the_one_that_was_saved(self) -> None:
        environment = self.environment()
        call = calls_for(environment.tools(), self.examples())

        @self._settings()
        @given(st.sampled_from(list(self.tasks())), *[st.lists(call, max_size=6)] * 3)
        def run(task: Task, before: Any, aside: Any, after: Any) -> None:
            straight = environment.reset(task)
            self._play(straight, before)
            expected = self._play(straight, after, start=len(before))

            branched = environment.reset(task)
            self._play(branched, before)
            saved = branched.snapshot()
            self._play(branched, aside, start=100)
            branched.restore(saved)
            assert branched.snapshot() == saved
            assert self._play(branched, after, start=len(before)) == expected
            assert branched.snapshot() == straight.snapshot()

            # A fresh episode, as in another process, goes on from the same place.
            carried = Snapshot.model_validate_json(saved.model_dump_json())
            other = environment.reset(task)
            other.restore(carried)
            assert self._play(other, after, start=len(before)) == expected

        run()

    def test_snapshots_of_others_are_refused(self) -> None:
        environment = self.environment()
        episode = environment.reset(self.tasks()[0])
        saved = episode.snapshot()
        for change in ({"environment": "another"}, {"version": "another"}, {"task_id": "another"}):
            try:
                episode.restore(saved.model_copy(update=change))
            except ValueError:
                continue
            raise AssertionError(f"a snapshot with {change} was accepted")

    def test_episodes_do_not_see_each_other(self) -> None:
        environment = self.environment()
        call = calls_for(environment.tools(), self.examples())

        @self._settings()
        @given(st.sampled_from(list(self.tasks())), st.lists(call, max_size=5), st.lists(call, max_size=5))
        def run(task: Task, mine: Any, theirs: Any) -> None:
            alone = self._play(environment.reset(task), mine)
            first, second = environment.reset(task), environment.reset(task)
            results = []
            for number in range(max(len(mine), len(theirs))):
                results += self._play(first, mine[number : number + 1], start=number)
                self._play(second, theirs[number : number + 1], start=number)
            assert results == alone

        run()

    def test_gold_answers_pass_and_near_misses_do_not(self) -> None:
        if not self.check_answers():
            return
        environment = self.environment()
        for task in self.tasks():
            episode = environment.reset(task)
            for right in (task.answer, *task.answer_aliases, f" {task.answer}. ", f"The answer is {task.answer}."):
                verdict = episode.check(right)
                assert verdict.correct is True, (right, verdict)
                assert verdict.rule
                assert verdict.evidence
            for wrong in (None, "", "   ", *near_misses(task)):
                verdict = episode.check(wrong)
                assert verdict.correct is not True, (wrong, verdict)
                assert verdict.rule
                assert verdict.evidence

    def test_checking_changes_nothing(self) -> None:
        episode = self.environment().reset(self.tasks()[0])
        saved = episode.snapshot()
        first = episode.check("anything")
        assert episode.snapshot() == saved
        assert episode.check("anything") == first
