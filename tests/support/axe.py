"""The accessibility checker axe-core on an open page, whatever the page's policy on scripts."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SERIOUS = ("serious", "critical")


@lru_cache(1)
def _source() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def serious_findings(page: Any, *rules: str) -> list[str]:
    """One line a finding: its rule and the first places; the rules of WCAG 2.2 A and AA, unless some are named."""
    page.evaluate(f"() => {{ {_source()} }}")
    chosen = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": TAGS}
    options = {"runOnly": chosen, "resultTypes": ["violations"]}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{each['id']}: {' | '.join(str(node['target']) + ' ' + node['html'][:160] for node in each['nodes'][:3])}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
    ]
