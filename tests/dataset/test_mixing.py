"""Several datasets as one: shares, what comes along, and that nothing depends on the order of rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from critical_samples import whole_tables

import synth
from synth.cli import main
from synth.dataset.audit.audit import audit
from synth.dataset.configs import config_named
from synth.dataset.key_hashes import KEYS_FILE, hashes_in, remember
from synth.dataset.layout import write_config
from synth.errors import InputError, StoreError
from synth.schemas.arrow import to_arrow
from synth.schemas.details import details_with
from synth.schemas.plans import Plan, Planned
from synth.schemas.tasks import Task

TABLES = ("tasks", "trajectories", "steps", "continuations", "preferences")


def part_of(folder: Path, first: int, last: int, *, turned: bool = False) -> Path:
    """Tasks ``first`` to ``last`` of the sample, and all that derives from them; ``turned``: in another order."""
    tables = whole_tables(20)
    ids = tables["tasks"].column("id").slice(first, last - first).combine_chunks()
    folder.mkdir(parents=True)
    for name in TABLES:
        table = tables[name]
        rows = table.filter(pc.is_in(table.column("id" if name == "tasks" else "task_id"), value_set=ids))
        if turned:
            rows = rows.take(pa.array(range(rows.num_rows - 1, -1, -1)))
        write_config(folder, config_named(name), rows.to_batches())
    return folder


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return part_of(tmp_path / "one", 0, 12), part_of(tmp_path / "two", 12, 20)


def test_shares_and_what_comes_along(two: tuple[Path, Path], tmp_path: Path) -> None:
    done = synth.mix({two[0]: 3, two[1]: 1}, tmp_path / "mix", tasks=10)
    assert [(part.dataset, part.tasks, part.weight) for part in done.report.parts] == [
        ("one", 8, 0.75),
        ("two", 2, 0.25),
    ]
    mixed = synth.load(done.path)
    ids = {task.id for task in mixed.rows("tasks")}
    assert len(ids) == 10
    for name in TABLES[1:]:
        wanted = [row.id for folder in two for row in synth.load(folder).rows(name) if row.task_id in ids]
        assert sorted(row.id for row in mixed.rows(name)) == sorted(wanted)
        assert sum(done.report.tables[name].values()) == len(wanted)
    assert synth.export(done.path, "trl-dpo", tmp_path / "out").report.source == "mix"


def test_the_order_of_rows_decides_nothing_and_the_seed_does(two: tuple[Path, Path], tmp_path: Path) -> None:
    def taken(name: str, first: Path, **options: int) -> set[str]:
        done = synth.mix({first: 0.5, two[1]: 0.5}, tmp_path / name, **options)
        return {task.id for task in synth.load(done.path).rows("tasks")}

    base = taken("a", two[0], tasks=6)
    assert taken("b", part_of(tmp_path / "turned" / "one", 0, 12, turned=True), tasks=6) == base
    assert taken("c", two[0], tasks=6, seed=8) != base
    assert taken("d", two[0], tasks=10) > base, "more tasks keep those that fewer had"


def test_the_same_bytes(two: tuple[Path, Path], tmp_path: Path, listed: Callable[[Path], dict[str, bytes]]) -> None:
    for name in ("a", "b"):
        synth.mix({two[0]: 0.5, two[1]: 0.5}, tmp_path / name)
    assert listed(tmp_path / "a") == listed(tmp_path / "b")
    assert synth.load(tmp_path / "a").count("tasks") == 16, "as many as the weights allow"


@pytest.fixture
def listed() -> Callable[[Path], dict[str, bytes]]:
    return lambda folder: {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_share_of_refusals(two: tuple[Path, Path], tmp_path: Path) -> None:
    plan = details_with(Planned(plan=Plan(outcome="refused", calls=(), rule="Nothing is told.")))
    folder = tmp_path / "refusing"
    rows = [task.model_copy(update={"details": plan}) for task in list(synth.load(two[1]).rows("tasks"))[:6]]
    rows += list(synth.load(two[1]).rows("tasks"))[6:]
    folder.mkdir()
    write_config(folder, config_named("tasks"), to_arrow(rows, Task).to_batches())
    for share, wanted in ((0.0, 0), (0.25, 2), (0.5, 4)):
        done = synth.mix({two[0]: 1, folder: 1}, tmp_path / "mix", tasks=8 if share else 4, refusals=share)
        assert [part.refusals for part in done.report.parts] == [0, wanted]
        assert sum(task.details == plan for task in synth.load(done.path).rows("tasks")) == wanted
    with pytest.raises(InputError, match=r"6 of 8 tasks can't be refusals: 2 to 4 can"):
        synth.mix({two[0]: 1, folder: 1}, tmp_path / "mix", tasks=8, refusals=0.75)


def test_a_question_is_taken_once(tmp_path: Path) -> None:
    first, second = part_of(tmp_path / "one", 0, 12), part_of(tmp_path / "two", 8, 20)
    done = synth.mix({first: 0.5, second: 0.5}, tmp_path / "mix")
    assert [part.doubled for part in done.report.parts] == [0, 4]
    tasks = [task.id for task in synth.load(done.path).rows("tasks")]
    assert len(tasks) == len(set(tasks)) == 16


def asking(folder: Path, *questions: str) -> Path:
    """Given questions, each with its answer; nothing derives from them."""
    rows = whole_tables(20)["tasks"].slice(0, len(questions))
    for name, values in (
        ("id", [f"{folder.name}-{number}" for number in range(len(questions))]),
        ("question", questions),
    ):
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, rows.schema.field(place), pa.array(values, pa.string()))
    folder.mkdir(parents=True)
    write_config(folder, config_named("tasks"), rows.to_batches())
    return folder


def test_near_questions_are_taken_once_where_that_is_asked_for(tmp_path: Path) -> None:
    first = "Which river rises below the old mill of Tarnow and ends in the lake beside the town of Brask?"
    one = asking(tmp_path / "one", first, "Who built the bridge at Orsk?")
    other = asking(tmp_path / "two", first.replace("old", "ancient"), "Where was Ada born?", "When did Mosk fall?")
    plain = synth.mix({one: 1, other: 1}, tmp_path / "plain")
    assert [part.doubled for part in plain.report.parts] == [0, 0]
    done = synth.mix({one: 1, other: 1}, tmp_path / "near", near=0.6)
    assert ([part.doubled for part in done.report.parts], done.report.near) == ([0, 1], 0.6)
    assert {task.question for task in synth.load(done.path).rows("tasks") if task.id.startswith("two")} == {
        "Where was Ada born?",
        "When did Mosk fall?",
    }
    with pytest.raises(InputError, match="is not a share of n-grams"):
        synth.mix({one: 1, other: 1}, tmp_path / "wrong", near=2)


def test_no_task_of_a_mix_overlaps_with_a_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leaked = "In which year did the ferry between Tarnow and the island of Brask stop for the last time?"
    one = asking(tmp_path / "one", "Who built the bridge at Orsk?", "Where was Ada born?")
    other = asking(tmp_path / "two", "When did Mosk fall?", leaked, "Who wrote the song of Ferns?")
    benchmark = tmp_path / "held-out.jsonl"
    benchmark.write_text(json.dumps({"question": leaked.upper(), "answer": "1903"}) + "\n")
    unscreened = synth.mix({one: 1, other: 1.5}, tmp_path / "unscreened")
    audited = audit(unscreened.path, benchmarks=[benchmark])
    assert [one.id for one in audited.violations if one.rule == "benchmark"] == ["two-1"]
    main(["mix", f"{one}=1", f"{other}=1", "--benchmark", str(benchmark), "--out", str(tmp_path / "mix")])
    assert "1 overlap with a benchmark" in capsys.readouterr().out
    assert leaked not in {task.question for task in synth.load(tmp_path / "mix").rows("tasks")}
    assert not [one for one in audit(tmp_path / "mix", benchmarks=[benchmark]).violations if one.rule == "benchmark"]
    told = json.loads((tmp_path / "mix/mix.json").read_text())
    assert told["benchmarks"] == {"held-out.jsonl": hashlib.sha256(benchmark.read_bytes()).hexdigest()}
    assert [part["contaminated"] for part in told["parts"]] == [0, 1]


def test_mistakes(two: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = two
    with pytest.raises(InputError, match=r"two has 8 tasks to take, and its share is 10. Give --tasks 16 or fewer"):
        synth.mix({one: 1, other: 1}, tmp_path / "mix", tasks=20)
    with pytest.raises(InputError, match="a mix needs two"):
        synth.mix({one: 1}, tmp_path / "mix")
    with pytest.raises(InputError, match="is not a weight"):
        synth.mix({one: 1, other: 0}, tmp_path / "mix")
    with pytest.raises(InputError, match="too few to mix"):
        synth.mix({one: 1, other: 1}, tmp_path / "mix", tasks=1)
    with pytest.raises(StoreError, match="left alone"):
        synth.mix({one: 1, other: 1}, one)
    for wrong in (str(one), f"{one}=much"):
        with pytest.raises(SystemExit) as end:
            main(["mix", wrong, f"{other}=1", "--out", str(tmp_path / "mix")])
        assert end.value.code == 2
        assert "write each DIR=WEIGHT" in capsys.readouterr().err.replace("Write", "write")
    assert not (tmp_path / "mix").exists()
    main(["mix", f"{one}=1", f"{other}=1", "--tasks", "4", "--out", str(tmp_path / "mix")])
    assert "2 of two (50.0 %, of 8)" in capsys.readouterr().out


def test_a_mix_remembers_the_keys_of_all_its_datasets(two: tuple[Path, Path], tmp_path: Path) -> None:
    keys = ["wX4-tR9b-Lq7e-Zm2c", "0sYf-Pk3n-Vd8a-Hj5u", "other-key-of-nothing"]
    for folder, key in zip(two, keys, strict=False):
        remember(folder, [key])
    done = synth.mix({two[0]: 0.5, two[1]: 0.5}, tmp_path / "mix")
    known = hashes_in(done.path)
    assert known is not None
    assert [known.holds(f"I was called with {key}.".encode()) for key in keys] == [True, True, False]
    assert list(known.places(b"x" * 7 + keys[1].encode())) == [7]
    assert (done.path / KEYS_FILE).stat().st_mode & 0o777 == 0o600
