"""Generated tables with the columns and labels of the real trials' tables, as text: nothing in them was measured.

Their rates are of the real tables' order; who responds to the treatment is made up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def hillstrom(rng: np.random.Generator, n_units: int) -> str:
    """``n_units`` customers who got the women's e-mail or none, and half as many who got the men's."""
    n = n_units + n_units // 2
    history = np.exp(rng.normal(5.0, 1.0, n)).clip(29.99, 3345.93).round(2)
    recency = rng.integers(1, 13, n)
    mens, womens = np.array([(1, 0), (0, 1), (1, 1)])[rng.choice(3, n, p=(0.45, 0.45, 0.1))].T
    newbie = rng.integers(2, size=n)
    zip_code = _labels(rng, n, {"Surburban": 0.45, "Urban": 0.40, "Rural": 0.15})
    channel = _labels(rng, n, {"Web": 0.44, "Phone": 0.44, "Multichannel": 0.12})
    arm = _arms(rng, n, n_units, ("Womens E-Mail", "No E-Mail"), ("Mens E-Mail",))
    base = -2.3 - 0.06 * (recency - 5.8) + 0.3 * (np.log(history) - 5) - 0.5 * newbie + 0.2 * (zip_code == "Rural")
    effect = np.select([arm == "Womens E-Mail", arm == "Mens E-Mail"], [0.1 + 0.7 * womens, 0.6], 0.0)
    visit = _bernoulli(rng, base + effect)
    conversion = visit * _bernoulli(rng, np.full(n, -2.8))
    spend = (conversion * np.exp(rng.normal(4.5, 0.6, n))).round(2)
    labels = np.array(
        [
            "1) $0 - $100",
            "2) $100 - $200",
            "3) $200 - $350",
            "4) $350 - $500",
            "5) $500 - $750",
            "6) $750 - $1,000",
            "7) $1,000 +",
        ]
    )
    segment = labels[np.searchsorted([100, 200, 350, 500, 750, 1000], history, side="right")]
    quoted = [f'"{label}"' if "," in label else label for label in segment]
    return _csv(
        "recency,history_segment,history,mens,womens,zip_code,newbie,channel,segment,visit,conversion,spend",
        (recency, quoted, history, mens, womens, zip_code, newbie, channel, arm, visit, conversion, spend),
    )


def gotv(rng: np.random.Generator, n_units: int) -> str:
    """About ``n_units`` voters told of their neighbours or left alone, half as many in three other arms, by household.

    As in the real table every member of a household has a row, one below the other, and gets the same letter.
    """
    sizes: list[int] = []
    total = n_units + n_units // 2
    while sum(sizes) < total:
        sizes += rng.choice(4, size=max(total // 8, 1), p=(0.24, 0.60, 0.11, 0.05)).tolist()
        sizes = [size if size else 1 for size in sizes]
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), total)) + 1]
    hh_size = np.repeat(sizes, sizes)
    household = np.repeat(np.arange(len(sizes)), sizes)
    # Nine in ten of 1/9 and 5/9 are the two arms in question: one letter in six of theirs tells of the neighbours.
    others = (" Civic Duty", " Hawthorne", " Self")
    letter = _labels(rng, len(sizes), {" Neighbors": 1 / 9, " Control": 5 / 9, **dict.fromkeys(others, 1 / 9)})
    treatment = letter[household]
    n = len(household)
    yob = np.rint(rng.normal(1956, 13, len(sizes))[household] + rng.normal(0, 3, n)).clip(1900, 1986).astype(int)
    keen = rng.normal(0, 1, len(sizes))[household] + rng.normal(0, 1, n)
    female = rng.integers(2, size=n)
    rates = {"g2000": 1.7, "g2002": 1.5, "p2000": -1.1, "p2002": -0.4, "p2004": -0.4}
    past = {name: _bernoulli(rng, rate + 0.7 * keen) for name, rate in rates.items()}
    base = -1.0 + 0.6 * keen - 0.02 * (yob - 1956)
    voted = _bernoulli(rng, base + (treatment == " Neighbors") * (0.2 + 0.4 * past["p2004"]))
    yes = {name: np.where(answer == 1, "yes", "no") for name, answer in past.items()}
    columns = (
        np.where(female == 1, "female", "male"),
        yob,
        yes["g2000"],
        yes["g2002"],
        np.full(n, "yes"),
        yes["p2000"],
        yes["p2002"],
        np.where(past["p2004"] == 1, "Yes", "No"),
        treatment,
        np.where(voted == 1, "Yes", "No"),
        hh_size,
    )
    return _csv("sex,yob,g2000,g2002,g2004,p2000,p2002,p2004,treatment,voted,hh_size", columns)


def starbucks(rng: np.random.Generator, n_units: int) -> str:
    """``n_units`` customers with the promotion or without; seven covariates of no stated meaning.

    Purchases are ten times as common as in the real table, so that a small one has some.
    """
    n = n_units
    v1 = rng.choice(4, n, p=(0.125, 0.375, 0.375, 0.125))
    v2 = rng.normal(30, 5, n).round(7)
    v3 = rng.choice(np.linspace(-1.68455, 1.691984, 40).round(7), n)
    v4 = rng.choice((1, 2), n, p=(0.32, 0.68))
    v5 = rng.choice((1, 2, 3, 4), n, p=(0.18, 0.37, 0.39, 0.06))
    v6 = rng.integers(1, 5, n)
    v7 = rng.choice((1, 2), n, p=(0.3, 0.7))
    arm = _arms(rng, n, n, ("Yes", "No"), ())
    purchase = _bernoulli(rng, -2.6 + (arm == "Yes") * (v4 == 2) * (0.9 - 0.6 * (v5 == 2)) - 0.1 * v3)
    columns = (np.arange(1, n + 1), arm, purchase, v1, v2, v3, v4, v5, v6, v7)
    return _csv("ID,Promotion,purchase,V1,V2,V3,V4,V5,V6,V7", columns)


MAKE: dict[str, Callable[[np.random.Generator, int], str]] = {
    "hillstrom": hillstrom,
    "gotv": gotv,
    "starbucks": starbucks,
}


def _arms(
    rng: np.random.Generator, n: int, n_both: int, both: tuple[str, str], others: tuple[str, ...]
) -> NDArray[np.str_]:
    """Labels (n,) in random order: ``n_both`` of the two arms, a coin for each, and the rest of the others."""
    two = np.array(both)[rng.integers(2, size=n_both)]
    rest = np.array(others)[rng.integers(len(others), size=n - n_both)] if n > n_both else two[:0]
    return rng.permutation(np.concatenate([two, rest]))


def _labels(rng: np.random.Generator, n: int, shares: dict[str, float]) -> NDArray[np.str_]:
    return np.array(list(shares))[rng.choice(len(shares), n, p=list(shares.values()))]


def _bernoulli(rng: np.random.Generator, log_odds: Floats) -> NDArray[np.int64]:
    return (rng.random(len(log_odds)) < 0.5 * (1 + np.tanh(log_odds / 2))).astype(np.int64)


def _csv(header: str, columns: Sequence[Sequence[object] | NDArray[np.generic]]) -> str:
    texts = [map(str, column.tolist() if isinstance(column, np.ndarray) else column) for column in columns]
    return "\n".join([header, *(",".join(row) for row in zip(*texts, strict=True))]) + "\n"
