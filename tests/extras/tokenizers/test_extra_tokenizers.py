"""Contexts counted by a file of the library ``tokenizers``, trained here on a few pages."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="the extra tokenizers is not installed")

from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from synth.annotate.contexts.assemble import Assembled, Block, assemble
from synth.annotate.contexts.tokens import FileTokenizer, open_tokenizer, tokenizer_digest
from synth.errors import InputError
from synth.identity import derive_generator
from synth.testing.corpus import small_documents

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module", params=["bytes", "words"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [document.text for document in small_documents()]
    if request.param == "bytes":
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        made.train_from_iterator(
            texts, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=["<s>"])
        )
        made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
        made.enable_truncation(64)  # a model's file may say so; a context must not be counted by it
    else:
        made = Tokenizer(models.WordLevel(unk_token="?"))
        made.pre_tokenizer = pre_tokenizers.Whitespace()
        made.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["?"]))
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return path


def test_it_is_named_by_its_content(file: Path) -> None:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert open_tokenizer(str(file)).name == f"file:{digest}"
    assert tokenizer_digest(file) == digest


def test_starts_and_counts_agree_also_beyond_ascii_and_truncation(file: Path) -> None:
    tokenizer = FileTokenizer(file)
    for text in ("Mosk is a village.", "Žižek — 日本 🙂 naïve", "word " * 500, ""):
        starts = tokenizer.starts(text).tolist()
        assert len(starts) == tokenizer.count(text)
        assert starts == sorted(starts)
        assert all(0 <= start < len(text) for start in starts)


@pytest.mark.parametrize("budget", [600, 2000])
def test_budgets_are_met_where_counts_do_not_add_up(file: Path, budget: int) -> None:
    tokenizer = FileTokenizer(file)
    pages = small_documents()
    fillers = [Block(f"{n}", f"Place {n}", f"{page.text}\n\n{page.text}") for n in range(8) for page in pages]
    gold = [Block("gold", page.title, page.text) for page in pages[:2]]
    made = assemble(
        gold,
        fillers,
        frame=lambda documents: f"Read.\n\n{documents}\n\nQuestion?",
        budget=budget,
        tokenizer=tokenizer,
        generator=derive_generator(1, "test"),
    )
    assert isinstance(made, Assembled)
    assert 0.99 * budget <= made.tokens <= budget
    assert made.tokens == tokenizer.count(made.message)
    starts = tokenizer.starts(made.message)
    for one in made.placed:
        assert one.token_start == int((starts < one.start).sum())


def test_a_file_of_something_else_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"model": 3}')
    with pytest.raises(InputError, match="is not a file of the library tokenizers"):
        FileTokenizer(tmp_path / "other.json")
