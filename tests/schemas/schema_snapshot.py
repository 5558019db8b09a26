"""Snapshots of the row types: a change of a table needs a new ``SCHEMA_VERSION``.

    python tests/schemas/schema_snapshot.py            compares, exit 1 when something differs
    python tests/schemas/schema_snapshot.py --write    writes; refuses when a table changed and the version did not

A snapshot holds the JSON Schema and the Arrow types of one table. Descriptions are left out: better words for a column
are no new version. A new table needs ``--write`` only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.schemas.adp import Trajectory
from synth.schemas.arrow import arrow_schema
from synth.schemas.contexts import ContextRow
from synth.schemas.delegations import HelperRunRow
from synth.schemas.difficulty import ClosedBookRow, DifficultyRow
from synth.schemas.distractors import Distractor, PlantedMisinformation
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.drafted_words import DraftedWordsRow
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.extracted import ExtractedRow
from synth.schemas.facts import EntityRow, FactRow
from synth.schemas.injected import InjectedError
from synth.schemas.judgments import JudgmentRow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.proposals import ProposalRow
from synth.schemas.rejections import Rejection
from synth.schemas.rl import RlRow
from synth.schemas.row import SCHEMA_VERSION, Row
from synth.schemas.searched import PairNotes, SearchedRow
from synth.schemas.steps import ContinuationRow, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.trees import TreeNodeRow
from synth.schemas.writing import QuestionRewriteRow, TaskReviewRow

__all__ = ["FOLDER", "ROW_TYPES", "changed", "snapshot", "write"]

ROW_TYPES: dict[str, type[Row]] = {
    "adp_trajectory": Trajectory,
    "continuations": ContinuationRow,
    "closed_book": ClosedBookRow,
    "contexts": ContextRow,
    "difficulty": DifficultyRow,
    "distractors": Distractor,
    "documents": Document,
    "drafted_words": DraftedWordsRow,
    "duplicates": DuplicateRow,
    "edges": Edge,
    "entities": Entity,
    "extracted": ExtractedRow,
    "facts": FactRow,
    "helper_runs": HelperRunRow,
    "planted_misinformation": PlantedMisinformation,
    "injected_errors": InjectedError,
    "preferences": PreferenceRow,
    "published_entities": EntityRow,
    "proposals": ProposalRow,
    "rejected": Rejection,
    "rl": RlRow,
    "pair_notes": PairNotes,
    "searched": SearchedRow,
    "steps": StepRow,
    "task_reviews": TaskReviewRow,
    "tasks": Task,
    "trajectories": TrajectoryRow,
    "tree_nodes": TreeNodeRow,
    "judgments": JudgmentRow,
    "question_rewrites": QuestionRewriteRow,
}
"""Every table, and the ADP object."""

FOLDER = Path(__file__).resolve().parent / "snapshots"


def snapshot(row_type: type[Row], version: str = SCHEMA_VERSION) -> dict[str, Any]:
    """What is frozen about a row type."""
    return {
        "schema_version": version,
        "arrow": [f"{field.name}: {_full(field.type)}" for field in arrow_schema(row_type)],
        "json_schema": _bare(row_type.model_json_schema()),
    }


def _full(kind: Any) -> str:
    """``str`` of a long struct is cut off; this is not."""
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {_full(field.type)}' for field in kind)}>"
    if pa.types.is_list(kind):
        return f"list<{_full(kind.value_type)}>"
    return str(kind)


def _bare(value: Any, names: bool = False) -> Any:
    """Without descriptions and titles, which are keywords of the schema but may be names of fields too."""
    if isinstance(value, dict):
        return {
            key: _bare(item, names=not names and key in ("properties", "$defs"))
            for key, item in value.items()
            if names or key not in ("description", "title")
        }
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value


def changed(folder: Path = FOLDER) -> dict[str, str]:
    """Table -> what is wrong, for tables that differ from their snapshot or have none; files of no table too."""
    wrong: dict[str, str] = {}
    for name, row_type in ROW_TYPES.items():
        path = folder / f"{name}.json"
        if not path.is_file():
            wrong[name] = "has no snapshot: run `python tests/schemas/schema_snapshot.py --write`"
            continue
        stored = json.loads(path.read_text(encoding="utf-8"))
        now = snapshot(row_type)
        if stored == now:
            continue
        same = {**stored, "schema_version": None} == {**now, "schema_version": None}
        if same or stored["schema_version"] != SCHEMA_VERSION:
            wrong[name] = "is of another version: run `python tests/schemas/schema_snapshot.py --write`"
        else:
            wrong[name] = f"changed, but SCHEMA_VERSION is still {SCHEMA_VERSION}: raise it in schemas/row.py"
    for path in sorted(folder.glob("*.json")):
        if path.stem not in ROW_TYPES:
            wrong[path.stem] = "is a snapshot of no table"
    return wrong


def write(folder: Path = FOLDER) -> tuple[str, ...]:
    """Bring the snapshots up to date; the names of those written.

    Raises:
        ValueError: a table changed and the version did not. Nothing is written then.
    """
    wrong = changed(folder)
    for name, what in wrong.items():
        if what.startswith("changed"):
            raise ValueError(f"{name} {what}")
    folder.mkdir(exist_ok=True)
    for name in wrong:
        path = folder / f"{name}.json"
        if name not in ROW_TYPES:
            path.unlink()
        else:
            text = json.dumps(snapshot(ROW_TYPES[name]), indent=1, sort_keys=True, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
    return tuple(wrong)


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        try:
            written = write()
        except ValueError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        sys.stdout.write(f"{len(written)} written\n")
        return 0
    if arguments:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    wrong = changed()
    for name, what in wrong.items():
        sys.stderr.write(f"{name} {what}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
