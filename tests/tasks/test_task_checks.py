"""Every check: what passes, what fails, and that nothing passes unasked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from task_examples import PAGES, TRIPLES, HandFacts, HandPages, chain, draft, hop, pair, surroundings

from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.tasks import CheckResult, Walk
from synth.tasks.checks import CHECKS, check_answer_not_in_question, hop_queries, run_checks
from synth.tasks.contract import CheckConfig, Checked, Failed, Finding, Surroundings, rejection
from synth.tasks.draft import Draft, finish, same_question, task_id

CONFIG = CheckConfig()
PROVENANCE = Provenance(
    dataset="d", stage="tasks", stage_version=1, fingerprint="f", seed=0, source="hand", source_sha256="0"
)


def judge(candidate: Draft, around: Surroundings | None = None, config: CheckConfig = CONFIG) -> Checked | Failed:
    return run_checks([candidate], around or surroundings(), config)[0]


def fails(candidate: Draft, reason: Reason, words: str, around: Surroundings | None = None, **config: Any) -> Failed:
    verdict = judge(candidate, around, CheckConfig(**config))
    assert isinstance(verdict, Failed), verdict
    assert verdict.reason is reason, verdict.detail
    assert words in verdict.detail
    assert all(check.outcome == "passed" for check in verdict.checks[:-1])
    assert verdict.checks[-1].outcome != "passed"
    return verdict


@pytest.mark.parametrize("candidate", [chain(), pair()], ids=["chain", "pair"])
def test_sound_drafts_pass_every_check(candidate: Draft) -> None:
    verdict = judge(candidate)
    assert isinstance(verdict, Checked), verdict
    assert [check.check for check in verdict.checks] == [*CHECKS, "no_direct_hit"]
    assert {check.outcome for check in verdict.checks} == {"passed"}


# (a) ---------------------------------------------------------------------------------------------------------------


def reworded(candidate: Draft, question: str, **changes: object) -> Draft:
    hops = tuple(item.model_copy(update={"cue": question}) for item in candidate.walk.hops)
    walk = candidate.walk.model_copy(update={"hops": hops})
    return candidate.model_copy(update={"question": question, "walk": walk, **changes})


@pytest.mark.parametrize(
    ("question", "leaks"),
    [
        ("Which lake near Lake Brun is it?", True),
        ("Which lake do the Brunians love?", True),
        ("Which lake is brunet?", False),
        ("Which lake is fed by a river in Molde?", False),
        ("Which lake does the River Senn of Molde flow into?", True),  # the bridge is named
    ],
)
def test_answer_and_bridges_stay_out_of_the_question(question: str, leaks: bool) -> None:
    finding = check_answer_not_in_question(
        reworded(chain(), question), surroundings(generic=frozenset({"lake"})), CONFIG
    )
    assert (finding.reason is Reason.ANSWER_IN_QUESTION) is leaks, finding


@pytest.mark.parametrize(
    ("question", "leaks"),
    [
        ("Which annual guest was a pupil of Bo Wick?", False),
        ("Who taught Tarn Vale and was born in Molde?", True),  # the family name gives it away
        ("Which Ann was born in Molde?", False),  # a given name does not
        ("Is Ann Vale's birthplace Molde?", True),
    ],
)
def test_a_family_name_gives_a_person_away(question: str, leaks: bool) -> None:
    finding = check_answer_not_in_question(reworded(pair(), question), surroundings(), CONFIG)
    assert (finding.reason is not None) is leaks, finding


def test_aliases_and_dates_are_looked_for() -> None:
    fails(reworded(pair(), "Who is Annie?", answer_aliases=("Annie",)), Reason.ANSWER_IN_QUESTION, "Annie")
    dated = draft(
        "On which day of 1850 was the mentor of Tarn Vale born?",
        hop("tarn", "mentor", "bo", "the mentor of Tarn Vale", "tarn", "His mentor was Bo Wick."),
        hop("bo", "birth_date", "1850-03-12", "born", "bo", PAGES["bo"][2], needs=(0,)),
    )
    fails(dated, Reason.ANSWER_IN_QUESTION, "1850")
    fails(reworded(dated, "Who was born on March 12, 1850?"), Reason.ANSWER_IN_QUESTION, "1850")
    assert isinstance(judge(reworded(dated, "When was the mentor of Tarn Vale born?")), Checked)


# (b) ---------------------------------------------------------------------------------------------------------------


def with_evidence(candidate: Draft, number: int, **changes: object) -> Draft:
    hops = list(candidate.walk.hops)
    hops[number] = hops[number].model_copy(update={"evidence": hops[number].evidence.model_copy(update=changes)})
    return candidate.model_copy(update={"walk": Walk(shape=candidate.shape, hops=tuple(hops))})


def test_the_quote_is_read_again() -> None:
    changed = HandPages(texts={"senn": PAGES["senn"][2].replace("empties", "drains!")})
    fails(chain(), Reason.EVIDENCE_DOES_NOT_STATE, "not what the document says", surroundings(pages=changed))
    fails(with_evidence(chain(), 1, end=9999), Reason.EVIDENCE_DOES_NOT_STATE, "not in the document")


def test_the_quote_names_what_is_not_the_page_itself() -> None:
    text = PAGES["senn"][2]
    wrong = "The River Senn flows through Orrin and Molde."
    bad = with_evidence(chain(), 1, start=0, end=len(wrong), quote=wrong)
    assert text.startswith(wrong)
    fails(bad, Reason.EVIDENCE_DOES_NOT_STATE, "'Lake Brun'")


def test_a_page_of_another_may_not_lean_on_its_title() -> None:
    bad = with_evidence(chain(), 0, document_id="orrin", start=17, end=57, quote=PAGES["orrin"][2][17:57])
    bad = bad.model_copy(update={"gold_documents": ("orrin", "senn")})
    fails(bad, Reason.EVIDENCE_DOES_NOT_STATE, "does not name 'Molde'")


# (c) ---------------------------------------------------------------------------------------------------------------


def test_a_second_answer_fails() -> None:
    facts = HandFacts([*TRIPLES, ("senn", "flows_into", "orrin")])
    fails(chain(), Reason.NOT_UNIQUE, "2 answers, among them orrin", surroundings(facts=facts))


def test_bridges_that_the_walk_did_not_take_count() -> None:
    facts = HandFacts([*TRIPLES, ("molde", "on_river", "bo"), ("bo", "flows_into", "tarn")])
    fails(chain(), Reason.NOT_UNIQUE, "tarn", surroundings(facts=facts))


def test_an_answer_that_the_graph_lacks_fails() -> None:
    facts = HandFacts([triple for triple in TRIPLES if triple[1] != "flows_into"])
    fails(chain(), Reason.NOT_UNIQUE, "does not give the answer", surroundings(facts=facts))


# (d) ---------------------------------------------------------------------------------------------------------------


def test_a_constraint_that_is_enough_alone_fails() -> None:
    facts = HandFacts([triple for triple in TRIPLES if triple != ("bo", "born_in", "molde")])
    fails(pair(), Reason.SHORTCUT, "without hop 1", surroundings(facts=facts))


def test_a_constraint_that_is_not_needed_fails() -> None:
    """Two of three constraints are enough, though none is enough alone."""
    extra = [("ann", "citizen", "senn"), ("tarn", "citizen", "senn"), ("bo", "citizen", "senn")]
    base = pair().walk.hops
    more = hop("bo", "mentor", "ann", "x", "ann", "Her mentor was Bo Wick.")
    third = more.model_copy(update={"relation": "citizen", "source": chain().walk.hops[1].source, "forward": False})
    candidate = pair().model_copy(update={"walk": Walk(shape="conjunction", hops=(*base, third))})
    finding = CHECKS["no_shortcut"](candidate, surroundings(facts=HandFacts([*TRIPLES, *extra])), CONFIG)
    assert finding.reason is Reason.SHORTCUT
    assert "hop 2" in finding.result.detail


@pytest.mark.parametrize("strict", [True, False])
def test_an_edge_from_the_named_source_to_the_answer_fails(strict: bool) -> None:
    facts = HandFacts([*TRIPLES, ("brun", "near", "molde")])
    fails(chain(), Reason.SHORTCUT, "one edge", surroundings(facts=facts), strict_chain=strict)


def longer(**changes: object) -> Draft:
    return draft(
        "What is the depth of the lake that the river of the birthplace of Ann Vale flows into?",
        hop("ann", "born_in", "molde", "the birthplace of Ann Vale", "ann", "She was born in Molde."),
        hop(
            "molde", "on_river", "senn", "the river of", "molde", "It stands on the banks of the River Senn", needs=(0,)
        ),
        hop("senn", "flows_into", "brun", "the lake", "senn", "It empties into Lake Brun.", needs=(1,)),
        hop("brun", "depth", "90 metres", "the depth of", "brun", "It is 90 metres deep.", needs=(2,)),
        **changes,
    )


def test_an_edge_that_skips_a_bridge_fails_when_strict() -> None:
    assert isinstance(judge(longer()), Checked)
    around = surroundings(facts=HandFacts([*TRIPLES, ("brun", "near", "molde")]))
    fails(longer(), Reason.SHORTCUT, "one edge", around)
    assert isinstance(judge(longer(), around, CheckConfig(strict_chain=False)), Checked)


def test_a_question_that_finds_the_answers_page_at_once_fails() -> None:
    around = surroundings(generic=frozenset({"lake"}))
    direct = reworded(chain(), "It empties into which lake, that water of Molde and Orrin, flows through?")
    assert around.search.ranked([direct.question], 1)[0][0] == "senn"  # type: ignore[union-attr]
    fails(direct, Reason.SHORTCUT, "the question itself finds 'senn' at rank 1", around)
    assert isinstance(judge(direct, around, CheckConfig(shortcut_rank=0)), Checked)


# (e) ---------------------------------------------------------------------------------------------------------------


def test_queries_hold_only_what_is_known() -> None:
    first, second = chain().walk.hops
    assert hop_queries(first) == ("Molde",)
    assert hop_queries(second) == ("River Senn",)
    assert hop_queries(pair().walk.hops[1]) == ("Bo Wick pupil", "Bo Wick")


class Blind:
    def __init__(self, hidden: str) -> None:
        self.hidden, self.real = hidden, surroundings().search

    def ranked(self, queries: Sequence[str], k: int) -> list[list[str]]:
        assert self.real is not None
        return [[name for name in found if name != self.hidden] for found in self.real.ranked(queries, k)]


def test_a_page_that_search_does_not_find_fails() -> None:
    fails(chain(), Reason.NOT_RETRIEVABLE, "hop 1: 'River Senn'", surroundings(search=Blind("senn")))
    fails(pair(), Reason.NOT_RETRIEVABLE, "hop 0", surroundings(search=Blind("ann")))


# (f) ---------------------------------------------------------------------------------------------------------------


def test_gold_of_two_splits_fails_unless_a_hub() -> None:
    partitions: dict[str, Any] = {"senn": "test"}
    around = surroundings(facts=HandFacts(partitions=partitions), pages=HandPages(partitions=partitions))
    fails(chain(), Reason.SPLIT_CONFLICT, "'senn' belongs to test", around)
    hubs = HandFacts(partitions=partitions, hubs=frozenset({"senn"}))
    verdict = judge(chain(), surroundings(facts=hubs, pages=HandPages(partitions=partitions)))
    assert isinstance(verdict, Checked)
    assert any(check.detail == "1 hubs exempt" for check in verdict.checks)


def test_a_page_of_evidence_of_another_split_fails() -> None:
    """The named start is not a gold, but its page states the first hop: train contexts must not hold it."""
    fails(chain(), Reason.SPLIT_CONFLICT, "page 'molde'", surroundings(pages=HandPages(partitions={"molde": "test"})))


def test_gold_must_be_declared() -> None:
    fails(chain().model_copy(update={"gold_entities": ("brun",)}), Reason.SPLIT_CONFLICT, "gold entities")
    fails(chain().model_copy(update={"gold_documents": ("senn",)}), Reason.SPLIT_CONFLICT, "gold documents")


# fail-closed -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("facts", Reason.SPLIT_CONFLICT),
        ("pages", Reason.EVIDENCE_DOES_NOT_STATE),
        ("search", Reason.NOT_RETRIEVABLE),
    ],
)
def test_a_missing_collaborator_rejects(missing: str, reason: Reason) -> None:
    verdict = fails(chain(), reason, "abstained", surroundings(**{missing: None}))
    assert verdict.checks[-1].outcome == "abstained"


def test_a_walk_without_hops_never_passes() -> None:
    empty = chain().model_copy(update={"walk": Walk(shape="given", hops=())})
    for name, check in CHECKS.items():
        if name in ("answer_not_in_question", "split"):
            continue
        assert check(empty, surroundings(), CONFIG).reason is not None


def test_a_check_that_raises_lets_nothing_through() -> None:
    class Broken:
        def ranked(self, queries: Sequence[str], k: int) -> list[list[str]]:
            raise OSError("the index is gone")

    with pytest.raises(OSError, match="gone"):
        judge(chain(), surroundings(search=Broken()))


def test_unknown_checks_are_refused() -> None:
    with pytest.raises(KeyError, match="no check named"):
        run_checks([chain()], surroundings(), CONFIG, ("evidence", "luck"))


def test_a_finding_has_a_reason_exactly_when_it_is_no_pass() -> None:
    with pytest.raises(ValueError, match="reason"):
        Finding(CheckResult(check="x", outcome="abstained"))
    with pytest.raises(ValueError, match="reason"):
        Finding(CheckResult(check="x", outcome="passed"), Reason.SHORTCUT)


# drafts ------------------------------------------------------------------------------------------------------------


def test_finish_refuses_what_did_not_pass() -> None:
    verdict = judge(chain())
    task = finish(chain(), verdict.checks, PROVENANCE, 7)
    assert task.candidate_index == 7
    assert task.id == task_id(chain(), "hand")
    assert task.id.startswith("task-")
    assert len(task.id) == len("task-") + 16
    with pytest.raises(ValueError, match="results"):
        finish(chain(), (), PROVENANCE, 7)
    bad = CheckResult(check="evidence", outcome="abstained", detail="no pages")
    with pytest.raises(ValueError, match="evidence abstained"):
        finish(chain(), (*verdict.checks, bad), PROVENANCE, 7)
    with pytest.raises(ValueError, match="cue"):
        finish(chain().model_copy(update={"question": "Which?"}), verdict.checks, PROVENANCE, 7)


def test_ids_and_keys() -> None:
    again = reworded(chain(), "What lake is it that the river of Molde ends in?")
    assert task_id(chain(), "hand") == task_id(chain(), "hand")
    assert task_id(chain(), "hand") != task_id(again, "hand")
    assert same_question(chain()) == same_question(again)
    assert same_question(chain()) != same_question(pair())
    turned = pair().model_copy(update={"walk": Walk(shape="conjunction", hops=pair().walk.hops[::-1])})
    assert same_question(pair()) == same_question(turned)


def test_a_rejection_tells_what_and_where() -> None:
    failed = fails(chain(), Reason.NOT_RETRIEVABLE, "hop 1", surroundings(search=Blind("senn")))
    row = rejection(failed, stage="world_tasks", row_id="12")
    assert (row.row_id, row.reason, row.split) == ("12", Reason.NOT_RETRIEVABLE, "train")
    assert row.preview == chain().question
