"""Draw ``active_rct.png``: the budget goes to the units of whose effect a linear model is least sure."""

from pathlib import Path

import gymnasium as gym
from PIL import Image

from scisuite import agents

env = gym.make("scisuite.envs:sci/ActiveRCT-v0", data="linear_t4", render_mode="rgb_array")
agent = agents.make("uncertainty", env_slug="active_rct")
agent.bind(env)
agents.run_episode(env, agent, seed=0, options={"instance_seed": 1})
Image.fromarray(env.render()).quantize(192).save(Path(__file__).with_name("active_rct.png"), optimize=True)
