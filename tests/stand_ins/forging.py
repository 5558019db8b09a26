"""A careful forger: whoever changes a dataset and states its files anew, so that sizes and hashes give nothing away."""

from __future__ import annotations

from pathlib import Path

from synth.dataset.files import MIX_FILE, REPORT_FILE, RowHash, split_hashes, stated_files
from synth.dataset.reader import load
from synth.schemas.reports import BuildReport
from synth.store.files import write_file

__all__ = ["seal"]


def seal(folder: Path) -> None:
    """State the files of the dataset in ``folder`` anew, as they are: after its card was edited by hand, say.

    Raises:
        DatasetError: the report or a file can't be read.
    """
    dataset = load(folder)
    stated = dataset.mix or dataset.report
    hashes: dict[tuple[str, str], RowHash] = {}
    for config in dataset.configs:
        for split in dataset.splits(config):
            rows = hashes[config, split] = RowHash()
            for batch in dataset.batches(config, split):
                rows.add(batch)
    new = stated.model_copy(update={"files": stated_files(folder), "rows_sha256": split_hashes(hashes)})
    write_file(folder / (REPORT_FILE if isinstance(new, BuildReport) else MIX_FILE), new.to_json().encode())
