"""Keys of a recipe that say what is made of tasks and runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, model_validator

from synth.annotate.critical.config import CriticalConfig
from synth.annotate.preferences.select import Selection
from synth.recipe.roles import RoleName
from synth.retrieval.vectors import IndexKind
from synth.schemas.described import Described
from synth.schemas.refined import How

__all__ = [
    "Aim",
    "Contexts",
    "Critical",
    "CurriculumTarget",
    "Difficulty",
    "Distractors",
    "Pairs",
    "Ratings",
    "Refine",
    "StageItem",
    "Trees",
]


class Critical(Described):
    """The search for critical steps."""

    expert: str = "scripted"
    """Who proposes other actions: `synth list` shows the choices. A model does where ``roles.expert`` names one."""
    scorer: str = "evidence"
    """Who scores actions; a model does where ``roles.prm`` names one."""
    successes: bool = True
    """Also search successful runs, for actions that would have spoilt them."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Share of the policy's runs that is searched: a search costs dozens of rollouts."""
    search: CriticalConfig = CriticalConfig()
    """Thresholds, tests and budgets."""


class Refine(Described):
    """Good runs made of the policy's failed ones, beside them in ``trajectories`` (``retry_of``). Success rates leave
    them out."""

    how: tuple[How, ...] = ("regenerate", "hint")
    """In which ways each failed run is refined: ``regenerate`` cuts it before its first wrong step and lets the policy
    go on (Search-R2, Trajectory-Refined Distillation); ``hint`` also tells it what went wrong (R3L);
    ``hint_from_start`` tells it so before it begins anew (KEPO); ``segment`` goes on from behind a stretch from whose
    end the policy succeeds more often than from its beginning (EEF). Hints are no part of the run that is kept."""
    tries: int = Field(default=4, ge=1, le=64)
    """Tries in each way, until one comes to the right answer."""
    every: int = Field(default=3, ge=1, le=50)
    """Steps of a stretch."""
    samples: int = Field(default=16, ge=2, le=100)
    """Continuations from each end of a stretch at most."""

    @model_validator(mode="after")
    def _distinct(self) -> Refine:
        if not self.how or len(set(self.how)) < len(self.how):
            raise ValueError("refine.how must name at least one way, each once")
        return self


class Trees(Described):
    """A tree over the policy's first run of each task: branches where it is uncertain, within a budget of calls."""

    budget: int = Field(default=150, ge=1, le=100_000)
    """Turns that the policy is asked for, of each task."""
    width: int = Field(default=3, ge=2, le=32)
    """Turns that are drawn in one state; where they differ, the tree may branch."""
    alike: float = Field(default=0.8, gt=0, le=1)
    """Calls of one tool that share so much of their words are one branch."""
    gap: float = Field(default=0.5, gt=0, le=1)
    """Siblings whose values differ by so much at least become a pair."""


class Rework(Described):
    """Runs made of finished ones, turn by turn, beside them in ``trajectories`` (``retry_of``). Success rates and pairs
    leave them out."""

    distill: bool = False
    """Runs whose parts went to helpers become runs of one agent, whose thoughts say who of a team speaks
    (Chain-of-Agents). Where the answer and those of all helpers are right."""
    least_calls: int = Field(default=5, ge=1, le=1000)
    """Of ``distill``: calls of tools at least."""
    unverified: float = Field(default=0.5, ge=0, le=1)
    """Of ``distill``: share of those runs in which nothing is looked at again that is taken."""
    compress: int | None = Field(default=None, ge=100, le=1_000_000)
    """Tokens of what an agent has before it beyond which it writes notes in its place (CAT, SWE-Compressor); what
    follows must be grounded in them. Empty = never."""
    size: int = Field(default=300, ge=50, le=10_000)
    """Of ``compress``: characters that notes keep of one observation, about."""
    reword: bool = False
    """The policy, a model, says the thoughts of right teacher runs in its own words (RAFT). Kept is what names nothing
    unseen and leaves out no name of the teacher's."""


class Pairs(Described):
    """Preference pairs."""

    fill: int = Field(default=1, ge=0, le=20)
    """A task with fewer pairs from real failures gets pairs with errors put into its good runs until it has so many; 0
    leaves such pairs out."""
    trajectories_per_task: int = Field(default=1, ge=0, le=10)
    """Pairs of whole runs per task; 0 leaves them out."""
    trajectory_ratio: float = Field(default=1.25, ge=1)
    """In a pair of whole runs, the longer side has at most so many times the turns of the shorter."""
    repairs: int = Field(default=8, ge=0, le=64)
    """Of applications: how many repairs the policy proposes for a step by which it failed on a safety twin, every other
    one with a hint; the shortest of those that pass the four checks become pairs, 0 leaves them out."""
    selection: Selection = Selection()
    """Which pairs are marked as ``selected``."""


class Ratings(Described):
    """What is said of whole runs beside the rules. None of it changes whether a run counts as a success."""

    answers: bool = True
    """Also ask the judge whether an answer that no rule took for right means the same as the right one. Needs
    ``roles.judge``: without a model there are the rules only."""
    judges: int = Field(default=1, ge=1, le=15)
    """How often the judge is asked of each run and answer. Of several voices a rating or verdict is kept where most of
    them give one and those agree (ratings within 1); else it abstains, with the reason. Needs ``roles.judge``."""
    steps: bool = False
    """Also ask the judge to label the steps that the rules leave open in runs on questions without a walk (imported
    runs, given questions). Needs ``roles.judge``."""
    answer_probability: bool = False
    """Also measure how probable the policy holds the right answer after each turn of its runs, and what each turn adds
    (IGPO, arXiv 2510.14967): ``answer_probability`` and ``answer_gain`` of ``steps``. One call a turn, without a
    completion. Needs ``roles.policy`` to be a model behind vLLM, which gives log probabilities of a prompt."""
    outcome_potential: bool = False
    """Also measure by how much the policy leans, after each turn of its runs, to what these runs reliably end with, and
    what each turn adds (SIOP, arXiv 2605.04984): ``outcome_potential`` and ``outcome_gain`` of ``steps``. One call for
    each turn and each answer that runs on the task gave; the same model as for ``answer_probability``, and several
    ``rollouts``."""
    checklist: bool = False
    """Also hold runs against the checklists of their tasks (CM2, arXiv 2602.12268): the share of the weight that each
    meets, and item by item what."""
    graded: bool = True
    """Draw runs with a chance proportional to their rating (OS-Genesis, arXiv 2412.19723) in place of a yes or no: the
    rating says which were ``drawn``, and ``synth export --select drawn=true`` takes those."""


class CurriculumTarget(Described):
    low: float = Field(ge=0, lt=1)
    """Least success rate of the policy."""
    high: float = Field(gt=0, le=1)
    """The rate that it stays below (1: at most)."""
    share: float = Field(gt=0, le=1)
    """Share of the curriculum."""


class Aim(Described):
    """Only tasks that the policy is predicted to solve at a wanted rate (the questioner of DARC, arXiv 2601.13761)."""

    after: str
    """An earlier dataset, by its folder: the policy's measured success on its tasks is fitted on their structure (hops,
    constraints, branching, pages, operations, obfuscation, shape, kind of answer)."""
    low: float = Field(default=0.3, ge=0, lt=1)
    """Least predicted success."""
    high: float = Field(default=0.7, gt=0, le=1)
    """Most predicted success."""


class Difficulty(Described):
    """How hard the tasks are, and which of them the curriculum holds. Needs the role ``policy``."""

    closed_book: int = Field(default=4, ge=1, le=100)
    """How often the policy is asked each question without its tools."""
    folds: int = Field(default=5, ge=2, le=50)
    """Each part of the tasks is predicted by a model of the others."""
    targets: tuple[CurriculumTarget, ...] = ()
    """Shares of the curriculum by the policy's success: ``[{low: 0.2, high: 0.4, share: 0.3}]`` (DARC); empty = every
    task, from easy to hard."""
    tasks: int | None = Field(default=None, ge=1)
    """Exactly how many tasks the curriculum has; empty = all, or with targets as many as let each have its share."""
    aim: Aim | None = None
    """Candidates are refused before any run where an earlier dataset says that they are too easy or too hard; empty =
    none is."""

    @model_validator(mode="after")
    def _consistent(self) -> Difficulty:
        if self.aim is not None and self.aim.low >= self.aim.high:
            raise ValueError("difficulty.aim: low must be less than high")
        if any(target.low >= target.high for target in self.targets):
            raise ValueError("difficulty.targets: low must be less than high")
        if sum(target.share for target in self.targets) > 1 + 1e-9:
            raise ValueError("difficulty.targets: the shares sum to more than 1")
        if any(one.high > other.low for one, other in pairwise(sorted(self.targets, key=lambda item: item.low))):
            raise ValueError("difficulty.targets: two targets overlap")
        return self


class Distractors(Described):
    """Pages that lead astray from a task: what runs met and did not need, and neighbours of the evidence."""

    encoder: str = "hashed"
    """Encodes pages for neighbours by vectors: ``hashed`` sees words and spelling and needs nothing,
    ``sentence-transformers`` is any such model (extra ``embed``)."""
    model: str | None = None
    """Of ``sentence-transformers``: the model's name on the Hub, or its folder."""
    revision: str | None = None
    """Of ``sentence-transformers``: commit of the model on the Hub."""
    index: IndexKind = "exact"
    """How the nearest vectors are found: ``exact`` compares with all, ``faiss-hnsw`` (extra ``embed``) is faster over
    many pages and misses some."""
    bm25: int = Field(default=4, ge=0, le=100)
    """Neighbours by words per task at most."""
    embedding: int = Field(default=4, ge=0, le=100)
    """Neighbours by vectors per task at most."""

    @model_validator(mode="after")
    def _model(self) -> Distractors:
        if (self.encoder == "sentence-transformers") != (self.model is not None):
            raise ValueError("distractors.model names the model of the encoder sentence-transformers, and only of that")
        return self


class Contexts(Described):
    """Long contexts for tasks that are solved by reading; made where distractors are."""

    budgets: tuple[Annotated[int, Field(ge=500, le=400_000)], ...] = (8_192, 32_768, 131_072)
    """Tokens of the whole user message; a row per task and budget."""
    tasks: int | None = Field(default=50, ge=1)
    """Contexts are made of the first so many tasks (one of 131,072 tokens has 0.6 MB); empty = of all."""
    max_random: float = Field(default=0.5, ge=0, le=1)
    """Share of a context's tokens that random pages may fill. What runs met comes first, then neighbours by words, then
    as many by vectors (``distractors.encoder``) as it takes; fewer only where the pages do not suffice."""
    tokenizer: str | None = None
    """A file of the library ``tokenizers`` (tokenizer.json of a model) that counts; empty = a counter that needs no
    download."""

    @model_validator(mode="after")
    def _distinct(self) -> Contexts:
        if not self.budgets or len(set(self.budgets)) < len(self.budgets):
            raise ValueError("contexts.budgets must name at least one number of tokens, each once")
        return self


class StageItem(Described):
    """A stage that the recipe lists itself."""

    stage: str
    """Its name: `synth list` shows the choices."""
    label: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")
    """What plans and reports call it; empty = by its name."""
    role: RoleName | None = None
    """Whose trajectories and steps it reads and writes; empty = it runs once for each role, where it reads such."""
    config: dict[str, Any] = {}
    """Its own keys."""
    reads: dict[str, str] = {}
    """What it reads -> ``label`` or ``label:table`` of the stage that writes it; what is not named here comes from the
    nearest stage before it that writes such a table."""
