"""Label rules: a list of objects with a reason each, in which a caller's own may stand."""

from __future__ import annotations

from test_labels_label import CLEAN, OFFICE, run

from synth.annotate.labels.contract import Label, LabelRule, StepContext
from synth.annotate.labels.label import RULES, label
from synth.schemas.steps import LabelReason


class _Silent(LabelRule):
    name = "silent"
    reason = "It never says anything."

    def apply(self, step: StepContext) -> Label | None:
        return None


class _Doubts(LabelRule):
    name = "doubts"
    reason = "Every label that helped is doubted."
    revises = True

    def apply(self, step: StepContext) -> Label | None:
        return Label(0, LabelReason.NEUTRAL, "doubted") if step.labels[step.number].sign == 1 else None


def test_every_rule_has_a_name_and_a_reason_of_its_own() -> None:
    assert len({rule.name for rule in RULES}) == len({rule.reason for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.reason[0].isupper()
        assert rule.reason.endswith(".")
        assert len(rule.reason.split()) > 4


def test_the_first_rule_that_speaks_decides_and_revisions_come_last() -> None:
    plain = label(run(OFFICE, *CLEAN), OFFICE)
    assert [step.label for step in plain] == [1, 1, 1, 1]
    assert label(run(OFFICE, *CLEAN), OFFICE, (_Silent(), *RULES)) == plain
    assert {step.label_detail for step in label(run(OFFICE, *CLEAN), OFFICE, (_Silent(),))} == {
        "no label rule says anything of it"
    }
    doubted = label(run(OFFICE, *CLEAN), OFFICE, (_Doubts(), *RULES))
    assert {(step.label, step.label_detail) for step in doubted} == {(0, "doubted")}
