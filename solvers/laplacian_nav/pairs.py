"""Pairs of observations that lie a random number of moves apart: what modes are learnt from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import Budget, CpuClock, InvalidInput, generator

Ints = NDArray[np.int64]

DTYPES = ("float32", "uint8")


def lagged_pairs(length: int, count: int, gamma: float, seed: int) -> tuple[Ints, Ints]:
    """Positions in one long trajectory: int64 (count,) of the earlier and (count,) of the later of each pair.

    The lag is geometric, P(lag = l) = (1 − γ) γ^(l−1) with l ≥ 1, and the earlier position uniform among those from
    which the later one is still inside. With ``observations`` along a trajectory, ``learn_modes(observations[first],
    observations[second], …)`` learns from them.

    Parameters
    ----------
    length : int
        Positions of the trajectory, at least 2.
    count : int
    gamma : float
        In [0, 1); 0 gives pairs one move apart. Lags longer than the trajectory are drawn again.
    seed : int

    Raises
    ------
    InvalidInput
        If an argument is out of its range.

    Notes
    -----
    Source: brief, "pairs (s, s′) at geometric lag ≥ 1 (γ = 0.9)".
    """
    if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 2:
        raise InvalidInput(f"pairs need a trajectory of at least 2 observations, not {length!r}")
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InvalidInput(f"count must be a positive whole number, not {count!r}")
    require_gamma(gamma)
    rng = generator(seed, "lagged pairs")
    lags = rng.geometric(1.0 - gamma, size=count)
    while (late := lags >= length).any():
        lags[late] = rng.geometric(1.0 - gamma, size=int(late.sum()))
    first = rng.integers(length - lags)
    return first, first + lags


def require_gamma(gamma: float) -> None:
    """Refuse a discount that is not in [0, 1)."""
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number) or not 0 <= gamma < 1:
        raise InvalidInput(f"gamma must be in [0, 1), not {gamma!r}")


@dataclass(frozen=True, eq=False)
class DistinctPairs:
    """Pairs of observations, each distinct one kept once.

    Two observations are one when their numbers are the same, byte for byte. Nothing else is known of where they were
    made: an environment that shows two states alike has them merged here. It makes learning cheap wherever pictures
    repeat, as an encoder then reads each picture of a batch once, and changes no loss.

    Parameters
    ----------
    frames : float32 or uint8 (m, …)
        The distinct observations, in order of appearance.
    first, second : int64 (n,)
        Rows of ``frames``: the earlier and the later observation of each pair.
    """

    frames: NDArray[Any]
    first: Ints
    second: Ints

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def of(cls, obs: NDArray[Any], next_obs: NDArray[Any]) -> DistinctPairs:
        """From ``obs`` and ``next_obs`` (n, …), row by row the earlier and the later observation.

        Raises
        ------
        InvalidInput
            If they are not arrays of one shape (n, numbers) or (n, channels, height, width), float32 or uint8, finite.
        """
        obs, next_obs = np.asarray(obs), np.asarray(next_obs)
        if obs.ndim not in (2, 4) or 0 in obs.shape[1:]:
            raise InvalidInput(
                f"observations must have shape (n, channels, height, width) or (n, numbers), not {obs.shape}"
            )
        if str(obs.dtype) not in DTYPES:
            raise InvalidInput(f"observations must be float32 or uint8, not {obs.dtype}")
        if obs.shape != next_obs.shape or obs.dtype != next_obs.dtype:
            raise InvalidInput(
                f"obs and next_obs must have one shape and dtype, not {obs.dtype} {obs.shape} and "
                f"{next_obs.dtype} {next_obs.shape}"
            )
        for name, given in (("obs", obs), ("next_obs", next_obs)):
            if given.dtype.kind == "f" and not np.isfinite(given).all():
                raise InvalidInput(f"observations must be finite, but {name} holds NaN or infinity")
        known: dict[bytes, int] = {}
        rows: list[NDArray[Any]] = []
        first, second = (np.array(_numbers(part, known, rows), dtype=np.int64) for part in (obs, next_obs))
        frames = np.stack(rows) if rows else np.empty((0, *obs.shape[1:]), obs.dtype)
        return cls(frames, first, second)

    def batches(self, size: int, budget: Budget, seed: int) -> Iterator[Batch]:
        """Batches of ``size`` pairs drawn with replacement, one a step, until ``budget`` is used up.

        Of a budget in CPU seconds at least one batch comes.

        Raises
        ------
        InvalidInput
            If the budget counts evaluations.
        """
        require_steps_or_seconds(budget)
        rng = generator(seed, "batches")
        clock = CpuClock()
        step = 0
        while True:
            used = float(step) if budget.unit == "steps" else clock.cpu_seconds()
            if step and used >= budget.amount:
                return
            drawn = rng.integers(len(self), size=size)
            wanted, place = np.unique(np.concatenate([self.first[drawn], self.second[drawn]]), return_inverse=True)
            step += 1
            yield Batch(self.frames[wanted], place[:size], place[size:], min(used / budget.amount, 1.0))


@dataclass(frozen=True, eq=False)
class Batch:
    """Some pairs: the distinct observations among them, and where each pair finds its two.

    ``spent`` is the part of the budget that was used before this batch, in [0, 1].
    """

    frames: NDArray[Any]
    first: Ints
    second: Ints
    spent: float


def require_steps_or_seconds(budget: Budget) -> None:
    """Refuse a budget in evaluations."""
    if budget.unit == "evaluations":
        raise InvalidInput("modes are learnt for a budget of steps or cpu_seconds, not evaluations")


def _numbers(observations: NDArray[Any], known: dict[bytes, int], rows: list[NDArray[Any]]) -> list[int]:
    """The row of each observation among the distinct ones; new ones are added to ``known`` and ``rows``."""
    numbers = []
    for observation in np.ascontiguousarray(observations):
        # A digest keeps the memory at 16 bytes an observation; 2⁻¹²⁸ is as good as never.
        digest = blake2b(observation.data, digest_size=16).digest()
        number = known.setdefault(digest, len(known))
        if number == len(rows):
            rows.append(observation)
        numbers.append(number)
    return numbers
