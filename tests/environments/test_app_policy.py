"""The written policies are kept: every rule of the shipped applications is met, and its edge lies where it says."""

from __future__ import annotations

import re
import sqlite3
from datetime import datetime, timedelta
from typing import Any

import pytest
from app_explorer import app_explorer
from app_tools import opened, play, task

from synth.environments.app.environment import AppEpisode
from synth.environments.app.reading import shipped

BY_HAND = {
    "airline": {"party_fixed", "voucher_once", "voucher_members"},
    "ledger": {"reconciled_stays", "twice", "goals_covered", "savings_withdrawals", "orders_limit", "archived_rests"},
    "memory": set(),
    "tracker": {"blocked", "say_why", "no_circles"},
}
"""Rules that the walks below do not meet: each has a test of its own here."""


def do(episode: AppEpisode, tool: str, **arguments: Any) -> str:
    """The words of a call that goes through."""
    (result,) = play(episode, (tool, arguments))
    assert result.error is None, result
    return result.content


def refused(episode: AppEpisode, tool: str, **arguments: Any) -> str:
    (result,) = play(episode, (tool, arguments))
    assert result.error == "refused", result
    return result.content


def one(episode: AppEpisode, sql: str, **values: Any) -> dict[str, Any]:
    return episode.look(sql, values)[0]


def violations(episode: AppEpisode) -> list[str]:
    return [str(entry.values["rule"]) for entry in episode.difference() if entry.table_name == "policy_violations"]


@pytest.mark.parametrize("name", shipped())
def test_every_rule_is_met_by_walks_or_has_a_test_of_its_own(name: str) -> None:
    environment = opened(name)
    words = {
        rule.name: re.compile(re.sub(r"\\\{[^}]*\\\}", ".*", re.escape(rule.refusal)))
        for rule in environment.definition.rules
        if rule.refusal is not None
    }
    met: set[str] = set()
    rules = {rule.name for rule in environment.definition.rules}
    explorer = app_explorer(environment, seed=1, writes=0.95)
    for number in range(60):
        if rules - met <= BY_HAND[name] and len(met) > len(rules) / 2:
            break
        for step in explorer.walk(task(number), 25).steps:
            if step.result.error == "refused":
                met |= {rule for rule, pattern in words.items() if pattern.fullmatch(step.result.content)}
    rules = {rule.name for rule in environment.definition.rules}
    assert rules - met <= BY_HAND[name]
    assert len(met) > len(rules) / 2


def test_airline_a_reservation_can_be_cancelled_for_24_hours_to_the_minute() -> None:
    episode = opened("airline").reset(task())
    sql = """
        SELECT r.* FROM reservations r WHERE booked_at = add_minutes(:now, :at) AND fare <> 'flex' AND NOT insured
          AND status = 'booked'"""
    assert refused(
        episode, "cancel_reservation", reservation_id=one(episode, sql, at=-1441)["reservation_id"]
    ).endswith("the policy does not allow it to be cancelled.")
    inside = one(episode, sql, at=-1440)["reservation_id"]
    assert "is cancelled" in do(episode, "cancel_reservation", reservation_id=inside)
    assert episode.look("SELECT 1 FROM seats WHERE reservation_id = :r", {"r": inside}) == []


def test_airline_a_flight_can_be_changed_until_120_minutes_before() -> None:
    episode = opened("airline").reset(task())
    for minutes, allowed in ((119, False), (120, True)):
        leg = one(
            episode,
            """SELECT l.*, r.customer_id, f.origin, f.destination, r.cabin FROM legs l JOIN flights f USING (flight_id)
            JOIN reservations r USING (reservation_id) WHERE f.departs = add_minutes(:now, :at) AND r.fare <> 'saver'
              AND r.status = 'booked' AND f.status IN ('scheduled', 'delayed')""",
            at=minutes,
        )
        # Another flight on the route, made fit for anybody, so that nothing but the rule is in the way.
        other = one(
            episode,
            """SELECT flight_id FROM flights WHERE origin = :o AND destination = :d AND flight_id <> :f
              AND departs > :now AND status = 'scheduled' AND economy_free > 3 AND business_free > 3
              AND NOT EXISTS (SELECT 1 FROM legs b JOIN flights g USING (flight_id) WHERE b.reservation_id = :r
                AND b.leg = 2 AND g.departs <= flights.arrives) ORDER BY departs""",
            o=leg["origin"],
            d=leg["destination"],
            f=leg["flight_id"],
            r=leg["reservation_id"],
        )["flight_id"]
        card = one(
            episode,
            "SELECT method_id FROM payment_methods WHERE customer_id = :c AND kind = 'card'",
            c=leg["customer_id"],
        )["method_id"]
        call = {"reservation_id": leg["reservation_id"], "leg": 1, "new_flight_id": other, "method_id": card}
        if allowed:
            assert f"is now {other}" in do(episode, "change_flight", **call)
        else:
            assert "it could be changed until 120 minutes before" in refused(episode, "change_flight", **call)


def test_airline_vouchers_begin_at_180_minutes_come_once_and_go_to_members() -> None:
    episode = opened("airline").reset(task())
    sql = """
        SELECT l.*, c.tier, r.insured FROM legs l JOIN flights f USING (flight_id)
        JOIN reservations r USING (reservation_id) JOIN customers c USING (customer_id)
        WHERE f.delay_minutes = :d AND f.status = 'delayed' AND r.status = 'booked'"""
    early = one(episode, sql, d=179)
    assert "there is no voucher" in refused(
        episode, "give_voucher", reservation_id=early["reservation_id"], leg=early["leg"]
    )
    members = """AND (c.tier <> 'regular' OR r.insured)"""
    others = """AND c.tier = 'regular' AND NOT r.insured"""
    long = sql.replace("f.delay_minutes = :d", "f.delay_minutes >= :d")
    member = one(episode, long + members, d=180)
    do(episode, "give_voucher", reservation_id=member["reservation_id"], leg=member["leg"])
    assert violations(episode) == []
    again = refused(episode, "give_voucher", reservation_id=member["reservation_id"], leg=member["leg"])
    assert again.endswith("has had its voucher.")
    other = one(episode, long + others, d=180)
    do(episode, "give_voucher", reservation_id=other["reservation_id"], leg=other["leg"])
    assert violations(episode) == ["voucher_members"]
    assert episode.check("Done.").rule == "policy"


def test_airline_no_statement_takes_a_passenger_out() -> None:
    episode = opened("airline").reset(task())
    with pytest.raises(sqlite3.IntegrityError, match="rule:party_fixed"):
        episode._database.run("DELETE FROM passengers", mode="write")


def test_airline_money_is_all_there() -> None:
    """What is charged is paid once, what is cancelled comes back, and a voucher holds what is left."""
    episode = opened("airline").reset(task())
    voucher = one(
        episode,
        """SELECT m.*, f.flight_id, f.economy_price_cents AS price FROM payment_methods m, flights f
          WHERE m.kind = 'voucher' AND f.status = 'scheduled' AND f.departs > add_days(:today, 1) AND f.economy_free > 0
          AND f.economy_price_cents * 80 / 100 <= m.balance_cents ORDER BY m.balance_cents""",
    )
    price = voucher["price"] * 80 // 100
    booked = do(
        episode,
        "book_reservation",
        customer_id=voucher["customer_id"],
        flight_id=voucher["flight_id"],
        cabin="economy",
        fare="saver",
        passengers=[{"given_name": "Mina", "family_name": "Okafor", "born": "2001-02-03"}],
        method_id=voucher["method_id"],
    )
    left = "SELECT balance_cents FROM payment_methods WHERE method_id = :m"
    assert one(episode, left, m=voucher["method_id"])["balance_cents"] == voucher["balance_cents"] - price
    assert f"${price // 100}.{price % 100:02d} were charged" in booked
    do(episode, "cancel_reservation", reservation_id=booked.split()[1])
    assert one(episode, left, m=voucher["method_id"])["balance_cents"] == voucher["balance_cents"]
    assert one(episode, "SELECT economy_free FROM flights WHERE flight_id = :f", f=voucher["flight_id"]) == one(
        opened("airline").reset(task()), "SELECT economy_free FROM flights WHERE flight_id = :f", f=voucher["flight_id"]
    )


def ledger() -> tuple[AppEpisode, dict[str, str]]:
    episode = opened("ledger").reset(task())
    return episode, {row["name"]: row["account_id"] for row in episode.look("SELECT name, account_id FROM accounts")}


def spend(episode: AppEpisode, account: str, cents: int, day: str = "2031-03-18") -> dict[str, Any]:
    payee = one(episode, "SELECT payee_id FROM payees WHERE name = 'Mercer Foods'")["payee_id"]
    return {"account_id": account, "date": day, "payee_id": payee, "amount_cents": cents, "direction": "out"}


def test_ledger_an_account_goes_to_its_floor_and_no_cent_below() -> None:
    episode, accounts = ledger()
    assert one(episode, "SELECT balance_cents AS b FROM accounts WHERE name = 'Household'")["b"] == 1999
    said = refused(episode, "add_transaction", **spend(episode, accounts["Household"], 2000))
    assert said == "That account does not hold so much."
    assert "now holds $0.00" in do(episode, "add_transaction", **spend(episode, accounts["Household"], 1999))


def test_ledger_a_closed_month_ends_on_its_last_day() -> None:
    episode, accounts = ledger()
    assert "closed" in refused(episode, "add_transaction", **spend(episode, accounts["Wallet"], 101, "2031-01-31"))
    assert "TX" in do(episode, "add_transaction", **spend(episode, accounts["Wallet"], 101, "2031-02-01"))
    groceries = one(episode, "SELECT category_id FROM categories WHERE name = 'Gifts'")["category_id"]
    sql = "SELECT transaction_id FROM transactions WHERE status = 'cleared' AND date = :d AND transfer_id IS NULL"
    inside, outside = (one(episode, sql, d=day)["transaction_id"] for day in ("2031-01-31", "2031-02-01"))
    assert "closed month" in refused(episode, "recategorize", transaction_id=inside, category_id=groceries)
    assert "is in Gifts now" in do(episode, "recategorize", transaction_id=outside, category_id=groceries)


def test_ledger_what_is_reconciled_stays() -> None:
    episode, accounts = ledger()
    wallet = accounts["Wallet"]
    sums = (
        "SELECT sum(amount_cents) AS s FROM transactions WHERE account_id = :a AND date <= :d AND status <> 'pending'"
    )
    balance = one(episode, sums, a=wallet, d="2031-03-18")["s"]
    wrong = refused(episode, "reconcile_account", account_id=wallet, until="2031-03-18", statement_cents=balance + 1)
    assert wrong.endswith("Nothing was marked.")
    do(episode, "reconcile_account", account_id=wallet, until="2031-03-18", statement_cents=balance)
    sql = """
        SELECT transaction_id FROM transactions
        WHERE status = 'reconciled' AND date >= '2031-02-01' AND account_id = :a"""
    stays = one(episode, sql, a=wallet)["transaction_id"]
    assert refused(episode, "delete_transaction", transaction_id=stays).endswith("is reconciled and stays as it is.")


def test_ledger_twice_the_same_goes_through_and_on_record() -> None:
    episode, accounts = ledger()
    call = spend(episode, accounts["Wallet"], 333)
    do(episode, "add_transaction", **call)
    assert violations(episode) == []
    do(episode, "add_transaction", **{**call, "amount_cents": 334})
    assert violations(episode) == []
    do(episode, "add_transaction", **call)
    assert violations(episode) == ["twice"]


def test_ledger_goals_hold_their_money_and_savings_are_left_twice_a_month() -> None:
    episode, accounts = ledger()
    travel, everyday = accounts["Travel pot"], accounts["Everyday"]
    way = {"from_account_id": travel, "to_account_id": everyday, "date": "2031-03-18"}
    assert "set aside" in refused(episode, "transfer", **way, amount_cents=36_001)
    sql = "SELECT count(*) AS n FROM transfers WHERE from_account_id = :a AND date >= '2031-03-01'"
    taken = one(episode, sql, a=travel)["n"]
    assert taken < 2
    for _ in range(2 - taken):
        assert f"{travel}: Travel pot (savings)" in (shown := do(episode, "list_accounts"))
        assert "2 transfers out this month" not in shown.partition("Travel pot")[2].split("\n")[0]
        do(episode, "transfer", **way, amount_cents=24_000 // (2 - taken))
    assert "2 transfers out this month" in do(episode, "list_accounts").partition("Travel pot")[2].split("\n")[0]
    assert violations(episode) == []
    do(episode, "transfer", **{**way, "date": "2031-02-28"}, amount_cents=6_000)
    assert violations(episode) == []
    do(episode, "transfer", **way, amount_cents=6_000)
    assert violations(episode) == ["savings_withdrawals"]
    assert one(episode, "SELECT balance_cents AS b FROM accounts WHERE account_id = :a", a=travel)["b"] == 90_000


def test_ledger_nothing_is_sorted_into_an_archived_category() -> None:
    episode, accounts = ledger()
    away = one(episode, "SELECT category_id FROM categories WHERE archived")["category_id"]
    call = spend(episode, accounts["Everyday"], 1234)
    assert refused(episode, "add_transaction", **call, category_id=away).endswith("is archived.")
    open_ = one(episode, "SELECT category_id FROM categories WHERE name = 'Gifts'")["category_id"]
    assert "in Gifts" in do(episode, "add_transaction", **call, category_id=open_)


def test_ledger_standing_orders_have_a_limit_per_account() -> None:
    episode, accounts = ledger()
    sql = "SELECT sum(amount_cents) AS s FROM standing_orders WHERE active AND account_id = :a"
    used = one(episode, sql, a=accounts["Everyday"])["s"]
    payee = one(episode, "SELECT * FROM payees WHERE name = 'Rook Cycles'")
    call = {
        "account_id": accounts["Everyday"],
        "payee_id": payee["payee_id"],
        "category_id": payee["usual_category_id"],
    }
    over = refused(episode, "add_standing_order", **call, day=3, amount_cents=300_001 - used)
    assert over == "Standing orders on that account would come to $3,000.01 a month."
    do(episode, "add_standing_order", **call, day=3, amount_cents=300_000 - used)


def test_tracker_three_issues_in_progress_and_no_fourth() -> None:
    episode = opened("tracker").reset(task())
    sql = """
        SELECT assignee_id FROM issues GROUP BY 1 HAVING sum(status = 'in progress') = :n AND sum(status = 'todo') > 0
          AND assignee_id IS NOT NULL"""
    todo = """
        SELECT issue FROM issues WHERE assignee_id = :m AND status = 'todo' AND project <> 'OLD'"""
    member = one(episode, sql, n=2)["assignee_id"]
    move = {"issue": one(episode, todo, m=member)["issue"], "status": "in progress"}
    assert "is in progress" in do(episode, "move_issue", **move)
    full = one(episode, sql, n=3)["assignee_id"]
    said = refused(episode, "move_issue", issue=one(episode, todo, m=full)["issue"], status="in progress")
    assert said == "That member has three issues in progress already."


def test_tracker_blocked_issues_are_not_fixed_and_circles_are_not_made() -> None:
    episode = opened("tracker").reset(task())
    free = """
        SELECT issue FROM issues i WHERE project = 'WEB' AND status = :s AND NOT EXISTS (
          SELECT 1 FROM links WHERE from_issue = i.issue OR to_issue = i.issue) ORDER BY issue"""
    review = one(episode, free.replace("= 'WEB'", "<> 'OLD'"), s="in review")["issue"]
    first, second = [row["issue"] for row in episode.look(free, {"s": "todo"})][:2]
    do(episode, "link_issues", issue=first, kind="blocks", other=second)
    do(episode, "link_issues", issue=second, kind="blocks", other=review)
    circle = refused(episode, "link_issues", issue=review, kind="blocks", other=first)
    assert circle == f"{first} blocks {review} already, directly or by way of others."
    do(episode, "link_issues", issue=review, kind="relates to", other=first)
    blocked = refused(episode, "move_issue", issue=review, status="done", resolution="fixed")
    assert blocked == f"{review} is blocked by an issue that is open."
    do(episode, "unlink_issues", issue=second, kind="blocks", other=review)
    assert f"{review} is done (fixed)" in do(episode, "move_issue", issue=review, status="done", resolution="fixed")


def test_tracker_will_not_do_needs_a_comment_of_the_day() -> None:
    episode = opened("tracker").reset(task())
    sql = "SELECT issue, reporter_id FROM issues WHERE project = 'WEB' AND status = 'backlog' ORDER BY issue LIMIT 2"
    silent, spoken = episode.look(sql)
    do(episode, "comment", issue=spoken["issue"], member_id=spoken["reporter_id"], text="Nobody needs it any more.")
    do(episode, "move_issue", issue=spoken["issue"], status="done", resolution="will not do")
    assert violations(episode) == []
    do(episode, "move_issue", issue=silent["issue"], status="done", resolution="will not do")
    assert violations(episode) == ["say_why"]


def test_how_long_ago_a_reservation_was_booked_adds_up() -> None:
    """The policy counts in hours, so the record does as well."""
    episode = opened("airline").reset(task())
    booked, clocks = set(), set()
    for row in episode.look("SELECT reservation_id FROM reservations ORDER BY reservation_id", {}):
        told = do(episode, "get_reservation", reservation_id=row["reservation_id"])
        found = re.search(r"^Booked: (\S+ \S+) \((\d+) h (\d+) min ago\)$", told, re.MULTILINE)
        assert found is not None, told
        booked.add(found[1])
        clocks.add(datetime.fromisoformat(found[1]) + timedelta(hours=int(found[2]), minutes=int(found[3])))
    episode.close()
    assert len(booked) > 5
    assert len(clocks) == 1, "all are counted from the present moment"
