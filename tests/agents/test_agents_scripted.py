from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.agents.loop import Rollout
from synth.agents.scripted.config import PolicyConfig, TeacherConfig
from synth.agents.scripted.matching import content_words, dangling, likeness, same_name, similarity
from synth.agents.scripted.options import listed_with, options_in
from synth.agents.scripted.phrases import NOTES, PHRASES, Thoughts, read_notes
from synth.agents.scripted.players import ScriptedPolicy, ScriptedTeacher
from synth.agents.scripted.reading import read_task
from synth.agents.scripted.seen import Seen
from synth.agents.scripted.state import Replay, state_of
from synth.environments.contract import ToolCall
from synth.environments.passages import passages_of
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.schemas.tasks import Task
from synth.testing.corpus import small_tasks
from synth.text.words import fold, stem

Run = Callable[..., Rollout]


def disguised(task: Task) -> Task:
    """The same question with a walk that has other bridges, another answer and other evidence."""
    names: dict[str, str] = {}

    def other(node: Any) -> Any:
        number = names.setdefault(node.id, f"secret-{len(names)}")
        return node.model_copy(update={"id": number, "name": number.upper(), "document_id": number, "aliases": ()})

    hops = []
    for hop in task.walk.hops:
        evidence = hop.evidence.model_copy(update={"document_id": "secret", "quote": "A secret."})
        source = hop.source if not hop.needs else other(hop.source)
        changes = {"source": source, "target": other(hop.target), "evidence": evidence, "relation": "secret"}
        hops.append(hop.model_copy(update=changes))
    walk = task.walk.model_copy(update={"hops": tuple(hops)})
    changed = {"walk": walk, "answer": "SECRET", "gold_entities": ("s",), "gold_documents": ("s",)}
    return task.model_copy(update=changed)


def test_a_policy_knows_nothing_but_the_question(run: Run) -> None:
    """Whatever stands in the walk behind the question, the policy does the same."""
    for task in small_tasks():
        for sample in range(6):
            honest = run(ScriptedPolicy(task), task, sample)
            blind = run(ScriptedPolicy(disguised(task)), task, sample)
            assert honest.history == blind.history
            assert "secret" not in repr(read_task(disguised(task))).casefold()


def test_a_teacher_is_led_by_its_walk(run: Run) -> None:
    """The counterpart: with another walk behind it, the teacher finds nothing to choose."""
    task = small_tasks()[1]
    assert run(ScriptedTeacher(task), task, 0).verdict.correct is True
    assert run(ScriptedTeacher(disguised(task)), task, 0).verdict.correct is not True


def test_teachers_succeed_and_policies_sometimes(run: Run) -> None:
    right: Counter[str] = Counter()
    stops: Counter[str] = Counter()
    lengths: list[int] = []
    for task in small_tasks():
        for sample in range(12):
            teacher = run(ScriptedTeacher(task), task, "t", sample)
            policy = run(ScriptedPolicy(task), task, "p", sample)
            right["teacher"] += teacher.verdict.correct is True
            right["policy"] += policy.verdict.correct is True
            stops[policy.stop_reason] += 1
            lengths.append(len(teacher.history))
    assert right["teacher"] == 60
    assert 15 <= right["policy"] <= 50
    assert min(lengths) >= 3
    assert max(lengths) <= 14
    assert len(stops) >= 1


def test_skill_is_a_knob(run: Run) -> None:
    rates = []
    for skill in (0.0, 1.0):
        config = PolicyConfig(skill=skill, systematic=())
        made = [run(ScriptedPolicy(task, config), task, sample) for task in small_tasks() for sample in range(12)]
        rates.append(sum(rollout.verdict.correct is True for rollout in made))
        if skill == 1.0:
            assert not any(rollout.injected for rollout in made)
    assert rates[1] > rates[0] + 10


def test_policies_mend_their_mistakes_too(run: Run) -> None:
    """A wrong turn that was taken back, and a task solved after it."""
    mended = 0
    for task in small_tasks():
        for sample in range(30):
            made = run(ScriptedPolicy(task), task, "mend", sample)
            early = [error for error in made.injected if error.turn < len(made.history) - 2]
            mended += bool(early) and made.verdict.correct is True
    assert mended > 10


def test_continuations_of_one_prefix_differ(run: Run) -> None:
    """What branching needs: from the same state a policy may go right or wrong, as its generator has it."""
    outcomes: set[tuple[str, bool]] = set()
    for task in small_tasks():
        prefix = run(ScriptedPolicy(task), task, "x").history[:1]
        for sample in range(20):
            made = run(ScriptedPolicy(task), task, "branch", sample, history=prefix)
            outcomes.add((task.id, made.verdict.correct is True))
    both = [task.id for task in small_tasks() if {(task.id, True), (task.id, False)} <= outcomes]
    assert len(both) >= 2


def test_a_policy_goes_on_where_a_teacher_was(run: Run) -> None:
    """The teacher's own words say what it has settled; the policy reads them and builds on them."""
    task = small_tasks()[0]
    teacher = run(ScriptedTeacher(task, TeacherConfig(detour=0)), task, "x")
    halfway = next(n for n, step in enumerate(teacher.history) if "Korvan Works" in (step.turn.thought or ""))
    prefix = teacher.history[: halfway + 1]
    state = state_of(read_task(task), prefix)
    assert state.values[0].name == "Korvan Works"
    assert state.values[0].document == "korvan-works"
    assert state.open_clue() == 1
    good = sum(
        run(ScriptedPolicy(task), task, "after", sample, history=prefix).verdict.correct is True for sample in range(20)
    )
    assert good >= 14


def test_a_history_that_goes_on_is_replayed_once_and_changes_stay_with_the_caller(run: Run) -> None:
    for task in small_tasks():
        history = run(ScriptedTeacher(task), task, "x").history
        replay = Replay(read_task(task))
        for turn in (*range(len(history)), 1):  # at last back to where it was before
            state, fresh = replay.state(history[:turn]), state_of(read_task(task), history[:turn])
            for name in ("values", "resolved", "dismissed", "members", "kept", "told", "postponed", "member"):
                assert getattr(state, name) == getattr(fresh, name)
            assert state.seen.turns == fresh.seen.turns == turn
            assert {name: list(one.sentences()) for name, one in state.seen.documents.items()} == {
                name: list(one.sentences()) for name, one in fresh.seen.documents.items()
            }
            state.resolved.add(99)
            state.values.clear()
            state.members.clear()


def test_teachers_check_rivals_and_reject_them(run: Run) -> None:
    task = small_tasks()[3]
    config = TeacherConfig(detour=0.0)
    made = run(ScriptedTeacher(task, config), task, 0)
    assert made.verdict.correct is True
    opened = [call.arguments.get("document") for step in made.history for call in step.turn.calls]
    assert {"ilse-brandt", "edda-torrin"} & set(opened)


def test_teachers_turn_pages(environment: SearchEnvironment, run: Run) -> None:
    turned = 0
    for task in small_tasks():
        for sample in range(8):
            made = run(ScriptedTeacher(task), task, sample)
            turned += any(call.arguments.get("page", 1) > 1 for step in made.history for call in step.turn.calls)
    assert turned > 0


def test_no_one_mould(run: Run) -> None:
    """Of many thoughts few are alike, even with all names taken out."""
    bare: list[str] = []
    for task in small_tasks():
        for sample in range(10):
            for step in run(ScriptedTeacher(task), task, "voice", sample).history:
                if not step.turn.thought:
                    continue
                text = re.sub(r'"[^"]*"', "Q", step.turn.thought)
                bare.append(re.sub(r"\b(?:[A-Z]\w+|\d[\d,]*)(?: (?:of the )?(?:[A-Z]\w+|\d+))*", "N", text))
    commonest = Counter(bare).most_common(1)[0][1]
    assert commonest <= 0.06 * len(bare)
    assert len(set(bare)) >= 0.6 * len(bare)


NAMES = st.sampled_from(
    [
        "Korvan Works",
        "St. Aldan",
        "Mr. J. Holm Jr.",
        "14 March 1871",
        "80,000",
        "os.path.join()",
        "Q. What then?",
        "é, too",
        "I",
    ]
)


@given(st.sampled_from(NOTES), NAMES, st.integers(0, 500), st.text(alphabet="abc é", max_size=12))
def test_notes_are_read_back_as_written(intent: str, name: str, number: int, question: str) -> None:
    thoughts = Thoughts(question, derive_generator(0, number))
    thoughts.add("quote", quote=f"This mentions {name} and more.", title="Somewhere")
    thoughts.add(intent, found=name)
    thoughts.add("next_clue", cue="the head office of it")
    assert read_notes(thoughts.text(), [f"before {name} after"]) == [
        ("member" if intent == "members" else intent, name)
    ]


def test_what_goes_on_a_list_together_is_one_sentence() -> None:
    names = ["The Clock and the Embers", "Ilse Brandt", "Q. What then?"]
    thoughts = Thoughts("q", derive_generator(0))
    for name in names:
        thoughts.add("member", found=name)
    assert thoughts.text().count("; ") == 2
    assert read_notes(thoughts.text(), [f"There are {name}." for name in names]) == [("member", name) for name in names]
    assert read_notes(thoughts.text(), names[:2]) == []


def test_a_call_is_announced_or_not_by_the_question_and_never_left_unclear() -> None:
    shares = []
    for number in range(40):
        made = [Thoughts(f"q{number}", derive_generator(0, number, turn)) for turn in range(20)]
        for thoughts in made:
            thoughts.add("open_link", name="Orl Academy")
        shares.append(sum(map(bool, made)))
        beside = Thoughts(f"q{number}", derive_generator(0, number))
        beside.add("dismiss", found="Dessau Ferry")
        beside.add("open_link", name="Orl Academy")
        assert "Orl Academy" in beside.text()
    assert max(shares) == 20
    assert min(shares) < 6


def test_names_that_were_not_seen_are_not_read_as_notes() -> None:
    thoughts = Thoughts("q", derive_generator(0))
    thoughts.add("found", found="Atlantis")
    assert read_notes(thoughts.text(), ["nothing of the kind"]) == []


def test_notes_do_not_sound_like_other_phrases() -> None:
    """No other phrase may be read as a note: that would settle something that was only mentioned."""
    for intent, phrases in PHRASES.items():
        if intent in NOTES:
            continue
        for phrase in phrases:
            slots = dict.fromkeys(re.findall(r"\{(\w+)\}", phrase), "Korvan Works")
            text = phrase.format(**slots)
            assert read_notes(text, ["Korvan Works"]) == [], (intent, phrase)


def test_every_intention_has_several_phrasings() -> None:
    for intent, phrases in PHRASES.items():
        assert len(phrases) >= 4, intent
        assert len(set(phrases)) == len(phrases)
        assert len({tuple(sorted(set(re.findall(r"\{(\w+)\}", p)))) for p in phrases}) <= 4


def test_seen_reads_what_the_environment_writes(environment: SearchEnvironment) -> None:
    from synth.agents.contract import Step, Turn

    task = small_tasks()[0]
    episode = environment.reset(task)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "Arvel Torrin", "k": 2}),
        ("open", {"document": "arvel-torrin"}),
        ("open", {"document": "arvel-torrin", "page": 2}),
        ("find", {"pattern": "torrin"}),
        ("find", {"pattern": "zzz"}),
        ("open", {"document": "zzz"}),
    ]
    steps = []
    for number, (name, arguments) in enumerate(calls):
        call = ToolCall(id=f"c{number}", name=name, arguments=arguments)
        steps.append(Step(turn=Turn(calls=(call,)), results=(episode.step(call),)))
    seen = Seen(tuple(steps))
    assert [hit.document for hit in seen.searches[0].hits] == ["arvel-torrin", "arvel-torrent"]
    page = seen.documents["arvel-torrin"]
    assert page.title == "Arvel Torrin"
    assert sorted(page.pages) == [1, 2]
    assert page.unread == (3 if page.total > 2 else None)
    assert [(find.pattern, find.matches) for find in seen.finds] == [("torrin", 3), ("zzz", 0)]
    assert seen.last_failure is not None
    links = {item.document for sentence in page.sentences() for item in sentence.links}
    assert links >= {"mosk", "korvan-works", "lume-press"}


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("entity", ["Ilse Brandt", "Jon Maak", "Mosk"]),
        ("date", ["30 January 1868"]),
        ("year", ["1868", "1900"]),
        ("number", ["412", "1900"]),
        ("quantity", ["412 metres", "1900"]),
    ],
)
def test_options(kind: Any, texts: list[str]) -> None:
    line = "[Ilse Brandt](ilse) and [Jon Maak](jon) met on 30 January 1868, at 412 metres, in [Mosk](mosk) in 1900."
    (sentence,) = passages_of(line, "d", "", 1)
    options = options_in(sentence, kind)
    assert [option.text for option in options] == texts
    if kind == "entity":
        assert listed_with(options[0]) == ["Ilse Brandt", "Jon Maak"]
        assert listed_with(options[2]) == []


def test_words_of_a_query() -> None:
    cue = "which stadium holds 3,800 spectators, and is the city's 12-year-old ground in 1405, 2, or 3"
    assert content_words(f"{cue} of the stadium") == [
        "stadium",
        "holds",
        "3,800",
        "spectators",
        "city's",
        "12-year-old",
        "ground",
        "1405",
        "2",
        "3",
    ]


def test_matching() -> None:
    assert stem("founder") == stem("founded") == stem("founding")
    assert stem("cities") == stem("city")
    assert same_name("The Korvan Works", "Korvan works")
    assert same_name("Orl (river)", "Orl")
    assert not same_name("Orl (river)", "Orl (town)")
    assert likeness("Arvel Torrin", "Arvel Torrent") == pytest.approx(1 / 3)
    assert fold("Torrin's “Book”, vol. 2") == "torrin book vol 2"
    lexicon = {"established": {"founded_by"}, "founder": {"founded_by"}}
    cue, sentence = "the founder of Korvan", "Korvan was established by Torrin."
    assert similarity(cue, sentence, {}, ("Korvan",)) == 0.0
    assert similarity(cue, sentence, lexicon, ("Korvan",)) > 0.3


def test_a_clause_that_lacks_its_object_is_not_quoted_as_the_next_part() -> None:
    assert dangling("the country that includes")
    assert dangling("How high is")
    assert not dangling("the country that includes Lower Maine")
