"""Model calls, tokens and money, as commands show them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from synth.cli.columns import filled, table
from synth.engine.progress import duration, money, short
from synth.pipelines.pilot import CONFIDENCE
from synth.store.calls_format import from_nano

if TYPE_CHECKING:
    from synth.pipelines.pilot import Estimate, Pilot
    from synth.store.calls_format import Account

__all__ = ["account_json", "account_text", "overruns_text", "pilot_json", "pilot_text"]


def account_json(account: Account | None) -> dict[str, Any] | None:
    """What an account has used; money as in the recipe's prices."""
    if account is None:
        return None

    return {
        "account": account.account,
        "calls": {name: getattr(account, name) for name in ("delivered", "unknown", "open", "free")},
        "prompt_tokens": account.prompt_tokens,
        "cached_tokens": account.cached_tokens,
        "completion_tokens": account.completion_tokens,
        "tokens_unknown": account.tokens_unknown,
        "cost": float(from_nano(account.cost_exact)),
        "cost_unknown": float(from_nano(account.cost_unknown)),
        "overruns": account.overruns,
        "batches": None
        if account.batches is None
        else {
            "delivered": account.batches.delivered,
            "cost": float(from_nano(account.batches.cost)),
            "open": account.batches.open,
            "cost_open": float(from_nano(account.batches.cost_open)),
        },
    }


def account_text(account: Account) -> str:
    """One line: what the dataset's calls have used over all runs."""

    words = [f"{account.delivered:,} model calls over all runs in this store"]
    words += [f"{short(account.prompt_tokens)} prompt and {short(account.completion_tokens)} completion tokens"]
    cost, unknown = (float(from_nano(amount)) for amount in (account.cost_exact, account.cost_unknown))
    words += [f"cost {money(cost)}"] if cost or unknown else []
    if account.batches is not None:
        cost, reserved = (float(from_nano(one)) for one in (account.batches.cost, account.batches.cost_open))
        words += [f"{account.batches.delivered:,} of the calls in batches" + (f" for {money(cost)}" if cost else "")]
        if account.batches.open:
            at_most = f" (at most {money(reserved)})" if reserved else ""
            words += [f"{account.batches.open:,} calls in batches under way{at_most}"]
    if account.unknown:
        at_most = f"{short(account.tokens_unknown)} tokens" + (f", cost {money(unknown)}" if unknown else "")
        words += [f"{account.unknown:,} calls whose end is unknown (at most {at_most})"]
    return ", ".join(words)


def overruns_text(account: Account) -> str:
    """One line where calls used more than was reserved for them, by the server's count; empty where none did."""
    if not account.overruns:
        return ""
    return (
        f"warning: {account.overruns:,} of {account.calls:,} calls used more than could be reserved for them (the "
        "server counts tokens that the request doesn't show, or ignores max_tokens): booked at what was reserved"
    )


def pilot_json(pilot: Pilot) -> dict[str, Any]:
    """The estimates as JSON."""

    return {"confidence": CONFIDENCE, **asdict(pilot), "seconds": pilot.seconds}


def pilot_text(pilot: Pilot) -> str:
    """A table: what each stage will take, intervals below; then success by role, and the whole."""

    rows: list[tuple[str, ...]] = [("calls models", "rows", "calls", "prompt tokens", "completion", "cost", "time")]
    for stage in pilot.stages:
        known = short(stage.rows) if stage.rows_known else f"~{short(stage.rows)}"
        estimates = (stage.calls, stage.prompt_tokens, stage.completion_tokens)
        seconds = ("?", "") if stage.seconds is None else tuple(duration(one) for one in stage.seconds)
        cost = (_price(stage.cost.expected), _range(stage.cost, _price)) if stage.cost.expected else ("-", "")
        rows.append((stage.label, known, *(short(one.expected) for one in estimates), cost[0], seconds[0]))
        below = (*(_range(one) for one in estimates), cost[1], f"to {seconds[1]}" if seconds[1] else "")
        rows += [("", "", *below)] if any(below) else []
    rows += [(label, "none", "?", "?", "?", "?", "?") for label in pilot.unknown]
    interval = f"{100 * CONFIDENCE:.0f} %"
    lines = [
        *filled(
            f"From a pilot of {pilot.tasks:,} of {pilot.tasks_total:,} tasks; below each figure, where {interval} of "
            "builds end if tasks are alike and independent:"
        ),
        *table(rows),
    ]
    lines += filled(_whole(pilot))
    for one in pilot.success:
        rate = f"{100 * one.successes / one.runs:.0f} %" if one.runs else "no run was kept"
        lines += filled(
            f"{one.role} success: {rate} ({one.successes:,} of {one.runs:,} runs), {interval} interval "
            f"[{100 * one.low:.0f} %, {100 * one.high:.0f} %]"
        )
        if one.role == "teacher" and not one.successes:
            lines += filled("warning: no run of the teacher succeeded: the SFT table would be empty")
    if pilot.unknown:
        lines += filled(f"no row in the pilot, so not counted: {', '.join(pilot.unknown)}")
    if not all(stage.kept for stage in pilot.stages):
        lines += filled("rows of other stages than these are made again; their calls are found in the store")
    return "\n".join(lines)


def _whole(pilot: Pilot) -> str:
    calls = sum(stage.calls.expected for stage in pilot.stages)
    tokens = sum(stage.prompt_tokens.expected + stage.completion_tokens.expected for stage in pilot.stages)
    cost = sum(stage.cost.expected for stage in pilot.stages)
    words = f"in all about {short(calls)} calls, {short(tokens)} tokens" + (f", cost {money(cost)}" if cost else "")
    if pilot.seconds is None:
        return f"{words}; time unknown: all calls of the pilot were in the store, or the build's go in batches"
    low, high = pilot.seconds
    unmeasured = [stage.label for stage in pilot.stages if stage.seconds is None]
    return (
        f"{words}, time {duration(low)} (waiting alone, with as many calls in flight as allowed) to {duration(high)} "
        "(at the pilot's pace)" + (f"; without {', '.join(unmeasured)}, not timed" if unmeasured else "")
    )


def _range(estimate: Estimate, show: Any = short) -> str:
    """The interval; empty where nothing is estimated."""
    if estimate.low is None or estimate.high is None:
        return "?"
    return "" if estimate.low == estimate.high else f"{show(estimate.low)}-{show(estimate.high)}"


def _price(amount: float) -> str:
    return short(amount) if amount >= 1000 else money(amount)
