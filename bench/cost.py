"""What a cell cost: CPU seconds, wall seconds and peak memory."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from scisuite.core import CpuClock

_CLEAR_REFS = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_STATM = Path("/proc/self/statm")
_SAMPLING_SECONDS = 0.02
_MIB = 2.0**20


class Meter:
    """Measures the body of a ``with`` statement.

    Attributes
    ----------
    cpu_seconds : float
        User and system time of all threads and of the children that finished.
    wall_seconds : float
    peak_mib : float
        Greatest resident memory of this process during the body, what was resident before it included. On Linux the
        kernel's high-water mark is reset first, since workers are reused; where that is not allowed, memory is
        sampled every 20 ms; where it cannot be read either, it is the greatest since the process began.

    >>> with Meter() as meter:
    ...     squares = [n * n for n in range(1000)]
    >>> meter.wall_seconds > 0 and meter.peak_mib > 1
    True
    """

    def __init__(self) -> None:
        self.cpu_seconds = self.wall_seconds = self.peak_mib = 0.0

    def __enter__(self) -> Meter:
        gc.collect()
        self._peak = _start_peak()
        self._clock = CpuClock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cpu_seconds = self._clock.cpu_seconds()
        self.wall_seconds = self._clock.wall_seconds()
        self.peak_mib = self._peak()

    def to_json(self, budget_used: float | None) -> dict[str, float | None]:
        """The ``cost`` of a row."""
        return {
            "cpu_seconds": round(self.cpu_seconds, 4),
            "wall_seconds": round(self.wall_seconds, 4),
            "peak_mib": round(self.peak_mib, 2),
            "budget_used": budget_used,
        }


def _start_peak() -> Callable[[], float]:
    """Begin to watch memory; the returned function ends it and gives the peak in MiB."""
    if _reset_high_water_mark():
        return _high_water_mark_mib
    resident = _resident_reader()
    return _lifetime_peak_mib if resident is None else _Sampler(resident).stop


def _reset_high_water_mark() -> bool:
    try:
        _CLEAR_REFS.write_text("5")
    except OSError:
        return False
    return True


def _high_water_mark_mib() -> float:
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    return _lifetime_peak_mib()


def _lifetime_peak_mib() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts bytes where Linux counts KiB.
    return peak / _MIB if sys.platform == "darwin" else peak / 1024


def _resident_reader() -> Callable[[], float] | None:
    if _STATM.exists():
        page_mib = os.sysconf("SC_PAGE_SIZE") / _MIB
        return lambda: int(_STATM.read_text().split()[1]) * page_mib
    with contextlib.suppress(ImportError):
        import psutil

        process = psutil.Process()
        return lambda: float(process.memory_info().rss) / _MIB
    return None


class _Sampler:
    def __init__(self, resident_mib: Callable[[], float]) -> None:
        self._resident_mib = resident_mib
        self._peak = resident_mib()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        self._stopped.set()
        self._thread.join()
        return max(self._peak, self._resident_mib())

    def _watch(self) -> None:
        while not self._stopped.wait(_SAMPLING_SECONDS):
            self._peak = max(self._peak, self._resident_mib())
