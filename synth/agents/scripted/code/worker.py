"""How the scripted agents for code work: what they look at and what they say. Each chooses its own way among it."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from synth.agents.contract import History, Prompt, Turn
from synth.agents.scripted.code.memory import Done, Function, Memory, defined_name
from synth.agents.scripted.code.repairs import Repair, repairs
from synth.agents.scripted.phrases import Thoughts
from synth.environments.contract import ToolCall
from synth.environments.reports import Failure, Hit
from synth.sources.code.source import is_test

__all__ = ["Worker", "added", "last_line"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFINITION = re.compile(r"^(?:def|class) |\($")


class Worker(ABC):
    """One turn of work. What differs between the two are the methods that choose."""

    def __init__(self, prompt: Prompt, history: History, generator: np.random.Generator) -> None:
        self.memory = Memory(history)
        self.turns = len(history)
        self.generator = generator
        self.thoughts = Thoughts(prompt.question, generator, earlier=[step.turn.thought or "" for step in history])
        self.question = prompt.question

    # What a player chooses.

    @abstractmethod
    def chosen(self, options: Sequence[Repair]) -> Repair | None:
        """The repair to try next; None = none of them."""

    @abstractmethod
    def looks_into(self, names: Sequence[str]) -> str | None:
        """Which of the functions in view it looks into next; None = none of them."""

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
        old, _ = self.texts(repair)
        refused = next((one for path, one in self.memory.several if path == repair.path and old.endswith(one)), None)
        if refused is not None:
            self.thoughts.add("c_several", line=last_line(refused))
            return self.edit(repair.path, *self.texts(repair))
        if failure is not None and failure.compared is not None:
            self.thoughts.add("c_call", **failure.compared)
        if repair.operator == "guard":
            self.thoughts.add("c_guard", guard=repair.change[1])
        else:
            old, new = repair.change
            self.thoughts.add(f"c_{repair.operator}", line=repair.old.strip(), old=old, new=new, sum=added(old, new))
        return self.edit(repair.path, *self.texts(repair))

    def texts(self, repair: Repair) -> tuple[str, str]:
        """Old and new text, with preceding lines added where the old text is known to occur more than once."""
        lines = self.memory.files[repair.path]
        shown = "\n".join(lines[number] for number in sorted(lines))
        head, at = "", repair.line
        often = {old for path, old in self.memory.several if path == repair.path}
        while (shown.count(head + repair.old) > 1 or head + repair.old in often) and at - 1 in lines:
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
            words.add(intent, path=made[-1].path, new=last_line(made[-1].new))
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


def added(old: str, new: str) -> str:
    """How one number comes of the other, where they are numbers that differ by one."""
    if not (old.isdigit() and new.isdigit()):
        return ""
    return f"{old} {'+' if int(new) > int(old) else '-'} 1 = {new}"


def last_line(text: str) -> str:
    return text.strip().split("\n")[-1].strip()
