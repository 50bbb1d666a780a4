"""``bench`` and ``report``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scisuite import agents, solvers
from scisuite.bench import experiments
from scisuite.bench.cli import app
from scisuite.bench.plan import pending, plan
from scisuite.bench.store import RowStore, read_rows
from scisuite.core.files import write_atomic

invoke = CliRunner().invoke
HERE = Path(__file__).parent
CLAIM_KEYS = ["id", "statement", "verdict", "value", "low", "high", "target", "paper", "relation", "by_scenario"]


@pytest.fixture
def toy_cli(toys, monkeypatch):
    """The experiments of ``toy_cli.py``, registered only while a test runs."""
    import toy_cli

    for registry in (experiments, agents.registry, solvers.registry):
        registry.ids()
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    toy_cli.register()
    yield toy_cli
    sys.modules.pop("toy_cli", None)


@pytest.fixture
def no_work(monkeypatch):
    """Rows and pages without workers, clocks and plots: these tests are about the commands."""
    from scisuite.bench import cells as answers
    from scisuite.bench.runner import _row_of_cell, _skip_missing

    class Unmeasured:
        cpu_seconds, wall_seconds = 0.5, 1.0

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def to_json(self, budget_used):
            return {"cpu_seconds": 0.5, "wall_seconds": 1.0, "peak_mib": 50.0, "budget_used": budget_used}

    def run(experiment, tier, *, seeds, arms, claims, jobs, backend, out, on_damaged):
        print("an engine talks")
        store = RowStore(out)
        cells = plan(experiment, tier, seeds=seeds, arms=arms, claims=claims)
        damaged = []
        todo = pending(cells, store, damaged)
        for error in damaged:
            on_damaged(error)
        for cell in _skip_missing(todo, store):
            store.write(answers.answer(cell))
        return [_row_of_cell(cell, store) for cell in cells]

    def repeat(row):
        return row, [{"what": "metrics.error", "was": 1.0, "now": 2.0}] if row["metrics"]["error"] > 1.5 else []

    def write_html(rows, path, command):
        write_atomic(path, f"<!doctype html>{command}")

    monkeypatch.setattr(answers, "Meter", Unmeasured)
    monkeypatch.setattr("scisuite.bench.runner.run", run)
    monkeypatch.setattr("scisuite.bench.runner.repeat", repeat)
    monkeypatch.setattr("scisuite.bench.report.write_html", write_html)


def test_json_is_one_line_an_experiment(toy_cli, no_work, tmp_path):
    result = invoke(app, ["bench", "toy", "other", "--json", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.stderr
    first, second = map(json.loads, result.stdout.splitlines())
    assert list(first) == ["experiment", "tier", "seeds", "rows", "claims"]
    assert (first["experiment"], first["tier"], first["seeds"], len(first["rows"])) == ("toy", "quick", 3, 6)
    assert (second["experiment"], second["seeds"], second["claims"]) == ("other", 2, [])
    assert [list(claim) for claim in first["claims"]] == [CLAIM_KEYS, CLAIM_KEYS]
    assert first["claims"][0]["verdict"] == "holds"
    assert first["claims"][1]["target"] is None
    assert "an engine talks" in result.stderr
    assert f"report: {tmp_path}/toy/quick/report.html" in result.stderr
    assert f"again:  scisuite bench toy --tier quick --out {tmp_path}" in result.stderr
    page = (tmp_path / "toy/quick/report.html").read_text()
    assert page == f"<!doctype html>scisuite bench toy --tier quick --out {tmp_path}"


def test_tables_and_the_seeds_asked_for(toy_cli, no_work, tmp_path):
    result = invoke(app, ["bench", "toy", "--seeds", "2", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "A toy (quick, 2 seeds)" in result.stdout
    assert "toy/line" in result.stdout
    assert "≤ 0.75" in result.stdout
    assert "holds" in result.stdout
    assert "--seeds 2" in result.stderr
    assert len(read_rows(tmp_path)) == 4


def test_a_failed_cell_is_exit_code_1_and_a_skipped_one_is_not(toy_cli, no_work, tmp_path):
    result = invoke(app, ["bench", "failing", "--json", "--out", str(tmp_path)])
    assert result.exit_code == 1
    (line,) = map(json.loads, result.stdout.splitlines())
    assert sorted(row["status"] for row in line["rows"]) == ["error", *["ok"] * 5, *["skipped"] * 3]
    assert "skipped absent: the arm needs no-such-package" in result.stderr
    assert "failed crash on toy/line, seed 1: " in result.stderr
    skipped = invoke(app, ["bench", "failing", "--arm", "absent", "--out", str(tmp_path)])
    assert skipped.exit_code == 0
    assert "3 skipped" in skipped.stdout


def test_arms_and_claims_narrow(toy_cli, no_work, tmp_path):
    out = ["--json", "--out", str(tmp_path)]
    (line,) = map(json.loads, invoke(app, ["bench", "toy", "--arm", "peer", *out]).stdout.splitlines())
    assert {row["arm"] for row in line["rows"]} == {"peer"}
    assert [claim["id"] for claim in line["claims"]] == ["toy.lone"]
    for name in ("ratio", "toy.ratio"):
        result = invoke(app, ["bench", "toy", "other", "--claim", name, *out])
        (line,) = map(json.loads, result.stdout.splitlines())
        assert [claim["id"] for claim in line["claims"]] == ["toy.ratio"]
    assert "--claim toy.ratio" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "bench needs at least one experiment"),
        (["toi"], "did you mean 'toy'"),
        (["toy", "--tier", "quik"], "toy has no tier 'quik'; it has quick"),
        (["toy", "--arm", "per"], "no experiment here has an arm 'per'; did you mean 'peer'"),
        (["toy", "--claim", "toy.ration"], "did you mean 'toy.ratio'"),
        (["toy", "--backend", "spark"], "unknown backend 'spark'"),
        (["toy", "--seeds", "0"], "--seeds"),
        (["toy", "--jobs", "many"], "--jobs"),
        (["toy", "--out", __file__], "is a file, not a folder"),
        (["toy", "--repeat", __file__], "leave the slugs out"),
    ],
)
def test_bad_input_runs_nothing(toy_cli, monkeypatch, arguments, message):
    monkeypatch.setattr("scisuite.bench.runner.run", lambda *_, **__: pytest.fail("something ran"))
    result = invoke(app, ["bench", *arguments])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr


def test_dry_run(toy_cli, no_work, tmp_path):
    command = ["bench", "toy", "--dry-run", "--out", str(tmp_path)]
    (before,) = map(json.loads, invoke(app, [*command, "--json"]).stdout.splitlines())
    assert before["cells"] == before["to_run"] == 6
    assert before["arms"] == {"method": 3, "peer": 3}
    assert (before["minutes"], before["basis"]) == (25.0, "limit of the tier")
    assert "≤ 25" in invoke(app, command).stdout
    assert list(tmp_path.iterdir()) == []
    assert invoke(app, ["bench", "toy", "--seeds", "2", "--out", str(tmp_path)]).exit_code == 0
    (after,) = map(json.loads, invoke(app, [*command, "--json"]).stdout.splitlines())
    assert (after["cells"], after["to_run"], after["basis"]) == (6, 2, "earlier rows")
    # Two cells of a second, on as many workers as there are cores.
    assert 0 < after["minutes"] <= 2 / 60 + 0.001


@pytest.mark.filterwarnings("error")
def test_damaged_rows_are_named_and_run_again(toy_cli, tmp_path):
    command = ["bench", "toy", "--seeds", "1", "--jobs", "1", "--arm", "method", "--out", str(tmp_path)]
    assert invoke(app, command).exit_code == 0
    (row,) = (tmp_path / "toy/quick").glob("*.json")
    row.write_text("{")
    for arguments in ([*command, "--dry-run"], command):
        result = invoke(app, arguments)
        assert result.exit_code == 0, result.stderr
        (line,) = [line for line in result.stderr.splitlines() if "left out" in line]
        assert line.startswith(f"left out: {row} is not valid JSON: ")
    assert len(read_rows(tmp_path)) == 1
    assert "left out" not in invoke(app, command).stderr


def test_repeat(toy_cli, no_work, tmp_path):
    invoke(app, ["bench", "toy", "--seeds", "1", "--out", str(tmp_path)])
    path = next(file for file in (tmp_path / "toy/quick").glob("*.json"))
    same = invoke(app, ["bench", "--repeat", str(path)])
    assert (same.exit_code, same.stdout) == (0, f"{path}: the same again, to the byte\n")
    row = json.loads(path.read_text())
    row["metrics"]["error"] += 1
    path.write_text(json.dumps(row))
    other = invoke(app, ["bench", "--repeat", str(path), "--json"])
    assert other.exit_code == 1
    answer = json.loads(other.stdout)
    assert not answer["same"]
    assert "error" in json.dumps(answer["differences"])
    assert "came out differently" in invoke(app, ["bench", "--repeat", str(path)]).stdout


def test_report(toy_cli, no_work, tmp_path):
    runs, page, markdown = tmp_path / "runs", tmp_path / "page.html", tmp_path / "page.md"
    for slug in ("toy", "other"):
        invoke(app, ["bench", slug, "--out", str(runs)])
    (runs / "toy/quick" / f"{'0' * 16}.json").write_text("{")
    for name in (f"{'1' * 16}.json", "x.json"):
        (runs / "toy/quick" / name).write_text('"x"')
    (runs / "config.json").write_text("{}")
    markdown.write_text("# Mine\n<!-- generated: begin -->\n<!-- generated: end -->\nmine too\n")
    result = invoke(app, ["report", str(runs), "-o", str(page), "--markdown", str(markdown)])
    assert result.exit_code == 0, result.stderr
    assert "toy.ratio" in result.stdout
    assert f"wrote {page}" in result.stderr
    assert [line for line in result.stderr.splitlines() if "left out" in line] == [
        f"left out: {runs}/toy/quick/{'0' * 16}.json is not valid JSON: Expecting property name enclosed in double "
        "quotes: line 1 column 2 (char 1)",
        f"left out: {runs}/toy/quick/{'1' * 16}.json is not a row of an experiment",
        f"left out: {runs}/toy/quick/x.json is no row: a row's file is named by its key, sixteen hexadecimal digits",
    ]
    assert page.read_text() == f"<!doctype html>scisuite report {runs} -o {page}"
    assert "toy.ratio" in markdown.read_text()
    assert markdown.read_text().endswith("mine too\n")
    (line, _) = sorted(invoke(app, ["report", str(runs), "-o", str(page), "--json"]).stdout.splitlines(), reverse=True)
    assert [claim["id"] for claim in json.loads(line)["claims"]] == ["toy.ratio", "toy.lone"]


def test_markdown_alone_is_printed(toy_cli, no_work, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke(app, ["bench", "toy"])
    for arguments in (["runs", "--markdown"], ["--markdown", "runs"]):
        result = invoke(app, ["report", *arguments])
        assert result.exit_code == 0, result.stderr
        assert "| toy.ratio |" in result.stdout
    assert not (tmp_path / "report.html").exists()
    assert invoke(app, ["report", "runs"]).exit_code == 0
    assert (tmp_path / "report.html").exists()


def test_rows_of_an_unknown_experiment_are_reported_all_the_same(toy_cli, no_work, tmp_path):
    invoke(app, ["bench", "other", "--out", str(tmp_path)])
    del experiments._entries["other"]
    result = invoke(app, ["report", str(tmp_path), "-o", str(tmp_path / "page.html")])
    assert result.exit_code == 0
    assert "experiment other is not registered here" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no such file: nowhere"),
        (["."], "there are no rows in ."),
        ([".", "-o", "page.pdf"], "give a file that ends in .html"),
        ([".", "--json", "--markdown"], "choose one"),
        ([], "Missing argument"),
    ],
)
def test_bad_reports(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(app, ["report", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_real_workers_and_a_real_page(toy_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(app, ["bench", "toy", "--seeds", "1", "--jobs", "1", "--json"])
    assert result.exit_code == 0, result.stderr
    (line,) = map(json.loads, result.stdout.splitlines())
    assert [row["status"] for row in line["rows"]] == ["ok", "ok"]
    page = Path("runs/toy/quick/report.html").read_text()
    assert "toy.ratio" in page
    assert "scisuite bench toy --tier quick --seeds 1" in page


def test_workers_that_print_leave_standard_output_clean(tmp_path):
    command = [sys.executable, HERE / "toy_cli.py", "bench", "talking", "--json", "--jobs", "1", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert [row["status"] for row in json.loads(line)["rows"]] == ["ok", "ok"]
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a process group's signals are sent otherwise there")
@pytest.mark.parametrize(
    ("send", "jobs", "code", "word"),
    [
        # As a terminal does: to the process and all its workers.
        (lambda pid: os.killpg(pid, signal.SIGINT), 2, 130, "interrupted"),
        # As clusters do: one sends it to every process, another to the first.
        (lambda pid: os.killpg(pid, signal.SIGTERM), 2, 143, "terminated"),
        (lambda pid: os.kill(pid, signal.SIGTERM), 1, 143, "terminated"),
    ],
    ids=["ctrl-c", "sigterm-to-all", "sigterm-to-one"],
)
def test_a_stopped_bench_keeps_the_completed_rows_and_leaves_no_worker(tmp_path, send, jobs, code, word):
    command = [sys.executable, HERE / "toy_cli.py", "bench", "slow", "--jobs", str(jobs), "--out", tmp_path]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A suite that runs in the background ignores Ctrl-C, and its children would, too.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        deadline = time.monotonic() + 60
        while not (kept := list(tmp_path.rglob("*.json"))) and time.monotonic() < deadline:
            time.sleep(0.05)
        send(process.pid)
        out, error = process.communicate(timeout=60)
    assert process.returncode == code, error
    assert kept
    assert out == ""
    again = f"scisuite bench toy --tier quick --out {tmp_path}"
    # A run of more than two seconds shows a bar.
    assert [line for line in error.splitlines() if not line.startswith("toy quick")] == [
        f"{word}: completed rows survive in {tmp_path}; this goes on from them: {again}"
    ]
    deadline = time.monotonic() + 20
    while _group_lives(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _group_lives(process.pid)
    assert {row["status"] for row in read_rows(tmp_path)} == {"ok"}
    assert len(read_rows(tmp_path)) < 40


def _group_lives(leader):
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True
