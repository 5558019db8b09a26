"""Why a format can't hold a row."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Inexpressible", "Why"]


class Why(StrEnum):
    """Why a format can't hold a row. Each member's sentence is in ``Why.sentence``."""

    NO_TARGET = "no_target"
    MASKED_TURN = "masked_turn"
    CODE = "code"
    NO_TEXT = "no_text"
    MIXED_TURN = "mixed_turn"
    SEVERAL_THOUGHTS = "several_thoughts"
    STRAY_OBSERVATION = "stray_observation"
    ANSWERS_OUT_OF_ORDER = "answers_out_of_order"
    RESERVED_TEXT = "reserved_text"
    SEVERAL_MESSAGES = "several_messages"
    COMPRESSED = "compressed"
    NEUTRAL = "neutral"
    UNMEASURED = "unmeasured"
    EMPTY = "empty"
    JUDGED_BY_STATE = "judged_by_state"
    TOO_LONG = "too_long"

    @property
    def sentence(self) -> str:
        """One sentence for a person."""
        return _SENTENCES[self]


_SENTENCES = {
    Why.NO_TARGET: "No turn of the run may be a target of training.",
    Why.MASKED_TURN: "A turn that must not be a target stands before one that should be, and the format trains every "
    "turn.",
    Why.CODE: "The run executes code, which is no call of a tool.",
    Why.NO_TEXT: "An observation is a picture or a page with its layout.",
    Why.MIXED_TURN: "A turn speaks to the user and acts in other ways too, or turns do not alternate.",
    Why.SEVERAL_THOUGHTS: "An action has a thought or words of its own, and the format has one place per turn.",
    Why.STRAY_OBSERVATION: "An observation answers no action of the turn before it.",
    Why.ANSWERS_OUT_OF_ORDER: "The format ties answers to calls by their order, which is another one here.",
    Why.RESERVED_TEXT: "A text holds the mark by which the format parts its texts.",
    Why.SEVERAL_MESSAGES: "A side of the pair is longer than the one message that the format holds.",
    Why.COMPRESSED: "The agent replaced its history by notes on the way, and the format holds one view of it only.",
    Why.NEUTRAL: "The step neither helped nor harmed, and the format takes good and bad only.",
    Why.UNMEASURED: "Nothing was measured for the step, or for any step of the run, and the format needs a label.",
    Why.EMPTY: "The row has no turn of the agent, or no question before it.",
    Why.JUDGED_BY_STATE: "Success is the state that the agent leaves behind, which no reward function reads from its "
    "text: `trl-grpo-env` and `verl-env` ask the environment.",
    Why.TOO_LONG: "It is longer than was allowed, also with its observations cut.",
}


class Inexpressible(Exception):
    """Raised where a row is converted; the export counts it and goes on."""

    def __init__(self, why: Why, detail: str = "") -> None:
        self.why = why
        self.detail = detail
        super().__init__(f"{why}: {detail}" if detail else str(why))
