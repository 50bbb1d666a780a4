"""Importing the environments costs little and pulls in nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("torch", "botorch", "transformers", "scipy", "networkx", "matplotlib", "pandas", "stable_baselines3")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_import_is_cheap() -> None:
    code = (
        "import json, sys, time; start = time.process_time();"
        "import gymnasium, numpy; base = time.process_time() - start;"
        "import scisuite.envs; ratio = (time.process_time() - start) / base;"
        f"print(json.dumps([ratio, [m for m in {HEAVY!r} if m in sys.modules]]))"
    )
    measured = [json.loads(run(code)) for _ in range(3)]
    assert measured[0][1] == []
    assert min(ratio for ratio, _ in measured) <= 1.5


def test_environment_runs_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import gymnasium as gym, scisuite.envs\n"
        "env = gym.make('sci/LABO-v0', budget=3)\n"
        "env.reset(seed=0)\n"
        "for source in (0, 1, 1, 1): *_, info = env.step({'x': 7, 'source': source})\n"
        "print(info['n_real'], info['n_llm'])"
    )
    assert run(code).split() == ["3", "1"]


def test_agents_import_without_torch() -> None:
    code = "import sys, scisuite.agents; scisuite.agents.registry.ids(); print('torch' in sys.modules)"
    assert run(code).strip() == "False"
