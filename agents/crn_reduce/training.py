"""Train MaskablePPO in ``sci/CRNReduce-v0`` with the policy that judges every action by the same network."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from scisuite.core import InvalidInput, MissingDependency, as_seed, generator

DEFAULTS: dict[str, Any] = {
    "n_steps": 256,
    "batch_size": 256,
    "n_epochs": 6,
    "learning_rate": 1e-3,
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "ent_coef": 0.003,
}
"""Arguments of MaskablePPO."""


def train_maskable_ppo(
    scenario: Any = "factor_graphs/planning",
    steps: int = 50_000,
    seed: int = 0,
    *,
    max_sites: int = 24,
    out: str | Path | None = None,
    copies: int = 8,
    site_policy: bool = True,
    env_kwargs: dict[str, Any] | None = None,
    **config: Any,
) -> Any:
    """Train on instances that every episode draws anew.

    Parameters
    ----------
    scenario, max_sites
        Arguments of the environment, which trains with ``verify="never"``.
    steps : int
        Environment steps in all; rollouts are finished.
    seed : int
        Of parameters, exploration and instances.
    out : str, Path or None
        Where to save the model (``.zip``), for ``crn_reduce/maskable_ppo``.
    copies : int
        Copies of the environment, stepped one after the other.
    site_policy : bool
        Whether to use :class:`~scisuite.agents.crn_reduce.policy.SitePolicy`; otherwise sb3-contrib's own
        ``MultiInputPolicy``, a plain network on the flattened observation.
    env_kwargs : dict or None
        Further arguments of the environment, such as caps.
    **config
        Arguments of MaskablePPO that replace :data:`DEFAULTS`.

    Returns
    -------
    sb3_contrib.MaskablePPO

    Raises
    ------
    InvalidInput
        If ``steps`` or ``copies`` is not positive, or the environment refuses an argument.
    MissingDependency
        Without the extra ``rl``.
    """
    seed = as_seed(seed)
    for name, value in (("steps", steps), ("copies", copies)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidInput(f"{name} must be a positive whole number, not {value!r}")
    try:
        from sb3_contrib import MaskablePPO
    except ModuleNotFoundError as error:
        raise MissingDependency(f"training needs {error.name}, which is not installed", "crn-reduce") from error
    from scisuite.agents.sb3.environments import make_vec_env
    from scisuite.agents.sb3.randomness import global_generators

    arguments = {"scenario": scenario, "max_sites": max_sites, "verify": "never", **(env_kwargs or {})}
    stream = int(generator(seed, "crn_reduce training").integers(2**31))
    with global_generators(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="stable_baselines3")
        env = make_vec_env("sci/CRNReduce-v0", copies, seed=stream, env_kwargs=arguments)
        try:
            policy, policy_kwargs = _policy(site_policy, env)
            chosen = {**DEFAULTS, "policy_kwargs": policy_kwargs, "device": "cpu", **config}
            model = MaskablePPO(policy, env, seed=stream, **chosen)
            model.learn(steps)
        finally:
            env.close()
    if out is not None:
        model.save(out)
    return model


def _policy(site_policy: bool, env: Any) -> tuple[Any, dict[str, Any] | None]:
    if not site_policy:
        return "MultiInputPolicy", None
    from scisuite.agents.crn_reduce.policy import SitePolicy

    env.reset()
    cap = env.get_attr("board")[0].max_table
    return SitePolicy, {"max_table": cap}
