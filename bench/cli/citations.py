"""BibTeX of scisuite and of the papers in it."""

from __future__ import annotations

from pathlib import Path

from scisuite.core import InvalidInput, Paper, UnknownName, __version__, read_paper
from scisuite.core.registry import did_you_mean


def papers_folder() -> Path:
    """The folder whose ``<slug>/solver.toml`` files hold the papers."""
    from scisuite import solvers

    return Path(str(solvers.__file__)).parent


def papers() -> dict[str, Paper]:
    """Every paper in scisuite, by slug."""
    slugs = sorted(path.parent.name for path in papers_folder().glob("*/solver.toml"))
    return {slug: read_paper(papers_folder(), slug) for slug in slugs}


def bibtex_of_scisuite() -> str:
    """The entry for scisuite itself, with the version that is running."""
    return "\n".join(
        [
            "@software{scisuite,",
            "  title   = {{scisuite: science papers as Gymnasium environments, solvers and executable claims}},",
            "  author  = {{The scisuite developers}},",
            f"  version = {{{__version__}}},",
            "  license = {Apache-2.0},",
            "}",
        ]
    )


def bibtex_of_everything() -> list[str]:
    """scisuite's entry and those of all its papers."""
    return [bibtex_of_scisuite(), *(paper.bibtex for paper in papers().values())]


def bibtex_of(name: str) -> list[str]:
    """The entries of what ``name`` comes from: a paper's slug, or an id of any kind that names its paper.

    Raises
    ------
    UnknownName
        If nothing is called that; the message names the nearest.
    InvalidInput
        If it comes from no paper.
    """
    from scisuite.bench.cli.names import all_named, find_named

    known = papers()
    if name == "scisuite":
        return [bibtex_of_scisuite()]
    if name in known:
        return [known[name].bibtex]
    try:
        found = find_named(name)
    except UnknownName:
        candidates = [*known, *(named.id for named in all_named())]
        raise UnknownName(f"nothing is called {name!r}{did_you_mean(name, candidates)}") from None
    slugs = dict.fromkeys(named.paper for named in found if named.paper)
    if not slugs:
        raise InvalidInput(f"{name} comes from no paper; 'scisuite info {name}' shows its source")
    return [known[slug].bibtex if slug in known else read_paper(papers_folder(), slug).bibtex for slug in slugs]
