"""Swapping a name leaves the list of choices, and what was read, as they were."""

from __future__ import annotations

import re
from collections import Counter

from preference_world import PreferenceWorld

from synth.annotate.preferences.perturb.run import GoodRun
from synth.annotate.preferences.perturb.swapped_argument import SwappedArgument
from synth.annotate.preferences.perturb.values import documents
from synth.annotate.preferences.perturb.words import names, sentences
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
