"""Draw ``laplacian_nav_several.gif``: eight navigators in four rooms, each climbing its own Green's function."""

from pathlib import Path

from scisuite.agents.laplacian_nav.multi import GreenNavigators, run_together
from scisuite.agents.recording import record_gif
from scisuite.envs.laplacian_nav import laplacian_nav_v0

env = laplacian_nav_v0.parallel_env(world="fourrooms", n_agents=8, render_mode="rgb_array")
navigators, frames = GreenNavigators(), []
navigators.bind(env)
run_together(env, navigators, seed=0, on_step=lambda: frames.append(env.render()))
record_gif(frames, Path(__file__).with_name("laplacian_nav_several.gif"), fps=4)
