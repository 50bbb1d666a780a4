"""What an environment raises besides :class:`~scisuite.core.InvalidInput`."""

from __future__ import annotations

import gymnasium as gym

from scisuite.core import InvalidInput


class EpisodeOver(InvalidInput, gym.error.ResetNeeded):
    """``step`` was called before ``reset`` or after the end of an episode; Gymnasium's ``ResetNeeded``, too."""
