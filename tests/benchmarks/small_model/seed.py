"""One seed of ``gpu_plan.md``: from the teacher's runs to the figures of every arm, each written when it is there.

    python seed.py --seed 1 --port 8101 --model FOLDER --data FOLDER --out FOLDER [--sizes tasks=8,test=6]

``--data`` holds what was built before: ``x-teacher-*-SEED`` (exports ``trl-sft``) and ``test-*`` (finished datasets).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import gc
import json
import os
import runpy
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import torch
import yaml
from pyarrow import parquet

HERE = Path(__file__).resolve().parent
FINETUNE = HERE.parents[2] / "docs" / "guides" / "finetune.py"
SIZES = {"tasks": 140, "test": 160, "rows": 640, "slots": 96, "length": 3072, "batch": 8, "turns": 10, "base": 0}
ACTING = {  # what the policy works on: as taught, and (paged) where it needs a skill that no run demonstrated
    "graph": {
        "source": {"kind": "world", "entities": 600},
        "questions": {
            "shapes": {"composition": 0.6, "conjunction": 0.2, "comparison": 0.2},
            "hops": {1: 0.4, 2: 0.4, 3: 0.2},
        },
        "environment": {"kind": "graph", "default_k": 2},
    },
    "search": {
        "source": {"kind": "world", "entities": 600},
        "questions": {"shapes": {"composition": 1}, "hops": {1: 0.6, 2: 0.4}},
        "environment": {"kind": "search"},
    },
}
ACTING["paged"] = {**ACTING["graph"], "environment": {"kind": "graph", "default_k": 2, "page_size": 3}}
GROUPS = {"taught": ("graph", "search"), "paged": ("paged",)}
TESTS = {
    "graph": ("graph", {}),
    "search": ("search", {}),
    "paged": ("graph", {"environment.page_size": 3}),
    "manual": ("manual", {}),
}
ARMS = {
    "corrections-paged": ("paged", "graph"),
    "rft-paged": ("paged", "graph"),
    "corrections-taught": ("graph", "search"),
    "rft-taught": ("graph", "search"),
    "demonstrations-paged": ("paged", "graph"),
}


class Chain:
    def __init__(self, given: argparse.Namespace, sizes: Mapping[str, int]):
        self.seed, self.out, self.data, self.sizes = given.seed, given.out, given.data, sizes
        self.base, self.port, self.begun = given.model, given.port, time.monotonic()
        self.copy: Path | None = given.copy
        self.found: dict[str, Any] = {"seed": given.seed, "sizes": dict(sizes), "seconds": {}, "test": {}, "arms": {}}
        self.out.mkdir(parents=True, exist_ok=True)

    def write(self, moment: str) -> None:
        self.found["seconds"][moment] = round(time.monotonic() - self.begun, 1)
        half = self.out / "found.half"
        half.write_text(json.dumps(self.found))
        half.rename(self.out / "found.json")
        if self.copy is not None:
            shutil.copy(self.out / "found.json", self.copy / f"found-{self.seed}.json")
        print(f"{self.found['seconds'][moment]:7.1f} s  seed {self.seed}: {moment}", flush=True)

    def synth(self, *words: object, name: str) -> None:
        command = [sys.executable, "-c", "from synth.cli import main; main()", *map(str, words)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2", "CUDA_VISIBLE_DEVICES": ""}
        with (self.out / f"{name}.log").open("w") as log:
            done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
        said = (self.out / f"{name}.log").read_text()
        if done.returncode and "nothing is left to export" not in said:
            raise SystemExit(f"{name}: {said[-1500:]}")

    def serve(self) -> subprocess.Popen[bytes]:
        code = (
            f"import sys; sys.path.insert(0, {str(HERE)!r}); from server import serve; "
            f"serve({self.port}, {{}}, slots={self.sizes['slots']}, length={self.sizes['length']}).serve_forever()"
        )
        log = (self.out / "server.log").open("w")
        return subprocess.Popen([sys.executable, "-c", code], stdout=log, stderr=subprocess.STDOUT)

    def load(self, name: str, folder: Path | str, unload: str | None = None) -> None:
        body = json.dumps({"name": name, "folder": str(folder), "unload": unload}).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}/load", body, {"Content-Type": "application/json"})
        for _ in range(240):
            try:
                urllib.request.urlopen(asked, timeout=120).read()
                return
            except (ConnectionError, urllib.error.URLError):
                time.sleep(0.5)
        raise SystemExit("the server does not answer")

    def train(self, start: Path | str, rows: Sequence[Path], out: Path, *options: object) -> None:
        if (out / "model.safetensors").is_file():
            return
        kept = sys.argv
        sys.argv = ["finetune.py", *map(str, (start, *rows, out, "--batch", self.sizes["batch"], "--seed", self.seed))]
        sys.argv += [*map(str, options)]
        try:
            runpy.run_path(str(FINETUNE), run_name="__main__")
        finally:
            sys.argv = kept
        gc.collect()
        torch.cuda.empty_cache()
        log = next(iter(sorted((out / "checkpoints").glob("*/trainer_state.json"))), None)
        losses = [one["loss"] for one in json.loads(log.read_text())["log_history"] if "loss" in one] if log else []
        self.found["arms"].setdefault(out.name, {})["losses"] = losses
        shutil.rmtree(out / "checkpoints")  # two gigabytes

    def acting(self, kind: str, *, search: bool) -> dict[str, Any]:
        """The recipe of the policy's own runs; without ``search`` the same tasks, drawn again."""
        recipe = ACTING[kind]
        name = f"{'mine' if search else 'more'}-{kind}"
        limits = {"alternatives": 1, "second_look": 0, "draws": 0, "max_more": 5, "max_turns": self.sizes["turns"]}
        return {
            **recipe,
            "name": name,
            "tasks": self.sizes["tasks"],
            "source": {**recipe["source"], "seed": {"graph": 210, "search": 220, "paged": 230}[kind] + self.seed},
            "questions": {"kind": "world", "obfuscation": {0: 1}, **recipe["questions"]},
            "limits": {"max_turns": self.sizes["turns"]},
            "roles": {
                "teacher": {"backend": "scripted", "options": {"detour": 0, "verify": 0}},
                "policy": {
                    "backend": "openai",
                    "model": "sft",
                    "base_url": f"http://127.0.0.1:{self.port}/v1",
                    "sampling": {"temperature": 0.7, "max_tokens": 128},
                    "concurrency": 48,
                },
            },
            "critical": {"successes": False, "search": {**limits, "step_budget": 8, "trajectory_budget": 16}}
            if search
            else None,
            "difficulty": None,
            "contexts": None,
            "distractors": None,
            "preferences": {"fill": 0} if search else None,
            "rl": False,
        }

    def collect(self, kind: str, *, search: bool) -> None:
        recipe = self.acting(kind, search=search)
        name = recipe["name"]
        path = self.out / f"{name}.yaml"
        path.write_text(yaml.safe_dump(recipe, sort_keys=False))
        self.synth(
            "build", "--recipe", path, "--out", self.out / name, "--store", self.out / f"store-{name}", name=name
        )
        self.export(name, "trl-rft")
        if search:
            self.export(name, "trl-corrections")
            self.export(name, "trl-rft", "role=teacher")
        calls: dict[str, int] = {}
        for stage in json.loads((self.out / name / "report.json").read_text())["stages"]:
            for use in stage["models"]:
                calls[stage["stage"]] = calls.get(stage["stage"], 0) + use["calls"]
        runs = self.runs(self.out / name)
        self.found["arms"][name] = {"calls": calls, "runs": runs.height, "right": int(runs["success"].sum())}

    def export(self, name: str, form: str, *select: str) -> None:
        to = f"{name}-{'teacher' if select else form}"
        words = [word for one in select for word in ("--select", one)]
        self.synth("export", self.out / name, "--to", form, "--no-thoughts", "--out", self.out / to, *words, name=to)

    def runs(self, folder: Path) -> pl.DataFrame:
        """One row a task; a run that was rejected (cut off, unreadable) is a failure of unknown turns."""
        tasks = pl.read_parquet(str(folder / "tasks" / "*.parquet"), columns=["id"]).rename({"id": "task_id"})
        columns = ["id", "task_id", "role", "success", "turns", "stop_reason"]
        paths = sorted((folder / "trajectories").glob("*.parquet"))
        kept = pl.concat([pl.read_parquet(path, columns=columns) for path in paths]) if paths else None
        if kept is None:
            nothing = {"id": pl.String, "success": pl.Boolean, "turns": pl.Int64, "stop_reason": pl.String}
            kept = pl.DataFrame(schema={**nothing, "task_id": pl.String, "role": pl.String})
        kept = kept.filter(pl.col("role") == "policy").drop("role")
        return (
            tasks.join(kept, on="task_id", how="left").with_columns(pl.col("success").fill_null(False)).sort("task_id")
        )

    def evaluate(self, name: str, test: str) -> None:
        dataset, settings = TESTS[test]
        words: list[object] = [
            "evaluate",
            self.data / f"test-{dataset}",
            "--split",
            "all",
            "--tasks",
            self.sizes["test"],
        ]
        words += ["--model", f"{name}@http://127.0.0.1:{self.port}/v1", "--trust"]
        words += ["--out", self.out / f"eval-{name}-{test}", "--store", self.out / f"store-{name}-{test}"]
        fixed = {"roles.policy.sampling.temperature": 0, "roles.policy.sampling.max_tokens": 128}
        fixed["roles.policy.concurrency"] = 48
        for key, value in {**fixed, "limits.max_turns": self.sizes["turns"], **settings}.items():
            words += ["--set", f"{key}={value}"]
        self.synth(*words, name=f"eval-{name}-{test}")
        (folder,) = (self.out / f"eval-{name}-{test}" / "runs").iterdir()
        runs = self.runs(folder)
        rows = runs.select("task_id", "success", "turns", "stop_reason").rows()
        figures = json.loads((self.out / f"eval-{name}-{test}" / "evaluation.json").read_text())
        self.found["test"].setdefault(name, {})[test] = {"runs": rows, "figures": figures["candidates"][0]}
        self.write(f"{name} on {test}: {int(runs['success'].sum())} of {runs.height}")

    def rows(self, arm: str, group: str) -> list[Path]:
        """The exports that an arm learns from; RFT gets further runs for the replies that the search took."""
        folders = []
        for kind in GROUPS[group]:
            mine = self.out / f"mine-{kind}"
            folders.append(self.out / f"mine-{kind}-trl-rft")
            note = self.found["arms"][f"mine-{kind}"]
            spent = note["calls"]
            rolled = spent.get("rollouts", 0)
            budget = sum(spent.values()) - rolled
            if arm == "corrections":
                folders.append(self.out / f"mine-{kind}-trl-corrections")
                continue
            to = self.out / f"{arm}-{kind}-rows"
            if arm == "rft":
                kept, used = set(), 0
                more = self.runs(self.out / f"more-{kind}").sample(fraction=1.0, shuffle=True, seed=self.seed)
                gone = more["turns"].null_count()
                whole = sum(self.found["arms"][f"more-{kind}"]["calls"].values())
                cut = round((whole - more["turns"].sum()) / gone) if gone else 0
                for identity, turns in more.select("id", "turns").rows():
                    if used >= budget:
                        break
                    used += cut if turns is None else turns
                    kept.add(identity)
                note["replies"] = {"runs": rolled, "search": budget, "further runs": used}
                self.keep(self.out / f"more-{kind}-trl-rft", to, "id", kept)
            else:
                failed = set(self.runs(mine).filter(~pl.col("success"))["task_id"])
                self.keep(self.out / f"mine-{kind}-teacher", to, "task_id", failed)
            folders.append(to)
        return [folder for folder in folders if any(folder.glob("*.parquet"))]

    def keep(self, export: Path, to: Path, column: str, wanted: set[str]) -> None:
        to.mkdir(exist_ok=True)
        for path in export.glob("train-*.parquet"):
            rows = parquet.read_table(path)
            chosen = rows.filter(pc.is_in(rows[column], pa.array(sorted(wanted), pa.string())))
            if chosen.num_rows:
                parquet.write_table(chosen, to / path.name)

    def run(self) -> None:
        server = self.serve()
        try:
            self._run()
        finally:
            server.terminate()

    def _run(self) -> None:
        exports = sorted(self.data.glob(f"x-teacher-*-{self.seed}"))
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            if self.sizes["base"]:
                self.load("base", self.base)
                base = [pool.submit(self.evaluate, "base", test) for test in ("graph", "search", "manual")]
            else:
                self.load("", "")
                base = []
            own: dict[str, list[concurrent.futures.Future[None]]] = {}
            for group in ("paged", "taught"):
                jobs = ((kind, search) for search in (True, False) for kind in GROUPS[group])
                own[group] = [pool.submit(self.collect, kind, search=search) for kind, search in jobs]
            tests = [pool.submit(self.evaluate, "sft", test) for test in TESTS]
            self.train(self.base, exports, self.out / "sft", "--rows", self.sizes["rows"])
            self.write("sft trained")
            for job in base:
                job.result()
            self.load("sft", self.out / "sft", unload="base")
            before = "sft"
            for name, on in ARMS.items():
                arm, group = name.split("-")
                for job in own[group]:
                    job.result()
                self.write(f"{group} collected")
                rows = self.rows(arm, group)
                counts = {one.name: datasets.load_dataset(str(one), split="train").num_rows for one in rows}
                self.found["arms"][name] = {"rows": counts}
                following = [pool.submit(self.evaluate, name, test) for test in on]
                self.train(self.out / "sft", rows, self.out / name, "--rate", 1e-4, "--epochs", 2)
                self.write(f"{name} trained")
                for job in (*tests, *own["taught"]):
                    job.result()
                self.load(name, self.out / name, unload=before)
                before, tests = name, following
            for job in tests:
                job.result()
        self.write("done")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--copy", type=Path, help="a folder that gets found-SEED.json whenever it grows")
    parser.add_argument("--sizes", default="", help="such as tasks=8,test=6")
    given = parser.parse_args()
    changed = dict(one.split("=") for one in given.sizes.split(",") if one)
    Chain(given, {**SIZES, **{key: int(value) for key, value in changed.items()}}).run()


if __name__ == "__main__":
    main()
