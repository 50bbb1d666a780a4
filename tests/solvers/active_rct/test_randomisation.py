"""Probabilities of treatment."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.solvers.active_rct.randomisation import Randomisation


def test_fixed_is_a_coin_and_adaptive_follows_the_effect_within_bounds():
    assert Randomisation().chances([3.0, -1.0]).tolist() == [0.5, 0.5]
    rule = Randomisation("adaptive", (0.2, 0.8))
    assert rule.chances([0.0, 0.5, 5.0, -5.0]) == pytest.approx([0.5, 0.65, 0.8, 0.2])
    assert rule.chances([1.0], spread=2.0) == pytest.approx([0.65])
    assert rule.chances([1.0], spread=0.0).tolist() == [0.5]


def test_logged_probabilities_are_held_to_the_bounds():
    rule = Randomisation("fixed", (0.2, 0.8))
    assert rule.require(0.2, 2).tolist() == [0.2, 0.2]
    with pytest.raises(
        InvalidInput, match=r"^a probability of treatment must be in \[0.2, 0.8\] here, not 0.9 in row 1$"
    ):
        rule.require([0.5, 0.9], 2)
    with pytest.raises(InvalidInput, match=r"^a probability of treatment must be in \(0, 1\), not 1 in row 0$"):
        rule.require([1.0], 1)


@pytest.mark.parametrize("bounds", [(0.0, 0.8), (0.2, 1.0), (0.6, 0.8), (0.8, 0.2), (np.nan, 0.8)])
def test_bounds_must_hold_a_half(bounds):
    with pytest.raises(InvalidInput, match=r"^p_bounds must be in \(0, 1\) and hold ½ between them, not "):
        Randomisation("adaptive", bounds)


def test_unknown_rules_are_refused():
    with pytest.raises(InvalidInput, match="^p_rule must be fixed or adaptive, not 'greedy'$"):
        Randomisation("greedy")
