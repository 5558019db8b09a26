"""Phrases that tell the class of a row: wording that occurs in one class far more often than in another.

Who trains on such rows learns the phrase and not the reason. A task counts once in a class, by its first row, since
rows of one task share what they are about; and what a long run says more often only because it says more tells
nothing: the share of its thoughts counts as well. Names, numbers and quotations are masked, and what is the evidence of
an outcome (giving up, a guess, hearsay) may tell of it.

What agents do tells in part how they fare, and who they are: a lost run searches once more, a teacher takes no page
that merely resembles the one that is meant. Of enough runs, all that is ever said of such a step would be named. So
behind the first tasks a phrase of a run is named only where the other class says the same in other words, or where
it is no agent's wording.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from synth.agents.scripted.phrases import PHRASES
from synth.agents.trajectory import facts_of
from synth.dataset.reader import Dataset
from synth.lexicon.reading import misleading_words, world_lexicon
from synth.schemas.adp import ContentItem
from synth.schemas.delegations import delegations_of
from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import DISTRACTOR, Document
from synth.schemas.plans import Planned, RuleHidden
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.reworked import Reworked
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, TrajectoryRow
from synth.text.slots import is_part, with_slots

__all__ = ["Said", "TellingPhrase", "Wording", "phrases_of", "telling", "telling_phrases"]

_LONGEST = 6
"""Words of a phrase."""
_RATIO = 5.0
"""Likelihood ratio above which a phrase is named."""
_CERTAIN = 4.5
"""Standard errors (signed root of the likelihood-ratio statistic): thousands of phrases are looked at."""
_FEWEST = 8
"""Tasks of a class below which it tells nothing: a few long runs hold nearly every phrase."""
_MOST = 2_000
"""Tasks of a class that are looked at: the first ones."""
_FIRST = 200
"""Tasks of a dataset whose runs are compared whatever they do."""
_CLASSES = (
    ("teacher success", "teacher failure"),
    ("policy success", "policy failure"),
    ("teacher success", "policy success"),
    ("refused", "done"),
    ("hidden rule", "no hidden rule"),
    ("planted", "real"),
    ("false page", "true page"),
)
_KNOWN = 4
"""Words of a phrase by which an intention is known."""
_BY_CONDUCT = ("success", "failure")
"""Classes of runs that do different things."""
_EVIDENCE = (
    *("find_word", "found_page", "leaf", "next_page", "outline"),
    *("answer_guess", "dead_end", "used_up", "failed", "failed_none", "fits_none", "g_dead_end", "g_none", "give_up"),
    *("dismiss", "search_again", "no_result", "postpone", "untold", "p_around", "p_again"),
    *("p_wrong", "p_unwritten", "p_instead_try"),
    *(
        "p_refused",
        "p_correct",
        "p_amiss",
        "p_amiss_right",
        "p_amiss_unseen",
        "p_amiss_untold",
        "p_unasked",
        "p_unasked_plain",
    ),
)
"""What an agent says where it leafs through a long document in vain, puts aside what does not fit, has failed, is about
to, errs for all to see, or was stopped by the application: the outcome, and no accident of wording. To these come the
words by which a page says on what ground it stands."""
_MASKED = re.compile(r"\"[^\"]*\"|“[^”]*”|\d[\d.,:/-]*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[.!?:…]")


class TellingPhrase(Row):
    """A phrase that tells two classes apart."""

    phrase: str
    classes: str
    """``policy success against policy failure`` and the like: the class that has it, against the other."""
    runs: int
    """Tasks of the first class whose row holds it."""
    of: int
    """Tasks of the first class."""
    others: int
    """Tasks of the other class whose row holds it."""
    of_others: int
    ratio: float
    """Share of the first over share of the other, half a task added to each; or that of the shares of their thoughts,
    whichever is less."""


@dataclass
class Said:
    """What the rows of a class say: how many hold each phrase, of one row a task."""

    tasks: set[str] = field(default_factory=set)
    holding: Counter[str] = field(default_factory=Counter)
    density: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Phrase -> sum over the rows of the share of their texts that hold it: each row weighs one, however long."""
    brevity: float = 0.0
    """Sum over the rows of the share that one text is."""
    sayings: Counter[str] = field(default_factory=Counter)
    """Phrase -> texts that hold it."""
    intentions: list[Counter[str]] = field(default_factory=list)
    """Of each row, how many texts say what of :data:`PHRASES`."""

    @property
    def runs(self) -> int:
        return len(self.tasks)

    def add(self, task: str, texts: Sequence[str]) -> None:
        if task not in self.tasks and len(self.tasks) < _MOST:
            self.tasks.add(task)
            spoken = [phrases_of([text]) for text in texts]
            held = Counter(phrase for phrases in spoken for phrase in phrases)
            self.holding.update(held.keys())
            for phrase, number in held.items():
                self.density[phrase] += number / len(texts)
            self.brevity += 1 / max(1, len(texts))
            self.sayings.update(held)
            said = (_intentions_of(phrases) for phrases in spoken)
            self.intentions.append(Counter(name for names in said for name in names))

    def occasions(self, intention: str, phrase: str) -> tuple[int, int]:
        """Rows, and texts, that say in some words what ``phrase`` is a wording of: at least those that hold it."""
        counts = [said[intention] for said in self.intentions]
        rows = sum(count > 0 for count in counts)
        return max(rows, self.holding[phrase]), max(sum(counts), self.sayings[phrase])

    def share(self, phrase: str) -> float:
        """Of the rows, half a row added."""
        return (self.holding[phrase] + 0.5) / (self.runs + 1)

    def thought_share(self, phrase: str) -> float:
        """Of the texts of a row, half a text added to the sum over rows."""
        return (self.density.get(phrase, 0.0) + 0.5 * self.brevity / self.runs) / (self.runs + 1)


class Wording:
    """What the rows of a dataset say, by class, as they stream past: thoughts of scripted players (by role, those that
    succeeded and those that failed; requests that a hidden rule forbids and others), requests (refused ones and
    others), rejected sides of pairs (planted ones and real ones), and written pages (false ones and true ones). A
    model's phrases are its own."""

    def __init__(self) -> None:
        self._said: dict[str, Said] = {}
        self._first: dict[str, Said] = {}
        """The same of runs on the first tasks."""
        self._tasks: set[str] = set()
        """The first tasks."""
        self._hidden: dict[str, bool] = {}
        """Task with a plan -> whether a hidden rule forbids what is asked for."""
        self._own_words: set[str] = set()
        """Runs of models and recorded ones."""
        self._false: set[str] = set()
        """Pages that mislead."""
        self._titles: set[str] = set()
        """Words of titles: what a manual calls its pages and commands need not have a capital to be masked by."""
        self._asked: set[str] = set()
        """Words of questions: what agents look for."""

    def see(self, row: Task | TrajectoryRow | PreferenceRow | PlantedMisinformation | Document) -> None:
        if isinstance(row, Task):
            self._task(row)
        elif isinstance(row, PlantedMisinformation):
            self._false.add(row.document_id)
        elif isinstance(row, Document):
            if row.kind != DISTRACTOR:
                self._titles.update(_WORD.findall(row.title.casefold()))
            else:
                name = "false page" if row.id in self._false else "true page"
                self._add(name, row.id, [_spoken_of().sub(" … ", line) for line in row.text.splitlines() if line])
        elif isinstance(row, TrajectoryRow):
            self._run(row)
        elif row.trajectory_id not in self._own_words and row.kind is not PairKind.TRAJECTORY:
            self._add("planted" if row.kind is PairKind.PERTURBATION else "real", row.task_id, _thoughts(row.rejected))

    def _task(self, task: Task) -> None:
        self._asked.update(_WORD.findall(task.question.casefold()))
        if Planned.stand_in(task.details):
            self._hidden[task.id] = RuleHidden.of(task.details).hidden is not None
            refused = Planned.of(task.details).plan.outcome == "refused"
            self._add("refused" if refused else "done", task.id, [task.question])

    def _run(self, row: TrajectoryRow) -> None:
        if row.model is not None or row.environment == RECORDED:
            self._own_words.add(row.id)
            return
        if row.verdict.correct is None or delegations_of(facts_of(row)) or Reworked.stand_in(row.details):
            return  # what is thought of helpers and of notes goes with calls that others have no reason to make
        thoughts = _thoughts(row.content)
        name = f"{row.role} success" if row.success else f"{row.role} failure"
        self._add(name, row.task_id, thoughts)
        if len(self._tasks) < _FIRST:
            self._tasks.add(row.task_id)
        if row.task_id in self._tasks:
            self._first.setdefault(name, Said()).add(row.task_id, thoughts)
        if row.success and row.role == "teacher" and row.task_id in self._hidden:
            self._add("hidden rule" if self._hidden[row.task_id] else "no hidden rule", row.task_id, thoughts)

    def _add(self, name: str, task: str, texts: Sequence[str]) -> None:
        self._said.setdefault(name, Said()).add(task, texts)

    def telling(self) -> tuple[TellingPhrase, ...]:
        """The worst first."""
        found: list[TellingPhrase] = []
        for first, second in _CLASSES:
            conduct = first.endswith(_BY_CONDUCT)
            for rows, occasion in ((self._first, False), (self._said, True)) if conduct else ((self._said, False),):
                one, other = rows.get(first), rows.get(second)
                if one is not None and other is not None and min(one.runs, other.runs) >= _FEWEST:
                    found += telling(one, other, f"{first} against {second}", occasion=occasion)
                    found += telling(other, one, f"{second} against {first}", occasion=occasion)
        found = [one for one in found if self._of_others(one.classes).isdisjoint(one.phrase.split())]
        return tuple(sorted(found, key=lambda one: (-one.ratio, one.phrase)))

    def _of_others(self, classes: str) -> set[str]:
        """Words that are none of the wording that is compared."""
        if "page" in classes:
            return set()
        return (self._titles if "refused" in classes else self._titles | self._asked) - _own_words()


def telling_phrases(dataset: Dataset) -> tuple[TellingPhrase, ...]:
    """Phrases of a whole dataset that tell a class, the worst first."""
    wording = Wording()
    for table in ("planted_misinformation", "documents", "tasks", "trajectories", "preferences"):
        for row in dataset.rows(table):
            wording.see(row)
    return wording.telling()


def _thoughts(content: Iterable[ContentItem]) -> list[str]:
    return [thought for item in content if (thought := getattr(item, "reasoning_content", None))]


def phrases_of(texts: Iterable[str]) -> frozenset[str]:
    """All 1- to 6-grams of words, within a sentence and outside names, numbers and quotations."""
    return frozenset(phrase for text in texts for phrase in _grams(text))


def _grams(text: str) -> Iterator[str]:
    run: list[str] = []
    start = True
    for match in (*_WORD.finditer(_MASKED.sub(" … ", text)), None):
        word = "…" if match is None else match.group()
        named = word[:1].isupper() and not start and word != "I"
        if named or not word[:1].isalpha():
            yield from (
                " ".join(run[a:b]) for a in range(len(run)) for b in range(a + 1, min(len(run), a + _LONGEST) + 1)
            )
            run = []
        else:
            run.append(word.casefold())
        start = word in ".!?:…"


def telling(one: Said, other: Said, classes: str, *, occasion: bool = False) -> Iterator[TellingPhrase]:
    """Phrases of ``one`` that are rare in ``other``; of nested ones with the same counts the longest.

    Args:
        occasion: Only those that are rare among the rows, too, that say the same in any words.
    """
    named: list[TellingPhrase] = []
    for phrase, runs in one.holding.items():
        others = other.holding[phrase]
        ratio = min(one.share(phrase) / other.share(phrase), one.thought_share(phrase) / other.thought_share(phrase))
        if ratio <= _RATIO or _surprise(runs, one.runs, others, other.runs) <= _CERTAIN:
            continue
        if not occasion or _differs(one, other, phrase):
            named.append(
                TellingPhrase(
                    phrase=phrase,
                    classes=classes,
                    runs=runs,
                    of=one.runs,
                    others=others,
                    of_others=other.runs,
                    ratio=round(ratio, 1),
                )
            )
    yield from (found for found in _longest(named) if not _is_evidence(found.phrase))


def _longest(named: Sequence[TellingPhrase]) -> Iterator[TellingPhrase]:
    kept: list[TellingPhrase] = []
    for one in sorted(named, key=lambda one: (-len(one.phrase), one.phrase)):
        if not any(f" {one.phrase} " in f" {other.phrase} " and other.runs >= 0.8 * one.runs for other in kept):
            kept.append(one)
            yield one


def _differs(one: Said, other: Said, phrase: str) -> bool:
    """Whether ``other``, where it says what the phrase may be part of, does so in other words; true of what is no
    wording of ours."""
    for intention in _intentions_with(phrase):
        (rows, texts), (other_rows, other_texts) = one.occasions(intention, phrase), other.occasions(intention, phrase)
        said, other_said = one.sayings[phrase], other.sayings[phrase]
        ratio = (said + 0.5) / (texts + 1) / ((other_said + 0.5) / (other_texts + 1))
        surprises = (
            _surprise(one.holding[phrase], rows, other.holding[phrase], other_rows),
            _surprise(said, texts, other_said, other_texts),
        )
        if ratio <= _RATIO or min(surprises) <= _CERTAIN:
            return False
    return True


def _surprise(runs: int, of: int, others: int, of_others: int) -> float:
    """Signed root of the likelihood-ratio statistic: about standard normal where both classes say it equally often."""
    share = (runs + others) / (of + of_others)
    cells = [(runs, of * share), (of - runs, of * (1 - share))]
    cells += [(others, of_others * share), (of_others - others, of_others * (1 - share))]
    return math.sqrt(max(0.0, 2 * sum(seen * math.log(seen / wanted) for seen, wanted in cells if seen)))


@cache
def _spoken_of() -> re.Pattern[str]:
    """What a page says of which of two of one name it means, and what is no word of it."""
    words = misleading_words()
    said = map(re.escape, (*words.namesake.values(), *words.itself.values()))
    return re.compile("|".join((r"\[[^\]]*\]", *said)), re.IGNORECASE)


@cache
def _own_words() -> frozenset[str]:
    """All words that agents have of their own: others are of questions and pages."""
    texts = (re.sub(r"{.*?}", " ", text) for phrases in PHRASES.values() for text in phrases)
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


@cache
def _telling_of() -> dict[str, frozenset[str]]:
    """Phrase -> intentions that are known by it: of each wording the longest, where that is long enough."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for intention, wordings in PHRASES.items():
        for wording in wordings:
            phrases = phrases_of([re.sub(r"{.*?}", " … ", wording)])
            longest = max(phrases, key=lambda phrase: (phrase.count(" "), phrase), default="")
            if longest.count(" ") + 1 >= _KNOWN:
                found[longest].add(intention)
    return {phrase: frozenset(names) for phrase, names in found.items()}


def _intentions_of(phrases: frozenset[str]) -> frozenset[str]:
    known = _telling_of()
    return frozenset(name for phrase in phrases & known.keys() for name in known[phrase])


@cache
def _wordings() -> dict[str, str]:
    """Intention -> all its wordings, folded."""
    return {name: "|".join(with_slots(text) for text in PHRASES[name]) for name in PHRASES}


def _intentions_with(phrase: str) -> frozenset[str]:
    """Those that have a wording with ``phrase`` in it."""
    return frozenset(name for name, text in _wordings().items() if is_part(phrase, text))


@cache
def _evidence() -> tuple[str, ...]:
    texts = [phrase for intent in _EVIDENCE for phrase in PHRASES.get(intent, ())]
    words = misleading_words()
    for name in words.time_varying:
        relation = world_lexicon().relations[name]
        if relation.value in ("number", "quantity"):  # what was counted then is no longer so
            texts += relation.page
    for frame in (
        frame for kinds in (words.kinds, words.documents) for kind in kinds.values() for frame in kind.frames
    ):
        texts += [text for text in (*frame.sentences, f"!{frame.upheld}") if text.startswith("!")]
    return tuple(map(with_slots, texts))


def _is_evidence(phrase: str) -> bool:
    return any(is_part(phrase, text) for text in _evidence())
