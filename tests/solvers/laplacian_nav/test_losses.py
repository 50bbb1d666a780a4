"""The two losses, against their definitions."""

import numpy as np
import pytest

from scisuite.core import generator
from scisuite.scenarios.nav.world import GridWorld

torch = pytest.importorskip("torch")

from scisuite.solvers.laplacian_nav.allo import augmented_lagrangian  # noqa: E402
from scisuite.solvers.laplacian_nav.contrastive import contrastive_loss  # noqa: E402


def test_the_contrastive_loss_is_the_mean_over_other_pairs():
    h, h_next = generator(0, "features").standard_normal((2, 6, 4))
    products = h @ h_next.T
    others = products[~np.eye(6, dtype=bool)]
    expected = -2 * np.diag(products).mean() + np.square(others).mean()
    assert float(contrastive_loss(torch.tensor(h), torch.tensor(h_next))) == pytest.approx(expected)


def test_the_slowest_modes_scaled_by_their_eigenvalues_minimise_the_contrastive_loss():
    world = GridWorld(np.ones((2, 4), dtype=bool))
    walk = world.walk.toarray()
    values, vectors = np.linalg.eigh(walk)
    best = vectors[:, -3:] * np.sqrt(values[-3:] * world.n)

    def expected_loss(h):
        # Over all pairs of the walk, and all pairs of independent states.
        products = h @ h.T
        return -2 * (walk * products).sum() / world.n + np.square(products).mean()

    rng = generator(0, "perturbations")
    for _ in range(20):
        assert expected_loss(best + 0.1 * rng.standard_normal(best.shape)) > expected_loss(best)


def _every_move():
    world = GridWorld(np.ones((2, 3), dtype=bool))
    here = np.repeat(np.arange(world.n), 4)
    values, vectors = np.linalg.eigh(np.eye(world.n) - world.walk.toarray())
    modes = torch.tensor(vectors[:, :3] * np.sqrt(world.n), requires_grad=True)
    twice = np.tile(here, 2), np.tile(world.moves.ravel(), 2)
    return modes, torch.tensor(values[:3]), twice


def test_true_modes_are_where_allo_rests():
    modes, values, (here, there) = _every_move()
    loss, errors, squares = augmented_lagrangian(modes[here], modes[there], torch.diag(-2 * values), 2.0)
    loss.backward()
    assert torch.allclose(errors, torch.zeros(3, 3, dtype=torch.float64), atol=1e-6)
    assert abs(squares) < 1e-10
    assert torch.allclose(modes.grad, torch.zeros_like(modes), atol=1e-6)
    modes.grad = None
    augmented_lagrangian(modes[here], modes[there], torch.diag(-values), 2.0)[0].backward()
    assert modes.grad.abs().max() > 1e-3


def test_only_the_later_mode_yields():
    modes, values, (here, there) = _every_move()
    duals = torch.diag(-2 * values)
    duals[2, 0] = 1.0
    augmented_lagrangian(modes[here], modes[there], duals, 0.0)[0].backward()
    assert torch.allclose(modes.grad[:, :2], torch.zeros(6, 2, dtype=torch.float64), atol=1e-6)
    assert modes.grad[:, 2].abs().max() > 1e-3
