"""``run``, ``train`` and ``eval``."""

from __future__ import annotations

import json
import sys

import pytest
from typer.testing import CliRunner

from scisuite import agents, solvers
from scisuite.bench.cli import app

invoke = CliRunner().invoke


@pytest.fixture(autouse=True)
def toy_cli(toys, monkeypatch):
    import toy_cli

    from scisuite.bench import experiments

    for registry in (experiments, agents.registry, solvers.registry):
        registry.ids()
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    toy_cli.register()
    yield toy_cli
    sys.modules.pop("toy_cli", None)


def objects(*arguments: str) -> list[dict]:
    result = invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


CART = ("run", "CartPole-v1", "--agent", "left")


def test_json_is_one_object_an_episode():
    lines = objects(*CART, "--episodes", "3", "--seed", "5")
    assert [line["seed"] for line in lines] == [5, 6, 7]
    for number, line in enumerate(lines):
        assert (line["environment"], line["agent"], line["episode"]) == ("CartPole-v1", "left", number)
        assert line["steps"] == line["total_reward"]
        assert line["terminated"]
        assert not line["truncated"]


def test_the_same_seed_gives_the_same_episode():
    first, again = (objects(*CART, "--seed", "3") for _ in range(2))
    for line in (*first, *again):
        line.pop("seconds")
    assert first == again


def test_arguments_of_environment_agent_and_reset():
    (free,) = objects(*CART, "-a", "action=1")
    (short,) = objects(*CART, "--max-steps", "2", "-k", "sutton_barto_reward=true", "--option", "low=-0.001")
    assert free["steps"] > 2
    assert (short["steps"], short["terminated"], short["truncated"]) == (2, False, False)
    assert short["total_reward"] == 0


def test_the_table_has_a_mean():
    result = invoke(app, [*CART, "--episodes", "4"])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "CartPole-v1 with left"
    assert [line.split()[0] for line in result.stdout.splitlines() if line.strip()][-1] == "mean"
    assert "an agent talks" in result.stderr
    assert "an agent talks" not in result.stdout


def test_an_environment_of_ours_by_its_short_name():
    (line,) = objects("run", "labo-v0", "--agent", "toy/sample", "-k", "scenario=quadratic2", "-k", "budget=3")
    assert line["environment"] == "sci/LABO-v0"
    assert isinstance(line["info"]["best_value"], float)


def test_gif_and_minari(tmp_path, monkeypatch):
    pytest.importorskip("minari")
    from PIL import Image

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    gif = tmp_path / "cart.gif"
    command = [
        "run",
        "labo-v0",
        "--agent",
        "toy/sample",
        "-k",
        "scenario=quadratic2",
        "-k",
        "budget=3",
        "-k",
        "max_llm=2",
    ]
    result = invoke(
        app, [*command, "--episodes", "2", "--render", str(gif), "--fps", "5", "--minari", "toy/cart-v0", "--json"]
    )
    assert result.exit_code == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert f"wrote {gif}" in result.stderr
    assert "minari.load_dataset('toy/cart-v0')" in result.stderr
    with Image.open(gif) as image:
        assert 1 <= image.n_frames <= lines[0]["steps"] + 1
    import minari

    data = minari.load_dataset("toy/cart-v0")
    assert [len(episode.rewards) for episode in data] == [line["steps"] for line in lines]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "sci/LABO-v9", "--agent", "left"], "did you mean 'sci/LABO-v0'"),
        (["run", "no_such_module:Env-v0", "--agent", "left"], "there is no module 'no_such_module'"),
        (["run", "CartPole-v1", "--agent", "lft"], "did you mean 'toy/left'"),
        ([*CART, "-a", "acton=1"], "agent 'toy/left' has no argument 'acton'; did you mean 'action'?"),
        ([*CART, "-a", "action=7"], "action must be 0 or 1, not 7"),
        ([*CART, "-k", "suton_barto_reward=true"], "did you mean 'sutton_barto_reward'"),
        ([*CART, "-k", "scenario"], "-k takes key=value"),
        ([*CART, "--render", "cart.mp4"], "give a file that ends in .gif"),
        ([*CART, "--seed", "1.5"], "--seed"),
        ([*CART, "--seed", "-1"], "--seed"),
        (["run", "labo-v0", "--agent", "left", "-k", "scenario=photo_pce1"], "did you mean 'materials/photo_pce10'"),
    ],
)
def test_bad_runs(arguments, message):
    result = invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr


def test_train_passes_everything_on(monkeypatch, tmp_path):
    asked = {}

    def train(env_id, **arguments):
        print("a trainer talks")
        asked.update(arguments, env_id=env_id)
        return {"env": env_id, "status": "done", "mean_return": float("nan")}

    monkeypatch.setattr("scisuite.agents.sb3.train", train)
    command = [
        "train",
        "laboflat-v0",
        "--algo",
        "a2c",
        "--timesteps",
        "200_000",
        "--vec",
        "64",
        "--seed",
        "3",
        "--resume",
    ]
    command += ["--out", str(tmp_path), "-k", "budget=60", "-p", "learning_rate=1e-3", "--eval-every", "0"]
    (summary,) = objects(*command)
    assert summary == {"env": "sci/LABOFlat-v0", "status": "done", "mean_return": None}
    assert asked == {
        "env_id": "sci/LABOFlat-v0",
        "algo": "a2c",
        "timesteps": 200_000,
        "vec": 64,
        "out": tmp_path,
        "seed": 3,
        "resume": True,
        "eval_every": 0,
        "checkpoint_every": None,
        "env_kwargs": {"budget": 60},
        "algo_kwargs": {"learning_rate": 1e-3},
        "processes": False,
        "progress": True,
    }
    shown = invoke(app, command)
    assert "a trainer talks" in shown.stderr
    assert "status" in shown.stdout
    assert f"tensorboard --logdir {tmp_path}" in shown.stderr


def test_interrupted_training_says_how_to_go_on(monkeypatch):
    def train(env_id, **arguments):
        raise KeyboardInterrupt("stopped after 5 steps; resume to go on")

    monkeypatch.setattr("scisuite.agents.sb3.train", train)
    result = invoke(app, ["train", "CartPole-v1"])
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "interrupted: stopped after 5 steps; resume to go on\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v1", "--algo", "pppo"], "did you mean 'ppo'"),
        (["CartPole-v1", "--timesteps", "many"], "--timesteps"),
        (["CartPole-v1", "--timesteps", "0"], "--timesteps"),
        (["LABOFlt"], "unknown environment 'LABOFlt'"),
    ],
)
def test_bad_training(arguments, message, tmp_path):
    result = invoke(app, ["train", *arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


EVAL = ("eval", "toy-mean", "--scenario", "quadratic2", "--budget", "5 evaluations")


def test_eval_is_one_object_a_seed():
    lines = objects(*EVAL, "--seeds", "3", "--seed", "4", "-c", "shift=1")
    assert [line["seed"] for line in lines] == [4, 5, 6]
    for line in lines:
        assert (line["solver"], line["scenario"], line["budget"]) == (
            "toy-mean",
            "functions/quadratic2",
            "5 evaluations",
        )
        assert (line["used"], line["metrics"]["nothing"]) == (5.0, None)
    again = objects(*EVAL, "--seed", "4")
    assert lines[0]["metrics"]["mean"] == again[0]["metrics"]["mean"] + 1
    shown = invoke(app, [*EVAL, "--seeds", "2"]).stdout
    assert shown.startswith("toy-mean on functions/quadratic2, 5 evaluations")
    assert "±" in shown


def test_saved_and_loaded(tmp_path):
    fitted = objects(*EVAL, "--save", str(tmp_path / "one"))
    loaded = objects("eval", "--load", str(tmp_path / "one"), "--scenario", "quadratic2")
    assert loaded[0]["metrics"] == fitted[0]["metrics"]
    assert loaded[0]["seed"] is None
    objects(*EVAL, "--seeds", "2", "--save", str(tmp_path / "two"))
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["seed-0", "seed-1"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "takes a solver to fit, or --load FOLDER"),
        (["toy-mean"], 2, "eval needs --scenario"),
        (["toy-mean", "--scenario", "quadratic2"], 2, "eval needs --budget"),
        (["crn_reduce", "--scenario", "factor_graphs/alarm"], 2, 'eval needs --budget, such as "1 steps"'),
        (["toy-mean", "--scenario", "quadratic2", "--budget", "fast"], 2, 'budget must read like "200 steps"'),
        (["toy-mean", "--scenario", "quadratic2", "--budget", "5 steps"], 2, "toy-mean spends evaluations"),
        (["toy-meen", "--scenario", "quadratic2", "--budget", "5 steps"], 2, "did you mean 'toy-mean'"),
        (["toy-mean", "--scenario", "quadratic3", "--budget", "5 steps"], 2, "did you mean 'functions/quadratic2'"),
        ([*EVAL[1:], "--load", "somewhere"], 2, "not both"),
        (["--load", "nowhere", "--scenario", "quadratic2"], 2, "no such file: nowhere/solver.json"),
        (["--load", "nowhere", "--scenario", "quadratic2", "--seeds", "2"], 2, "do not go with it"),
        ([*EVAL[1:], "--save", __file__], 2, "is a file, not a folder"),
        ([*EVAL[1:], "-c", "shft=1"], 2, "did you mean 'shift'"),
        ([*EVAL[1:], "-k", "sed=1"], 2, "has no argument 'sed'"),
        ([*EVAL[1:], "--split", "broken"], 1, "scisuite: the engine broke"),
    ],
)
def test_bad_evaluations(arguments, code, message):
    result = invoke(app, ["eval", *arguments])
    assert result.exit_code == code
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
