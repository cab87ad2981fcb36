"""One writer an output language: the same blocks as Markdown, HTML, on the console and as LaTeX."""
