"""What happens while a model learns: checkpoints, progress, Ctrl-C. Importing this imports Stable-Baselines3."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from scisuite.agents.sb3.checkpoints import save_checkpoint
from scisuite.core.progress import Progress


class CheckpointWriter(BaseCallback):
    """Save a checkpoint every so many steps, between two rollouts.

    There the parameters have learnt from every step that the counter counts; in the middle of a rollout they have not.
    """

    def __init__(self, root: Path, every: int) -> None:
        super().__init__()
        self.root = root
        self.every = every
        self._saved_at: int | None = None

    def _on_rollout_start(self) -> None:
        if self._saved_at is None:
            self._saved_at = self.num_timesteps
        if self.every and self.num_timesteps - self._saved_at >= self.every:
            save_checkpoint(self.model, self.root)
            self._saved_at = self.num_timesteps

    def _on_step(self) -> bool:
        return True


class ProgressCallback(BaseCallback):
    """Move a progress bar and show the mean return of the last hundred episodes."""

    def __init__(self, bar: Progress) -> None:
        super().__init__()
        self._bar = bar

    def _on_rollout_end(self) -> None:
        self._bar.update(self.num_timesteps, self._note())

    def _on_step(self) -> bool:
        self._bar.update(self.num_timesteps)
        return True

    def _note(self) -> str:
        episodes = self.model.ep_info_buffer
        return f"return {np.mean([episode['r'] for episode in episodes]):.3g}" if episodes else ""


class StopOnRequest(BaseCallback):
    """End learning after the current step once :attr:`requested` is true."""

    def __init__(self) -> None:
        super().__init__()
        self.requested = False

    def _on_step(self) -> bool:
        return not self.requested

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """Let the first Ctrl-C request the stop and the second one interrupt at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = signal.getsignal(signal.SIGINT)

        def request(signal_number: int, frame: FrameType | None) -> None:
            self.requested = True
            signal.signal(signal.SIGINT, previous)

        signal.signal(signal.SIGINT, request)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)
