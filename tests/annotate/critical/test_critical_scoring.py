"""The embedded scorer: what a step is worth, by what it shows when it is carried out."""

from __future__ import annotations

from small_runs import play

from synth.agents.contract import History, Step, Turn
from synth.agents.loop import prompt_for
from synth.agents.scripted.config import TeacherConfig
from synth.agents.scripted.players import ScriptedTeacher
from synth.annotate.critical.contract import Point, Score
from synth.annotate.critical.scoring import EvidenceScorer
from synth.environments.contract import Episode, ToolCall, ToolResult
from synth.environments.search import SearchEnvironment, SearchEpisode
from synth.schemas.tasks import Task, Walk
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks

DOCUMENTS = small_documents()
ENVIRONMENT = SearchEnvironment(WordIndex(DOCUMENTS), ListTable(DOCUMENTS))
OFFICE, BORN, BOOK, STUDENT, LIBRARY = small_tasks()
SCORER = EvidenceScorer()


class BrokenEnvironment(SearchEnvironment):
    """Whose `find` breaks."""

    def reset(self, task: Task) -> SearchEpisode:
        return BrokenEpisode(self, task)


class BrokenEpisode(SearchEpisode):
    def step(self, call: ToolCall) -> ToolResult:
        if call.name == "find":
            return ToolResult(call_id=call.id, name="find", content="timeout", error="failure")
        return super().step(call)


def call(name: str, **arguments: object) -> Turn:
    return Turn(calls=(ToolCall(id="call_0_0", name=name, arguments=arguments),))


def history(task: Task, *turns: Turn, environment: SearchEnvironment = ENVIRONMENT) -> History:
    episode: Episode = environment.reset(task)
    return tuple(Step(turn=turn, results=tuple(episode.step(c) for c in turn.calls)) for turn in turns)


def scores(
    task: Task, past: tuple[Turn, ...], *turns: Turn, environment: SearchEnvironment = ENVIRONMENT
) -> list[Score]:
    before = history(task, *past, environment=environment)
    point = Point(task, environment, prompt_for(environment, task, "s"), before, turns[0])
    return list(SCORER.score(point, turns))


def values(task: Task, past: tuple[Turn, ...], *turns: Turn) -> list[float]:
    found = [score.value for score in scores(task, past, *turns)]
    assert all(value is not None for value in found), found
    return [value for value in found if value is not None]


SEARCH = call("search", query="Arvel Torrin")
FOUNDER = call("open", document="arvel-torrin")
LOOKALIKE = call("open", document="arvel-torrent")
WORKS = call("open", document="korvan-works")


def test_the_right_page_beats_one_of_a_like_name() -> None:
    right, wrong = values(OFFICE, (SEARCH,), FOUNDER, LOOKALIKE)
    assert right > 0.6
    assert wrong < 0.5


def test_following_the_evidence_beats_another_link_of_the_same_page() -> None:
    right, wrong = values(OFFICE, (SEARCH, FOUNDER), WORKS, call("open", document="lume-press"))
    assert right > 0.6
    assert wrong < 0.5


def test_looking_around_on_a_wrong_page_is_worse_than_leaving_it() -> None:
    leave, stay = values(OFFICE, (SEARCH, LOOKALIKE), FOUNDER, call("find", pattern="school"))
    assert leave > 0.6
    assert stay < 0.5


def test_refused_and_repeated_calls() -> None:
    bad = call("search", q="x")
    again, refused, same = values(OFFICE, (SEARCH, bad), bad, call("open"), SEARCH)
    assert again < refused < same < 0.5


def test_an_answer_is_worth_what_was_read_for_it() -> None:
    right, wrong = Turn(answer="Dessau Ferry"), Turn(answer="Velden")
    read = (SEARCH, FOUNDER, WORKS)
    assert values(OFFICE, read, right)[0] > 0.6
    assert values(OFFICE, (call("search", query="Hanne Velt"),), right)[0] < 0.5
    assert max(values(OFFICE, read, wrong, Turn())) < 0.5


def test_all_conditions_must_have_been_in_view() -> None:
    answer = Turn(answer="Jon Maak")
    school = (call("search", query="Orl Academy", k=1), call("open", document="orl-academy"))
    assert values(STUDENT, school, answer)[0] < 0.5
    assert values(STUDENT, (*school, call("open", document="jon-maak")), answer)[0] > 0.6


def test_a_score_does_not_depend_on_what_is_scored_beside_it() -> None:
    turns = (FOUNDER, LOOKALIKE, SEARCH, call("find", pattern="pumps"), Turn(answer="Velden"), call("nothing"))
    together = scores(OFFICE, (SEARCH,), *turns)
    assert together == [scores(OFFICE, (SEARCH,), turn)[0] for turn in turns]
    assert together[::-1] == scores(OFFICE, (SEARCH,), *turns[::-1])


def test_it_abstains_when_nothing_tells() -> None:
    given = OFFICE.model_copy(update={"shape": "given", "walk": Walk(shape="given", hops=())})
    good, bad = scores(given, (SEARCH,), FOUNDER, call("open"))
    assert good.value is None
    assert "no evidence" in good.reason
    assert bad.value is not None, "a refused call needs no walk"
    assert bad.value < 0.5

    broken = BrokenEnvironment(WordIndex(DOCUMENTS), ListTable(DOCUMENTS))
    (score,) = scores(OFFICE, (SEARCH,), call("find", pattern="x"), environment=broken)
    assert score.value is None

    other = OFFICE.model_copy(update={"environment": "application"})
    assert scores(other, (SEARCH,), FOUNDER)[0].value is None


def test_it_abstains_where_the_history_can_not_be_restored() -> None:
    (step,) = history(OFFICE, SEARCH)
    forged = step.model_copy(update={"results": (step.results[0].model_copy(update={"content": "nothing"}),)})
    point = Point(OFFICE, ENVIRONMENT, prompt_for(ENVIRONMENT, OFFICE, "s"), (forged,), FOUNDER)
    assert [score.value for score in SCORER.score(point, [FOUNDER, WORKS])] == [None, None]


def test_what_the_teacher_does_is_good() -> None:
    """Every step of it that the gold walk asks for, in all tasks of the small collection."""
    for task in (OFFICE, BORN, BOOK, STUDENT, LIBRARY):
        teacher = ScriptedTeacher(task, TeacherConfig(detour=0.0, rivals=0))
        done = play(teacher, ENVIRONMENT, task, seed=1)
        assert done.verdict.correct
        for number, step in enumerate(done.history):
            point = Point(task, ENVIRONMENT, done.prompt, done.history[:number], step.turn)
            (score,) = SCORER.score(point, [step.turn])
            assert score.value is not None
            assert score.value >= 0.5, (task.question, number, score)
        assert score.value > 0.6, "the answer"
