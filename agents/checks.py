"""The contract of an agent as one function: ours pass it, and so should a third party's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
from gymnasium.utils.env_checker import data_equivalence

from scisuite.agents.base import Agent, Transition
from scisuite.agents.rollout import Episode, run_episode
from scisuite.core import InvalidInput
from scisuite.core.seeding import global_random_state_untouched

AnyEnv = gym.Env[Any, Any]


def check_agent(agent: str | Agent, env_id: str | None = None, *, max_steps: int = 200, **env_kwargs: Any) -> None:
    """Put an agent through the contract; return silently or raise ``AssertionError`` with the reason.

    It has ``bind``, ``reset``, ``act`` and ``observe``; every action of an episode lies in the action space; the same
    seed gives the same actions, also after an episode of another seed in between; it never calls its scenario's
    ``evaluate``; it refuses a seed that is not a non-negative integer, and an environment in which it cannot act, with
    :class:`~scisuite.core.InvalidInput`; the global random state is left alone.

    Parameters
    ----------
    agent : str or Agent
        An id, or an agent that is not bound yet.
    env_id : str or None
        The environment. Without it, every environment of the paper that the agent's id begins with.
    max_steps : int
        Longest episode; choose the environment's arguments so that it ends before.
    **env_kwargs
        Arguments of ``gymnasium.make``.
    """
    import scisuite.agents
    from scisuite.envs import catalogue

    if env_id is not None:
        ids = [env_id]
    elif isinstance(agent, str):
        slug = _full_id(agent).partition("/")[0]
        ids = [e.id for e in catalogue.catalogue().values() if e.slug == slug]
        if not ids:
            raise InvalidInput(f"{agent} has no environment of its own; name one: check_agent({agent!r}, env_id=…)")
    else:
        raise InvalidInput("an agent that is given as an object needs env_id")
    for id in ids:
        if isinstance(agent, str):
            # Importing an engine for the first time may draw a random number; acting may not.
            scisuite.agents.make(agent).bind(gym.make(id, **env_kwargs))
        with global_random_state_untouched():
            made = scisuite.agents.make(agent) if isinstance(agent, str) else agent
            _check_protocol(made)
            _check_in(made, gym.make(id, **env_kwargs), max_steps)
            if isinstance(agent, str):
                _check_alien(scisuite.agents.make(agent))


def _full_id(agent: str) -> str:
    import scisuite.agents

    ids = scisuite.agents.registry.ids()
    return f"{agent}/{agent}" if f"{agent}/{agent}" in ids else scisuite.agents.registry.entry(agent).id


def _check_protocol(agent: Agent) -> None:
    assert isinstance(agent, Agent), f"{type(agent).__name__} lacks one of bind, reset, act and observe"


def _check_in(agent: Agent, env: AnyEnv, max_steps: int) -> None:
    watched = _Watched(agent)
    with _evaluate_out_of_bounds(env, watched):
        watched.bind(env)
        for seed in (-1, 1.5, "0", None):
            try:
                agent.reset(seed=seed)  # type: ignore[arg-type]
            except InvalidInput:
                continue
            raise AssertionError(f"reset(seed={seed!r}) was accepted")
        first, other, again = (_episode(env, watched, seed, max_steps) for seed in (0, 1, 0))
    assert min(first.length, other.length) > 0, "the episode had no step"
    same = first.length == again.length and all(map(_equal, first.actions, again.actions))
    assert same, "the same seed gave other actions after an episode in between: reset must forget"
    env.close()


def _episode(env: AnyEnv, agent: Agent, seed: int, max_steps: int) -> Episode:
    def in_space(transition: Transition) -> None:
        assert transition.action in env.action_space, f"action {transition.action!r} is not in {env.action_space}"

    return run_episode(env, agent, seed=seed, on_step=in_space, max_steps=max_steps)


def _check_alien(agent: Agent) -> None:
    """An agent may act anywhere; one that cannot says so when it is bound."""
    env = _Alien()
    try:
        agent.bind(env)
    except InvalidInput:
        return
    _episode(env, agent, 0, max_steps=3)


def _equal(a: Any, b: Any) -> bool:
    return bool(data_equivalence(a, b))


class _Watched:
    """An agent, and whether it is its turn."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.acting = False

    def bind(self, env: AnyEnv) -> None:
        with self._turn():
            self.agent.bind(env)

    def reset(self, *, seed: int) -> None:
        with self._turn():
            self.agent.reset(seed=seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        with self._turn():
            return self.agent.act(observation, info)

    def observe(self, transition: Transition) -> None:
        with self._turn():
            self.agent.observe(transition)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        self.acting = True
        try:
            yield
        finally:
            self.acting = False


@contextmanager
def _evaluate_out_of_bounds(env: AnyEnv, watched: _Watched) -> Iterator[None]:
    """While the agent is at work, the scenario's ``evaluate`` fails; the environment itself may call it."""
    scenario = getattr(env.unwrapped, "scenario", None)
    evaluate = getattr(scenario, "evaluate", None)
    if scenario is None or evaluate is None:
        yield
        return

    def guarded(*args: Any, **kwargs: Any) -> Any:
        assert not watched.acting, "the agent called scenario.evaluate: that is reading the answers"
        return evaluate(*args, **kwargs)

    scenario.evaluate = guarded
    try:
        yield
    finally:
        del scenario.evaluate


class _Alien(gym.Env[Any, Any]):
    """A world of another kind than any agent is made for."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Discrete(2)
        self.action_space = gym.spaces.Tuple((gym.spaces.Discrete(2), gym.spaces.Box(-1.0, 1.0, (1,))))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return 0, 0.0, False, False, {}
