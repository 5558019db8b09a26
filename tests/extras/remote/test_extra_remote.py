"""A source, a dataset and an export in a bucket, over the protocol of S3 (moto's server on loopback), with kills."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_ins.bucket import Bucket

pytestmark = pytest.mark.extras

KILLED = -signal.SIGKILL
BUILD = "build docs-search --tasks 6 --set contexts=null --set distractors=null --set critical=null"


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    pytest.importorskip("moto")
    made = Bucket(tmp_path_factory.mktemp("s3"))
    docs = Path(__file__).parents[3] / "docs"
    made.code(f"files.put({str(docs)!r}, 'bucket/docs', recursive=True)")
    yield made
    made.close()


def listed(bucket: Bucket) -> dict[str, str]:
    """Key below the dataset -> ETag."""
    tags = "{key: told['ETag'] for key, told in files.find('bucket/w', detail=True).items()}"
    found = json.loads(bucket.code(f"print(json.dumps({tags}))"))
    return {key.removeprefix("bucket/w/"): tag for key, tag in found.items()}


def test_a_dataset_in_a_bucket_is_the_old_or_the_new_one(bucket: Bucket) -> None:
    build = f"{BUILD} --source s3://bucket/docs --store store --out s3://bucket/w"
    done = bucket.synth(build, SYNTH_FAILPOINT="publish.copied:9:kill")
    assert done.returncode == KILLED, done.stderr
    sent = listed(bucket)
    assert len(sent) == 9
    done = bucket.synth("stats s3://bucket/w")
    assert (done.returncode, "never finished" in done.stderr) == (2, True), done.stderr
    done = bucket.synth(build)
    assert done.returncode == 0, done.stderr
    assert sent.items() <= listed(bucket).items(), "what was sent is not sent again"
    for name, seed in (("publish.copied:3:kill", 7), ("publish.synced:1:kill", 7), ("publish.moved:1:kill", 8)):
        done = bucket.synth(f"{build} --seed 8", SYNTH_FAILPOINT=name)
        assert done.returncode == KILLED, done.stderr
        done = bucket.synth("validate s3://bucket/w")
        assert done.returncode == 0, done.stderr
        (copy,) = (bucket.folder / "copies").glob("*/w-*")
        assert json.loads((copy / "report.json").read_bytes())["seed"] == seed
    assert bucket.synth(f"{build} --seed 8").returncode == 0
    assert len({key.split("/")[1] for key in listed(bucket) if key.startswith("versions/")}) == 1


def test_results_derive_from_a_bucket_into_a_bucket(bucket: Bucket) -> None:
    for line in ("export s3://bucket/w --to trl-sft --out s3://bucket/sft", "show s3://bucket/w"):
        done = bucket.synth(line)
        assert done.returncode == 0, done.stderr
    kept = bucket.code("print(files.cat_file('bucket/sft/manifest.json').decode())")
    assert "README.md" in json.loads(kept)["files"]


@pytest.mark.parametrize(
    ("line", "variables", "code", "said"),
    [
        (f"{BUILD} --source s3://bucket/docs --out s3://none/w", {}, 4, "there is no such bucket"),
        (f"{BUILD} --source s3://none/docs", {}, 2, "there is no such bucket"),
        ("stats s3://none/w", {}, 2, "there is no such bucket"),
        ("stats s3://bucket/w", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, 2, "the storage failed"),
    ],
)
def test_one_line_before_anything_is_built(
    bucket: Bucket, line: str, variables: dict[str, str], code: int, said: str
) -> None:
    done = bucket.synth(line, **variables)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_nobody_is_logged_in(bucket: Bucket) -> None:
    without = {key: value for key, value in bucket.variables.items() if not key.startswith("AWS_")}
    command = [str(Path(sys.executable).with_name("synth")), "stats", "s3://bucket/w"]
    done = subprocess.run(
        command,
        env={**without, "AWS_ENDPOINT_URL": bucket.url, "AWS_EC2_METADATA_DISABLED": "true"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 2)
    if done.returncode:
        assert "nobody is logged in" in done.stderr
