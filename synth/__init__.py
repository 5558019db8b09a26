"""Data synthesis for agent post-training: tasks, rollouts and trajectories, each row with its proof.

import synth
result = synth.build("world-search", tasks=200)
tasks = synth.load(result.path)["tasks"]
"""

# These packages bear names of functions below. Importing one binds its name here, so that happens first.
import synth.annotate
import synth.export  # noqa: F401
from synth.api import (
    BuildRequest,
    BuildResult,
    annotate,
    append,
    build,
    export,
    import_file,
    load,
    mix,
    push,
    rehydrate,
)
from synth.distribution import version
from synth.errors import BuildError, DatasetError, InputError, StoreError, SynthError
from synth.evaluation import evaluate

__all__ = [
    "BuildError",
    "BuildRequest",
    "BuildResult",
    "DatasetError",
    "InputError",
    "StoreError",
    "SynthError",
    "__version__",
    "annotate",
    "append",
    "build",
    "evaluate",
    "export",
    "import_file",
    "load",
    "mix",
    "push",
    "rehydrate",
]

__version__ = version()
