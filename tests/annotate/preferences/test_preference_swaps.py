"""Swapping a name leaves the list of choices, and what was read, as they were."""

from __future__ import annotations

import re
from collections import Counter

from preference_world import PreferenceWorld

from synth.agents.grounding.said import says
from synth.annotate.preferences.perturb.run import GoodRun
from synth.annotate.preferences.perturb.swapped_argument import SwappedArgument
from synth.annotate.preferences.perturb.values import documents, folder_of, passage_with
from synth.annotate.preferences.perturb.words import names, quotes, sentences
from synth.identity import derive_generator


def test_lists_and_pages_that_were_read_are_told_as_they_were(world: PreferenceWorld) -> None:
    seen: Counter[str] = Counter()
    for row in world.of("teacher", True):
        run = GoodRun(row, world.tasks[row.task_id], world.environment)
        for proposal in SwappedArgument().propose(run, derive_generator(3, row.id)):
            good, other = run.history[proposal.step].turn.thought, proposal.turn.thought
            if good is None or other is None or proposal.turn.answer is not None:
                continue
            held = documents(run, proposal.step)
            name = "|".join(re.escape(one.name) for one in held)
            for listed in re.findall(rf"(?:{name})(?:, (?:{name}))*(?:,? and | or )(?:{name})(?!\w)", good):
                assert listed in other, (good, other)
                seen["list"] += 1
            read = [one.name for one in held if one.target.split("#", 1)[0] in run.views[proposal.step].read]
            changed = [part for part in sentences(good) if part not in other]
            for part in changed[:-1]:
                assert '"' in part or not any(names(part, one) for one in read), (good, other)
            seen["read"] += any(names(part, one) for part in sentences(good) for one in read if part in other)
            assert good != other
        run.close()
    assert min(seen["list"], seen["read"]) > 3, seen


def test_a_swap_is_a_mistake_that_somebody_could_make(world: PreferenceWorld) -> None:
    seen: Counter[str] = Counter()
    for row in world.of("teacher", True):
        run = GoodRun(row, world.tasks[row.task_id], world.environment)
        for proposal in SwappedArgument().propose(run, derive_generator(4, row.id)):
            good, turn = run.history[proposal.step].turn, proposal.turn
            thought = turn.thought or ""
            among = says(("hit_among",), thought)
            documents_ = [
                (str(a.arguments.get("document", "")), str(b.arguments.get("document", "")))
                for a, b in zip(good.calls, turn.calls, strict=True)
            ]
            for old, new in documents_:
                if old and new and not quotes(good.thought or ""):
                    assert folder_of(old) == folder_of(new), (old, new)
                    seen["kind"] += 1
                if among is not None and old != new:  # it chooses from a list that has it
                    name = next(one.name for one in documents(run, proposal.step) if one.target == new)
                    assert among.group().count(name) > 1, thought
                    seen["list"] += 1
            for old_quote, new_quote in zip(quotes(good.thought or ""), quotes(thought), strict=False):
                if old_quote != new_quote:
                    assert passage_with(run, proposal.step, new_quote, beside=old_quote) == new_quote, thought
                    seen["quote"] += 1
        run.close()
    assert min(seen["kind"], seen["quote"]) > 3, seen
