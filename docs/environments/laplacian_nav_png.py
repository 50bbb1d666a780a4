"""Draw ``laplacian_nav.png`` and ``laplacian_nav.gif``: ascent on the Green's function in a maze with loops."""

from pathlib import Path

import gymnasium as gym
from PIL import Image

from scisuite import agents

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
# One palette for all frames, and no dithering: what stays is stored once.
small = [frame.resize((630, 420), Image.Resampling.LANCZOS) for frame in frames]
palette = small[-1].quantize(240)
small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
small[0].save(
    Path(__file__).with_name("laplacian_nav.gif"),
    save_all=True,
    append_images=[*small[1:], *[small[-1]] * 8],
    duration=125,
    loop=0,
    optimize=True,
)
