"""What the documentation's site is made of beside the pages: notebooks as pages, and links into the code."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

NOTEBOOKS = ("data-set", "benchmark", "study")
COLOURS = """const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => { document.documentElement.dataset.bsTheme = dark.matches ? "dark" : "light"; };
follow();
dark.addEventListener("change", follow);"""
"""Before the first paint; the theme's own script needs a highlighter that is fetched from elsewhere."""
LINK = re.compile(r"\]\(([^)\s:]+?)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Each executed notebook becomes a page with its outputs."""
    for name in NOTEBOOKS:
        text = (Path(config.docs_dir) / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
        files.append(File.generated(config, f"notebooks/{name}.md", content=page_of(json.loads(text))))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A link to a notebook leads to its page; one to a file outside of the site becomes the file's name."""
    here = posixpath.dirname(page.file.src_uri)

    def linked(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        uri = posixpath.normpath(posixpath.join(here, target))
        if uri.endswith(".ipynb"):
            return f"]({target.removesuffix('.ipynb')}.md)"
        known = files.get_file_from_path(uri)
        if known is not None and known.inclusion.is_included():
            return match[0]
        outside = Path(config.docs_dir) / uri
        return f"](#{OUTSIDE}){{: title='{uri}' }}" if outside.exists() else f"]({target}{anchor})"

    return re.sub(rf"\[([^\]]+)\]\(#{OUTSIDE}\)\{{[^}}]*\}}", r"\1", LINK.sub(linked, markdown))


def on_post_page(output: str, **_about: object) -> str:
    """Every page is light or dark as the reader's system is."""
    return output.replace("<head>", f"<head>\n<script>{COLOURS}</script>", 1)


OUTSIDE = "in-the-repository"


def page_of(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: prose, code, and what the code showed."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                html = "".join(data["text/html"])
                inner = re.sub(r"\n\s*\n", "\n", html)
                parts.append(f'<div class="output">\n{inner}\n</div>')
            else:
                parts.append(f"```text\n{''.join(data.get('text/plain', output.get('text', '')))}\n```")
    return "\n\n".join(parts) + "\n"
