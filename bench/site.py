"""A site of ten thousand matches in Chromium, and pages with a reply of one megabyte.  python bench/site.py

Told: how long the site takes to write and, in the browser, to open (navigation to the first drawn list), to filter
(every level of every filter, each the median of five; the handler with its drawing), to search words once the
texts are there, and to open a match; beside the time of an empty page on the same machine. Then the bytes of the
largest page or data file where each reply has a megabyte. Ends with 1 where opening takes a second, the slowest
filter or search 100 ms, or a page has 10 MB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import sync_playwright

from frontdesk.cli import main as tutor_arena
from frontdesk.web.chromium import find_chromium, flags
from tests.support.gallery import TUTORS, GalleryRun, built_run

FILTER = """() => {
  const took = [];
  for (const select of document.querySelectorAll("#filters select")) {
    for (const option of [...select.options].slice(1)) {
      select.value = option.value;
      const begun = performance.now();
      select.dispatchEvent(new Event("change"));
      document.body.getBoundingClientRect();
      took.push(performance.now() - begun);
    }
    select.value = "-1";
    select.dispatchEvent(new Event("change"));
  }
  return took;
}"""
SEARCH = """async (words) => {
  await Browser.search("sorted");
  return words.map((word) => {
    const begun = performance.now();
    Browser.query = word;
    Browser.refresh();
    document.body.getBoundingClientRect();
    return performance.now() - begun;
  });
}"""
WORDS = ("middle", "explainer", "s-000", "no such words", "단계별")
ROUNDS = 5


def quiet(*command: str) -> None:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
        code = tutor_arena(list(command))
    if code not in (0, 1):
        raise SystemExit(said.getvalue())


def opened(page: Any, address: str, selector: str) -> float:
    begun = time.perf_counter()
    page.goto(address)
    page.wait_for_selector(selector)
    return 1000 * (time.perf_counter() - begun)


def looked_at(folder: Path, subsets: int) -> bool:
    built_run(folder / "run", subsets)
    begun = time.perf_counter()
    quiet("report", str(folder / "run"), "--site", str(folder / "site"))
    wrote = time.perf_counter() - begun
    site = (folder / "site" / "index.html").as_uri()
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=find_chromium(), args=flags())
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        empty = median(opened(page, f"data:text/html,<p id=p{n}>p", f"#p{n}") for n in range(5))
        opening = [opened(page, f"{site}?depth={1 + n % 4}", "#list li") for n in range(5)]
        page.goto(site)
        page.wait_for_selector("#list li")
        rounds = [page.evaluate(FILTER) for _ in range(ROUNDS)]
        filters = [median(each) for each in zip(*rounds, strict=True)]
        searches = page.evaluate(SEARCH, list(WORDS))
        match = opened(page, f"{site}#match-77", "#match .beside")
        browser.close()
    matches = subsets * len(TUTORS) * (len(TUTORS) - 1) // 2
    size = sum(path.stat().st_size for path in (folder / "site").rglob("*") if path.is_file())
    print(f"{matches} matches: site of {size / 1e6:.1f} MB written in {wrote:.1f} s")
    print(f"opens in {median(opening):.0f} ms (worst {max(opening):.0f}; an empty page: {empty:.0f})")
    once = max(map(max, rounds))
    print(f"a filter takes {median(filters):.0f} ms (the slowest of {len(filters)}: {max(filters):.0f}, median of "
          f"{ROUNDS}; the longest of all {ROUNDS * len(filters)}: {once:.0f})")  # fmt: skip
    print(f"a word is found in {median(searches):.0f} ms (worst of {len(searches)}: {max(searches):.0f})")
    print(f"the site at a match's address: {match:.0f} ms")
    return median(opening) < 1000 and max(*filters, *searches) < 100


def with_a_megabyte(folder: Path) -> bool:
    run = GalleryRun(TUTORS[:2], judges=("judge",))
    for word in ("aaa", "bbb", "aab", "abb"):
        run.match(run.subset(), (TUTORS[0], TUTORS[1]), word)
    long = "**word** `code` $x_1$ and\n" * 40_000
    run.replies = [reply.model_copy(update={"text": long[:1_000_000]}) for reply in run.replies]
    run.write(folder / "long")
    quiet("report", str(folder / "long"), "--quiet")
    quiet("report", str(folder / "long"), "--site", str(folder / "long-site"))
    turned = {TUTORS[0]: TUTORS[1], TUTORS[1]: TUTORS[0]}
    run.verdicts = [verdict.model_copy(update={"winner": turned[verdict.winner]}) for verdict in run.verdicts]
    run.write(folder / "longer")
    quiet("compare", str(folder / "long"), str(folder / "longer"), "--out", str(folder / "long-compare"))
    pages = [folder / "long" / "report.html", folder / "long-compare" / "compare.html"]
    pages += sorted((folder / "long-site").rglob("*.html")) + sorted((folder / "long-site" / "data").glob("*.js"))
    largest = max(pages, key=lambda path: path.stat().st_size)
    print(f"{len(run.replies)} replies of 1 MB: the largest of {len(pages)} pages, {largest.name}, "
          f"has {largest.stat().st_size / 1e6:.2f} MB")  # fmt: skip
    return largest.stat().st_size < 10_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subsets", type=int, default=1000, help="contexts; ten matches each (1000)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        held = [looked_at(Path(folder), args.subsets), with_a_megabyte(Path(folder))]
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
