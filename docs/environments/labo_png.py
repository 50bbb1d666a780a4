"""Draw ``labo.png``: an episode of the paper's agent on hartmann6 with a predictor of correlation 0.8."""

from pathlib import Path

import gymnasium as gym
from PIL import Image

from scisuite import agents

env = gym.make(
    "scisuite.envs:sci/LABO-v0", scenario="hartmann6", budget=30, oracle_config={"corr": 0.8}, render_mode="rgb_array"
)
agent = agents.make("labo", env_slug="labo")
agent.bind(env)
agents.run_episode(env, agent, seed=0)
picture = Image.fromarray(env.render()).quantize(64)
picture.save(Path(__file__).with_name("labo.png"), optimize=True)
