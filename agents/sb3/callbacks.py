"""What happens while a model learns: checkpoints, progress, Ctrl-C. Importing this imports Stable-Baselines3."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
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


class TrainingClock(BaseCallback):
    """Seconds of wall time that learning took, without what came before its first step and without :meth:`leaving_out`.

    Put it first among the callbacks.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self._resumed_at: float | None = None

    def leaving_out(self, callback: BaseCallback) -> list[BaseCallback]:
        """``callback`` between two others that stop and resume the clock."""
        return [_Switch(self.stop), callback, _Switch(self.resume)]

    def resume(self) -> None:
        """Count from now on."""
        self._resumed_at = time.perf_counter()

    def stop(self) -> None:
        """Count no further; harmless where the clock stands already."""
        if self._resumed_at is not None:
            self.seconds += time.perf_counter() - self._resumed_at
            self._resumed_at = None

    def _on_training_start(self) -> None:
        self.resume()

    def _on_step(self) -> bool:
        return True


class _Switch(BaseCallback):
    """Call something after every step."""

    def __init__(self, switch: Callable[[], None]) -> None:
        super().__init__()
        self._switch = switch

    def _on_step(self) -> bool:
        self._switch()
        return True


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
