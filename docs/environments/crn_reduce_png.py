"""Draw ``crn_reduce.png`` and ``crn_reduce.gif``: a planning problem, reduced as beam search does it."""

from pathlib import Path

import gymnasium as gym
import numpy as np
from PIL import Image

from scisuite import agents
from scisuite.agents.recording import record_gif

env = gym.make(
    "scisuite.envs:sci/CRNReduce-v0", max_sites=24, scenario_config={"keep": (1, 1)}, render_mode="rgb_array"
)
agent = agents.make("beam", env_slug="crn_reduce")
agent.bind(env)
frames: list[Image.Image] = []


def keep_frame(_: object) -> None:
    frames.append(Image.fromarray(env.render()))


env.reset(options={"instance_seed": 10})
keep_frame(None)
agents.run_episode(env, agent, seed=0, options={"instance_seed": 10}, on_step=keep_frame)
frames[len(frames) // 2].save(Path(__file__).with_name("crn_reduce.png"), optimize=True)
small = [np.asarray(frame.resize((630, 420), Image.Resampling.LANCZOS)) for frame in frames]
record_gif([small[0], *small, *[small[-1]] * 3], Path(__file__).with_name("crn_reduce.gif"), fps=2)
