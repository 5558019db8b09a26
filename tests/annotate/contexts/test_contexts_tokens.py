"""The counter that ships, and what is said about files."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.annotate.contexts.tokens import _PIECE, WordTokenizer, open_tokenizer, tokenizer_digest
from synth.errors import InputError

WORDS = WordTokenizer()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Mosk is a village.", ["Mosk ", "is ", "a ", "village", "."]),
        ("12,450 metres", ["12", ",", "450 ", "metres"]),
        ("encyclopaedia", ["encyclop", "aedia"]),
        ("a\n\n\nb", ["a", "\n\n\n", "b"]),
        ("a    b", ["a", "    ", "b"]),
        ("日本", ["日", "本"]),
        ("Žižek's", ["Žižek", "'", "s"]),
        ("", []),
    ],
)
def test_where_tokens_begin(text: str, pieces: list[str]) -> None:
    starts = WORDS.starts(text).tolist()
    assert [text[a:b] for a, b in pairwise([*starts, len(text)])] == pieces
    assert WORDS.count(text) == len(pieces)


@given(st.text(max_size=200), st.text(max_size=200))
def test_counts_add_up_where_texts_are_parted_by_a_line(left: str, right: str) -> None:
    left, right = f"x{left}x", f"x{right}x"
    assert WORDS.count(f"{left}\n{right}") == WORDS.count(left) + 1 + WORDS.count(right)


@given(st.text(max_size=60) | st.text(" \t\r\n\f\v\x85\u2028\xa0\x1caZ\u024f\u02509²،日", max_size=60))
def test_tokens_begin_where_the_rule_says(text: str) -> None:
    assert WORDS.starts(text).tolist() == [match.start() for match in _PIECE.finditer(text)]


def test_the_default_needs_nothing() -> None:
    assert open_tokenizer().name == "words-1"
    assert tokenizer_digest(None) is None


def test_a_file_that_is_missing_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: does not exist\. Give the tokenizer.json"):
        tokenizer_digest(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder, not a file"):
        open_tokenizer(tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("tokenizers") is not None, reason="the library tokenizers is installed")
def test_a_file_without_the_library_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"pip install 'synth-posttrain\[tokenizers\]'"):
        open_tokenizer(tmp_path / "tokenizer.json")
