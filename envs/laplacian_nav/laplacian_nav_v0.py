"""Several navigators, under the names that PettingZoo's users expect.

>>> from scisuite.envs.laplacian_nav import laplacian_nav_v0
>>> laplacian_nav_v0.parallel_env.__name__, laplacian_nav_v0.env.__name__
('parallel_env', 'env')
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from scisuite.core import MissingDependency


def parallel_env(**arguments: Any) -> Any:
    """All navigators move at once: :class:`~scisuite.envs.laplacian_nav.parallel.LaplacianNavParallelEnv`.

    Parameters
    ----------
    **arguments
        ``world="fourrooms"``, ``n_agents=4``, ``layout_seed=0``, ``max_steps=None``, ``view_radius=3``,
        ``world_config=None``, ``render_mode=None``.

    Raises
    ------
    MissingDependency
        If PettingZoo is not installed.
    InvalidInput
        If an argument is unknown or out of range.
    """
    if find_spec("pettingzoo") is None:
        raise MissingDependency("several navigators need pettingzoo, which is not installed", "marl")
    from scisuite.core.registry import refuse_unknown_arguments
    from scisuite.envs.laplacian_nav.parallel import LaplacianNavParallelEnv

    refuse_unknown_arguments(LaplacianNavParallelEnv, arguments, "laplacian_nav_v0")
    return LaplacianNavParallelEnv(**arguments)


def env(**arguments: Any) -> Any:
    """The same, one navigator after the other (PettingZoo's AEC): they move when the last one has chosen.

    Parameters
    ----------
    **arguments
        Those of :func:`parallel_env`.

    Raises
    ------
    MissingDependency
        If PettingZoo is not installed.
    InvalidInput
        If an argument is unknown or out of range.
    """
    parallel = parallel_env(**arguments)
    from pettingzoo.utils.conversions import parallel_to_aec

    return parallel_to_aec(parallel)
