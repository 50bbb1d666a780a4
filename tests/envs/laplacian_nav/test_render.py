"""The frame of sci/LaplacianNav-v0."""

from __future__ import annotations

import copy
import time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite.envs.laplacian_nav import render
from scisuite.envs.laplacian_nav.render import GOAL, PATH, WALL
from scisuite.scenarios.nav import GraphWorld, GridWorld

RING = GraphWorld(np.roll(np.eye(9), 1, axis=1) + np.roll(np.eye(9), -1, axis=1))
MAP = (slice(51, 550), slice(18, 527))


def make(**kwargs: Any) -> Any:
    env = gym.make("sci/LaplacianNav-v0", render_mode="rgb_array", **kwargs)
    env.reset(seed=0)
    return env


def pixels(frame: Any, colour: str) -> int:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(frame[MAP].astype(int) - rgb).max(axis=2) < 6).sum())


def words(env: Any) -> list[str]:
    return [text.get_text() for text in env.unwrapped._viewer.figure.texts]


def test_the_path_grows() -> None:
    env = make()
    env.reset(options={"start_cell": (1, 1), "goal_cell": (1, 8)})
    frames = [env.render()]
    for action in (1, 1, 1, 1, 1):
        env.step(action)
        frames.append(env.render())
    assert frames[0].shape == (600, 900, 3)
    assert frames[0].dtype == np.uint8
    red = [pixels(frame, PATH) for frame in frames]
    assert red == sorted(red)
    assert red[-1] > red[0] + 100
    assert pixels(frames[0], GOAL) > 50
    assert pixels(frames[0], WALL) > 20_000
    assert env.unwrapped._viewer.counter.get_text() == "step 5 of 260   shortest path 7"
    env.step(1)
    env.step(1)
    env.render()
    assert env.unwrapped._viewer.counter.get_text() == "arrived   step 7 of 260   shortest path 7"


def test_units_and_names_stand_in_the_picture() -> None:
    env = make()
    env.render()
    viewer = env.unwrapped._viewer
    assert {"fourrooms", "eigenmodes of L"} <= set(words(env))
    labels = [axes.get_ylabel() for axes in viewer.figure.axes]
    assert "log G(x, g) / G(g, g)   (nats, ε = 0.1)" in labels
    titles = [axes.get_title() for axes in viewer.figure.axes if axes.get_title()]
    assert len(titles) == 6
    assert all("lambda" in title for title in titles)


def test_colours_are_the_potential() -> None:
    env = make()
    env.render()
    inner = env.unwrapped
    shown = inner._viewer.axes.images[0].get_array()
    potential = inner.layout.potentials.column(inner.goal)
    assert np.allclose(shown[inner.world.free], potential)
    assert shown.mask[~inner.world.free].all()


def test_every_episode_has_its_own_background() -> None:
    env = make(world="small_maze")
    first = env.render()
    env.reset(seed=1)
    second = env.render()
    env.reset(options={"layout_seed": 4})
    third = env.render()
    assert (first != second).any()
    assert pixels(third, WALL) != pixels(second, WALL)
    env.reset(seed=0)
    assert np.array_equal(env.render(), first)


def test_a_drawn_environment_can_be_copied() -> None:
    env = make()
    env.step(1)
    frame = env.render()
    assert np.array_equal(copy.deepcopy(env).render(), frame)


@pytest.mark.parametrize(
    ("world", "says"),
    [
        ("torus", "torus"),
        ("one_way", "none: with one-way doors\nL is not symmetric"),
        (RING, "graph"),
        ("..#..\n..#..", "map"),
        (GridWorld(np.ones((1, 2), dtype=bool)), "map"),
    ],
    ids=["torus", "one_way", "graph", "apart", "corridor"],
)
def test_every_kind_of_world(world: Any, says: str) -> None:
    env = make(world=world)
    frame = env.render()
    assert frame.std() > 0
    assert says in words(env)


def test_modes_of_a_large_world_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MOST_STATES", 100)
    env = make()
    env.render()
    assert "left out above\n100 states" in words(env)


def test_thin_walls_and_doors_are_marked() -> None:
    closed = np.zeros((3, 3, 4), dtype=bool)
    closed[0, 0, 1] = closed[0, 1, 3] = True
    closed[1, 0, 0] = True
    plain, marked = (make(world=GridWorld(np.ones((3, 3), dtype=bool), closed=c)) for c in (None, closed))
    for env in (plain, marked):
        env.reset(options={"start_cell": (2, 0), "goal_cell": (2, 2)})
        env.render()
    lines = [len(env.unwrapped._viewer.axes.lines) for env in (plain, marked)]
    assert lines[1] > lines[0]
    markers = [line.get_marker() for line in marked.unwrapped._viewer.axes.lines if len(line.get_xdata()) == 1]
    assert "v" in markers, "from (0, 0) down to (1, 0), and not back"


def test_a_path_round_a_torus_is_not_drawn_across_it() -> None:
    env = make(world="torus")
    env.reset(options={"start_cell": (0, 5), "goal_cell": (10, 5)})
    for action in (0, 0, 1):
        env.step(action)
    env.render()
    rows = np.asarray(env.unwrapped._viewer.line.get_ydata())
    assert np.isnan(rows).tolist() == [False, True, False, False, False]


def test_no_mode_no_frame() -> None:
    env = gym.make("sci/LaplacianNav-v0").unwrapped
    env.reset(seed=0)
    assert env.render() is None
    assert env.path == [env.start]
    env.step(0)
    assert env.path == [env.start], "a path is kept where it is drawn only"


def test_vector_frames_are_those_of_single_ones() -> None:
    vector = gym.make_vec("sci/LaplacianNav-v0", num_envs=2, render_mode="rgb_array")
    single = make()
    vector.reset(seed=0)
    vector.step(np.array([1, 1]))
    single.step(1)
    first, second = vector.render()
    assert np.array_equal(first, single.render())
    assert not np.array_equal(first, second)


def test_a_frame_takes_less_than_a_tenth_of_a_second() -> None:
    env = make()
    env.render()
    seconds = []
    for _ in range(5):
        env.step(0)
        start = time.process_time()
        env.render()
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.1


@pytest.mark.parametrize(("shape", "stretched"), [((1, 30), True), ((30, 1), True), ((4, 15), False)])
def test_the_modes_of_a_long_map_are_no_hairlines(shape: tuple[int, int], stretched: bool) -> None:
    env = make(world=np.ones(shape, dtype=bool))
    env.render()
    figure = env.unwrapped._viewer.figure
    sides = [
        sorted((axes.get_window_extent().width, axes.get_window_extent().height))
        for axes in figure.axes
        if axes.get_title().startswith(r"$\varphi")
    ]
    assert len(sides) == 6
    for short, long in sides:
        assert short > 25
        assert long / short == pytest.approx(4 if stretched else 15 / 4, rel=0.02)
