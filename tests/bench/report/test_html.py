"""The page as text: complete, deterministic, and deaf to what hostile data says."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scisuite.bench.report import build_html, write_html
from scisuite.bench.report.elements import breakable, cleaned, element, script_json, to_html
from scisuite.core import InvalidInput

COMMAND = "scisuite bench demo --tier quick --seeds 8"


class Page(HTMLParser):
    """Tags with their attributes, the texts outside of scripts and styles, and the embedded rows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.rows = ""
        self.comments: list[str] = []
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append("rows" if dict(attrs).get("id") == "rows" else tag)

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._inside.pop()

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        if not self._inside:
            self.text.append(data)
        elif self._inside[-1] == "rows":
            self.rows += data

    def values(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]


@pytest.fixture(scope="module")
def page(make_rows, make_experiment) -> Page:
    rows = make_rows()
    rows[0].update(status="error", error="a.py:1 in f\nb.py:2 in g\nEngineFailure: it stopped", metrics={}, curves={})
    rows += make_rows(["prior_mean"], seeds=2, status="skipped", error="needs torch", metrics={}, curves={}, cost={})
    rows[-1]["environment"] = {"python": "3.12.1"}
    return Page(build_html(rows, command=COMMAND, experiments={"demo": make_experiment()}))


def test_everything_that_was_run_is_told(page):
    words = re.sub(r"\s+", " ", "".join(page.text))
    for told in (
        "95 ok, 1 errors, 4 skipped",
        "0–7",
        "EngineFailure: it stopped",
        "b.py:2 in g",
        "needs torch",
        "≠ differs",
        "3.12.1",
        COMMAND,
        "demo.regret",
        "0.71 (read)",
        "≤ 0.750",
        "The gate's own effect is inside the noise on this pool.",
        "there is no row of labo on materials/p3ht",
        "what gate_off does",
        "mean normalised simple regret over real evaluations; lower is better",
        "7 of 8",
        "scisuite bench demo --tier quick --seeds 8",
    ):
        assert told in words


def test_a_metric_without_a_description_has_a_dash_for_one(page):
    words = re.sub(r"\s+", " ", " ".join(page.text))
    assert re.search(r"final_\s*regret metric – ", words) is not None


def test_links_lead_somewhere_and_ids_are_unique(page):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {link.lstrip("#") for link in page.values("href") if link != "data:,"} <= set(ids)
    assert set(page.values("aria-labelledby")) <= set(ids)
    assert all(re.match("#|data:,$", link) for link in page.values("href"))


def test_nothing_is_loaded_from_elsewhere(page):
    assert page.values("src") == []
    (policy,) = (a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "http" not in policy
    assert not [tag for tag, _ in page.tags if tag in ("iframe", "object", "embed", "img", "base", "form")]


def test_the_embedded_rows_are_the_rows(page, make_rows):
    rows = json.loads(page.rows)
    assert len(rows) == 100
    found = next(row for row in rows if row["key"] == "labo-1-3")
    assert found["curves"] == make_rows()[11]["curves"]
    assert found["metrics"] == make_rows()[11]["metrics"]


def test_equal_rows_give_equal_bytes(make_rows, make_experiment):
    experiments = {"demo": make_experiment()}
    rows = make_rows(["labo", "mfkg"], seeds=2)
    first = build_html(rows, command=COMMAND, experiments=experiments)
    assert build_html(rows[::-1], command=COMMAND, experiments=experiments) == first


def test_an_unknown_experiment_still_shows_its_rows(make_rows):
    page = Page(build_html(make_rows(["labo"], seeds=1, experiment="gone"), command=COMMAND, title="A title"))
    words = "".join(page.text)
    assert "A title" in words
    assert "The experiment gone could not be loaded here (UnknownName: unknown experiment 'gone'" in words
    assert "functions/hartmann6" in words
    assert "claims-table" not in page.values("id")


def test_a_run_in_which_nothing_succeeded_is_a_page_too(make_rows, make_experiment):
    rows = make_rows(seeds=1, status="error", error="", metrics={}, curves={}, cost={}, environment={})
    page = Page(build_html(rows, command=COMMAND, experiments={"demo": make_experiment()}))
    words = "".join(page.text)
    assert "12 errors" in words
    assert "no reason was recorded" in words
    assert not [tag for tag, _ in page.tags if tag == "svg"]


HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<!--<script>",
    '"><img src=x onerror=window.hacked=1>',
    "' onload='window.hacked=1",
    "$title ${body} $$ {0} %s",
    "\x00\x1b[31m\ud800\u202egnp.exe\u2028",
    "]]></style><style>*{display:none}",
    "_hidden $\\frac{1}{2}$ $unclosed",
    "javascript:window.hacked=1",
    "   \n\t  ",
    "長い名前" * 40,
    "&lt;b&gt;&amp;",
)


def hostile_row(text: str, make_rows) -> dict:
    row = make_rows(["labo"], ["s"], seeds=1)[0]
    curve = {"x": [1, 2], "y": [1.0, 2.0], "x_label": text, "y_label": text}
    row.update(key=text, code=text, experiment=text, tier=text, arm=text, scenario=text, error=text)
    row.update(config={text: text}, metrics={text: 1.0}, curves={text: curve})
    row.update(cost={"cpu_seconds": 1.0, text: 2.0}, environment={text: {text: text}, "packages": [text]})
    return row


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_strings_stay_text(make_rows, text):
    failed = {**hostile_row(text, make_rows), "seed": 1, "status": "error"}
    result = build_html([hostile_row(text, make_rows), failed], command=text, title=text)
    page = Page(result)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert [tag for tag, _ in page.tags].count("style") == 1
    assert page.comments == []
    known = {"id", "class", "role", "style", "href", "type", "hidden", "tabindex", "scope", "lang", "charset", "name"}
    known |= {"content", "http-equiv", "rel", "d", "x", "y", "width", "height", "viewbox", "transform", "font-family"}
    known |= {"clip-path"}
    for tag, attributes in page.tags:
        assert {name for name in attributes if not name.startswith(("aria-", "data-"))} <= known, (tag, attributes)
    assert json.loads(page.rows)[0]["arm"] == cleaned(text)
    assert result.encode()


def test_hostile_claims_and_papers_stay_text(make_rows, make_experiment):
    import dataclasses

    text = HOSTILE[0]
    experiment = make_experiment(["labo", "random"])
    claims = tuple(dataclasses.replace(c, statement=text, paper=text, note=text) for c in experiment.claims)
    arms = tuple(dataclasses.replace(arm, summary=text) for arm in experiment.arms)
    experiment = dataclasses.replace(experiment, title=text, claims=claims, arms=arms, metrics={"auc_regret": text})
    page = Page(build_html(make_rows(["labo", "random"]), command=COMMAND, experiments={"demo": experiment}))
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "".join(page.text).count(text) >= 3 * len(claims) + 4


def test_script_json_and_elements_escape():
    assert json.loads(script_json({"a": "</script><!--\u2028&"})) == {"a": "</script><!--\u2028&"}
    assert not set("<>&\u2028") & set(script_json("</script><!--\u2028&"))
    assert to_html(element("p", "<b>", element("i", "&"), "</p>", title='"')) == (
        '<p title="&quot;">&lt;b&gt;<i>&amp;</i>&lt;/p&gt;</p>'
    )
    assert to_html(element("input", hidden=True, value=None)) == '<input hidden="">'
    assert to_html(element("p", breakable("a/b_c.d"))) == "<p>a/<wbr>b_<wbr>c.<wbr>d</p>"
    assert cleaned({"\x00": ["\ud800", 1, None]}) == {"\ufffd": ["\ufffd", 1, None]}


def test_the_page_is_written_whole_or_not_at_all(make_rows, tmp_path: Path):
    path = tmp_path / "new" / "report.html"
    assert write_html(make_rows(["labo"], seeds=1), path, COMMAND) == path
    old = path.read_text(encoding="utf-8")
    assert old.startswith("<!doctype html>")
    with pytest.raises(InvalidInput, match="there are no rows"):
        write_html([], path, COMMAND)
    assert path.read_text(encoding="utf-8") == old
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    with pytest.raises(InvalidInput, match="cannot write"):
        write_html(make_rows(["labo"], seeds=1), path / "below", COMMAND)


def test_the_paper_is_cited_where_there_is_one(make_rows, tmp_path, monkeypatch):
    import scisuite.solvers
    from scisuite.core import read_paper

    monkeypatch.setattr(scisuite.solvers, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "demo").mkdir()
    file = tmp_path / "demo" / "solver.toml"
    file.write_text(
        '[paper]\ntitle = "A & B"\nauthors = ["Ada L.", "others"]\nvenue = "ICML"\nyear = 2026\narxiv = "2605.1"'
    )
    rows = make_rows(["labo"], ["s"], seeds=1)
    words = "".join(Page(build_html(rows, command=COMMAND)).text)
    assert read_paper(tmp_path, "demo").bibtex in words
    assert "Ada L., et al.: A & B. ICML, 2026, arXiv 2605.1." in words
    file.write_text("[paper]\n")
    assert "paper demo: missing fields" in "".join(Page(build_html(rows, command=COMMAND)).text)
    assert "BibTeX" not in "".join(Page(build_html(make_rows(["labo"], experiment="../demo"), command=COMMAND)).text)
