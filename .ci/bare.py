"""What a base install must do: every environment without extras is made and stepped, and nothing heavy is there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import gymnasium as gym

import scisuite.envs
from scisuite.core import MissingDependency
from scisuite.envs.catalogue import catalogue

assert "site-packages" in str(Path(scisuite.envs.__file__)), "the clone is on the path"
assert importlib.util.find_spec("torch") is None, "the base install brings torch"

entries = catalogue()
made = 0
for id, entry in entries.items():
    if entry.extras:
        try:
            gym.make(id)
        except MissingDependency as error:
            print(f"{id}: {error}")
        continue
    env = gym.make(id)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()
    made += 1
    print(f"{id}: reset and step")
assert made or not entries, "no environment runs on the base install"
assert "torch" not in sys.modules
