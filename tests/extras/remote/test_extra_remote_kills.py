"""A build into a bucket, through a model's server, killed at any time, and its dataset grown by a second one.

Of each dataset, both builds are killed at random times (of SYNTH_KILLS_SEED) until SYNTH_KILLS (12) kills are through:
the same command ends with the same objects, nothing finished is done again, and no reply is paid for twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from faults_builds import Built, arguments, bound, serve
from faults_killed import KILLED, Run
from shared_builds import hashes
from stand_ins.bucket import Bucket
from stand_ins.model_server import Faults, reconcile
from stand_ins.zygote import Zygote

import synth
from synth.identity import derive_generator
from synth.store.remote import local_dataset

pytestmark = pytest.mark.extras

KILLS = int(os.environ.get("SYNTH_KILLS", "12"))
SEED = int(os.environ.get("SYNTH_KILLS_SEED", "26"))
SIZES = (3, 5)
"""Tasks of the first build, and of the one that adds to it."""
ENTITIES, SHARE = 300, 0.3


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    pytest.importorskip("moto")
    made = Bucket(tmp_path_factory.mktemp("s3"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in made.access.items():
            patch.setenv(name, value)
        yield made
    made.close()


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


def test_killed_builds_into_a_bucket_end_alike_and_pay_once(bucket: Bucket, zygote: Zygote, tmp_path: Path) -> None:
    assert Run(zygote, tmp_path / "plain", lambda folder: arguments(folder, SIZES[-1], ENTITIES, SHARE)).once() == 0
    tasks = list(synth.load(tmp_path / "plain" / "out").rows("tasks"))
    generator = derive_generator(SEED, "kills", "bucket")
    with serve(tasks, Faults()) as at:

        def build(name: str, size: int) -> Run:
            def command(folder: Path) -> list[str]:
                words = arguments(folder, size, ENTITIES, SHARE)
                return [*words[:-1], f"s3://bucket/{name}", *bound(at.server.url)]

            return Run(zygote, tmp_path / name, command, bucket.access)

        def result(name: str) -> dict[str, str]:
            return hashes(local_dataset(f"s3://bucket/{name}"))

        whole, seconds = {}, {}
        for size in SIZES:
            began = time.monotonic()
            assert build("whole", size).once() == 0
            whole[size], seconds[size] = result("whole"), time.monotonic() - began
        kills = 0
        for number in count():
            name, before, mine = f"w{number}", len(at.server.log.records()), 0
            for size in SIZES:
                run = build(name, size)
                while kills < KILLS and run.once(float(generator.uniform(0, seconds[size]))) == KILLED:
                    kills, mine = kills + 1, mine + 1
                assert run.once() == 0
                assert result(name) == whole[size]
            built = Built(tmp_path / name, at.server.log.records()[before:], mine)
            _, intents, _ = built.books()
            assert reconcile(built.records, intents).problems == ()
            if kills >= KILLS:
                break
            assert number < 10 * KILLS
