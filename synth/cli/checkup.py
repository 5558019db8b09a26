"""What ``synth doctor`` looks at."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata, util
from urllib.request import urlopen

from synth.distribution import install
from synth.errors import SynthError
from synth.models.probe import Finding
from synth.pipelines.building import default_store
from synth.prompting import list_prompts
from synth.publish.push import token_for
from synth.recipe.load import builtin_names, load_recipe
from synth.store import Store

__all__ = ["checkup"]

_NEEDED = (
    "pyarrow",
    "polars",
    "numpy",
    "pydantic",
    "datatrove",
    "datasets",
    "huggingface_hub",
    "bm25s",
    "networkx",
    "prefect",
)
_EXTRAS = {
    "ray": ("ray", "--executor ray"),
    "embed": ("sentence_transformers", "embeddings by sentence-transformers and FAISS"),
    "train": ("trl", "training with TRL"),
    "mcp": ("mcp", "MCP servers as environments, and environments as MCP servers"),
    "web": ("playwright", "a browser as environment"),
    "s3": ("s3fs", "sources, datasets and results in s3://"),
    "postgres": ("psycopg", "model calls that several machines share"),
    "telemetry": ("opentelemetry.exporter", "a running build for Prometheus, and as a trace by OpenTelemetry"),
    "pictures": ("matplotlib", "pages as pictures (`synth export --to vision`)"),
    "gcs": ("gcsfs", "the same in gs://"),
}

_LITTLE = 200_000_000
"""Bytes of disk with which a build of a few tasks may end in want of space."""
_SECONDS = 5.0


def checkup() -> list[Finding]:
    """Look at the interpreter, the packages, the packaged files and the store. Changes nothing but a probe file."""
    return [*_python(), *_machine(), *_packages(), *_extras(), *_files(), *_store(), *_hub(), *_prefect()]


def _python() -> Iterator[Finding]:
    fine = sys.version_info >= (3, 11)
    version = sys.version.split()[0]
    yield Finding("python", "ok" if fine else "broken", version + ("" if fine else "; needs 3.11"))


def _machine() -> Iterator[Finding]:
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    cores = f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} cores may be used"
    yield Finding("machine", "ok", f"{cores}; {free / 1e9:.1f} GB of memory free")


def _packages() -> Iterator[Finding]:
    for name in _NEEDED:
        if util.find_spec(name) is None:
            yield Finding(name, "broken", "is not installed: install this package again")
        else:
            yield Finding(name, "ok", _version(name))


def _extras() -> Iterator[Finding]:
    for extra, (name, gives) in _EXTRAS.items():
        if util.find_spec(name) is None:
            yield Finding(f"extra {extra}", "absent", f"{install(extra)} gives {gives}")
        else:
            yield Finding(f"extra {extra}", "ok", f"{name} {_version(name)}")


def _version(module: str) -> str:
    names = metadata.packages_distributions().get(module, [module])
    try:
        return metadata.version(names[0])
    except metadata.PackageNotFoundError:
        return "version unknown"


def _files() -> Iterator[Finding]:

    try:
        names = builtin_names()
        for name in names:
            load_recipe(name)
        prompts = list_prompts()
        importlib.import_module("synth.dataset.card.rendering")
        yield Finding("packaged files", "ok", f"{len(names)} recipes, {len(prompts)} prompts")
    except (SynthError, OSError) as error:
        yield Finding("packaged files", "broken", str(error))


def _store() -> Iterator[Finding]:

    place = default_store()
    try:
        entries = Store(place).list()
        free = shutil.disk_usage(place).free
        size = sum(entry.bytes for entry in entries)
        held = f"{place}: {len(entries)} stage runs, {size / 1e6:.1f} MB; {free / 1e9:.1f} GB free"
        few = free < _LITTLE
        yield Finding("store", "broken" if few else "ok", held + (": free some, or name another disk" if few else ""))
    except (SynthError, OSError) as error:
        yield Finding("store", "broken", str(error))


def _hub() -> Iterator[Finding]:
    try:
        token_for("the Hugging Face Hub")
    except SynthError as error:
        yield Finding("push", "absent", str(error))
    else:
        yield Finding("push", "ok", "there is a token for the Hugging Face Hub")


def _prefect() -> Iterator[Finding]:
    address = os.environ.get("PREFECT_API_URL")
    if not address:
        yield Finding("prefect server", "absent", "PREFECT_API_URL names none: `--flow` starts one for each build")
        return
    try:
        with urlopen(f"{address.rstrip('/')}/health", timeout=_SECONDS):
            yield Finding("prefect server", "ok", f"{address} answers")
    except (OSError, ValueError) as error:
        yield Finding("prefect server", "broken", f"{address} does not answer: {error}")
