"""How the scripted teacher works."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["TeacherConfig"]


class TeacherConfig(BaseModel):
    """How the teacher works."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    verify: float = Field(default=0.5, ge=0, le=1)
    """Share of answers before which it looks once more."""
    detour: float = Field(default=0.12, ge=0, le=1)
    """Chance, per choice among results (in a graph: also among relations), to look at another plausible one first; it
    then rejects it with a reason."""
    habit: float = Field(default=0.0, ge=0, le=1)
    """In a graph: share of relations, always the same ones, instead of which it reads a like one first, every time, and
    then goes back. A systematic mistake: its runs succeed, so that choosing runs by success does not remove it."""
    meets: int = Field(default=0, ge=0, le=10)
    """Constrained navigation: until it has put aside so many pages, it looks at another page that names what it looks
    for whenever a search shows one, before it opens the right one."""
    rival: float = Field(default=0.4, ge=0, le=1)
    """Chance to test another name of a list first, where a further condition tells right from wrong."""
    parallel: float = Field(default=0.3, ge=0, le=1)
    """Share of questions with several conditions in which it searches for all the names at once."""
    patience: int = Field(default=20, ge=1)
    """Turns after which it gives up."""
