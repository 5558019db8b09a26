"""A reward of the user's beside exported tasks: a module that trainers can call, and the code that it needs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from synth.annotate.rewards.own import named_reward
from synth.annotate.rewards.reward import VERIFIERS
from synth.errors import InputError
from synth.own_code import beside, files_of, hash_of

__all__ = ["REWARD_FILE", "reward_files"]

REWARD_FILE = "reward.py"
_TEXT = '''"""The reward of {dataset}: `{place}`, in the shapes that trainers call. It needs synth, and {needs}.

TRL: `from reward import trl_reward`, and `reward_funcs=[trl_reward]`; verl: `custom_reward_function.path` is this file.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from synth.annotate import rewards

REWARD = "{place}"


def trl_reward(*given, **named):
    return rewards.trl_reward(*given, rule=REWARD, **named)


compute_score = partial(rewards.compute_score, rule=REWARD)
compute_scores = partial(rewards.compute_scores, rule=REWARD)
'''


def reward_files(dataset: str, functions: Collection[str]) -> dict[str, bytes]:
    """Path -> content of what stands beside tasks whose rows name ``functions`` as their reward; nothing where those
    ship. Code is only taken along where it is what the rows were made with.

    Raises:
        InputError: the tasks have several rewards.
    """
    own = sorted(name for name in functions if name not in VERIFIERS)
    if not own:
        return {}
    if len(functions) > 1:
        what = f"the tasks have {len(functions)} rewards, and one module gives one of them"
        raise InputError(what, where=dataset, mend="export the datasets that were mixed one by one")
    place, source = named_reward(own[0])
    beside(Path.cwd())
    files = files_of(place)
    module = place.partition(":")[0]
    if source is None:
        return {REWARD_FILE: _TEXT.format(dataset=dataset, place=place, needs=f"the module {module}").encode()}
    if hash_of(files) != source:
        needs = f"the module {module} (sha256 {source}), which was not there when this was exported"
        return {REWARD_FILE: _TEXT.format(dataset=dataset, place=place, needs=needs).encode()}
    if REWARD_FILE in files:
        mend = "call it otherwise, for example my_reward.py"
        raise InputError(f"a reward's module can't be called {REWARD_FILE}", where="reward", mend=mend)
    text = _TEXT.format(dataset=dataset, place=place, needs=f"{', '.join(sorted(files))} beside it")
    return {REWARD_FILE: text.encode(), **{name: path.read_bytes() for name, path in files.items()}}
