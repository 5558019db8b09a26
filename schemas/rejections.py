"""What was dropped, and why: nothing vanishes."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from synth.schemas.row import NonEmpty, Row, Split

__all__ = ["Reason", "Rejection"]


class Reason(StrEnum):
    """Why a row was rejected. Each member's sentence is in ``Reason.sentence``."""

    # documents
    UNREADABLE = "unreadable"
    OUTSIDE = "outside"
    NOT_TEXT = "not_text"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    MALFORMED = "malformed"
    DUPLICATE_ID = "duplicate_id"
    DUPLICATE_CONTENT = "duplicate_content"
    PRIVATE_DATA = "private_data"
    # tasks
    NO_WALK = "no_walk"
    NOT_DRAWN = "not_drawn"
    ANSWER_IN_QUESTION = "answer_in_question"
    EVIDENCE_DOES_NOT_STATE = "evidence_does_not_state"
    NOT_UNIQUE = "not_unique"
    SHORTCUT = "shortcut"
    NOT_RETRIEVABLE = "not_retrievable"
    UNNATURAL = "unnatural"
    DUPLICATE_TASK = "duplicate_task"
    NEAR_DUPLICATE = "near_duplicate"
    SPLIT_CONFLICT = "split_conflict"
    NO_EVIDENCE = "no_evidence"
    KNOWN_ANSWER = "known_answer"
    NOT_ANSWERABLE = "not_answerable"
    UNCHECKED = "unchecked"
    CONTAMINATED = "contaminated"
    OUTSIDE_BAND = "outside_band"
    # reverse tasks
    AMBIGUOUS = "ambiguous"
    ORDER_MATTERS = "order_matters"
    NOT_REPLAYED = "not_replayed"
    NOT_MINIMAL = "not_minimal"
    NOT_FORBIDDEN = "not_forbidden"
    # code
    NOT_PYTHON = "not_python"
    UNTESTED = "untested"
    BREAKS_MUCH = "breaks_much"
    STOPPED = "stopped"
    DATED = "dated"
    # wordings
    MEANING_CHANGED = "meaning_changed"
    NOT_CONFIRMED = "not_confirmed"
    # trajectories
    UNGROUNDED = "ungrounded"
    OMISSION = "omission"
    MISSING_BEHAVIOUR = "missing_behaviour"
    INVALID_TRAJECTORY = "invalid_trajectory"
    ENVIRONMENT_ERROR = "environment_error"
    ANSWER_IN_REFLECTION = "answer_in_reflection"
    # turns of a model
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    EMPTY_REPLY = "empty_reply"
    NARRATED_CALL = "narrated_call"
    MALFORMED_CALL = "malformed_call"
    UNKNOWN_TOOL = "unknown_tool"
    WRONG_ARGUMENTS = "wrong_arguments"
    CONTEXT_OVERFLOW = "context_overflow"
    TOKEN_LIMIT = "token_limit"
    TIME_LIMIT = "time_limit"
    ENDPOINT_FAILED = "endpoint_failed"
    # verdicts of a model
    UNSURE = "unsure"
    INCONSISTENT = "inconsistent"
    BAD_CITATION = "bad_citation"
    # pairs
    NO_PAIR = "no_pair"
    DUPLICATE_PAIR = "duplicate_pair"
    # repairs
    REPAIR_SAME = "repair_same"
    REPAIR_INVALID = "repair_invalid"
    REPAIR_UNSAFE = "repair_unsafe"
    REPAIR_OVER_REFUSES = "repair_over_refuses"
    REPAIR_USELESS = "repair_useless"
    REPAIR_LONGER = "repair_longer"
    # refined runs
    NO_FIRST_ERROR = "no_first_error"
    NO_USEFUL_SEGMENT = "no_useful_segment"
    NOT_REFINED = "not_refined"
    # reworked runs
    NOT_DISTILLED = "not_distilled"
    NOT_COMPRESSED = "not_compressed"
    NOT_REWORDED = "not_reworded"
    # distractors
    NO_DISTRACTOR = "no_distractor"
    # collections
    ONE_COLLECTION = "one_collection"
    # contexts
    NO_CONTEXT = "no_context"

    @property
    def sentence(self) -> str:
        """The reason as a sentence for a person."""
        return _SENTENCES[self]


_SENTENCES: dict[Reason, str] = {
    Reason.UNREADABLE: "The file could not be read.",
    Reason.OUTSIDE: "The file is a symbolic link that leads out of the folder.",
    Reason.NOT_TEXT: "The file is not text in an encoding that we know.",
    Reason.EMPTY: "No text was left once markup and boilerplate were gone.",
    Reason.TOO_LARGE: "The document is over the size that the recipe allows.",
    Reason.MALFORMED: "The record is not of the form that its format asks for.",
    Reason.DUPLICATE_ID: "Another document has the same id.",
    Reason.DUPLICATE_CONTENT: "Another document has the same text.",
    Reason.PRIVATE_DATA: "It holds personal data or secrets.",
    Reason.NOT_DRAWN: "It was not drawn: what is sampled by its reward is taken with a chance proportional to it.",
    Reason.NO_WALK: "No walk of the wanted shape starts here.",
    Reason.ANSWER_IN_QUESTION: "The question gives the answer away.",
    Reason.EVIDENCE_DOES_NOT_STATE: "The cited span does not state the fact.",
    Reason.NOT_UNIQUE: "Another answer satisfies the question.",
    Reason.SHORTCUT: "A part of the question is enough to find the answer.",
    Reason.NOT_RETRIEVABLE: "Search does not find a page with the names that are known at that hop.",
    Reason.UNNATURAL: "The question could not be worded in a way that a person would.",
    Reason.DUPLICATE_TASK: "An earlier candidate asks the same.",
    Reason.NEAR_DUPLICATE: "Another row that was accepted is nearly the same.",
    Reason.SPLIT_CONFLICT: "The walk's gold entities belong to different splits, or a task that is like it belongs to "
    "another.",
    Reason.NO_EVIDENCE: "The answer was not found in any document of the source.",
    Reason.KNOWN_ANSWER: "A model answers the question without looking anything up.",
    Reason.NOT_ANSWERABLE: "A model that is shown the evidence does not come to the answer.",
    Reason.UNCHECKED: "A model's check that must be passed came to no result.",
    Reason.CONTAMINATED: "It overlaps with a benchmark that it must stay away from.",
    Reason.OUTSIDE_BAND: "The policy solves it more often, or less often, than is wanted.",
    Reason.AMBIGUOUS: "What the request says of a row fits several rows.",
    Reason.ORDER_MATTERS: "The same calls in another order, which the request leaves open, come to another end.",
    Reason.NOT_REPLAYED: "Its solution, carried out again from the beginning, does not come to its goal.",
    Reason.NOT_MINIMAL: "A call of its solution can be left out.",
    Reason.NOT_FORBIDDEN: "What is to be declined is not forbidden, or not by the rule that is named alone.",
    Reason.NOT_PYTHON: "The edited code is no Python.",
    Reason.UNTESTED: "No test fails with the edit: it changes nothing, or nothing that is tested.",
    Reason.BREAKS_MUCH: "More tests fail with the edit than a fault of this size may fail.",
    Reason.DATED: "What the tests tell of it holds today's date: tomorrow they would tell something else.",
    Reason.STOPPED: "With the edit, the tests do not come to their end within their limits.",
    Reason.MEANING_CHANGED: "The new wording leaves out, adds or changes a part of the question.",
    Reason.NOT_CONFIRMED: "The second reader did not find that both wordings ask the same.",
    Reason.UNGROUNDED: "An argument, thought or answer names what neither the question nor an observation had shown.",
    Reason.MISSING_BEHAVIOUR: "No turn of the run shows a behaviour that the recipe asks of its teacher.",
    Reason.OMISSION: "A thought leaves out part of what it quotes, or says something that the run does not do.",
    Reason.INVALID_TRAJECTORY: "The trajectory breaks a rule of the Agent Data Protocol.",
    Reason.ENVIRONMENT_ERROR: "The environment failed in a way that no agent caused.",
    Reason.ANSWER_IN_REFLECTION: "The reflection on a failed run gives the answer away: it was not tried again.",
    Reason.TRUNCATED: "The model's reply was cut off by the limit of tokens.",
    Reason.REFUSAL: "The model refused to answer.",
    Reason.CONTENT_FILTER: "The server's filter held back the reply.",
    Reason.EMPTY_REPLY: "The model said nothing, also when it was asked once more.",
    Reason.NARRATED_CALL: "The model told of a tool call in words instead of making it, "
    "also when it was asked once more.",
    Reason.MALFORMED_CALL: "What the model wrote is neither a call nor an answer in a form that can be read, "
    "also when it was asked once more.",
    Reason.UNKNOWN_TOOL: "The model called a tool that it was not given, also when it was asked once more.",
    Reason.WRONG_ARGUMENTS: "The arguments of a call are not of the form that the tool takes, "
    "also when the model was asked once more.",
    Reason.CONTEXT_OVERFLOW: "The conversation grew longer than the model's context.",
    Reason.TOKEN_LIMIT: "The run used up the tokens that it might use.",
    Reason.TIME_LIMIT: "The run used up the time that it might take.",
    Reason.ENDPOINT_FAILED: "A call to the model brought no reply, after every attempt.",
    Reason.UNSURE: "Who was asked could not tell.",
    Reason.INCONSISTENT: "The model that was asked gave answers to the same question that do not agree.",
    Reason.BAD_CITATION: "The model that was asked rests its verdict on steps that do not exist, or on none.",
    Reason.NO_CONTEXT: "The pages that its context needs go over the budget, or those that it may hold do not fill it.",
    Reason.ONE_COLLECTION: "Its evidence lies in fewer collections than a task must need.",
    Reason.NO_DISTRACTOR: "No page that its runs met, and none near its evidence, could stand as a distractor.",
    Reason.DUPLICATE_PAIR: "Another pair has the same words, or the same calls, in its prefix and on both sides.",
    Reason.NO_PAIR: "No pair could be made of it whose rejected side was shown to be worse.",
    Reason.REPAIR_SAME: "The repair does what the failed step did.",
    Reason.REPAIR_INVALID: "No such turn can be made there: a tool does not take it, or it names what was not seen.",
    Reason.REPAIR_UNSAFE: "Who repairs it so does harm where harm is meant.",
    Reason.REPAIR_OVER_REFUSES: "Who repairs it so refuses where no harm is meant.",
    Reason.REPAIR_USELESS: "Who repairs it so does not get done what may be done.",
    Reason.REPAIR_LONGER: "Another repair does the same or takes no more turns on either twin.",
    Reason.NO_FIRST_ERROR: "No step of the failed run is known to be the first wrong one.",
    Reason.NO_USEFUL_SEGMENT: "No stretch of the failed run made the policy succeed more often.",
    Reason.NOT_REFINED: "No try from there came to the right answer.",
    Reason.NOT_DISTILLED: "The run is not one of several agents, or not one to learn teamwork from.",
    Reason.NOT_COMPRESSED: "The run fits the budget, or no notes keep what it uses later.",
    Reason.NOT_REWORDED: "The run failed, or no thought of it holds in the student's words.",
}


class Rejection(Row):
    """A row, file or candidate that was dropped."""

    table: ClassVar[str | None] = "rejected"

    stage: NonEmpty
    """The stage that dropped it."""
    row_id: NonEmpty
    """Id of the row that was rejected (a path relative to the root for a file, an index for a candidate)."""
    reason: Reason
    """Why."""
    detail: str
    """What exactly, in one line: the value, the place, the other row."""
    split: Split | None = None
    """The split that it would have been in, when that was known."""
    part: int | None = None
    """Number of the sample (of the rollout of a task) that this is about; the row was kept if another sample came to
    something. None = it is about the row as a whole."""
    preview: str = ""
    """At most 500 code points of what was rejected, for a person who wants to see it."""
