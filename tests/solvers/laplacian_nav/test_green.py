"""Green's potential: the equation it solves, its only maximum, its symmetries, and the solvers against each other."""

from __future__ import annotations

import copy
import pickle
import re
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.core.seeding import global_random_state_untouched
from scisuite.scenarios.nav import GraphWorld, GridWorld, from_ascii, make_world
from scisuite.solvers.laplacian_nav import green as green_file
from scisuite.solvers.laplacian_nav.green import GreenPotential
from scisuite.solvers.laplacian_nav.operators import laplacian
from scisuite.solvers.laplacian_nav.policy import GreenPolicy, local_maxima
from scisuite.solvers.laplacian_nav.rollout import roll

EXAMPLES = settings(max_examples=30, deadline=None)
KINDS = (0.0, 0.03, 2.0, "sr:0.9")
ROOMS = from_ascii(
    """
#########
#...#...#
#.......#
#...#...#
##.###.##
#...#...#
#.......#
#...#...#
#########
"""
)


def connected_weights(seed):
    """A random tree and some more edges, with weights over four decades."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    W = np.where(rng.random((n, n)) < rng.choice([0.0, 0.1, 0.5]), 1.0, 0.0)
    W[np.arange(1, n), [rng.integers(i) for i in range(1, n)]] = 1.0
    W = np.triu(np.maximum(W, W.T) * 10 ** rng.uniform(-2, 2, (n, n)), 1)
    return W + W.T


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_the_goal_is_the_only_maximum_and_ascent_reaches_it_in_fewer_than_n_moves(seed, eps):
    world = GraphWorld(connected_weights(seed))
    potential = GreenPotential(world, eps=eps)
    goals = np.arange(world.n)
    values = potential.potential(goals)
    assert (values.argmax(axis=0) == goals).all()
    assert sum(local_maxima(values[:, goal], world, goal=goal) for goal in goals) == 0
    assert potential.certificate(goals, values).all()
    steps = roll(GreenPolicy(potential, world).actions(goals), world, goals, goals, world.n - 1)
    assert (steps >= 0).all()


@EXAMPLES
@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_the_field_is_a_column_of_the_inverse_and_symmetric(seed, eps):
    W = connected_weights(seed)
    L, n = laplacian(W).toarray(), len(W)
    G = GreenPotential(L, eps=eps).potential(np.arange(n))
    scale = np.abs(G).max()
    np.testing.assert_allclose(G, G.T, atol=1e-11 * scale)
    if eps == 0:
        np.testing.assert_allclose(L @ G, np.eye(n) - 1 / n, atol=1e-8)
        np.testing.assert_allclose(G.sum(axis=0), 0, atol=1e-10 * n * scale)
    else:
        leak = np.diag((1 / 0.9 - 1) * L.diagonal()) if eps == "sr:0.9" else eps * np.eye(n)
        np.testing.assert_allclose((L + leak) @ G, np.eye(n), atol=1e-8)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_the_successor_representation_is_the_same_object(gamma):
    W = connected_weights(5)
    degree, n = W.sum(axis=1), len(W)
    successor = np.linalg.inv(np.eye(n) - gamma * W / degree[:, None])
    G = GreenPotential(laplacian(W), eps=f"sr:{gamma}").potential(np.arange(n))
    np.testing.assert_allclose(G * degree / gamma, successor, rtol=1e-9)


@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_the_walk_of_four_moves_is_the_screened_potential(gamma):
    visits = np.linalg.inv(np.eye(ROOMS.n) - gamma * ROOMS.walk.toarray())
    G = GreenPotential(ROOMS, eps=4 * (1 / gamma - 1)).potential(np.arange(ROOMS.n))
    np.testing.assert_allclose(4 / gamma * G, visits, rtol=1e-9)


def test_a_large_leak_counts_shortest_paths():
    world = GridWorld(np.ones((4, 4), dtype=bool))
    eps = 1e7
    G = GreenPotential(world, eps=eps).potential([world.state((0, 0))])[:, 0]
    paths = G * eps ** (world.distances([0])[0] + 1.0)
    expected = [[1, 1, 1, 1], [1, 2, 3, 4], [1, 3, 6, 10], [1, 4, 10, 20]]
    np.testing.assert_allclose(world.to_map(paths), expected, rtol=1e-5)


@pytest.mark.parametrize("eps", KINDS)
@pytest.mark.parametrize("solver", ["splu", "amg"])
def test_relabelling_the_states_relabels_the_field(eps, solver):
    if solver == "amg":
        pytest.importorskip("pyamg")
    W = connected_weights(11)
    order = np.random.default_rng(0).permutation(len(W))
    field = GreenPotential(laplacian(W), eps=eps, solver=solver).potential(order)
    relabelled = GreenPotential(laplacian(W[np.ix_(order, order)]), eps=eps, solver=solver).potential(range(len(W)))
    np.testing.assert_allclose(relabelled, field[order], atol=1e-9 * np.abs(field).max())


@pytest.mark.parametrize("eps", KINDS)
def test_a_torus_looks_the_same_from_every_cell(eps):
    world = GridWorld(np.ones((6, 8), dtype=bool), periodic=True)
    here, there = GreenPotential(world, eps=eps).potential([world.state((0, 0)), world.state((2, 5))]).T
    np.testing.assert_allclose(np.roll(world.to_map(here), (2, 5), axis=(0, 1)), world.to_map(there), atol=1e-12)


@pytest.mark.parametrize("eps", KINDS)
def test_a_wall_that_is_put_up_changes_the_field_across_it(eps):
    open_room = GridWorld(np.ones((5, 7), dtype=bool))
    free = open_room.free.copy()
    free[1:, 3] = False
    walled = GridWorld(free)
    goal = (4, 6)
    before = open_room.to_map(GreenPotential(open_room, eps=eps).potential([open_room.state(goal)])[:, 0])
    after = walled.to_map(GreenPotential(walled, eps=eps).potential([walled.state(goal)])[:, 0])
    behind = (4, 2)
    assert after[goal] > before[goal] + 1e-6
    assert after[behind] < before[behind] - 1e-6
    # The way leads round the wall: up, and no longer straight on.
    assert after[behind] < after[3, 2] < after[0, 2] < after[0, 4]
    assert before[behind] < before[4, 3]


@pytest.mark.parametrize("eps", KINDS)
@pytest.mark.parametrize("solver", ["splu", "amg"])
def test_in_another_component_the_field_is_zero(eps, solver):
    if solver == "amg":
        pytest.importorskip("pyamg")
    world = from_ascii("...#..\n...#..\n#####.\n.#####")
    potential = GreenPotential(world, eps=eps, solver=solver)
    goals = [0, world.state((0, 4)), world.state((3, 0))]
    values = potential.potential(goals)
    L = laplacian(world.W).toarray()
    leak = np.where(L.diagonal() > 0, L.diagonal(), 1.0) / 9 if eps == "sr:0.9" else np.full(world.n, float(eps))
    expected = np.linalg.pinv(L) if eps == 0 else np.linalg.inv(L + np.diag(leak))
    np.testing.assert_allclose(values, expected[:, goals], atol=1e-10)
    for j, goal in enumerate(goals):
        assert (values[world.components != world.components[goal], j] == 0).all()
        assert local_maxima(values[:, j], world, goal=goal) == 0
    assert potential.certificate(goals).all()


@pytest.mark.parametrize("eps", [0.0, 1e-4, 0.1, "sr:0.99"])
def test_multigrid_agrees_with_elimination_and_carries_the_certificate(eps):
    pytest.importorskip("pyamg")
    world = GridWorld(np.random.default_rng(1).random((45, 50)) > 0.2)
    largest = np.flatnonzero(world.components == np.bincount(world.components).argmax())
    goals = largest[[0, 700, -1]]
    multigrid = GreenPotential(world, eps=eps, solver="amg")
    with global_random_state_untouched(), warnings.catch_warnings():
        warnings.simplefilter("error")
        values = multigrid.potential(goals)
    assert multigrid.residual <= 1e-10
    assert multigrid.certificate(goals, values).all()
    direct = GreenPotential(world, eps=eps, solver="splu").potential(goals)
    np.testing.assert_allclose(values, direct, atol=1e-11 * np.abs(direct).max())
    np.testing.assert_array_equal(GreenPotential(world, eps=eps, solver="amg").potential(goals), values)


def test_multigrid_that_did_not_reach_its_tolerance_is_an_error():
    pytest.importorskip("pyamg")
    world = GridWorld(np.random.default_rng(1).random((30, 30)) > 0.2)
    with pytest.raises(EngineFailure) as caught:
        GreenPotential(world, eps=1e-4, solver="amg", max_iterations=2).potential([0])
    message = str(caught.value)
    assert message.startswith("multigrid did not reach its tolerance: after 2 iterations the relative residual is ")
    assert message.endswith(", not 1e-10; raise max_iterations or use solver='splu'")


def test_multigrid_warns_where_ascent_is_not_certified():
    pytest.importorskip("pyamg")
    hall = GridWorld(np.ones((3, 700), dtype=bool))
    potential = GreenPotential(hall, eps=0.1, solver="amg")  # falls to 1e-96, far below any residual
    with pytest.warns(RuntimeWarning, match=r"^multigrid does not certify ascent to goal 0 at \d+ of 2100 states, "):
        values = potential.potential([0])
    assert not potential.certificate([0], values).any()
    with pytest.raises(EngineFailure, match=r"^the smallest values of the multigrid field are noise: use solver='spl"):
        potential.log_potential([0])
    assert GreenPotential(hall, eps=0.1, solver="splu").certificate([0]).all()


def test_multigrid_has_logarithms_where_it_is_certified():
    pytest.importorskip("pyamg")
    logs = GreenPotential(ROOMS, eps=0.1, solver="amg").log_potential([3, 30])
    np.testing.assert_allclose(logs, GreenPotential(ROOMS, eps=0.1).log_potential([3, 30]), atol=1e-10)


def test_without_pyamg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(MissingDependency) as caught:
        GreenPotential(ROOMS, eps=0.1, solver="amg").potential([0])
    assert str(caught.value) == (
        "solver='amg' needs pyamg, which is not installed; install it with: pip install \"scisuite[nav]\""
    )


def test_auto_factorises_while_the_factors_fit(monkeypatch):
    assert GreenPotential(ROOMS).solver == "splu"
    monkeypatch.setattr(green_file, "fits", lambda L: False)
    assert GreenPotential(ROOMS).solver == "amg"


def test_the_certificate_tells_a_field_that_is_not_the_solution():
    potential = GreenPotential(ROOMS, eps=0.1)
    values = potential.potential([3, 9])
    assert potential.certificate([3, 9], values).tolist() == [True, True]
    values[20, 1] *= 1.05
    assert potential.certificate([3, 9], values).tolist() == [True, False]
    assert potential.certificate([3], np.zeros((ROOMS.n, 1))).tolist() == [False]


def test_many_goals_are_solved_in_blocks_with_one_factorisation(monkeypatch):
    expected = GreenPotential(ROOMS, eps=0.1).potential(np.arange(ROOMS.n))
    made = []
    factorise = green_file.factorise
    monkeypatch.setattr(green_file, "factorise", lambda A: made.append(A) or factorise(A))
    monkeypatch.setattr(green_file, "_BLOCK_BYTES", 8 * ROOMS.n * 7)
    potential = GreenPotential(ROOMS, eps=0.1)
    np.testing.assert_allclose(potential.potential(np.arange(ROOMS.n)), expected, rtol=1e-13)
    assert len(made) == 1
    assert potential.potential([]).shape == (ROOMS.n, 0)


def test_all_modes_are_the_potential_and_fewer_lose_the_guarantee():
    goals = [0, 30]
    for eps, most in ((0.0, ROOMS.n - 1), (0.1, ROOMS.n), ("sr:0.9", ROOMS.n)):
        exact = GreenPotential(ROOMS, eps=eps).potential(goals)
        np.testing.assert_allclose(GreenPotential(ROOMS, eps=eps, modes=most).potential(goals), exact, atol=1e-10)
        few = GreenPotential(ROOMS, eps=eps, modes=5)
        assert np.abs(few.potential(goals) - exact).max() > 1e-2
        assert not few.certificate(goals).any()


def test_underflow_is_warned_of_and_ranked_all_the_same():
    corridor = GridWorld(np.ones((1, 500), dtype=bool))
    potential = GreenPotential(corridor, eps=10.0)
    with pytest.warns(RuntimeWarning) as caught:
        values = potential.potential([499])
    assert str(caught[0].message) == (
        f"the potential of goal 499 underflows at {int((values < 2.3e-308).sum())} states: use log_potential, or "
        "a smaller eps: keep diameter × arccosh(1 + eps/2) below 700"
    )
    assert caught[0].filename == __file__
    assert not potential.certificate([499], values).any()
    assert roll(GreenPolicy(potential, corridor).actions([499]), corridor, [499], [0], 499).tolist() == [[499]]


def test_logarithms_need_a_positive_field():
    for options in ({"eps": 0.0}, {"eps": 0.1, "modes": 4}):
        with pytest.raises(InvalidInput) as caught:
            GreenPotential(ROOMS, **options).log_potential([0])
        assert str(caught.value) == "log_potential needs eps > 0 and all modes: the potential is negative in places"


def test_a_potential_can_be_copied_and_pickled():
    potential = GreenPotential(ROOMS, eps=0.1)
    values = potential.potential([5])
    for twin in (copy.deepcopy(potential), pickle.loads(pickle.dumps(potential))):
        np.testing.assert_array_equal(twin.potential([5]), values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps": -1}, "eps must be a finite number of at least 0, or 'sr:γ' with 0 < γ < 1, not -1"),
        ({"eps": np.nan}, "eps must be a finite number of at least 0, or 'sr:γ' with 0 < γ < 1, not nan"),
        ({"eps": True}, "eps must be a finite number of at least 0, or 'sr:γ' with 0 < γ < 1, not True"),
        ({"eps": "sr:1"}, "eps must be a finite number of at least 0, or 'sr:γ' with 0 < γ < 1, not 'sr:1'"),
        ({"eps": "sr"}, "eps must be a finite number of at least 0, or 'sr:γ' with 0 < γ < 1, not 'sr'"),
        ({"eps": "x:0.5"}, "eps must be a finite number of at least 0, or 'sr:γ' with 0 < γ < 1, not 'x:0.5'"),
        ({"solver": "cg"}, "solver must be one of auto, splu, amg, not 'cg'"),
        ({"modes": 9}, "modes must be a whole number from 1 to 8, not 9"),
        ({"modes": 0}, "modes must be a whole number from 1 to 8, not 0"),
        ({"eps": 0.1, "modes": 10}, "modes must be a whole number from 1 to 9, not 10"),
        ({"eps": "sr:0.5", "modes": 2.0}, "modes must be a whole number from 1 to 9, not 2.0"),
        ({"rtol": 0}, "rtol must be a number between 0 and 1, not 0"),
        ({"max_iterations": 0}, "max_iterations must be a positive whole number, not 0"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(InvalidInput) as caught:
        GreenPotential(GridWorld(np.ones((3, 3), dtype=bool)), **options)
    assert str(caught.value) == message


def test_bad_graphs_and_goals_are_refused():
    with pytest.raises(InvalidInput, match=r"^the graph has no edges$"):
        GreenPotential(GridWorld(np.ones((1, 1), dtype=bool)))
    with pytest.raises(InvalidInput, match=r"^L is not a Laplacian: an entry beside the diagonal is positive; build"):
        GreenPotential(ROOMS.W)
    for call in ("potential", "log_potential", "certificate", "ranking"):
        with pytest.raises(InvalidInput, match=rf"^goal {ROOMS.n} is not one of the {ROOMS.n} states$"):
            getattr(GreenPotential(ROOMS, eps=0.1), call)([0, ROOMS.n])


def alternating_path(decades):
    """Six states in a row, with weights 10^decades and 10^-decades in turn."""
    W = np.zeros((6, 6))
    for i in range(5):
        W[i, i + 1] = W[i + 1, i] = 10.0 ** (decades * (-1) ** i)
    return laplacian(W)


def test_weights_too_far_apart_for_float64_are_an_error():
    potential = GreenPotential(alternating_path(10))
    message = (
        r"float64 cannot hold the potential of goal 0: its relative residual is \d\.\de\+\d\d; weights and eps that "
        r"are 1e\+20 apart are too far from each other"
    )
    for read in (potential.potential, potential.ranking, potential.certificate):
        with pytest.raises(EngineFailure, match=f"^{message}$"):
            read([0])


def test_weights_near_the_reach_of_float64_are_doubted(monkeypatch):
    monkeypatch.setattr(green_file, "_NO_SOLUTION", np.inf)
    potential = GreenPotential(alternating_path(10))
    message = (
        "rounding errors leave ascent to goal 0 in doubt at 5 of 6 states: weights and eps that are 1e+20 apart are "
        "too far for float64"
    )
    for read in (potential.potential, potential.ranking):
        with pytest.warns(RuntimeWarning, match=f"^{re.escape(message)}$"):
            read([0])


@pytest.mark.parametrize("eps", [4e-13, 1e-11, 1e-8])
def test_a_small_leak_has_its_field_to_the_last_digits(eps):
    world = from_ascii("......#...\n......#...\n......#...\n......#...")  # two components
    values = GreenPotential(world, eps=eps).potential(np.arange(world.n))
    pseudo_inverse = np.linalg.pinv(laplacian(world.W).toarray())
    together = world.components[:, None] == world.components
    constant = together / (eps * together.sum(axis=0))
    np.testing.assert_allclose(values, constant + pseudo_inverse, rtol=1e-14, atol=1e-6)
    np.testing.assert_allclose(eps * values.sum(axis=0), 1.0, rtol=1e-13)
    differences = (values - constant)[together]
    np.testing.assert_allclose(differences, pseudo_inverse[together], atol=2e-16 * constant.max() + 100 * eps)


@pytest.mark.parametrize("eps", [1e-12, 1e-11])
def test_a_small_leak_is_no_reason_for_doubt(eps):
    room = make_world(np.ones((20, 20), dtype=bool))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = GreenPotential(room, eps=eps).ranking([5])
    assert local_maxima(values[:, 0], room) == 0


@pytest.mark.parametrize("eps", [1e-14, 1e-16, 1e-300])
def test_a_leak_that_float64_loses_is_refused(eps):
    message = f"eps = {eps} is lost beside the degrees in float64: use eps=0, or at least 4e-13"
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        GreenPotential(make_world(np.ones((20, 20), dtype=bool)), eps=eps)


def test_the_least_leak_that_is_named_is_admitted():
    L = laplacian(np.array([[0, 1.2345678], [1.2345678, 0]]))
    with pytest.raises(InvalidInput) as caught:
        GreenPotential(L, eps=1e-15)
    least = float(str(caught.value).rpartition(" ")[2])
    assert least == 1.23457e-13
    GreenPotential(L, eps=least)
