"""What a navigator observes: one of them at a time, and many in a few NumPy calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.envs.laplacian_nav.layout import Float32, Ints, Layout, Stack
from scisuite.scenarios.nav import GridWorld

WALL, FREE, AGENT, GOAL = (68, 68, 68), (255, 255, 255), (0, 114, 178), (230, 159, 0)
"""Colours of the observation ``"rgb"``: the navigator blue, the goal orange (Okabe and Ito)."""

LEAST_PIXELS = 36
"""What the usual convolutional networks need each way: a cell of a smaller map is drawn as several pixels."""


class Observer(ABC):
    """An observation of one's own position.

    ``one`` is that of a single environment, ``many`` of the environments ``rows`` of a stack of layouts, whose states
    are rows of its tables; both give new arrays. ``drawing`` is what they cut their observations out of.

    Attributes
    ----------
    space : gymnasium.Space
    """

    space: gym.Space[Any]

    def drawing(self, world: Any) -> tuple[NDArray[Any], Ints]:
        """``drawn`` and ``spots`` of a layout."""
        return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int64)

    @abstractmethod
    def one(self, layout: Layout, state: int) -> Any:
        """What is seen in ``state``."""

    @abstractmethod
    def many(self, stack: Stack, rows: Any, states: Ints) -> NDArray[Any]:
        """What is seen in ``states`` (k,)."""


class JointObserver(Observer):
    """One that can also put the goal into the same array.

    Attributes
    ----------
    joint_space : gymnasium.spaces.Box
    """

    joint_space: gym.spaces.Box

    @abstractmethod
    def one_joint(self, layout: Layout, state: int, goal: int) -> NDArray[Any]:
        """What is seen in ``state``, with the goal."""

    @abstractmethod
    def many_joint(self, stack: Stack, rows: Any, states: Ints, goals: Ints) -> NDArray[Any]:
        """What is seen in ``states`` (k,), with the goals (k,)."""


class Position(JointObserver):
    """``"xy"``: row and column in [0, 1]; with the goal, its row and column behind them."""

    def __init__(self) -> None:
        self.space = gym.spaces.Box(0.0, 1.0, (2,), np.float32)
        self.joint_space = gym.spaces.Box(0.0, 1.0, (4,), np.float32)

    def one(self, layout: Layout, state: int) -> Float32:
        return np.array(layout.scaled[state])

    def one_joint(self, layout: Layout, state: int, goal: int) -> Float32:
        return np.concatenate((layout.scaled[state], layout.scaled[goal]))

    def many(self, stack: Stack, rows: Any, states: Ints) -> Float32:
        return pairs(stack.scaled.take(states))

    def many_joint(self, stack: Stack, rows: Any, states: Ints, goals: Ints) -> Float32:
        return np.stack((stack.scaled.take(states), stack.scaled.take(goals)), axis=1).view(np.float32)


class Index(Observer):
    """``"index"``: the number of the state."""

    def __init__(self, max_cells: int) -> None:
        self.space = gym.spaces.Discrete(max_cells)

    def one(self, layout: Layout, state: int) -> int:
        return state

    def many(self, stack: Stack, rows: Any, states: Ints) -> Ints:
        return np.asarray(states - stack.base[rows])


class View(JointObserver):
    """``"view"``: walls (1) and free cells (0) around oneself; with the goal, where it lies from here.

    Outside the map there are walls; a torus goes on. Walls that are no cells, and doors, are not seen.
    """

    def __init__(self, shape: tuple[int, int], radius: int) -> None:
        self._side = side = 2 * radius + 1
        self._radius = radius
        self._width = shape[1] + 2 * radius
        self._size = (shape[0] + 2 * radius) * self._width
        inside = np.arange(side)
        self._offsets = (inside[:, None] * self._width + inside).ravel()
        self.space = gym.spaces.Box(0.0, 1.0, (side, side), np.float32)
        low = np.zeros(side * side + 2, np.float32)
        low[-2:] = -1.0
        self.joint_space = gym.spaces.Box(low, np.ones_like(low), dtype=np.float32)

    def drawing(self, world: GridWorld) -> tuple[Float32, Ints]:
        walls = (~world.free).astype(np.float32)
        if world.periodic:
            padded = np.pad(walls, self._radius, mode="wrap")
        else:
            padded = np.pad(walls, self._radius, constant_values=1.0)
        return padded, world.xy[:, 0] * self._width + world.xy[:, 1]

    def one(self, layout: Layout, state: int) -> Float32:
        row, column = divmod(layout.spots.item(state), self._width)
        return np.array(layout.drawn[row : row + self._side, column : column + self._side])

    def one_joint(self, layout: Layout, state: int, goal: int) -> Float32:
        offset = layout.scaled[goal] - layout.scaled[state]
        return np.concatenate((self.one(layout, state).ravel(), offset))

    def many(self, stack: Stack, rows: Any, states: Ints) -> Float32:
        return self._flat(stack, rows, states).reshape(-1, self._side, self._side)

    def many_joint(self, stack: Stack, rows: Any, states: Ints, goals: Ints) -> Float32:
        offset = pairs(stack.scaled.take(goals)) - pairs(stack.scaled.take(states))
        return np.concatenate((self._flat(stack, rows, states), offset), axis=1)

    def _flat(self, stack: Stack, rows: Any, states: Ints) -> Float32:
        corners = stack.slot[rows] * self._size + stack.spots.take(states)
        cut: Float32 = stack.drawn.ravel().take(corners[:, None] + self._offsets)
        return cut


class Picture(JointObserver):
    """``"rgb"``: the map from above with the navigator in it, and, in the joint form, the goal.

    A cell is drawn as so many pixels that the picture has 36 each way at least.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._scale = max(1, -(-LEAST_PIXELS // min(shape)))
        pixels = (shape[0] * self._scale, shape[1] * self._scale, 3)
        self.space = gym.spaces.Box(0, 255, pixels, np.uint8)
        self.joint_space = gym.spaces.Box(0, 255, pixels, np.uint8)

    def drawing(self, world: GridWorld) -> tuple[NDArray[np.uint8], Ints]:
        colours = np.array([WALL, FREE], dtype=np.uint8)[world.free.astype(np.int64)]
        enlarged = colours.repeat(self._scale, axis=0).repeat(self._scale, axis=1)
        return enlarged, world.xy[:, 0] * self._shape[1] + world.xy[:, 1]

    def one(self, layout: Layout, state: int) -> NDArray[np.uint8]:
        picture: NDArray[np.uint8] = layout.drawn.copy()
        self._paint_one(picture, layout.spots.item(state), AGENT)
        return picture

    def one_joint(self, layout: Layout, state: int, goal: int) -> NDArray[np.uint8]:
        picture: NDArray[np.uint8] = layout.drawn.copy()
        self._paint_one(picture, layout.spots.item(goal), GOAL)
        self._paint_one(picture, layout.spots.item(state), AGENT)
        return picture

    def many(self, stack: Stack, rows: Any, states: Ints) -> NDArray[np.uint8]:
        pictures: NDArray[np.uint8] = stack.drawn[stack.slot[rows]]
        self._paint_many(pictures, stack.spots.take(states), AGENT)
        return pictures

    def many_joint(self, stack: Stack, rows: Any, states: Ints, goals: Ints) -> NDArray[np.uint8]:
        pictures: NDArray[np.uint8] = stack.drawn[stack.slot[rows]]
        self._paint_many(pictures, stack.spots.take(goals), GOAL)
        self._paint_many(pictures, stack.spots.take(states), AGENT)
        return pictures

    def _paint_one(self, picture: NDArray[np.uint8], spot: int, colour: tuple[int, int, int]) -> None:
        row, column = divmod(spot, self._shape[1])
        height, width, scale = *self._shape, self._scale
        picture.reshape(height, scale, width, scale, 3)[row, :, column] = colour

    def _paint_many(self, pictures: NDArray[np.uint8], spots: Ints, colour: tuple[int, int, int]) -> None:
        rows, columns = np.divmod(spots, self._shape[1])
        height, width, scale = *self._shape, self._scale
        cells = pictures.reshape(len(spots), height, scale, width, scale, 3)
        cells[np.arange(len(spots)), rows, :, columns] = colour


def make_observer(obs: str, max_cells: int, shape: tuple[int, int] | None, radius: int) -> Observer:
    """The observer of the argument ``obs``; ``shape`` is ``None`` for a graph.

    Raises
    ------
    InvalidInput
        If a graph is to be looked at.
    """
    if obs == "xy":
        return Position()
    if obs == "index":
        return Index(max_cells)
    if shape is None:
        raise InvalidInput(f"obs {obs!r} needs a map, which a graph has not; use 'xy' or 'index'")
    return View(shape, radius) if obs == "view" else Picture(shape)


def pairs(numbers: NDArray[np.uint64]) -> Float32:
    """The pairs of float32 (k, 2) that a stack holds as one number each."""
    return numbers.view(np.float32).reshape(-1, 2)
