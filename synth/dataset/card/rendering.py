"""The dataset card: front matter and text, every number of it from the build's report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache, partial
from importlib.resources import files
from typing import Any

import jinja2
import pyarrow as pa
import yaml

from synth.dataset.card.counts import ranked
from synth.dataset.card.figures import TITLES, figures
from synth.dataset.configs import CONFIGS, SPLITS, Config, columns
from synth.dataset.files import COLUMNS, PLOTS, RECIPE_FILE
from synth.dataset.licences import licence_of_dataset
from synth.dataset.usage import filled, usage
from synth.identity import canonical_json
from synth.schemas.arrow import arrow_schema, parquet_json_columns
from synth.schemas.rejections import Reason
from synth.schemas.reports import BuildReport, OutcomeReport

__all__ = ["beside_card", "card_text", "front_matter", "render_card"]

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)


def render_card(report: BuildReport) -> str:
    """The text of README.md: the same report gives the same bytes."""
    matter = front_matter(report)
    for info in matter["dataset_info"]:
        info["features"] = _Short(info["features"])
    head = yaml.dump(matter, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    return f"---\n{head}---\n\n{card_text(report)}"


def beside_card(report: BuildReport) -> dict[str, str]:
    """Path inside the dataset folder -> text of what the card shows and does not hold: plots, lists of columns, the
    recipe."""
    drawn = {f"{PLOTS}/{name}.svg": svg for name, svg in figures(report).items()}
    page = _environment().get_template("columns.md.j2")
    if report.recipe:
        drawn[RECIPE_FILE] = yaml.dump(report.recipe, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=110)
    return drawn | {
        f"{COLUMNS}/{table['name']}.md": page.render(table=table).strip() + "\n" for table in _context(report)["tables"]
    }


class _Short(list[Any]):
    """A list that YAML writes in one line, with all that is in it: features take a third of what they take else."""


_Dumper: Any = type("_Dumper", (getattr(yaml, "CSafeDumper", yaml.SafeDumper),), {})
"""YAML's writer in C, where there is one: it is four times as fast."""
_Dumper.add_representer(
    _Short, lambda dumper, value: dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)
)


def card_text(report: BuildReport) -> str:
    """The card below its front matter."""
    environment = _environment()
    context = _context(report)
    there = {file.name for file in files("synth").joinpath("data_cards").iterdir()}
    prose = f"{report.dataset}.md" if f"{report.dataset}.md" in there else "other.md"
    context["prose"] = environment.get_template(prose).render(context).strip()
    return environment.get_template("card.md.j2").render(context).strip() + "\n"


def front_matter(report: BuildReport) -> dict[str, Any]:
    """What the Hub reads: configs with their files, features, sizes, licence, language, tags."""
    licence = licence_of_dataset(report)
    matter: dict[str, Any] = {"pretty_name": report.title or report.dataset, "license": licence.id}
    if licence.name:
        matter["license_name"] = licence.name
    matter["language"] = list(report.languages)
    matter["task_categories"] = ["question-answering", "text-generation"]
    matter["size_categories"] = [_size(sum(report.tables.get("trajectories", {}).values()))]
    matter["tags"] = ["synthetic", "agent-traces", "agent-data-protocol", "tool-use", "multi-hop", *_tags(report)]
    full = [config for config in CONFIGS if report.tables.get(config.name)]
    matter["configs"] = [
        {
            "config_name": config.name,
            **({"default": True} if config.name == "trajectories" else {}),
            "data_files": [
                {"split": split, "path": f"{config.name}/{split}-*.parquet"} for split in _splits(report, config)
            ],
        }
        for config in full
    ]
    matter["dataset_info"] = [
        {
            "config_name": config.name,
            "features": [_feature(field) for field in arrow_schema(config.row_type)],
            # With these, ``load_dataset`` refuses a copy of the dataset that lacks rows.
            "splits": [
                {
                    "name": split,
                    "num_bytes": report.sizes[config.name][split].uncompressed_bytes,
                    "num_examples": rows,
                }
                for split, rows in _splits(report, config).items()
            ],
            "download_size": sum(size.bytes for size in report.sizes[config.name].values()),
            "dataset_size": sum(size.uncompressed_bytes for size in report.sizes[config.name].values()),
        }
        for config in full
    ]
    return matter


def _splits(report: BuildReport, config: Config) -> dict[str, int]:
    """Rows by split in the order of the config: that of the report is lost in ``report.json``."""
    rows = report.tables.get(config.name, {})
    return {split: rows[split] for split in config.splits if split in rows}


def _tags(report: BuildReport) -> Iterator[str]:
    if report.source.fictional:
        yield "fictional-world"
    if report.roles and all(role.backend == "scripted" for role in report.roles):
        yield "scripted-agents"


def _size(rows: int) -> str:
    return next((name for limit, name in _SIZES if rows < limit), "n>100M")


_DTYPES = {"double": "float64"}


def _feature(field: pa.Field) -> dict[str, Any]:
    """A feature as ``datasets`` writes it into a card."""
    kind = field.type
    if pa.types.is_struct(kind):
        return {"name": field.name, "struct": [_feature(child) for child in kind]}
    if pa.types.is_list(kind):
        inner = _feature(pa.field("item", kind.value_type))
        nested = {"list": inner["list"]} if "list" in inner else inner.get("struct") or inner["dtype"]
        return {"name": field.name, "list": nested}
    return {"name": field.name, "dtype": _DTYPES.get(str(kind), str(kind))}


def _context(report: BuildReport) -> dict[str, Any]:
    tables: list[dict[str, Any]] = [
        {
            "name": config.name,
            "summary": config.summary,
            "splits": _splits(report, config),
            "rows": sum(report.tables.get(config.name, {}).values()),
            "columns": columns(config.row_type),
            "json": parquet_json_columns(config.row_type),
        }
        for config in CONFIGS
    ]
    return {
        "report": report,
        "title": report.title or report.dataset,
        "tables": [table for table in tables if table["rows"]],
        "empty": [table["name"] for table in tables if not table["rows"]],
        "fractions": {split: report.split_fractions[split] for split in SPLITS if split in report.split_fractions},
        "rows": {table["name"]: table["rows"] for table in tables},
        "roles": _roles(report),
        "scripted": sorted({role.role for role in report.roles if role.backend == "scripted"}),
        "modelled": [role for role in report.roles if role.backend != "scripted"],
        "hops": _by_hops(report),
        "yields": report.task_yields,
        "ranks": ranked(report.task_yields),
        "labels": report.labels,
        "critical": report.critical,
        "pairs": report.pairs,
        "contexts": report.contexts,
        "variety": report.variety,
        "difficulty": report.difficulty,
        "models": report.model_uses(),
        "plots": [(name, TITLES[name]) for name in figures(report)],
        "written_by": _written_by(report),
        "compared": any("contamin" in stage.stage for stage in report.stages),
        "reasons": [(reason.value, reason.sentence, count) for reason, count in _reasons(report)],
        "licence": licence_of_dataset(report),
        "how_to": partial(_how_to, report),
    }


def _how_to(report: BuildReport, name: str, folder: str, table: str) -> str:
    """The block of code that the card of an export of ``table`` in this format shows."""
    shown = filled(usage(name), report.dataset, folder, report.tables.get(table, {}))
    return shown[: shown.index("\n```\n") + 4].replace("DATASET", "PATH")


def _written_by(report: BuildReport) -> list[str]:
    """Models whose words or choices are in the rows, as the report names them."""
    roles = (report.recipe.get("roles") or {}).values()
    named = {role.get("model") for role in roles if isinstance(role, dict)}
    named |= {role.model for role in report.roles} | {use.model for use in report.model_uses()}
    return sorted(name for name in named if isinstance(name, str))


def _total(outcomes: list[OutcomeReport]) -> dict[str, float]:
    tries = sum(outcome.trajectories for outcome in outcomes)
    rows = max(1, tries)
    names = ("successes", "abstained", "turns", "tool_calls", "retries", "retry_successes")
    sums = {name: sum(getattr(outcome, name) for outcome in outcomes) for name in names}
    return {
        "trajectories": tries,
        "retries": sums["retries"],
        "retry_successes": sums["retry_successes"],
        "successes": sums["successes"],
        "abstained": sums["abstained"],
        "success": sums["successes"] / rows,
        "turns": sums["turns"] / rows,
        "tool_calls": sums["tool_calls"] / rows,
    }


def _roles(report: BuildReport) -> list[dict[str, Any]]:
    grouped: dict[str, list[OutcomeReport]] = defaultdict(list)
    for outcome in report.outcomes:
        grouped[outcome.role].append(outcome)
    about = {role.role: role for role in report.roles}
    return [{"role": role, "about": about.get(role), **_total(grouped[role])} for role in sorted(grouped)]


def _by_hops(report: BuildReport) -> list[dict[str, Any]]:
    return [{"role": outcome.role, "hops": outcome.hops, **_total([outcome])} for outcome in report.outcomes]


def _reasons(report: BuildReport) -> list[tuple[Reason, int]]:
    counts: dict[str, int] = defaultdict(int)
    for stage in report.stages:
        for reason, count in stage.rejected.items():
            counts[reason] += count
    return [(reason, counts[reason.value]) for reason in Reason if counts[reason.value]]


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Markdown: table cells go through a filter
    )
    environment.filters["cell"] = _cell
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.filters["percent"] = lambda value: f"{100 * value:.1f} %"
    environment.filters["json"] = canonical_json
    return environment


def _source(name: str) -> str:
    return files("synth").joinpath("data_cards", name).read_text(encoding="utf-8")


def _cell(value: object) -> str:
    """Text that can't break out of a table's cell."""
    text = " ".join(str(value).split()).replace("|", "\\|")
    parts = text.split("`")
    for place in range(0, len(parts), 2):  # code spans, between backticks, show characters as they are
        parts[place] = parts[place].replace("<", "&lt;")
    return "`".join(parts)
