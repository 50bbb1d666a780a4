from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from scisuite.bench import cost
from scisuite.bench.cost import Meter

BLOCK_MIB = 64


def touch_memory() -> None:
    block = np.ones(BLOCK_MIB * 2**20 // 8)
    assert block.sum() == block.size
    time.sleep(0.1)


def test_seconds_are_those_of_the_body_and_of_finished_children() -> None:
    spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    with Meter() as busy:
        subprocess.run([sys.executable, "-c", spin], check=True)
    assert 0.3 <= busy.cpu_seconds <= busy.wall_seconds + 0.3
    with Meter() as idle:
        time.sleep(0.1)
    assert idle.cpu_seconds < 0.09
    assert idle.wall_seconds >= 0.1


def test_the_peak_of_a_reused_process_is_not_that_of_an_earlier_body() -> None:
    with Meter() as large:
        touch_memory()
    with Meter() as small:
        pass
    assert small.peak_mib > 5
    assert large.peak_mib > small.peak_mib + 0.8 * BLOCK_MIB


def test_where_the_mark_cannot_be_reset_memory_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "_CLEAR_REFS", Path("/no/such/file"))
    with Meter() as large:
        touch_memory()
    with Meter() as small:
        pass
    assert large.peak_mib > small.peak_mib + 0.8 * BLOCK_MIB
    monkeypatch.setattr(cost, "_STATM", Path("/no/such/file"))
    monkeypatch.setitem(sys.modules, "psutil", None)
    with Meter() as lifetime:
        pass
    assert lifetime.peak_mib > small.peak_mib


def test_an_error_in_the_body_is_measured_and_passed_on() -> None:
    meter = Meter()
    with pytest.raises(KeyError), meter:
        raise KeyError
    assert meter.wall_seconds > 0
    assert meter.to_json(3.0)["budget_used"] == 3.0
    assert set(meter.to_json(None)) == {"cpu_seconds", "wall_seconds", "peak_mib", "budget_used"}
