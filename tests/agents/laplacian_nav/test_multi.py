"""Several navigators at once: they arrive, they give way, and chance is the seed's."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from scisuite.agents.laplacian_nav.multi import GreenNavigators, RandomNavigators, Together, run_together
from scisuite.core import InvalidInput
from scisuite.core.seeding import global_random_state_untouched
from scisuite.envs.laplacian_nav import laplacian_nav_v0

PASSING_PLACE = "###.###\n.......\n#######"


def together(navigators: Any, seeds: int, options: Any = None, **config: Any) -> list[Together]:
    env = laplacian_nav_v0.parallel_env(**config)
    navigators.bind(env)
    return [run_together(env, navigators, seed=seed, options=options) for seed in range(seeds)]


@pytest.mark.parametrize("n_agents", [2, 4, 8])
def test_all_arrive_in_four_rooms_and_random_ones_do_not(n_agents: int) -> None:
    green = together(GreenNavigators(), 6, n_agents=n_agents)
    assert all(episode.success == 1 for episode in green)
    assert np.mean([episode.spl for episode in green]) > 0.7
    random = together(RandomNavigators(), 6, n_agents=n_agents)
    assert np.mean([episode.success for episode in random]) < 0.5
    assert np.mean([episode.spl for episode in random]) < 0.2


def test_one_alone_takes_the_way_of_the_planner() -> None:
    import scisuite.envs  # noqa: F401
    from scisuite import agents
    from scisuite.agents import run_episode

    episode = together(GreenNavigators(), 1, n_agents=1, world="loopy_maze")[0]
    assert episode.cancelled == 0
    env = laplacian_nav_v0.parallel_env(n_agents=1, world="loopy_maze")
    env.reset(seed=0)
    places = {"start_cell": env.positions["navigator_0"], "goal_cell": env.goals["navigator_0"]}
    planner, alone = agents.make("laplacian_nav/green"), gym.make("sci/LaplacianNav-v0", world="loopy_maze")
    planner.bind(alone)
    assert run_episode(alone, planner, seed=0, options=places).length == episode.steps["navigator_0"]


def test_two_that_meet_in_a_corridor_pass_at_the_passing_place() -> None:
    options = {
        "start_cells": {"navigator_0": (1, 0), "navigator_1": (1, 6)},
        "goal_cells": {"navigator_0": (1, 6), "navigator_1": (1, 0)},
    }
    episodes = together(GreenNavigators(), 5, options, world=PASSING_PLACE, n_agents=2, max_steps=1_000)
    assert all(episode.success == 1 for episode in episodes)
    assert all(max(episode.steps.values()) >= 8 for episode in episodes), "one of them had to turn aside"


def test_the_same_seed_gives_the_same_episode() -> None:
    for navigators in (GreenNavigators(), RandomNavigators()):
        with global_random_state_untouched():
            first, again = (together(navigators, 3, n_agents=6, max_steps=40) for _ in range(2))
        assert first == again
        assert first[0] != first[1]


def test_layouts_that_change_are_followed() -> None:
    episodes = together(GreenNavigators(), 5, world="maze", world_config={"size": 5, "loop": 0.5}, layout_seed=None)
    assert np.mean([episode.success for episode in episodes]) > 0.9


def test_other_fields_and_eight_neighbours_and_a_torus() -> None:
    for world, field in (("torus", "euclid"), ("one_way", "discounted_walk"), ("fourrooms", "bfs")):
        assert together(GreenNavigators(field=field), 1, world=world, n_agents=3)[0].success == 1
    config = {"world": "fourrooms", "world_config": {"neighbours": 8}, "n_agents": 6}
    assert together(GreenNavigators(), 1, **config)[0].success == 1


def test_every_step_is_shown() -> None:
    env = laplacian_nav_v0.parallel_env(n_agents=2)
    navigators = GreenNavigators()
    navigators.bind(env)
    shown: list[int] = []
    episode = run_together(env, navigators, seed=0, on_step=lambda: shown.append(env.steps))
    assert shown == list(range(max(step for step in episode.steps.values() if step) + 1))


def test_measures() -> None:
    episode = Together({"a": 4, "b": None}, {"a": 3, "b": 2}, cancelled=1)
    assert episode.success == 0.5
    assert episode.spl == 0.375


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"give_way": 0}, "give_way must be a probability in (0, 1], not 0"),
        ({"give_way": "often"}, "give_way must be a probability in (0, 1], not 'often'"),
        ({"longest": 0}, "longest must be a positive whole number, not 0"),
        ({"field": "gren"}, "unknown field 'gren'; did you mean 'green'?"),
        ({"modes": 3}, "field 'green' has no argument 'modes'; known: eps, world"),
    ],
)
def test_arguments_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        GreenNavigators(**config)
    assert str(refused.value) == message


@pytest.mark.parametrize("navigators", [GreenNavigators(), RandomNavigators()], ids=["green", "random"])
def test_order_of_calls_and_other_environments(navigators: Any) -> None:
    with pytest.raises(InvalidInput, match=r"call bind\(env\) first"):
        navigators.reset(seed=0)
    with pytest.raises(InvalidInput, match="^these navigators act in laplacian_nav_v0, not in <CartPole"):
        navigators.bind(gym.make("CartPole-v1"))
    navigators.bind(laplacian_nav_v0.parallel_env())
    with pytest.raises(InvalidInput, match=r"call reset\(seed="):
        navigators.act({}, {})
    for seed in (-1, 1.5, None):
        with pytest.raises(InvalidInput, match="seed must be"):
            navigators.reset(seed=seed)


def test_one_way_doors_are_refused() -> None:
    with pytest.raises(InvalidInput, match="there is only one way; use the agent discounted_walk$"):
        GreenNavigators().bind(laplacian_nav_v0.parallel_env(world="one_way"))
