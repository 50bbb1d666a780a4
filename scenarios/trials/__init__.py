"""Trials that have yet to be run: segments, linear worlds, semi-synthetic benchmarks and replayed real trials."""

from scisuite.scenarios.trials.generated import linear, segments
from scisuite.scenarios.trials.metrics import (
    auuc,
    coverage,
    cumulative_gain,
    gain_curve,
    interval_width,
    pehe,
    policy_value,
    qini,
    uplift_curve,
)
from scisuite.scenarios.trials.scenario import TrialScenario
from scisuite.scenarios.trials.trial import (
    Logged,
    PotentialOutcomes,
    Trial,
    finite_column,
    finite_rows,
    group_labels,
    propensities,
    treatments,
    unit_places,
)

__all__ = [
    "Logged",
    "PotentialOutcomes",
    "Trial",
    "TrialScenario",
    "auuc",
    "coverage",
    "cumulative_gain",
    "finite_column",
    "finite_rows",
    "gain_curve",
    "group_labels",
    "interval_width",
    "linear",
    "pehe",
    "policy_value",
    "propensities",
    "qini",
    "segments",
    "treatments",
    "uplift_curve",
    "unit_places",
]
