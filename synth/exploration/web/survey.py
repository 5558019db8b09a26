"""Whether a site has anything that a task could be made of: a look before hundreds of walks come to nothing."""

from __future__ import annotations

from synth.environments.contract import ToolCall
from synth.environments.web.environment import WebEnvironment
from synth.environments.web.storage import WebBeginning
from synth.environments.web.tree import Page
from synth.errors import InputError
from synth.exploration.blank import blank_task
from synth.exploration.web.acting import Action, resolve
from synth.exploration.web.config import WebTasksConfig
from synth.schemas.details import details_with

__all__ = ["survey"]

_MOST_PAGES = 40
_OPEN = ToolCall(id="survey", name="open", arguments={"url": "/"})


def survey(environment: WebEnvironment, config: WebTasksConfig) -> None:
    """Follow links, breadth first, up to the first page that has something.

    Raises:
        InputError: none of the first 40 pages has, or the first page can't be opened.
    """
    start = min(environment.definition.starts, default=None)
    episode = environment.reset(blank_task(f"web-{start}", "web", details_with(WebBeginning(web_start=start))))
    asked = {rule.term for rule in environment.definition.facts}
    try:
        said = episode.step(_OPEN)
        if episode.seen is None:
            raise InputError(f"the first page does not open: {said.content[:200]}", where="source.site")
        first = episode.seen.tree
        waiting = [(episode.seen.address, one) for one in _links(first)]
        known = {episode.seen.address}
        here: Page = first
        while not _has(here, first, asked, config):
            if not waiting or len(known) >= _MOST_PAGES:
                what = f"nothing to look up or to use was found on any page that links lead to ({len(known)} seen)"
                mend = (
                    "tables with heads, lists of terms and lines such as `Price: 4` can be asked about; buttons and "
                    "fields can be used where the page keeps what they do (localStorage, cookies)"
                )
                raise InputError(what, where="source.site", mend=mend)
            address, link = waiting.pop(0)
            episode.step(ToolCall(id="survey", name="open", arguments={"url": address}))
            arguments = resolve(episode.seen.tree, link) if episode.seen is not None else None
            if arguments is None:
                continue
            episode.step(ToolCall(id="survey", name="click", arguments=arguments))
            if episode.seen is None or episode.seen.address in known:
                continue
            here = episode.seen.tree
            known.add(episode.seen.address)
            waiting += [(episode.seen.address, one) for one in _links(here)]
    finally:
        episode.close()


def _links(page: Page) -> list[Action]:
    return [Action.on(one, "click") for one in page.elements if one.role == "link" and one.name]


def _has(page: Page, first: Page, asked: set[str], config: WebTasksConfig) -> bool:
    """Whether a page states something behind the first one, or has something other than links."""
    states = any(term in asked if asked else fact not in first.facts for fact in page.facts for term in (fact[1],))
    uses = any(one.role != "link" and "disabled" not in one.marks for one in page.elements)
    return (states and config.kinds.get("answered", 0) > 0) or (uses and config.kinds.get("done", 0) > 0)
