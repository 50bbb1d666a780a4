from __future__ import annotations

import gymnasium as gym
import pytest

import scisuite.envs
from scisuite.core import InvalidInput, UnknownName
from scisuite.envs import catalogue


def test_entries_say_what_they_are() -> None:
    for id, entry in catalogue.catalogue().items():
        assert entry.id == id
        assert entry.summary
        assert not entry.summary.endswith(".")
        assert entry.slug == "labo" if "LABO" in id else entry.slug


@pytest.mark.parametrize("name", ["sci/LABO-v0", "LABO-v0", "labo", "LABO"])
def test_short_names(name: str) -> None:
    assert catalogue.entry(name).id == "sci/LABO-v0"


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown environment 'sci/LABO-v1'; did you mean 'sci/LABO-v0'"):
        catalogue.entry("sci/LABO-v1")


def test_slug_of() -> None:
    assert catalogue.slug_of("sci/LABOFlat-v0") == "labo"
    assert catalogue.slug_of("scisuite.envs:sci/LABO-v0") == "labo"
    assert catalogue.slug_of(gym.make("sci/LABO-v0", budget=2)) == "labo"
    assert catalogue.slug_of("CartPole-v1") is None
    assert catalogue.slug_of(gym.make("CartPole-v1")) is None


def test_module_prefix_registers() -> None:
    assert gym.make("scisuite.envs:sci/LABO-v0").unwrapped.spec.id == "sci/LABO-v0"
    with pytest.raises(InvalidInput, match="takes an id or a"):
        scisuite.envs.check_env(3)  # type: ignore[arg-type]
