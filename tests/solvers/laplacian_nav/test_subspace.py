"""Overlap of the spaces that modes span."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import InvalidInput, generator
from scisuite.solvers.laplacian_nav.subspace import subspace_overlap


def _random(seed, n=12, k=4):
    return generator(seed, "modes").standard_normal((n, k))


@given(st.integers(0, 1000))
def test_neither_basis_nor_scale_matters(seed):
    modes = _random(seed)
    mixed = modes @ _random(seed + 1, 4, 4)
    assert subspace_overlap(mixed, modes, 4) == pytest.approx(1.0)
    assert subspace_overlap(modes * 1e-6, mixed, 4) == pytest.approx(1.0)


@given(st.integers(0, 1000), st.floats(0, np.pi / 2))
def test_it_is_the_mean_squared_cosine(seed, angle):
    basis = np.linalg.qr(_random(seed, 12, 3))[0]
    turned = np.column_stack([basis[:, 0], np.cos(angle) * basis[:, 1] + np.sin(angle) * basis[:, 2]])
    assert subspace_overlap(turned, basis, 2) == pytest.approx((1 + np.cos(angle) ** 2) / 2)


def test_orthogonal_spaces_do_not_overlap():
    assert subspace_overlap(np.eye(6)[:, :3], np.eye(6)[:, 3:], 3) == 0.0


def test_any_part_of_a_degenerate_eigenspace_is_as_good_as_another():
    true = np.eye(5)[:, :3]
    learned = np.column_stack([true[:, 0], true[:, 2]])
    assert subspace_overlap(learned, true, 2) == pytest.approx(0.5)
    assert subspace_overlap(learned, true, 2, eigenvalues=[1.0, 2.0, 2.0]) == pytest.approx(1.0)
    assert subspace_overlap(learned, true, 2, eigenvalues=[1.0, 2.0, 2.1]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("learned", "true", "k", "message"),
    [
        (np.ones(3), np.eye(3), 1, r"^learned modes must have shape \(states, modes\), not \(3,\)$"),
        (np.eye(3), np.full((3, 3), np.nan), 1, r"^true modes must be finite$"),
        (np.eye(3), np.eye(3), 0, r"^k must be a positive whole number, not 0$"),
        (np.eye(3), np.eye(4), 1, r"^learned and true modes must be of the same states, not of 3 and 4$"),
        (np.eye(3)[:, :1], np.eye(3), 2, r"^there are 1 learned modes, fewer than k = 2$"),
        (np.ones((3, 2)), np.eye(3), 2, r"^the first 2 learned modes span only 1 dimensions$"),
    ],
)
def test_refusals(learned, true, k, message):
    with pytest.raises(InvalidInput, match=message):
        subspace_overlap(learned, true, k)


def test_eigenvalues_of_another_length():
    with pytest.raises(InvalidInput, match=r"^eigenvalues must have shape \(3,\), one a true mode, not \(2,\)$"):
        subspace_overlap(np.eye(3), np.eye(3), 1, eigenvalues=[1.0, 2.0])
