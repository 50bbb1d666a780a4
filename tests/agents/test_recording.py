from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from scisuite.agents import Transition
from scisuite.agents.recording import MinariRecorder, record_gif, record_minari
from scisuite.core import InvalidInput, MissingDependency, generator


class Bench(gym.Env):
    """Dict observations and Dict actions; ends after five steps."""

    observation_space = spaces.Dict({"count": spaces.Discrete(10), "level": spaces.Box(0, 10, (2,))})
    action_space = spaces.Dict({"source": spaces.Discrete(2), "x": spaces.Box(0, 1, (3,))})
    steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self._observation(), float(action["source"]), self.steps == 5, False, {"note": np.float64(self.steps)}

    def _observation(self) -> Any:
        return {"count": np.int64(self.steps), "level": np.full(2, self.np_random.random() * 9, dtype=np.float32)}


class Chance:
    def bind(self, env: gym.Env[Any, Any]) -> None:
        self.space = env.action_space

    def reset(self, *, seed: int) -> None:
        self.rng = generator(seed, "chance")

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return {"source": np.int64(self.rng.integers(2)), "x": self.rng.random(3, dtype=np.float32)}

    def observe(self, transition: Transition) -> None:
        assert transition.action["x"].shape == (3,)


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("minari", reason="needs the extra rl")
    pytest.importorskip("h5py", reason="needs the extra rl")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


def test_episodes_become_a_data_set(datasets: Path) -> None:
    import minari

    summary = record_minari(Bench(), Chance(), "bench/chance-v0", 3, seed=4, author="me", progress=False)
    assert (summary["episodes"], summary["steps"]) == (3, 15)
    assert Path(summary["path"]) == datasets / "bench" / "chance-v0"
    data = minari.load_dataset("bench/chance-v0")
    assert data.total_episodes == 3
    assert data.total_steps == 15
    assert data.observation_space == Bench.observation_space
    assert data.action_space == Bench.action_space
    episodes = list(data.iterate_episodes())
    assert np.mean([episode.rewards.sum() for episode in episodes]) == pytest.approx(summary["mean_return"])
    assert [int(metadata["seed"]) for metadata in data.storage.get_episode_metadata(range(3))] == [4, 5, 6]
    assert episodes[1].observations["count"].tolist() == [0, 1, 2, 3, 4, 5]
    expected = Chance()
    expected.reset(seed=5)
    assert np.array_equal(episodes[1].actions["x"][0], expected.act(None, {})["x"])
    assert episodes[0].terminations.tolist() == [False] * 4 + [True]


def test_unfinished_episodes_are_truncated(datasets: Path) -> None:
    import minari

    record_minari(Bench(), Chance(), "short-v2", 2, max_steps=3, progress=False)
    episode = minari.load_dataset("short-v2")[0]
    assert episode.truncations.tolist() == [False, False, True]


@pytest.mark.parametrize("dataset_id", ["", "noversion", "a b-v0", "bench/-v", 3])
def test_malformed_ids_are_refused(datasets: Path, dataset_id: Any) -> None:
    with pytest.raises(InvalidInput, match="a Minari id reads like labo/random-v0"):
        MinariRecorder(Bench(), dataset_id)


def test_refusals_come_before_anything_runs(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Untouched(Chance):
        def bind(self, env: gym.Env[Any, Any]) -> None:
            raise AssertionError("it ran")

    record_minari(Bench(), Chance(), "bench/chance-v0", 1, progress=False)
    with pytest.raises(InvalidInput, match="exists already; choose another name or version"):
        record_minari(Bench(), Untouched(), "bench/chance-v0", 1)
    with pytest.raises(InvalidInput, match="episodes must be a positive integer, not 0"):
        record_minari(Bench(), Untouched(), "bench/chance-v1", 0)
    with pytest.raises(InvalidInput, match="seed must be"):
        record_minari(Bench(), Untouched(), "bench/chance-v1", 1, seed=-1)
    file = datasets.parent / "file"
    file.write_text("")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(file / "below"))
    with pytest.raises(InvalidInput, match="cannot write"):
        record_minari(Bench(), Untouched(), "bench/chance-v1", 1)


def test_a_failed_save_leaves_no_data_set(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    recorder = MinariRecorder(Bench(), "bench/chance-v0")
    recorder.env.reset(seed=0)

    def fail(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "move", fail)
        with pytest.raises(OSError, match="No space left"):
            recorder.save(agent="chance")
    assert not (datasets / "bench" / "chance-v0").exists()


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingDependency, match=r'pip install "scisuite\[rl\]"'):
        MinariRecorder(Bench(), "bench/chance-v0")


def test_gif_keeps_the_colour_of_a_small_mark_in_every_frame(tmp_path: Path) -> None:
    """A pink mark that walks over a gradient of far more than 256 colours, and an orange one in a single frame."""
    import matplotlib
    from PIL import Image

    pink, orange = (204, 121, 167), (213, 94, 0)
    across, down = np.meshgrid(np.linspace(0, 0.9, 160), np.linspace(0, 0.1, 120))
    gradient = (
        matplotlib.colormaps["viridis"](across + down, bytes=True)[..., :3] * (0.8 + 2 * down[..., None])
    ).astype(np.uint8)
    assert len(np.unique(gradient.reshape(-1, 3), axis=0)) > 1_000
    frames = [gradient.copy() for _ in range(30)]
    for k, frame in enumerate(frames):
        frame[20:26, 4 * k : 4 * k + 6] = pink
    frames[13][60:64, 80:84] = orange
    record_gif(frames, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 30
        for k, frame in enumerate(frames):
            image.seek(k)
            off = np.abs(np.asarray(image.convert("RGB")).astype(int) - frame)
            assert off[20:26, 4 * k : 4 * k + 6].max() <= 12, k
            assert off.mean() < 3
            if k == 13:
                assert off[60:64, 80:84].max() <= 12


def test_gif_keeps_frames_size_and_pace(tmp_path: Path) -> None:
    from PIL import Image

    frames = [np.full((12, 20, 3), level, dtype=np.uint8) for level in (0, 80, 160, 240)]
    record_gif(iter(frames), tmp_path / "deep" / "a.gif", fps=5)
    with Image.open(tmp_path / "deep" / "a.gif") as image:
        assert image.n_frames == 4
        assert image.size == (20, 12)
        assert image.info["duration"] == 200
        assert image.info["loop"] == 0
        image.seek(2)
        assert abs(int(np.asarray(image.convert("RGB"))[0, 0, 0]) - 160) <= 3


@pytest.mark.parametrize(
    ("frames", "name", "fps", "message"),
    [
        ([], "a.gif", 10, "no frames"),
        ([np.zeros((4, 4, 3))], "a.gif", 10, "must be uint8"),
        ([np.zeros((4, 4), dtype=np.uint8)], "a.gif", 10, "must be uint8"),
        ([np.zeros((4, 4, 3), np.uint8), np.zeros((5, 4, 3), np.uint8)], "a.gif", 10, "of one size"),
        ([np.zeros((4, 4, 3), np.uint8)], "a.mp4", 10, r"must end in \.gif"),
        ([np.zeros((4, 4, 3), np.uint8)], "a.gif", 0, "fps must be an integer from 1 to 50"),
    ],
)
def test_gif_refuses(tmp_path: Path, frames: Any, name: str, fps: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        record_gif(frames, tmp_path / name, fps)
    assert not (tmp_path / name).exists()
