"""The scripted teacher and the scripted policy for code: one way of working, two ways to choose.

Both run the tests, follow the failure to a function (by the stack, by the call that the test makes, by what that
calls), read it, try a repair of a line that they have read, run the tests again, and take back what did not help. The
teacher knows what was broken, and by that it chooses among the repairs that came to mind and the functions in view,
never beyond them. The policy chooses by how likely they look, and at times edits the wrong function, leaves a repair
that did not help, or says that it is done without having run the tests.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Sequence

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.scripted.choosing import Mistakes
from synth.agents.scripted.code.memory import Done, Function, Memory, defined_name
from synth.agents.scripted.code.repairs import Repair, repairs
from synth.agents.scripted.config import CodePolicyConfig, CodeTeacherConfig
from synth.agents.scripted.phrases import Thoughts
from synth.environments.contract import ToolCall
from synth.environments.reports import Failure, Hit
from synth.schemas.code import Mutated, Mutation, Place
from synth.schemas.tasks import Task
from synth.sources.code.source import is_test

__all__ = ["CodePolicy", "CodeTeacher"]


_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFINITION = re.compile(r"^(?:def|class) |\($")


class _Worker:
    """One turn of work. What differs between the two are the methods that choose."""

    def __init__(self, prompt: Prompt, history: History, generator: np.random.Generator) -> None:
        self.memory = Memory(history)
        self.turns = len(history)
        self.generator = generator
        self.thoughts = Thoughts(prompt.question, generator)
        self.question = prompt.question

    # What a player chooses.

    def chosen(self, options: Sequence[Repair]) -> Repair | None:
        raise NotImplementedError

    def looks_into(self, names: Sequence[str]) -> str | None:
        """Which of the functions in view it looks into next; None = none of them."""
        raise NotImplementedError

    def leaves(self) -> bool:
        """Whether a repair that did not help stays."""
        return False

    def stops(self) -> Turn | None:
        """An end before its time."""
        return None

    def last_resort(self, options: Sequence[Repair]) -> Repair | None:
        """What it tries where nothing better is in view."""
        return options[0] if options else None

    # The work.

    def turn(self) -> Turn:
        memory = self.memory
        if memory.last is None and not memory.unread:
            self.thoughts.add("c_tests")
            return self.call("run_tests")
        early = self.stops()
        if early is not None:
            return early
        if memory.untested:
            self.thoughts.add("c_again")
            return self.call("run_tests")
        if memory.last is not None and not memory.last.failures:
            return self.done()
        if memory.edits and not self.helped() and not self.leaves():
            last = memory.edits[-1]
            self.thoughts.add("c_back")
            return self.edit(last.path, last.new, last.old)
        return self.looks()

    def helped(self) -> bool:
        """Whether with the last edit fewer tests fail than without it, and none that did not fail before."""
        before, last = self.memory.edits[-1].before, self.memory.last
        if before is None or last is None:
            return False
        now = {one.id for one in last.failures}
        return len(last.failures) < len(before.failures) and now <= {one.id for one in before.failures}

    def looks(self) -> Turn:
        memory, failure = self.memory, self.memory.failure()
        functions: list[Function] = []
        names = self.names()
        for name in names:
            hit = self.place(name)
            if hit is None:
                continue
            function = memory.function(hit)
            if function is None or (not function.whole and self.reads_on(function)):
                return self.reads(hit, function)
            functions.append(function)
        options = [
            one
            for function in functions
            for one in ([] if is_test(function.path) else repairs(function, failure))
            if (one.path, *self.texts(one)) not in memory.tried
        ]
        wanted = self.chosen(options)
        if wanted is not None:
            return self.tries(wanted)
        further = [name for function in functions for name in self.leads(function)]
        new = [name for name in dict.fromkeys([*names, *further]) if not memory.searched(name)]
        inside = self.looks_into(new)
        if inside is not None:
            return self.searches(inside)
        if failure is not None and not self.sees_enough(functions) and memory.around(failure, is_test) is None:
            read = self.reads_test(failure)
            if read is not None:
                return read
        last = self.last_resort(options)
        return self.gives_up() if last is None else self.tries(last)

    def names(self) -> list[str]:
        """Functions that the failure points to and that were looked for: the innermost of the stack first, then what
        the test calls, then what was searched for on the way."""
        failure = self.memory.failure()
        found: list[str] = []
        if failure is not None:
            found += [name for path, _, name, _ in reversed(failure.frames) if not is_test(path)]
            if failure.compared is not None:
                found += _called(failure.compared["call"])
            for path, _, _, text in failure.frames:
                found += _called(text) if is_test(path) else []
            for text in self.memory.around(failure, is_test) or ():
                found += _NAME.findall(text)
        searched = [_DEFINITION.sub("", text) for text in self.memory.hits if _DEFINITION.match(text)]
        return [name for name in dict.fromkeys([*found, *searched]) if _may_be_ours(name)]

    def place(self, name: str) -> Hit | None:
        """Where ``name`` is defined, of the places that a search has shown."""
        return next((hit for hit in self.memory.defined(name) if not is_test(hit.path)), None)

    def leads(self, function: Function) -> Sequence[str]:
        """Names in a function that lead further."""
        return function.called()

    def reads_on(self, function: Function) -> bool:
        """Whether it reads a function to its end of which it has seen a part."""
        return True

    def sees_enough(self, functions: Sequence[Function]) -> bool:
        """Whether it can do without having read the failing test."""
        return bool(functions)

    def kind(self, name: str) -> str:
        """``def`` or ``class``, whichever it takes ``name`` for."""
        return "class" if name[:1].isupper() else "def"

    def searches(self, name: str) -> Turn:
        failure = self.memory.failure()
        if failure is not None and failure.compared is not None and name in failure.compared["call"]:
            self.thoughts.add("c_call", **failure.compared)
            self.thoughts.add("c_where", name=name)
        else:
            self.thoughts.add("c_part", name=name)
        return self.call("search_files", text=f"class {name}" if self.kind(name) == "class" else f"def {name}(")

    def reads_test(self, failure: Failure) -> Turn | None:
        """A look at the test that fails; None where there is no such look, or none is left."""
        frame = next((frame for frame in failure.frames if is_test(frame[0])), None)
        if frame is None:
            return None
        path, line, name, _ = frame
        if not self.memory.searched(name):
            self.thoughts.add("c_test")
            return self.call("search_files", text=f"def {name}(", path=path)
        found = [hit for hit in self.memory.defined(name) if hit.path == path and hit.line <= line]
        if not found:
            return None
        hit = max(found, key=lambda one: one.line)
        function = self.memory.function(hit)
        return None if function is not None and function.whole else self.reads(hit, function)

    def reads(self, hit: Hit, function: Function | None) -> Turn:
        if function is None:
            self.thoughts.add("c_read", name=defined_name(hit), path=hit.path)
            return self.call("read_file", path=hit.path, start=hit.line)
        self.thoughts.add("c_rest", name=function.name)
        return self.call("read_file", path=hit.path, start=hit.line + len(function.lines) - 1)

    def tries(self, repair: Repair) -> Turn:
        failure = self.memory.failure()
        if failure is not None and failure.compared is not None:
            self.thoughts.add("c_call", **failure.compared)
        if repair.operator == "guard":
            self.thoughts.add("c_guard", guard=repair.change[1])
        else:
            old, new = repair.change
            self.thoughts.add(f"c_{repair.operator}", line=repair.old.strip(), old=old, new=new, sum=_sum(old, new))
        return self.edit(repair.path, *self.texts(repair))

    def texts(self, repair: Repair) -> tuple[str, str]:
        """Old and new text, with lines before it where the old one stands more than once in what was shown."""
        lines = self.memory.files[repair.path]
        shown = "\n".join(lines[number] for number in sorted(lines))
        head, at = "", repair.line
        while shown.count(head + repair.old) > 1 and at - 1 in lines:
            at -= 1
            head = f"{lines[at]}\n{head}"
        return head + repair.old, head + repair.new

    def done(self) -> Turn:
        made = self.memory.edits
        self.thoughts.add("c_passed")
        return Turn(thought=self.thoughts.text(), answer=self.said("c_done", made))

    def gives_up(self) -> Turn:
        self.thoughts.add("c_lost")
        return Turn(thought=self.thoughts.text(), answer=None)

    def said(self, intent: str, made: Sequence[Done]) -> str:
        words = Thoughts(self.question, self.generator)
        if made:
            words.add(intent, path=made[-1].path, new=_short(made[-1].new))
        else:
            words.add("c_nothing")
        return words.text()

    def edit(self, path: str, old: str, new: str) -> Turn:
        return self.call("edit_file", path=path, old=old, replacement=new)

    def call(self, name: str, **arguments: object) -> Turn:
        made = ToolCall(id=f"call_{self.turns}_0", name=name, arguments=arguments)
        return Turn(thought=self.thoughts.text(), calls=(made,))


def _may_be_ours(name: str) -> bool:
    """Whether the project may define what has this name."""
    return not (name.startswith(("assert", "test", "<")) or keyword.iskeyword(name) or hasattr(builtins, name))


def _called(text: str) -> list[str]:
    """Names of what an expression calls, the outermost of a project's first."""
    try:
        tree = ast.parse(text.strip())
    except SyntaxError:
        return []
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [str(getattr(func, "attr", getattr(func, "id", ""))) for func in calls]


def _sum(old: str, new: str) -> str:
    """How one number comes of the other, where they are numbers that differ by one."""
    if not (old.isdigit() and new.isdigit()):
        return ""
    return f"{old} {'+' if int(new) > int(old) else '-'} 1 = {new}"


def _short(text: str) -> str:
    return text.strip().split("\n")[-1].strip()


class _Teaching(_Worker):
    def __init__(
        self,
        broken: Mutation,
        way: Sequence[Place],
        config: CodeTeacherConfig,
        prompt: Prompt,
        history: History,
        generator: np.random.Generator,
    ) -> None:
        super().__init__(prompt, history, generator)
        self.broken, self.way, self.config = broken, way, config
        self.prompt, self.history = prompt, history

    def chosen(self, options: Sequence[Repair]) -> Repair | None:
        options = [one for one in options if one.path == self.broken.path and self._is_grounded(one)]
        gold = [one for one in options if self._mends(one)]
        detour = float(self.generator.random()) < self.config.detour and not self.memory.edits
        if gold and detour and not self.memory.tried:
            return options[0]
        if gold:
            return gold[0]
        if len(self.memory.tried) >= 2 * self.config.tries:
            return None
        guards = [one for one in options if one.operator == "guard"] if self.broken.operator == "guard" else []
        return guards[0] if guards else None

    def _is_grounded(self, repair: Repair) -> bool:
        """Whether all that the repair is made of was seen."""
        old, new = self.texts(repair)
        turn = Turn(thought=_sum(*repair.change), calls=self.edit(repair.path, old, new).calls)
        return not ungrounded(self.prompt, (*self.history, Step(turn=turn)), start=len(self.history))

    def _mends(self, repair: Repair) -> bool:
        undone = (self.broken.new, self.broken.old)
        return repair.path == self.broken.path and repair.change == undone

    def place(self, name: str) -> Hit | None:
        found = self.memory.defined(name)
        ours = [one for one in self.way if one.name == name]
        near = [(abs(hit.line - one.line), hit.line, hit) for one in ours for hit in found if hit.path == one.path]
        return min(near)[2] if near else super().place(name)

    def leads(self, function: Function) -> Sequence[str]:
        return function.mentions()

    def sees_enough(self, functions: Sequence[Function]) -> bool:
        if not self.way:
            return super().sees_enough(functions)
        return any(self.memory.searched(one.name) for one in self.way)

    def reads_on(self, function: Function) -> bool:
        here = next((at for at, one in enumerate(self.way) if one.name == function.name), None)
        return here is None or not {one.name for one in self.way[here + 1 :]} & set(function.mentions())

    def kind(self, name: str) -> str:
        ours = [one for one in self.way if one.name == name]
        return ("class" if ours[-1].is_class else "def") if ours else super().kind(name)

    def looks_into(self, names: Sequence[str]) -> str | None:
        wanted = self.broken.scope.rpartition(".")[2]
        if self.way:
            return next((one.name for one in reversed(self.way) if one.name in names), None)
        if self.place(wanted) is not None:
            return None
        return wanted if wanted in names else names[0] if names else None

    def last_resort(self, options: Sequence[Repair]) -> Repair | None:
        if len(self.memory.tried) >= 2 * self.config.tries:
            return None
        return next((one for one in options if self._is_grounded(one)), None)

    def stops(self) -> Turn | None:
        return self.gives_up() if self.turns >= self.config.patience else None


class _Trying(_Worker, Mistakes):
    def __init__(
        self, config: CodePolicyConfig, prompt: Prompt, history: History, generator: np.random.Generator
    ) -> None:
        _Worker.__init__(self, prompt, history, generator)
        Mistakes.__init__(self, config.skill, len(history), generator)
        self.config = config

    def chosen(self, options: Sequence[Repair]) -> Repair | None:
        if not options or float(self.generator.random()) < self.config.deeper:
            return None
        weights = np.array([one.weight for one in options]) ** (4 * self.config.skill)
        return options[int(self.generator.choice(len(options), p=weights / weights.sum()))]

    def looks_into(self, names: Sequence[str]) -> str | None:
        return names[0] if names else None

    def leaves(self) -> bool:
        if len(self.memory.edits) > 1 or not self.errs(self.config.leaves):
            return False
        self.log("leaves", f"goes on with {_short(self.memory.edits[-1].new)!r}")
        return True

    def stops(self) -> Turn | None:
        if self.memory.untested and self.errs(self.config.unverified):
            self.log("unverified", "says that it is done without running the tests")
            self.thoughts.add("c_sure")
            return Turn(thought=self.thoughts.text(), answer=self.said("c_done", self.memory.edits))
        if self.turns >= self.config.patience:
            self.thoughts.add("c_lost")
            return Turn(thought=self.thoughts.text(), answer=self.said("c_done", self.memory.edits))
        return None


class CodeTeacher:
    """A policy (``synth.agents.contract.Policy``) for one task of repair."""

    privileged = True

    def __init__(self, task: Task, config: CodeTeacherConfig | None = None) -> None:
        known = Mutated.of(task.details)
        self._broken, self._way = known.mutation, known.way
        self._config = config or CodeTeacherConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return Decision(_Teaching(self._broken, self._way, self._config, prompt, history, generator).turn())


class CodePolicy:
    """A policy (``synth.agents.contract.Policy``) for any task of repair: it knows nothing of what was broken."""

    privileged = False

    def __init__(self, config: CodePolicyConfig | None = None) -> None:
        self._config = config or CodePolicyConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if not prompt.tools:
            thoughts = Thoughts(prompt.question, generator)
            thoughts.add("c_lost")
            return Decision(Turn(thought=thoughts.text()))
        work = _Trying(self._config, prompt, history, generator)
        turn = work.turn()
        return Decision(turn, tuple(work.injected))
