"""libroadrunner against closed forms; runs do not influence each other, and nothing is written anywhere."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
from scipy import sparse

from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.solvers.crn_reduce.network import CRN
from scisuite.solvers.crn_reduce.roadrunner import RoadRunner

pytest.importorskip("roadrunner", reason="needs the extra crn-reduce")
pytestmark = pytest.mark.own_process


@pytest.fixture(scope="module")
def decay():
    """A catalysed conversion and a dimerisation: time + c → Σ + c at rate 3, 2 x → ∅ at rate 1/2."""
    return CRN(
        species=("time", "c", "Σ", "x"),
        reactants=sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 0, 2]], dtype=np.int32)),
        products=sparse.csr_array(np.array([[0, 1, 1, 0], [0, 0, 0, 0]], dtype=np.int32)),
        rates=np.array([3.0, 0.5]),
        initial=np.array([2.0, 0.5, 0.0, 4.0]),
    )


@pytest.fixture(scope="module")
def engine(decay):
    return RoadRunner(decay)


def closed_form(t, start):
    left, catalyst, made, x = start
    remaining = left * np.exp(-3 * catalyst * t)
    return np.stack([remaining, np.full_like(t, catalyst), made + left - remaining, x / (1 + x * t)], axis=1)


def test_concentrations_are_the_closed_form_in_the_networks_order(engine, decay):
    assert engine.load_seconds > 0
    for run in (engine.simulate(4.0, points=9), engine.simulate(4.0, times=[0, 0.1, 0.7, 4])):
        assert run.seconds >= 0
        np.testing.assert_allclose(run.concentrations, closed_form(run.times, decay.initial), rtol=1e-7, atol=1e-10)
    assert run.times.tolist() == [0, 0.1, 0.7, 4]


def test_every_run_begins_anew(engine, decay):
    first = engine.simulate(1.0)
    other = [1.0, 0.25, 3.0, 0.0]
    moved = engine.simulate(1.0, start=other)
    np.testing.assert_allclose(moved.concentrations, closed_form(moved.times, other), rtol=1e-7, atol=1e-10)
    np.testing.assert_array_equal(engine.simulate(1.0).concentrations, first.concentrations)
    assert decay.initial.tolist() == [2.0, 0.5, 0.0, 4.0]


def test_tolerances_reach_the_integrator(engine, decay):
    def error(**tolerances):
        run = engine.simulate(1.0, **tolerances)
        return np.abs(run.concentrations - closed_form(run.times, decay.initial)).max()

    assert error(relative=1e-3, absolute=1e-5) > 100 * error()


def test_a_failure_of_the_integrator_is_ours_and_silent(engine, capfd):
    before = engine.simulate(1.0).concentrations
    capfd.readouterr()
    with pytest.raises(
        EngineFailure, match=r"cannot integrate the network: CVODE Error: CV_TOO_MUCH_WORK: .*mxstep \(2\)"
    ):
        engine.simulate(1.0, max_steps=2)
    assert capfd.readouterr() == ("", "")
    assert os.environ.get("SUNLOGGER_ERROR_FILENAME") is None
    np.testing.assert_array_equal(engine.simulate(1.0).concentrations, before)


def test_a_concentration_without_bound_is_a_failure(capfd):
    explosive = CRN(
        species=("x",),
        reactants=sparse.csr_array(np.array([[2]], dtype=np.int32)),
        products=sparse.csr_array(np.array([[3]], dtype=np.int32)),
        rates=np.array([1.0]),
        initial=np.array([1.0]),
    )
    with pytest.raises(EngineFailure, match="CVODE Error|not finite"):
        RoadRunner(explosive).simulate(2.0)
    assert capfd.readouterr() == ("", "")


def test_nothing_is_left_behind(decay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    RoadRunner(decay).simulate(1.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"T": 0.0}, r"T must be finite and above 0, not 0\.0"),
        ({"T": np.nan}, "T must be finite and above 0, not nan"),
        ({"T": 1.0, "points": 1}, "points must be a whole number, at least 2, not 1"),
        ({"T": 1.0, "points": 2.5}, r"points must be a whole number, at least 2, not 2\.5"),
        ({"T": 1.0, "times": [0, 2]}, "times must ascend from 0 to T = 1"),
        ({"T": 1.0, "times": [0, 0.5, 0.5, 1]}, "times must ascend from 0 to T = 1"),
        ({"T": 1.0, "times": [0.1, 1]}, "times must ascend from 0 to T = 1"),
        ({"T": 1.0, "start": [1.0]}, "start must be 4 finite concentrations, none of them negative"),
        ({"T": 1.0, "start": [1, 1, 1, -1]}, "start must be 4 finite concentrations, none of them negative"),
        ({"T": 1.0, "absolute": 0.0}, r"absolute must be finite and above 0, not 0\.0"),
        ({"T": 1.0, "relative": np.inf}, "relative must be finite and above 0, not inf"),
        ({"T": 1.0, "max_steps": 0}, "max_steps must be finite and above 0, not 0"),
    ],
)
def test_arguments_out_of_range_are_refused(engine, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        engine.simulate(**arguments)


def test_simulating_needs_libroadrunner(decay, monkeypatch):
    monkeypatch.setitem(sys.modules, "roadrunner", None)
    with pytest.raises(MissingDependency, match=r"simulating by libroadrunner needs it.*crn-reduce"):
        RoadRunner(decay)
