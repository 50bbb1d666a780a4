"""Pseudo-outcomes: unbiased for any prediction, by enumeration, and refused where they would not be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.solvers.active_rct.pseudo import pseudo_outcome

numbers = st.floats(-5, 5)


@settings(max_examples=60, deadline=None)
@given(y0=numbers, y1=numbers, p=st.floats(0.05, 0.95), mu0=numbers, mu1=numbers)
def test_mean_over_treatments_is_the_effect_for_any_prediction(y0, y1, p, mu0, mu1):
    both = pseudo_outcome([0, 1], [y0, y1], p, [mu0, mu0], [mu1, mu1])
    assert (1 - p) * both[0] + p * both[1] == pytest.approx(y1 - y0, abs=1e-12)


def test_predictions_of_zero_are_inverse_propensity_weighting():
    t, y, p = np.array([0, 1, 1, 0]), np.array([2.0, -1.0, 3.0, 0.5]), np.array([0.2, 0.25, 0.8, 0.5])
    weighted = t * y / p - (1 - t) * y / (1 - p)
    assert np.array_equal(pseudo_outcome(t, y, p), weighted)
    assert np.array_equal(pseudo_outcome(t, y, p, 0.0, np.zeros(4)), weighted)


def test_right_predictions_leave_no_variance():
    assert pseudo_outcome([0, 1], [1.0, 3.0], 0.3, 1.0, 3.0).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"p": 0.0}, r"a probability of treatment must be in \(0, 1\), not 0 in row 0"),
        ({"p": [0.5, 1.0]}, r"a probability of treatment must be in \(0, 1\), not 1 in row 1"),
        ({"p": [0.5, np.nan]}, "p is nan in row 1"),
        ({"p": "half"}, "p must hold numbers"),
        ({"p": [0.5]}, r"p must be of shape \(2,\), not \(1,\)"),
        ({"t": ["a", "b"]}, "treatments must be the numbers 0 and 1, not <U1 such as \\['a'\\]"),
        ({"t": [0, 2]}, "treatments must be 0 or 1, not 2 in row 1"),
        ({"t": [0, 0.5]}, "treatments must be 0 or 1, not 0.5 in row 1"),
        ({"y": [np.inf, 0.0]}, "y is inf in row 0"),
        ({"mu0": 1.0}, "mu0 and mu1 are given both or neither"),
        ({"mu0": [np.nan, 0.0], "mu1": 0.0}, "mu0 is nan in row 0"),
    ],
)
def test_bad_input_is_named(changed, message):
    with pytest.raises(InvalidInput, match=f"^{message}"):
        pseudo_outcome(**{"t": [0, 1], "y": [1.0, 2.0], "p": 0.5, **changed})
