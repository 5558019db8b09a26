"""What a dataset is made of: the recipe, and which of its keys go together."""

from __future__ import annotations

from pydantic import model_validator

from synth.environments.mcp.config import McpServers
from synth.environments.own import RecordedPlace
from synth.environments.search_spec import Search
from synth.recipe.keys import HELD, Keys
from synth.recipe.questions import (
    ReverseQuestions,
)
from synth.recipe.roles import ACTORS, Role, RoleName, check_role
from synth.registry import find, names
from synth.sources.docs.distract import DocumentDistractors
from synth.tasks.writing.config import CheckKeys, WritingKeys

__all__ = ["Recipe"]


class Recipe(Keys):
    """What a dataset is made of."""

    @model_validator(mode="after")
    def _fits(self) -> Recipe:
        if self.questions.kind == "world" and not self.source_spec.is_graph:
            raise ValueError(
                "questions of kind world need a graph of facts: a source of kind world, triples or tables. For "
                "documents take `synth build docs-search`"
            )
        self._check_explored()
        if self.questions.kind == "docs" and self.source_spec.is_graph:
            raise ValueError("questions of kind docs need documents: a source of kind docs or records")
        wanted = getattr(self.source, "distractors", None)
        if (
            isinstance(wanted, DocumentDistractors)
            and wanted != DocumentDistractors()
            and self.questions.kind != "docs"
        ):
            raise ValueError("source.distractors go with questions of kind docs: others might ask about what is false")
        self._check_recorded()
        self._check_own()
        if self.tasks is None and self.questions.kind not in ("given", "dataset", "recorded"):
            raise ValueError("tasks says how many tasks to make, and is missing")
        if not self.acting:
            raise ValueError("roles: give teacher, policy or both; nothing else acts")
        for role, who in self.roles.items():
            check_role(role, who, plans=self.source_spec.is_explored, code=self.environment.kind == "code")
        self._check_vision()
        self._check_proposer()
        self._check_simulator()
        self._check_assistants()
        self._check_helpers()
        self._check_readers()
        if self.environment.kind == "graph" and self.questions.kind not in ("world", "dataset"):
            raise ValueError(
                "environment of kind graph needs questions of kind world: others rest on pages, not on relations"
            )
        self._check_retriever()
        self._settle_noise()
        return self

    def _check_retriever(self) -> None:
        place = self.environment
        if not isinstance(place, Search):
            return
        if place.retriever not in names("retrievers"):
            known = ", ".join(names("retrievers"))
            raise ValueError(f"environment.retriever: there is no {place.retriever!r}; choose one of {known}")
        if place.reranker is not None and place.reranker.kind not in names("rerankers"):
            known = ", ".join(names("rerankers"))
            raise ValueError(f"environment.reranker.kind: there is no {place.reranker.kind!r}; choose one of {known}")
        if place.collections is not None and place.collections.spanned > 1 and self.questions.kind not in HELD:
            raise ValueError(
                f"environment.collections.spanned has no effect on questions of kind {self.questions.kind}; "
                f"it chooses among those of kind {', '.join(HELD)}"
            )
        if place.vectors is None:
            return
        if not find("retrievers", place.retriever).vectors:
            raise ValueError(f"environment.vectors has no effect: the retriever {place.retriever} compares none")
        if place.vectors.encoder not in names("encoders"):
            known = ", ".join(names("encoders"))
            raise ValueError(
                f"environment.vectors.encoder: there is no {place.vectors.encoder!r}; choose one of {known}"
            )

    def _settle_noise(self) -> None:
        """A curriculum of noise ends with the last task, unless the recipe says where."""
        place = self.environment
        if not isinstance(place, Search) or place.noise is None:
            return
        noise = place.noise
        if self.tasks is not None:
            noise = noise.for_tasks(self.tasks)
        elif noise.over is None and noise.by == "index" and noise.start != noise.end:
            raise ValueError("environment.noise.over: say at which task the share reaches its end, for tasks is empty")
        object.__setattr__(self, "environment", place.model_copy(update={"noise": noise}))

    def _check_recorded(self) -> None:
        """Runs that were recorded are not made, and their questions are given or not known."""
        recorded, asked = self.source_spec.is_recorded, self.questions.kind
        if asked == "recorded" and not recorded:
            raise ValueError("questions of kind recorded need a source of kind runs")
        if not recorded:
            if isinstance(self.environment, RecordedPlace):
                raise ValueError("an environment of kind recorded needs a source of kind runs")
            return
        if asked not in ("given", "dataset", "recorded"):
            raise ValueError(f"questions of kind {asked} are made of a source; those of runs are given, or recorded")
        if asked == "recorded" and self.tasks is not None:
            raise ValueError("tasks has no effect: what the runs were asked is not made")
        if "teacher" in self.roles:
            raise ValueError("roles.teacher has no effect: the runs are there")
        if "policy" in self.roles and not self.is_open:
            raise ValueError(
                "roles.policy: it continues runs in their environment: say environment: {kind: own, made_by: ...}"
            )
        if "policy" in self.roles and not self.has_tasks:
            raise ValueError("roles.policy: its continuations are judged by answers: give questions of kind given")

    def _check_own(self) -> None:
        """An environment of the user's, with the user's questions and agents."""
        place = find("environments", self.environment.kind)
        if self.source.kind != "own":
            if self.environment.kind == "own" and not self.source_spec.is_recorded:
                raise ValueError("an environment of kind own needs a source of kind own, or runs")
            return
        if self.questions.kind != "given":
            raise ValueError(
                f"questions of kind {self.questions.kind} are made of a source; in an environment of your own they are "
                "given: questions: {kind: given, path: ...}"
            )
        if place.needs or place.stateful or isinstance(self.environment, RecordedPlace):
            raise ValueError(
                f"environment.kind: {self.environment.kind} needs a source; with a source of kind own say "
                "{kind: own, made_by: module:function}, or the name that your package gives it"
            )
        for role in self.acting:
            if self.roles[role].backend == "scripted":
                raise ValueError(
                    f"roles.{role}.backend: no script acts in an environment of yours: name openai, vllm or "
                    "module:function"
                )

    def _check_explored(self) -> None:
        """What is explored is asked about, and acted in, as a whole."""
        source, place = self.source.kind, self.environment.kind
        explored, stateful = self.source_spec.is_explored, find("environments", place).stateful
        if self.questions.kind != "dataset" and (self.questions.kind == "reverse") != explored:
            kinds = ", ".join(sorted(name for name in names("sources") if find("sources", name).is_explored))
            raise ValueError(
                f"questions of kind reverse and a source that is explored ({kinds}) go together; "
                f"the source is of kind {source}, the questions of kind {self.questions.kind}"
            )
        if (explored or stateful) and source != place:
            raise ValueError(
                f"a source of kind {source} and an environment of kind {place} do not go together: what is explored is "
                "what agents act in"
            )
        if not explored:
            return
        if self.task_reviews != CheckKeys():
            raise ValueError("task_reviews: these ask about pages; tasks in what is explored are proved by doing")
        asked = self.questions
        if isinstance(asked, ReverseQuestions) and source != "mcp" and (asked.book or asked.hints):
            raise ValueError("questions.book and questions.hints go with a source of kind mcp")
        if isinstance(self.environment, McpServers) and not self.environment.replay_safe:
            raise ValueError(
                "environment.replay_safe: tasks on servers are proved by making their calls again; say true if that "
                "does no harm"
            )

    def _check_readers(self) -> None:
        who = self.roles.get("reflector")
        if who is not None and who.model is None:
            raise ValueError("roles.reflector: only a model reflects on a run; bind it to one (openai, vllm)")
        refined = self.refine is not None and any(how.startswith("hint") for how in self.refine.how)
        if who is not None and "teacher" not in self.roles and not refined:
            raise ValueError("roles.reflector: it reflects on a teacher's runs, and there is no teacher")
        wanted = {"refine": self.refine, "trees": self.trees}
        asked = next((name for name, value in wanted.items() if value is not None), None)
        if asked is not None and ("policy" not in self.roles or self.source_spec.is_recorded or not self.has_tasks):
            raise ValueError(f"{asked}: it starts from runs of a policy: give roles.policy, and no recorded runs")
        offered = self.management
        if self.rework is not None and self.rework.compress is not None and not (offered and offered.compress):
            raise ValueError("rework.compress: say management: {compress: true}, so that agents have the tool for it")
        if self.rework is not None and self.rework.distill and not (offered and offered.delegate):
            raise ValueError("rework.distill: say management: {delegate: true}: it distills runs that asked helpers")
        if self.ratings is not None and self.ratings.judges > 1 and "judge" not in self.roles:
            raise ValueError("ratings.judges: several voices are a model's: bind roles.judge to one (openai, vllm)")
        student = self.roles.get("policy")
        for name in ("answer_probability", "outcome_potential") if self.ratings is not None else ():
            if getattr(self.ratings, name) and (student is None or student.model is None or ":" in student.backend):
                raise ValueError(f"ratings.{name}: it is a model's: bind roles.policy to one (vllm)")
        if self.ratings is not None and self.ratings.outcome_potential and student is not None and student.rollouts < 2:
            raise ValueError("ratings.outcome_potential: it compares runs on a task: say roles.policy.rollouts")
        if self.rework is not None and self.rework.reword and (student is None or student.model is None):
            raise ValueError("rework.reword: the words are a model's: bind roles.policy to one (openai, vllm)")
        perturber = self.roles.get("perturber")
        if perturber is not None and perturber.model is None:
            raise ValueError("roles.perturber: only a model edits turns; bind it to one (openai, vllm)")
        if perturber is not None and (
            self.preferences is None or self.critical is None or set(self.acting) < set(ACTORS)
        ):
            raise ValueError("roles.perturber has no effect: no pairs of perturbed turns are made")
        if "summarizer" in self.roles and (self.summaries is None or "teacher" not in self.roles):
            what = "summaries says what it shortens (say {})" if self.summaries is None else "it shortens for a teacher"
            raise ValueError(f"roles.summarizer: {what}, and is missing")

    def _check_vision(self) -> None:
        """A model that sees needs something to look at."""
        for role, who in self.roles.items():
            seeing = who.model is not None and ":" not in who.backend and who.options.get("vision")
            if who.model is not None and "pictures" in who.options and not who.options.get("vision"):
                raise ValueError(f"roles.{role}.options.pictures: say vision: true beside it")
            if seeing and not getattr(self.environment, "screenshots", False) and self.environment.kind != "own":
                raise ValueError(
                    f"roles.{role}.options.vision: nothing is shown as a picture here: say environment.screenshots: "
                    "true, which goes with a source of kind web"
                )

    def _check_proposer(self) -> None:
        who, proposed = self.roles.get("proposer"), self.questions.kind == "proposed"
        if who is not None and (who.model is None or ":" in who.backend):
            raise ValueError("roles.proposer.backend: a model explores and asks; choose openai or vllm")
        if proposed and who is None:
            raise ValueError("questions of kind proposed need a model that explores: bind roles.proposer to one")
        if who is not None and not proposed:
            raise ValueError("roles.proposer has no effect: say questions.kind: proposed")
        if getattr(self.questions, "solved", None) is not None and "policy" not in self.roles:
            raise ValueError("questions.solved: the policy solves them: bind roles.policy, and it is missing")
        if proposed and "documents" not in self.source_spec.writes:
            raise ValueError("questions of kind proposed need documents: a source of kind docs, records or world")

    def _check_simulator(self) -> None:
        who = self.roles.get("simulator")
        if who is not None and ":" in who.backend:
            raise ValueError("roles.simulator.backend: a model writes results; choose openai or vllm")
        if self.simulation is not None and (who is None or who.model is None):
            raise ValueError("environment.simulated needs a model that writes the results: bind roles.simulator to one")
        if who is not None and self.simulation is None:
            raise ValueError("roles.simulator: environment.simulated says how it writes (say {}), and is missing")

    def _check_assistants(self) -> None:
        """
        Raises:
            ValueError: a role that assists in nothing, or ``model`` as a stand-in, which only a role can bring.
        """
        searched = self.critical is not None and "policy" in self.roles
        pairs: tuple[tuple[RoleName, str], ...] = (("expert", "expert"), ("prm", "scorer"))
        for role, key in pairs:
            if role in self.roles and not searched:
                raise ValueError(
                    f"roles.{role}: only the search for critical steps asks it: give critical and a policy"
                )
            if role not in self.roles and self.critical is not None and getattr(self.critical, key) == "model":
                raise ValueError(f"critical.{key}: say which model it is under roles.{role}")
        searched = searched or (self.source_spec.is_recorded and self.has_tasks)
        self._check_judge(paired=searched and self.preferences is not None and set(self.acting) == set(ACTORS))

    def _check_judge(self, *, paired: bool) -> None:
        """
        Raises:
            ValueError: a judge with nothing to judge, or a required verdict without a judge.
        """
        if "judge" in self.roles and ":" in self.roles["judge"].backend:
            self._check_own_judge(self.roles["judge"])
        elif "judge" in self.roles:
            if self.roles["judge"].model is None:
                raise ValueError(
                    "roles.judge.backend: a model judges, or a function of yours: choose openai, vllm or "
                    "module:function, or leave the judge out"
                )
            if not paired and self.ratings is None:
                raise ValueError(
                    "roles.judge: there are neither pairs nor ratings to judge: give preferences or ratings"
                )
        elif self.ratings is not None and self.ratings.steps:
            raise ValueError("ratings.steps: it needs a judge; name a model under roles.judge")
        elif self.preferences is not None and self.preferences.selection.judge == "require":
            raise ValueError("preferences.selection.judge: require needs a judge; name a model under roles.judge")

    def _check_own_judge(self, who: Role) -> None:
        """It rates whole runs, and does nothing else that a model does."""
        if self.ratings is None:
            raise ValueError("roles.judge.backend: a function of yours rates runs: give ratings (say {})")
        if who.model is not None or who.options:
            raise ValueError("roles.judge.backend: a function of yours is given the task and the run, and nothing else")
        if self.ratings.steps or self.ratings.judges > 1:
            raise ValueError("roles.judge.backend: a function of yours rates runs once: leave out steps and judges")
        if self.preferences is not None and self.preferences.selection.judge == "require":
            raise ValueError("preferences.selection.judge: require needs a model as roles.judge, which compares sides")

    def _check_helpers(self) -> None:
        """A role or key without effect is a mistake in the recipe."""
        writes = "writer" in self.roles and self.questions.kind not in ("given", "dataset", "proposed", "code")
        writes = writes and self.writing.share > 0
        extracts = getattr(self.source, "extract", "none") == "model"
        drafts = getattr(self.source, "draft_words", False)
        reviews, proposed = self.task_reviews, self.questions.kind == "proposed"
        checks = reviews.closed_book + reviews.alternatives + reviews.answerable + reviews.needed
        if "documents" not in self.source_spec.writes:
            checks = 0
        if extracts and "writer" not in self.roles:
            raise ValueError("source.extract: say which model reads the documents under roles.writer")
        if drafts and "writer" not in self.roles:
            raise ValueError("source.draft_words: say which model words relations under roles.writer")
        if drafts and self.questions.kind != "world":
            raise ValueError("source.draft_words: only questions.kind: world is asked in words of relations")
        if "writer" in self.roles and not (writes or extracts or drafts):
            raise ValueError(f"roles.writer has no effect with questions.kind: {self.questions.kind}")
        if "checker" in self.roles and not (checks or drafts or (writes and self.writing.confirm)):
            why = "all of task_reviews are 0"
            if "documents" not in self.source_spec.writes:
                why = "it reads what roles.writer wrote (writing.confirm), and nothing is written anew"
            raise ValueError(f"roles.checker has no effect: {why}")
        if self.writing != WritingKeys() and "writer" not in self.roles:
            raise ValueError("writing has no effect without roles.writer")
        if proposed and not checks:
            raise ValueError("task_reviews: a question that a model proposed must pass a check, and all are 0")
        if self.task_reviews != CheckKeys() and "checker" not in self.roles and not proposed:
            raise ValueError("task_reviews has no effect without roles.checker")
        if self.writing.described and self.questions.kind != "world":
            raise ValueError("writing.described: only questions about the world can be asked of the whole graph again")
        for name in self.task_reviews.reject:
            if not getattr(self.task_reviews, name):
                raise ValueError(f"task_reviews.reject: {name} is asked 0 times, so no task could pass it")
