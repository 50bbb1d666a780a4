"""Rows of experiments as one self-contained HTML page, or as the generated part of a Markdown page."""

from scisuite.bench.report.html import build_html, write_html
from scisuite.bench.report.markdown import build_markdown, update_page

__all__ = ["build_html", "build_markdown", "update_page", "write_html"]
