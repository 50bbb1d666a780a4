"""The documentation has a page for everything that is registered. ``make docs`` builds it, every warning an error."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from scisuite import solvers
from scisuite.bench import experiments
from scisuite.bench.report.markdown import BEGIN, END
from scisuite.envs.catalogue import catalogue

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
HOOKS = runpy.run_path(str(DOCS / "hooks.py"))


def navigation() -> set[str]:
    written = re.findall(r": ([\w/*.]+)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    folders = [target.removesuffix("/*") for target in written if target.endswith("/*")]
    pages = [page for folder in folders for page in HOOKS["pages"](DOCS, folder)]
    return {target for target in [*written, *pages] if target.endswith(".md")}


def papers() -> set[str]:
    registered = [registry.entry(id).paper for registry in (solvers.registry, experiments) for id in registry.ids()]
    return {paper for paper in registered if paper}


def test_every_environment_has_a_page_with_its_picture() -> None:
    for slug in {entry.slug for entry in catalogue().values()}:
        page = DOCS / "environments" / f"{slug}.md"
        assert f"environments/{slug}.md" in navigation()
        text = page.read_text(encoding="utf-8")
        assert all(id in text for id, entry in catalogue().items() if entry.slug == slug)
        picture = page.with_suffix(".png")
        assert picture.name in text
        assert 5_000 < picture.stat().st_size < 200_000


def test_every_paper_has_a_page() -> None:
    assert papers()
    for slug in papers():
        assert (DOCS / "papers" / f"{slug}.md").is_file()
        assert f"papers/{slug}.md" in navigation()


def test_every_page_is_in_the_navigation() -> None:
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} == navigation()


def test_the_command_page_lists_every_command() -> None:
    text = "\n".join(HOOKS["commands"]())
    for command in ("list", "info", "doctor", "run", "train", "eval", "bench", "report", "cite", "new"):
        assert f"### {command}\n" in text
    assert "| `--timesteps` |" in text
    assert HOOKS["MARK"] in (DOCS / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_no_page_waits_for_text(page: Path) -> None:
    text = re.sub(r"^(`{3,}).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^[A-Z][A-Z _]{2,}$|\b(?:TODO|FIXME|TBD|XXX|COSTS|DIFFERENT)\b", text, re.MULTILINE) == []


@pytest.mark.parametrize("slug", sorted(page.stem for page in (DOCS / "papers").glob("*.md")))
def test_the_page_of_an_experiment_has_its_tables(slug: str) -> None:
    if slug not in experiments.ids():
        pytest.skip(f"there is no experiment {slug}")
    text = (DOCS / "papers" / f"{slug}.md").read_text(encoding="utf-8")
    assert (text.count(BEGIN), text.count(END)) == (1, 1)
    generated = text.partition(BEGIN)[2].partition(END)[0]
    assert "\n| claim | statement |" in generated, f"fill it: scisuite report runs --markdown docs/papers/{slug}.md"


def test_equations_become_mathml() -> None:
    page = '<p>With <span class="arithmatex">\\(a &lt; b\\)</span></p><div class="arithmatex">\\[\nx^2\n\\]</div>'
    content = HOOKS["on_page_content"](page)
    assert content.count("<math") == 2
    assert 'display="block"' in content
    assert "\\(" not in content
    assert "\\[" not in content


@pytest.mark.parametrize(
    ("docstring", "markdown"),
    [
        ("See :class:`~a.b.C` and :meth:`fit`.", "See `C` and `fit`."),
        ("with :math:`\\sigma_L` and ``x``", "with $\\sigma_L$ and `x`"),
        ("Then\n\n.. math:: a = b", "Then\n\n$$\na = b\n$$\n\n"),
        ("A.\n\n  .. math::\n      a\n      = b\n\nB.", "A.\n\n  $$\n  a = b\n  $$\n\n\nB."),
        ("A.\n\n>>> 1", "A.\n\n>>> 1"),
        ("A.\n\nReturns\n-------\nint\n\n>>> 1", "A.\n\nReturns\n-------\nint\n\nExamples\n--------\n>>> 1"),
    ],
)
def test_roles_of_docstrings_become_markdown(docstring: str, markdown: str) -> None:
    pytest.importorskip("griffe")
    assert runpy.run_path(str(DOCS / "roles.py"))["plain_markdown"](docstring) == markdown
