"""The classifier of pool against data that begins where the last fit ended."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.envs.active_rct.domain import WarmLogistic
from scisuite.solvers.active_rct.logistic import Logistic


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.floats(0, 8))
def test_same_optimum_as_the_other_method_wherever_it_begins(seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    x, label = rng.standard_normal((300, 3)), np.arange(300) < 250
    x[~label, 0] += shift
    cold = WarmLogistic().fit(x, label)
    assert np.abs(cold.predict_proba(x) - Logistic(balanced=True).fit(x, label).predict_proba(x)).max() < 2e-3
    for start in ([20.0, -5.0, 3.0, 10.0], [-0.5, 0.3, 0.0, 0.2]):
        warm = WarmLogistic()
        warm._start = np.array(start)
        assert np.abs(warm.again().fit(x, label).predict_proba(x) - cold.predict_proba(x)).max() < 1e-6


def test_one_label_is_refused_and_a_constant_column_is_not() -> None:
    with pytest.raises(InvalidInput, match="a classifier needs both labels"):
        WarmLogistic().fit([[1.0], [2.0]], [1, 1])
    fitted = WarmLogistic().fit([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], [1, 1, 0])
    assert np.isfinite(fitted.predict_proba([[1.0, 5.0]])).all()


def test_the_rounding_of_a_constant_is_no_scale() -> None:
    x = np.random.default_rng(0).standard_normal(100)
    label = x > 0.5
    rounded = np.where(label, np.nextafter(0.1, 1), 0.1)
    fitted = WarmLogistic().fit(np.column_stack([x, rounded]), label)
    assert fitted.predict_proba([[0.0, 0.1]]) == pytest.approx(fitted.predict_proba([[0.0, 0.1 + 1e-9]]), abs=1e-6)
