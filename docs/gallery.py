"""The gallery's pictures, taken anew: ``make gallery``. A scripted run, its pages in Chromium, small WebP files."""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

import tutor_arena as ta
from frontdesk.report.run import write_report
from frontdesk.report.sections.comparison.document import write_comparison
from frontdesk.report.sections.run.data import load
from frontdesk.report.site.write import write_site
from frontdesk.runner.comparing import Texts, compare
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.watching import watched
from frontdesk.web.chromium import find_chromium, flags
from frontdesk.web.watch import watching

DOCS = Path(__file__).parent
PICTURES = DOCS / "gallery"
QUALITY = 55
SHOTS = (("wide", 1400, 900, "light"), ("dark", 1400, 900, "dark"), ("phone", 390, 844, "light"))
PAGES = {
    "report": "The report of a run (`report RUN`)",
    "report-ko": "The same in Korean (`report RUN --language ko`)",
    "site": "The leaderboard as a site (`report RUN --site OUT`)",
    "compare": "Two runs beside each other (`compare RUN_A RUN_B --out OUT`)",
    "scores": "Sessions scored with a checklist (`score`)",
    "watch": "A run as it goes (`watch RUN`)",
}


@contextmanager
def addresses(folder: Path) -> Iterator[dict[str, str]]:
    """Every page of the gallery, made in ``folder``, by name."""
    config = DOCS / "notebooks" / "arena.toml"
    for name in ("first", "second"):
        text = config.read_text(encoding="utf-8").replace("seed = 7", f"seed = {7 if name == 'first' else 8}")
        for part in config.parent.glob("*.jsonl"):
            shutil.copy(part, folder / part.name)
        (folder / "arena.toml").write_text(text, encoding="utf-8")
        ta.run(folder / "arena.toml", folder / name)
    first, second = RunFolder(folder / "first"), RunFolder(folder / "second")
    write_report(first, "ko")
    write_site(load(first), folder / "site", "en")
    write_comparison(folder / "compared", compare(first, second), (Texts(first), Texts(second)), "en")
    example = DOCS / "examples" / "session-checklist"
    judges = ["gemini", "claude", "gpt"]
    ta.score(example / "sessions.jsonl", "qac", judges, example / "config.toml", folder / "scored")
    with watching(watched(first.path)) as live:
        yield {
            "report": (first.path / "report.html").as_uri(),
            "report-ko": (first.path / "report.ko.html").as_uri(),
            "site": (folder / "site" / "index.html").as_uri(),
            "compare": (folder / "compared" / "compare.html").as_uri(),
            "scores": (folder / "scored" / "score.html").as_uri(),
            "watch": live,
        }


def shoot(browser: Browser, address: str, name: str) -> None:
    """The top of a page in every width and mode."""
    for kind, width, height, mode in SHOTS:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=mode)  # pyright: ignore
        page.goto(address)
        page.wait_for_timeout(400)
        taken: Any = page.context.new_cdp_session(page).send(
            "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
        )
        (PICTURES / f"{name}-{kind}.webp").write_bytes(base64.b64decode(taken["data"]))
        page.close()


def page_text() -> str:
    """``gallery.md``: the pictures under their names."""
    said = [
        "# Gallery\n",
        """What the commands leave to look at: on a wide screen, in dark mode, and on a phone. `make gallery` takes the
pictures anew, from scripted runs.
""",
    ]
    for name, about in PAGES.items():
        said.append(f"## {about}\n")
        said += [f"![{name}, {kind}](gallery/{name}-{kind}.webp)\n" for kind, *_ in SHOTS]
    return "\n".join(said)


def main() -> None:
    program = find_chromium()
    if program is None:
        sys.exit("make gallery needs Chromium, and found none")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, addresses(Path(scratch)) as found, sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=flags())
        for name, address in found.items():
            shoot(browser, address, name)
        browser.close()
    (DOCS / "gallery.md").write_text(page_text(), encoding="utf-8")
    size = sum(path.stat().st_size for path in PICTURES.iterdir()) / 1e3
    sys.stdout.write(f"{len(list(PICTURES.iterdir()))} pictures, {size:.0f} kB\n")


if __name__ == "__main__":
    main()
