"""Budgets are read, refused and compared; the clock counts CPU, not waiting."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import Budget, CpuClock, InvalidInput

UNITS = ("steps", "evaluations", "cpu_seconds")


@given(st.integers(1, 10**9), st.sampled_from(UNITS))
def test_text_and_budget_agree(amount: int, unit: str) -> None:
    budget = Budget(amount, unit)  # type: ignore[arg-type]
    assert Budget.parse(str(budget)) == budget
    assert Budget.parse(f"{amount:_} {unit}") == budget
    assert budget.count == amount
    assert Budget.parse(budget) is budget


@given(st.floats(1e-6, 1e6))
def test_cpu_seconds_need_not_be_whole(amount: float) -> None:
    assert Budget.parse(str(Budget(amount, "cpu_seconds"))).amount == amount


@pytest.mark.parametrize("unit", ["steps", "evaluations"])
def test_steps_are_whole(unit: str) -> None:
    with pytest.raises(InvalidInput, match=f"a budget of {unit} must be a whole number, not 1.5"):
        Budget.parse(f"1.5 {unit}")


@pytest.mark.parametrize(
    "text", ["", "200", "steps", "200steps", "two steps", "1 2 steps", 200, None, ("200", "steps")]
)
def test_what_is_no_budget_is_refused(text: object) -> None:
    with pytest.raises(InvalidInput, match='budget must read like "200 steps"'):
        Budget.parse(text)  # type: ignore[arg-type]


def test_unknown_units_are_named() -> None:
    with pytest.raises(InvalidInput, match="must be one of steps, evaluations, cpu_seconds, not 'minutes'"):
        Budget.parse("3 minutes")


@pytest.mark.parametrize("amount", [0, -1, float("inf"), float("nan"), 10**400])
def test_amounts_are_positive_and_finite(amount: float) -> None:
    with pytest.raises(InvalidInput, match="must be positive and finite"):
        Budget(amount, "cpu_seconds")


@pytest.mark.parametrize("amount", [True, "3", None])
def test_amounts_are_numbers(amount: object) -> None:
    with pytest.raises(InvalidInput, match="must be a number"):
        Budget(amount, "steps")  # type: ignore[arg-type]


def test_the_clock_counts_work_and_not_sleep() -> None:
    clock = CpuClock()
    time.sleep(0.05)
    idle = clock.cpu_seconds()
    assert clock.wall_seconds() >= 0.05
    deadline = time.process_time() + 0.05
    while time.process_time() < deadline:
        pass
    assert idle < 0.04
    assert clock.cpu_seconds() - idle >= 0.03
