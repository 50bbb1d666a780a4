"""Rows as the runner would write them, made up but shaped like a Bayesian optimisation run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from scisuite.bench import Arm, Claim, Experiment, Tier

SCENARIOS = ("functions/hartmann6", "materials/photo_pce10")
ARMS: dict[str, tuple[str, float]] = {
    "labo": ("method", 0.30),
    "vanilla_llm_starts": ("peer", 0.19),
    "mfkg": ("peer", 0.22),
    "random": ("floor", 0.07),
    "gate_off": ("ablation", 0.26),
    "no_warm_start": ("ablation", 0.21),
    "random_fidelity": ("ablation", 0.18),
    "prior_mean": ("ablation", 0.2),
    "variance_gate": ("ablation", 0.25),
    "llm_greedy": ("ablation", 0.1),
    "random_llm": ("ablation", 0.12),
    "tau_0.60": ("ablation", 0.28),
    "tau_0.85": ("ablation", 0.27),
    "rho_origin": ("ablation", 0.24),
}


@pytest.fixture(scope="session")
def make_experiment() -> Callable[..., Experiment]:
    return _experiment


@pytest.fixture(scope="session")
def make_rows() -> Callable[..., list[dict[str, Any]]]:
    return _rows


@pytest.fixture(scope="session")
def arms() -> list[str]:
    """Fourteen: a method, two peers, a floor and ten ablations."""
    return list(ARMS)


def _experiment(arms: Sequence[str] = tuple(ARMS)[:6], seeds: int = 8) -> Experiment:
    first, second = SCENARIOS
    auc, vanilla = "auc_regret", "vanilla_llm_starts"
    noise = "The gate's own effect is inside the noise on this pool."
    claims = (
        Claim(
            "demo.regret", "AUC, LABO / same starts", auc, "labo", vanilla, (first,), target=0.75, paper="0.71 (read)"
        ),
        Claim("demo.gate", "AUC, LABO / gate open", auc, "labo", "gate_off", SCENARIOS, target=0.95, note=noise),
        Claim("demo.tiny", "AUC, LABO / random", auc, "labo", "random", SCENARIOS, target=0.15, paper="0.18"),
        Claim(
            "demo.difference",
            "Real evaluations to 95 % of the optimum, LABO − vanilla from the same starts",
            "evals_to_95",
            "labo",
            vanilla,
            (first,),
            statistic="difference_of_means",
            target=0.0,
        ),
        Claim("demo.ratio", "LLM / real", "llm_to_real", "labo", None, (second,), "mean", ">=", 1.0, paper="2.68"),
        Claim("demo.published", "Final regret", "final_regret", "labo", None, (first,), "mean"),
        Claim("demo.absent", "AUC, LABO / MF-KG elsewhere", auc, "labo", "mfkg", ("materials/p3ht",), target=1.0),
    )
    return Experiment(
        slug="demo",
        title="LABO: broad exploration and selective experimentation",
        arms=tuple(Arm(arm, "m:f", ARMS[arm][0], summary=f"what {arm} does") for arm in arms),
        claims=tuple(claim for claim in claims if {claim.arm, claim.against} <= {*arms, None}),
        tiers={
            "smoke": Tier(tuple(arms), SCENARIOS[:1], 2, "8 evaluations"),
            "quick": Tier(tuple(arms), (*SCENARIOS, "materials/p3ht"), seeds, "30 evaluations"),
        },
        metrics={
            "auc_regret": "mean normalised simple regret over real evaluations; lower is better",
            "evals_to_95": "real evaluations until 95 % of the optimum; lower is better",
        },
        headline="auc_regret",
    )


def _rows(
    arms: Sequence[str] = tuple(ARMS)[:6],
    scenarios: Sequence[str] = SCENARIOS,
    seeds: int = 8,
    experiment: str = "demo",
    tier: str = "quick",
    **changes: Any,
) -> list[dict[str, Any]]:
    rows = []
    for i, arm in enumerate(arms):
        rate = ARMS.get(arm, ("", 0.15))[1]
        for j, scenario in enumerate(scenarios):
            for seed in range(seeds):
                rng = np.random.default_rng([i, j, seed])
                x = np.arange(1, 31)
                regret = np.minimum.accumulate(
                    (1 + 0.2 * j) * np.exp(-rate * x * rng.uniform(0.6, 1.3)) * rng.uniform(0.7, 1, 30) + 0.004
                )
                rows.append(
                    {
                        "schema": 1,
                        "key": f"{arm}-{j}-{seed}",
                        "code": "0123456789ab-ba9876543210",
                        "experiment": experiment,
                        "tier": tier,
                        "arm": arm,
                        "scenario": scenario,
                        "seed": seed,
                        "config": {"tau": 0.75},
                        "status": "ok",
                        "error": None,
                        "metrics": {
                            "auc_regret": float(regret.mean()),
                            "final_regret": float(regret[-1]),
                            "evals_to_95": float(np.argmax(regret < 0.1) + 1),
                            "llm_to_real": float(rng.uniform(0.9, 3)),
                        },
                        "curves": {
                            "regret": {
                                "x": x.tolist(),
                                "y": regret.tolist(),
                                "x_label": "real evaluations",
                                "y_label": "normalised simple regret",
                            }
                        },
                        "cost": {
                            "cpu_seconds": float(rng.uniform(0.5, 0.8) * (60 if arm == "mfkg" else 1)),
                            "wall_seconds": 1.1,
                            "peak_mib": 310.0 + i,
                            "budget_used": 30.0,
                        },
                        "environment": {
                            "python": "3.11.9",
                            "cpu": "A processor @ 2.40 GHz",
                            "packages": {"numpy": "2.4.6", "botorch": "0.18.1"},
                            "finished": f"2026-11-30T20:0{seed % 10}:00.000+00:00",
                        },
                        **changes,
                    }
                )
    return rows
