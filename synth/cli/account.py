"""Model calls, tokens and money, as commands show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from synth.engine.progress import money, short

if TYPE_CHECKING:
    from synth.pipelines.pilot import Estimate, Pilot, StageEstimate
    from synth.store.calls_rows import Account

__all__ = ["account_json", "account_text", "overruns_text", "pilot_json", "pilot_text"]


def account_json(account: Account | None) -> dict[str, Any] | None:
    """What an account has used; money as in the recipe's prices."""
    if account is None:
        return None
    from synth.store.calls_rows import from_nano

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
    }


def account_text(account: Account) -> str:
    """One line: what the dataset's calls have used over all runs."""
    from synth.store.calls_rows import from_nano

    words = [f"{account.delivered:,} model calls over all runs in this store"]
    words += [f"{short(account.prompt_tokens)} prompt and {short(account.completion_tokens)} completion tokens"]
    cost, unknown = (float(from_nano(amount)) for amount in (account.cost_exact, account.cost_unknown))
    words += [f"cost {money(cost)}"] if cost or unknown else []
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
    from dataclasses import asdict

    from synth.pipelines.pilot import CONFIDENCE

    return {"confidence": CONFIDENCE, **asdict(pilot)}


def pilot_text(pilot: Pilot) -> str:
    """A table: what each stage will take, with intervals."""
    from synth.cli.text import table
    from synth.pipelines.pilot import CONFIDENCE

    rows = [("calls models", "rows", "calls", "prompt tokens", "completion tokens", "cost", "time")]
    for stage in pilot.stages:
        known = f"{stage.rows:,}" if stage.rows_known else f"about {stage.rows:,}"
        tokens = (_range(stage.prompt_tokens), _range(stage.completion_tokens))
        cost = _range(stage.cost, money) if stage.cost.expected else "-"
        rows.append((stage.label, known, _range(stage.calls), *tokens, cost, _time(stage)))
    rows += [(label, "no row in the pilot", "?", "?", "?", "?", "?") for label in pilot.unknown]
    whole_cost = sum(stage.cost.expected for stage in pilot.stages)
    calls = sum(stage.calls.expected for stage in pilot.stages)
    whole_tokens = sum(stage.prompt_tokens.expected + stage.completion_tokens.expected for stage in pilot.stages)
    lines = [
        f"From a pilot of {pilot.tasks:,} of {pilot.tasks_total:,} tasks; in brackets, where {100 * CONFIDENCE:.0f} % "
        "of builds end if tasks are alike and independent:",
        *table(rows),
        f"in all about {short(calls)} calls, {short(whole_tokens)} tokens"
        + (f", cost {money(whole_cost)}" if whole_cost else ""),
        "time: from waiting alone, with as many calls in flight as allowed, to all of it at the pilot's pace",
    ]
    if not all(stage.kept for stage in pilot.stages):
        lines.append("rows of other stages than these are made again; their calls are found in the store")
    return "\n".join(lines)


def _range(estimate: Estimate, show: Any = short) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{show(estimate.expected)} [?]"
    if estimate.low == estimate.high:
        return str(show(estimate.expected))
    return f"{show(estimate.expected)} [{show(estimate.low)}, {show(estimate.high)}]"


def _time(stage: StageEstimate) -> str:
    if stage.seconds is None:
        return "? (all calls of the pilot were in the store)"
    return f"{_duration(stage.seconds[0])} to {_duration(stage.seconds[1])}"


def _duration(seconds: float) -> str:
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} s"
