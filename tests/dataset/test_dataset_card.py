"""The card: its numbers come from the report, the same report gives the same bytes, and it claims nothing more."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from exporter_samples import sample_report, sample_tables
from huggingface_hub import DatasetCard

from synth.dataset.card.rendering import beside_card, front_matter, render_card
from synth.dataset.configs import CONFIGS, columns
from synth.dataset.licences import licence_of
from synth.dataset.usage import filled
from synth.registry import choices, find
from synth.schemas.arrow import arrow_schema
from synth.schemas.difficulty import DifficultyReport, ReliabilityBin, TargetReport
from synth.schemas.preferences import PairKind
from synth.schemas.reports import (
    BuildReport,
    CriticalReport,
    LabelReport,
    ModelUse,
    OutcomeReport,
    PairReport,
    RoleReport,
    RunUse,
    SourceReport,
    SplitSize,
    StageReport,
)
from synth.schemas.row import SCHEMA_VERSION


def report(**changes: Any) -> BuildReport:
    """A report as the exporter completes it."""
    size = SplitSize(files=1, bytes=1, uncompressed_bytes=2)
    values: dict[str, Any] = {
        "tables": {"tasks": {"train": 1_234_567}, "trajectories": {"train": 98_765, "test": 4_321}, "documents": {}},
        "sizes": {"tasks": {"train": size}, "trajectories": {"train": size, "test": size}},
        "outcomes": (
            OutcomeReport(
                role="policy", hops=2, trajectories=400, successes=100, abstained=7, turns=2_000, tool_calls=1_600
            ),
            OutcomeReport(
                role="policy", hops=3, trajectories=600, successes=50, abstained=0, turns=6_000, tool_calls=5_400
            ),
        ),
        "document_licences": {"CC0-1.0": 3},
        **changes,
    }
    return sample_report(sample_tables(5, 2), **values)


def test_the_hub_reads_the_front_matter() -> None:
    card = DatasetCard(render_card(report()))
    assert card.data.license == "cc0-1.0"
    assert card.data.language == ["en"]
    assert {"synthetic", "agent-traces", "scripted-agents", "fictional-world"} <= set(card.data.tags)
    assert card.data.size_categories == ["100K<n<1M"]
    assert [config["config_name"] for config in card.data.configs] == ["tasks", "trajectories"]


@pytest.mark.parametrize(
    ("rows", "name"), [(0, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (10**6, "1M<n<10M"), (10**9, "n>100M")]
)
def test_size_categories(rows: int, name: str) -> None:
    sizes = {"trajectories": {"train": SplitSize(files=1, bytes=1, uncompressed_bytes=1)}}
    made = report(tables={"trajectories": {"train": rows}} if rows else {}, sizes=sizes)
    assert front_matter(made)["size_categories"] == [name]


def test_features_are_those_of_the_files() -> None:
    from datasets import Features

    for info in front_matter(report())["dataset_info"]:
        schema = arrow_schema(next(config.row_type for config in CONFIGS if config.name == info["config_name"]))
        assert Features._from_yaml_list(info["features"]).arrow_schema.remove_metadata() == schema.remove_metadata()


def test_numbers_come_from_the_report() -> None:
    card = render_card(report())
    assert "| tasks | 1,234,567 |" in card
    assert "| trajectories | train | 98,765 |" in card
    assert "| policy | 1,000 | 150 | 15.0 % | 7 | 8.00 | 7.00 | no |" in card
    assert "| policy | 3 | 600 | 8.3 % | 10.00 |" in card
    assert "| tasks | tasks v1 | 7 | 5 | 2 | 0 |" in card
    assert "| `shortcut` | 2 |" in card
    assert "train 60.0 %, validation 20.0 %, test 20.0 %." in card


def test_model_calls_by_role_over_all_stages() -> None:
    def stage(label: str, *models: ModelUse) -> StageReport:
        return StageReport(
            label=label,
            stage="rollouts",
            version=1,
            fingerprint="f",
            rows_in=0,
            kept=0,
            models=models,
            run=RunUse(calls=9),
        )

    teacher = ModelUse(
        role="teacher",
        model="big|one",
        calls=1_200,
        prompt_tokens=90_000,
        cached_tokens=5,
        completion_tokens=7,
        cost=1.25,
    )
    policy = ModelUse(role="policy", model="small", calls=3, uncounted_calls=2, prompt_tokens=4, completion_tokens=5)
    made = report(stages=(stage("teacher-rollouts", teacher), stage("critical-steps", policy, teacher)))
    card = render_card(made)
    assert "| teacher | big\\|one | 2,400 | 180,000 | 10 | 14 | 2.5000 |" in card
    assert "| policy | small | 3 | 4 | 0 | 5 | - |" in card
    assert "For 2 of the calls the server did not say" in card
    assert "Model calls behind these rows" not in render_card(report())
    assert '"run"' not in made.to_json()
    assert BuildReport.model_validate_json(made.to_json()).model_uses() == made.model_uses()


def test_numbers_of_labels_critical_steps_and_pairs() -> None:
    card = render_card(
        report(
            labels=(
                LabelReport(
                    role="policy",
                    trajectories=300,
                    steps=2_010,
                    helps=1_000,
                    neutral=600,
                    harms=400,
                    unmeasured=10,
                    first_errors=280,
                    targets=900,
                ),
            ),
            critical=(
                CriticalReport(
                    role="policy",
                    outcome="failed",
                    trajectories=300,
                    steps=2_000,
                    tried=500,
                    verified=250,
                    continuations=9_000,
                    pairs=240,
                ),
                CriticalReport(
                    role="policy",
                    outcome="succeeded",
                    trajectories=10,
                    steps=50,
                    tried=0,
                    verified=0,
                    continuations=0,
                    pairs=0,
                ),
            ),
            pairs=(
                PairReport(
                    kind=PairKind.VERIFIED_STEP,
                    family="a | b",
                    pairs=240,
                    same_kind=100,
                    earliest=150,
                    recoveries=90,
                    selected=100,
                ),
            ),
        )
    )
    assert "| policy | 300 | 2,010 | 1,000 (50.0 %) | 600 (30.0 %) | 400 (20.0 %) | 10 | 280 | 900 (44.8 %) |" in card
    assert "| policy | failed | 300 | 2,000 | 500 | 250 | 12.5 % | 9,000 | 240 | 37.5 |" in card
    assert "| policy | succeeded | 10 | 50 | 0 | 0 | 0.0 % | 0 | 0 | - |" in card
    assert "| `verified_step` | a \\| b | 240 | 100 | 150 | 90 | 100 |" in card


def of_difficulty(**changes: Any) -> DifficultyReport:
    values: dict[str, Any] = {
        "tasks": 1_000,
        "bins": (
            ReliabilityBin(
                low=0.3,
                high=0.4,
                tasks=1_000,
                rollouts=4_000,
                predicted=0.351,
                measured=0.349,
                measured_low=0.33,
                measured_high=0.37,
            ),
        ),
        "error": 0.002,
        "brier": 0.2101,
        "brier_of_mean": 0.2272,
        "auc": 0.66,
        "closed_book": 0.051,
        "search_needed": 0.999,
        "chosen": 200,
        **changes,
    }
    return DifficultyReport(**values)


def test_numbers_of_difficulty_and_of_the_curriculum() -> None:
    card = render_card(report(difficulty=of_difficulty()))
    assert "| 0.3 to 0.4 | 1,000 | 4,000 | 35.1 % | 34.9 % | 33.0 % to 37.0 % |" in card
    assert "| AUC | 0.660 |" in card
    assert "| right answers without tools | 5.1 % |" in card
    assert "hardly tells these tasks apart" in card
    assert "no better than the mean" not in card
    assert "goes from easy to hard" in card
    assert "share asked for" not in card
    target = TargetReport(low=0.2, high=0.4, share=0.3, tasks=60)
    card = render_card(report(difficulty=of_difficulty(targets=(target,), brier=0.2272, auc=None)))
    assert "| 0.2 to 0.4 | 30.0 % | 60 | 30.0 % |" in card
    assert "| AUC | - |" in card
    assert "no better than the mean" in card


def test_what_search_needed_tells_depends_on_who_was_asked_about_what() -> None:
    source = SourceReport(name="manual", kind="docs", sha256="f" * 64)
    scripted = render_card(report(difficulty=of_difficulty(), source=source))
    assert "| tasks that need search (`search_needed`) | 99.9 % |" in scripted
    assert "hardly tells these tasks apart" not in scripted
    assert "where the policy is a language model" in scripted
    model = RoleReport(role="policy", backend="openai", model="some-model")
    modelled = render_card(report(difficulty=of_difficulty(), source=source, roles=(model,)))
    assert "tells" not in modelled.split("How hard the tasks are")[1].split("## Tables")[0].split("The curriculum")[0]


def test_a_dataset_without_them_does_not_speak_of_them() -> None:
    text = render_card(report()).split("\n---\n", 1)[1].split("## Tables")[0]
    for word in (
        "Critical",
        "Labels of steps",
        "preference pairs",
        "pairs of kind",
        "How hard",
        "| steps |",
        "| continuations |",
    ):
        assert word not in text


def test_values_of_enums_are_explained() -> None:
    pages = beside_card(report(tables={config.name: {config.splits[0]: 1} for config in CONFIGS}, sizes=_sizes()))
    steps = pages["columns/steps.md"]
    assert "Values of `label_reason`:\n\n* `progress`: New evidence of the task came into view" in steps
    assert "* `ending.late`: Had no turn left to end with." in steps
    assert "* `shortcut`: A part of the question is enough to find the answer." in pages["columns/rejected.md"]
    for config in CONFIGS:
        for column in columns(config.row_type):
            assert all(text for _, text in column.values), column


def test_every_number_of_the_text_follows_the_report() -> None:
    """No number of a row, a rate or a stage is written into the template or the prose."""
    text = render_card(report()).split("\n---\n", 1)[1]
    text = re.sub(r"```.*?```|`[^`]*`|https?://\S+", " ", text, flags=re.S)
    numbers = set(re.findall(r"\d[\d,.]*\d|\d", text))
    empty = render_card(report(tables={}, sizes={}, outcomes=(), stages=(), split_fractions={}, source=source()))
    empty = re.sub(r"```.*?```|`[^`]*`|https?://\S+", " ", empty.split("\n---\n", 1)[1], flags=re.S)
    left = set(re.findall(r"\d[\d,.]*\d|\d", empty))
    assert "98,765" in numbers
    # Seed and schema version, zero rows, generation 2 of ADP, sha256, the licence's name.
    assert left == {"7", SCHEMA_VERSION, "0", "2", "256", "1.0"}


def source(**changes: Any) -> SourceReport:
    return SourceReport(**{"name": "mine", "kind": "docs", "sha256": "a" * 64, **changes})


def test_the_same_report_gives_the_same_bytes_whatever_the_run() -> None:
    made = report()
    again = BuildReport.model_validate_json(made.to_json())
    assert render_card(again) == render_card(made)
    slower = made.model_copy(
        update={"stages": tuple(stage.model_copy(update={"seconds": 9e9, "reused_shards": 5}) for stage in made.stages)}
    )
    assert render_card(slower) == render_card(made)


def test_a_script_is_called_a_script() -> None:
    assert "A script wrote these trajectories, not a language model." in render_card(report())
    mixed = (RoleReport(role="teacher", backend="openai", model="m", model_revision="r1"),)
    card = render_card(report(roles=(*mixed, RoleReport(role="policy", backend="scripted"))))
    assert "Scripted agents wrote a part" in card
    assert "The role teacher was played by m (revision r1) through the `openai` backend." in card
    card = render_card(report(roles=mixed))
    assert "script" not in card.split("## Tables")[0].split("\n---\n", 1)[1].lower()
    assert "scripted-agents" not in card


def test_fiction_is_called_fiction() -> None:
    assert "**The world is fictional.**" in render_card(report())
    card = render_card(report(dataset="docs-search", source=source()))
    assert "fictional" not in card.split("## Tables")[0]


@pytest.mark.parametrize("dataset", ["world-search", "docs-search", "my-own-recipe"])
def test_prose_for_known_and_unknown_datasets(dataset: str) -> None:
    card = render_card(report(dataset=dataset, title=""))
    assert card.count(f"# {dataset}\n") == 1
    assert "{{" not in card
    assert "\n\n\n" not in card


def test_every_column_is_explained() -> None:
    full = report(tables={config.name: {config.splits[0]: 1} for config in CONFIGS}, sizes=_sizes())
    card, pages = render_card(full), beside_card(full)
    # The Hub shows a card in full; the lists of columns stand beside it. Its front matter grows with every table.
    assert len(card.encode()) < 56_000
    for config in CONFIGS:
        assert f"(columns/{config.name}.md)" in card
        explained = columns(config.row_type)
        assert [column.path for column in explained if "." not in column.path] == arrow_schema(config.row_type).names
        for column in explained:
            assert column.text, column
            assert f"| `{column.path}` |" in pages[f"columns/{config.name}.md"]


def _sizes() -> dict[str, dict[str, SplitSize]]:
    size = SplitSize(files=1, bytes=1, uncompressed_bytes=1)
    return {config.name: {config.splits[0]: size} for config in CONFIGS}


def test_exempt_entities_are_listed() -> None:
    assert "No entity is exempt" in render_card(report())
    card = render_card(report(exempt_entities=("hub-1", "type-2")))
    assert "`hub-1`, `type-2`." in card
    many = render_card(report(exempt_entities=tuple(f"hub-{number}" for number in range(1_045))))
    assert "`hub-39` and 1,005 more (all are in `report.json`)." in many


def test_what_reproduces_it_is_there() -> None:
    card = render_card(report())
    assert "synth build world-search --tasks 20 --seed 7" in card
    assert "(recipe.yaml)" in card
    assert yaml.safe_load(beside_card(report())["recipe.yaml"]) == report().recipe
    assert "kind: world" in beside_card(report())["recipe.yaml"]
    assert "5" * 64 in card


def test_data_can_not_break_the_tables() -> None:
    stage = sample_report(sample_tables(1, 1)).stages[0].model_copy(update={"label": "a | b\n<script>"})
    card = render_card(report(stages=(stage,)))
    assert "| a \\| b &lt;script> |" in card


@pytest.mark.parametrize(
    ("documents", "identifier", "name", "words"),
    [
        ({"CC0-1.0": 5}, "cc0-1.0", None, "Every document is under CC0-1.0."),
        ({"GPL-3.0-or-later": 5}, "gpl-3.0", None, "Every document is under GPL-3.0-or-later."),
        ({"PSF-2.0": 5}, "other", "psf-2.0", "Every document is under PSF-2.0."),
        ({"CC0-1.0": 5, "MIT": 2}, "other", "mixed", "CC0-1.0 (5 documents), MIT (2 documents)"),
        ({"MIT": 2, "unknown": 3}, "other", "mixed-or-not-stated", "3 documents state none"),
        ({"unknown": 3}, "other", "not-stated", "states none"),
        ({}, "other", "not-stated", "states none"),
    ],
)
def test_no_licence_is_guessed(documents: dict[str, int], identifier: str, name: str | None, words: str) -> None:
    licence = licence_of(documents)
    assert (licence.id, licence.name) == (identifier, name)
    assert words in licence.sentence
    matter = yaml.safe_load(render_card(report(document_licences=documents)).split("---\n")[1])
    assert matter["license"] == identifier
    assert matter.get("license_name") == name


def test_where_there_are_no_documents_the_licence_is_that_of_the_rows() -> None:
    card = render_card(report(document_licences={}, row_licences={"MIT": 3}))
    assert yaml.safe_load(card.split("---\n")[1])["license"] == "mit"
    assert "Every row is under MIT." in card
    both = render_card(report(document_licences={"CC0-1.0": 5}, row_licences={"MIT": 3}))
    assert yaml.safe_load(both.split("---\n")[1])["license"] == "cc0-1.0"


def test_the_card_shows_its_plots_and_says_how_to_train() -> None:
    card = render_card(report())
    assert "![Success by role and hops](plots/success.svg)" in card
    assert "plots/difficulty.svg" not in card  # nothing was measured
    assert "synth export PATH --to trl-sft" in card
    assert "`trl-dpo`" not in card  # there are no pairs
    assert (
        card.index("## Train") < card.index("## In pictures") < card.index("## Limits") < card.index("## Make it again")
    )


def card_with_rl() -> str:
    tables = {name: {"train": 2_000, "test": 1} for name in ("tasks", "trajectories", "steps", "preferences", "rl")}
    size = SplitSize(files=1, bytes=1, uncompressed_bytes=2)
    return render_card(report(tables=tables, sizes={name: {"train": size, "test": size} for name in tables}))


@pytest.mark.parametrize(("name", "folder"), [("trl-sft", "sft"), ("llamafactory-sft", "turns"), ("verl-env", "rl")])
def test_the_card_shows_how_to_train_as_the_exports_do(name: str, folder: str) -> None:
    # The suites of extras run what the cards of exports show, with the trainers.
    shown = filled(find("formats", name).usage, "world-search", folder, ("train", "test"))
    code = shown[: shown.index("\n```\n") + 4].replace("DATASET", "PATH")
    assert not re.search(r"\{\w+\}", code)
    assert f"synth export PATH --to {name} --out {folder}\n```\n\n{code}" in card_with_rl()


def test_the_model_is_tried_on_a_split_that_it_does_not_train_on() -> None:
    verl = find("formats", "verl")
    for splits, held_out in (
        (("test", "train", "validation"), "validation"),
        (("train", "test"), "test"),
        ((), "train"),
    ):
        assert f"data.val_files=F/{held_out}-00000-of-00001.parquet" in filled(verl.usage, "x", "F", splits)


def test_every_format_that_the_card_names_is_one() -> None:
    card = card_with_rl()
    (line,) = re.findall(r"Other names for `--to`: (.*)", card)
    named = re.findall(r"`([^`]+)`", line)
    assert {"trl-dpo", "prm", "verl", "openai"} <= set(named)
    assert {*named, *re.findall(r"--to ([\w.-]+)", card)} <= set(choices("formats"))


def test_the_terms_of_a_model_are_not_guessed() -> None:
    teacher = RoleReport(role="teacher", backend="openai", model="some-org/some-model")
    with_model = render_card(report(roles=(teacher,), recipe={"roles": {"judge": {"model": "another/model"}}}))
    assert "`another/model`, `some-org/some-model`. Their licences or terms of use may restrict" in with_model
    assert "This build does not know them and states none" in with_model
    assert "terms of use" not in render_card(report())


def test_limits_follow_the_report() -> None:
    small = {"tasks": {"train": 20}, "trajectories": {"train": 40}}
    sizes = {name: {"train": SplitSize(files=1, bytes=1, uncompressed_bytes=2)} for name in small}
    real = SourceReport(name="docs", kind="docs", sha256="5" * 64)
    card = render_card(report(tables=small, sizes=sizes, source=real))
    assert "* 20 tasks are few" in card
    assert "Nothing was compared with the questions of a benchmark" in card
    fictional = render_card(report())
    assert "tasks are few" not in fictional
    assert "benchmark" not in fictional.split("## Limits")[1].split("## Make it again")[0]
