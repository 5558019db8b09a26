"""What a teacher of an application must have looked up or asked before it changes or refuses anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from synth.agents.contract import History, Prompt
from synth.agents.grounding.foretold import foretold
from synth.agents.grounding.said import says
from synth.agents.grounding.weighed import brief, comparisons, is_compared
from synth.agents.plan_view import ASK, PlanView, alike
from synth.schemas.plans import Plan, Planned, Policed
from synth.schemas.tasks import Task

__all__ = ["unlooked"]

_ID = re.compile(r"^(?=\S*[A-Z])(?=\S*\d)\S+$")
_KIND = re.compile(r"[A-Z]{2}")
_QUOTED = re.compile(r'"([^"]+)"')
_TWICE = re.compile(r"(?<![\w-])([A-Z][\w'-]+(?: [A-Z][\w'-]+)*)(?:,| and) \1(?![\w-])")


def unlooked(task: Task, prompt: Prompt, history: History) -> Iterator[str]:
    """What a run left undone: look-ups by which the policy decides, before the change or the answer; questions about
    what the request leaves open, and what it goes by before their answers; sums that it charges or refunds before the
    user has agreed; rules that it quotes and that do not decide; rules that it goes by without a word on what was
    looked up for them, or with words on what does not decide; rules that it quotes and never compares with what was
    read; rows that it opens where it quotes the line of another; and what it names twice in one breath. Nothing without
    a plan."""
    view = PlanView.of(task)
    if view is None:
        return
    needed = {number for number, call in enumerate(view.plan.calls) if call.decides}
    asks = any(tool.name == ASK for tool in prompt.tools)
    for step in history:
        waiting: dict[int | None, str] = {
            fact.before: fact.amount for n, fact in enumerate(view.plan.user) if n not in view.told
        }
        before = view.had
        view.take(step)
        for moved in sorted(_moved(view, before)):
            if asks and waiting.get(moved):
                yield f"{waiting[moved]} is charged or refunded before the user has agreed"
        last = step is history[-1]
        for call in step.turn.calls:
            number = next((n for n, made in view.done.items() if made.call is call), None)
            if number is not None and view.plan.calls[number].changes:
                needed -= set(view.done)
                skipped = sorted(n for n in needed if n < number)
                if skipped:
                    yield f"{call.name} before {view.name_of(skipped[0])!r}, by which it is decided"
                needed -= set(skipped)
        if last and needed - set(view.done):
            yield f"ends without {view.name_of(min(needed - set(view.done)))!r}, by which it is decided"
    for place, fact in enumerate(view.plan.user):
        if place not in view.told and not fact.amount:
            yield f"the user is not asked for {fact.topic}"
    yield from foretold(task, history)
    yield from _other_rules(task, prompt, history)
    yield from _unfounded(task, view, history)
    yield from _besides(task, view, history)
    yield from _unweighed(task, view, prompt, history)
    yield from _other_row(view, history)
    for step in history:
        for name in _TWICE.findall(_QUOTED.sub("", step.turn.thought or "")):
            yield f"names {name!r} twice in one breath"


def _moved(view: PlanView, before: frozenset[int]) -> set[int]:
    """Numbers of the planned calls and attempts that the last turn made; attempts are counted on behind the calls."""
    calls, facts = len(view.plan.calls), len(view.plan.user)
    new = view.had - before
    return {n for n in new if n < calls} | {n - facts for n in new if n >= calls + facts}


def _other_rules(task: Task, prompt: Prompt, history: History) -> Iterator[str]:
    """Rules of the policy that a thought quotes and that do not decide."""
    policed, plan = Policed.of(task.details), Planned.of(task.details).plan
    deciding = _deciding(policed, plan)
    policy = prompt.system.partition("## Policy")[2].split("\n")
    others = {brief(line[2:].strip()) for line in policy if line.startswith("- ")} - {brief(one) for one in deciding}
    for step in history:
        for quote in _QUOTED.findall(step.turn.thought or ""):
            if brief(quote) in others:
                yield f"quotes {quote!r}, which does not decide"


def _deciding(policed: Policed, plan: Plan) -> set[str]:
    """Rules that decide on what is asked for, without their full stops."""
    written = [rule for kept in policed.rules.values() for rule in kept]
    kept = [ground.rule for call in (*plan.calls, *plan.attempts) for ground in call.grounds]
    return {rule.rstrip(".") for rule in (*written, *kept, plan.rule or "")} - {""}


def _unfounded(task: Task, view: PlanView, history: History) -> Iterator[str]:
    """Rules by which a thought or the last message decides, where nothing that was looked up to decide was quoted until
    then; where the application says which lines do, none of those."""
    policed, plan = Policed.of(task.details), view.plan
    deciding = _deciding(policed, plan)
    evidence = [line for call in (*plan.calls, *plan.attempts) for ground in call.grounds for line in ground.lines]
    evidence += policed.forbidden.evidence if policed.forbidden is not None else ()
    shown = [
        " ".join(made.result.content.split()) for number, made in view.done.items() if view.plan.calls[number].decides
    ]
    every = [ground for call in (*plan.calls, *plan.attempts) for ground in call.grounds]
    # Of a rule that needs no look, there is nothing to say: what was looked up belongs to another part.
    bare = {one.rule.rstrip(".") for one in every} - {one.rule.rstrip(".") for one in every if one.lines or one.nothing}
    quoted: list[str] = []
    thought = ""
    missing = False
    for step in history if shown else ():
        said = f"{step.turn.thought or ''} {step.turn.answer or ''}"
        quotes = [quote.rstrip(".") for quote in _QUOTED.findall(said)]
        quoted += [quote for quote in quotes if brief(quote) not in {brief(one) for one in deciding}]
        own = [line for line in evidence if any(line in text for text in shown)] or shown
        rule = next((one for one in sorted(deciding - bare) if brief(one) in said), None)
        told = [" ".join(quote.split()) for quote in quoted]
        thought += said
        # What a comparison says of a line need not be quoted beside it.
        compared = any(is_compared(one.weighed, thought) for one in every if one.rule.rstrip(".") == rule)
        # That no line has what the rule goes by is said in words.
        missing = missing or says(("p_nothing",), said) is not None
        if (
            rule is not None
            and not (missing or compared)
            and not any(quote in text or text in quote for quote in told for text in own)
        ):
            yield f"goes by {rule!r} without a word on what was looked up for it"


def _besides(task: Task, view: PlanView, history: History) -> Iterator[str]:
    """Lines that a refusal gives as its reason, where the application says which lines decide and these do not."""
    forbidden = Policed.of(task.details).forbidden
    if forbidden is None or not forbidden.evidence or not history or view.plan.attempts:
        return
    last = history[-1].turn
    thought = (last.thought or "") if view.plan.outcome == "refused" else ""  # what is done instead has its own reasons
    shown = [" ".join(made.result.content.split()) for made in view.done.values()]
    seen = [line for line in forbidden.evidence if any(line in text for text in shown)]
    said = f"{thought} {last.answer or ''}"
    if seen and not any(line in said for line in seen):
        told = " ".join(step.turn.thought or "" for step in history)
        if not any(line in told for line in seen):
            yield f"refuses without a word on {seen[0]!r}, by which it is decided"
    for quote in _QUOTED.findall(said):
        text = " ".join(quote.rstrip(".").split())
        if any(text in one for one in shown) and not any(text in line or line in text for line in seen):
            yield f"gives {quote!r} as a reason, which does not decide"


def _unweighed(task: Task, view: PlanView, prompt: Prompt, history: History) -> Iterator[str]:
    """Rules that are quoted before a change or a refusal without a word on how what was read compares with them, where
    the application has words for that."""
    forbidden = Policed.of(task.details).forbidden
    weighed = [(view.plan.rule or "", forbidden.weighed)] if forbidden is not None and not view.plan.attempts else []
    made = {id(one.call): view.plan.calls[number].grounds for number, one in view.done.items()}
    made |= {id(one.call): view.plan.attempts[number].grounds for number, one in view.tried.items()}
    for at, step in enumerate(history):
        told = " ".join(one.turn.thought or "" for one in history[: at + 1])
        grounds = [(one.rule, one.weighed) for call in step.turn.calls for one in made.get(id(call), ())]
        for rule, forms in (*grounds, *(weighed if at == len(history) - 1 else ())):
            if not forms or not rule or brief(rule) not in told or is_compared(forms, told):
                continue
            if comparisons(forms, prompt, history[:at]):
                yield f"quotes {rule!r} and never says how what was read compares with it"


def _other_row(view: PlanView, history: History) -> Iterator[str]:
    """Look-ups that open another row than the one whose line was just quoted."""
    for at, step in enumerate(history):
        looked = [pair for one in history[:at] for pair in zip(one.turn.calls, one.results, strict=False)]
        shown = [result.content for call, result in looked if call.name not in view.changing]
        quotes = [quote for quote in _QUOTED.findall(step.turn.thought or "") if any(quote in text for text in shown)]
        given = [call.arguments.values() for call in step.turn.calls if call.name not in view.changing]
        ids = [str(value) for values in given for value in values if _ID.search(str(value))]
        for value in ids:
            kind = _KIND.match(value)
            begins = kind.group() if kind is not None else ""  # "PY" of payees, "SO" of standing orders
            found = [other for quote in quotes for other in alike(value, quote, "") if other != value]
            others = [other for other in found if other.startswith(begins)]
            if others and not any(one in quote for quote in quotes for one in ids):
                yield f"quotes a line on {others[0]} and opens {value}"
