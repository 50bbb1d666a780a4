"""Progress stays silent for two seconds, then writes to standard error only."""

from __future__ import annotations

import pytest

from scisuite.core import progress as module
from scisuite.core.progress import Progress, track


def test_quick_work_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert capfd.readouterr() == ("", "")


def test_long_work_shows_on_standard_error_only(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_DELAY_SECONDS", 0.0)
    with Progress("counting [/b]", total=3) as bar:
        for step in range(3):
            bar.advance(note=f"arm[ucb] {step}")
    out, err = capfd.readouterr()
    assert out == ""
    assert "counting [/b]" in err
    assert "3/3" in err
    assert "arm[ucb] 2" in err


def test_disabled_progress_prints_nothing(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DELAY_SECONDS", 0.0)
    with Progress("counting", total=3, enabled=False) as bar:
        bar.advance(2)
    assert bar.completed == 2
    assert capfd.readouterr() == ("", "")


def test_total_may_become_known_later(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DELAY_SECONDS", 0.0)
    with Progress("cells") as bar:
        bar.update(1)
        bar.update(2, total=8)
    assert bar.total == 8
    assert "2/8" in capfd.readouterr().err


def test_track_takes_generators_and_passes_errors_on() -> None:
    def items() -> object:
        yield 1
        raise OSError("gone")

    seen = []
    with pytest.raises(OSError, match="gone"):
        for item in track(items(), "reading"):  # type: ignore[arg-type]
            seen.append(item)
    assert seen == [1]
