"""Every registered environment passes the contract suite."""

from __future__ import annotations

import warnings

import gymnasium as gym
import pytest

import scisuite.envs
from scisuite.envs.catalogue import catalogue

IDS = sorted(catalogue())


def test_there_are_environments() -> None:
    assert {"sci/LABO-v0", "sci/LABOFlat-v0"} <= set(IDS)
    assert set(IDS) == {id for id in gym.registry if id.startswith("sci/")}


@pytest.mark.parametrize("id", IDS)
def test_contract(id: str) -> None:
    with warnings.catch_warnings():
        # What Gymnasium's checker only warns about is a fault here; SB3's advice on symmetric actions is none.
        warnings.filterwarnings("error", category=UserWarning, module="gymnasium")
        scisuite.envs.check_env(id, steps=24)
