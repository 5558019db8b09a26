"""Documents that are rows of a dataset of the Hugging Face Hub, streamed: only the rows that are read are downloaded.

What is read is named by a commit of the repository, which stands for its content: the same commit, config, split and
number of rows are the same documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from synth.errors import InputError
from synth.identity import digest
from synth.schemas.rejections import Reason, Rejection
from synth.sources.records.source import RecordKeys, RecordReader

__all__ = ["HubConfig", "HubRecords"]

_COMMIT = re.compile(r"[0-9a-f]{40}")


class HubConfig(RecordKeys):
    """Which rows of which dataset."""

    path: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    """``owner/name`` of the dataset (``--source hf://datasets/owner/name``)."""
    config: str | None = None
    """Its config, where it has several."""
    split: str = "train"
    """Its split."""
    revision: str = "main"
    """Branch, tag or commit. With a commit (40 hex digits), a build whose documents are read needs no network."""
    rows: int = Field(default=10_000, ge=1, le=1_000_000)
    """The first rows of the split, so many."""


class HubRecords(RecordReader):
    """The rows, read once and kept: they are looked through for ids first."""

    config: HubConfig

    def __init__(self, config: HubConfig) -> None:
        super().__init__(config)
        self.files = ("rows",)
        self._rows: list[dict[str, Any]] | None = None

    def digest(self) -> str:
        """Of the commit and of what is read of it.

        Raises:
            InputError: the repository is not there, or can't be reached.
        """
        config = self.config
        return digest("hub", config.path, self._commit(), config.config, config.split, config.rows)

    def _commit(self) -> str:
        if _COMMIT.fullmatch(self.config.revision):
            return self.config.revision

        from huggingface_hub import HfApi

        try:
            return str(HfApi().dataset_info(self.config.path, revision=self.config.revision).sha)
        except Exception as error:  # of the library, of HTTP, of the network: all say why it can't be read
            raise self._refused(error) from None

    def _records(self, path: str) -> Iterator[tuple[str, dict[str, Any] | Rejection]]:
        if self._rows is None:
            self._rows = self._streamed()
        text = self.config.columns.get("text", "text")
        if self._rows and not any(text in row for row in self._rows):
            names = ", ".join(self._rows[0])
            raise InputError(
                f"{self.config.path} has no column {text!r}",
                where="source.columns",
                mend=f'name the one that holds the text: {{"text": "..."}}; there are {names}',
            )
        if not self._rows:
            yield path, self._rejection(path, Reason.EMPTY, f"the split {self.config.split} has no rows")
        for number, row in enumerate(self._rows, start=1):
            yield f"{self.config.split}#{number}", row

    def _streamed(self) -> list[dict[str, Any]]:
        """
        Raises:
            InputError: there is no such dataset, config or split, or it can't be reached.
        """
        import datasets

        config = self.config
        datasets.disable_progress_bars()
        commit = self._commit()
        try:
            rows = datasets.load_dataset(
                config.path, config.config, split=config.split, revision=commit, streaming=True
            )
            return [dict(row) for row in rows.take(config.rows)]
        except Exception as error:  # a builder's own, too: each kind of file has its own
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> InputError:
        told = " ".join(str(error).split())[:300] or type(error).__name__
        return InputError(
            f"{self.config.path} can't be read: {told}",
            where="source.path",
            mend="check name, config, split and revision, and `hf auth login` for one that is private",
        )
