"""Draw ``laplacian_nav.png`` and ``laplacian_nav.gif``: ascent on the Green's function in a maze with loops."""

from pathlib import Path

import gymnasium as gym
import numpy as np
from PIL import Image

from scisuite import agents
from scisuite.agents.recording import record_gif

env = gym.make(
    "scisuite.envs:sci/LaplacianNav-v0", world="maze", world_config={"size": 12, "loop": 0.15}, render_mode="rgb_array"
)
agent = agents.make("green", env_slug="laplacian_nav")
agent.bind(env)
frames: list[Image.Image] = []


def keep_frame(_: object) -> None:
    frames.append(Image.fromarray(env.render()))


far = {"start_cell": (23, 1), "goal_cell": (1, 23)}
agents.run_episode(env, agent, seed=0, options=far, on_step=keep_frame)
frames[len(frames) * 3 // 4].save(Path(__file__).with_name("laplacian_nav.png"), optimize=True)
small = [np.asarray(frame.resize((630, 420), Image.Resampling.LANCZOS)) for frame in frames]
record_gif([*small, *[small[-1]] * 8], Path(__file__).with_name("laplacian_nav.gif"), fps=8)
