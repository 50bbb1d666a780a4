"""RL Baselines3 Zoo trains in scisuite's environments: it only needs to be told what to import.

The example runs one command, which it prints, so that it can be varied by hand; ``rl_zoo_ppo.yml`` beside it holds the
hyperparameters. The Zoo steps single environments (``scisuite train`` and ``sb3_ppo.py`` use the native vector form);
in exchange it tunes hyperparameters (add ``--optimize-hyperparameters``) and plots.

    python examples/rl_zoo.py
    python -m rl_zoo3.train --algo ppo --env sci/LABOFlat-v0 --gym-packages scisuite.envs \\
        --conf-file examples/rl_zoo_ppo.yml

Needs ``pip install "scisuite[rl]"``. About three minutes on one core.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/examples/rl_zoo"))
    parser.add_argument("--tiny", action="store_true", help="a size for continuous integration")
    arguments = parser.parse_args()
    command = [
        *("-m", "rl_zoo3.train"),
        *("--algo", "ppo"),
        *("--env", "sci/LABOFlat-v0"),
        *("--gym-packages", "scisuite.envs"),
        *("--conf-file", str(Path(__file__).with_name("rl_zoo_ppo.yml"))),
        # The values are Python literals: text needs quotes of its own.
        *("--env-kwargs", "scenario:'hartmann6'", "budget:10", "max_llm:30"),
        *("--log-folder", str(arguments.out)),
        *("--seed", "0"),
        *("--device", "cpu"),
    ]
    if arguments.tiny:
        command += [*("-n", "256"), *("--eval-freq", "-1"), *("-params", "n_steps:32", "batch_size:32", "n_epochs:2")]
    print(shlex.join(["python", *command]), flush=True)
    subprocess.run([sys.executable, *command], check=True)
    models = sorted(arguments.out.glob("ppo/*/*.zip"))
    print(f"trained model: {models[-1]}")


if __name__ == "__main__":
    main()
