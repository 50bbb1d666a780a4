"""What a run may cost, so that two methods can be compared at equal cost."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import Literal, cast, get_args

from scisuite.core.errors import InvalidInput

Unit = Literal["steps", "evaluations", "cpu_seconds"]


@dataclass(frozen=True)
class Budget:
    """An amount of one unit: ``steps``, ``evaluations`` or ``cpu_seconds``.

    CPU seconds are those of all threads and finished children of this process, imports excluded. Steps and
    evaluations are whole numbers, and a run on them is reproducible to the byte.

    >>> Budget.parse("200 steps")
    Budget(amount=200.0, unit='steps')
    >>> Budget.parse(Budget(3, "evaluations")).count
    3
    """

    amount: float
    unit: Unit

    def __post_init__(self) -> None:
        if self.unit not in get_args(Unit):
            raise InvalidInput(f"budget unit must be one of {', '.join(get_args(Unit))}, not {self.unit!r}")
        if isinstance(self.amount, bool) or not isinstance(self.amount, int | float):
            raise InvalidInput(f"budget amount must be a number, not {self.amount!r}")
        # Compared, not passed to isfinite: a Python integer may be too large to become a float.
        if not 0 < self.amount <= sys.float_info.max:
            raise InvalidInput(f"budget amount must be positive and finite, not {self.amount}")
        if self.unit != "cpu_seconds" and self.amount != int(self.amount):
            raise InvalidInput(f"a budget of {self.unit} must be a whole number, not {self.amount}")
        object.__setattr__(self, "amount", float(self.amount))

    @property
    def count(self) -> int:
        """The amount as an integer, for steps and evaluations."""
        return int(self.amount)

    @classmethod
    def parse(cls, budget: Budget | str) -> Budget:
        """Read ``"200 steps"``, ``"60 evaluations"`` or ``"30 cpu_seconds"``; a budget is returned as it is."""
        if isinstance(budget, Budget):
            return budget
        if not isinstance(budget, str) or len(parts := budget.split()) != 2:
            raise InvalidInput(f'budget must read like "200 steps", not {budget!r}')
        try:
            amount = float(parts[0].replace("_", ""))
        except ValueError:
            raise InvalidInput(f'budget must read like "200 steps", not {budget!r}') from None
        return cls(amount, cast(Unit, parts[1]))

    def __str__(self) -> str:
        amount = int(self.amount) if self.amount == int(self.amount) else self.amount
        return f"{amount} {self.unit}"


class CpuClock:
    """CPU seconds of this process, its threads and its finished children, and wall seconds, since it was made."""

    def __init__(self) -> None:
        self._cpu = self._cpu_now()
        self._wall = time.perf_counter()

    @staticmethod
    def _cpu_now() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def cpu_seconds(self) -> float:
        return self._cpu_now() - self._cpu

    def wall_seconds(self) -> float:
        return time.perf_counter() - self._wall
