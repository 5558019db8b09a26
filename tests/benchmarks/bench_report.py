"""How long the quality report of many trajectories takes to write and to open in Chromium, from a file.

    python tests/benchmarks/bench_report.py DATASET --trajectories 100000 [--shots FOLDER]

DATASET is a finished dataset; its tasks and trajectories are repeated under new ids until there are enough, with the
first words of each question changed, so that a search has something to tell apart. Needs the extra ``web``. Printed:
writing, opening (until a row can be chosen, and until every control works), a search through all rows, reading one
trajectory, and the memory of the page. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.layout import write_dataset
from synth.dataset.reader import Dataset, load
from synth.dataset.report import write_report
from synth.environments.web.browser import find_browser

MARKS = """() => ({
    rows: performance.getEntriesByName('synth-rows')[0]?.startTime,
    ready: performance.getEntriesByName('synth-ready')[0]?.startTime,
    content: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
})"""


def repeated(dataset: Dataset, config: str, times: int) -> Iterator[pa.RecordBatch]:
    """Every row of ``config`` so many times; copies name copies."""
    for number in range(times):
        for batch in dataset.batches(config):
            made = batch
            for name in ("id", "task_id", "question"):
                place = made.schema.get_field_index(name)
                if place >= 0 and number:
                    column = made.column(name)
                    parts = (f"Case {number}: ", column) if name == "question" else (column, f"-{number}")
                    joined = pc.binary_join_element_wise(
                        *(pa.scalar(p) if isinstance(p, str) else p for p in parts), ""
                    )
                    made = made.set_column(place, made.schema.field(place), joined)
            yield made


def enlarged(source: Path, wanted: int, folder: Path) -> Dataset:
    dataset = load(source)
    times = -(-wanted // dataset.count("trajectories"))
    tables: dict[str, Any] = {config: dataset.batches(config) for config in dataset.configs if config != "contexts"}
    tables |= {config: repeated(dataset, config, times) for config in ("tasks", "trajectories")}
    write_dataset(folder, tables, dataset.report)
    return load(folder)


def opened(page_file: Path, shots: Path | None) -> dict[str, float]:
    """Milliseconds and megabytes."""
    from playwright.sync_api import sync_playwright

    found: dict[str, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_browser(None)), headless=True)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(page_file.absolute().as_uri())
        page.wait_for_selector("body[data-ready=yes]", timeout=120_000)
        found |= {f"open: {name}, ms": value for name, value in page.evaluate(MARKS).items() if value is not None}
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def heap() -> float:
            session.send("HeapProfiler.collectGarbage")
            metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            return float(metrics["JSHeapUsedSize"]) / 1e6

        found["open: heap, MB"] = heap()
        if shots:
            page.screenshot(path=str(shots / "top.png"))
        start = time.perf_counter()
        page.fill("input[name=words]", "no-such-word-anywhere")
        page.press("input[name=words]", "Enter")
        page.wait_for_selector("#status:has-text('no row')", timeout=300_000)  # the page's policy lets no text be code
        found["search of all rows, ms"] = 1e3 * (time.perf_counter() - start)
        found["after the search: heap, MB"] = heap()
        page.fill("input[name=words]", "")
        page.check("input[name=whole]")
        page.wait_for_selector("#list tbody tr")
        if shots:
            page.locator("#rows").scroll_into_view_if_needed()
            page.screenshot(path=str(shots / "list.png"))
        start = time.perf_counter()
        page.click("#list tbody tr")
        page.wait_for_selector("#whole .item")
        found["reading one, ms"] = 1e3 * (time.perf_counter() - start)
        if shots:
            page.screenshot(path=str(shots / "whole.png"))
            for name in ("critical", "distractors", "duplicates"):
                if page.locator(f"#{name}").count():
                    page.locator(f"#{name}").scroll_into_view_if_needed()
                    page.evaluate(f"document.getElementById('{name}').scrollIntoView()")
                    page.screenshot(path=str(shots / f"{name}.png"))
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=str(shots / "all.png"), full_page=True)
        browser.close()
        if wrong:
            raise SystemExit(f"the page raised {wrong[0]}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--trajectories", type=int, default=100_000)
    parser.add_argument("--shots", type=Path, help="a folder for screenshots")
    options = parser.parse_args()
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-report-") as scratch:
        dataset = enlarged(options.dataset, options.trajectories, Path(scratch) / "dataset")
        before = time.process_time()
        written = write_report(dataset.path, Path(scratch) / "report.html")
        spent = time.process_time() - before
        beside = list(written.data.iterdir()) if written.data else []
        print(f"trajectories             {written.trajectories:>12,}")
        print(f"writing, CPU s           {spent:>12.1f}")
        print(f"peak memory so far, MB   {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:>12,.0f}")
        print(f"page, MB                 {written.page.stat().st_size / 1e6:>12.2f}")
        print(f"files beside it          {len(beside):>12,}")
        print(f"their size, MB           {sum(path.stat().st_size for path in beside) / 1e6:>12.1f}")
        for name, value in opened(written.page, options.shots).items():
            print(f"{name:<24} {value:>12,.1f}")


if __name__ == "__main__":
    main()
