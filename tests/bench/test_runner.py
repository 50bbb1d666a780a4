from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scisuite.bench import Limit, cells, provenance
from scisuite.bench.cells import answer
from scisuite.bench.claims import judge
from scisuite.bench.plan import Cell, pending, plan, planned_minutes, select_claims
from scisuite.bench.provenance import environment, missing_dependency, missing_extra, packages_hash, requirements
from scisuite.bench.runner import repeat, run
from scisuite.bench.store import RowStore, read_rows
from scisuite.core import EngineFailure, InvalidInput, MissingDependency, UnknownName
from scisuite.core.files import canonical_json


def reproducible(row: dict[str, Any]) -> str:
    return canonical_json({name: value for name, value in row.items() if name not in ("cost", "environment")})


def one_cell(toys: ModuleType, function: str, seed: int = 0, **config: Any) -> Cell:
    experiment = toys.toy(toys.arm("method", function, config=config))
    return plan(experiment, "quick")[seed]


class TestPlan:
    def test_seed_by_seed_all_arms_on_all_scenarios(self, toys: ModuleType) -> None:
        planned = plan(toys.toy(seeds=2, scenarios=("toy/line", "toy/other")), "quick")
        assert [(c.seed, c.scenario, c.arm) for c in planned] == [
            (seed, scenario, arm)
            for seed in (0, 1)
            for scenario in ("toy/line", "toy/other")
            for arm in ("method", "peer")
        ]
        assert len({c.key for c in planned}) == len(planned)

    def test_limits_bound_scenarios_seeds_and_budget_of_one_arm(self, toys: ModuleType) -> None:
        limit = Limit(scenarios=("toy/other",), seeds=2, budget="2 evaluations")
        experiment = toys.toy(scenarios=("toy/line", "toy/other"), peer=limit)
        planned = plan(experiment, "quick", seeds=5)
        of_peer = [(c.seed, c.scenario, c.budget) for c in planned if c.arm == "peer"]
        assert of_peer == [(0, "toy/other", "2 evaluations"), (1, "toy/other", "2 evaluations")]
        assert len(planned) == 10 + 2

    def test_arms_and_claims_narrow(self, toys: ModuleType) -> None:
        experiment = toys.toy(toys.METHOD, toys.PEER, toys.arm("floor", "measure"), scenarios=("toy/line", "toy/other"))
        assert {c.arm for c in plan(experiment, "quick")} == {"method", "peer", "floor"}
        ratio = plan(experiment, "quick", claims=["ratio"])
        assert {(c.arm, c.scenario) for c in ratio} == {
            (a, s) for a in ("method", "peer") for s in ("toy/line", "toy/other")
        }
        assert {(c.arm, c.scenario) for c in plan(experiment, "quick", claims=["toy.lone"])} == {("peer", "toy/line")}
        assert {c.arm for c in plan(experiment, "quick", arms=["peer"], claims=["ratio"])} == {"peer"}
        assert [claim.id for claim in select_claims(experiment)] == ["toy.ratio", "toy.lone"]

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"tier": "quik"}, "toy has no tier 'quik'; did you mean 'quick'"),
            ({"arms": ["methd"]}, "no arm 'methd'; did you mean 'method'"),
            ({"claims": ["ration"]}, "no claim 'ration'; did you mean"),
            ({"seeds": 0}, "the number of seeds must be a positive integer, not 0"),
            ({"seeds": 1.0}, "must be a positive integer"),
            ({"arms": ["floor"], "claims": ["ratio"]}, "nothing to run"),
        ],
    )
    def test_what_is_not_there_is_refused(self, toys: ModuleType, asked: dict[str, Any], message: str) -> None:
        experiment = toys.toy(toys.METHOD, toys.PEER, toys.arm("floor", "measure"))
        with pytest.raises(InvalidInput, match=message):
            plan(experiment, **({"tier": "quick"} | asked))
        with pytest.raises(UnknownName):
            plan(toys.toy(scenarios=("toy/lime",)), "quick")

    def test_a_key_names_what_was_asked_and_nothing_else(self, toys: ModuleType) -> None:
        cell = one_cell(toys, "measure")
        for change in (
            {"seed": 9},
            {"config": {"level": 2}},
            {"budget": "5 evaluations"},
            {"tier": "full"},
            {"run": "a:b"},
        ):
            assert replace(cell, **change).key != cell.key
        for change in ({"code": "x"}, {"extras": ("bo",)}, {"exclusive": True}):
            assert replace(cell, **change).key == cell.key

    def test_minutes_are_estimated_from_earlier_rows(self, toys: ModuleType) -> None:
        planned = plan(toys.toy(seeds=4), "quick")
        assert planned_minutes(planned, []) is None
        earlier = [answer(cell) for cell in planned[:2]]
        earlier[0]["cost"]["wall_seconds"], earlier[1]["cost"]["wall_seconds"] = 30.0, 90.0
        assert planned_minutes(planned, earlier) == pytest.approx(8.0)
        assert planned_minutes(planned, earlier, jobs=2) == pytest.approx(4.0)
        timed = [replace(cell, exclusive=True) for cell in planned]
        assert planned_minutes(timed, earlier, jobs=2) == pytest.approx(8.0)
        doubled = [replace(cell, budget="8 evaluations") for cell in planned]
        assert planned_minutes(doubled, earlier) == pytest.approx(16.0)
        unknown_arm = [replace(planned[0], arm="other")]
        assert planned_minutes(unknown_arm, earlier) == pytest.approx(1.0)


class TestCell:
    def test_a_row_says_what_was_asked_what_came_out_and_what_it_cost(self, toys: ModuleType) -> None:
        row = answer(one_cell(toys, "measure", level=2.0))
        assert row["status"] == "ok"
        assert row["error"] is None
        assert (row["arm"], row["scenario"], row["seed"], row["budget"]) == ("method", "toy/line", 0, "4 evaluations")
        assert 2.0 <= row["metrics"]["error"] <= 2.2
        curve = row["curves"]["regret"]
        assert curve["x"] == [1.0, 2.0, 3.0, 4.0]
        assert (len(curve["y"]), curve["x_label"], curve["y_label"]) == (4, "evaluations", "regret (1)")
        assert row["cost"]["budget_used"] == 4.0
        assert row["cost"]["peak_mib"] > 5
        assert row["environment"]["packages"]["numpy"]
        assert toys.warmed_up, "the arm's module has a warm_up() that is called before the clock starts"

    def test_a_row_is_the_same_to_the_byte_but_for_cost_and_environment(self, toys: ModuleType) -> None:
        for function, seed in (("measure", 0), ("crash", 1)):
            cell = one_cell(toys, function, seed)
            assert reproducible(answer(cell)) == reproducible(answer(cell))

    def test_numbers_that_are_not_finite_are_null(self, toys: ModuleType) -> None:
        row = answer(one_cell(toys, "nan", 1))
        assert row["status"] == "ok"
        assert row["metrics"] == {"error": None, "endless": None}

    def test_what_an_arm_raises_is_in_its_row_without_folders_or_addresses(self, toys: ModuleType) -> None:
        row = answer(one_cell(toys, "crash", 1))
        assert row["status"] == "error"
        first, last = row["error"].split("\n")
        assert first.startswith("toy_bench_arms.py:")
        assert "in crash: raise ValueError" in first
        assert last == "ValueError: no luck with <object object at 0x…>"
        assert row["metrics"] == {}
        assert answer(one_cell(toys, "leave"))["error"].endswith("SystemExit: this arm wants out")
        assert "must return an Outcome, not dict" in answer(one_cell(toys, "not_an_outcome"))["error"]
        assert "AttributeError" in answer(one_cell(toys, "absent_function"))["error"]

    def test_a_missing_engine_is_a_skipped_row_with_the_command(self, toys: ModuleType) -> None:
        row = answer(one_cell(toys, "needs_engine"))
        assert (row["status"], row["metrics"]) == ("skipped", {})
        assert row["error"] == "this arm needs an engine; install it with: pip install --no-deps engine"

    def test_an_interrupt_is_nobodys_row(self, toys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*arguments: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(toys, "measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            answer(one_cell(toys, "measure"))

    def test_cells_run_on_one_thread(self, toys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        import threadpoolctl

        from scisuite.bench import Outcome

        def threads(*arguments: Any) -> Outcome:
            return Outcome({"error": max(pool["num_threads"] for pool in threadpoolctl.threadpool_info())})

        monkeypatch.setattr(toys, "measure", threads)
        with threadpoolctl.threadpool_limits(limits=2):
            assert answer(one_cell(toys, "measure"))["metrics"] == {"error": 1.0}


class TestProvenance:
    def test_the_packages_hash_changes_with_the_versions_of_what_an_arm_needs(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        installed = {"numpy": "2.0", "anextra": "1.0"}
        monkeypatch.setattr(provenance, "versions", lambda names: {n: v for n, v in installed.items() if n in names})
        plain, with_extra = packages_hash(), packages_hash(["anextra"])
        installed["anextra"] = "1.1"
        assert packages_hash() == plain
        assert packages_hash(["anextra"]) != with_extra
        installed["numpy"] = "2.1"
        assert packages_hash() != plain

    def test_extras_are_resolved_from_the_installed_metadata(self, monkeypatch: pytest.MonkeyPatch) -> None:
        declared = [
            "numpy>=2",
            'scisuite[inner]; extra == "outer"',
            'no-such-package>=1; extra == "inner"',
            'numpy>=99; extra == "newer"',
            'numpy>=1; extra == "here"',
        ]
        monkeypatch.setattr(provenance.metadata, "requires", lambda name: declared)
        monkeypatch.setattr(provenance, "known_extras", lambda: ("outer", "inner", "newer", "here"))
        assert [name for name, _ in requirements("outer")] == ["no-such-package"]
        assert missing_extra(["here", "outer"]) == "outer"
        assert missing_extra(["here"]) is None
        assert missing_extra([]) is None
        error = missing_dependency("the arm", ["outer"])
        assert str(error) == (
            'the arm needs no-such-package, which is not installed; install it with: pip install "scisuite[outer]"'
        )
        assert "needs numpy>=99" in str(missing_dependency("the arm", ["newer"]))
        assert "pip install not-an-extra" in str(missing_dependency("the plug-in", ["not-an-extra"]))

    def test_extras_go_by_their_canonical_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        declared = ['no-such-package>=1; extra == "two-words"', 'scisuite[two_words]; extra == "outer"']
        monkeypatch.setattr(provenance.metadata, "requires", lambda name: declared)
        monkeypatch.setattr(provenance.metadata, "metadata", lambda name: _Extras(["two-words", "outer"]))
        for extra in ("two_words", "two-words", "outer"):
            assert [name for name, _ in requirements(extra)] == ["no-such-package"]
            assert f'pip install "scisuite[{extra}]"' in str(missing_dependency("the arm", [extra]))

    def test_the_environment_names_machine_and_versions(self) -> None:
        found = environment()
        assert found["python"] == ".".join(map(str, sys.version_info[:3]))
        assert found["cores"] >= 1
        assert {"numpy", "scipy", "gymnasium"} <= set(found["packages"])
        assert found["commit"] is None or len(found["commit"].removesuffix("-dirty")) == 40


class _Extras:
    """Package metadata that declares these extras."""

    def __init__(self, extras: list[str]) -> None:
        self.extras = extras

    def get_all(self, name: str) -> list[str]:
        assert name == "Provides-Extra"
        return self.extras


class TestRun:
    def test_rows_come_in_the_order_of_the_plan_and_are_not_computed_twice(
        self, toys: ModuleType, tmp_path: Path
    ) -> None:
        experiment = toys.toy(toys.METHOD, toys.PEER, toys.arm("bad", "crash"), toys.arm("loud", "talk"))
        rows = run(experiment, "quick", jobs=1, out=tmp_path, progress=False)
        assert [(r["arm"], r["seed"]) for r in rows] == [(c.arm, c.seed) for c in plan(experiment, "quick")]
        assert [(r["arm"], r["seed"]) for r in rows if r["status"] != "ok"] == [("bad", 1)]
        loud = next(r for r in rows if r["arm"] == "loud")
        assert loud["metrics"]["threads"] == 1.0
        assert loud["metrics"]["pid"] != os.getpid()
        assert judge(experiment.claims[0], rows).verdict == "holds"
        assert [reproducible(r) for r in read_rows(tmp_path)] == sorted(map(reproducible, rows), key=_order)

        written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
        again = run(experiment, "quick", jobs=1, out=tmp_path, progress=False)
        assert [reproducible(r) for r in again] == [reproducible(r) for r in rows]
        rewritten = [p for p in written if p.stat().st_mtime_ns != written[p]]
        assert [json.loads(p.read_text())["status"] for p in rewritten] == ["error"], "only what failed is tried again"

    def test_rows_of_other_code_and_damaged_rows_are_run_again(self, toys: ModuleType, tmp_path: Path) -> None:
        experiment = toys.toy(seeds=1)
        planned = plan(experiment, "quick")
        store = RowStore(tmp_path)
        paths = [store.write(answer(cell)) for cell in planned]
        assert pending(planned, store) == []
        paths[0].write_text(paths[0].read_text().replace(planned[0].code, "0000-0000"))
        assert pending(planned, store) == planned[:1]
        paths[1].write_text("{")
        with pytest.warns(UserWarning, match="not valid JSON"):
            rows = run(experiment, "quick", jobs=1, out=tmp_path, progress=False)
        assert [r["code"] for r in rows] == [cell.code for cell in planned]

    def test_an_absent_extra_is_a_skipped_row_and_nothing_is_started(
        self, toys: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("scisuite.bench.backends._new_worker", lambda: pytest.fail("a worker was started"))
        arm = replace(toys.METHOD, extras=("no-such-package",))
        rows = run(toys.toy(arm, seeds=2), "quick", jobs=1, out=tmp_path, progress=False)
        assert {(r["status"], r["error"]) for r in rows} == {
            (
                "skipped",
                "the arm needs no-such-package, which is not installed; install it with: pip install no-such-package",
            )
        }
        by_scenario = run(
            toys.toy(toys.METHOD, scenarios=("toy/absent",)), "quick", jobs=1, out=tmp_path, progress=False
        )
        assert {r["status"] for r in by_scenario} == {"skipped"}

    def test_bad_requests_are_refused_before_any_cell_runs(
        self, toys: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("scisuite.bench.backends._new_worker", lambda: pytest.fail("a worker was started"))
        with pytest.raises(InvalidInput, match="unknown backend 'rey'; did you mean 'ray'"):
            run(toys.toy(), "quick", backend="rey", out=tmp_path)
        with pytest.raises(InvalidInput, match="the number of jobs must be a positive integer, not 0"):
            run(toys.toy(), "quick", jobs=0, out=tmp_path)
        monkeypatch.setitem(sys.modules, "ray", None)
        with pytest.raises(
            MissingDependency, match=r'the ray backend needs ray; install it with: pip install "scisuite\[ray\]"'
        ):
            run(toys.toy(), "quick", backend="ray", out=tmp_path)
        (tmp_path / "file").write_text("")
        with pytest.raises(InvalidInput, match="cannot write"):
            run(toys.toy(), "quick", jobs=1, out=tmp_path / "file")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the superuser")
    def test_a_read_only_folder_is_refused(self, toys: ModuleType, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        with pytest.raises(InvalidInput, match="cannot write .*Permission denied"):
            run(toys.toy(), "quick", jobs=1, out=tmp_path)

    def test_a_full_disk_ends_the_run_and_the_rows_written_before_stay(self, toys: ModuleType, tmp_path: Path) -> None:
        experiment = toys.toy(toys.arm("full", "fill_disk"))
        with pytest.raises(EngineFailure, match="No space left on device"):
            run(experiment, "quick", jobs=1, out=tmp_path, progress=False)
        assert [(r["seed"], r["status"]) for r in read_rows(tmp_path)] == [(0, "ok")]

    def test_ctrl_c_keeps_what_is_done_and_the_next_start_goes_on(self, toys: ModuleType, tmp_path: Path) -> None:
        sources = one_cell(toys, "measure").code.partition("-")[0]
        script = tmp_path / "interrupted.py"
        script.write_text(
            "import sys\n"
            "from scisuite.bench import plan\n"
            f"plan.sources_hash = lambda modules, mentions=(): {sources!r}\n"
            "from toy_bench_arms import arm, toy\n"
            "from scisuite.bench.runner import run\n"
            "slow = arm('slow', 'measure', config={'seconds': 0.25})\n"
            "run(toy(slow, seeds=12), 'quick', jobs=2, out=sys.argv[1])\n"
        )
        out = tmp_path / "runs"
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        started = subprocess.Popen(
            [sys.executable, str(script), str(out)],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # A suite that runs in the background ignores Ctrl-C, and its children would, too.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        _wait_for_rows(out, 2, started)
        started.send_signal(signal.SIGINT)
        printed, complaint = started.communicate(timeout=30)
        assert started.returncode != 0
        assert "KeyboardInterrupt" in complaint
        assert printed == ""
        done = {path: path.stat().st_mtime_ns for path in out.rglob("*.json")}
        assert 2 <= len(done) < 12

        experiment = toys.toy(toys.arm("slow", "measure", config={"seconds": 0.25}), seeds=12)
        assert len(pending(plan(experiment, "quick"), RowStore(out))) == 12 - len(done)
        rows = run(experiment, "quick", jobs=1, out=out, progress=False)
        assert {r["status"] for r in rows} == {"ok"}
        assert {path: path.stat().st_mtime_ns for path in done} == done

    def test_progress_is_counted_from_the_folder(
        self, toys: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        seen: list[tuple[float, str]] = []
        monkeypatch.setattr("scisuite.bench.runner._POLL_SECONDS", 0.05)
        monkeypatch.setattr(
            "scisuite.core.progress.Progress.update", lambda self, completed, note="": seen.append((completed, note))
        )
        run(toys.toy(toys.arm("bad", "crash")), "quick", jobs=1, out=tmp_path)
        assert seen[-1] == (3, "1 failed or skipped")
        assert [count for count, _ in seen] == sorted(count for count, _ in seen)
        assert capsys.readouterr().out == ""


class TestRepeat:
    def test_a_row_repeats_and_a_changed_one_is_told_apart(self, toys: ModuleType, tmp_path: Path) -> None:
        row = answer(one_cell(toys, "measure", level=0.5))
        again, differences = repeat(row)
        assert differences == []
        assert reproducible(again) == reproducible(row)
        path = RowStore(tmp_path).write(row)
        changed = json.loads(path.read_text())
        changed["metrics"]["error"] = 0.0
        changed["curves"]["regret"]["y"][2] = 7.0
        changed["curves"]["lost"] = changed["curves"]["regret"]
        path.write_text(json.dumps(changed))
        now, differences = repeat(path)
        assert [d["what"] for d in differences] == ["metrics.error", "curves.lost", "curves.regret.y[2]"]
        assert differences[0] == {"what": "metrics.error", "was": 0.0, "now": now["metrics"]["error"]}
        assert differences[2]["was"] == 7.0
        assert json.loads(path.read_text()) == changed

    def test_a_row_that_does_not_say_what_was_run_is_refused(self, toys: ModuleType) -> None:
        row = answer(one_cell(toys, "measure"))
        del row["run"]
        with pytest.raises(InvalidInput, match="does not say its run"):
            repeat(row)


def test_one_thread_is_asked_of_every_pool_that_reads_the_environment() -> None:
    assert cells.ONE_THREAD["OMP_NUM_THREADS"] == "1"
    assert cells.ONE_THREAD["OPENBLAS_NUM_THREADS"] == "1"


def _order(text: str) -> tuple[Any, ...]:
    row = json.loads(text)
    return row["scenario"], row["arm"], row["seed"]


def _wait_for_rows(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while len(list(folder.rglob("*.json"))) < count:
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"no {count} rows came: {process.communicate()[1]}")
        time.sleep(0.05)
