"""LABO's decisions: the gate, its limits, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import Integer, Space
from scisuite.core.seeding import global_random_state_untouched
from scisuite.solvers.labo import LABO, SolverOracle
from scisuite.solvers.labo.acquisition import greedy_ucb_batch
from scisuite.solvers.labo.baselines import VanillaUCB

SPACE = Space.from_bounds(x=(0, 1), y=(0, 1), z=(0, 1))
few = settings(max_examples=5, deadline=None)
seeds = st.integers(0, 10**6)


def setting(seed, n=40):
    """A pool, its real values, a biased predictor of them, and starts."""
    rng = np.random.default_rng(seed)
    pool = rng.random((n, 3))
    phases = rng.random(3) * 6
    real = np.sin(5 * pool + phases).sum(1) + 0.1 * rng.standard_normal(n)
    cheap = 3 + 0.5 * real + 0.4 * np.cos(7 * pool[:, 0]) + 0.1 * rng.standard_normal(n)
    return pool, real, cheap, pool[rng.choice(n, 3, replace=False)]


def lookup(pool, values):
    rows = {row.tobytes(): value for row, value in zip(pool, values, strict=True)}
    return lambda x: np.array([rows[np.ascontiguousarray(row).tobytes()] for row in x])


def play(pool, real, cheap, kind=LABO, space=SPACE, **options):
    options = {"budget": 8, "n_latin": 8, "max_llm": 30, **options}
    campaign = kind(space, SolverOracle(lookup(pool, cheap)), pool=pool, **options)
    truth = lookup(pool, real)
    while not campaign.done:
        query = campaign.ask()[0]
        campaign.tell(query, float(truth([query.encoded])[0]))
    return campaign


def decisions(campaign, source=None):
    return [(s.query.index, s.query.source) for s in campaign.trace.steps if source in (None, s.query.source)]


def rows_run(campaign):
    return [index for index, _ in decisions(campaign, "real")]


# What must hold -------------------------------------------------------------------------------------------------


@few
@given(
    seed=seeds,
    tau=st.floats(0, 1),
    q=st.integers(1, 4),
    budget=st.integers(3, 9),
    extra=st.integers(0, 12),
    gate=st.sampled_from(["p_delta", "always", "variance", "random"]),
)
def test_the_counts_stay_within_their_budgets_and_no_row_is_run_twice(seed, tau, q, budget, extra, gate):
    pool, real, cheap, _ = setting(seed)
    campaign = play(pool, real, cheap, tau=tau, q=q, budget=budget, max_llm=11 + extra, gate=gate, seed=seed)
    assert campaign.n_real == budget == len(set(rows_run(campaign)))
    asked = [index for index, _ in decisions(campaign, "llm")]
    assert len(asked) == len(set(asked)) == campaign.n_llm <= 11 + extra
    for step in campaign.trace.steps:
        assert step.n_real <= budget
        assert step.p_delta is None or 0 <= step.p_delta <= 1


@few
@given(seed=seeds)
def test_the_same_seed_gives_the_same_trace_and_no_global_generator_is_used(seed):
    pool, real, cheap, _ = setting(seed)
    with global_random_state_untouched():
        first, second = (play(pool, real, cheap, seed=seed, gate="random", starts="random") for _ in range(2))
    assert first.trace == second.trace
    other = play(pool, real, cheap, seed=seed + 1, gate="random", starts="random")
    assert decisions(other) != decisions(first)


@few
@given(seed=seeds, tau=st.floats(0, 1, exclude_max=True), q=st.integers(1, 3))
def test_a_slope_fixed_at_zero_makes_vanilla_ucb(seed, tau, q):
    pool, real, cheap, starts = setting(seed)
    fixed = play(pool, real, cheap, rho_fit="fixed", rho=0.0, tau=tau, q=q, starts=starts)
    vanilla = play(pool, real, cheap, VanillaUCB, q=q, starts=starts)
    assert rows_run(fixed) == rows_run(vanilla)
    assert {s.p_delta for s in fixed.trace.steps} == {None, 1.0}
    assert vanilla.n_llm == 0


def test_a_slope_fixed_at_zero_makes_vanilla_ucb_without_a_pool_too():
    space, starts = Space.from_bounds(x=(0, 5), y=(0, 1)), np.array([[0.1, 0.2], [0.8, 0.4], [0.5, 0.9]])
    runs = []
    for kind, options in ((LABO, {"rho_fit": "fixed", "rho": 0.0}), (VanillaUCB, {})):
        campaign = play_anywhere(
            space,
            lambda points: [p["x"] for p in points],
            lambda p: -((p["x"] - 2) ** 2),
            kind,
            starts=starts,
            **options,
        )
        runs.append([s.query.encoded for s in campaign.trace.steps if s.query.source == "real"])
    assert runs[0] == runs[1]


@few
@given(seed=seeds)
def test_a_threshold_of_zero_runs_every_candidate(seed):
    pool, real, cheap, starts = setting(seed)
    campaign = play(pool, real, cheap, tau=0, starts=starts)
    chosen = [s for s in campaign.trace.steps if s.p_delta is not None]
    assert {s.query.index for s in chosen} == {s.query.index for s in chosen if s.query.source == "real"}
    assert decisions(campaign) == decisions(play(pool, real, cheap, gate="always", starts=starts))


@few
@given(seed=seeds, rho_fit=st.sampled_from(["centred", "origin", "shrunk"]))
def test_a_negated_language_model_turns_the_slope_and_no_decision(seed, rho_fit):
    pool, real, cheap, starts = setting(seed)
    plain = play(pool, real, cheap, starts=starts, rho_fit=rho_fit)
    negated = play(pool, real, -cheap, starts=starts, rho_fit=rho_fit)
    assert decisions(plain) == decisions(negated)
    for a, b in zip(plain.trace.steps, negated.trace.steps, strict=True):
        assert a.p_delta == b.p_delta
        assert b.rho is None or b.rho == -a.rho


@few
@given(seed=seeds)
def test_a_proportional_language_model_is_seen_through(seed):
    pool, real, _, starts = setting(seed)
    campaign = play(pool, real, 4 * real, starts=starts)
    assert campaign.rho == pytest.approx(0.25)
    assert np.abs(campaign.surrogate.predict(pool).mu_d).max() <= 1e-10
    assert max(rows_run(campaign), key=lambda i: real[i]) in np.argsort(-real)[:3]


@few
@given(seed=seeds, a=st.floats(0.01, 100), b=st.floats(-100, 100), c=st.floats(0.01, 100), e=st.floats(-100, 100))
def test_affine_maps_of_either_source_change_no_decision(seed, a, b, c, e):
    pool, real, cheap, starts = setting(seed)
    plain = play(pool, real, cheap, starts=starts, budget=6)
    mapped = play(pool, a * real + b, c * cheap + e, starts=starts, budget=6)
    assert decisions(plain) == decisions(mapped)
    (mean, std), (mapped_mean, mapped_std) = plain.predict(pool), mapped.predict(pool)
    np.testing.assert_allclose(mapped_mean, a * mean + b, rtol=1e-5, atol=1e-5 * (a + abs(b)))
    np.testing.assert_allclose(mapped_std, a * std, rtol=1e-4, atol=1e-6 * a)


@few
@given(seed=seeds, low=st.floats(-300, 300), width=st.floats(0.01, 1e4))
def test_the_units_of_the_inputs_change_no_decision(seed, low, width):
    pool, real, cheap, starts = setting(seed)
    space = Space.from_bounds(x=(low, low + width, "degC"), y=(0, 1), z=(-width, width))
    points = [dict(zip("xyz", row, strict=True)) for row in space.to_units(pool)]
    encoded = np.clip(space.encode([{**p, "x": min(max(p["x"], low), low + width)} for p in points]), 0, 1)
    plain = play(pool, real, cheap, starts=starts, budget=6)
    rows = [int(np.flatnonzero((pool == start).all(1))[0]) for start in starts]
    scaled = play(encoded, real, cheap, space=space, starts=encoded[rows], budget=6)
    assert decisions(scaled) == decisions(plain)
    np.testing.assert_allclose(scaled.predict(encoded), plain.predict(pool), rtol=1e-5, atol=1e-5)


@few
@given(seed=seeds)
def test_minimising_is_maximising_the_negative_in_its_own_units(seed):
    pool, real, cheap, starts = setting(seed)
    up = play(pool, real, cheap, starts=starts)
    down = play(pool, -real, -cheap, starts=starts, maximise=False)
    assert decisions(up) == decisions(down)
    assert down.best == (up.best[0], -up.best[1])
    assert down.best[1] == min(down.trace.real_values())
    np.testing.assert_array_equal(down.trace.best_values(), np.minimum.accumulate(down.trace.real_values()))
    np.testing.assert_array_equal(down.predict(pool)[0], -up.predict(pool)[0])
    np.testing.assert_array_equal(down.predict(pool)[1], up.predict(pool)[1])


def test_without_proposals_the_starts_are_the_best_answers_in_the_direction_of_the_problem():
    pool, real, cheap, _ = setting(0)
    for maximise, sign in ((True, 1), (False, -1)):
        campaign = play(pool, real, cheap, budget=3, maximise=maximise)
        asked = [index for index, _ in decisions(campaign, "llm")]
        assert rows_run(campaign) == sorted(asked, key=lambda i: -sign * cheap[i])[:3]


# The gate -------------------------------------------------------------------------------------------------------


def test_the_gate_reads_the_posterior_that_chose_the_point():
    pool, real, cheap, starts = setting(5)
    campaign = LABO(
        SPACE, SolverOracle(lookup(pool, cheap)), pool=pool, budget=12, n_latin=8, max_llm=60, starts=starts, tau=0.6
    )
    opened, closed = 0, 0
    while not campaign.done:
        before = campaign.n_llm
        queries = campaign.decide()
        new = [s for s in campaign.trace.steps if s.query.source == "llm"][before:]
        if campaign.n_real >= 3 and campaign._stage == 2 and new and new[0].p_delta is not None:
            run = {query.index for query in queries}
            for step in new:
                assert (step.query.index in run) == (step.p_delta > 0.6)
                opened += step.query.index in run
                closed += step.query.index not in run
        for query in queries:
            campaign.tell(query, float(real[query.index]))
    assert opened
    assert closed


def test_the_batch_is_the_greedy_one_of_the_fused_posterior():
    pool, real, cheap, starts = setting(3)
    campaign = LABO(
        SPACE,
        SolverOracle(lookup(pool, cheap)),
        pool=pool,
        budget=9,
        q=3,
        n_latin=8,
        max_llm=40,
        starts=starts,
        gate="always",
    )
    for query in campaign.ask():
        campaign.tell(query, float(real[query.index]))
    queries = campaign.ask()
    free = np.setdiff1d(np.arange(len(pool)), rows_run(campaign))
    posterior = campaign.surrogate.predict(pool[free])
    gp = campaign.surrogate.gp_discrepancy
    picked = greedy_ucb_batch(
        posterior.mu, posterior.var, 3, 2.0, lambda i: gp.correlation(pool[free], pool[free[i : i + 1]])[:, 0]
    )
    assert [query.index for query in queries] == free[picked].tolist()
    assert [campaign._p_delta[query.id] for query in queries] == campaign.surrogate.p_delta(pool[free[picked]]).tolist()


def test_a_share_equal_to_the_threshold_keeps_the_gate_closed_but_for_a_threshold_of_zero():
    share = np.array([0.0, 0.5, 1.0])
    for tau, opens in ((0.0, [True, True, True]), (0.5, [False, False, True]), (1.0, [False, False, False])):
        assert LABO(SPACE, tau=tau)._gate_opens(np.zeros((3, 3)), share).tolist() == opens


@pytest.mark.parametrize("max_llm", [11, 14, 30])
def test_a_gate_that_never_opens_still_spends_the_real_budget(max_llm):
    pool, real, cheap, _ = setting(1)
    campaign = play(pool, real, cheap, tau=1.0, max_llm=max_llm)
    assert campaign.n_real == 8
    assert campaign.n_llm <= max_llm


@pytest.mark.parametrize("max_llm", [16, 18, 22])
def test_the_gate_is_forced_open_in_time_for_every_real_run_to_be_paired(max_llm):
    for seed in range(3):
        pool, real, cheap, starts = setting(seed)
        campaign = play(pool, real, cheap, tau=1.0, starts=starts, max_llm=max_llm)
        assert campaign.n_llm <= max_llm
        assert len(campaign.paired_data()[0]) == campaign.n_real == 8


def test_a_candidate_that_was_asked_before_is_run():
    pool, real, cheap, starts = setting(2, n=12)
    campaign = play(pool, real, cheap, tau=1.0, starts=starts, max_llm=200, n_latin=9)
    assert campaign.n_llm == 12  # every row was asked in the warm start, so every candidate is run at once
    assert [s.query.source for s in campaign.trace.steps][12:] == ["real"] * 8


def test_the_variance_gate_and_the_coin_are_other_gates():
    pool, real, cheap, starts = setting(4)
    shared = {"starts": starts, "budget": 7, "max_llm": 40}
    certain = play(pool, real, cheap, gate="variance", variance_threshold=1.0, **shared)
    assert decisions(certain) == decisions(play(pool, real, cheap, gate="always", **shared))
    never = play(pool, real, cheap, gate="variance", variance_threshold=0.0, **shared)
    assert never.n_llm > certain.n_llm
    assert set(rows_run(never)) <= {index for index, _ in decisions(never, "llm")}
    coins = [play(pool, real, cheap, gate="random", seed=seed, **shared) for seed in range(3)]
    assert len({str(decisions(coin)) for coin in coins}) > 1
    assert certain.n_llm < max(coin.n_llm for coin in coins)


def test_the_acquisitions_read_what_they_say():
    pool, real, cheap, starts = setting(7)
    for acquisition in ("real_only", "prior_mean", "llm_only"):
        campaign = LABO(
            SPACE,
            SolverOracle(lookup(pool, cheap)),
            pool=pool,
            budget=5,
            q=1,
            n_latin=8,
            max_llm=30,
            starts=starts,
            acquisition=acquisition,
            gate="always",
        )
        for query in campaign.ask():
            campaign.tell(query, float(real[query.index]))
        chosen = campaign.ask()[0].index
        free = np.setdiff1d(np.arange(len(pool)), rows_run(campaign))
        posterior = campaign.surrogate.predict(pool[free])
        if acquisition == "prior_mean":
            bound = posterior.mu + 2 * np.sqrt(posterior.var_d)
        elif acquisition == "llm_only":
            bound = posterior.mu_L
        else:
            vanilla = play(pool, real, cheap, VanillaUCB, q=1, starts=starts, budget=4)
            assert rows_run(vanilla)[3] == chosen
            continue
        assert chosen == free[bound.argmax()]


# Spaces without a pool ------------------------------------------------------------------------------------------


def play_anywhere(space, guess, measure, kind=LABO, **options):
    options = {"budget": 6, "n_latin": 6, "max_llm": 16, **options}
    campaign = kind(space, SolverOracle(guess, inputs="points"), **options)
    while not campaign.done:
        query = campaign.ask()[0]
        space.encode([query.x])  # raises where a point is not valid
        campaign.tell(query, measure(query.x))
    for step in campaign.trace.steps:
        space.require([step.query.encoded])
        assert step.query.index is None
    return campaign


MIXED = Space(
    (
        *Space.from_bounds(temperature=(20, 120, "degC"), solvent=["DMF", "MeCN", "THF"]).dimensions,
        Integer("equivalents", 1, 5),
    )
)


@pytest.mark.parametrize("kind", [LABO, VanillaUCB])
def test_mixed_spaces_without_a_pool(kind):
    def measure(p):
        return 50 * (p["solvent"] == "THF") - abs(p["temperature"] - 80) + 3 * p["equivalents"]

    campaign = play_anywhere(
        MIXED, lambda points: [float(p["solvent"] == "THF") + p["equivalents"] / 9 for p in points], measure, kind
    )
    for step in campaign.trace.steps:
        assert isinstance(step.query.x["equivalents"], int)
        assert step.query.x["solvent"] in ("DMF", "MeCN", "THF")
    assert campaign.best[0]["solvent"] == "THF"


def test_a_simplex_without_a_pool():
    space = Space.from_bounds(simplex=True, a=(0, 1), b=(0, 1), c=(0, 1))
    campaign = play_anywhere(
        space,
        lambda points: [p["a"] + p["b"] for p in points],
        lambda p: -((p["a"] - 0.5) ** 2) - (p["b"] - 0.4) ** 2,
        maximise=True,
    )
    for step in campaign.trace.steps:
        assert sum(step.query.x.values()) == pytest.approx(1, abs=1e-6)
    assert campaign.best[1] > -0.05


def test_a_continuous_space_without_a_pool_is_searched_reproducibly():
    space = Space.from_bounds(x=(-3, 3), y=(0, 10))
    runs = [
        play_anywhere(
            space,
            lambda points: [-abs(p["x"] - 1) for p in points],
            lambda p: (p["x"] - 1.3) ** 2 + (p["y"] - 4) ** 2 / 10,
            maximise=False,
            seed=4,
        )
        for _ in range(2)
    ]
    assert runs[0].trace == runs[1].trace
    assert len({step.query.encoded for step in runs[0].trace.steps if step.query.source == "real"}) == 6


# Degenerate language models -------------------------------------------------------------------------------------


def test_a_language_model_that_always_says_the_same_is_survived_with_a_warning():
    pool, real, _, starts = setting(0)
    with pytest.warns(RuntimeWarning, match="the cheap predictor says the same at every pair: rho = 0"):
        campaign = play(pool, real, np.full(len(pool), 0.7), starts=starts)
    vanilla = play(pool, real, real, VanillaUCB, starts=starts)
    assert campaign.rho == 0
    assert rows_run(campaign) == rows_run(vanilla)


def test_with_no_answer_at_all_it_is_ordinary_bayesian_optimisation():
    pool, real, cheap, starts = setting(9)
    silent = LABO(SPACE, pool=pool, budget=7, n_latin=0, max_llm=3, starts=starts)
    while not silent.done:
        query = silent.ask()[0]
        silent.tell(query, np.nan if query.source == "llm" else float(real[query.index]))
    assert silent.n_failed == 3
    assert rows_run(silent) == rows_run(play(pool, real, cheap, VanillaUCB, starts=starts, budget=7))
