"""States as what they say: order, handed-out keys and times do not count; goals, policies and words."""

from __future__ import annotations

from typing import Any

import pytest
from app_tools import LIBRARY, opened, play, task

from synth.environments.app.environment import AppEpisode, open_app
from synth.environments.app.reading import shipped
from synth.environments.app.state import Goal, changes_in_words
from synth.schemas.trajectories import Verdict


def _in_words(episode: AppEpisode) -> list[str]:
    return changes_in_words(episode.changes(), episode.environment.tables)


def reader(episode: AppEpisode, vip: int = 1, at: int = 0) -> str:
    found = episode.look("SELECT reader_id FROM readers WHERE vip = :vip ORDER BY name", {"vip": vip})
    return str(found[at]["reader_id"])


def library() -> AppEpisode:
    return opened(str(LIBRARY)).reset(task())


def test_the_order_of_writes_does_not_count() -> None:
    one, other = library(), library()
    first, second = reader(one, 0, 0), reader(one, 0, 1)
    moss, ferns = ("lend", {"reader_id": first, "book": "Moss"}), ("lend", {"reader_id": second, "book": "Ferns"})
    play(one, moss, ferns)
    play(other, ferns, moss)
    keys = [{row["loan_id"]: row["book"] for row in episode.look("SELECT * FROM loans")} for episode in (one, other)]
    assert keys[0] != keys[1]
    assert one.state_hash() == other.state_hash()
    assert one.difference() == other.difference()
    assert one.snapshot() != other.snapshot()


def test_what_hangs_on_a_new_row_tells_it_from_another() -> None:
    """Two loans that say the same, and a note on one of them or two on both: other states."""
    one, both = library(), library()
    vip = reader(one)
    plain, noted = (("lend", {"reader_id": vip, "book": "Moss", **extra}) for extra in ({}, {"note": "torn"}))
    play(one, plain, noted)
    play(both, noted, plain)
    assert one.state_hash() == both.state_hash()
    two = library()
    play(two, noted, noted)
    assert two.state_hash() != one.state_hash()


def test_there_and_back_is_no_difference() -> None:
    episode = library()
    start = episode.state_hash()
    (lent,) = play(episode, ("lend", {"reader_id": reader(episode), "book": "Ferns"}))
    loan = lent.content.split()[-1].rstrip(".")
    assert episode.state_hash() != start
    assert _in_words(episode) == [
        "book Ferns: copies 1 → 0",
        f"new loan {loan}: reader {reader(episode)}; book Ferns; due 2030-01-24",
    ]
    play(episode, ("take_back", {"loan_id": loan}))
    assert (
        episode.state_hash(),
        episode.difference(),
        _in_words(episode),
    ) == (start, [], [])


def test_volatile_columns_and_the_clock_do_not_count() -> None:
    environment = opened("tracker")
    one, other = environment.reset(task()), environment.reset(task())
    issue = one.look("SELECT issue, reporter_id FROM issues WHERE project = 'WEB' LIMIT 1")[0]
    label = ("add_label", {"issue": issue["issue"], "label": "docs"})
    remove = ("remove_label", {"issue": issue["issue"], "label": "docs"})
    say = ("comment", {"issue": issue["issue"], "member_id": issue["reporter_id"], "text": "Seen."})
    assert all(result.error is None for result in play(one, label, say))
    assert all(result.error is None for result in play(other, label, remove, label, say))
    assert (one.now, other.now) == ("2031-09-03 10:02", "2031-09-03 10:04")
    written = [episode.look("SELECT max(written_at) AS at FROM comments")[0]["at"] for episode in (one, other)]
    assert written[0] != written[1]
    assert one.state_hash() == other.state_hash()
    (refused,) = play(one, label)
    assert (refused.error, one.now) == ("refused", "2031-09-03 10:02")


def goal_of(*calls: tuple[str, dict[str, Any]], answer: str = "free") -> dict[str, Any]:
    episode = library()
    results = play(episode, *calls)
    assert all(result.error is None for result in results), results
    return episode.goal(answer="required" if answer == "required" else "free").model_dump(mode="json")


def checked(goal: dict[str, Any] | None, *calls: tuple[str, dict[str, Any]], said: str | None = "Done.") -> Verdict:
    details = {} if goal is None else {"goal": goal}
    episode = opened(str(LIBRARY)).reset(task(7, **details))
    play(episode, *calls)
    before = episode.snapshot()
    verdict = episode.check(said)
    assert episode.snapshot() == before
    return verdict


def test_a_goal_is_reached_exactly_or_not_and_the_verdict_says_what_is_missing() -> None:
    vip = reader(library())
    ferns, moss = ("lend", {"reader_id": vip, "book": "Ferns"}), ("lend", {"reader_id": vip, "book": "Moss"})
    goal = goal_of(ferns)
    right = checked(goal, ferns)
    assert (right.correct, right.rule) == (True, "state")
    assert "book Ferns: copies 1 → 0" in right.evidence
    nothing = checked(goal)
    assert (nothing.correct, nothing.rule) == (False, "state")
    assert "missing: new loan: reader" in nothing.evidence
    assert "missing: book Ferns: copies 1 → 0" in nothing.evidence
    more = checked(goal, ferns, moss)
    assert more.correct is False
    assert "not wanted: book Moss: copies 2 → 1" in more.evidence
    assert "missing" not in more.evidence
    assert Goal.model_validate(goal).state != goal_of(moss, ferns)["state"]


def test_a_task_may_ask_for_a_state_and_an_answer() -> None:
    ferns = ("lend", {"reader_id": reader(library()), "book": "Ferns"})
    goal = goal_of(ferns, answer="required")
    assert checked(goal, ferns, said="Kestrel 12").correct is True
    assert checked(goal, ferns, said="Kestrel 13").correct is False
    assert checked(goal, said="Kestrel 12").rule == "state"
    # A task that only asks: the answer counts, and so does leaving all as it is.
    assert checked(None, ("list_books", {}), said="The answer is Kestrel 12.").correct is True
    assert checked(None, ferns, said="Kestrel 12").correct is False


def test_a_recorded_violation_spoils_the_goal_and_is_named() -> None:
    other = reader(library(), 0, 1)
    dear = ("lend", {"reader_id": other, "book": "Moss"})
    episode = library()
    (result,) = play(episode, dear)
    assert result.error is None
    violations = [entry for entry in episode.difference() if entry.table_name == "policy_violations"]
    assert [entry.values for entry in violations] == [{"rule": "dear_books"}]
    assert "new policy violation of the rule dear_books" in "\n".join(_in_words(episode))
    clean = episode.goal()
    wanted = clean.model_copy(
        update={"state": "0" * 64, "changes": tuple(e for e in clean.changes if e not in violations)}
    )
    verdict = checked(wanted.model_dump(mode="json"), dear)
    assert (verdict.correct, verdict.rule) == (False, "policy")
    assert verdict.evidence == "The policy was violated: dear_books."


def test_a_hidden_rule_is_enforced_and_not_written() -> None:
    plain, quiet = opened(str(LIBRARY)), open_app(application=LIBRARY, variant="quiet")
    text = "A reader has two books at most."
    assert text in plain.instructions()
    assert text not in quiet.instructions()
    assert "Lichen" not in quiet.instructions()
    assert "may keep rules that are not written here" in quiet.instructions()
    assert "not written here" not in plain.instructions()
    episode = quiet.reset(task())
    vip = reader(episode)
    lichen, moss = ("lend", {"reader_id": vip, "book": "Lichen"}), ("lend", {"reader_id": vip, "book": "Moss"})
    hidden, first, second, third = play(episode, lichen, moss, moss, moss)
    assert (hidden.error, hidden.content) == ("refused", "Lichen was not lent.")
    assert (first.error, second.error, third.error) == (None, None, "refused")
    assert plain.tools() == quiet.tools()


@pytest.mark.parametrize("name", shipped())
def test_variants_of_shipped_applications_hide_what_they_say(name: str) -> None:
    plain = opened(name)
    assert plain.definition.variants
    for variant, spec in plain.definition.variants.items():
        quiet = open_app(application=name, variant=variant)
        for rule in plain.definition.rules:
            written = " ".join(rule.text.split()) in quiet.instructions()
            assert written == (rule.name not in spec.hide), rule.name
        for rule in spec.rules:
            assert " ".join(rule.text.split()) not in quiet.instructions()
        assert {rule.name for rule in quiet.rules.all} == {rule.name for rule in (*plain.definition.rules, *spec.rules)}


def test_snapshots_of_another_world_are_refused() -> None:
    environment = opened(str(LIBRARY))
    saved = environment.reset(task(1, app_seed=1)).snapshot()
    with pytest.raises(ValueError, match="seed"):
        environment.reset(task(1, app_seed=2)).restore(saved)
    with pytest.raises(ValueError, match="snapshot"):
        open_app(application=LIBRARY, size=2).reset(task(1, app_seed=1)).restore(saved)


def test_a_snapshot_costs_what_was_changed_and_not_what_there_is() -> None:
    small, large = opened("ledger"), open_app(application="ledger", size=20)
    sizes = []
    for environment in (small, large):
        episode = environment.reset(task())
        (done,) = play(episode, ("add_payee", {"name": "Somebody new"}))
        assert done.error is None
        sizes.append(len(episode.snapshot().state))
    assert large.world(0).rows > 15 * small.world(0).rows
    assert sizes[1] < sizes[0] + 50
