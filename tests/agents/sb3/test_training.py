from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scisuite.core import EngineFailure, InvalidInput, UnknownName
from scisuite.core.seeding import global_random_state_untouched

pytest.importorskip("stable_baselines3", reason="needs the extra rl")
pytest.importorskip("sb3_contrib", reason="needs the extra rl")
pytest.importorskip("tensorboard", reason="needs the extra rl")

from stable_baselines3.common.monitor import load_results

from scisuite.agents.sb3 import checkpoints, train
from scisuite.agents.sb3.checkpoints import latest_checkpoint

SMALL = {"policy_kwargs": {"net_arch": [8]}}
FITTING = {
    "ppo": ("toys/Point-v0", {"actions": "box"}),
    "a2c": ("toys/Point-v0", {"actions": "multi"}),
    "dqn": ("toys/Clock-v0", {}),
    "sac": ("toys/Point-v0", {"actions": "box"}),
    "td3": ("toys/Point-v0", {"actions": "box"}),
    "maskable-ppo": ("toys/Clock-v0", {}),
}


@pytest.mark.parametrize("algo", FITTING)
def test_every_algorithm_trains_and_resumes_where_it_was(toys: Any, tmp_path: Path, algo: str) -> None:
    env_id, env_kwargs = FITTING[algo]
    out = tmp_path / "run"
    asked: dict[str, Any] = {
        "algo": algo,
        "vec": 2,
        "out": out,
        "seed": 3,
        "env_kwargs": env_kwargs,
        "algo_kwargs": SMALL,
        "checkpoint_every": 60,
        "progress": False,
    }
    with global_random_state_untouched():
        first = train(env_id, timesteps=120, eval_every=60, **asked)
    assert first["status"] == "done"
    assert first["resumed_from"] == 0
    assert 120 <= first["timesteps"] < 120 + 2 * 64
    assert first["vector"] == ("native" if env_id == "toys/Clock-v0" else "serial")
    assert first["episodes"] > 0
    assert np.isfinite(first["mean_return"])
    assert np.isfinite(first["best_evaluation"])
    assert first == json.loads((out / "summary.json").read_text())
    for name in ("model.zip", "config.json", "evaluations.npz", "best/best_model.zip"):
        assert (out / name).is_file()
    assert list((out / "tensorboard").glob("*/events.out.tfevents.*"))
    checkpoint = latest_checkpoint(out / "checkpoints")
    assert checkpoint is not None
    assert checkpoint.timesteps == first["timesteps"]
    assert (checkpoint.replay_buffer is not None) == (algo in ("dqn", "sac", "td3"))

    again = train(env_id, timesteps=240, resume=True, eval_every=0, **asked)
    assert again["resumed_from"] == first["timesteps"]
    assert 240 <= again["timesteps"] < 240 + 2 * 64
    assert again["updates"] > first["updates"]
    assert len(load_results(str(out / "episodes"))) == first["episodes"] + again["episodes"]
    assert len(list((out / "tensorboard").iterdir())) == 1
    before = (out / "checkpoints").stat().st_mtime_ns
    assert train(env_id, timesteps=240, resume=True, eval_every=0, **asked) == again
    assert (out / "checkpoints").stat().st_mtime_ns == before


def test_the_rate_is_that_of_learning_alone(toys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stable_baselines3.common.callbacks import EvalCallback

    def evaluate(callback: EvalCallback) -> bool:
        time.sleep(0.01)
        return True

    monkeypatch.setattr(EvalCallback, "_on_step", evaluate)
    summary = train("toys/Clock-v0", timesteps=64, out=tmp_path / "run", algo_kwargs=SMALL, progress=False)
    assert 0 < summary["training_seconds"] <= summary["seconds"] - 64 * 0.01
    assert summary["steps_per_second"] == pytest.approx(summary["timesteps"] / summary["training_seconds"])


def test_same_seed_same_parameters(toys: Any, tmp_path: Path) -> None:
    from stable_baselines3 import PPO

    weights = []
    for index, seed in enumerate((1, 1, 2)):
        out = tmp_path / str(index)
        train("toys/Clock-v0", timesteps=64, vec=4, out=out, seed=seed, eval_every=0, algo_kwargs=SMALL, progress=False)
        weights.append(PPO.load(out / "model.zip").policy.state_dict()["action_net.weight"].numpy())
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_ppo_learns_the_better_action(toys: Any, tmp_path: Path) -> None:
    """Clock pays the action itself, so that always choosing 2 earns twice what chance does."""
    kwargs = {**SMALL, "learning_rate": 0.02, "n_steps": 32, "batch_size": 64}
    summary = train(
        "toys/Clock-v0", timesteps=2048, vec=8, out=tmp_path / "run", eval_every=0, algo_kwargs=kwargs, progress=False
    )
    # Episodes last 3.5 steps on average: 7 at best, 3.5 by chance.
    assert summary["mean_return"] > 5.5


def test_torn_checkpoint_is_passed_over(toys: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked: dict[str, Any] = {"out": out, "eval_every": 0, "algo_kwargs": {**SMALL, "n_steps": 20}, "progress": False}
    train("toys/Clock-v0", timesteps=60, checkpoint_every=20, **asked)
    folders = sorted((out / "checkpoints").iterdir())
    assert [folder.name for folder in folders] == ["step-000000020", "step-000000040", "step-000000060"]
    model = folders[-1] / "model.zip"
    model.write_bytes(model.read_bytes()[:-100])
    (folders[-2] / "checkpoint.json").unlink()
    (out / "checkpoints" / ".step-000000050.part").mkdir()
    found = latest_checkpoint(out / "checkpoints")
    assert found is not None
    assert found.timesteps == 20
    (out / "summary.json").unlink()
    summary = train("toys/Clock-v0", timesteps=60, checkpoint_every=20, resume=True, **asked)
    assert (summary["resumed_from"], summary["timesteps"]) == (20, 60)
    assert not list((out / "checkpoints").glob(".*"))


def test_killed_between_checkpoint_and_summary(toys: Any, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"timesteps": 40, "out": tmp_path, "eval_every": 0, "algo_kwargs": SMALL, "progress": False}
    first = train("toys/Clock-v0", **asked)
    for name in ("summary.json", "model.zip"):
        (tmp_path / name).unlink()
    again = train("toys/Clock-v0", resume=True, **asked)
    assert again["timesteps"] == again["resumed_from"] == first["timesteps"]
    assert (tmp_path / "model.zip").is_file()


def test_ctrl_c_saves_a_checkpoint(toys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scisuite.agents.sb3 import callbacks

    class Interrupting(callbacks.ProgressCallback):
        def _on_step(self) -> bool:
            if self.n_calls == 30:
                os.kill(os.getpid(), signal.SIGINT)
            return super()._on_step()

    monkeypatch.setattr(callbacks, "ProgressCallback", Interrupting)
    out = tmp_path / "run"
    asked: dict[str, Any] = {"algo": "dqn", "timesteps": 100, "out": out, "eval_every": 0, "algo_kwargs": SMALL}
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="stopped after 30 steps"):
        train("toys/Clock-v0", checkpoint_every=0, progress=False, **asked)
    assert signal.getsignal(signal.SIGINT) is handler
    assert json.loads((out / "summary.json").read_text())["status"] == "interrupted"
    monkeypatch.undo()
    summary = train("toys/Clock-v0", checkpoint_every=0, progress=False, resume=True, **asked)
    assert (summary["status"], summary["resumed_from"]) == ("done", 30)
    assert summary["timesteps"] >= 100


def test_resumed_evaluations_know_the_earlier_ones(toys: Any, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"out": tmp_path, "eval_every": 20, "progress": False}
    asked["algo_kwargs"] = {**SMALL, "n_steps": 20}
    train("toys/Clock-v0", timesteps=40, **asked)
    train("toys/Clock-v0", timesteps=80, resume=True, **asked)
    with np.load(tmp_path / "evaluations.npz") as evaluations:
        assert evaluations["timesteps"].tolist() == [20, 40, 60, 80]
    (tmp_path / "evaluations.npz").write_bytes(b"PK torn")
    with pytest.warns(UserWarning, match="damaged and starts anew"):
        train("toys/Clock-v0", timesteps=100, resume=True, **asked)


def test_full_disk_leaves_the_last_checkpoint(toys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"out": tmp_path, "eval_every": 0, "algo_kwargs": SMALL, "progress": False}
    train("toys/Clock-v0", timesteps=40, **asked)

    def full(path: Path, value: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "write_json", full)
    with pytest.raises(EngineFailure, match="No space left"):
        train("toys/Clock-v0", timesteps=80, resume=True, **asked)
    found = latest_checkpoint(tmp_path / "checkpoints")
    assert found is not None
    assert found.timesteps == 40
    assert not list((tmp_path / "checkpoints").glob(".*"))


def test_labo_trains_and_its_dict_actions_name_the_flat_twin(tmp_path: Path) -> None:
    settings = {"scenario": "hartmann6", "budget": 3, "max_llm": 6}
    with pytest.raises(InvalidInput, match="Dict actions of sci/LABO-v0; train in its flat twin sci/LABOFlat-v0"):
        train("sci/LABO-v0", timesteps=64, out=tmp_path / "dict", env_kwargs=settings, progress=False)
    summary = train("sci/LABOFlat-v0", timesteps=64, vec=4, out=tmp_path / "flat", env_kwargs=settings, progress=False)
    assert summary["vector"] == "native"
    assert summary["episodes"] > 3
    assert -1 < summary["best_evaluation"] <= 1


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("toys/Clock-v0", {"algo": "ppp"}, UnknownName, "unknown algorithm 'ppp'; did you mean 'ppo'"),
    (
        "toys/Clock-v0",
        {"algo": "sac"},
        InvalidInput,
        r"\(Discrete actions\); those that fit: ppo, a2c, dqn, maskable-ppo",
    ),
    ("toys/Point-v0", {"algo": "dqn"}, InvalidInput, r"\(Box actions\); those that fit: ppo, a2c, sac, td3"),
    (
        "toys/Point-v0",
        {"algo": "maskable-ppo", "env_kwargs": {"actions": "discrete"}},
        InvalidInput,
        r"needs a method action_masks\(\).*those that fit: ppo, a2c, dqn",
    ),
    ("toys/Point-v0", {"env_kwargs": {"actions": "dict"}}, InvalidInput, "Dict actions.*flat twin toys/PointFlat-v0"),
    ("toys/Point-v0", {"env_kwargs": {"actions": "unbounded"}}, InvalidInput, "no algorithm takes the Box actions"),
    ("toys/Point-v0", {"env_kwargs": {"observations": "tuple"}}, InvalidInput, "cannot read Tuple observations"),
    ("toys/Nothing-v0", {}, UnknownName, "unknown environment"),
    ("toys/Clock-v0", {"timesteps": 0}, InvalidInput, "timesteps must be an integer of at least 1"),
    ("toys/Clock-v0", {"timesteps": 1e3}, InvalidInput, "timesteps must be an integer"),
    ("toys/Clock-v0", {"vec": 0}, InvalidInput, "vec must be an integer of at least 1"),
    ("toys/Clock-v0", {"eval_every": -1}, InvalidInput, "eval_every must be an integer of at least 0"),
    ("toys/Clock-v0", {"seed": 1.5}, InvalidInput, "seed must be a non-negative integer"),
    ("toys/Clock-v0", {"resume": True}, InvalidInput, "nothing to resume"),
    ("toys/Clock-v0", {"algo_kwargs": {"n_step": 4}}, InvalidInput, "did you mean 'n_steps'"),
    ("toys/Clock-v0", {"algo_kwargs": {"verbose": 1}}, InvalidInput, "verbose is set by train"),
    ("toys/Clock-v0", {"algo_kwargs": {"batch_size": 1}}, InvalidInput, "cannot be set up with"),
    ("toys/Clock-v0", {"algo_kwargs": {"policy": object()}}, InvalidInput, "no JSON form"),
    (
        "toys/Point-v0",
        {"algo": "td3", "algo_kwargs": {"action_noise": -1}},
        InvalidInput,
        "positive standard deviation",
    ),
]


@pytest.mark.parametrize(("env_id", "arguments", "error", "message"), REFUSED)
def test_bad_input_is_refused_before_anything_is_written(
    toys: Any, tmp_path: Path, env_id: str, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    out = tmp_path / "run"
    with pytest.raises(error, match=message):
        train(env_id, **{"timesteps": 64, "out": out, "progress": False, **arguments})
    assert not out.exists()


def test_folders_that_hold_something_else(toys: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked: dict[str, Any] = {"out": out, "eval_every": 0, "algo_kwargs": SMALL, "progress": False}
    train("toys/Clock-v0", timesteps=32, **asked)
    with pytest.raises(InvalidInput, match="is not empty; resume that run or name another folder"):
        train("toys/Clock-v0", timesteps=64, **asked)
    with pytest.raises(InvalidInput, match="was started with seed=0, not 1"):
        train("toys/Clock-v0", timesteps=64, resume=True, seed=1, **asked)
    with pytest.raises(InvalidInput, match="is a file"):
        train("toys/Clock-v0", timesteps=64, **{**asked, "out": out / "config.json"})
