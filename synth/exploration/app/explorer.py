"""Applications as the exploration pipeline sees them: candidates by state, kind and purpose; what makes tasks equal."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from synth.environments.app.environment import AppEnvironment
from synth.errors import InputError
from synth.exploration.app.attempt import AppAttempt
from synth.exploration.app.audit import Auditor
from synth.exploration.app.requests import AppRequests, AppValues, beginning_of
from synth.exploration.app.safety_pairs import check_harms, pair_of, side_of
from synth.exploration.app.solution import AppCandidate, same_request
from synth.exploration.app.walking import quiet_variants, variant_of
from synth.exploration.config import ExplorationConfig
from synth.exploration.walks import draw
from synth.identity import derive_generator, digest, split_of, versioned
from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import Values

__all__ = ["AppExplorable", "app_explorer"]

_HIDDEN_KINDS = {"offered": 0.7, "refused": 0.3}
"""Weights of the kinds among the candidates that meet a hidden rule."""


class AppExplorable:
    """One application. A candidate costs some tens of milliseconds, a state a tenth of a second."""

    draws: ClassVar[str] = "app_tasks"
    parallel: ClassVar[int] = 1

    def __init__(self, environment: AppEnvironment, config: ExplorationConfig) -> None:
        """
        Raises:
            InputError: the application says nothing about what people ask of it, or its data can't be made.
        """
        self.environment = environment
        self.config = config
        self._of_variant: dict[str | None, tuple[AppRequests, Auditor]] = {}
        self.app, _ = self._variant(None)
        self._variants = quiet_variants(environment)
        self._values = AppValues(environment)
        check_harms(environment.definition, environment.where)
        _check_data(environment)

    @property
    def changing(self) -> tuple[str, ...]:
        return tuple(name for name, tool in self.environment.definition.tools.items() if tool.writes)

    def candidate(self, index: int, seed: int) -> AppCandidate:
        environment, config = self.environment, self.config
        side = side_of(index, seed, self.draws, config.safety_pairs if self.app.requests.harms else 0.0)
        walk = ("walk", index) if side is None else ("twins", pair_of(index))
        number = (index if side is None else 2 * pair_of(index)) // config.group
        app_seed = int(digest("app seed", environment.definition.name, seed, number)[:8], 16)
        split = cast(Split, split_of(f"{environment.definition.name}/{app_seed}", config.fractions))
        rng = derive_generator(seed, self.draws, "candidate", *walk)
        kind, writes = draw(rng, config.kinds), draw(rng, config.writes)
        variant = None if side else variant_of(index, seed, self.draws, config.hidden, self._variants)
        if variant is not None:
            kind = draw(rng, _HIDDEN_KINDS)
        injected = side is None and derive_generator(seed, self.draws, "injected", index).random() < config.injections
        return AppCandidate(index, side or kind, split, app_seed, writes, walk, variant, injected)

    def attempt(self, candidate: AppCandidate, seed: int, number: int) -> AppAttempt:
        rng = derive_generator(seed, self.draws, *candidate.walk, number)
        lot = derive_generator(seed, self.draws, *candidate.walk, number, "graded").random()
        return AppAttempt(*self._variant(candidate.variant), self.config, candidate, rng, lot)

    def others(self, draft: Draft) -> Values:
        return self._values.of(draft)

    def duplicate_key(self, row: Any) -> str:
        return same_request(row)

    def _variant(self, variant: str | None) -> tuple[AppRequests, Auditor]:
        """Where candidates of a variant walk, made once: the application as it is written, or with further rules."""
        if variant not in self._of_variant:
            app = AppRequests(self.environment if variant is None else self.environment.of_variant(variant))
            self._of_variant[variant] = app, Auditor(app.environment)
        return self._of_variant[variant]


@versioned(75)
def app_explorer(*, environment: AppEnvironment, **options: Any) -> AppExplorable:
    """``options`` are those of :class:`ExplorationConfig`."""
    return AppExplorable(environment, ExplorationConfig.model_validate(options))


def _check_data(environment: AppEnvironment) -> None:
    """Make the data of a few seeds.

    Raises:
        InputError: none of them can be made: then no candidate's can.
    """
    problem: InputError | None = None
    for app_seed in range(3):
        try:
            environment.reset(beginning_of(environment, app_seed)).close()
        except InputError as error:
            problem = error
        else:
            return
    if problem is not None:
        raise problem
