"""What ``synth plan`` says of the user's own parts: prompts, code, what an application adds to another."""

from __future__ import annotations

from collections.abc import Iterator

from synth.cli.columns import filled
from synth.environments.app.reading import additions
from synth.own_code import files_of
from synth.pipelines.request import Outlook
from synth.prompting import load_prompt
from synth.recipe.model import Recipe
from synth.recipe.sources import AppSource

__all__ = ["own_parts_text"]


def own_parts_text(outlook: Outlook) -> list[str]:
    """Lines, and one that is empty; none where everything ships."""
    lines = [*_prompts(outlook), *_code(outlook.recipe), *_application(outlook.recipe)]
    return [*(part for line in lines for part in filled(line)), ""] if lines else []


def _prompts(outlook: Outlook) -> Iterator[str]:
    """Whose place the user's prompts take, and where that changes something."""
    for name, labels in outlook.prompts.items():
        prompt_id, _, version = name.rpartition("/v")
        newest = load_prompt(prompt_id).ref.version
        where = ", ".join(labels) or "used by no stage of this build"
        if name.startswith("export/"):
            where = "used by exports"
        elif not labels and newest > int(version):
            where = f"not used: {prompt_id}/v{newest} took its place"
        yield f"your prompt {name}: {where}"


def _code(recipe: Recipe) -> Iterator[str]:
    named = [("reward", recipe.reward)]
    named += [(f"roles.{role}", who.backend) for role, who in recipe.roles.items()]
    named += [("environment", getattr(recipe.environment, "made_by", ""))]
    named += [("environment.tools", str(tool)) for tool in getattr(recipe.environment, "tools", ())]
    for key, place in named:
        if ":" in place and (files := files_of(place)):
            yield f"your code {place} ({key}): {', '.join(sorted(files))}"


def _application(recipe: Recipe) -> Iterator[str]:
    found = additions(recipe.source.application) if isinstance(recipe.source, AppSource) else None
    if found is not None:
        base, parts = found
        said = "; ".join(f"{kind} {', '.join(names)}" for kind, names in parts)
        yield f"your application extends {base}: {said or 'adds nothing'}"
