"""Settings of every test, made before anything of ours or of Prefect, datasets or huggingface_hub is imported.

No test reaches a network, a hub, a telemetry endpoint or the user's own folders.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Where Python is told to keep no bytecode, each process of a test would compile a thousand modules first. It stands
# beside the sources, as by default: what the installer compiled is not compiled again for another place.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# As the command line has it; by Python's own, a tenth of the time goes into looking for cycles.
gc.set_threshold(50_000, 10, 20)
# Temporary folders in memory where there is room: the store and the ledger sync every file, and no test needs it after.
_MEMORY = Path("/dev/shm")
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2**30:
    tempfile.tempdir = str(_MEMORY)
_HOME = Path(tempfile.mkdtemp(prefix="synth-tests-"))
os.environ.setdefault("SYNTH_TESTS_SHARED", str(_HOME))  # shared_builds.py; workers inherit it
os.environ.update(
    {
        "TMPDIR": tempfile.gettempdir(),
        # Store and caches: never the user's.
        "SYNTH_COPIES": str(_HOME / "copies"),
        "SYNTH_STORE": str(_HOME / "store"),
        "HF_HOME": str(_HOME / "hf"),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "PREFECT_HOME": str(_HOME / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "ERROR",
        "DO_NOT_TRACK": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "TOKENIZERS_PARALLELISM": "false",
        # Threads of a matrix product spin while they wait, and the cores are busy with other tests.
        "OPENBLAS_NUM_THREADS": "1",
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }
)
for _name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
    os.environ.pop(_name, None)

# `ci` draws the same examples in every run, so that a red build is red again; `explore` looks for new ones
# (HYPOTHESIS_PROFILE=explore). Deadlines assert a time: never.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
settings.register_profile("explore", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

FAST = "not extras and not thorough"
"""The marks that pyproject.toml asks for."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A run on CI may be cut off before it ends, and what failed till then must have been said."""
    if report.failed and os.environ.get("CI") and not os.environ.get("PYTEST_XDIST_WORKER"):
        crash = getattr(report.longrepr, "reprcrash", None)
        said = (crash.message if crash else report.longreprtext).strip().partition("\n")[0]
        print(f"\n{report.when} of {report.nodeid} failed: {said[:300]}", flush=True)


def pytest_configure(config: pytest.Config) -> None:
    # Who names a file wants its tests, the thorough ones, too.
    if config.option.markexpr == FAST and any(".py" in arg for arg in config.args):
        config.option.markexpr = "not extras"
    # Whoever was started in the background of a script ignores Ctrl-C, and so would all that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Hypothesis sees that the state of `random` moved while it drew and blames the strategy; it was a thread of
    # Prefect's client, which lives until the session ends. No strategy of ours draws from `random`.
    config.addinivalue_line(
        "filterwarnings",
        "ignore:Do not use the .random. module inside strategies:hypothesis.errors.HypothesisDeprecationWarning",
    )


LONGEST = (
    "test_manual_runs.py",
    *("test_faults_models.py", "test_api_steps.py", "test_hub_push.py", "test_faults_product.py"),
    *("test_flow_builds.py", "test_engine_clusters.py", "test_mcp_hostile.py", "test_api_app_desk.py"),
    *("test_faults_io.py", "test_column_mutations.py", "test_deep_mutations.py", "test_api_model_critical.py"),
    *("test_engine_collaborators.py", "test_api_builds.py", "test_faults_odd_replies.py", "test_outside_package.py"),
    *("test_app_properties.py", "test_explored_hidden_rules.py", "test_models_serving.py", "test_api_writing.py"),
    *("test_arrow_round_trip.py", "test_api_mcp_tools.py", "test_engine_properties.py", "test_careless_user.py"),
    *("test_api_triples.py", "test_hub_leaks.py", "test_hostile_files.py", "test_api_growth.py"),
    *("test_api_graph_walk.py", "test_api_proposed.py", "test_dataset_layout.py", "test_deep_copies.py"),
)
"""A quarter of a minute and more each: begun first, the longest before all, so that none of them is what the other
cores wait for in the end."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where no test of an extra is to run, none is collected: a fast suite's worker would load what they need."""
    extras = Path(__file__).parent / "extras"
    return True if collection_path == extras and "not extras" in config.option.markexpr else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.name, len(LONGEST)))


def pytest_collection_finish() -> None:
    """Modules and items live to the end: no search for cycles looks at them again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[str]:
    """The API URL of one temporary Prefect server for the session, on a free loopback port, with its own database.

    Flows of this process use it; a child process does when it gets the URL as ``PREFECT_API_URL``.
    """
    from prefect.settings import PREFECT_API_URL
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=300):
        yield str(PREFECT_API_URL.value())


def pytest_unconfigure() -> None:
    """The folder that stands for the user's goes."""
    shutil.rmtree(_HOME, ignore_errors=True)
