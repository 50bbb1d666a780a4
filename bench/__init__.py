"""Experiments, claims, runner, report and the command line."""

from pathlib import Path

from scisuite.bench import experiments as _package  # noqa: F401  (a later import would take the registry's place)
from scisuite.bench.experiment import Arm, Claim, Curve, Experiment, Limit, Outcome, Tier
from scisuite.core.registry import Registry

experiments: Registry[Experiment] = Registry("experiment", "scisuite.experiments")
experiments.add_folder(Path(__file__).parent / "experiments")

__all__ = ["Arm", "Claim", "Curve", "Experiment", "Limit", "Outcome", "Tier", "experiments"]
