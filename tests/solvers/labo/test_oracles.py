"""Simulated and random oracles, solvers in the model's place, the cache, and making them by name."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput, NotFitted, Space, UnknownName, generator
from scisuite.scenarios import BlackBoxScenario, Description
from scisuite.solvers.labo.oracles import (
    CachedOracle,
    CountingOracle,
    LLMOracle,
    LLMPrediction,
    OracleError,
    Problem,
    RandomOracle,
    SimulatedOracle,
    SolverOracle,
    make_oracle,
)


class Bowl(BlackBoxScenario):
    """a + b·(smooth function) on a pool of random points, or on the whole cube."""

    value_range = (-100.0, 100.0)

    def __init__(self, n=60, d=3, *, a=0.0, b=1.0, maximise=True, seed=0):
        super().__init__(seed=seed)
        self.space = Space.from_bounds(**{f"x{i}": (0, 1) for i in range(d)})
        self.maximise = maximise
        self.a, self.b = a, b
        self.pool = generator(seed, "pool").random((n, d)) if n else None
        self.reads = 0

    def evaluate(self, x):
        self.reads += 1
        x = self.space.require(x)
        return self.a + self.b * (np.sin(5 * x).sum(axis=1) - (x**2).sum(axis=1))

    def describe(self):
        return Description("test/bowl", "a bowl", "made up", "none", False)


def correlation(a, b):
    return np.corrcoef(a, b)[0, 1]


@settings(max_examples=40, deadline=None)
@given(
    corr=st.floats(-1, 1),
    gain=st.floats(0.1, 3),
    offset=st.floats(-2, 2),
    seed=st.integers(0, 2**40),
    n=st.integers(5, 80),
    d=st.integers(1, 5),
)
def test_without_noise_the_dials_are_exact(corr, gain, offset, seed, n, d):
    scenario = Bowl(n, d)
    oracle = SimulatedOracle(corr, gain, offset, noise=0.0, seed=seed).bind(scenario)
    y = scenario.evaluate(scenario.pool)
    assert oracle.realised_correlation == pytest.approx(corr, abs=1e-10)
    assert oracle.table.std() == pytest.approx(gain * y.std(), rel=1e-9)
    assert oracle.table.mean() == pytest.approx(y.mean() + offset * y.std(), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    a=st.floats(-50, 50),
    b=st.floats(1e-3, 1e3),
    noise=st.floats(0, 1),
    seed=st.integers(0, 1000),
    pooled=st.booleans(),
)
def test_answers_follow_affine_maps_of_the_truth(a, b, noise, seed, pooled):
    n = 40 if pooled else 0
    plain = SimulatedOracle(noise=noise, seed=seed).bind(Bowl(n))
    mapped = SimulatedOracle(noise=noise, seed=seed).bind(Bowl(n, a=a, b=b))
    x = plain.problem.pool[:9] if pooled else generator(seed, "x").random((9, 3))
    scale = abs(a) + abs(b)
    np.testing.assert_allclose(mapped.predict(x).mean, a + b * plain.predict(x).mean, atol=1e-9 * scale, rtol=0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), pooled=st.booleans(), fail_rate=st.sampled_from([0.0, 0.3]))
def test_a_repeated_question_has_the_same_answer(seed, pooled, fail_rate):
    scenario = Bowl(40 if pooled else 0)
    oracle = SimulatedOracle(seed=seed, fail_rate=fail_rate).bind(scenario)
    x = scenario.pool[5:15] if pooled else generator(seed, "x").random((10, 3))
    together = oracle.predict(x).mean
    alone = np.concatenate([oracle.predict(row[None]).mean for row in x[::-1]])[::-1]
    assert np.array_equal(together, alone, equal_nan=True)
    again = SimulatedOracle(seed=seed, fail_rate=fail_rate).bind(scenario)
    assert np.array_equal(again.predict(x).mean, together, equal_nan=True)
    other = SimulatedOracle(seed=seed + 1, fail_rate=fail_rate).bind(scenario)
    assert not np.array_equal(other.predict(x).mean, together, equal_nan=True)


def test_the_briefs_noise_lowers_the_correlation_to_about_072():
    realised = [SimulatedOracle(seed=s).bind(Bowl(1000)).realised_correlation for s in range(5)]
    assert np.mean(realised) == pytest.approx(0.8 / np.sqrt(1.25), abs=0.02)


def test_an_uninformative_oracle_is_orthogonal_to_the_truth_also_without_a_pool():
    pooled = SimulatedOracle(corr=0.0, noise=0.0).bind(Bowl(200))
    assert abs(pooled.realised_correlation) < 1e-12
    open_space = SimulatedOracle(corr=0.0, noise=0.0).bind(Bowl(0))
    assert abs(open_space.realised_correlation) < 1e-12
    x = generator(0, "elsewhere").random((4000, 3))
    assert abs(correlation(open_space.predict(x).mean, open_space.problem.evaluate(x))) < 0.1


def test_without_a_pool_answers_off_the_sample_keep_the_dials():
    scenario = Bowl(0)
    oracle = SimulatedOracle(corr=0.8, noise=0.5).bind(scenario)
    x = generator(0, "elsewhere").random((4000, 3))
    assert oracle.predict(x).mean.shape == (4000,)
    assert correlation(oracle.predict(x).mean, scenario.evaluate(x)) == pytest.approx(0.72, abs=0.06)
    with pytest.raises(InvalidInput, match="there is no pool, so no table of answers; use predict"):
        _ = oracle.table


def test_the_table_is_what_predict_answers_and_cannot_be_changed():
    scenario = Bowl(50)
    oracle = SimulatedOracle(fail_rate=0.2).bind(scenario)
    answer = oracle.predict(scenario.pool)
    assert np.array_equal(answer.mean, oracle.table, equal_nan=True)
    assert answer.std is None
    assert answer.n_failed == np.isnan(oracle.table).sum() == oracle.n_failed > 0
    assert oracle.n_queries == 50
    with pytest.raises(ValueError, match="read-only"):
        oracle.table[0] = 1.0


def test_the_truth_is_read_once_for_a_scenario_and_redraw_reads_nothing():
    scenario = Bowl(50)
    first = SimulatedOracle(seed=1).bind(scenario)
    second = SimulatedOracle(seed=2).bind(scenario)
    assert scenario.reads == 1
    table = first.table
    assert np.array_equal(first.redraw(2).table, second.table)
    assert np.array_equal(first.redraw(1).table, table)
    assert scenario.reads == 1


def test_rows_that_lost_precision_are_found_and_strangers_are_not():
    scenario = Bowl(50)
    oracle = SimulatedOracle().bind(scenario)
    rounded = scenario.pool.astype(np.float32).astype(np.float64)
    assert np.array_equal(oracle.predict(rounded).mean, oracle.table)
    with pytest.raises(InvalidInput, match=r"x\[1\] = .* is not in the pool"):
        oracle.predict(np.stack([scenario.pool[0], np.full(3, 0.5)]))
    assert oracle.n_queries == 50


@pytest.mark.parametrize("maximise", [True, False])
@pytest.mark.parametrize("n_pool", [60, 400, 0])
def test_proposals_are_distinct_and_from_the_best_answers(maximise, n_pool):
    scenario = Bowl(n_pool, maximise=maximise)
    oracle = SimulatedOracle().bind(scenario)
    rng = np.random.default_rng(0)
    seen = np.concatenate([oracle.propose(3, rng) for _ in range(40)])
    answers = oracle.predict(seen).mean
    if n_pool:
        ranked = np.sort(oracle.table)[::-1] if maximise else np.sort(oracle.table)
        last = ranked[max(10, n_pool // 20) - 1]
        assert (answers >= last).all() if maximise else (answers <= last).all()
    rows = oracle.propose(3, np.random.default_rng(1))
    assert len(np.unique(rows, axis=0)) == 3
    assert np.array_equal(rows, oracle.propose(3, np.random.default_rng(1)))
    truth = scenario.evaluate(seen).mean() - scenario.evaluate(scenario.space.sample(rng, 500)).mean()
    assert truth > 0 if maximise else truth < 0


def test_more_proposals_than_answers():
    oracle = SimulatedOracle().bind(Bowl(20))
    assert len(oracle.propose(20, np.random.default_rng(0))) == 20
    with pytest.raises(InvalidInput, match="cannot propose 21 points: only 20 have an answer"):
        oracle.propose(21, np.random.default_rng(0))


def test_a_constant_truth_gives_constant_answers():
    oracle = SimulatedOracle().bind(Bowl(20, b=0.0, a=3.0))
    assert np.array_equal(oracle.table, np.full(20, 3.0))
    assert np.isnan(oracle.realised_correlation)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"corr": 1.1}, r"corr must be in \[-1, 1\], not 1\.1"),
        ({"corr": float("nan")}, r"corr must be in \[-1, 1\], not nan"),
        ({"corr": "0.8"}, r"corr must be in \[-1, 1\], not '0\.8'"),
        ({"gain": float("inf")}, "gain must be a finite number, not inf"),
        ({"offset": None}, "offset must be a finite number, not None"),
        ({"noise": -0.1}, r"noise must be at least 0, not -0\.1"),
        ({"fail_rate": 1.5}, r"fail_rate must be in \[0, 1\], not 1\.5"),
        ({"seed": 0.5}, "seed must be a non-negative integer, not 0.5"),
    ],
)
def test_bad_dials(config, message):
    with pytest.raises(InvalidInput, match=message):
        make_oracle("simulated", **config)


def test_bad_problems_and_rows():
    oracle = SimulatedOracle()
    space = Space.from_bounds(a=(0, 1))
    with pytest.raises(InvalidInput, match="SimulatedOracle is not bound to a problem; call bind"):
        oracle.predict([[0.5]])
    with pytest.raises(InvalidInput, match="needs the truth: bind it to a scenario with evaluate, not to a Problem"):
        oracle.bind(Problem(space))
    with pytest.raises(InvalidInput, match="needs a pool of at least 3 points, not 2"):
        oracle.bind(Bowl(2))
    with pytest.raises(InvalidInput, match="bind takes a BlackBoxScenario or a Problem, not int"):
        SolverOracle(len).bind(3)
    with pytest.raises(InvalidInput, match="RandomOracle needs the declared range"):
        RandomOracle().bind(Problem(space))
    bound = SimulatedOracle().bind(Bowl(10))
    for bad, message in (([[0.5, 0.5]], "x"), ([[np.nan, 0, 0]], "NaN"), ([[2.0, 0, 0]], "outside the space")):
        with pytest.raises(InvalidInput, match=message):
            bound.predict(bad)
    assert bound.n_queries == 0
    assert len(bound.predict(np.empty((0, 3))).mean) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"value_range": (1, 1)}, r"value_range must be finite with low < high, not \(1, 1\)"),
        ({"value_range": 3}, r"value_range must be \(low, high\), not 3"),
        ({"value_range": (0, float("inf"))}, "value_range must be finite"),
        ({"pool": [[2.0]]}, "is outside the space"),
        ({"space": {"a": (0, 1)}}, "space must be a Space, not dict"),
    ],
)
def test_a_problem_is_checked(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Problem(**{"space": Space.from_bounds(a=(0, 1)), **arguments})


def test_a_problem_says_what_a_scenario_says():
    problem = Problem(Space.from_bounds(a=(0, 1)), maximise=False, task="t", value_name="loss", unit="g")
    assert problem.context().keys() == Bowl().context().keys()
    assert problem.context()["range"] is None


def test_random_answers_fill_the_range_and_repeat():
    problem = Problem(Space.from_bounds(a=(0, 1), b=(0, 5)), value_range=(10.0, 20.0))
    x = generator(0, "x").random((500, 2))
    oracle = RandomOracle(seed=3).bind(problem)
    answers = oracle.predict(x).mean
    assert 10 <= answers.min() < 11
    assert 19 < answers.max() <= 20
    assert np.array_equal(oracle.predict(x[::-1]).mean[::-1], answers)
    other = RandomOracle(seed=4).bind(problem).predict(x).mean
    assert not np.array_equal(other, answers)
    assert np.array_equal(oracle.redraw(4).predict(x).mean, other)
    assert np.array_equal(oracle.redraw(3).predict(x).mean, answers)
    assert abs(correlation(answers, x[:, 0])) < 0.2
    assert oracle.propose(4, np.random.default_rng(0)).shape == (4, 2)
    pooled = RandomOracle().bind(Bowl(5))
    assert len(np.unique(pooled.propose(5, np.random.default_rng(0)), axis=0)) == 5
    with pytest.raises(InvalidInput, match="cannot propose 6 points from a pool of 5"):
        pooled.propose(6, np.random.default_rng(0))


def test_a_function_is_an_oracle_in_encoded_units_or_as_points():
    space = Space.from_bounds(temperature=(20, 120, "degC"), solvent=["DMF", "THF"])
    problem = Problem(space, value_range=(0, 200))
    x = space.encode([{"temperature": 70, "solvent": "THF"}, {"temperature": 20, "solvent": "DMF"}])
    assert list(SolverOracle(lambda e: e[:, 0]).bind(problem).predict(x).mean) == [0.5, 0.0]
    assert list(SolverOracle(lambda u: u[:, :1], inputs="units").bind(problem).predict(x).mean) == [70, 20]
    by_point = SolverOracle(lambda points: [p["temperature"] + len(p["solvent"]) for p in points], inputs="points")
    assert list(by_point.bind(problem).predict(x).mean) == [73, 23]
    pair = SolverOracle(lambda e: (e[:, 0], 1 + e[:, 0])).bind(problem).predict(x)
    assert list(pair.std) == [1.5, 1.0]


def test_a_solver_is_an_oracle_and_what_it_raises_passes_through():
    class Half:
        id = "half"

        def predict(self, x):
            return x[:, 0] / 2

    class Unfitted:
        def predict(self, x):
            raise NotFitted("not fitted")

    problem = Problem(Space.from_bounds(a=(0, 1)), value_range=(0, 1))
    oracle = SolverOracle(Half()).bind(problem)
    assert list(oracle.predict([[1.0]]).mean) == [0.5]
    assert oracle.model == "solver(half)"
    with pytest.raises(NotFitted, match="not fitted"):
        SolverOracle(Unfitted()).bind(problem).predict([[1.0]])


def test_nan_and_answers_out_of_range_are_dropped_and_counted():
    answers = np.array([0.5, np.nan, 7.0, -np.inf, 1.0])
    oracle = SolverOracle(lambda x: (answers[: len(x)], np.ones(len(x))))
    oracle.bind(Problem(Space.from_bounds(a=(0, 1)), value_range=(0, 1)))
    got = oracle.predict(np.zeros((5, 1)))
    np.testing.assert_array_equal(got.mean, [0.5, np.nan, np.nan, np.nan, 1.0])
    np.testing.assert_array_equal(got.std, [1.0, np.nan, np.nan, np.nan, 1.0])
    assert (got.n_failed, oracle.n_failed, oracle.n_queries) == (3, 3, 5)
    unbounded = SolverOracle(lambda x: answers[: len(x)]).bind(Problem(Space.from_bounds(a=(0, 1))))
    assert unbounded.predict(np.zeros((5, 1))).n_failed == 2
    oracle.bind(oracle.problem)
    assert (oracle.n_failed, oracle.n_queries) == (0, 0)


def test_an_oracle_that_answers_nothing_is_an_error_but_one_failure_is_not():
    problem = Problem(Space.from_bounds(a=(0, 1)))
    silent = SolverOracle(lambda x: np.full(len(x), np.nan)).bind(problem)
    assert silent.predict(np.zeros((4, 1))).n_failed == 4
    with pytest.raises(OracleError, match=r"answered none of the last 9 questions \(9 of 9 failed\)"):
        silent.predict(np.zeros((5, 1)))
    silent.bind(problem)
    for _ in range(19):
        silent.predict(np.zeros((1, 1)))
    with pytest.raises(OracleError, match="answered none of the last 20 questions"):
        silent.predict(np.zeros((1, 1)))
    flaky = SolverOracle(lambda x: np.where(np.arange(len(x)) == 0, 0.5, np.nan)).bind(problem)
    for _ in range(10):
        assert flaky.predict(np.zeros((8, 1))).n_failed == 7


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: np.zeros(len(x) + 1), r"gave values of shape \(3,\) for 2 points"),
        (lambda x: np.zeros((len(x), 2)), r"gave values of shape \(2, 2\) for 2 points"),
        (lambda x: ["a", "b"], "must give numbers"),
        (lambda x: 1.0, r"gave values of shape \(\) for 2 points"),
    ],
)
def test_a_function_with_a_wrong_answer(answer, message):
    oracle = SolverOracle(answer).bind(Problem(Space.from_bounds(a=(0, 1))))
    with pytest.raises(InvalidInput, match=message):
        oracle.predict(np.zeros((2, 1)))


class Brittle(CountingOracle):
    """Answers 2·x until told to break."""

    def __init__(self):
        self.broken = False
        self.asked = []

    def _answer(self, x):
        if self.broken:
            raise AssertionError("the inner oracle was called")
        self.asked.append(len(x))
        return np.where(x[:, 0] > 0.9, np.nan, 2 * x[:, 0]), x[:, 0]

    def propose(self, n, rng):
        if self.broken:
            raise AssertionError("the inner oracle was called")
        return rng.random((n, 1))


def test_the_cache_replays_answers_failures_and_proposals_without_the_inner_oracle(tmp_path):
    problem = Problem(Space.from_bounds(a=(0, 1)), value_range=(0, 2))
    x = np.linspace(0, 1, 41)[:, None]
    oracle = CachedOracle(Brittle(), tmp_path / "cache.jsonl").bind(problem)
    rng = np.random.default_rng(5)
    first, starts, after = oracle.predict(x), oracle.propose(3, rng), rng.random()
    assert oracle.inner.asked == [16, 16, 9]
    assert first.n_failed == 4

    inner = Brittle()
    inner.broken = True
    replay = CachedOracle(inner, tmp_path / "cache.jsonl").bind(problem)
    again = replay.predict(x)
    np.testing.assert_array_equal(again.mean, first.mean)
    np.testing.assert_array_equal(again.std, first.std)
    assert (again.n_failed, replay.n_replayed) == (4, 41)
    rng = np.random.default_rng(5)
    np.testing.assert_array_equal(replay.propose(3, rng), starts)
    assert rng.random() == after
    with pytest.raises(AssertionError, match="the inner oracle was called"):
        replay.predict([[0.123]])
    retrying = CachedOracle(Brittle(), tmp_path / "cache.jsonl", retry_failed=True).bind(problem)
    retrying.predict(x)
    assert retrying.inner.asked == [4]


def test_the_cache_keeps_what_was_answered_before_a_kill(tmp_path):
    problem = Problem(Space.from_bounds(a=(0, 1)))
    x = np.linspace(0, 0.5, 40)[:, None]

    def dies(rows):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(len(rows))
        return rows[:, 0]

    seen = []
    with pytest.raises(KeyboardInterrupt):
        CachedOracle(SolverOracle(dies, name="f"), tmp_path / "c").bind(problem).predict(x)
    with (tmp_path / "c").open("ab") as file:
        file.write(b'{"key": "torn')
    resumed = CachedOracle(SolverOracle(lambda r: r[:, 0], name="f"), tmp_path / "c").bind(problem)
    np.testing.assert_array_equal(resumed.predict(x).mean, x[:, 0])
    assert resumed.n_replayed == 32


def test_the_cache_asks_once_for_repeated_rows_and_keeps_models_apart(tmp_path):
    problem = Bowl(20)
    strong = CachedOracle(SimulatedOracle(corr=0.9), tmp_path / "c").bind(problem)
    weak = CachedOracle(SimulatedOracle(corr=0.1), tmp_path / "c").bind(problem)
    rows = problem.pool[[0, 0, 1]]
    np.testing.assert_array_equal(strong.predict(rows).mean, strong.inner.table[[0, 0, 1]])
    np.testing.assert_array_equal(weak.predict(rows).mean, weak.inner.table[[0, 0, 1]])
    assert strong.inner.n_queries == weak.inner.n_queries == 2


def test_the_cache_does_not_judge_twice_and_has_proposals_where_the_inner_oracle_has(tmp_path):
    far = Bowl(20)
    far.value_range = (0.0, 1e-6)
    simulated = CachedOracle(SimulatedOracle(), tmp_path / "a").bind(far)
    assert simulated.predict(far.pool).n_failed == 0
    assert hasattr(simulated, "propose")
    assert not hasattr(CachedOracle(SolverOracle(len), tmp_path / "b"), "propose")
    with pytest.raises(InvalidInput, match="inner must be an oracle with bind and predict, not int"):
        CachedOracle(3, tmp_path / "c")


@pytest.mark.parametrize(
    "made", [SimulatedOracle(fail_rate=0.1), RandomOracle(2), SolverOracle(np.sum, name="sum")], ids=lambda o: o.model
)
def test_bound_oracles_copy_and_pickle(made):
    scenario = Bowl(30)
    made.bind(scenario)
    if isinstance(made, SolverOracle):
        assert copy.deepcopy(made).model == pickle.loads(pickle.dumps(made)).model == "solver(sum)"
        return
    expected = made.predict(scenario.pool[:7])
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(other.predict(scenario.pool[:7]).mean, expected.mean)
        assert other.n_queries == 14
    assert made.n_queries == 7


def test_oracles_by_name(tmp_path):
    assert isinstance(make_oracle("simulated", corr=0.5), SimulatedOracle)
    assert isinstance(make_oracle("random", seed=1, cache=str(tmp_path / "c")), CachedOracle)
    same = RandomOracle()
    assert make_oracle(same) is same
    assert isinstance(make_oracle(lambda x: x[:, 0], name="first"), SolverOracle)
    with pytest.raises(UnknownName, match="unknown oracle 'simulatd'; did you mean 'simulated'"):
        make_oracle("simulatd")
    with pytest.raises(InvalidInput, match="oracle 'simulated' has no argument 'cor'; did you mean 'corr'"):
        make_oracle("simulated", cor=0.5)
    with pytest.raises(InvalidInput, match="takes no configuration: seed"):
        make_oracle(same, seed=3)
    with pytest.raises(InvalidInput, match="solver must be a fitted solver or a function, not 3"):
        make_oracle(3)
    with pytest.raises(InvalidInput, match="inputs must be 'encoded', 'units' or 'points', not 'raw'"):
        make_oracle(len, inputs="raw")


def test_the_protocol_and_the_import_are_light():
    assert isinstance(SimulatedOracle(), LLMOracle)
    assert LLMPrediction(np.zeros(1), None, 0).std is None
    heavy = "{'torch', 'openai', 'transformers', 'scipy'}"
    code = f"import sys, scisuite.solvers.labo.oracles; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
