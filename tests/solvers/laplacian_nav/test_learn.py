"""Modes learnt from observations."""

import re

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.core.seeding import global_random_state_untouched
from scisuite.scenarios.nav.pixels import images
from scisuite.scenarios.nav.world import GridWorld

pytest.importorskip("torch")

from scisuite.solvers.laplacian_nav.encoders import ModeEncoder
from scisuite.solvers.laplacian_nav.learn import learn_modes
from scisuite.solvers.laplacian_nav.pairs import lagged_pairs
from scisuite.solvers.laplacian_nav.subspace import subspace_overlap
from scisuite.solvers.laplacian_nav.walks import random_walk

# More states than features, so that random features do not span everything.
FREE = np.ones((7, 11), dtype=bool)
FREE[[0, 1, 2, 4, 5, 6], 6] = False
WORLD = GridWorld(FREE)
LAM, MODES = np.linalg.eigh(np.diag(WORLD.W.toarray().sum(axis=0)) - WORLD.W.toarray())


def pairs_of(look, steps=40_000, seed=0):
    walk = random_walk(WORLD, steps, seed)
    visited = np.append(walk.state, walk.next_state[-1])
    first, second = lagged_pairs(len(visited), steps, 0.9, seed)
    return look[visited[first]], look[visited[second]]


@pytest.fixture(scope="module")
def learned():
    obs, next_obs = pairs_of(images(WORLD))
    with global_random_state_untouched():
        return learn_modes(obs, next_obs, 4, seed=0, budget="150 steps")


def test_the_slowest_modes_from_pictures(learned):
    encoder, lam = learned
    modes = encoder(images(WORLD))
    assert modes.shape == (WORLD.n, 4)
    assert modes.dtype == np.float64
    assert subspace_overlap(modes, MODES[:, 1:], 4, eigenvalues=LAM[1:]) > 0.95
    assert np.allclose(lam, LAM[1:5], rtol=0.25)
    assert (np.diff(lam) >= 0).all()
    assert len(encoder.losses) == 150
    assert np.mean(encoder.losses[-10:]) < encoder.losses[0]


def test_training_is_what_finds_them():
    obs, next_obs = pairs_of(images(WORLD))
    encoder, _ = learn_modes(obs, next_obs, 4, seed=0, budget="1 steps")
    assert subspace_overlap(encoder(images(WORLD)), MODES[:, 1:], 4, eigenvalues=LAM[1:]) < 0.8


def test_the_same_seed_gives_the_same_bytes():
    obs, next_obs = pairs_of(images(WORLD), 500)
    (one, lam), (same, lam_same), (other, _) = (
        learn_modes(obs, next_obs, 3, seed=seed, budget="3 steps") for seed in (5, 5, 6)
    )
    assert np.array_equal(lam, lam_same)
    assert np.array_equal(one(obs[:9]), same(obs[:9]))
    assert not np.array_equal(one(obs[:9]), other(obs[:9]))
    again = ModeEncoder.from_arrays(one.to_arrays())
    assert np.array_equal(one(obs[:9]), again(obs[:9]))


@pytest.mark.parametrize(("method", "budget"), [("spectral_contrastive", "150 steps"), ("allo", "300 steps")])
def test_coordinates_will_do(method, budget):
    xy = (WORLD.xy / np.array(WORLD.shape)).astype(np.float32)
    encoder, lam = learn_modes(*pairs_of(xy), 2, method, seed=0, budget=budget)
    assert subspace_overlap(encoder(xy), MODES[:, 1:], 2, eigenvalues=LAM[1:]) > 0.9
    assert 0 < lam[0] < lam[1] < 4


def test_a_budget_of_seconds_is_kept():
    encoder, _ = learn_modes(*pairs_of(images(WORLD), 500), 2, budget="0.2 cpu_seconds")
    assert len(encoder.losses) >= 1


PICTURES = images(WORLD)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, r"^k must be a whole number from 1 to 32, the features of the encoder, not 0$"),
        ({"k": 33}, r"^k must be a whole number from 1 to 32, the features of the encoder, not 33$"),
        ({"k": 2.0}, r"^k must be a whole number from 1 to 32, the features of the encoder, not 2.0$"),
        ({"method": "pca"}, r'^method must be "spectral_contrastive" or "allo", not \'pca\'$'),
        ({"gamma": 1.0}, r"^gamma must be in \[0, 1\), not 1.0$"),
        ({"n_actions": 0}, r"^n_actions must be a positive whole number, not 0$"),
        ({"budget": "5 evaluations"}, r"^modes are learnt for a budget of steps or cpu_seconds, not evaluations$"),
        ({"seed": -1}, r"^seed must be in \[0, 2\*\*63\), not -1$"),
        ({"obs": PICTURES.astype(np.float64)}, r"^observations must be float32 or uint8, not float64$"),
        (
            {"obs": PICTURES[:, 0]},
            r"^observations must have shape \(n, channels, height, width\) or \(n, numbers\), not",
        ),
        ({"obs": np.full_like(PICTURES, np.inf)}, r"^observations must be finite, but obs holds NaN or infinity$"),
        (
            {"obs": PICTURES[:4], "next_obs": PICTURES[:4]},
            r"^4 modes need at least 5 pairs of observations, not 4$",
        ),
        (
            {"obs": PICTURES[[0] * 9], "next_obs": PICTURES[[1] * 9]},
            r"^4 modes need at least 5 distinct observations, not 2$",
        ),
    ],
)
def test_refusals(change, message):
    asked = {"obs": PICTURES, "next_obs": PICTURES, "k": 4, **change}
    with pytest.raises(InvalidInput, match=message):
        learn_modes(**asked)


def test_channels_come_first():
    frames = np.zeros((9, 39, 57, 3), dtype=np.uint8)
    message = (
        "pictures of shape (9, 39, 57, 3) seem to have their channels last; learn_modes takes (n, channels, height, "
        "width): np.moveaxis(obs, -1, 1)"
    )
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        learn_modes(frames, frames, 2)
